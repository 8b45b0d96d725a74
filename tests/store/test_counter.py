"""Test the order of runs by their beginning: no clock tells it, and no lost file changes it."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tea.journal.record import first_record
from tea.journal.retention import RetentionPolicy, collect
from tea.journal.tracer import Tracer
from tea.memory.manager import MemoryManager
from tea.store import lease
from tea.store.derived import examine_derived
from tea.store.events import FileEvents
from tea.store.journal import FileJournals

YEARS = 2 * 365 * 24 * 3600 * 10**9


@pytest.fixture
def journals(tmp_path: Path) -> FileJournals:
    return FileJournals(tmp_path / "traces")


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    return tmp_path / "traces" / ".counter"


def begin(journals: FileJournals, *runs: str) -> None:
    for run in runs:
        with journals.create(run) as writer:
            writer.append([{"kind": "run"}])


def dated(patch: pytest.MonkeyPatch, nanoseconds: int) -> None:
    """Let the clock of this machine be wrong by so much."""
    now = lease.time.time_ns
    patch.setattr(lease.time, "time_ns", lambda: now() + nanoseconds)


@pytest.mark.parametrize("years", [YEARS, -YEARS])
def test_a_run_that_the_clock_dates_elsewhere_stays_where_it_began(journals: FileJournals, years: int) -> None:
    begin(journals, "z_first")
    with pytest.MonkeyPatch.context() as patch:
        dated(patch, years)
        begin(journals, "second")
    begin(journals, "a_third")
    assert journals.runs() == ["a_third", "second", "z_first"]


def test_the_newest_run_stays_though_the_clock_dated_another_two_years_ahead(
    journals: FileJournals, tmp_path: Path
) -> None:
    tracer, memory = Tracer(journals), MemoryManager(FileEvents(tmp_path / "traces" / "memory"))

    def ended() -> str:
        trace = tracer.create(begin=lambda run, _: [first_record("run", "2026-01-01T00:00:00Z", {})])
        trace.append("end", "", {"status": "done", "answer": None, "reason": ""})
        trace.close()
        return trace.run

    with pytest.MonkeyPatch.context() as patch:
        dated(patch, YEARS)
        ahead = ended()
    newest = ended()
    assert tracer.find("last") == newest
    found = collect(tracer, memory, RetentionPolicy(newest=1), remove=True)
    assert [one.run for one in found.removed] == [ahead]
    assert tracer.runs() == [newest]


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def nowhere(path: Path) -> None:
    path.unlink()
    path.symlink_to("nothing")


SPOILT: dict[str, Callable[[Path], object]] = {
    "lost": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "torn": lambda path: path.write_bytes(path.read_bytes()[:20]),
    "altered": lambda path: path.write_bytes(path.read_bytes().replace(b"0003", b"0001")),
    "garbage": lambda path: path.write_bytes(os.urandom(5_000)),
    "of another boot": lambda path: path.write_bytes(b"000000000000000001 0-0 0badcafe\n"),
    "a folder": folder,
    "a pipe": pipe,
    "a broken link": nowhere,
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_counter_goes_on_behind_the_journals(journals: FileJournals, counter: Path, how: str) -> None:
    begin(journals, "c", "b", "a")
    SPOILT[how](counter)
    begin(journals, "e", "d")
    assert journals.runs() == ["d", "e", "a", "b", "c"]


def test_a_counter_that_an_earlier_boot_wrote_is_not_believed(
    journals: FileJournals, counter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(journals, "z")
    early = counter.read_bytes()
    begin(journals, "y", "x")
    counter.write_bytes(early)
    monkeypatch.setattr("tea.store.counter._boot", lambda: b"another")
    begin(journals, "w")
    assert journals.runs() == ["w", "x", "y", "z"]


@pytest.mark.parametrize("how", ["empty", "a folder", "a pipe", "a broken link"])
def test_a_spoilt_counter_is_named_and_mended_by_removing_it(
    journals: FileJournals, counter: Path, tmp_path: Path, how: str
) -> None:
    begin(journals, "a")
    assert list(examine_derived(tmp_path, mend=False)) == []
    SPOILT[how](counter)
    (found,) = examine_derived(tmp_path, mend=False)
    assert ".counter" in found.problem
    (found,) = examine_derived(tmp_path, mend=True)
    assert (found.mended != "") == (how != "a folder")


def test_runs_of_before_the_counter_stand_before_all_others_by_the_clock(
    journals: FileJournals, tmp_path: Path
) -> None:
    begin(journals, "x", "a", "y")
    for run in ("x", "a", "y"):  # as they were written then
        path = tmp_path / "traces" / run / "journal.jsonl"
        path.write_bytes(path.read_bytes().replace(b'"number":', b'"humber":'))
    (tmp_path / "traces" / ".counter").unlink()
    begin(journals, "b")
    assert journals.runs() == ["b", "y", "a", "x"]


def test_no_two_that_begin_at_once_have_one_number(tmp_path: Path) -> None:
    def many(name: str) -> None:
        begin(FileJournals(tmp_path / "traces"), *(f"{name}{number}" for number in range(20)))

    threads = [threading.Thread(target=many, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first = [path.read_bytes()[:40] for path in tmp_path.glob("traces/*/journal.jsonl")]
    assert len({line.split(b",")[1] for line in first}) == 80
