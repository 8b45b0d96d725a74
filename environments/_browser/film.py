"""Film: the pictures of steps as one GIF."""

from pathlib import Path
from typing import Any

from tea import ToolError, require_extra

MOST_PICTURES = 100
WIDTH = 960  # pixels


def film(pictures: list[Path], name: Path, milliseconds: int) -> None:
    """Write a GIF with pictures one after the other.

    Args:
        pictures: Their files, all shown as large as the first.
        name: Where to write it.
        milliseconds: How long each is shown.

    Raises:
        ToolError: A file is not a picture.
    """
    image: Any = require_extra("PIL.Image", "browser")
    frames: list[Any] = []
    for path in pictures[:MOST_PICTURES]:
        try:
            with image.open(path) as found:
                size = frames[0].size if frames else (WIDTH, max(1, found.height * WIDTH // found.width))
                frames.append(found.convert("RGB").resize(size).quantize(64))
        except Exception as error:  # foreign code: a file of any bytes
            raise ToolError(f"{path.name!r} is not a picture.", fix="name pictures that `state` gave.") from error
    name.parent.mkdir(parents=True, exist_ok=True)
    frames[0].save(name, save_all=True, append_images=frames[1:], duration=milliseconds, loop=0)
