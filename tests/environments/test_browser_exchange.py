"""Files between a workspace and a browser: no folder that becomes a link meanwhile leads out, on either side."""

import runpy
from pathlib import Path
from typing import Any

import pytest
from swapping import swapping

from tea.errors import ToolError

EXCHANGE: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "environments" / "_browser" / "exchange.py"))


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, Path]:
    """The workspace with a folder, the browser's folder, and one outside of both."""
    for name in ("work/d", "browser", "outside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "work" / "d" / "a.txt").write_text("own")
    (tmp_path / "outside" / "a.txt").write_text("secret")
    return tmp_path / "work", tmp_path / "browser", tmp_path / "outside"


def test_downloads_of_one_name_are_all_kept(places: tuple[Path, Path, Path]) -> None:
    work, browser, _ = places
    for number, name in enumerate(("got/b.txt", "got/b-2.txt", "got/b-3.txt")):
        (browser / "guid").write_text(str(number))
        wished = f"got/{EXCHANGE['plain']('b.txt')}"
        assert EXCHANGE["received"](browser / "guid", str(work), wished, whole=True) == {"name": name, "size": 1}
        assert (work / name).read_text() == str(number)
    assert list(browser.iterdir()) == []
    assert "problem" in EXCHANGE["received"](browser / "guid", str(work), "got/b.txt", whole=True)


def test_a_folder_that_becomes_a_link_meanwhile_takes_no_download_out_of_the_workspace(
    places: tuple[Path, Path, Path],
) -> None:
    work, browser, outside = places
    with swapping(work / "d", outside):
        for number in range(100):
            (browser / "guid").write_text("x")
            try:
                EXCHANGE["received"](browser / "guid", str(work), f"d/{number}.txt", whole=True)
            except ToolError:
                continue
    assert [one.name for one in outside.iterdir()] == ["a.txt"]


def test_no_file_outside_is_lent_through_a_link_put_there_meanwhile(places: tuple[Path, Path, Path]) -> None:
    work, browser, outside = places
    seen = set[str]()
    with swapping(work / "d", outside):
        for _ in range(300):
            try:
                seen.add(EXCHANGE["lent"](work / "d" / "a.txt", browser).read_text())
            except ToolError:
                continue
    assert "secret" not in seen
    assert EXCHANGE["lent"](work / "d" / "a.txt", browser).read_text() == "own"


def test_a_download_that_is_a_link_is_none(places: tuple[Path, Path, Path]) -> None:
    work, browser, outside = places
    (browser / "guid").symlink_to(outside / "a.txt")
    assert "problem" in EXCHANGE["received"](browser / "guid", str(work), "got/a.txt", whole=True)
