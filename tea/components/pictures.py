"""Pictures: the views of an environment, as files of a workspace."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from tea.components.context import Context
from tea.errors import ToolError

if TYPE_CHECKING:
    from PIL import Image as Images

Box = tuple[float, float, float, float]
COLOURS = ("#c2185b", "#1565c0", "#2e7d32", "#e65100", "#6a1b9a", "#00695c")
LETTERS = 11  # height of a number, in pixels
LEAST = 2  # pixels of an element that is drawn
MOST_PICTURES = 100
WIDTH = 960  # pixels


def keep_picture(ctx: Context, folder: str, picture: bytes) -> str:
    """Store a picture in the workspace under a name made of its bytes, and return the name.

    Args:
        ctx: What the environment was given.
        folder: Name of a folder of the workspace.
        picture: The bytes of a PNG file.
    """
    name = f"{folder}/{hashlib.sha256(picture).hexdigest()[:16]}.png"
    path = ctx.path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(picture)
    return name


def png_of(colours: bytes, width: int, height: int) -> bytes:
    """Return the bytes of a PNG file with a picture.

    Args:
        colours: Red, green and blue of each pixel, row by row.
        width: Pixels.
        height: Pixels.

    Raises:
        ToolError: There are more or fewer bytes than pixels need.
    """
    from PIL import Image

    if len(colours) != width * height * 3:
        raise ToolError("The picture has not the size of its screen.", fix="call again.")
    made = BytesIO()
    Image.frombytes("RGB", (width, height), colours).save(made, "PNG")
    return made.getvalue()


def number_elements(picture: bytes, boxes: Mapping[int, Box]) -> bytes:
    """Return the bytes of a picture with a frame around each element, and its number at its right.

    Args:
        picture: The bytes of a PNG file.
        boxes: The edges of elements by number, left, top, right and bottom, in its pixels.
    """
    from PIL import Image, ImageDraw, ImageFont

    with Image.open(BytesIO(picture)) as found:
        shown = found.convert("RGB")
    draw, font = ImageDraw.Draw(shown), ImageFont.load_default(LETTERS)
    for number, edges in boxes.items():
        left, top, right, bottom = _within(map(round, edges), shown.size)
        if right - left < LEAST or bottom - top < LEAST:
            continue
        colour = COLOURS[number % len(COLOURS)]
        draw.rectangle((left, top, right - 1, bottom - 1), outline=colour, width=2)
        _, _, wide, high = map(round, draw.textbbox((0, 0), str(number), font))
        beside = right + wide + 4 <= shown.width  # so that neither its words nor the line above are covered
        x = right if beside else max(left, shown.width - wide - 4)
        draw.rectangle((x, top, x + wide + 3, top + high + 1), fill=colour)
        draw.text((x + 2, top), str(number), fill="white", font=font)
    made = BytesIO()
    shown.save(made, "PNG")
    return made.getvalue()


def make_film(pictures: list[Path], name: Path, milliseconds: int) -> None:
    """Write a GIF with pictures one after the other.

    Args:
        pictures: Their files, all shown as large as the first.
        name: Where to write it.
        milliseconds: How long each is shown.

    Raises:
        ToolError: A file is not a picture, or there is none.
    """
    from PIL import Image

    if not pictures or name.suffix != ".gif":
        raise ToolError("A film needs pictures and a name that ends with .gif.", fix="give both.")
    frames: list[Images.Image] = []
    for path in pictures[:MOST_PICTURES]:
        try:
            with Image.open(path) as found:
                size = frames[0].size if frames else (WIDTH, max(1, found.height * WIDTH // found.width))
                frames.append(found.convert("RGB").resize(size).quantize(64))
        except Exception as error:  # foreign code: a file of any bytes
            raise ToolError(f"{path.name!r} is not a picture.", fix="name pictures that `state` gave.") from error
    name.parent.mkdir(parents=True, exist_ok=True)
    frames[0].save(name, save_all=True, append_images=frames[1:], duration=milliseconds, loop=0)


def _within(edges: Iterable[int], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return edges cut at those of a picture."""
    left, top, right, bottom = edges
    return max(left, 0), max(top, 0), min(right, size[0]), min(bottom, size[1])
