"""Pictures: the views of an environment kept in a workspace, one by one and as a film."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from tea.components.context import Context
from tea.errors import ToolError
from tea.store.rooted import RootedFolder, open_resolved

if TYPE_CHECKING:
    from PIL import Image as Images

MOST_PICTURES = 100
WIDTH = 960  # pixels
_MOST_PIXELS = 40_000_000
_MOST_HEIGHT = 2 * WIDTH  # of a film, whatever form its pictures have


def keep_picture(ctx: Context, folder: str, picture: bytes) -> str:
    """Store a picture in the workspace under a name made of its bytes, and return the name.

    Args:
        ctx: What the environment was given.
        folder: Name of a folder of the workspace.
        picture: The bytes of a PNG file.

    Raises:
        ToolError: The workspace refuses.
    """
    name = f"{folder}/{hashlib.sha256(picture).hexdigest()[:16]}.png"
    _write(ctx, name, picture)
    return name


def make_film(ctx: Context, pictures: Sequence[Path], name: str, milliseconds: int) -> None:
    """Write a GIF with pictures one after the other.

    Args:
        ctx: What the environment was given.
        pictures: Their PNG files, as `ctx.file` gives them, all shown as large as the first.
        name: A file of the workspace that ends with `.gif`.
        milliseconds: How long each is shown.

    Raises:
        ToolError: A file is not a picture, there is none, or the workspace refuses.
    """
    from PIL import Image

    if not pictures or PurePath(name).suffix != ".gif":
        raise ToolError("A film needs pictures and a name that ends with .gif.", fix="give both.")
    frames: list[Images.Image] = []
    for path in pictures[:MOST_PICTURES]:
        try:
            with open_resolved(path) as file, Image.open(file, formats=("PNG",)) as found:
                if found.width * found.height > _MOST_PIXELS:
                    raise ToolError(f"{path.name!r} has too many pixels.", fix="name smaller pictures.")
                height = min(_MOST_HEIGHT, max(1, found.height * WIDTH // found.width))
                size = frames[0].size if frames else (WIDTH, height)
                frames.append(found.convert("RGB").resize(size).quantize(64))
        except ToolError:
            raise
        except Exception as error:  # foreign code: a file of any bytes
            raise ToolError(f"{path.name!r} is not a picture.", fix="name pictures that `state` gave.") from error
    made = BytesIO()
    frames[0].save(made, "GIF", save_all=True, append_images=frames[1:], duration=milliseconds, loop=0)
    _write(ctx, name, made.getvalue())


def _write(ctx: Context, name: str, data: bytes) -> None:
    try:
        with RootedFolder(ctx.workspace) as files:
            files.write(name, data)
    except OSError as error:
        raise ToolError(f"{name[:100]!r} cannot be written: {error.strerror}.", fix="check the workspace.") from error
