"""Test forms in real Chromium: what a field does not take is a failure, before anything is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from browser_kit import Act, index_of
from sites import Asked, Page, Site, html

from tea.platform import Platform
from tea.runs.policy import AllowTrusted

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

ROOMS = """<!doctype html><title>Room</title><form action=/booked><input name=name placeholder=name>
<input type=date name=date><select name=room><option value=a>Room A (4 seats)<option value=b>Room B (8 seats)
<option value=c>Room C (12 seats)<option value=d disabled>Room D (20 seats)</select>
<label><input type=checkbox name=lamp> Lamp</label><button>Book</button></form>"""
COMBO = """<!doctype html><title>Menu</title><div role=listbox tabindex=0 aria-label=Menu>
<div role=option onclick="document.title='took tea'">Tea</div><div role=option>Milk</div></div>"""
SHAPED = """<!doctype html><title>Shaped</title><input id=p placeholder=phone
 oninput="p.value=p.value.replace(/^(\\d{3})(\\d{3})(\\d{4})$/, '($1) $2-$3')">
<input id=n placeholder=price oninput="n.value=n.value.replace(/\\D/g,'')">
<input id=l placeholder=short maxlength=3><textarea id=t placeholder=words></textarea>
<select id=s onchange="s.selectedIndex=0"><option>One<option>Two</select>
<button onclick="document.title='sent '+p.value">Send</button>"""
ASKED = """<!doctype html><title>Asked</title><form><input type=radio name=r value=no><input type=radio name=r value=y>
<input type=checkbox name=c value=no></form><script>
document.forms[0].onchange = () => document.title = [...new FormData(document.forms[0])].join(' ')</script>"""
FIELDS = {"name": "placeholder=name", "date": "type=date", "room": "<select", "lamp": "type=checkbox", "book": "Book"}


def booked(asked: Asked) -> Page:
    return html(f"<!doctype html><title>Booked {asked.path.partition('?')[2]}</title>")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[Site]:
    pages = {
        "/room": html(ROOMS),
        "/menu": html(COMBO),
        "/shaped": html(SHAPED),
        "/asked": html(ASKED),
        "/booked": booked,
    }
    async with Site(pages).open() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    folder = tmp_path_factory.mktemp("home")
    (folder / "tea.toml").write_text(f'[web]\nallow = ["{site.place}"]\n')
    async with Platform(folder, policy=AllowTrusted(), state=folder / "state", trust_home=True) as made:
        yield made


@pytest.fixture
def act(tea: Platform, folder: Path) -> Act:
    async def act(action: str, **arguments: Any) -> Any:
        return await tea.ecp.invoke(f"browser#{action}", arguments, session="s")

    return act


async def filled(act: Act, site: Site, **values: str) -> Any:
    """Open the form, give values to its fields, and press its button."""
    site.asked.clear()
    await act("navigate", url=f"{site.url}/room")
    indexes = {name: await index_of(act, words) for name, words in FIELDS.items()}
    fields = [{"index": indexes[name], "value": value} for name, value in values.items()]
    return await act("fill", fields=fields, press=indexes["book"])


def sent(site: Site) -> list[str]:
    return [one for one in site.paths() if one.startswith("/booked")]


@pytest.mark.parametrize("room", ["Room C (12 seats)", "room c (12  seats)", "c", "Room C", " room c "])
async def test_an_option_is_chosen_by_its_words_its_value_or_its_only_beginning(
    act: Act, site: Site, room: str
) -> None:
    seen = (await filled(act, site, name="Ada", date="2027-01-15", room=room, lamp="yes")).unwrap()
    assert seen["title"] == "Booked name=Ada&date=2027-01-15&room=c&lamp=on"


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"room": "Room E"}, "'Room E' is not an option of the list. Its options are: Room A (4 seats) | Room B"),
        ({"room": "Room"}, "'Room' is more than one option of the list: 'Room A (4 seats)' ('a'), "),
        ({"room": "Roo"}, "'Roo' is not an option"),
        ({"room": "Room D"}, "The option 'Room D' is closed"),
        ({"name": "Ada", "lamp": "perhaps"}, "'perhaps' is not a value of a box"),
        ({"name": "Ada", "date": "01/15/2027"}, "it holds '' and not '01/15/2027'"),
    ],
)
async def test_a_value_that_a_field_does_not_take_is_a_failure_and_nothing_is_sent(
    act: Act, site: Site, values: dict[str, str], problem: str
) -> None:
    error = (await filled(act, site, **values)).error
    assert problem in error["problem"]
    assert str(await index_of(act, FIELDS[list(values)[-1]])) in error["problem"]
    assert sent(site) == []


async def test_a_list_keeps_its_option_where_the_wanted_one_is_not_there(act: Act, site: Site) -> None:
    await act("navigate", url=f"{site.url}/room")
    index = await index_of(act, "<select")
    assert not (await act("select", index=index, option="Room E")).ok
    (await act("select", index=index, option="Room B")).unwrap()
    await act("navigate", url=f"{site.url}/menu")
    index = await index_of(act, "aria-label=Menu")
    error = (await act("select", index=index, option="Wine")).error
    assert "Tea" in error["problem"]
    assert (await act("select", index=index, option="Tea")).unwrap()["title"] == "took tea"


@pytest.mark.parametrize(
    ("words", "value", "problem"),
    [
        ("placeholder=phone", "5551234567", ""),
        ("placeholder=price", "1.50", "it holds '150' and not '1.50'"),
        ("placeholder=price", "-5", "it holds '5' and not '-5'"),
        ("placeholder=short", "four", "it holds 'fou' and not 'four'"),
        ("placeholder=words", "two\nlines", ""),
        ("<select", "Two", "Nothing was chosen"),
    ],
)
async def test_a_page_may_put_separators_into_a_value_and_change_nothing_else(
    act: Act, site: Site, words: str, value: str, problem: str
) -> None:
    await act("navigate", url=f"{site.url}/shaped")
    index, button = await index_of(act, words), await index_of(act, "Send")
    outcome = await act("fill", fields=[{"index": index, "value": value}], press=button)
    assert outcome.ok is not bool(problem), outcome
    assert problem in (outcome.error or {"problem": ""})["problem"]
    assert ("sent" in (await act("state")).unwrap()["title"]) is not bool(problem)


async def test_the_chosen_option_of_a_list_is_shown_and_its_options_are_read_once(act: Act, site: Site) -> None:
    await act("navigate", url=f"{site.url}/room")
    index = await index_of(act, "<select")
    assert "<select name=room value=Room A (4 seats) " in (await act("state")).unwrap()["elements"]
    (await act("select", index=index, option="b")).unwrap()
    assert "<select name=room value=Room B (8 seats) " in (await act("state")).unwrap()["elements"]
    text = (await act("extract")).unwrap()["text"]
    assert "Room A (4 seats) | Room B (8 seats) [chosen] | Room C (12 seats) | Room D (20 seats)" in text
    assert text.count("Room A") == 1


async def test_words_that_a_field_takes_nothing_of_are_a_failure(act: Act, site: Site) -> None:
    await act("navigate", url=f"{site.url}/room")
    index = await index_of(act, "type=date")
    error = (await act("type", index=index, text="01/15/2027")).error
    assert error["problem"] == f"The field {index} did not take its value: it is empty, and not '01/15/2027'."
    assert (await act("type", index=index, text="2027-01-15")).ok


@pytest.mark.parametrize(
    ("at", "value", "title"),
    [
        (0, "no", "r,no"),
        (0, "yes", None),
        (1, "no", None),
        (1, "Y", "r,y"),
        (1, "on", "r,y"),
        (2, "no", None),
        (2, "yes", "c,no"),
        (2, "false", "Asked"),
    ],
)
async def test_a_word_that_may_be_an_answer_does_not_leave_a_button_unticked(
    act: Act, site: Site, at: int, value: str, title: str | None
) -> None:
    await act("navigate", url=f"{site.url}/asked")
    first = await index_of(act, "<input type=radio")
    outcome = await act("fill", fields=[{"index": first + at, "value": value}])
    assert outcome.ok is (title is not None), outcome
    assert title is None or outcome.value["title"] == title
