"""Parts of a file written as files of their own: names inside their folder only, within limits."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from tea.reading.inside.document import Order, Unreadable

_WRONG = re.compile(r"[\x00-\x1f\x7f<>:\"\\|?*\ud800-\udfff]")
_MOST_PART, _MOST_DEPTH = 120, 20


def part_name(name: str) -> str:
    """Return a part's name as a path inside a folder, empty for one leading out of it or for none.

    Args:
        name: As an archive or a mail has it, with slashes of either kind between folders.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", name) or len(path.parts) > _MOST_DEPTH:
        return ""
    parts = [_WRONG.sub("_", part).strip(". ")[:_MOST_PART] or "_" for part in path.parts]
    return "/".join(parts)


def kept_part(order: Order, name: str, data: bytes) -> dict[str, Any]:
    """Write a part into the folder of parts, and return its name and size.

    Raises:
        Unreadable: There is no room for it.
    """
    wanted = part_name(name) or "part"
    target = order.out / wanted
    number = 2
    while target.exists():
        stem = PurePosixPath(wanted)
        target = order.out / stem.with_name(f"{stem.stem}-{number}{stem.suffix}")
        number += 1
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    except OSError as error:
        raise Unreadable(f"cannot be unpacked: {error.strerror}", "unpack the needed part by hand.") from error
    return {"name": target.relative_to(order.out).as_posix(), "bytes": len(data)}
