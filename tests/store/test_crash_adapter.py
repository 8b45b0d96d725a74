"""The stores behind the crash adapter: killed, starved, torn, bent, without power, and several at once."""

import asyncio
import errno
import os
import random
import resource
import shutil
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tea.testing import crash_home
from tea.testing.crash_home import Adapter

from .crash_kit import (
    Disk,
    Fault,
    History,
    Operation,
    Process,
    append,
    carried_out,
    die,
    jumping_clock,
    refuse,
    register,
    sha,
    together,
    watched,
)

pytestmark = pytest.mark.slow

HOMES, ROUNDS, PROCESSES, STREAM = 8, 10, 3, 12


@pytest.fixture
def no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("fsync", "fdatasync"):  # only a loss of power could tell, and it takes most of the time
        monkeypatch.setattr(os, name, os.fstat)


def stream(chance: random.Random, round: int, process: int) -> list[Operation]:
    """Versions wanted by all processes, versions of its own, and records of runs by all or one of them."""
    found: list[Operation] = []
    for number in range(STREAM):
        id = f"{round}-{process}-{number}"
        payload = id + "x" * chance.choice((0, 100, 5_000, 100_000))
        own = f"n{chance.randrange(3)}", f"{round + 1}.{process + 1}.{number}"
        shared = f"n{chance.randrange(3)}", f"{round + 1}.0.{number}"
        found.append(
            chance.choice(
                (
                    register(id, *own, payload),
                    register(id, *shared, payload),
                    append(id, f"run-{process}", payload),
                    append(id, "shared", payload),
                )
            )
        )
    return found


def bent(chance: random.Random, *, dies: bool) -> None:
    """Let this process die at some call to the system, and see jumping clocks."""
    patch = pytest.MonkeyPatch()
    jumping_clock(patch, chance)
    if dies:
        Fault(patch, chance.randrange(1, 500), die(after=chance.random() < 0.5))


@pytest.mark.slow
@pytest.mark.usefixtures("no_disk")
def test_nothing_acknowledged_is_lost_however_processes_die(tmp_path: Path, report: Callable[[str], None]) -> None:
    chance = random.Random(4)
    deaths = acknowledged = 0
    for home in range(HOMES):
        history = History(tmp_path / str(home))
        for round in range(ROUNDS):
            processes = crashed_round(history.root, chance, round)
            history.add(processes)
            history.check()
            deaths += sum(not one.done[-1].answer or len(one.done) < STREAM for one in processes)
        check_clean(history.root)
        acknowledged += sum(one.answer.startswith("ok") for one in history.done)
        shutil.rmtree(history.root)
    report(f"crashes: {deaths} deaths in {HOMES * ROUNDS} rounds of {PROCESSES} processes, {acknowledged} acknowledged")
    assert deaths > HOMES * ROUNDS / 2
    assert acknowledged > HOMES * ROUNDS * 3


def crashed_round(root: Path, chance: random.Random, round: int) -> list[Process]:
    """Let three processes work on one home; some die at the n-th call to the system, one is killed from outside."""
    fatal = chance.randrange(1, PROCESSES * STREAM)
    processes = [
        Process(
            root,
            stream(chance, round, number),
            partial(bent, random.Random(chance.random()), dies=(round + number) % 2 == 0),
        )
        for number in range(PROCESSES)
    ]
    victim = processes[fatal % PROCESSES]

    def kill_one(answers: int) -> None:
        if answers >= fatal and victim.alive:
            victim.kill()

    with watched(root) if round % 4 == 0 else nullcontext():
        together(processes, kill_one)
    return processes


def check_clean(root: Path) -> None:
    """After the next writer nothing is left but versions, heads, journals and leases, and no lock is held."""
    adapter = Adapter(root)
    runs = [*adapter.journals.runs(), "last"]
    last = [register("last", "last", "1.0.0", ""), *(append("last", run, "") for run in runs)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crash_home, "WAIT_SECONDS", 0.0)
        assert [carried_out(adapter, one)[1] for one in last] == ["ok last"] * len(last)
    parts = {"versions", "heads"}
    for path in root.rglob("*"):
        if path.is_file():
            known = path.parent.name in parts or path.name in ("journal.jsonl", "lease", ".counter")
            assert known, f"{path} is left over"
    assert [path for folder in root.glob("*/.tmp") for path in folder.iterdir()] == []


def deeds() -> list[Operation]:
    return [
        register("new", "new", "1.0.0", "new"),
        register("next", "old", "1.0.1", "next"),
        append("begin", "fresh", "begin"),
        append("go on", "run", "go on"),
    ]


def furnished(root: Path) -> Path:
    adapter = Adapter(root)
    for operation in (register("a", "old", "1.0.0", "old"), append("b", "run", "b"), append("c", "run", "c")):
        assert carried_out(adapter, operation)[0] == 0
    return root


@pytest.mark.usefixtures("no_disk")
@pytest.mark.parametrize("deed", deeds(), ids=lambda deed: deed["id"])
@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.EMFILE], ids=errno.errorcode.get
)
def test_a_refused_call_is_one_clear_line_and_the_next_try_succeeds(
    tmp_path: Path, deed: Operation, number: int
) -> None:
    template = furnished(tmp_path / "template")
    deed = {**deed, "id": deed["id"].replace(" ", "-")}
    for step in range(1, 300):
        root = shutil.copytree(template, tmp_path / str(step))
        before = Adapter(root).dump()
        with pytest.MonkeyPatch.context() as patch:
            fault = Fault(patch, step, refuse(number))
            code, answer = carried_out(Adapter(root), deed)
        if not fault.hit:
            break
        after = Adapter(root).dump()
        assert after["problems"] == []
        assert [one for one in before["records"] if one not in after["records"]] == []
        assert after["traces"]["run"]["ids"][:2] == ["b", "c"]
        if code:
            assert code == 2
            assert answer.startswith(f"err {deed['id']} ")
            assert os.strerror(number) in answer
            assert "\n" not in answer
            assert after["current"]["old"] == "1.0.0"
            assert all(deed["id"] not in trace["ids"] for trace in after["traces"].values())
            assert carried_out(Adapter(root), deed) == (0, f"ok {deed['id']}")
        done = Adapter(root).dump()
        if deed["op"] == "register":
            assert [deed["name"], deed["version"], sha(deed["payload"])] in done["records"]
            assert done["current"][deed["name"]] == deed["version"]
        else:
            assert done["traces"][deed["run"]]["ids"].count(deed["id"]) == 1
        check_clean(root)
        shutil.rmtree(root)
    assert 10 < step < 299


def starved(limit: int, most: int) -> None:
    resource.setrlimit(limit, (most, most))


@pytest.mark.parametrize(
    ("limit", "sizes"),
    [(resource.RLIMIT_NOFILE, range(3, 9)), (resource.RLIMIT_FSIZE, (0, 1, 300, 5_000, 20_000))],
    ids=["open files", "file size"],
)
def test_a_starved_process_says_so_and_what_it_acknowledged_is_there(
    tmp_path: Path, limit: int, sizes: list[int]
) -> None:
    for size in sizes:
        root = furnished(tmp_path / str(size))
        texts = ["", "x" * 200, "y" * 4_000, "z" * 30_000]
        asked = [register(f"r{n}", "old", f"2.0.{n}", text) for n, text in enumerate(texts)]
        asked += [append(f"a{n}", run, text) for run in ("run", "fresh") for n, text in enumerate(texts)]
        process = Process(root, asked, partial(starved, limit, size))
        together([process], lambda answers: None)
        assert len(process.done) == len(asked)
        refused = [one for one in process.done if not one.answer.startswith("ok")]
        assert refused or size in (6, 7, 8)  # enough, when it holds no run beside what it writes
        for one in refused:
            assert one.answer.startswith(f"err {one.operation['id']} Cannot ")
            assert " Fix: " in one.answer
        found = Adapter(root).dump()
        assert found["problems"] == []
        won = [one.operation for one in process.done if one.answer.startswith("ok")]
        versions = [["old", one["version"], sha(one["payload"])] for one in won if one["op"] == "register"]
        assert [one for one in versions if one not in found["records"]] == []
        assert found["current"]["old"] == (versions[-1][1] if versions else "1.0.0")
        for run in ("run", "fresh"):
            ids = [one["id"] for one in won if one.get("run") == run]
            assert not ids or [id for id in found["traces"][run]["ids"] if id in ids] == ids
        check_clean(root)


def test_what_was_acknowledged_survives_a_loss_of_power(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "home"
    root.mkdir()
    disk = Disk(monkeypatch)
    monkeypatch.setattr(os, "sync", lambda: None)
    adapter = Adapter(root)
    chance = random.Random(1)
    expected: dict[str, Any] = {"records": [], "current": {}, "ids": {}}
    for number, operation in enumerate(stream(chance, 0, 0) + stream(chance, 1, 1)):
        assert adapter.answer(lambda operation=operation: operation)[0] == 0
        if chance.random() < 0.5:
            adapter.release()
        if operation["op"] == "register":
            expected["records"].append([operation["name"], operation["version"], sha(operation["payload"])])
            expected["current"][operation["name"]] = operation["version"]
        else:
            expected["ids"].setdefault(operation["run"], []).append(operation["id"])
        disk.after_power_loss(root, copy := tmp_path / f"after-{number}")
        found = Adapter(copy).dump()
        assert found["problems"] == []
        assert sorted(found["records"]) == sorted(expected["records"])
        assert found["current"] == expected["current"]
        assert {run: trace["ids"] for run, trace in found["traces"].items()} == expected["ids"]
    adapter.release()


def test_what_builds_on_the_folders_of_a_writer_that_died_survives_a_loss_of_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "home"
    disk = Disk(monkeypatch)
    synced = os.fsync

    def died_before(descriptor: int) -> None:
        if "/.tmp/" in os.readlink(f"/proc/self/fd/{descriptor}"):
            synced(descriptor)

    with monkeypatch.context() as patch:
        for name in ("fsync", "fdatasync"):
            patch.setattr(os, name, died_before)
        furnished(root)
    for operation in (register("1", "old", "1.0.1", "x"), append("2", "run", "y"), register("3", "new", "1.0.0", "z")):
        assert carried_out(Adapter(root), operation)[0] == 0
    disk.after_power_loss(tmp_path, copy := tmp_path / "after")
    found = Adapter(copy / "home").dump()
    assert ["old", "1.0.1", sha("x")] in found["records"]
    assert ["new", "1.0.0", sha("z")] in found["records"]
    assert found["current"] == {"new": "1.0.0", "old": "1.0.1"}
    assert found["traces"]["run"]["ids"] == ["b", "c", "2"]


@pytest.mark.usefixtures("no_disk")
async def test_cancelled_tasks_lose_nothing_that_they_completed_and_leave_nothing(tmp_path: Path) -> None:
    chance = random.Random(2)
    adapter = Adapter(tmp_path)
    done: list[int] = []
    with adapter.journals.create("run") as writer:

        async def work(number: int) -> None:
            writer.append([{"kind": "append", "id": number, "payload": ""}])
            await writer.sync()
            operation = register("r", f"n{number % 5}", f"1.0.{number}", str(number))
            await asyncio.to_thread(adapter.answer, lambda: operation)
            done.append(number)

        tasks = [asyncio.ensure_future(work(number)) for number in range(200)]
        while not all(task.done() for task in tasks):
            chance.choice(tasks).cancel()
            await asyncio.sleep(0)
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.get_running_loop().shutdown_default_executor()
    found = adapter.dump()
    assert found["problems"] == []
    assert 0 < len(done) < 200
    assert {f"1.0.{number}" for number in done} <= {version for _, version, _ in found["records"]}
    assert set(done) <= set(found["traces"]["run"]["ids"])
    check_clean(tmp_path)


def test_two_processes_on_one_run_take_turns(tmp_path: Path) -> None:
    asked = [[append(f"{who}-{n}", "run", "x" * 100) for n in range(15)] for who in "ab"]
    processes = [Process(tmp_path, operations, lambda: None) for operations in asked]
    together(processes, lambda answers: None)
    history = History(tmp_path)
    history.add(processes)
    assert {one.answer.split()[0] for one in history.done} == {"ok"}
    assert len(history.check()["traces"]["run"]["ids"]) == 30


def test_who_has_held_a_run_for_a_turn_lets_others_have_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crash_home, "_TURN_SECONDS", 0.0)
    waits: list[float] = []

    def meanwhile(seconds: float) -> None:
        waits.append(seconds)
        assert carried_out(Adapter(tmp_path), append("2", "run", "")) == (0, "ok 2")

    monkeypatch.setattr(time, "sleep", meanwhile)
    holder = Adapter(tmp_path)
    assert holder.answer(lambda: append("1", "run", "")) == (0, "ok 1")
    assert holder.answer(lambda: append("3", "run", "")) == (0, "ok 3")
    holder.release()
    assert len(waits) == 1
    assert holder.dump()["traces"]["run"]["ids"] == ["1", "2", "3"]


def test_a_run_that_is_not_given_back_is_a_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crash_home, "WAIT_SECONDS", 0.0)
    holder = Adapter(tmp_path)
    assert holder.answer(lambda: append("1", "run", "")) == (0, "ok 1")
    assert carried_out(Adapter(tmp_path), append("2", "run", "")) == (3, "conflict 2")
    holder.release()
    assert carried_out(Adapter(tmp_path), append("2", "run", "")) == (0, "ok 2")


def test_sending_again_after_a_crash_neither_loses_nor_repeats(tmp_path: Path) -> None:
    adapter = Adapter(tmp_path)
    adapter.registry.create("prompt", "half", "1.0.0", {})
    operations = [register("1", "a", "1.0.0", "x"), register("2", "a", "1.0.0", "x"), register("3", "a", "1.0.0", "y")]
    operations += [append("1", "run", [1]), append("1", "run", [1]), append("1", "run", [2])]
    assert [carried_out(adapter, one)[0] for one in operations] == [0, 3, 3, 0, 0, 3]
    assert adapter.dump()["traces"]["run"]["ids"] == ["1"]


@pytest.mark.parametrize("place", ["first version", "later version"])
def test_a_version_whose_writer_died_before_it_was_current_is_completed_by_the_same_bytes_only(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = furnished_adapter(tmp_path)
    name, version = ("new", "1.0.0") if place == "first version" else ("old", "1.0.1")
    with monkeypatch.context() as patch:
        patch.setattr(adapter.registry, "advance", killed)
        with pytest.raises(KeyboardInterrupt):
            carried_out(adapter, register("1", name, version, "x"))
    assert carried_out(adapter, register("2", name, version, "other")) == (3, "conflict 2")
    assert adapter.dump()["current"].get(name) == (None if name == "new" else "1.0.0")
    assert carried_out(adapter, register("3", name, version, "x")) == (0, "ok 3")
    assert adapter.dump()["current"][name] == version
    assert carried_out(adapter, register("4", name, version, "x")) == (3, "conflict 4")


def furnished_adapter(root: Path) -> Adapter:
    return Adapter(furnished(root))


def killed(*_: object) -> None:
    raise KeyboardInterrupt
