"""Test removed runs: whole or not at all, and never one being written."""

from pathlib import Path

import pytest

from tea.errors import BadInput, Conflict
from tea.store.journal import FileJournals


def test_a_run_is_gone_with_all_that_lay_beside_its_journal(tmp_path: Path) -> None:
    store = FileJournals(tmp_path)
    for run in ("one", "two"):
        with store.create(run) as writer:
            writer.append([{"kind": "x"}])
    store.blobs("one").put(b"x" * 1000, "text/plain")
    (tmp_path / "one" / "workspace").mkdir()
    (tmp_path / "one" / "workspace" / "link").symlink_to(tmp_path / "two")
    size = store.size("one")
    assert size > 1000
    assert store.remove("one") == size
    assert store.runs() == ["two"]
    assert [path for path in tmp_path.rglob("*") if "one" in path.parts] == []
    assert len(list(store.read("two"))) == 1
    with pytest.raises(BadInput):
        store.remove("one")


def test_a_run_that_is_held_is_not_removed(tmp_path: Path) -> None:
    store = FileJournals(tmp_path)
    with store.create("run") as writer:
        writer.append([{"kind": "x"}])
        with pytest.raises(Conflict):
            FileJournals(tmp_path).remove("run")
        writer.append([{"kind": "y"}])
    assert len(list(store.read("run"))) == 2


@pytest.mark.parametrize("name", ["../up", "", ".tmp", "nothing"])
def test_what_is_no_run_is_not_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / "up").mkdir()
    store = FileJournals(tmp_path / "traces")
    with pytest.raises(BadInput):
        store.remove(name)
    assert (tmp_path / "up").is_dir()
