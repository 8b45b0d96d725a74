"""Permissions of the browser: its destination is the origin in front."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from provenance_kit import plain, scripted

from tea import Platform
from tea.errors import ApprovalNeeded
from tea.journal.record import TraceRecord

FORM = "<!doctype html><title>Shop</title><input id=q placeholder=name oninput=\"document.title='has '+q.value\">"
# One navigation at a time: a second assignment to `location` would cancel the first.
POLL = "async function go(){if(await(await fetch('/go')).text())location='AWAY';else setTimeout(go,50)};go()"
MOVING = f"{FORM}<script>{POLL}</script>"
LANDED = f"{FORM}<script>fetch('/landed')</script>"


class Shop(BaseHTTPRequestHandler):
    """A site with pages by path; `go` lets a page move on, `seen` tells of an arrived page."""

    pages: ClassVar[dict[str, str]] = {}
    go: ClassVar[threading.Event]
    seen: ClassVar[threading.Event]

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        if self.path == "/go":
            self.wfile.write(b"go" * self.go.is_set())
            return
        self.wfile.write(self.pages.get(self.path, "").encode())
        if self.path == "/landed":
            self.seen.set()

    def log_message(self, *words: Any) -> None:
        pass


@contextmanager
def opened(page: str) -> Iterator[tuple[str, type[Shop]]]:
    kind = type("Opened", (Shop,), {"pages": {"/": page}, "go": threading.Event(), "seen": threading.Event()})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", kind
        finally:
            server.shutdown()
            thread.join()


async def shop(tea: Platform, site: str, task: str) -> Any:
    """Type into the page of a site at the word of a task."""
    steps = [["act", "browser#navigate", {"url": f"{site}/"}], ["act", "browser#type", {"index": 1, "text": "Ann"}]]
    steps.insert(1, ["act", "browser#state", {}])
    await tea.acp.register(INDEXED.replace("STEPS", repr(steps)))
    return await tea.run(task, agent="worker")


LINKED = "<!doctype html><title>Shop</title><a href=more.html>More</a>"
SURE = "<!doctype html><title>More</title>"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("{site}/more.html", "More"),
        ("{site}/more.html?d=secret", None),
        ("more.html", "'more.html'"),
        ("http://127.0.0.1:1/", "The guard refuses"),
        ("http://site.test:8931/", "The guard refuses"),
    ],
)
async def test_only_an_address_that_nobody_gave_and_the_guard_may_open_is_asked_about(
    tmp_path: Path, url: str, said: str | None
) -> None:
    with opened(LINKED) as (site, here):
        here.pages["/more.html"] = SURE
        async with plain(tmp_path, f'[web]\nallow = ["{site.removeprefix("http://")}"]\n') as tea:
            steps = [["act", "browser#navigate", {"url": one}] for one in (f"{site}/", url.format(site=site))]
            await tea.acp.register(scripted(*steps).replace('response.error["code"]', 'response.error["problem"]'))
            if said is not None:
                assert said in str((await tea.run("Go.", agent="worker")).answer[1])
                assert not (await tea.inbox()).questions
                return
            with pytest.raises(ApprovalNeeded, match="would fetch"):
                await tea.run("Go.", agent="worker")


INDEXED = (
    scripted(name="Worker")
    .replace("steps = json.loads('' or task.text)", "steps = STEPS")
    .replace(
        "response = await ctx.ecp.invoke(given[0], given[1])",
        """response = await ctx.ecp.invoke(given[0], given[1])
            if "elements" in str(response.value):
                shown = response.value["elements"].rpartition("]<input")[0]
                steps[-1][2]["index"] = int(shown.rpartition("[")[2])""",
    )
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "goes"), [("Order at {site}/catalogue?page=2.", True), ("Order at {place}", True), ("Order it.", False)]
)
async def test_typing_goes_to_an_origin_that_the_person_named(tmp_path: Path, task: str, *, goes: bool) -> None:
    with opened(FORM) as (site, _):
        place = site.removeprefix("http://")
        async with plain(tmp_path, f'[web]\nallow = ["{place}"]\n') as tea:
            given = task.format(site=site, place=place)
            if goes:
                assert "has Ann" in str((await shop(tea, site, given)).answer)
                return
            with pytest.raises(ApprovalNeeded, match=f"would go to {site}/, which nobody named"):
                await shop(tea, site, given)
            (question,) = (await tea.inbox("last")).questions
            found = (await tea.explain("last", question.key))[1]
            assert (found.decision, found.unnamed) == ("ask", (f"{site}/",))


@pytest.mark.slow
async def test_consent_to_one_origin_is_none_to_another_that_the_page_went_to(tmp_path: Path) -> None:
    with opened(LANDED) as (other, there), opened(MOVING) as (site, here):
        here.pages["/"] = MOVING.replace("AWAY", f"{other}/")

        async def person(question: str, choices: Sequence[str]) -> str | None:
            here.go.set()
            assert await asyncio.to_thread(there.seen.wait, 20)
            return "allow"

        allow = ", ".join(f'"{one.removeprefix("http://")}"' for one in (site, other))
        async with plain(tmp_path, f"[web]\nallow = [{allow}]\n", person=person) as tea:
            answer = (await shop(tea, site, "Order it.")).answer
            assert answer[-1] == "ToolError"
            records = str([one.data for one in tea.tracer.records(tea.tracer.find("last"))])
            assert "by itself" in records


TAKING_KEYS = LANDED.replace("id=q", "id=q autofocus").replace("<script>", "<script>q.focus();")
SIDE_BY_SIDE = '''
from tea import Agent, Context, Result, Task


class Worker(Agent):
    """Press keys, and do something else meanwhile."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Act in the browser side by side."""
        await ctx.ecp.invoke("browser#navigate", {"url": "SITE/"})
        async with ctx.group() as group:
            pressed = group.spawn(ctx.ecp.invoke("browser#keys", {"keys": "A"}))
            group.spawn(self.meanwhile(ctx))
        return Result(answer=str(pressed.result().error))

    async def meanwhile(self, ctx: Context) -> None:
        """Do something else, and say so."""
        await ctx.ecp.invoke("browser#ACT", {})
        ctx.note("meanwhile", {})
'''


@pytest.mark.slow
@pytest.mark.parametrize("act", ["scroll", "state"])
async def test_consent_to_one_origin_is_none_to_another_whatever_is_done_meanwhile(tmp_path: Path, act: str) -> None:
    with opened(TAKING_KEYS) as (other, there), opened(MOVING) as (site, here):
        here.pages["/"] = MOVING.replace("AWAY", f"{other}/")
        meanwhile = asyncio.Event()

        async def person(question: str, choices: Sequence[str]) -> str | None:
            here.go.set()
            assert await asyncio.to_thread(there.seen.wait, 20)
            await meanwhile.wait()
            return "allow"

        def watch(record: TraceRecord) -> None:
            if "meanwhile" in str(record.data):
                meanwhile.set()

        allow = ", ".join(f'"{one.removeprefix("http://")}"' for one in (site, other))
        async with plain(tmp_path, f"[web]\nallow = [{allow}]\n", person=person) as tea:
            await tea.acp.register(SIDE_BY_SIDE.replace("SITE", site).replace("ACT", act))
            assert "by itself" in (await tea.run("Go.", agent="worker", watch=watch)).answer


FRAMED = "<!doctype html><title>Shop</title><h1>Shop</h1><iframe src='AWAY' width=600 height=300></iframe>"
FIELD = "<!doctype html><input id=q placeholder=name oninput=\"top.postMessage(fetch('/got?'+q.value),'*')\">"


@pytest.mark.slow
@pytest.mark.parametrize("place", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize(
    "steps",
    [[("type", {"text": "Ann"})], [("fill", {"fields": [{"value": "Ann"}]})], [("click", {}), ("keys", {"keys": "A"})]],
)
async def test_words_for_a_named_page_go_to_no_frame_of_another_origin(
    tmp_path: Path, place: str, steps: list[tuple[str, dict[str, Any]]]
) -> None:
    with opened(FIELD) as (other, _), opened(FRAMED) as (site, here):
        away = other.replace("127.0.0.1", place)
        here.pages["/"] = FRAMED.replace("AWAY", f"{away}/")
        allow = ", ".join(f'"{one.removeprefix("http://")}"' for one in (site, away))
        async with plain(tmp_path, f"[web]\nallow = [{allow}]\n") as tea:
            answer = await acted(tea, site, steps)
            assert (answer[-1], "ToolError" in answer[:-1]) == ("ToolError", False)


WRITTEN = "<iframe src='SRC'></iframe><script>onload=()=>{frames[0].document.body.innerHTML=`FORM`}</script>"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [FRAMED.replace("AWAY", "/own"), *(WRITTEN.replace("SRC", one) for one in ("", "about:blank", "javascript:0"))],
)
async def test_words_for_a_named_page_go_to_its_own_frames(tmp_path: Path, page: str) -> None:
    with opened(page.replace("FORM", FORM.replace("document.title", "top.document.title"))) as (site, here):
        here.pages["/own"] = FORM.replace("document.title", "top.document.title")
        async with plain(tmp_path, f'[web]\nallow = ["{site.removeprefix("http://")}"]\n') as tea:
            answer = await acted(tea, site, [("type", {"text": "Ann"}), ("keys", {"keys": "A"})])
            assert (answer[-2]["title"], answer[-1]["title"]) == ("has Ann", "has AnnA")


async def acted(tea: Platform, site: str, steps: list[tuple[str, dict[str, Any]]], *files: Path) -> Any:
    """Act on the only field of a named page, or of its frame, and return what came of each act."""
    given = [["act", f"browser#{name}", arguments] for name, arguments in steps]
    begin = [["act", "browser#navigate", {"url": f"{site}/"}], ["act", "browser#state", {}]]
    agent = INDEXED.replace("STEPS", repr([*begin, *given]))
    agent = agent.replace('steps[-1][2]["index"] = int(', "index = int(").replace(
        'index = int(shown.rpartition("[")[2])',
        """index = int(shown.rpartition("[")[2])
                for step in steps[2:]:
                    if step[1] in ("browser#type", "browser#fill", "browser#click", "browser#upload"):
                        (step[2]["fields"][0] if "fields" in step[2] else step[2])["index"] = index""",
    )
    await tea.acp.register(agent)
    return (await tea.run(f"Order at {site}/", agent="worker", files=files)).answer


TAKING = "<!doctype html><input type=file onchange=\"fetch('/landed')\">"


@pytest.mark.slow
@pytest.mark.parametrize("place", ["127.0.0.1", "localhost"])
async def test_a_file_for_a_named_page_goes_to_no_frame_of_another_origin(tmp_path: Path, place: str) -> None:
    (tmp_path / "own.txt").write_text("own")
    page = f"<iframe src='AWAY'></iframe>{FORM}"
    with opened(TAKING) as (other, there), opened(page) as (site, here):
        away = other.replace("127.0.0.1", place)
        here.pages["/"] = page.replace("AWAY", f"{away}/")
        allow = ", ".join(f'"{one.removeprefix("http://")}"' for one in (site, away))
        async with plain(tmp_path, f"[web]\nallow = [{allow}]\n") as tea:
            answer = await acted(tea, site, [("upload", {"name": "own.txt"})], tmp_path / "own.txt")
            assert (answer[-1], there.seen.is_set()) == ("ToolError", False)


DROPPED = "<!doctype html><textarea style='position:fixed;inset:0;width:100%' oninput=\"fetch('/landed')\"></textarea>"
BELOW = "<style>iframe{position:fixed;left:0;top:300px}</style>"
HELD = (
    f"{BELOW}<iframe src='AWAY'></iframe><input value='own words' style='position:fixed;left:0;top:0' onfocus=select()>"
)
DRAGGED = [("click_at", {"x": 30, "y": 10}), ("drag", {"from_x": 30, "from_y": 10, "to_x": 100, "to_y": 350})]


@pytest.mark.slow
@pytest.mark.parametrize("place", ["127.0.0.1", "localhost"])
async def test_what_is_dragged_over_a_page_goes_to_no_frame_of_another_origin(tmp_path: Path, place: str) -> None:
    with opened(DROPPED) as (other, there), opened(HELD) as (site, here):
        away = other.replace("127.0.0.1", place)
        here.pages["/"] = HELD.replace("AWAY", f"{away}/")
        allow = ", ".join(f'"{one.removeprefix("http://")}"' for one in (site, away))
        async with plain(tmp_path, f"[web]\nallow = [{allow}]\n") as tea:
            answer = await acted(tea, site, [*DRAGGED, ("state", {})])
            assert (answer[-2], there.seen.is_set()) == ("ToolError", False)


STEALING = "<!doctype html><input id=q oninput=\"fetch('/landed')\"><script>setInterval(()=>q.focus(),1)</script>"
WORDS = "many words, so that a frame has time to come in between, and more of them still"
PUT = "document.body.append(Object.assign(document.createElement('iframe'),{src:'AWAY'}))"
LATE = f"{FORM}<script>q.onfocus=()=>{PUT}</script>"


@pytest.mark.slow
@pytest.mark.parametrize("page", [f"<iframe src='AWAY'></iframe>{FORM}", LATE])
@pytest.mark.parametrize("place", ["127.0.0.1", "localhost"])
async def test_no_frame_of_another_origin_takes_words_as_they_are_typed(tmp_path: Path, place: str, page: str) -> None:
    with opened(STEALING) as (other, there), opened(page) as (site, here):
        away = other.replace("127.0.0.1", place)
        here.pages["/"] = page.replace("AWAY", f"{away}/")
        allow = ", ".join(f'"{one.removeprefix("http://")}"' for one in (site, away))
        async with plain(tmp_path, f"[web]\nallow = [{allow}]\n") as tea:
            (seen,) = (await acted(tea, site, [("type", {"text": WORDS})]))[2:]
            assert (seen["title"], there.seen.is_set()) == (f"has {WORDS}", False)


@pytest.mark.slow
async def test_no_frame_of_another_origin_that_loads_meanwhile_takes_words_as_they_are_typed(tmp_path: Path) -> None:
    form = "<input id=q oninput=\"document.title='has '+q.value;fetch('/landed')\">"
    with opened(STEALING) as (other, there), opened(form) as (site, here):
        here.pages["/"] = f"<!doctype html><title>Shop</title><object data='{other}/' type=text/html></object>{form}"

        def wait(self: Shop) -> None:
            here.seen.wait(20)
            Shop.do_GET(self)

        there.do_GET = wait
        allow = ", ".join(f'"{one.removeprefix("http://")}"' for one in (site, other))
        async with plain(tmp_path, f"[web]\nallow = [{allow}]\n") as tea:
            (seen,) = (await acted(tea, site, [("type", {"text": WORDS})]))[2:]
            assert (seen["title"], there.seen.is_set()) == (f"has {WORDS}", False)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["127.0.0.1", "localhost"])
async def test_nothing_is_typed_beside_a_frame_of_another_origin_in_a_frameset(tmp_path: Path, place: str) -> None:
    with opened(STEALING) as (other, there), opened("") as (site, here):
        away = other.replace("127.0.0.1", place)
        here.pages.update({"/": f"<frameset cols=50%,50%><frame src={away}/><frame src=/own></frameset>", "/own": FORM})
        allow = ", ".join(f'"{one.removeprefix("http://")}"' for one in (site, away))
        async with plain(tmp_path, f"[web]\nallow = [{allow}]\n") as tea:
            answer = await acted(tea, site, [("type", {"text": WORDS})])
            assert (answer[-1], there.seen.is_set()) == ("ToolError", False)


ORDER = "<!doctype html><title>Shop</title><form method=post><input name=q><button>Buy</button></form>"


PLACING = "<script>onload=()=>setTimeout(()=>location.hash='done',50)</script>"


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", PLACING])
async def test_no_page_that_came_by_a_form_is_asked_for_by_the_same_form_again(tmp_path: Path, more: str) -> None:
    with opened(ORDER) as (site, here):
        ordered = list[str]()

        def order(self: Shop) -> None:
            ordered.append(self.rfile.read(int(self.headers["content-length"])).decode())
            here.pages["/"] = ORDER + more
            self.do_GET()

        here.do_POST = order
        async with plain(tmp_path, f'[web]\nallow = ["{site.removeprefix("http://")}"]\n') as tea:
            again = [("history", {"to": one}) for one in ("reload", "reload", "back", "forward", "reload")]
            answer = await acted(tea, site, [("type", {"text": "Ann"}), ("keys", {"keys": "Enter"}), *again])
            assert "ToolError" not in answer
            assert ordered == ["q=Ann"]
