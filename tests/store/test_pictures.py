"""Pictures kept in a workspace: nothing is written or read through a folder that becomes a link meanwhile."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from swapping import swapping

from tea import Context
from tea.components.pictures import png_of
from tea.errors import ToolError
from tea.store.pictures import keep_picture, make_film

# A drawing that a program outside of Python would be started for.
POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    """The context of an environment; below the workspace is a folder with a picture."""
    (tmp_path / "work" / "d").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    return context(tmp_path / "work")


def context(workspace: Path) -> Any:
    class Given:
        def __init__(self) -> None:
            self.workspace = str(workspace)

    return Given()


def colour(red: int) -> bytes:
    return png_of(bytes([red, 0, 0]) * 960, 960, 1)


def test_pictures_are_kept_by_content_and_shown_in_a_film(ctx: Context) -> None:
    work = Path(ctx.workspace)
    names = [keep_picture(ctx, "views", colour(red)) for red in (10, 200, 10)]
    assert names[0] == names[2] != names[1]
    make_film(ctx, [work / name for name in names], "films/a.gif", 100)
    with Image.open(work / "films" / "a.gif") as film:
        assert film.n_frames == 3  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(ToolError, match="outside of the workspace"):
        make_film(ctx, [work / names[0]], "../a.gif", 100)
    with pytest.raises(ToolError, match="outside of the workspace"):
        keep_picture(ctx, "..", colour(1))


def test_a_film_is_made_of_small_pictures_of_one_form(ctx: Context) -> None:
    work = Path(ctx.workspace)
    Image.new("1", (9_000, 9_000)).save(work / "large.png")
    Image.new("1", (1, 60_000)).save(work / "long.png")
    (work / "drawn.png").write_bytes(POSTSCRIPT)
    for name, problem in (("large.png", "has too many pixels"), ("drawn.png", "is not a picture")):
        with pytest.raises(ToolError, match=problem):
            make_film(ctx, [work / name], "a.gif", 100)
    make_film(ctx, [work / "long.png"], "a.gif", 100)
    with Image.open(work / "a.gif") as film:
        assert film.size == (960, 1_920)


def test_a_folder_that_becomes_a_link_meanwhile_takes_no_picture_in_or_out(ctx: Context, tmp_path: Path) -> None:
    outside, own = tmp_path / "outside", Path(ctx.workspace) / "d"
    (outside / "a.png").write_bytes(colour(250))
    for folder in (own, own.parent):
        (folder / "a.png").write_bytes(colour(5))
    seen = set[int]()
    with swapping(own, outside):
        for number in range(200):
            with suppress(ToolError):
                keep_picture(ctx, "d", colour(number % 256))
            with suppress(ToolError):
                make_film(ctx, [own.parent / "a.png"], f"d/{number}.gif", 100)
            with suppress(ToolError):
                make_film(ctx, [own / "a.png"], "a.gif", 100)
                with Image.open(own.parent / "a.gif") as film:
                    seen.add(film.convert("RGB").getpixel((0, 0))[0])
    assert [one.name for one in outside.iterdir()] == ["a.png"]
    assert seen <= set(range(100))
