"""Test words about an answer given before: those confirming it, and those denying, changing or replacing it."""

import pytest

from tea.loop.confirmation import confirms, remark_of, speaks_of
from tea.loop.end_words import part_words
from tea.types import Result

SOLD = "117 units were sold."
MEAN = "In total 117 units were sold, on average 9.75 per order (median 7.35)."
DAYS = (
    "Between 2025-01-05 and 2025-06-06 there are 152 days. The revenue per day is about 22.05 (21.91 with both ends)."
)
RISK = "With a rate of 67/600 = 11.2 %, 12 or more have a probability of about 0.8 % (about 9 % after Bonferroni)."
PRICE = "Sixty services cost 5 to 90 EUR. The average is 46.82 EUR (46.46 EUR without the repealed service 23)."
BOOKED = "The room is booked: the code is BGN-4711."
NORTH = "The north sold most."
TASK = "How many units were sold?"


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (SOLD, "The answer is right."),
        (SOLD, "No change."),
        (SOLD, "That is the answer."),
        (SOLD, "All figures are correct."),
        (SOLD, "The numbers in my answer are right."),
        (SOLD, "As I said, it is right: 117 units were sold."),
        (SOLD, "I checked: the sum of units is 117, each fact is shown by the result, and the form is right. "
         "Nothing was left out."),
        (MEAN, "Yes, the median is 7.35, so the answer is right."),
        (MEAN, "The numbers of the answer are correct: 9.75 = 117 / 12."),
        (RISK, "All numbers are right: 9% is 12 x 0.78%."),
        (DAYS, "The numbers are correct: 3352.5 / 153 = 21.91."),
        (PRICE, "The calculation confirms 46.46 EUR without service 23, so all numbers in my answer are right."),
        (BOOKED, "I have reviewed the steps: the form was filled in as requested, the dialog was confirmed, and the "
         "code was read from the page. Everything is correct."),
        (SOLD, "My previous answer was correct."),
        (SOLD, "The answer remains the same."),
        (SOLD, "I stand by my answer."),
        (SOLD, "They are right: 117."),
        ("Es sind 39.2 %.", "Das ist korrekt: 39,2 %."),
        (SOLD, "Ich bleibe bei meiner Antwort."),
        (SOLD, "Die Antwort stimmt."),
        (SOLD, "Ja, die Zahlen stimmen: 117."),
        (SOLD, "Die Antwort bleibt unver\u00e4ndert."),
        (SOLD, "Keine \u00c4nderung n\u00f6tig."),
        (SOLD, "Ich habe alle Schritte gepr\u00fcft, die Antwort ist richtig."),
        (MEAN, "Der Median ist 7.35, also stimmt die Antwort."),
        (SOLD, "Alles stimmt, es fehlt nichts."),
    ],
)  # fmt: skip
def test_words_with_matter_of_the_answer_alone_confirm_it_and_are_no_remark(held: str, words: str) -> None:
    assert confirms(words, held)
    assert remark_of(words, held) == ""
    assert speaks_of(words, TASK)


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (SOLD, "The answer is not right."),
        (SOLD, "No, that's wrong."),
        (SOLD, "My previous answer was wrong."),
        ("39,2 %", "Das ist korrekt: 39,3 %."),
        (SOLD, "The answer is right: 118 units were sold."),
        (SOLD, "Yes, 118 units were sold, so the answer is right."),
        (SOLD, "Everything is right: eighteen units were sold."),
        (SOLD, "The numbers are right, but West is missing."),
        (SOLD, "The answer is right, though the total should be 118."),
        (SOLD, "Bergen sold 117 units, so the answer is right."),
        (SOLD, "Let me check: everything is right."),
        (DAYS, "The numbers are correct: 3352.5 / 152 = 22.06 and 3352.5 / 153 = 21.91."),
        ("Oslo", "Yes, the capital is Bergen, so the answer is right."),
        (NORTH, "The answer is right: the south sold most."),
        (SOLD, "Die Antwort stimmt nicht."),
        (SOLD, "Die Antwort ist falsch."),
        (SOLD, "Die Zahlen stimmen: 118."),
        (SOLD, "Alles stimmt: acht wurden verkauft."),
    ],
)
def test_words_that_deny_or_change_the_answer_speak_of_it_and_do_not_confirm(held: str, words: str) -> None:
    assert not confirms(words, held)
    assert speaks_of(words, TASK)


@pytest.mark.parametrize(
    "words",
    [
        "119",
        "In total 118 units were sold.",
        "The south sold most.",
        "I checked each step.",
        "Es wurden 118 verkauft.",
        "The rest is right.",
        "If the numbers are right, the mean is 9.",
        "Right.",
        "It is good.",
        "It is in order.",
    ],
)
def test_other_words_do_not_speak_of_an_answer(words: str) -> None:
    assert not speaks_of(words, TASK)


@pytest.mark.parametrize("task", ["Are the numbers right?", "Check the report.", "Did it change?", "Stimmt die Summe?"])
def test_a_task_about_what_is_right_is_answered_so(task: str) -> None:
    assert not speaks_of("The numbers are right.", task)
    assert not speaks_of("No change.", task)
    assert speaks_of("The answer holds.", task)


def test_long_words_are_an_answer() -> None:
    assert not speaks_of(f"{'The north sold more than the south in each month. ' * 20}Everything is right.", TASK)


def test_a_remark_keeps_the_controls_that_python_takes_for_white_space() -> None:
    remark = remark_of("The answer holds.\x1e\x1eIt leaves  out\x85the year 2023.", "12")
    assert remark.endswith("\x1e\x1eIt leaves out\x85the year 2023.")


def test_the_words_for_a_part_keep_them_too() -> None:
    assert part_words("Pay\x1e12\n to\u2028ann", Result(answer="x")) == "Pay\x1e12 to\u2028ann: x"
