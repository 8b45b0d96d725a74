"""Test the catalogue: it shows the same as reading everything, after any change behind its back."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from surveyor import NAMES, catalogue, reader

from tea.store.catalogue import Catalogue, Described, settled
from tea.store.registry import FileRegistry
from tea.store.scratch import Scratch

Shown = dict[str, Any]
COLUMNS = b'{"form":1,"names":["tool_1"],"columns":[[1],[1]]}'
DAMAGED: tuple[dict[str, str], ...] = ({}, {"damaged": "Damaged"})


class House:
    """A registry with some components, and the cost of a look at it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.registry = FileRegistry(root)
        self.reads: list[str] = []
        self.probe = root / ".probe"
        for name in NAMES:
            self.registry.create("tool", name, "1.0.0", {"name": name})
            self.registry.advance("tool", name, {"current": "1.0.0", "said": "first"}, 0)
        self.probe.touch()

    def read(self, name: str) -> Described:
        """Read and remember one component."""
        self.reads.append(name)
        return reader(self.registry)(name)

    def plain(self) -> Shown:
        """Read the present components anew."""
        return {name: reader(self.registry)(name).facts for name in self.registry.names("tool")}

    def look(self, kept: Catalogue | None = None, form: int = 1, *, pointers: bool = False) -> Shown:
        """The catalogue's view, by default a new process's; `reads` tells its reads.

        The clock of the file system ticks before, so that a change after the look bears another time.
        """
        self.reads.clear()
        until_changed(self.probe, lambda: self.probe.write_text("now"))
        names = self.registry.names("tool")
        return cast(Shown, (kept or catalogue(self.root)).survey("tool", names, form, self.read, pointers=pointers))

    def path(self, name: str, part: str) -> Path:
        """A file of a component."""
        return self.root / "tools" / name / part

    @property
    def file(self) -> Path:
        """The catalogue on disk."""
        return self.root / ".catalogue" / "tools.json"


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "registry")


def until_changed(path: Path, change: Callable[[], object]) -> None:
    """Change a file in place until the clock of its file system has ticked."""
    before = path.stat().st_ctime_ns
    change()
    while path.stat().st_ctime_ns == before:
        change()


def test_the_next_process_reads_no_component_again(house: House) -> None:
    first = house.look()
    assert house.reads == NAMES
    assert house.look() == first == house.plain()
    assert house.reads == []


def test_only_what_changed_is_read_again(house: House) -> None:
    house.look()
    house.registry.create("tool", "tool_2", "1.0.1", {"name": "next"})
    house.registry.advance("tool", "tool_2", {"current": "1.0.1"}, 1)
    assert house.look()["tool_2"][1] == {"name": "next"}
    assert house.reads == ["tool_2"]


def test_a_component_out_of_sight_is_remembered_too(house: House) -> None:
    house.registry.advance("tool", "tool_2", {"current": None}, 1)
    house.look()
    assert house.look()["tool_2"] is None
    assert house.reads == []


def test_what_changed_a_moment_ago_is_read_again_as_its_next_change_may_bear_the_same_time(house: House) -> None:
    kept = catalogue(house.root, ahead=-(10**10))
    house.look(kept)
    house.look(kept)
    assert house.reads == NAMES


@pytest.mark.parametrize("part", ["heads/000001.json", "versions/1.0.0.json"])
@pytest.mark.parametrize("back", [False, True])
def test_a_file_rewritten_in_place_with_the_same_size_is_seen(house: House, part: str, back: bool) -> None:
    house.look()
    path = house.path("tool_2", part)
    facts, data = path.stat(), path.read_bytes()
    spoiled = data.replace(b"first", b"fIrst").replace(b"tool_2", b"tool_x")

    def rewrite() -> None:
        path.write_bytes(spoiled)
        if back:
            os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))

    until_changed(path, rewrite)
    assert path.stat().st_size == facts.st_size
    assert house.look()["tool_2"] == DAMAGED


@pytest.mark.parametrize("part", ["heads/000001.json", "versions/1.0.0.json"])
def test_a_file_that_was_replaced_as_git_does_is_seen(house: House, part: str, tmp_path: Path) -> None:
    house.look()
    path = house.path("tool_2", part)
    other = tmp_path / "other"
    other.write_bytes(path.read_bytes().replace(b"first", b"fIrst").replace(b"tool_2", b"tool_x"))
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    os.replace(other, path)
    assert house.look()["tool_2"] == DAMAGED


def test_a_missing_version_a_moved_folder_and_a_new_name_are_seen(house: House) -> None:
    house.look()
    house.path("tool_1", "versions/1.0.0.json").unlink()
    shutil.rmtree(house.root / "tools" / "tool_2")
    os.rename(house.root / "tools" / "tool_4", house.root / "tools" / "tool_2")
    shutil.copytree(house.root / "tools" / "tool_5", house.root / "tools" / "tool_9")
    assert house.look() == house.plain()
    assert sorted(house.reads) == ["tool_1", "tool_2", "tool_9"]


def test_facts_of_another_form_are_read_again(house: House) -> None:
    house.look()
    house.look(form=2)
    assert house.reads == NAMES


def test_a_lost_catalogue_is_made_again(house: House) -> None:
    house.look()
    shutil.rmtree(house.file.parent)
    assert house.look() == house.plain()
    assert house.file.exists()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_spoiled_catalogue_is_not_believed(house: House, data: st.DataObject) -> None:
    shutil.rmtree(house.file.parent, ignore_errors=True)
    house.look()
    good = house.file.read_bytes()
    at = data.draw(st.integers(0, len(good) - 1))
    spoiled = data.draw(
        st.sampled_from([good[:at], good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :], good + b" ", good[:32]])
        | st.binary(max_size=200)
    )
    house.file.write_bytes(spoiled)
    assert house.look() == house.plain()


@pytest.mark.parametrize("content", [b"[]", b"null", b'{"form":1}', b'{"form":1,"rows":{"tool_1":[1]}}', b"{", COLUMNS])
def test_a_catalogue_of_another_shape_is_not_believed(house: House, content: bytes) -> None:
    from hashlib import blake2b

    def check(data: bytes) -> str:
        return blake2b(data, digest_size=16).hexdigest()

    house.look()
    marked = str({"catalogue": check(content)}).encode() + b"\n" + content
    house.file.write_bytes(check(marked).encode() + b"\n" + marked)
    assert house.look() == house.plain()


@pytest.mark.parametrize("blocked", [".catalogue", ".tmp", ".catalogue/tools.json"])
def test_where_it_cannot_be_written_everything_is_read(house: House, blocked: str) -> None:
    path = house.root / blocked
    shutil.rmtree(path, ignore_errors=True)
    path.parent.mkdir(exist_ok=True)
    path.mkdir() if path.suffix else path.write_text("in the way")
    assert house.look() == house.look() == house.plain()
    assert house.reads == NAMES


def test_a_small_registry_has_none_and_a_missing_one_stays_missing(house: House, tmp_path: Path) -> None:
    small = Catalogue(house.root, Scratch(house.root), str, clock=lambda: time.time_ns() + 10**10)
    assert house.look(small) == house.plain()
    nowhere = tmp_path / "nowhere"
    assert FileRegistry(nowhere).survey("tool", 1, house.read) == {}
    assert not house.file.parent.exists()
    assert not nowhere.exists()


def test_git_leaves_it_alone(house: House) -> None:
    house.look()
    subprocess.run(["git", "init", "-q", str(house.root)], check=True)
    found = subprocess.run(
        ["git", "-C", str(house.root), "status", "--porcelain"], check=True, capture_output=True, text=True
    )
    assert found.stdout.split() == ["??", ".probe", "??", "tools/"]


def test_several_processes_share_it(house: House) -> None:
    house.look()
    script, turns = Path(__file__).parent / "surveyor.py", 40
    command = [sys.executable, str(script), str(house.root)]
    others = [
        subprocess.Popen([*command, str(number), str(turns)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(3)
    ]
    for other in others:
        cast(IO[str], other.stdout).readline()
    kept = catalogue(house.root, ahead=0)
    for other in others:
        cast(IO[str], other.stdin).write("go\n")
        cast(IO[str], other.stdin).flush()
    while any(other.poll() is None for other in others):
        shown = house.look(kept)
        assert set(shown) == set(NAMES)
    assert [other.communicate()[0] for other in others] == ["", "", ""]
    assert house.look(kept) == house.look() == house.plain()


MOVES = st.sampled_from(["advance", "hide", "add", "drop", "lose", "copy"])
CHANGES = st.sampled_from(["advance", "hide", "add", "spoil head", "spoil version", "mend", "drop", "lose", "copy"])


def after_any(changes: st.SearchStrategy[str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Hold invariants after a dozen of these changes, with a right clock and with one ahead."""
    several = st.lists(st.tuples(changes, st.sampled_from(NAMES)), min_size=1, max_size=12)
    some = settings(max_examples=25, deadline=None)
    return lambda test: some(given(changes=several, ahead=st.sampled_from([0, 10**10]))(test))


@after_any(CHANGES)
def test_it_shows_what_reading_everything_shows(
    changes: list[tuple[str, str]], ahead: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    house = House(tmp_path_factory.mktemp("home") / "registry")
    mine, good = catalogue(house.root, ahead=ahead), dict[Path, bytes]()
    house.look(mine)
    for change, name in changes:
        apply(house, change, name, good)
        expected = house.plain()
        assert house.look(mine) == expected, "the process that looked before"
        assert house.look(catalogue(house.root, ahead=ahead)) == expected, "a new process"
    assert json.loads(json.dumps(house.look(mine))) == json.loads(json.dumps(house.plain()))


@after_any(MOVES)
def test_a_look_at_pointers_shows_every_move(
    changes: list[tuple[str, str]], ahead: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    house = House(tmp_path_factory.mktemp("home") / "registry")
    mine = catalogue(house.root, ahead=ahead)
    house.look(mine)
    for change, name in changes:
        apply(house, change, name, {})
        assert house.look(mine, pointers=True) == house.plain()


def test_the_same_object_tells_that_nothing_has_changed(house: House) -> None:
    kept = catalogue(house.root)
    for pointers in (True, False):
        first = house.look(kept, pointers=pointers)
        assert house.look(kept, pointers=pointers) is first
        house.registry.advance("tool", "tool_2", {"current": None}, 2 - pointers)
        assert house.look(kept, pointers=pointers) is not first


def test_a_new_process_looks_at_every_file_whatever_it_is_asked(house: House) -> None:
    house.look()
    path = house.path("tool_2", "versions/1.0.0.json")
    spoiled = path.read_bytes().replace(b"tool_2", b"tool_x")
    until_changed(path, lambda: path.write_bytes(spoiled))
    assert house.look(pointers=True)["tool_2"] == DAMAGED


@pytest.mark.parametrize(
    ("changed", "ago", "expected"),
    [
        (1_700_000_000_123_456_789, 50_000_000, False),
        (1_700_000_000_123_456_789, 150_000_000, True),
        (1_700_000_000_000_000_000, 1_900_000_000, False),
        (1_700_000_000_120_000_000, 1_900_000_000, False),
        (1_700_000_000_120_000_000, 2_100_000_000, True),
    ],
)
def test_a_time_in_whole_milliseconds_may_come_from_a_coarse_clock(changed: int, ago: int, expected: bool) -> None:
    assert settled(changed, changed + ago) is expected


def apply(house: House, change: str, name: str, good: dict[Path, bytes]) -> None:
    """Change one component, through the registry or by hand; an absent one stays as it is."""
    registry, folder = house.registry, house.root / "tools" / name
    versions = sorted(folder.glob("versions/*"))
    heads = sorted(folder.glob("heads/*"))
    match change:
        case "advance" | "hide" if heads:
            current = versions[-1].stem if change == "advance" and versions else None
            registry.advance("tool", name, {"current": current}, int(heads[-1].stem))
        case "add":
            registry.create("tool", name, f"1.0.{len(versions) + 1}", {"name": "more"}) if versions else None
        case "spoil head" | "spoil version" if heads and versions:
            path = (heads if change == "spoil head" else versions)[-1]
            data = good.setdefault(path, path.read_bytes())
            until_changed(path, lambda: path.write_bytes(data.replace(b"sha256:", b"sha25x:")))
        case "mend":
            for path, data in good.items():
                if path.exists():
                    until_changed(path, lambda path=path, data=data: path.write_bytes(data))
        case "drop" if heads:
            heads[-1].unlink()
        case "lose":
            shutil.rmtree(folder, ignore_errors=True)
        case "copy":
            shutil.copytree(folder, folder.with_name("copied"), dirs_exist_ok=True) if folder.exists() else None
        case _:
            pass
