"""Test odd journals: whatever stands in a record of a valid line, each command ends with one clear line."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tea.store.journal import FileJournals
from tea.store.lines import End, encode
from tea.store.strict import loads

from .conftest import Tea, Warm, make

BUSY = '''
from tea import Agent, Context, Result, Task


class Busy(Agent):
    """Use what a run serves, and ask a person."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        await ctx.memory.record("seen", {"task": task.text})
        await ctx.state.save({"seen": 1})
        async with ctx.group() as group:
            group.spawn(ctx.tcp.invoke("calculator", {"expression": "1+1"}))
            group.spawn(ctx.sleep(0.001))
        found = await ctx.memory.recall(), await ctx.state.load(), await ctx.messages()
        ctx.note("step", {"agent": "busy", "step": 1, "next_goal": "ask", "calls": []})
        if "ask" in task.text:
            found = await ctx.person("Which one?"), await ctx.messages()
        return Result(answer=str(found))
'''
ODD: tuple[Any, ...] = (
    None, True, -1, 7.5, 1e308, 10**400, "", "x\x1b[2J", [], [[1]], {}, {"$blob": "x"}, [{"ref": 1}],
)  # fmt: skip
LEFT_OUT = object()
LOOKS = (
    ("trace", "RUN"), ("trace", "RUN", "-v"), ("trace", "RUN", "--steps"), ("trace", "diff", "RUN", "OTHER"),
    ("trace", "export", "RUN", "--format", "openai-chat"), ("trace", "export", "RUN", "--format", "jsonl"),
    ("lock", "--run", "RUN", "--out", "new.lock"), ("policy", "check", "--run", "RUN", "--call", "0.2.0"),
    ("inbox", "RUN"), ("tell", "RUN", "hello"), ("replay", "RUN"), ("fork", "RUN", "--at", "9"), ("resume", "RUN"),
    ("resume", "RUN", "--answer", "0.2.9=x"), ("chat", "--resume", "RUN"), ("keep", "RUN", "--checked"),
)  # fmt: skip
LISTS = (
    ("runs",),
    ("inbox",),
    ("chat", "--list"),
    ("doctor",),
    ("tools", "usage"),
    ("retrieve", "double"),
    ("research",),
)
CODES = {0, 1, 2, 6, 7}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, warm: Warm) -> Tea:
    """A home with a waiting run, an ended one with questions to a model, and a conversation."""
    tea = make(tmp_path_factory.mktemp("odd"), warm)
    tea.write("busy.py", BUSY)
    tea.write("data.csv", "name,n\na,1\nb,2\nc,3\n")
    assert tea("register", "busy.py").code == 0
    assert tea("run", "-q", "ask", "--agent", "busy").code == 6
    assert tea("run", "-q", "How many rows have n greater than 1?", "--file", "data.csv").code == 0
    assert tea("chat", "--agent", "busy", stdin=b"hello\n").code == 0
    return tea


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value within a value."""
    yield at
    named = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in named:
        yield from places(inner, (*at, name))


def changed(record: dict[str, Any], path: tuple[Any, ...], odd: Any) -> None:
    """Put an odd value in a place of a record, or remove its value."""
    *outer, last = path
    node: Any = record
    for name in outer:
        node = node[name]
    if odd is LEFT_OUT:
        del node[last]
    else:
        node[last] = odd


def mutated(tea: Tea, choose: random.Random) -> str:
    """Change one value of one record of one run, with valid checks, and return the run."""
    store = FileJournals(tea.folder / "traces")
    run = choose.choice(sorted(store.runs()))
    records = [{k: v for k, v in dict(one).items() if k not in ("seq", "check")} for one in store.read(run)]
    record = records[0] if choose.random() < 0.25 else choose.choice(records)
    changed(record, choose.choice([one for one in places(record) if one]), choose.choice((*ODD, LEFT_OUT)))
    end, lines = End(), list[bytes]()
    for one in records:
        line, end = encode(one, end, 0 if lines else 1)
        lines.append(line)
    (tea.folder / "traces" / run / "journal.jsonl").write_bytes(b"".join(lines))
    return run


def judge(home: Tea, seed: int, commands: int) -> None:
    """Check how commands end on one changed journal.

    Args:
        home: Copied first.
        seed: Chooses the change.
        commands: How many commands are tried, of those that look at one run and of those that list.
    """
    choose, folder = random.Random(seed), home.folder.parent / f"copy{seed}"
    shutil.copytree(home.folder, folder / "work", symlinks=True)
    tea = Tea(folder / "work", home.state, home.warm)
    run = mutated(tea, choose)
    other = next(one for one in FileJournals(tea.folder / "traces").runs() if one != run)
    for line in (*choose.sample(LOOKS, min(commands, len(LOOKS))), *choose.sample(LISTS, min(commands, len(LISTS)))):
        finished = tea(*(run if one == "RUN" else other if one == "OTHER" else one for one in line), stdin=b"hello\n")
        assert finished.code in CODES, (seed, line, finished)
        assert "Traceback" not in finished.err, (seed, line, finished)
        if line in LISTS and line != ("doctor",):
            assert finished.code == 0, (seed, line, finished)
        if finished.code not in (0, 1) and line != ("doctor",):
            assert [one for one in finished.err.splitlines() if one.startswith("tea: ")][-1:], (seed, line, finished)
            assert "Fix: " in finished.err, (seed, line, finished)
    shutil.rmtree(folder)


@pytest.mark.parametrize("seed", range(4))
def test_an_odd_value_in_a_journal_is_one_clear_line(home: Tea, seed: int) -> None:
    judge(home, seed, 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 112))
def test_an_odd_value_in_a_journal_is_one_clear_line_of_every_command(home: Tea, seed: int) -> None:
    judge(home, seed, 100)


def test_an_odd_head_is_one_finding_among_the_others(home: Tea, tmp_path: Path) -> None:
    shutil.copytree(home.folder, tmp_path / "work", symlinks=True)
    tea = Tea(tmp_path / "work", home.state, home.warm)
    first, *others = FileJournals(tea.folder / "traces").runs()
    path = tea.folder / "traces" / first / "journal.jsonl"
    head, end = loads(path.read_bytes().splitlines()[0]), End()
    kept = {name: value for name, value in dict(head).items() if name not in ("seq", "check", "number")}
    path.write_bytes(encode({**kept, "data": {**kept["data"], "files": 7}}, end, 1)[0])
    (damaged,) = (one for one in tea("runs", "--json").data["runs"] if one["status"] == "damaged")
    assert damaged["run"] == first
    assert {one["run"] for one in tea("runs", "--json").data["runs"]} == {first, *others}
    assert tea("doctor").code == 2
    tea("replay", first).refused(2, first)
    tea("resume", first).refused(2, f"The journal of the run {first} holds what no run writes")


def test_a_key_without_end_is_what_no_run_writes(home: Tea, tmp_path: Path) -> None:
    shutil.copytree(home.folder, tmp_path / "work", symlinks=True)
    tea = Tea(tmp_path / "work", home.state, home.warm)
    store = FileJournals(tea.folder / "traces")
    run = store.runs()[0]
    head, first, *_ = ({k: v for k, v in dict(one).items() if k not in ("seq", "check")} for one in store.read(run))
    line, end = encode(head, End(), 1)
    (tea.folder / "traces" / run / "journal.jsonl").write_bytes(line + encode({**first, "key": "." * 3_000}, end)[0])
    tea("trace", run).refused(2, f"The journal of the run {run} holds what no run writes")
