"""Pictures: the views of an environment as PNG files, with numbered elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import BytesIO

from tea.errors import ToolError

Box = tuple[float, float, float, float]
COLOURS = ("#c2185b", "#1565c0", "#2e7d32", "#e65100", "#6a1b9a", "#00695c")
LETTERS = 11  # height of a number, in pixels
LEAST = 2  # pixels of an element that is drawn


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
        raise ToolError("The picture does not have the size of its screen.", fix="call again.")
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


def _within(edges: Iterable[int], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return edges cut at those of a picture."""
    left, top, right, bottom = edges
    return max(left, 0), max(top, 0), min(right, size[0]), min(bottom, size[1])
