"""The lines of a page, and the part of them read at once."""

import re
from typing import NotRequired, TypedDict

from tea.errors import ToolError
from tea.reading.inside.html import LINKS

MOST_LINKS = 30  # shown behind a text; the others can be read on
MOST_CHARACTERS = 16_000
MOST_OF_LINE = 1_500
_SAYING_NOTHING = """
a an the of in on at to for from by with as is are was were be been do does did has have had and or not no what which
who whom whose when where why how that this these those it its there they he she his her i you we me my our your us
can could would should will may might must than then so if but into about much many
"""
_SILENT = frozenset(_SAYING_NOTHING.split())


class Window(TypedDict):
    """Lines of a page with the numbers of the first and the last; more follows from `next_start` on."""

    start: int
    end: int
    text: str
    next_start: NotRequired[int]


def lines_of(text: str) -> list[str]:
    """Return a text's lines: long ones broken between sentences or words, and no more than one empty line in a row."""
    found = list[str]()
    for line in text.expandtabs(4).splitlines():
        kept = "".join(one for one in line.rstrip() if one.isprintable() or one == "\u200d")
        if kept or (found and found[-1]):
            found += _broken(kept)
    while found and not found[-1]:
        found.pop()
    return found


def window_of(lines: list[str], start: int) -> Window:
    """Return the lines from one on, as many as are read at once.

    Raises:
        ToolError: There is no such line.
    """
    if not 1 <= start <= max(1, len(lines)):
        raise ToolError(f"The page has {len(lines)} lines, so not line {start}.", fix="start at one of them.")
    size, end = 0, start - 1
    last = next((n + MOST_LINKS + 2 for n, line in enumerate(lines) if line == LINKS and n >= end), len(lines))
    while end < min(last, len(lines)) and size + len(lines[end]) + 1 <= MOST_CHARACTERS:
        size += len(lines[end]) + 1
        end += 1
    window = Window(start=start, end=max(start, end), text="\n".join(lines[start - 1 : end]))
    if end < len(lines):
        window["next_start"] = end + 1
    return window


def _broken(line: str) -> list[str]:
    """Return a long line in parts; a row of a table stays whole up to the size of one reading."""
    most = MOST_CHARACTERS - 1 if line.startswith("|") else MOST_OF_LINE
    parts = list[str]()
    while len(line) > most:
        cut = max(line.rfind(". ", most // 2, most) + 1, line.rfind(" ", most - 200, most), 0) or most
        parts.append(line[:cut].rstrip())
        line = line[cut:].lstrip()
    return [*parts, line]


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, in their form for comparison."""
    return [_stem(word) for word in re.findall(r"\w+", text.casefold()) if word not in _SILENT]


def _stem(word: str) -> str:
    """Return a word without the endings of English, and of plurals elsewhere."""
    for ending in ("ations", "ation", "ingly", "edly", "ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "ly", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)].removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word
