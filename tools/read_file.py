"""Text of a file: lines by number, or the passages that fit some words."""

import asyncio
from pathlib import Path
from typing import NotRequired, TypedDict

from tea import Context, ToolError, tool

from ._read_file.decoding import Text, file_bytes, text_of
from ._read_file.documents import document_of
from ._read_file.passages import Passage, best_passages

MOST_LINES = 2_000
MOST_CHARACTERS = 16_000


class Reading(TypedDict):
    """What was read: `text` with the numbers of its first and last line, or `passages`, best first.

    More follows where `truncated` is true: from line `next_start` on, of whose characters `next_offset` were read.
    """

    read_as: NotRequired[str]
    total_lines: int
    start: NotRequired[int]
    end: NotRequired[int]
    truncated: NotRequired[bool]
    next_start: NotRequired[int]
    next_offset: NotRequired[int]
    text: NotRequired[str]
    passages: NotRequired[list[Passage]]


@tool(effects="reads", idempotent=True, network=False, metadata={"files": "*"})
async def read_file(
    ctx: Context, path: str, start: int = 1, lines: int = 400, find: str = "", offset: int = 0
) -> Reading:
    """Read lines of a text, PDF, DOCX or PPTX file, or with `find` the passages that fit some words."""
    if start < 1 or lines < 1 or offset < 0:
        raise ToolError(f"start {start}, lines {lines}, offset {offset}.", fix="count lines from 1, characters from 0.")
    return await asyncio.to_thread(_read, await ctx.file(path), path, start, min(lines, MOST_LINES), find, offset)


def _read(path: Path, name: str, start: int, lines: int, find: str, offset: int) -> Reading:
    data = file_bytes(path, name)
    text = document_of(data, name) or text_of(data, name)
    reading = Reading(total_lines=len(text.lines))
    if text.read_as != "utf-8":
        reading["read_as"] = text.read_as
    if not find.strip():
        return reading | _excerpt(text, name, start, lines, offset)
    reading["passages"] = best_passages(text.lines, find)
    return reading


def _excerpt(text: Text, name: str, start: int, lines: int, offset: int) -> Reading:
    """Return whole lines up to a number of characters; of a line that is longer than those, a part."""
    total = len(text.lines)
    chosen = text.lines[start - 1 : start - 1 + lines]
    if not chosen and total:
        raise ToolError(f"{name!r} has {total} lines.", fix="start at one of them.")
    if offset and (not chosen or offset >= len(chosen[0])):
        raise ToolError(f"Line {start} of {name!r} has no character {offset + 1}.", fix="skip fewer characters.")
    chosen = [chosen[0][offset:], *chosen[1:]] if offset else chosen
    count = _fitting(chosen, MOST_CHARACTERS)
    inside = bool(chosen) and not count
    body = chosen[0][:MOST_CHARACTERS] if inside else "\n".join(chosen[:count])
    end = start + max(count, inside) - 1
    more = inside or end < total
    reading = Reading(total_lines=total, start=start, end=end, truncated=more, text=body)
    if more:
        reading["next_start"] = end if inside else end + 1
    if inside:
        reading["next_offset"] = offset + MOST_CHARACTERS
    return reading


def _fitting(lines: list[str], most: int) -> int:
    """Return how many of the first lines have no more than that many characters together."""
    size = -1
    for number, line in enumerate(lines):
        size += len(line) + 1
        if size > most:
            return number
    return len(lines)
