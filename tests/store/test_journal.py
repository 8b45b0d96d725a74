"""Journals: checked lines, torn ends, leases and shared syncs."""

import asyncio
import gc
import json
import os
import threading
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tea.errors import BadInput, Conflict, Damaged, StorageError
from tea.store.blobs import Blobs
from tea.store.journal import FileJournals, JournalStore
from tea.store.writer import FileJournalWriter

RECORDS: list[dict[str, Any]] = [{"kind": "effect", "text": "é\n\u2028", "n": n} for n in range(5)]


@pytest.fixture
def journals(tmp_path: Path) -> FileJournals:
    return FileJournals(tmp_path / "traces")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "traces" / "run" / "journal.jsonl"


def plain(journals: FileJournals, run: str = "run", start: int = 0) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in each.items() if key not in ("seq", "check")} for each in journals.read(run, start)
    ]


def written(journals: FileJournals, records: list[dict[str, Any]] = RECORDS) -> None:
    with journals.create("run") as writer:
        writer.append(records)


def test_the_files_are_a_journal_store(journals: FileJournals) -> None:
    store: JournalStore = journals
    with store.create("run") as writer:
        assert (writer.run, writer.epoch, writer.position, writer.torn) == ("run", 1, 0, 0)


def test_a_run_appears_with_its_first_records_and_what_lies_beside_them(journals: FileJournals, path: Path) -> None:
    def begin(folder: Path, blobs: Blobs) -> list[dict[str, Any]]:
        (folder / "note").write_text("beside")
        digest = blobs.put(b"large", "text/plain")
        assert (journals.runs(), path.exists()) == ([], False)
        return [*RECORDS[:2], {"blob": digest}]

    with journals.create("run", begin) as writer:
        assert (writer.position, (path.parent / "note").read_text()) == (3, "beside")
        writer.append(RECORDS[2:3])
    assert plain(journals)[:2] == RECORDS[:2]
    assert journals.blobs("run").get(plain(journals)[2]["blob"]) == b"large"


def test_a_run_that_cannot_begin_leaves_nothing(journals: FileJournals, tmp_path: Path) -> None:
    def begin(folder: Path, blobs: Blobs) -> list[dict[str, Any]]:
        (folder / "note").write_text("beside")
        raise BadInput("No.", fix="none.")

    with pytest.raises(BadInput, match="No"):
        journals.create("run", begin)
    assert journals.runs() == []
    assert [one for one in tmp_path.rglob("*") if one.name not in ("traces", ".tmp")] == []


def test_records_are_read_back_numbered_and_checked(journals: FileJournals) -> None:
    written(journals)
    assert plain(journals) == RECORDS
    assert [each["seq"] for each in journals.read("run")] == [0, 1, 2, 3, 4]
    assert len({each["check"] for each in journals.read("run")}) == 5
    assert plain(journals, start=3) == RECORDS[3:]
    assert plain(journals, start=9) == []


def test_an_empty_record_and_no_records_are_fine(journals: FileJournals) -> None:
    with journals.create("run") as writer:
        writer.append([])
        writer.append([{}])
    assert [each["seq"] for each in journals.read("run")] == [0]


def test_an_append_is_one_write(journals: FileJournals, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    write = os.write
    with journals.create("run") as writer, monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: sizes.append(len(data)) or write(descriptor, data))
        writer.append(RECORDS)
    assert len(sizes) == 1


def test_a_journal_is_read_while_it_is_written(journals: FileJournals) -> None:
    with journals.create("run") as writer:
        writer.append(RECORDS[:1])
        reading = journals.read("run")
        assert next(reading)["n"] == 0
        writer.append(RECORDS[1:2])
        assert next(reading)["n"] == 1
        assert next(reading, None) is None


@pytest.mark.parametrize(
    "record",
    [{"a": float("nan")}, {"a": "\ud800"}, {"a": {1}}, {"a": 10**5000}, {"seq": 1}, {"check": ""}, {"a": "x" * 2**24}],
    ids=["nan", "surrogate", "set", "digits", "seq", "check", "size"],
)
def test_a_record_that_could_not_be_read_back_is_refused_with_all_beside_it(
    journals: FileJournals, record: dict[str, Any]
) -> None:
    with journals.create("run") as writer:
        with pytest.raises(BadInput) as caught:
            writer.append([RECORDS[0], record])
        assert "\n" not in str(caught.value)
        writer.append(RECORDS[1:2])
    assert plain(journals) == RECORDS[1:2]


def test_a_record_as_deep_as_can_be_written_can_be_read(journals: FileJournals) -> None:
    deep: Any = []
    with journals.create("run") as writer:
        for _ in range(300):
            deep = [deep]
            try:
                writer.append([{"deep": deep}])
            except BadInput:
                break
        assert 150 < writer.position < 300
        assert len(plain(journals)) == writer.position


def test_a_torn_end_is_left_out_and_cut_off_when_resumed(journals: FileJournals, path: Path) -> None:
    written(journals)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    reading = journals.read("run")
    assert [each["n"] for each in reading] == [0, 1, 2, 3]
    torn = len(whole.splitlines()[-1])
    assert reading.torn == torn
    assert path.read_bytes() == whole[:-1]
    with journals.resume("run") as writer:
        assert (writer.torn, writer.position, writer.epoch) == (torn, 4, 2)
        writer.append(RECORDS[4:])
    assert path.read_bytes() == whole


def test_a_reader_does_not_take_a_tail_that_is_being_cut_off_for_damage(journals: FileJournals, path: Path) -> None:
    written(journals)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"seq":5,"half')
    reading = journals.read("run")
    next(reading)
    with journals.resume("run") as writer:
        writer.append([{"n": 5, "text": "y" * 2**17}])
    assert [each["n"] for each in reading] == [1, 2, 3, 4, 5]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_damaged_journal_gives_a_valid_prefix_or_names_the_line(
    journals: FileJournals, path: Path, data: st.DataObject
) -> None:
    if not path.exists():
        written(journals)
        path.with_name("good").write_bytes(path.read_bytes())
    good = path.with_name("good").read_bytes()
    lines = good.splitlines(keepends=True)
    change = data.draw(st.sampled_from(("flip", "cut", "swap", "drop", "repeat", "insert")))
    place = data.draw(st.integers(0, len(good) - 1))
    line = data.draw(st.integers(0, len(lines) - 2))
    bad = {
        "flip": good[:place] + bytes([good[place] ^ 1 << place % 8]) + good[place + 1 :],
        "cut": good[:place],
        "swap": b"".join([*lines[:line], lines[line + 1], lines[line], *lines[line + 2 :]]),
        "drop": b"".join(lines[:line] + lines[line + 1 :]),
        "repeat": b"".join([*lines[: line + 1], *lines[line:]]),
        "insert": good[:place] + data.draw(st.binary(min_size=1)) + good[place:],
    }[change]
    path.write_bytes(bad)
    found: list[dict[str, Any]] = []
    reading = journals.read("run")
    problem = ""
    try:
        for each in reading:
            found.append({"kind": each["kind"], "text": each["text"], "n": each["n"]})
    except Damaged as error:
        problem = str(error)
    assert found == RECORDS[: len(found)]
    if problem:
        assert f"journal.jsonl' is damaged: line {len(found) + 1} " in problem
    elif bad != b"".join(lines[: len(found)]):
        assert reading.torn


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary())
def test_any_bytes_are_no_record(journals: FileJournals, path: Path, data: bytes) -> None:
    if not path.exists():
        written(journals)
    path.write_bytes(data)
    for use in (lambda: list(journals.read("run")), lambda: journals.resume("run").close()):
        if b"\n" in data:
            with pytest.raises(Damaged, match="line 1"):
                use()
        else:
            use()
            path.write_bytes(data)


def test_a_damaged_last_line_is_not_taken_for_a_torn_end(journals: FileJournals, path: Path) -> None:
    written(journals)
    path.write_bytes(path.read_bytes().replace(b'"n":4', b'"n":5'))
    with pytest.raises(Damaged, match="line 5"):
        journals.resume("run")
    path.write_bytes(path.read_bytes().replace(b'"n":5', b'"n":4'))
    journals.resume("run").close()


def test_a_line_without_end_is_damage(journals: FileJournals, path: Path) -> None:
    written(journals, [])
    with path.open("wb") as file:
        file.truncate(2**25)
    with pytest.raises(Damaged, match="line 1"):
        list(journals.read("run"))


def test_one_run_has_one_writer(journals: FileJournals) -> None:
    with journals.create("run"):
        with pytest.raises(Conflict, match=f"held by process {os.getpid()}"):
            journals.resume("run")
        with pytest.raises(Conflict, match="exists already"):
            journals.create("run")
    with journals.resume("run") as writer:
        assert writer.epoch == 2
    with pytest.raises(Conflict, match="exists already"):
        journals.create("run")


def lose(path: Path) -> None:
    path.unlink()


def take(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"00000002 77 0\n")


def replace(path: Path) -> None:
    content = path.read_bytes()
    path.rename(path.with_name("old"))
    path.write_bytes(content)


@pytest.mark.parametrize("how", [lose, take, replace])
def test_a_writer_that_lost_its_lease_appends_nothing(
    journals: FileJournals, path: Path, how: Callable[[Path], None]
) -> None:
    with journals.create("run") as writer:
        writer.append(RECORDS[:1])
        how(path.with_name("lease"))
        with pytest.raises(Conflict, match="was taken away"):
            writer.append(RECORDS[1:])
    assert plain(journals) == RECORDS[:1]


def test_touching_the_lease_takes_nothing_away(journals: FileJournals, path: Path) -> None:
    with journals.create("run") as writer:
        os.utime(path.with_name("lease"), ns=(1, 1))
        writer.append(RECORDS)
    assert plain(journals) == RECORDS


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(bits=st.sets(st.integers(0, 8 * 60), max_size=1), cut=st.integers(0, 3))
def test_a_damaged_lease_is_taken_all_the_same_with_a_higher_epoch(
    journals: FileJournals, path: Path, bits: set[int], cut: int
) -> None:
    if not path.exists():
        written(journals, [])
    lease = path.with_name("lease")
    lease.write_bytes(b"".join(b"%08d 4242 1700000000000000000\n" % epoch for epoch in (1, 2)))
    content = bytearray(lease.read_bytes()[: -cut or None])
    for bit in bits:
        if bit // 8 < len(content):
            content[bit // 8] ^= 1 << bit % 8
    lease.write_bytes(content)
    with journals.resume("run") as writer:
        assert writer.epoch > 2
        writer.append([{}])
    with journals.resume("run") as second:
        assert second.epoch > writer.epoch


def test_a_removed_lease_does_not_lose_the_run(journals: FileJournals, path: Path) -> None:
    written(journals)
    path.with_name("lease").unlink()
    with journals.resume("run") as writer:
        writer.append([{"n": 5}])
    assert len(plain(journals)) == 6
    assert journals.runs() == ["run"]


def test_a_closed_writer_says_so(journals: FileJournals) -> None:
    with journals.create("run") as writer:
        pass
    writer.close()
    with pytest.raises(StorageError, match="closed"):
        writer.append(RECORDS)


async def test_a_closed_writer_does_not_sync(journals: FileJournals) -> None:
    with journals.create("run") as writer:
        writer.append(RECORDS)
    with pytest.raises(StorageError, match="closed"):
        await writer.sync()


def test_runs_are_listed_newest_first(journals: FileJournals, tmp_path: Path) -> None:
    assert journals.runs() == []
    for run in ("b", "c", "a"):
        journals.create(run).close()
    journals.resume("b").close()
    (tmp_path / "traces" / "README.md").write_text("notes")
    (tmp_path / "traces" / "folder").mkdir()
    assert journals.runs() == ["a", "c", "b"]


def test_reading_creates_nothing(journals: FileJournals, tmp_path: Path) -> None:
    assert journals.runs() == []
    for use in (journals.read, journals.resume, journals.blobs):
        with pytest.raises(BadInput, match="There is no run 'run'"):
            use("run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("run", ["", "..", "../run", "a/b", ".tmp", "a\0", "a" * 129, "a\n"])
def test_a_run_outside_the_grammar_touches_no_file(journals: FileJournals, tmp_path: Path, run: str) -> None:
    for use in (journals.create, journals.read, journals.resume, journals.blobs):
        with pytest.raises(BadInput, match="not the id of a run"):
            use(run)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> "Disk":
    disk = Disk()
    monkeypatch.setattr(os, "fdatasync", disk.fdatasync)
    return disk


class Disk:
    """Stands in for a slow disk: each write waits until it is let go."""

    def __init__(self) -> None:
        self.writes = 0
        self.error: OSError | None = None
        self.go = threading.Event()
        self.go.set()
        self.begun = threading.Event()

    def fdatasync(self, descriptor: int) -> None:
        os.fstat(descriptor)
        self.writes += 1
        self.begun.set()
        self.go.wait()
        if self.error:
            raise self.error


async def test_concurrent_syncs_share_disk_writes(journals: FileJournals, disk: Disk) -> None:
    with journals.create("run") as writer:
        writer.append(RECORDS)
        await asyncio.gather(*[writer.sync() for _ in range(100)])
        assert disk.writes == 1
        await writer.sync()
        assert disk.writes == 1


async def test_what_is_appended_during_a_sync_needs_the_next_one(journals: FileJournals, disk: Disk) -> None:
    with journals.create("run") as writer:
        writer.append(RECORDS[:1])
        disk.go.clear()
        async with asyncio.TaskGroup() as group:
            group.create_task(writer.sync())
            await asyncio.to_thread(disk.begun.wait)
            writer.append(RECORDS[1:])
            for _ in range(10):
                group.create_task(writer.sync())
            disk.go.set()
        assert disk.writes == 2


async def called_off(writer: FileJournalWriter, disk: Disk) -> None:
    """Cancel a sync while the disk is at it; the disk ends its work later."""
    disk.go.clear()
    syncing = asyncio.ensure_future(writer.sync())
    await asyncio.to_thread(disk.begun.wait)
    syncing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await syncing
    disk.go.set()


async def test_cancelling_a_sync_leaves_the_writer_usable(journals: FileJournals, disk: Disk) -> None:
    with journals.create("run") as writer:
        writer.append(RECORDS[:1])
        await called_off(writer, disk)
        writer.append(RECORDS[1:])
        await writer.sync()
    assert plain(journals) == RECORDS


async def test_a_sync_that_fails_after_it_was_cancelled_gives_the_writer_up_and_complains_to_nobody(
    journals: FileJournals, disk: Disk
) -> None:
    complaints: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, said: complaints.append(str(said["message"])))
    disk.error = OSError(5, "Input/output error")
    with journals.create("run") as writer:
        writer.append(RECORDS)
        await called_off(writer, disk)
        await loop.shutdown_default_executor()
        with pytest.raises(StorageError, match="did not confirm"):
            writer.append(RECORDS)
    await asyncio.sleep(0)
    gc.collect()
    assert complaints == []


async def test_after_a_failed_sync_the_writer_is_given_up(journals: FileJournals, disk: Disk) -> None:
    disk.error = OSError(5, "Input/output error")
    with journals.create("run") as writer:
        writer.append(RECORDS)
        results = await asyncio.gather(*[writer.sync() for _ in range(3)], return_exceptions=True)
        assert [type(each) for each in results] == [StorageError] * 3
        with pytest.raises(StorageError, match="did not confirm"):
            writer.append(RECORDS)
    with journals.resume("run") as writer:
        assert writer.position == len(RECORDS)


def test_a_synced_journal_confirms_each_append(tmp_path: Path, disk: Disk) -> None:
    journals = FileJournals(tmp_path / "traces", "synced")
    with journals.create("run") as writer:
        writer.append(RECORDS[:2])
        writer.append(RECORDS[2:3])
        assert disk.writes == 2
        disk.error = OSError(5, "Input/output error")
        with pytest.raises(StorageError, match="Input/output error"):
            writer.append(RECORDS[3:])
    assert plain(journals) == RECORDS[:3]


def test_an_interrupted_append_leaves_no_half(journals: FileJournals, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def interrupted(descriptor: int, data: bytes) -> int:
        write(descriptor, data)
        raise KeyboardInterrupt

    with journals.create("run") as writer:
        writer.append(RECORDS[:1])
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", interrupted)
            with pytest.raises(KeyboardInterrupt):
                writer.append(RECORDS[1:2])
        writer.append(RECORDS[2:3])
    assert [each["n"] for each in journals.read("run")] == [0, 2]


def test_lines_are_plain_json_for_other_tools(journals: FileJournals, path: Path) -> None:
    written(journals)
    assert [json.loads(line)["n"] for line in path.read_bytes().split(b"\n") if line] == [0, 1, 2, 3, 4]


def test_many_threads_append_in_turn(journals: FileJournals) -> None:
    def appends(writer: FileJournalWriter) -> None:
        for _ in range(50):
            writer.append([{"kind": "effect"}])

    with journals.create("run") as writer:
        threads = [threading.Thread(target=appends, args=(writer,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [each["seq"] for each in journals.read("run")] == list(range(200))


def test_a_number_out_of_order_is_damage_even_under_a_right_check(journals: FileJournals, path: Path) -> None:
    written(journals, [])
    body = b'{"seq":1'
    check = blake2b(body, digest_size=8).hexdigest().encode()
    path.write_bytes(body + b',"check":"' + check + b'"}\n')
    with pytest.raises(Damaged, match="line 1"):
        list(journals.read("run"))
