"""Streams of events: once for each key, whole lines only, shared by processes."""

import fcntl
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.errors import BadArguments, Damaged, StorageError
from tea.store import events as module
from tea.store.events import EVENT_LIMIT, FileEvents

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)

WRITER = """
import sys
from pathlib import Path
from tea.store.events import FileEvents
name, root = sys.argv[1:]
store = FileEvents(Path(root))
print("ready", flush=True)
sys.stdin.readline()
for number in range(60):
    store.append("s", f"shared-{number}", {"number": number})
    store.append("s", f"{name}-{number}", {"by": name, "number": number})
"""


def test_events_come_back_in_their_order(tmp_path: Path) -> None:
    store = FileEvents(tmp_path)
    assert store.append("s", "a", {"n": 1})
    assert store.append("s", "b", {"n": 2})
    assert store.read("s") == ({"n": 1}, {"n": 2}) == FileEvents(tmp_path).read("s")


def test_a_second_event_of_the_same_key_changes_nothing(tmp_path: Path) -> None:
    store = FileEvents(tmp_path)
    assert store.append("s", "a", {"n": 1})
    before = (tmp_path / "s.jsonl").read_bytes()
    assert not store.append("s", "a", {"n": 2})
    assert not FileEvents(tmp_path).append("s", "a", {"n": 3})
    assert (tmp_path / "s.jsonl").read_bytes() == before


def test_reading_creates_nothing(tmp_path: Path) -> None:
    assert FileEvents(tmp_path / "none").read("s") == ()
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.tuples(st.text(), st.dictionaries(st.text(), JSON, max_size=3)), max_size=5))
def test_any_json_round_trips(
    tmp_path_factory: pytest.TempPathFactory, given: list[tuple[str, dict[str, Any]]]
) -> None:
    root = tmp_path_factory.mktemp("events")
    store = FileEvents(root)
    expected: dict[str, dict[str, Any]] = {}
    for key, event in given:
        assert store.append("s", key, event) == (key not in expected)
        expected.setdefault(key, event)
    assert list(FileEvents(root).read("s")) == list(expected.values())


@pytest.mark.parametrize("name", ["", "../up", "a/b", "A", "a.b", "x" * 65, "é", "\ud800", "con\0", "-"])
def test_a_strange_stream_name_stays_inside_the_folder_and_apart(tmp_path: Path, name: str) -> None:
    store = FileEvents(tmp_path / "root")
    if name == "\ud800":
        with pytest.raises(BadArguments, match="surrogate"):
            store.append(name, "k", {})
        return
    store.append(name, "k", {"name": name})
    (path,) = (tmp_path / "root").iterdir()
    assert path.name.startswith("sha256-")
    assert list(tmp_path.iterdir()) == [tmp_path / "root"]
    assert store.read(name) == ({"name": name},)
    assert store.read(path.stem) == ()


@pytest.mark.parametrize("cut", range(1, 40, 6))
def test_a_torn_end_is_ignored_and_repaired_by_the_next_append(tmp_path: Path, cut: int) -> None:
    store = FileEvents(tmp_path)
    for key in ("a", "b"):
        store.append("s", key, {"key": key})
    path = tmp_path / "s.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    for reader in (store, FileEvents(tmp_path)):
        assert reader.read("s") == ({"key": "a"},)
    assert store.append("s", "b", {"key": "again"})
    assert store.read("s") == FileEvents(tmp_path).read("s") == ({"key": "a"}, {"key": "again"})
    assert path.read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("line", ["{", "[]", '{"stream":"s","key":"k"}', '{"stream":"t","key":"k","event":{}}', "\r"])
def test_a_whole_line_that_nobody_wrote_is_named(tmp_path: Path, line: str) -> None:
    FileEvents(tmp_path).append("s", "a", {})
    with (tmp_path / "s.jsonl").open("a") as file:
        file.write(line + "\n")
    for act in (lambda: FileEvents(tmp_path).read("s"), lambda: FileEvents(tmp_path).append("s", "b", {})):
        with pytest.raises(Damaged, match="line 2"):
            act()


def test_a_stream_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    store = FileEvents(tmp_path)
    store.append("s", "a", {"n": 1})
    (tmp_path / "s.jsonl").unlink()
    assert store.read("s") == ()
    assert store.append("s", "a", {"n": 2})
    assert store.read("s") == ({"n": 2},)


def test_a_stream_that_every_account_may_write_is_neither_read_nor_added_to(tmp_path: Path) -> None:
    FileEvents(tmp_path).append("run", "1", {"n": 1})
    path = tmp_path / "run.jsonl"
    path.chmod(0o666)
    before = path.read_bytes()
    for use in (lambda one: one.read("run"), lambda one: one.append("run", "2", {"n": 2})):
        with pytest.raises(Damaged, match="every account may write it"):
            use(FileEvents(tmp_path))
    assert path.read_bytes() == before


def test_a_link_in_place_of_a_stream_is_refused(tmp_path: Path) -> None:
    (tmp_path / "target").touch()
    (tmp_path / "s.jsonl").symlink_to("target")
    with pytest.raises(Damaged, match="not a regular file"):
        FileEvents(tmp_path).append("s", "a", {})
    assert (tmp_path / "target").read_bytes() == b""


@pytest.mark.parametrize("event", [{"x": float("nan")}, {"x": object()}, {"x": "\ud800"}, {"x": "x" * EVENT_LIMIT}])
def test_an_event_that_is_not_json_or_too_large_is_refused(tmp_path: Path, event: dict[str, Any]) -> None:
    with pytest.raises(BadArguments):
        FileEvents(tmp_path / "root").append("s", "a", event)
    assert list(tmp_path.iterdir()) == []


def test_a_full_stream_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STREAM_LIMIT", 100)
    store = FileEvents(tmp_path)
    store.append("s", "a", {})
    with pytest.raises(StorageError, match="is full"):
        store.append("s", "b", {"x": "x" * 100})
    assert store.read("s") == ({},)


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FileEvents(tmp_path)
    store.append("s", "a", {})
    before = (tmp_path / "s.jsonl").read_bytes()

    def full(descriptor: int, data: bytes) -> None:
        real(descriptor, data[:5])
        raise OSError(28, "No space left on device")

    real = module.write_all
    monkeypatch.setattr(module, "write_all", full)
    with pytest.raises(StorageError, match="No space left"):
        store.append("s", "b", {})
    assert (tmp_path / "s.jsonl").read_bytes() == before


def test_an_event_is_added_at_once_only_where_nothing_is_to_be_read_or_waited_for(tmp_path: Path) -> None:
    store, other = FileEvents(tmp_path / "e"), FileEvents(tmp_path / "e")
    assert not store.at_once("s", "a", {"n": 0})
    assert store.append("s", "a", {"n": 1}, synced=False)
    assert store.at_once("s", "b", {"n": 2})
    assert not other.at_once("s", "c", {"n": 3})
    assert not store.at_once("s", "b", {"n": 4})
    with (tmp_path / "e" / "s.jsonl").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert not store.at_once("s", "d", {"n": 5})
    assert store.at_once("s", "d", {"n": 6})
    assert other.append("s", "e", {"n": 7})
    assert not store.at_once("s", "f", {"n": 8})
    assert store.read("s") == other.read("s") == ({"n": 1}, {"n": 2}, {"n": 6}, {"n": 7})


def test_events_that_no_disk_confirmed_are_confirmed_by_the_next_that_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    confirmed: list[int] = []
    monkeypatch.setattr(module.os, "fsync", lambda descriptor: confirmed.append(os.fstat(descriptor).st_size))
    store, path = FileEvents(tmp_path), tmp_path / "s.jsonl"
    store.sync("s")
    store.append("s", "a", {}, synced=False)
    store.at_once("s", "b", {})
    assert confirmed == []
    store.sync("s")
    assert path.stat().st_size in confirmed
    confirmed.clear()
    store.sync("s")
    assert confirmed == []
    store.at_once("s", "c", {})
    assert not store.append("s", "c", {})
    assert confirmed == [path.stat().st_size]


def test_many_threads_and_streams_lose_and_repeat_nothing(tmp_path: Path) -> None:
    stores = [FileEvents(tmp_path), FileEvents(tmp_path)]

    def work(worker: int) -> None:
        for number in range(10):
            stores[worker % 2].append(f"s{number % 3}", f"{worker % 4}-{number}", {"n": number})

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [line for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    assert len(lines) == 40 == len({json.loads(line)["key"] for line in lines})


def test_more_streams_than_are_kept_in_memory_all_keep_their_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileEvents(tmp_path)
    monkeypatch.setattr(module, "_OPEN_STREAMS", 8)
    for number in range(80):
        store.append(f"s{number % 40}", str(number), {"n": number}, synced=False)
    assert store.read("s7") == ({"n": 7}, {"n": 47})


def test_two_processes_at_once_lose_and_repeat_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([*command, name, str(tmp_path)], **pipes) for name in ("one", "two")]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    events = FileEvents(tmp_path).read("s")
    assert sorted(event["number"] for event in events if "by" not in event) == list(range(60))
    for name in ("one", "two"):
        assert [event["number"] for event in events if event.get("by") == name] == list(range(60))


def test_an_event_is_confirmed_with_the_name_of_a_folder_that_another_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "home" / "traces" / "memory"
    folder.mkdir(parents=True)
    synced: set[int] = set()
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.add(os.fstat(descriptor).st_ino), real(descriptor))[1])
    FileEvents(folder).append("s", "1", {"a": 1})
    assert {folder.stat().st_ino, folder.parent.stat().st_ino, folder.parent.parent.stat().st_ino} <= synced
