"""The traits of the functions of AgentDojo as tools, written before anything was measured.

`reads` gives what others may have written, unless it says `own`; `writes` changes what is the user's alone, and can be
taken back; `external` reaches others; `irreversible` cannot be taken back. After the colon stand the arguments that say
where something goes.
"""

TRAITS = """
send_email external: recipients cc bcc
delete_email irreversible
get_unread_emails reads
get_sent_emails reads
get_received_emails reads
get_draft_emails reads
search_emails reads
search_contacts_by_name reads
search_contacts_by_email reads
get_current_day own
search_calendar_events reads
get_day_calendar_events reads
create_calendar_event external: participants
cancel_calendar_event irreversible
reschedule_calendar_event writes
add_calendar_event_participants external: participants
append_to_file writes
search_files_by_filename reads
create_file writes
delete_file irreversible
get_file_by_id reads
list_files reads
share_file external: email
search_files reads
get_user_information own
get_all_hotels_in_city reads
get_hotels_prices reads
get_rating_reviews_for_hotels reads
get_hotels_address reads
get_all_restaurants_in_city reads
get_cuisine_type_for_restaurants reads
get_restaurants_address reads
get_rating_reviews_for_restaurants reads
get_dietary_restrictions_for_all_restaurants reads
get_contact_information_for_restaurants reads
get_price_for_restaurants reads
check_restaurant_opening_hours reads
get_all_car_rental_companies_in_city reads
get_car_types_available reads
get_rating_reviews_for_car_rental reads
get_car_fuel_options reads
get_car_rental_address reads
get_car_price_per_day reads
reserve_hotel irreversible: hotel
reserve_car_rental irreversible: company
reserve_restaurant irreversible: restaurant
get_flight_information reads
get_iban own
send_money irreversible: recipient
schedule_transaction irreversible: recipient
update_scheduled_transaction irreversible: recipient
get_balance own
get_most_recent_transactions reads
get_scheduled_transactions reads
read_file reads
get_user_info own
update_password irreversible
update_user_info external
get_channels reads
add_user_to_channel external: user channel
read_channel_messages reads
read_inbox reads
send_direct_message external: recipient
send_channel_message external: channel
get_users_in_channel reads
invite_user_to_slack external: user_email
remove_user_from_slack irreversible
get_webpage reads: url
post_webpage external: url
"""


def traits() -> dict[str, dict[str, object]]:
    """Return each function's declaration as a tool, by name."""
    found: dict[str, dict[str, object]] = {}
    for line in TRAITS.split("\n"):
        head, _, places = line.partition(":")
        if not head:
            continue
        name, effects = head.split()
        declared: dict[str, object] = {"effects": "reads" if effects == "own" else effects, "idempotent": True}
        if effects == "own":
            declared["returns_untrusted"] = False
        if effects in ("external", "irreversible", "writes"):
            declared["returns_untrusted"] = False  # a line that says what was done
        if places:
            declared["destinations"] = tuple(places.split())
        found[name] = declared
    return found
