"""Rooted folders: no spelling, link or race leads out, with the kernel's call and without it."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from swapping import swapping

from tea.errors import ToolError
from tea.store.rooted import RootedFolder


@pytest.fixture(params=[False, True], ids=["openat2", "walk"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RootedFolder]:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("secret")
    with RootedFolder(tmp_path / "inside", walk=request.param) as folder:
        yield folder


def text(folder: RootedFolder, name: str) -> str:
    with folder.reading(name) as file:
        return file.read().decode()


def test_what_is_written_is_read_listed_and_moved(folder: RootedFolder) -> None:
    folder.write("a/b/c.txt", b"one")
    folder.append("a/b/c.txt", b" two")
    folder.write(".hidden", iter([b"x", b"y"]))
    assert text(folder, "a/b/c.txt") == "one two"
    folder.move("a/b/c.txt", "d/e.txt")
    assert [name for name, _ in folder.files()] == ["d/e.txt"]
    assert [name for name, _ in folder.files(hidden=True)] == [".hidden", "d/e.txt"]
    with pytest.raises(FileExistsError):
        folder.write("d/e.txt", b"", replace=False)
    with pytest.raises(FileExistsError):
        folder.move(".hidden", "d/e.txt")
    folder.remove("d/e.txt")
    assert folder.status("d/e.txt") is None
    assert (folder.root / "a" / "b").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["../outside/a.txt", "x/../../outside/a.txt", "/etc/passwd", "out/a.txt", "out.txt"])
def test_no_name_or_link_leads_out(folder: RootedFolder, name: str) -> None:
    outside = folder.root.parent / "outside"
    (folder.root / "out").symlink_to(outside)
    (folder.root / "out.txt").symlink_to("../outside/a.txt")
    (folder.root / "x").mkdir()
    for act in (
        lambda: folder.status(name),
        lambda: folder.write(name, b"x"),
        lambda: folder.append(name, b"x"),
        lambda: folder.remove(name),
        lambda: folder.move(name, "y"),
        lambda: folder.move("x", name),
    ):
        with pytest.raises(ToolError, match="outside of the workspace"):
            act()
    assert (outside / "a.txt").read_text() == "secret"
    assert list(folder.files()) == []


def test_a_link_is_looked_at_made_and_removed_itself(folder: RootedFolder) -> None:
    outside = folder.root.parent / "outside"
    folder.make_link("near", "a.txt")
    assert folder.link_target("near") == "a.txt"
    for name in ("near", "out/new", "gone/new", "../outside/new", ".", "", "a\0b"):
        with pytest.raises(ToolError):
            folder.make_link(name, "a.txt")
    assert not (outside / "new").exists()
    assert folder.remove_link("near")
    assert not folder.remove_link("near")
    assert folder.link_target("gone/near") is None


def test_links_inside_are_followed(folder: RootedFolder) -> None:
    folder.write("d/a.txt", b"x")
    (folder.root / "near").symlink_to("d")
    (folder.root / "far").symlink_to(folder.root / "d" / "a.txt")
    folder.write("near/b.txt", b"y")
    assert [text(folder, name) for name in ("near/a.txt", "far", "d/b.txt")] == ["x", "x", "y"]


def test_what_is_no_regular_file_is_not_read(folder: RootedFolder) -> None:
    os.mkfifo(folder.root / "pipe")
    folder.write("d/a.txt", b"x")
    for name in ("pipe", "d"):
        with pytest.raises(ToolError, match="not an ordinary file"):
            text(folder, name)
    for name in ("", ".", "d/.."):
        with pytest.raises(ToolError, match="workspace itself"):
            folder.write(name, b"x")


def test_a_folder_swapped_for_a_link_again_and_again_never_leads_out(folder: RootedFolder) -> None:
    root, outside = folder.root, folder.root.parent / "outside"
    (root / "d").mkdir()
    (root / "d" / "a.txt").write_text("own")
    seen = set[str]()
    with swapping(root / "d", outside):
        for turns in range(300):
            name = f"d/{turns % 7}.txt"
            for act in (
                lambda: seen.add(text(folder, "d/a.txt")),
                partial(folder.write, name, b"own"),
                lambda: folder.append("d/more.txt", b"own"),
                lambda: seen.update(name for name, _ in folder.files()),
                partial(folder.remove, name),
                lambda: folder.move("d/more.txt", "d/moved.txt"),
                partial(folder.make_link, f"d/{turns % 7}.link", "a.txt"),
                partial(folder.remove_link, f"d/{turns % 7}.link"),
                partial(folder.remove_link, "d/a.txt"),
            ):
                try:
                    act()
                except (OSError, ToolError):  # the folder was a link, or gone
                    continue
    assert "secret" not in seen
    assert [path.name for path in outside.iterdir()] == ["a.txt"]
    assert (outside / "a.txt").read_text() == "secret"
