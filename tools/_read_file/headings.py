"""Headings of a text, told for a fact: marked ones, and lines of capitals or a number standing alone."""

import re

_MARKED = re.compile(r"#{1,6}\s+(.{1,200}?)\s*#*")
_CAPITALS = re.compile(r"(?=.*[^\W\d_]{3})[^.!?:;,|]{3,80}")
_NUMBERED = re.compile(r"[^\W\d_]{3,20} (?:\d{1,4}|[IVXLC]{1,8})(?:[.:]? .{1,80}|[.:])?", re.IGNORECASE)
_UNDERLINE = re.compile(r"[=-]{3,}")


def headings(lines: list[str]) -> dict[int, str]:
    """Return the headings of a text by the number of their line, from 1, in order."""
    found = {number: text for number, _ in enumerate(lines, 1) if (text := _heading(lines, number))}
    return found if len(found) * 2 <= sum(map(bool, map(str.strip, lines))) else {}


def heading_above(found: dict[int, str], line: int) -> str:
    """Return the last heading before a line, empty if there is none."""
    return next((text for number, text in reversed(found.items()) if number < line), "")


def _heading(lines: list[str], number: int) -> str:
    """Return a line's words if it is a heading, else nothing."""
    text = lines[number - 1].strip()
    if marked := _MARKED.fullmatch(text):
        return marked[1]
    after = lines[number].strip() if number < len(lines) else ""
    if text and _UNDERLINE.fullmatch(after):
        return text[:200]
    alone = not after and not (lines[number - 2].strip() if number > 1 else "")
    capitals = text.isupper() and _CAPITALS.fullmatch(text)
    return text if alone and (capitals or _NUMBERED.fullmatch(text)) else ""
