"""Test answers about pages named by a task: asked about once if nothing has opened them."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Names, Stage, done, step, told

from tea.loop.grounds import Grounds
from tea.loop.observation import Observation
from tea.loop.unopened import unopened
from tea.types import Fact, Said, Task

PAGE = "http://127.0.0.1:9/hours"
FEES = "http://127.0.0.1:9/fees"
READ = f"Read {PAGE} and say on which day the nursery is closed."
CLOSED = "It is closed on Mondays."


def call(called: str, value: Any = "x", ok: bool = True, **arguments: Any) -> Observation:
    return Observation(id="c", name=called, arguments=arguments, ok=ok, value=value)


def code(text: str) -> Observation:
    return call("shell_python", {"text": text, "sandbox": "bubblewrap"}, code=f"urlopen('{PAGE}')")


FETCHED, GONE = call("fetch_page", "Closed on Sundays", url=PAGE), call("fetch_page", None, False, url=PAGE)


@pytest.mark.parametrize(
    ("task", "answer", "results"),
    [
        (READ, CLOSED, []),
        (READ, {"day": "Monday"}, []),
        (READ, f"According to {PAGE}, the nursery is not open on Mondays.", []),
        (READ, "The page says that it is not open on Mondays.", []),
        (READ, "It does not open before ten, and is not accessible on Mondays.", []),
        (READ, CLOSED, [GONE]),
        (READ, CLOSED, [call("todo", "kept", items=["read it"])]),
        (READ, CLOSED, [call("read_file", "Opening hours", path="notes.txt")]),
        (READ, CLOSED, [code("STDERR:\nTraceback (most recent call last):\nURLError\nEXIT:\n1")]),
        (READ, CLOSED, [call("researcher", {"answer": ""}, False, task=READ)]),
        (READ, CLOSED, [call("web_search", {"hits": []}, query=PAGE)]),
        (f"On which day is the nursery closed? {PAGE}", CLOSED, []),
        (f"On which day is the nursery closed? See {PAGE}.", CLOSED, []),
        (f"When is the nursery of ({PAGE}) closed?", CLOSED, []),
        (f"By {PAGE}, is it closed on Mondays?", "Yes.", []),
        (f"Auf {PAGE} stehen die Zeiten. Wann ist zu?", CLOSED, []),
        (f"On which day is the nursery closed? The page is {PAGE}", CLOSED, []),
        (f"On which day is the nursery closed? The page is {PAGE}", CLOSED, [GONE]),
        (f"On which day is the nursery closed?\nPage: {PAGE}", CLOSED, []),
        (f"Its page is {PAGE}. When is the nursery closed?", CLOSED, []),
        (f"Wann ist zu? Die Seite ist {PAGE}", CLOSED, []),
        (f"Quand est-ce ferm\u00e9 ? La page est {PAGE}", CLOSED, []),
        (f"Compare {FEES} with {PAGE}: do they agree?", "Yes.", [call("fetch_page", PAGE, url=FEES)]),
        (f"Do {FEES} and {PAGE} differ?", "No.", [call("fetch_page", "x", url=FEES), GONE]),
        (f"Selon la page {PAGE}, combien de jours ?", "6", []),
        (f"Lies {PAGE} und nenne den Ruhetag.", "Montag", []),
        (f"Write a summary of {PAGE}.", f"{PAGE} tells the hours of a nursery.", []),
        (f"Translate {PAGE} into German.", "Montags geschlossen.", []),
        (f"Book a table at {PAGE} for two.", "A table for two is booked.", []),
        (f"{READ} My colleague said that it moved.", CLOSED, []),
    ],
)
def test_an_answer_about_a_page_that_nothing_opened_is_a_problem(
    task: str, answer: Any, results: list[Observation]
) -> None:
    assert unopened(results, Names(), answer, Task(text=task), task) == f"Nothing has opened {PAGE}"


@pytest.mark.parametrize(
    ("task", "answer", "results"),
    [
        (READ, CLOSED, [FETCHED]),
        (READ, CLOSED, [call("fetch_page", "x", url="127.0.0.1:9/hours/")]),
        (READ, CLOSED, [GONE, call("fetch_page", "x", url=f"https://web.archive.org/web/2024/{PAGE}")]),
        (READ, CLOSED, [call("browser", {"answer": "Mondays"}, task=READ)]),
        (READ, CLOSED, [call("researcher", {"answer": "Mondays"}, task="When is the nursery closed?")]),
        (READ, CLOSED, [call("web_search", {"hits": [{"url": PAGE, "text": "closed on Mondays"}]}, query="nursery")]),
        (f"Compare {PAGE} and {FEES}.", "They agree.", [FETCHED, call("fetch_page", "x", url=FEES)]),
        (f"Compare {PAGE} and {FEES}.", "They agree.", [call("researcher", {"answer": "yes"}, task="both")]),
        (f"Compare {PAGE} and {FEES}.", "They agree.", [call("fetch_pages", "x", urls=["127.0.0.1:9/hours", FEES])]),
        (f"Compare {FEES} and {PAGE}.", f"{PAGE} could not be opened.", [call("fetch_page", "x", url=FEES)]),
        (f"When is it closed by {PAGE} or {FEES}?", CLOSED, [FETCHED]),
        (f"When is it closed? The page is {PAGE}.", CLOSED, [FETCHED]),
        (f"When is it closed? The page is {PAGE}.", "The page could not be opened.", [GONE]),
        (f"My page is {PAGE}. Which name fits it?", "Leaf", []),
        (f"Run test_cart.py; it belongs to the shop at {PAGE}. Why does it fail?", "It adds.", []),
        ("Auf 127.0.0.1:9/hours stehen die Zeiten: Wann ist zu?", CLOSED, [FETCHED]),
        ("What is the sum in data.csv/sum.csv?", "45", []),
        ("Which day is 2024.12/24?", "Tuesday", []),
        ("Is 3.5/7 the same as 1/2?", "Yes", []),
        (READ, f"{PAGE} could not be opened.", [GONE]),
        (READ, "The page is not there (status 404); by my knowledge such nurseries close on Mondays.", [GONE]),
        (READ, "The page does not exist.", [GONE]),
        (READ, "Die Seite konnte nicht geladen werden.", [GONE]),
        (READ, "I was unable to open it.", [GONE]),
        (READ, "I couldn't open the page.", [GONE]),
        (READ, "I have no access to the web; they are mostly closed on Mondays.", []),
        (READ, "There is none.", [GONE]),
        (READ, "", []),
        (f"Write the link {PAGE} into links.txt.", "It is written.", [call("workspace_write", text=PAGE)]),
        (f"Write a script in hours.py that reads {PAGE}.", "Done.", [call("workspace_write", text=f"get('{PAGE}')")]),
        (f"Which rows of links.csv hold {PAGE}?", "Row 3.", [call("read_file", f"3;{PAGE}", path="links.csv")]),
        (f"Is {PAGE} a valid URL?", "Yes.", []),
        (f"What is the port of {PAGE}?", "9", []),
        (f"Which host does {PAGE} name?", "127.0.0.1", []),
        (f"How is {PAGE} percent-encoded?", "http%3A%2F%2F127.0.0.1%3A9%2Fhours", []),
        (f"Write a curl command that fetches {PAGE}.", f"curl {PAGE}", []),
        (f"Write an e-mail that tells people to look at {PAGE}.", f"Dear all, look at {PAGE}.", []),
        (f"Translate into German: See {PAGE}.", f"Siehe {PAGE}.", []),
        (f"Remove the tracking parameters from {PAGE}?utm_source=1.", "It holds none but utm_source.", []),
        (f"Reply politely to this mail: 'See {PAGE} for our offer.'", "Thank you for the offer.", []),
        (f"Explain what `requests.get('{PAGE}').text` returns.", "The text of the answer.", []),
        (f"My site is {PAGE}. Suggest three names for a blog.", "Leaf, Root and Twig", []),
        (f"How much is 6 * 7?\n\nSent from {PAGE[:-6]}", "42", [FETCHED]),
        ("How do I read a page in Python?", "With urllib.request.", []),
        ("Who leads example.org?", "Kari Voll", []),
        ("How many hosts does the network 192.168.1.0/24 have, and is 10.0.0.7/8 in it?", "254, and no", []),
    ],
)
def test_an_answer_after_a_page_was_read_or_about_its_address_alone_is_none(
    task: str, answer: Any, results: list[Observation]
) -> None:
    assert unopened(results, Names(), answer, Task(text=task), task) == ""


@pytest.mark.parametrize(
    "task",
    ["Auf {} stehen die Zeiten: Wann ist zu?", "By {}, when is it closed?", "Summarise {}.", "Fasse {} zusammen."],
)
@pytest.mark.parametrize("page", ["127.0.0.1:9/hours", "localhost:9490/hours", "nursery.example.org/hours"])
def test_an_address_without_its_scheme_is_one_as_well(task: str, page: str) -> None:
    task = task.format(page)
    assert unopened([], Names(), CLOSED, Task(text=task), task) == f"Nothing has opened {page}"


def test_a_page_that_a_given_file_comes_from_needs_no_reading() -> None:
    task = f"The numbers were taken from {PAGE}. What is the mean of n?"
    assert unopened([], Names(), "12", Task(text=task, files=("sales.csv",)), task) == ""
    assert unopened([], Names(), "12", Task(text=task), task)
    read = f"{READ} Compare it with sales.csv."
    assert unopened([], Names(), "12", Task(text=read, files=("sales.csv",)), read)


def test_a_page_known_from_facts_or_from_the_conversation_needs_no_reading() -> None:
    fact = Fact(fact="It is closed on Mondays.", source=PAGE)
    assert unopened([], Names(), CLOSED, Task(text=READ, facts=(fact,)), READ) == ""
    spoken = (Said(who="person", text=READ), Said(who="planner", text=f"By {PAGE}, it is closed on Mondays."))
    assert unopened([], Names(), CLOSED, Task(text=READ, history=spoken), READ) == ""
    asked = (Said(who="person", text=READ), Said(who="planner", text="One moment."))
    assert unopened([], Names(), CLOSED, Task(text=READ, history=asked), READ)


def test_the_status_of_a_page_that_was_not_there_is_a_known_number() -> None:
    error: Any = {"problem": f"{PAGE!r} answered with status 404.", "fix": "check the address"}
    gone = Observation(id="c", name="fetch_page", arguments={"url": PAGE}, ok=False, value=None, error=error)
    words = "The page does not exist (404)."
    assert Grounds.of(READ, [], [], [gone]).numbers(words) == []
    assert Grounds.of(READ, [], [], [gone]).numbers("They have 404 trees and 12 shrubs.") == ["12"]
    assert Grounds.of(READ, [], [], []).numbers(words) == ["404"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open() as stage:
        yield stage


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("tried", [[], [step(("fetch_page", {"url": PAGE}))]])
async def test_a_page_that_nothing_opened_is_asked_about_once_and_then_doubted(stage: Stage, tried: list[Any]) -> None:
    holds = step(done("The answer holds."))
    outcome, model = await stage.play(*tried, step(done(CLOSED)), holds, holds, task=READ)
    asked = [told(one).count("Nothing has opened") for one in model.requests]
    assert (outcome.answer, len(model.requests), max(asked)) == (CLOSED, len(tried) + 2, 1)
    assert [one.doubt for one in outcome.evidence] == [f"Nothing has opened {PAGE}"]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("first", [CLOSED, step(done("On 17 days."))])
async def test_one_question_about_nothing_read_is_enough(stage: Stage, first: Any) -> None:
    outcome, model = await stage.play(first, step(done("The answer holds.")), task=READ)
    assert (outcome.ok, len(model.requests)) == (True, 2)
    assert f"Nothing has opened {PAGE}" in [one.doubt for one in outcome.evidence]
