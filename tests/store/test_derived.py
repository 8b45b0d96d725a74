"""Vectors and usage on disk: shared by processes, lost without harm, and erased for good."""

import subprocess
import sys
from pathlib import Path

import pytest

from tea.errors import Damaged
from tea.store.usage import FileUsage, Use
from tea.store.vectors import FileVectors

ADD = """
import sys
from pathlib import Path
from tea.store.vectors import FileVectors
print("ready", flush=True)
sys.stdin.readline()
store = FileVectors(Path(sys.argv[1]))
for number in range(40):
    store.add("e", {f"{sys.argv[2]} {number}": sys.argv[2].encode(), f"shared {number}": b"same"})
"""


def use(run: str = "r1", name: str = "adder", text: str = "add up a column", time: str = "2026-01-01T00:00:00Z") -> Use:
    return Use(run=run, kind="tool", name=name, digest="sha256:1", text=text, time=time)


def test_vectors_are_kept_by_embedder_and_text(tmp_path: Path) -> None:
    FileVectors(tmp_path).add("one", {"a": b"1", "b": b"2"})
    assert FileVectors(tmp_path).get("one", ["b", "c", "a"]) == {"a": b"1", "b": b"2"}
    assert FileVectors(tmp_path).get("other", ["a"]) == {}
    assert (tmp_path / ".vectors" / ".gitignore").read_text() == "*\n"


def test_very_many_vectors_are_found_at_once(tmp_path: Path) -> None:
    many = {str(number): str(number).encode() for number in range(2_000)}
    FileVectors(tmp_path).add("one", many)
    assert FileVectors(tmp_path).get("one", list(many)) == many


def test_where_there_is_no_registry_nothing_is_written(tmp_path: Path) -> None:
    FileVectors(tmp_path / "registry").add("one", {"a": b"1"})
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_cache_is_begun_anew(tmp_path: Path) -> None:
    store = FileVectors(tmp_path)
    store.add("one", {"a": b"1"})
    (tmp_path / ".vectors" / "vectors.sqlite").write_bytes(b"no database at all" * 100)
    assert store.get("one", ["a"]) == {}
    store.add("one", {"a": b"2"})
    assert store.get("one", ["a"]) == {"a": b"2"}


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", ADD, str(tmp_path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in "xyz"
    ]
    for one in writers:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in writers:
        one.communicate("go\n", timeout=60)
    expected = {f"{name} {number}": name.encode() for name in "xyz" for number in range(40)}
    expected |= {f"shared {number}": b"same" for number in range(40)}
    assert FileVectors(tmp_path).get("e", list(expected)) == expected


def test_a_run_is_learned_once_whoever_brings_it(tmp_path: Path) -> None:
    FileUsage(tmp_path).learn(["r1", "r2"], [use()])
    FileUsage(tmp_path).learn(["r1"], [use(text="another")])
    assert FileUsage(tmp_path).read() == [use()]
    assert FileUsage(tmp_path).known() == {"r1", "r2"}


def test_uses_are_read_by_component_and_the_newest_of_many(tmp_path: Path) -> None:
    store = FileUsage(tmp_path)
    uses = [use(f"r{day}", "ab"[day % 2], time=f"2026-01-0{day}T00:00:00Z") for day in range(1, 7)]
    store.learn([one.run for one in uses], reversed(uses))
    assert store.read() == uses
    assert store.read(kind="tool", name="a", most=2) == [uses[3], uses[5]]
    assert store.read(kind="agent") == []


def test_what_was_erased_is_gone_from_the_disk_and_does_not_come_back(tmp_path: Path) -> None:
    store = FileUsage(tmp_path)
    store.learn(["r1", "r2"], [use(text="a very private task"), use("r2", "other")])
    assert store.erase(kind="tool", name="adder") == [use(text="a very private task")]
    assert b"very private" not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    store.learn(["r1"], [use(text="a very private task")])
    assert [one.name for one in store.read()] == ["other"]
    assert store.erase() == [use("r2", "other")]
    assert store.read() == []


def test_looking_at_usage_where_there_is_none_writes_nothing(tmp_path: Path) -> None:
    store = FileUsage(tmp_path)
    assert (store.read(), store.known(), store.erase()) == ([], frozenset(), [])
    assert list(tmp_path.iterdir()) == []


def test_damaged_usage_is_told(tmp_path: Path) -> None:
    FileUsage(tmp_path).learn(["r1"], [use()])
    (tmp_path / "usage" / "usage.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(Damaged):
        FileUsage(tmp_path).read()
