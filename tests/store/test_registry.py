"""The registry: exclusive versions, numbered heads, and reading beside writers."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tea.errors import AlreadyRegistered, BadInput, BadRef, Conflict, Damaged, TeaError, UnknownComponent
from tea.refs import KINDS
from tea.store.registry import FileRegistry
from tea.store.repair import examine
from tea.store.sealed import sealed, unsealed_numbered

DOCUMENT = {"source": "async def f(): ...\n", "files": {"a.py": "é = 'ü'"}, "n": [1, 2.5, None, True]}


@pytest.fixture
def registry(tmp_path: Path) -> FileRegistry:
    return FileRegistry(tmp_path / "registry")


def test_a_version_is_read_back_and_listed(registry: FileRegistry) -> None:
    registry.create("tool", "word_count", "1.0.0", DOCUMENT)
    assert registry.read("tool", "word_count", "1.0.0") == DOCUMENT
    assert registry.names("tool") == ["word_count"]
    assert registry.names("agent") == []


def test_versions_are_in_semantic_order(registry: FileRegistry) -> None:
    for version in ("1.10.0", "1.9.0", "1.0.0", "10.0.0", "2.0.0"):
        registry.create("tool", "a", version, {})
    assert registry.versions("tool", "a") == ["1.0.0", "1.9.0", "1.10.0", "2.0.0", "10.0.0"]


def test_the_folder_of_a_kind_has_the_name_of_its_plural(registry: FileRegistry, tmp_path: Path) -> None:
    for kind in KINDS:
        registry.create(kind, "a", "1.0.0", {})
    found = {path.name for path in (tmp_path / "registry").iterdir() if path.name[0] != "."}
    assert found == {"tools", "environments", "agents", "prompts", "memories", "models", "solutions"}


def test_a_version_never_changes(registry: FileRegistry) -> None:
    registry.create("tool", "a", "1.0.0", {"text": "first"})
    registry.create("tool", "a", "1.0.1", {"text": "next"})
    for version in ("1.0.0", "1.0.1"):
        with pytest.raises(AlreadyRegistered, match=f"tool:a@{version} exists"):
            registry.create("tool", "a", version, {"text": "second"})
    assert registry.read("tool", "a", "1.0.0") == {"text": "first"}


def test_heads_are_numbered_and_the_highest_counts(registry: FileRegistry, tmp_path: Path) -> None:
    registry.create("agent", "planner", "1.0.0", {})
    assert registry.head("agent", "planner") == (0, {})
    assert registry.advance("agent", "planner", {"current": "1.0.0"}, 0) == 1
    assert registry.advance("agent", "planner", {"current": "1.0.1"}, 1) == 2
    assert registry.head("agent", "planner") == (2, {"current": "1.0.1"})
    heads = tmp_path / "registry" / "agents" / "planner" / "heads"
    assert sorted(path.name for path in heads.iterdir()) == ["000001.json", "000002.json"]


@pytest.mark.parametrize("expected", [-1, 0, 2, 3])
def test_a_head_follows_only_the_newest(registry: FileRegistry, expected: int) -> None:
    registry.create("tool", "a", "1.0.0", {})
    registry.advance("tool", "a", {"current": "1.0.0"}, 0)
    with pytest.raises(Conflict):
        registry.advance("tool", "a", {"current": "2.0.0"}, expected)
    assert registry.head("tool", "a") == (1, {"current": "1.0.0"})


def test_a_missing_head_below_the_newest_does_not_take_a_change_in(registry: FileRegistry, tmp_path: Path) -> None:
    registry.create("tool", "a", "1.0.0", {})
    for number in range(3):
        registry.advance("tool", "a", {"n": number}, number)
    (tmp_path / "registry/tools/a/heads/000002.json").unlink()
    with pytest.raises(Conflict):
        registry.advance("tool", "a", {"n": "lost"}, 1)
    assert registry.advance("tool", "a", {"n": 3}, 3) == 4


def test_a_change_that_nobody_would_find_again_is_not_written(registry: FileRegistry, tmp_path: Path) -> None:
    registry.create("tool", "a", "1.0.0", {})
    registry.advance("tool", "a", {"n": 1}, 0)
    heads, last = tmp_path / "registry/tools/a/heads", 10**18 - 1
    (heads / f"{last}.json").write_bytes(sealed({"n": 2}, last))
    with pytest.raises(Damaged, match="no change can follow its number"):
        registry.advance("tool", "a", {"n": 3}, registry.head("tool", "a")[0])
    assert len(list(heads.iterdir())) == 2


def test_what_is_not_there_is_named_with_what_is(registry: FileRegistry) -> None:
    registry.create("tool", "a", "1.0.0", {})
    with pytest.raises(UnknownComponent, match=r"no version 2\.0\.0.*use one of 1\.0\.0"):
        registry.read("tool", "a", "2.0.0")
    with pytest.raises(UnknownComponent, match="There is no tool 'b'"):
        registry.read("tool", "b", "1.0.0")
    with pytest.raises(UnknownComponent, match="There is no tool 'b'"):
        registry.advance("tool", "b", {}, 0)


READS: list[Callable[[FileRegistry], object]] = [
    lambda registry: registry.names("tool"),
    lambda registry: registry.versions("tool", "a"),
    lambda registry: registry.head("tool", "a"),
    lambda registry: registry.read("tool", "a", "1.0.0"),
    lambda registry: registry.advance("tool", "a", {}, 0),
]


def test_reading_creates_nothing(registry: FileRegistry, tmp_path: Path) -> None:
    for read in READS:
        try:
            read(registry)
        except UnknownComponent:
            continue
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "A", "../a", "a/b", "a.b", "a\0", "a" * 65, "a\n", "ä", ".tmp"])
def test_a_name_outside_the_grammar_touches_no_file(registry: FileRegistry, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadRef):
        registry.create("tool", name, "1.0.0", {})
    with pytest.raises(BadRef):
        registry.head("tool", name)
    assert list(tmp_path.iterdir()) == []


def test_kinds_and_versions_outside_the_grammar_touch_no_file(registry: FileRegistry, tmp_path: Path) -> None:
    for kind, version in (
        ("../x", "1.0.0"),
        ("tools", "1.0.0"),
        ("tool", "1.0"),
        ("tool", "../1.0.0"),
        ("tool", "01.0.0"),
    ):
        with pytest.raises(BadRef):
            registry.create(kind, "a", version, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "document",
    [{"a": float("nan")}, {"a": "\ud800"}, {"a": {1, 2}}, {1: "a", "1": "b"}, {"a": 10**5000}, {"a": "x" * 2**24}],
    ids=["nan", "surrogate", "set", "one key twice", "digits", "size"],
)
def test_a_document_that_could_not_be_read_back_is_not_written(
    registry: FileRegistry, tmp_path: Path, document: dict[Any, Any]
) -> None:
    with pytest.raises(BadInput):
        registry.create("tool", "a", "1.0.0", document)
    assert list(tmp_path.iterdir()) == []


def test_a_document_as_deep_as_can_be_written_can_be_read(registry: FileRegistry) -> None:
    deep: Any = []
    written = 0
    for depth in range(1, 260):
        deep = [deep]
        try:
            registry.create("tool", "a", f"1.0.{depth}", {"deep": deep})
            written += 1
        except BadInput:
            break
    assert written > 150
    assert registry.read("tool", "a", f"1.0.{written}")["deep"]


def test_foreign_files_are_not_versions_heads_or_names(registry: FileRegistry, tmp_path: Path) -> None:
    registry.create("tool", "a", "1.0.0", {})
    registry.advance("tool", "a", {"n": 1}, 0)
    folder = tmp_path / "registry" / "tools"
    (folder / "README").write_text("notes")
    (folder / "note").write_text("a file, not a component")
    for foreign in ("versions/1.0.0.json~", "versions/01.0.0.json", "heads/9.json", "heads/0000009.json", "heads/x"):
        (folder / "a" / foreign).write_text("{}")
    assert registry.names("tool") == ["a"]
    assert registry.versions("tool", "a") == ["1.0.0"]
    assert registry.head("tool", "a") == (1, {"n": 1})


def test_a_checkout_that_dropped_empty_folders_still_works(registry: FileRegistry, tmp_path: Path) -> None:
    registry.create("tool", "a", "1.0.0", {})
    (tmp_path / "registry/tools/a/heads").rmdir()
    assert registry.head("tool", "a") == (0, {})
    assert registry.advance("tool", "a", {"n": 1}, 0) == 1


def test_damage_to_one_file_loses_only_that_one_and_names_it(registry: FileRegistry, tmp_path: Path) -> None:
    for name in ("a", "b"):
        registry.create("tool", name, "1.0.0", {"name": name})
        registry.create("tool", name, "1.0.1", {"name": name})
        registry.advance("tool", name, {"n": 1}, 0)
    folder = tmp_path / "registry" / "tools" / "a"
    for part in ("versions/1.0.0.json", "heads/000001.json"):
        (folder / part).write_bytes((folder / part).read_bytes()[:-20])
    with pytest.raises(Damaged, match=r"versions/1\.0\.0\.json"):
        registry.read("tool", "a", "1.0.0")
    with pytest.raises(Damaged, match=r"heads/000001\.json"):
        registry.head("tool", "a")
    assert registry.read("tool", "a", "1.0.1") == {"name": "a"}
    assert registry.head("tool", "b") == (1, {"n": 1})
    assert registry.names("tool") == ["a", "b"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_flipped_bit_or_a_cut_is_found(registry: FileRegistry, tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "registry/tools/a/versions/1.0.0.json"
    if not path.exists():
        registry.create("tool", "a", "1.0.0", DOCUMENT)
        (tmp_path / "good").write_bytes(path.read_bytes())
    good = (tmp_path / "good").read_bytes()
    position = data.draw(st.integers(0, len(good) - 1))
    if data.draw(st.booleans()):
        bad = bytearray(good)
        bad[position] ^= 1 << data.draw(st.integers(0, 7))
    else:
        bad = bytearray(good[:position])
    path.write_bytes(bad)
    problem = ""
    try:
        assert registry.read("tool", "a", "1.0.0") == DOCUMENT
    except Damaged as error:
        problem = str(error)
    assert not problem or ("1.0.0.json" in problem and "\n" not in problem)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary())
def test_any_bytes_in_a_registry_file_are_named_damage(registry: FileRegistry, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "registry/tools/a/versions/1.0.0.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    with pytest.raises(Damaged, match=r"1\.0\.0\.json"):
        registry.read("tool", "a", "1.0.0")


def test_a_link_or_pipe_in_the_place_of_a_version_is_damage(registry: FileRegistry, tmp_path: Path) -> None:
    registry.create("tool", "a", "1.0.0", DOCUMENT)
    versions = tmp_path / "registry/tools/a/versions"
    os.mkfifo(versions / "1.0.1.json")
    os.symlink("1.0.0.json", versions / "1.0.2.json")
    for version in ("1.0.1", "1.0.2"):
        with pytest.raises(Damaged, match="not a regular file"):
            registry.read("tool", "a", version)


def test_a_file_where_a_folder_belongs_is_one_clear_line(registry: FileRegistry, tmp_path: Path) -> None:
    (tmp_path / "registry").write_text("not a folder")
    for use in (*READS, lambda registry: registry.create("tool", "a", "1.0.0", {})):
        with pytest.raises(TeaError) as caught:
            use(registry)
        assert "\n" not in str(caught.value)


def test_changing_the_working_folder_does_not_move_a_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    registry = FileRegistry(Path("registry"))
    registry.create("tool", "a", "1.0.0", {})
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert registry.names("tool") == ["a"]


def heads_of(registry: FileRegistry, folder: Path, count: int) -> Path:
    """Make so many heads of one name, and return their paths."""
    for number in range(count):
        registry.create("tool", "a", f"1.0.{number}", {})
        registry.advance("tool", "a", {"current": f"1.0.{number}"}, number)
    return folder / "registry" / "tools" / "a" / "heads"


def test_a_copy_of_an_older_head_in_the_place_of_the_newest_is_damage_and_no_rollback(tmp_path: Path) -> None:
    registry = FileRegistry(tmp_path / "registry")
    heads = heads_of(registry, tmp_path, 3)
    (heads / "000003.json").write_bytes((heads / "000001.json").read_bytes())
    with pytest.raises(Damaged, match="a copy of number 1, and stands in the place of number 3"):
        registry.head("tool", "a")
    (heads / "000004.json").write_bytes((heads / "000002.json").read_bytes())
    with pytest.raises(Damaged, match="copy of number 2"):
        registry.head("tool", "a")
    assert len([one for one in examine(tmp_path, mend=True) if "copy of number" in one.problem]) == 2


def without_number(path: Path) -> bytes:
    """A head as it was written before heads held their numbers."""
    return sealed(unsealed_numbered(path, int(path.stem))[0])


def test_heads_of_before_they_held_their_numbers_are_read_and_followed_by_ones_that_do(tmp_path: Path) -> None:
    registry = FileRegistry(tmp_path / "registry")
    heads = heads_of(registry, tmp_path, 2)
    for path in heads.iterdir():
        path.write_bytes(without_number(path))
    assert registry.head("tool", "a") == (2, {"current": "1.0.1"})
    registry.advance("tool", "a", {"current": "1.0.0"}, 2)
    assert registry.head("tool", "a") == (3, {"current": "1.0.0"})
    assert examine(tmp_path, mend=False) == []
    registry.advance("tool", "a", {"current": "1.0.1"}, 3)
    (heads / "000004.json").write_bytes((heads / "000001.json").read_bytes())
    with pytest.raises(Damaged, match="holds no number, and the one before it does"):
        registry.head("tool", "a")


def test_the_number_of_a_head_is_part_of_what_is_checked(tmp_path: Path) -> None:
    registry = FileRegistry(tmp_path / "registry")
    heads = heads_of(registry, tmp_path, 2)
    (heads / "000002.json").write_bytes((heads / "000001.json").read_bytes().replace(b'"number": 1', b'"number": 2'))
    with pytest.raises(Damaged, match="does not match its check"):
        registry.head("tool", "a")
