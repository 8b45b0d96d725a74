"""Text of a file: lines by number, or the passages that fit some words."""

import asyncio
from pathlib import Path
from typing import NotRequired, TypedDict

from tea import Context, ToolError, open_resolved, tool
from tea.reading import Kind, Options, Reader, kind_of_file, titles

from ._read_file.decoding import Text, file_bytes, text_of
from ._read_file.passages import Passage, best_passages

MOST_LINES = 2_000
MOST_CHARACTERS = 16_000
FILES = (  # all but those that table_query and to_markdown are offered for
    "* -csv -tsv -xlsx -ods -pdf -docx -docm -pptx -odt -odp -epub -eml -png -jpg -jpeg -gif -webp -bmp -tif -tiff "
    "-heic -wav -mp3 -ogg -flac -m4a -mp4 -mov -mkv -webm -avi"
)
CONVERTED = frozenset(("pdf", "docx", "pptx", "odt", "odp", "epub", "eml", "ipynb"))


class Reading(TypedDict):
    """What was read: `text` with the numbers of its first and last line, or `passages`, best first.

    Passages with the very words of `find`, which stand in the text `matches` times, come before the best others. Not
    shown are `more_passages` with the very words or, where they stand nowhere, that fit. One that stands there `times`
    times is given once. Words of `find` in `nowhere` are not in the text. Behind line `ranked_to` of a very long text
    nothing but the very words was looked for. `place` is the page or slide. More follows from line `next_start` on, of
    whose characters `next_offset` were read.
    """

    read_as: NotRequired[str]
    total_lines: int
    start: NotRequired[int]
    end: NotRequired[int]
    next_start: NotRequired[int]
    next_offset: NotRequired[int]
    place: NotRequired[str]
    text: NotRequired[str]
    passages: NotRequired[list[Passage]]
    more_passages: NotRequired[int]
    matches: NotRequired[int]
    nowhere: NotRequired[list[str]]
    ranked_to: NotRequired[int]


@tool(effects="reads", idempotent=True, network=False, metadata={"files": FILES})
async def read_file(
    ctx: Context, path: str, start: int = 1, lines: int = 400, find: str = "", offset: int = 0
) -> Reading:
    """Read lines of a text, PDF, DOCX, PPTX, ODT, EPUB or EML file, or with `find` the passages that fit some words."""
    if start < 1 or lines < 1 or offset < 0:
        raise ToolError(
            f"Out of range: start {start}, lines {lines}, offset {offset}.",
            fix="count lines from 1, characters from 0.",
        )
    file = await ctx.file(path)
    if (await asyncio.to_thread(_kind, file, path)).name in CONVERTED:
        text = await _document(Reader(await ctx.parser_terms()), file, path)
    else:
        text = await asyncio.to_thread(_text, file, path)
    return await asyncio.to_thread(_read, text, path, start, min(lines, MOST_LINES), find, offset)


def _kind(path: Path, name: str) -> Kind:
    try:
        with open_resolved(path) as file:
            return kind_of_file(file, name)
    except OSError as error:
        raise ToolError(f"{name!r} cannot be read: {error.strerror}.", fix="check the file.") from error


async def _document(reader: Reader, path: Path, name: str) -> Text:
    """Return the lines of a document, parsed in a sandbox.

    Raises:
        ToolError: It cannot be parsed, or holds no text.
    """
    found = await reader.read(path, name, Options())
    if found.is_scan or not any(line.strip() for line in found.lines):
        fix = "ask to_markdown with ocr, or give a file with a text layer."
        raise ToolError(f"{name!r} holds no text; it may be scanned.", fix=fix)
    return Text(lines=found.lines, read_as=found.kind, place=found.place, headings=found.titles())


def _text(path: Path, name: str) -> Text:
    return text_of(file_bytes(path, name), name)


def _read(text: Text, name: str, start: int, lines: int, find: str, offset: int) -> Reading:
    reading = Reading(total_lines=len(text.lines))
    if text.read_as != "utf-8":
        reading["read_as"] = text.read_as
    if not find.strip():
        reading |= _excerpt(text, name, start, lines, offset)
        if place := text.place(start):
            reading["place"] = place
        return reading
    above = titles(text.lines) if text.headings is None else text.headings
    found = best_passages(text.lines, find, above)
    reading["passages"] = [
        {**one, "place": place} if (place := text.place(one["start"])) else one for one in found.passages
    ]
    if found.matches:
        reading["matches"] = found.matches
    if found.more:
        reading["more_passages"] = found.more
    if found.nowhere:
        reading["nowhere"] = found.nowhere
    if found.ranked_to:
        reading["ranked_to"] = found.ranked_to
    return reading


def _excerpt(text: Text, name: str, start: int, lines: int, offset: int) -> Reading:
    """Return whole lines up to a number of characters; of a longer line, a part."""
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
    reading = Reading(total_lines=total, start=start, end=end, text=body)
    if inside or end < total:
        reading["next_start"] = end if inside else end + 1
    if inside:
        reading["next_offset"] = offset + MOST_CHARACTERS
    return reading


def _fitting(lines: list[str], most: int) -> int:
    """Return how many of the first lines have no more than so many characters together."""
    size = -1
    for number, line in enumerate(lines):
        size += len(line) + 1
        if size > most:
            return number
    return len(lines)
