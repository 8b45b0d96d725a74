"""The browser agent on the browser environment, with scripted models."""

import json
import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from dialects import DIALECTS, Say, said
from loopback import Loopback
from run_kit import home

from tea.errors import ApprovalNeeded
from tea.platform import Platform
from tea.runs.policy import AllowTrusted
from tea.testing import ScriptedModel

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

PAGE = (
    b"<!doctype html><title>Shop</title><p>The kettle costs 42 crowns.<a href='offers?all=1'>All</a>"
    b"<button onclick=\"document.title='bought'\">Buy"
)

BOOKING = (
    b"<!doctype html><title>Booking</title><input id=q><input type=date id=d><input type=checkbox id=c>"
    b"<button onclick=\"if (confirm('Sure?')) document.title='sent '+q.value+' '+d.value+' '+c.checked\">Send</button>"
)
FORM = (
    b"<!doctype html><title>Form</title><input id=q><input type=checkbox id=c><select id=s><option>1850<option>1900"
    b"</select><button onclick=\"document.title='sent '+q.value+' '+s.value+' '+c.checked\">Send</button>"
)
LEADER = "Browse two pages in the browser.\nFirst left.\nThen right.\nThen end."


class Shop(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        at = self.path.rpartition("/rooms/")[2]
        page = f"<!doctype html><title>Rooms</title><input><a href=/rooms/{int(at) + 1}>Next" if at.isdigit() else ""
        self.wfile.write({"/form": FORM, "/booking": BOOKING}.get(self.path, page.encode() or PAGE))

    def log_message(self, *words: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


class Played:
    def __init__(self) -> None:
        self.model = ScriptedModel([])

    async def complete(self, *words: Any) -> Any:
        return await self.model.complete(*words)


@pytest.fixture(scope="module")
def played() -> Played:
    return Played()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea(site: str, played: Any, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    folder = tmp_path_factory.mktemp("home")
    (folder / "tea.toml").write_text(f'[web]\nallow = ["{site.removeprefix("http://")}"]\n')
    async with Platform(folder, model=played, policy=AllowTrusted(), state=folder / "state", trust_home=True) as made:
        yield made


def step(*actions: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    words = dict.fromkeys(("evaluation", "memory", "next_goal"), "w")
    return {**words, "actions": [{"action": name, "arguments": given} for name, given in actions], **more}


async def test_it_reads_a_page_and_keeps_log_film_and_report(tea: Platform, played: Played, site: str) -> None:
    words = "The kettle costs 42 crowns."
    first, second = step(("navigate", {"url": site}), ("extract", {})), step(extracted=words, final={"success": True})
    played.model = ScriptedModel([first, second])
    outcome = await tea.run("What does the kettle cost?", agent="browser")
    assert (outcome.ok, outcome.answer) == (True, words)
    assert [(one.source, one.detail, one.quote) for one in outcome.evidence] == [(f"{site}/", "Shop", words)]
    assert outcome.report is not None
    folder = outcome.report.parent
    assert (folder / "steps.gif").read_bytes().startswith(b"GIF8")
    assert "navigate" in (folder / "log.md").read_text()
    assert words in outcome.report.read_text()
    assert (await tea.replay(outcome.run)).ok


@pytest.mark.parametrize(
    ("task", "at"),
    [
        ("What does the kettle cost (see {site}/offers)?", "{site}/offers"),
        ("Read {site}/offers. Only [{site}/offers]({site}/offers) counts.", "{site}/offers"),
        ("Compare {site}/1 and {site}/2.", "about:blank"),
        ("What does the kettle cost?", "about:blank"),
    ],
)
async def test_the_only_address_of_a_task_is_open_before_the_first_question(
    tea: Platform, played: Played, site: str, task: str, at: str
) -> None:
    price = "42" if at != "about:blank" else "7.35"  # none that a port in thousands could mean
    played.model = ScriptedModel([step(final={"success": True, "answer": f"{price} crowns."})])
    outcome = await tea.run(task.format(site=site), agent="browser")
    request, *others = played.model.requests
    assert len(others) == (at == "about:blank")  # a number that no page showed is asked about once
    assert (request.variables["state"]["url"], request.variables["left"]) == (at.format(site=site), 5)
    assert len(request.variables["steps"]) == (at != "about:blank")
    assert [one.source for one in outcome.evidence] == ([] if at == "about:blank" else [at.format(site=site)])
    assert (await tea.replay(outcome.run)).answer == outcome.answer


async def test_an_address_of_a_task_that_is_refused_is_told_with_the_first_question(
    tea: Platform, played: Played
) -> None:
    played.model = ScriptedModel([step(final={"success": False, "reason": "It cannot be reached."})])
    outcome = await tea.run("Read http://127.0.0.1:9/.", agent="browser")
    assert (outcome.ok, outcome.reason) == (False, "It cannot be reached.")
    assert "- navigate: failed " in str(played.model.requests[0])


async def test_a_link_is_followed_by_its_path_and_its_page_is_told_once(
    tea: Platform, played: Played, site: str
) -> None:
    follows, ends = step(("navigate", {"url": "/offers?all=1"})), step(extracted="42", final={"success": True})
    played.model = ScriptedModel([step(("navigate", {"url": site})), follows, ends])
    outcome = await tea.run("What does the kettle cost?", agent="browser")
    assert outcome.ok
    shop, offers = (one.variables["state"] for one in played.model.requests[1:])
    assert "href=/offers?all=1" in shop["elements"]
    assert offers["url"] == f"{site}/offers?all=1"
    told = [
        json.loads(result["result"]) for one in played.model.requests[2].variables["steps"] for result in one["results"]
    ]
    assert not any("links" in one for one in told)


async def test_the_final_words_are_told_and_not_what_an_earlier_page_held(
    tea: Platform, played: Played, site: str
) -> None:
    first = step(("navigate", {"url": f"{site}/1"}), ("extract", {}), ("navigate", {"url": f"{site}/2"}))
    ends = {"success": True, "answer": "The kettle costs 42 crowns."}
    played.model = ScriptedModel([first, step(extracted="All"), step(final=ends)])
    outcome = await tea.run("What is dearest on these pages?", agent="browser")
    assert (outcome.answer, outcome.gaps) == (ends["answer"], ())
    assert [(one.source, one.quote) for one in outcome.evidence] == [(f"{site}/1", ""), (f"{site}/2", "All")]


@pytest.mark.parametrize("form", ["{}", "[{}]", "*[{}]"])
@pytest.mark.parametrize("words", ["", "send"])
async def test_numbers_truth_values_and_indexes_are_taken_as_they_are_written(
    tea: Platform, played: Played, site: str, form: str, words: str
) -> None:
    class Filler:
        async def complete(self, request: Any, *more: Any) -> Any:
            elements = request.variables["state"]["elements"]
            if request.variables["state"]["title"].startswith("sent"):
                given = step(final={"answer": request.variables["state"]["title"]})
            elif found := re.findall(r"\[(\d+)\]<(?:input|select|button)", elements):
                name, box, kind, button = found
                values = {name: 12, box: True, kind: 1900}
                fields = [{"index": form.format(index), "value": value} for index, value in values.items()]
                given = step(("fill", {"fields": fields, "press": words or form.format(button)}))
            else:
                given = step(("navigate", {"url": f"{site}/form"}))
            return await ScriptedModel([given]).complete(request, *more)

    played.model = Filler()
    outcome = await tea.run("Send the form.", agent="browser")
    assert outcome.answer == "sent 12 1900 true"


@pytest.mark.parametrize("day", ["14 March 2027", "Sunday, March 14th, 2027", "2027-03-14"])
async def test_a_mapping_of_fields_a_day_in_words_and_a_truth_in_a_word_are_read_as_meant(
    tea: Platform, played: Played, site: str, day: str
) -> None:
    class Booker:
        async def complete(self, request: Any, *more: Any) -> Any:
            state = request.variables["state"]
            if state["title"].startswith("sent"):
                given = step(final={"answer": state["title"]})
            elif found := re.findall(r"\[(\d+)\]<(?:input|button)", state["elements"]):
                name, date, box, button = found
                fields = {name: "Maria", f"[{date}]": day, box: True}
                given = step(("fill", {"fields": fields, "press": button, "accept_dialogs": "yes"}))
            else:
                given = step(("navigate", {"url": f"{site}/booking"}))
            return await ScriptedModel([given]).complete(request, *more)

    played.model = Booker()
    outcome = await tea.run("Send the booking.", agent="browser", budget={"steps": 3})
    assert outcome.answer == "sent Maria 2027-03-14 true"


async def test_an_aim_and_what_is_known_are_told_apart(tea: Platform, played: Played, site: str) -> None:
    played.model = ScriptedModel([step(("navigate", {"url": site})), step(final={"answer": "It is a shop."})])
    assert (await tea.run("What is it?", agent="browser")).ok
    assert "- Aim: w; Known: w" in str(played.model.requests[1])
    assert "--max-steps" not in str(played.model.requests[1])


async def test_two_at_once_have_pages_and_files_of_their_own(
    tea: Platform, played: Played, site: str
) -> None:  # 002: 28
    words = dict.fromkeys(("thinking", "evaluation", "memory", "next_goal"), "")
    tasks = ("Read the left page.", "Read the right page.")
    calls = [{"name": "browser", "arguments": {"task": one}} for one in tasks]
    leader = [
        {**words, "calls": calls},
        *2 * [{**words, "calls": [{"name": "done", "arguments": {"answer": "Done."}}]}],
    ]

    class Cast:
        def __init__(self) -> None:
            self.left = {LEADER: leader}
            for one in tasks:
                side = one.split()[2]
                first = step(("navigate", {"url": f"{site}/{side}"}), ("extract", {}))
                self.left[one] = [first, step(extracted=f"It is {side}.", final={"success": True})]

        async def complete(self, request: Any, *more: Any) -> Any:
            return await ScriptedModel([self.left[request.variables["task"]].pop(0)]).complete(request, *more)

    played.model = Cast()
    outcome = await tea.run(LEADER)
    assert outcome.ok, outcome.reason
    logs = list((outcome.trace / "workspace").glob("browser/*/log.md"))
    sides = [[side for side in ("left", "right") if f"/{side}" in one.read_text()] for one in logs]
    assert sorted(sides) == [["left"], ["right"]]
    assert all((one.parent / "steps.gif").read_bytes().startswith(b"GIF8") for one in logs)
    assert (await tea.replay(outcome.run)).answer == outcome.answer


async def test_a_fork_behind_a_page_says_that_it_is_lost_and_the_model_opens_it_again(
    tea: Platform, played: Played, site: str
) -> None:
    words = "The kettle costs 42 crowns."
    opens, ends = step(("navigate", {"url": site})), step(extracted=words, final={"success": True})
    played.model = ScriptedModel([opens, ends])
    origin = await tea.run("What does the kettle cost?", agent="browser")
    asked = [one.key for one in tea.tracer.records(origin.run) if one.kind == "start" and one.data["kind"] == "model"]
    played.model = ScriptedModel([step(("extract", {})), opens, ends])
    fork = await tea.fork(origin.run, at=asked[1])
    assert (fork.ok, fork.answer) == (True, words)
    known, lost, opened = (request.variables for request in played.model.requests)
    assert (known["state"]["url"], lost["state"]["url"], opened["state"]["url"]) == (
        f"{site}/",
        "about:blank",
        f"{site}/",
    )
    told = [result["result"] for one in opened["steps"] for result in one["results"] if not result["ok"]]
    assert len(told) == 1
    assert "is not brought back in a fork" in told[0]
    assert (await tea.replay(fork.run)).answer == fork.answer


async def test_a_fork_behind_the_only_address_of_a_task_has_its_page_again_after_the_loss(
    tea: Platform, played: Played, site: str
) -> None:
    ends = step(final={"success": True, "answer": "42 crowns."})
    played.model = ScriptedModel([ends])
    origin = await tea.run(f"What does the kettle at {site}/ cost?", agent="browser")
    asked = [one.key for one in tea.tracer.records(origin.run) if one.kind == "start" and one.data["kind"] == "model"]
    played.model = ScriptedModel([step(("extract", {})), ends])
    fork = await tea.fork(origin.run, at=asked[0])
    first, second = (request.variables for request in played.model.requests)
    assert (fork.answer, first["state"]["url"], second["state"]["url"]) == ("42 crowns.", f"{site}/", f"{site}/")
    assert [one["ok"] for step in second["steps"] for one in step["results"]] == [True, False, True]


async def test_it_ends_after_five_steps_by_elements_without_an_answer(tea: Platform, played: Played, site: str) -> None:
    played.model = ScriptedModel([step(("navigate", {"url": site})) for _ in range(9)])
    outcome = await tea.run("Buy nothing.", agent="browser")
    assert not outcome.ok
    assert "5 steps" in outcome.reason
    assert [one.variables["left"] for one in played.model.requests] == [5, 4, 3, 2, 1, 0]
    assert outcome.answer is None
    assert "the person can allow more steps with `--max-steps`" in str(played.model.requests[-1])


async def test_it_works_on_by_pixels_and_gives_up_after_three_failures(
    tea: Platform, played: Played, site: str
) -> None:
    moves = [step(("navigate", {"url": site})), *(step(("click_at", {"x": 1, "y": 1})) for _ in range(6))]
    played.model = ScriptedModel([*moves, *(step(("click", {"index": 999_999})) for _ in range(9))])
    outcome = await tea.run("Try it.", agent="browser")
    assert not outcome.ok
    assert len(played.model.requests) == 11
    assert "answer with `final` alone" in str(played.model.requests[-1])


async def test_a_place_that_is_not_opened_is_an_observation_and_not_the_end(tea: Platform, played: Played) -> None:
    away = step(("navigate", {"url": "http://127.0.0.1:9/"}))
    played.model = ScriptedModel([away, step(final={"success": False, "reason": "It cannot be reached."})])
    outcome = await tea.run("Read it.", agent="browser")
    assert (outcome.ok, outcome.reason) == (False, "It cannot be reached.")


@pytest.mark.parametrize(("sense", "pictures"), [("vision", 1), ("schema", 0)])
async def test_a_model_that_sees_is_shown_the_page(site: str, tmp_path: Path, sense: str, pictures: int) -> None:
    steps = step(("navigate", {"url": site})), step(final={"success": True, "answer": "A shop."})
    replies = [said(DIALECTS["openai_chat"], Say(text=json.dumps(one))) for one in steps]
    more = f'[web]\nallow = ["{site.removeprefix("http://")}"]'
    async with Loopback(*replies).open() as server:
        home(tmp_path, DIALECTS["openai_chat"], server.url, more, capabilities=["schema", sense])
        async with Platform(tmp_path, policy=AllowTrusted(), state=tmp_path / "state", trust_home=True) as tea:
            assert (await tea.run("What is there?", agent="browser")).answer == "A shop."
        assert [one.raw.decode().count("data:image/png") for one in server.asked] == [0, pictures]


class Buyer:
    """A model opening the shop, clicking its button, and ending."""

    def __init__(self, site: str) -> None:
        self._site, self._asked = site, 0

    async def complete(self, *words: Any) -> Any:
        self._asked += 1
        if self._asked == 1:
            given = step(("navigate", {"url": f"{self._site}/"}))
        elif self._asked == 2:
            index = re.findall(r"\[(\d+)\]<button", str(words[0]))[-1]
            given = step(("click", {"index": int(index)}))
        else:
            given = step(final={"success": True, "answer": "bought"})
        return await ScriptedModel([given]).complete(*words)


@pytest.mark.parametrize(("task", "goes"), [("Buy the kettle at {site}/.", True), ("Buy a kettle.", False)])
async def test_under_the_default_policy_it_acts_at_the_site_that_the_person_named(
    site: str, tmp_path: Path, task: str, *, goes: bool
) -> None:
    (tmp_path / "tea.toml").write_text(f'[web]\nallow = ["{site.removeprefix("http://")}"]\n')
    async with Platform(tmp_path, model=Buyer(site), state=tmp_path / "state", trust_home=True) as tea:
        if goes:
            outcome = await tea.run(task.format(site=site), agent="browser")
            assert (outcome.ok, outcome.answer) == (True, "bought"), outcome
            assert (await tea.replay(outcome.run)).ok
            return
        with pytest.raises(ApprovalNeeded, match=f"would go to {site}/, which nobody named"):
            await tea.run(task, agent="browser")


class Reader:
    """A model following the first link of a page by a click and the next by its address, perhaps typing before."""

    def __init__(self, *first: tuple[str, dict[str, Any]]) -> None:
        self._first, self._asked = first, 0

    async def complete(self, request: Any, *more: Any) -> Any:
        self._asked += 1
        elements = request.variables["state"]["elements"]
        typed = [
            (name, {**one, "index": int(re.findall(r"\[(\d+)\]<input", elements)[0])}) for name, one in self._first
        ]
        (index, href), *_ = re.findall(r"\[(\d+)\]<a href=(\S+)", elements)
        given = {
            1: step(*typed, ("click", {"index": int(index)})),
            2: step(("navigate", {"url": href}), ("navigate", {"url": "/rooms/4"})),
        }.get(self._asked, step(final={"answer": request.variables["state"]["url"]}))
        return await ScriptedModel([given]).complete(request, *more)


@pytest.mark.parametrize("words", ["", "Ann"])
async def test_a_link_of_a_page_that_a_click_led_to_is_followed_by_its_address_unless_words_were_typed(
    site: str, tmp_path: Path, words: str
) -> None:
    (tmp_path / "tea.toml").write_text(f'[web]\nallow = ["{site.removeprefix("http://")}"]\n')
    model = Reader(*([("type", {"text": words})] if words else []))
    async with Platform(tmp_path, model=model, state=tmp_path / "state", trust_home=True) as tea:
        if not words:
            outcome = await tea.run(f"Read on from {site}/rooms/1.", agent="browser")
            assert (outcome.ok, outcome.answer) == (True, f"{site}/rooms/4"), outcome
            assert (await tea.replay(outcome.run)).ok
            return
        with pytest.raises(ApprovalNeeded, match=f"would fetch {site}/rooms/3, which stood nowhere"):
            await tea.run(f"Read on from {site}/rooms/1.", agent="browser")


class Shopper:
    """A model opening the shop, clicking its button once it sees one, and ending when that was done."""

    def __init__(self, site: str) -> None:
        self._site = site

    async def complete(self, *words: Any) -> Any:
        text = str(words[0])
        found = re.findall(r"\[(\d+)\]<button", text)
        if "bought" in text.rpartition("Title:")[2]:
            given = step(final={"success": True, "answer": "bought"})
        elif found:
            given = step(("click", {"index": int(found[-1])}))
        else:
            given = step(("navigate", {"url": f"{self._site}/"}))
        return await ScriptedModel([given]).complete(*words)


@pytest.mark.parametrize(("elsewhere", "lost"), [(False, 0), (True, 1)])
async def test_after_consent_in_the_midst_it_goes_on_with_its_page_or_opens_it_again_once(
    site: str, tmp_path: Path, *, elsewhere: bool, lost: int
) -> None:
    (tmp_path / "tea.toml").write_text(f'[web]\nallow = ["{site.removeprefix("http://")}"]\n')
    model = Shopper(site)

    def process() -> Platform:
        return Platform(tmp_path, model=model, state=tmp_path / "state", trust_home=True)

    async with AsyncExitStack() as stack:
        tea = await stack.enter_async_context(process())
        with pytest.raises(ApprovalNeeded, match="which nobody named"):
            await tea.run("Buy a kettle.", agent="browser")
        if elsewhere:
            await stack.aclose()
            tea = await stack.enter_async_context(process())
        (question,) = (await tea.inbox("last")).questions
        outcome = await tea.resume("last", answers={question.key: "allow"})
        assert (outcome.ok, outcome.answer) == (True, "bought")
        ends = [str(one.data) for one in tea.tracer.records(outcome.run) if one.kind == "done"]
        assert sum("'problem': 'The state of environment:browser" in one for one in ends) == lost
        assert (await tea.replay(outcome.run)).answer == outcome.answer
