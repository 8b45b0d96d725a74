"""Many folders at once, each whole; and a person's file, whole or as it was."""

from pathlib import Path

import pytest

from tea.errors import BadInput, Conflict, StorageError
from tea.store.bulk import Whole, write_whole
from tea.store.registry import FileRegistry


def whole(name: str, *versions: str, heads: int = 1) -> Whole:
    documents = {version: {"of": name, "is": version} for version in versions}
    return Whole(kind="tool", name=name, versions=documents, heads=tuple({"number": n} for n in range(heads)))


def test_what_is_added_at_once_is_read_as_if_it_had_been_added_one_by_one(tmp_path: Path) -> None:
    at_once, one_by_one = FileRegistry(tmp_path / "a"), FileRegistry(tmp_path / "b")
    at_once.create_all([whole("x", "1.0.0", "1.1.0", heads=3), whole("y", "2.0.0")])
    for name, versions, heads in (("x", ("1.0.0", "1.1.0"), 3), ("y", ("2.0.0",), 1)):
        for version in versions:
            one_by_one.create("tool", name, version, {"of": name, "is": version})
        for number in range(heads):
            one_by_one.advance("tool", name, {"number": number}, number)

    def files(folder: str) -> dict[Path, bytes]:
        found = (path for path in (tmp_path / folder).rglob("*.json"))
        return {path.relative_to(tmp_path / folder): path.read_bytes() for path in found}

    assert files("a") == files("b")
    assert at_once.head("tool", "x") == (3, {"number": 2})
    assert not list((tmp_path / "a" / ".tmp").iterdir())


def test_a_name_that_is_there_is_a_conflict_and_keeps_what_it_has(tmp_path: Path) -> None:
    registry = FileRegistry(tmp_path)
    registry.create("tool", "x", "1.0.0", {"mine": True})
    with pytest.raises(Conflict, match="'x'"):
        registry.create_all([whole("x", "1.0.0"), whole("y", "1.0.0")])
    assert registry.read("tool", "x", "1.0.0") == {"mine": True}
    assert registry.names("tool") == ["x"]
    assert not list((tmp_path / ".tmp").iterdir())


def test_a_document_that_cannot_be_stored_leaves_all_out(tmp_path: Path) -> None:
    registry = FileRegistry(tmp_path)
    bad = Whole(kind="tool", name="z", versions={"1.0.0": {"x": float("nan")}}, heads=())
    with pytest.raises(BadInput):
        registry.create_all([whole("x", "1.0.0"), bad])
    registry.create_all([])
    assert registry.names("tool") == []


def test_a_tombstone_takes_the_place_of_a_version_and_of_nothing_else(tmp_path: Path) -> None:
    registry = FileRegistry(tmp_path)
    registry.create("tool", "x", "1.0.0", {"of": "x"})
    registry.bury("tool", "x", "1.0.0", {"purged": True})
    assert registry.read("tool", "x", "1.0.0") == {"purged": True}
    assert registry.versions("tool", "x") == ["1.0.0"]
    with pytest.raises(Exception, match=r"no version 2\.0\.0"):
        registry.bury("tool", "x", "2.0.0", {"purged": True})
    assert registry.versions("tool", "x") == ["1.0.0"]


def test_a_persons_file_is_written_whole_or_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    write_whole(file, b"one")
    write_whole(file, b"two")
    assert file.read_bytes() == b"two"
    with pytest.raises(BadInput, match="not a file"):
        write_whole(tmp_path, b"three")
    with pytest.raises(StorageError):
        write_whole(tmp_path / "none" / "file.json", b"three")
    assert [path.name for path in tmp_path.iterdir()] == ["file.json"]
