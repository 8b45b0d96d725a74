"""Text of a file: lines by number, or the passages that fit some words."""

import asyncio
from pathlib import Path
from typing import NotRequired, TypedDict

from tea import Context, ToolError, tool

from ._read_file.decoding import Text, read_text
from ._read_file.documents import read_document
from ._read_file.passages import Passage, best_passages

MOST_LINES = 2_000
MOST_CHARACTERS = 100_000


class Reading(TypedDict):
    """What was read: `text` with the numbers of its first and last line, or `passages`, best first.

    `weights` tells how telling each word of the question is.
    """

    path: str
    read_as: str
    total_lines: int
    start: NotRequired[int]
    end: NotRequired[int]
    text: NotRequired[str]
    truncated: NotRequired[bool]
    passages: NotRequired[list[Passage]]
    weights: NotRequired[dict[str, float]]


@tool(effects="reads", idempotent=True, network=False)
async def read_file(ctx: Context, path: str, start: int = 1, lines: int = 200, find: str = "") -> Reading:
    """Read lines of a text, PDF, DOCX or PPTX file, or find its passages that fit a question.

    Args:
        path: Name of a file in the workspace.
        start: Number of the first line, from 1.
        lines: Most lines to return, at most 2000.
        find: A question or words; gives the twelve best sentences with their line numbers instead of lines.
    """
    if start < 1 or not 1 <= lines <= MOST_LINES:
        raise ToolError(f"Lines {start} and {lines} on do not exist.", fix=f"start from 1, at most {MOST_LINES} lines.")
    return await asyncio.to_thread(_read, ctx.path(path), path, start, lines, find)


def _read(path: Path, name: str, start: int, lines: int, find: str) -> Reading:
    text = read_document(path, name) or read_text(path, name)
    reading = Reading(path=name, read_as=text.read_as, total_lines=len(text.lines))
    if find.strip():
        found = best_passages(text.lines, find)
        reading["passages"], reading["weights"] = found.passages, found.weights
        return reading
    return reading | _excerpt(text, name, start, lines)


def _excerpt(text: Text, name: str, start: int, lines: int) -> Reading:
    chosen = text.lines[start - 1 : start - 1 + lines]
    if not chosen and text.lines:
        raise ToolError(f"{name!r} has {len(text.lines)} lines.", fix="start at one of them.")
    body = "\n".join(chosen)
    short = body[:MOST_CHARACTERS]
    return Reading(
        path=name,
        read_as=text.read_as,
        total_lines=len(text.lines),
        start=start,
        end=start + max(0, len(chosen) - 1),
        text=short,
        truncated=len(short) < len(body) or start - 1 + lines < len(text.lines),
    )
