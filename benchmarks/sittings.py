"""Questions and tokens of whole tasks, with the answers of a strong model kept and given again; see `_sittings_format`.

    python benchmarks/sittings.py [--only NAMES] [--peers FOLDER] [--player NAME] [--settings JSON] [--details]
    python benchmarks/sittings.py --examples [--only NAMES]
    python benchmarks/sittings.py [--only NAMES] --lay-out FOLDER

Each row is a sitting, each column a way to work: questions asked, tokens sent (request bytes / 4), whether the answer
is right, tokens of the first question, and which share of the later ones is what the one before began with.
`--peers FOLDER` adds openai-agents and smolagents, flat agents with the same tools, from a virtual environment in that
folder, which is made where it is missing. `--player` takes tea's answers from another file, `--settings` adds to the
configuration of its model, for example `{"fold": "restart"}`. `--lay-out FOLDER` writes tasks and files instead, to
work on them by hand.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import venv
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from _sittings_format import EXAMPLES, FIRST, ROOT, Sitting, sittings
from _sittings_server import KeptServer, Question, open_site

from tea.chat.chat import Chat
from tea.chat.transcript import Turn
from tea.cli.lines import dropped
from tea.errors import TeaError
from tea.platform import Platform
from tea.reading.reader import PACKAGES as PARSERS
from tea.runs.outcome import Outcome

PEERS = ("openai-agents", "smolagents")
PACKAGES = ("openai-agents", "smolagents[openai]", *PARSERS)  # their tools parse workbooks as tea does
WORKER = Path(__file__).with_name("_sittings_peers.py")
SECONDS = 120
MODEL = {"provider": "openai_chat", "model": "kept", "capabilities": ["tools", "schema"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One sitting's result in one way."""

    questions: Sequence[Question] = ()
    right: bool = False
    remark: str = ""

    def cell(self) -> str:
        """Return it as a cell of the table."""
        if not self.questions:
            return "—"
        first, total = self.questions[0].tokens, sum(one.tokens for one in self.questions)
        right = "yes" if self.right else "no"
        return f"{len(self.questions)} / {total:,} / {right} / {first:,} / {same(self.questions)}"


Way = Callable[[Sitting, Path], Awaitable[Row]]


async def main() -> None:
    """Read the command line, sit, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="Parts of the sittings' names, divided by commas.")
    parser.add_argument("--examples", action="store_true", help="The examples of the team instead of the sittings.")
    parser.add_argument("--peers", type=Path, help="Folder of a virtual environment with the other libraries.")
    parser.add_argument("--player", default="tea", help="Whose answers tea is given: NAME.json of each sitting.")
    parser.add_argument("--settings", type=json.loads, default={}, help="Further settings of tea's model, as JSON.")
    parser.add_argument("--details", action="store_true", help="Each question, too.")
    parser.add_argument("--lay-out", type=Path, help="Where to write tasks and files.")
    given = parser.parse_args()
    if given.lay_out:
        lay_out(given.lay_out, given.only)
        return
    async with AsyncExitStack() as stack:
        ways: dict[str, Way] = {"tea": by_tea(given.player, given.settings)}
        for name in PEERS if given.peers else ():
            worker = await stack.enter_async_context(started(await python_of(given.peers), name))
            ways[name] = by_peer(name, worker)
        chosen = sittings(given.only, EXAMPLES if given.examples else ROOT)
        await sit(ways, list(chosen), details=given.details)


async def sit(ways: Mapping[str, Way], chosen: Sequence[Sitting], *, details: bool) -> None:
    """Carry out sittings in each way, and print a row as soon as it is there, the remarks last."""
    remarks: list[str] = []
    print(f"| sitting | {' | '.join(ways)} |\n|---{'|---' * len(ways)}|")
    for sitting in chosen:
        rows: dict[str, Row] = {}
        for name, way in ways.items():
            with tempfile.TemporaryDirectory() as folder:
                rows[name] = await way(sitting, Path(folder))
        print(f"| {sitting.name} | {' | '.join(row.cell() for row in rows.values())} |", flush=True)
        remarks += [f"{sitting.name}, {name}: {row.remark}" for name, row in rows.items() if row.remark]
        remarks += [line for name, row in rows.items() if details for line in told(sitting, name, row.questions)]
    print("\nA cell: questions / tokens sent / right? / tokens of the first question / share that is as before.")
    print("\n".join(remarks))


def by_tea(player: str, more: Mapping[str, Any]) -> Way:
    """Return tea's way, on a platform of its own for each sitting, with a replay in the end."""

    async def sat(sitting: Sitting, folder: Path) -> Row:
        if sitting.needs and not hasattr(Platform, sitting.needs):
            return Row(remark=f"skipped: there is no Platform.{sitting.needs}")
        if not sitting.answers(player):
            return Row(remark=f"skipped: {player} gave no answers")
        async with seated(sitting, folder, player, more) as seat:
            try:
                return await _worked(seat)
            except TeaError as error:
                return Row(questions=tuple(seat.server.questions), remark=str(error))

    return sat


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A sitting about to begin.

    Args:
        sitting: The sitting, its site at an address.
        server: Gives the answers.
        home: The home of a platform, with its model.
        files: The task's files.
    """

    sitting: Sitting
    server: KeptServer
    home: Path
    files: Sequence[Path]


@asynccontextmanager
async def seated(
    sitting: Sitting,
    folder: Path,
    player: str = "tea",
    more: Mapping[str, Any] | None = None,
    *,
    remembers: bool = False,
) -> AsyncGenerator[Seat]:
    """Give everything needed by a sitting, in a folder, until the end of the block.

    Args:
        sitting: The sitting.
        folder: Where home and files come to lie.
        player: Whose answers are given.
        more: Further settings of the model.
        remembers: Whether a question asked before gets its answer again.
    """
    home, files = folder / "home", folder / "files"
    home.mkdir()
    files.mkdir()
    async with open_site(sitting.site) as site:
        server = KeptServer(sitting.flows(player, site), context=sitting.model.get("context"), remembers=remembers)
        settings = {**MODEL, **sitting.model, **(more or {})}
        async with server.open() as url:
            (home / "tea.toml").write_text(_settings({**settings, "base_url": url}, site), encoding="utf-8")
            yield Seat(sitting=sitting.at(site), server=server, home=home, files=sitting.lay_out(files))


def _settings(model: Mapping[str, Any], site: str) -> str:
    """Return the configuration of a sitting's platform: its model, and its site as the only one open to it."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in model.items()]
    web = [f"allow = [{json.dumps(site.removeprefix('http://'))}]", "retries = [0, 0]"]
    return "\n".join(['model = "kept"', "[web]", *web, "[models.kept]", *lines])


async def _worked(seat: Seat) -> Row:
    sitting, server = seat.sitting, seat.server
    async with Platform(seat.home, state=seat.home / "state", trust_home=True) as tea:

        async def tell(text: str) -> None:
            await getattr(tea, sitting.needs)("last", text)

        for root in sitting.corpus:
            await tea.corpus.add(str(root))
        if sitting.lines:
            return await _talked(seat, tea)
        server.tell = tell
        async with asyncio.timeout(SECONDS):
            outcome = await tea.run(sitting.told, files=seat.files)
        again = await tea.replay(outcome.run)
        agents = {record.agent for record in tea.tracer.records(outcome.run) if record.agent}
    row = judged_run(seat, outcome, agents)
    return row if again.answer == outcome.answer else replace(row, right=False, remark="its replay has another answer")


def judged_run(seat: Seat, outcome: Outcome, agents: set[str]) -> Row:
    """Return the result of a run in which these agents worked."""
    cannot = outcome.exit_code == 1 and outcome.answer in ("", None)
    ended = "" if outcome.ok else f"{outcome.status}: {outcome.reason}"
    report = outcome.report.read_text(encoding="utf-8") if outcome.report else ""
    row = judged(seat.sitting, seat.server, outcome.answer, ended, cannot=cannot, report=report)
    return _by_agents(seat.sitting, row, agents)


def _by_agents(sitting: Sitting, row: Row, agents: set[str]) -> Row:
    """Return a result; it is not right if other agents worked than those of the sitting."""
    if sitting.agents and agents != {*sitting.agents}:
        return replace(row, right=False, remark=f"these agents worked: {', '.join(sorted(agents))}")
    return row


async def said(chat: Chat, line: str) -> Turn:
    """Say a line of a conversation, with the files at its paths."""
    words, files = dropped(line, ROOT.parent.parent)
    return await chat.send(words, files=files)


async def _talked(seat: Seat, tea: Platform) -> Row:
    """Return the result of a conversation's last turn; each run of the conversation is replayed."""
    async with asyncio.timeout(SECONDS):
        turns = [await said(chat, line) for chat in [tea.chat(agent=FIRST)] for line in seat.sitting.lines]
    last, agents = turns[-1], set[str]()
    for part in (one for turn in turns for one in turn.parts):
        await tea.replay(part.run)
        agents |= {record.agent for record in tea.tracer.records(part.run) if record.agent}
    failed = next((turn.reason for turn in turns[:-1] if not turn.ok), "")
    ended = failed or ("" if last.ok else f"{last.status}: {last.reason}")
    cannot = not failed and last.status == "failed" and last.answer in ("", None)
    return _by_agents(seat.sitting, judged(seat.sitting, seat.server, last.answer, ended, cannot=cannot), agents)


def by_peer(name: str, worker: Process) -> Way:
    """Return a peer's way, in its process."""

    async def sat(sitting: Sitting, folder: Path) -> Row:
        if sitting.needs or not sitting.answers("flat"):
            return Row(remark=f"skipped: it has no {sitting.needs or 'hands for it'}")
        flows = sitting.flows("flat")
        ending = "final_answer" if name == "smolagents" else "text"
        server = KeptServer(flows, context=sitting.model.get("context"), ending=ending)
        files = sitting.lay_out(folder)
        steps = len(flows[0].replies) + 5
        async with server.open() as url:
            job = {"url": url, "folder": str(folder), "task": in_words(sitting, files), "steps": steps}
            ended = await asked(worker, job)
        answer, error = ended.get("answer", ""), ended.get("error", "")
        return judged(sitting, server, answer, error, cannot="cannot" in str(answer).lower())

    return sat


def in_words(sitting: Sitting, files: Sequence[Path]) -> str:
    """Return a task as a flat agent is told it."""
    parts = [str(sitting.task["task"])]
    parts += [f"Files: {', '.join(path.name for path in files)}"] if files else []
    if "answer" in sitting.task:
        parts.append(f"Answer with JSON of this schema and nothing else: {json.dumps(sitting.task['answer'])}")
    return "\n\n".join(parts)


def judged(sitting: Sitting, server: KeptServer, answer: Any, remark: str, *, cannot: bool, report: str = "") -> Row:
    """Return a sitting's result; a dishonest answer is not right."""
    right = sitting.is_right(answer, cannot=cannot, report=report)
    missing = [(n, text) for n, one in enumerate(server.questions, start=1) for text in one.missing]
    if missing:
        right, remark = False, f"question {missing[0][0]} does not show {missing[0][1]!r}. {remark}"
    elif not right:
        refused = [one.refused for one in server.questions if one.refused]
        remark = f"answered {answer!r}. {'; '.join(dict.fromkeys(refused))} {remark}".strip()
    return Row(questions=tuple(server.questions), right=right, remark="" if right else " ".join(remark.split())[:400])


def same(questions: Sequence[Question]) -> str:
    """Return the share of later questions of each flow equal to the beginning of the one before."""
    before, common, total = dict[int, str](), 0, 0
    for one in questions:
        if one.flow in before:
            common += _common(before[one.flow], one.words)
            total += len(one.words)
        before[one.flow] = one.words
    return f"{100 * common // total} %" if total else "—"


def told(sitting: Sitting, way: str, questions: Sequence[Question]) -> list[str]:
    """Return a line for each question: its tokens, its repeated part, and the number waiting with it."""
    lines, before = list[str](), dict[int, str]()
    for number, one in enumerate(questions, start=1):
        share = 100 * _common(before.get(one.flow, ""), one.words) // len(one.words)
        before[one.flow] = one.words
        figures = f"{one.tokens:,} tokens, {share} % as before, {one.at_once} at once {one.refused}"
        lines.append(f"{sitting.name}, {way}, question {number} of flow {one.flow}: {figures}".rstrip())
    return lines


def _common(one: str, other: str) -> int:
    differing = (n for n, (x, y) in enumerate(zip(one, other, strict=False)) if x != y)
    return next(differing, min(len(one), len(other)))


async def python_of(folder: Path) -> str:
    """Return the Python of the peers' virtual environment, made and filled if it is missing."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        install = await asyncio.create_subprocess_exec(python, "-m", "pip", "install", "--quiet", *PACKAGES)
        if await install.wait():
            sys.exit(f"The peers could not be installed into {folder}.")
    return str(python)


@asynccontextmanager
async def started(python: str, name: str) -> AsyncGenerator[Process]:
    """Give the process of a peer, and end it."""
    process = await asyncio.create_subprocess_exec(python, WORKER, name, stdin=PIPE, stdout=PIPE, limit=2**24)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def asked(worker: Process, job: Mapping[str, Any]) -> dict[str, Any]:
    """Return a peer's answer to a job."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(job).encode() + b"\n")
    async with asyncio.timeout(SECONDS):
        while (line := await worker.stdout.readline()) and not line.startswith(b"{"):
            pass
    assert line, "the peer ended; its words stand above"
    return json.loads(line)


def lay_out(folder: Path, only: str) -> None:
    """Write each sitting's task and files into a folder of its own, and print its start command."""
    for sitting in sittings(only):
        place = folder / sitting.name
        place.mkdir(parents=True, exist_ok=True)
        sitting.lay_out(place)
        (place / "task.json").write_text(json.dumps(sitting.task, indent=2, ensure_ascii=False), encoding="utf-8")
        print(f"tea run {place / 'task.json'}")


if __name__ == "__main__":
    asyncio.run(main())
