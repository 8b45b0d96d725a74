"""Found lines of a document as a reader needs them: repeated ones folded, and few with the lines around them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tea.reading.document import Document, Match

MOST_SHOWN = 40
FEW, BEFORE, BEHIND = 3, 2, 5
_MOST_AROUND = 800  # characters
_NUMBER = re.compile(r"\d+")


def folded(document: Document, matches: Sequence[Match]) -> tuple[list[Match], int]:
    """Return found lines to show, in their order, and how many are left out.

    Lines of the same words, whatever their numbers, count as the first of them, but for rows of tables; where not all
    have room, headings and rows of tables come before other lines. Few are given with the lines around them.

    Args:
        document: Where they were found.
        matches: All of them.
    """
    groups = dict[str, list[Match]]()
    for one in matches:
        groups.setdefault(_key(one["text"]), []).append(one)
    repeated = any(len(same) > 1 for same in groups.values())
    lines = [Match({**same[0], "times": len(same)}) if repeated else same[0] for same in groups.values()]
    if len(lines) > MOST_SHOWN:
        headings = {one.line for one in document.titles()}
        lines.sort(key=lambda one: (one["line"] not in headings and not _is_row(one["text"]), one["line"]))
    shown = sorted(lines[:MOST_SHOWN], key=lambda one: one["line"])
    if len(lines) <= FEW:
        shown = [Match({**one, "around": _around(document, one["line"])}) for one in shown]
    return shown, sum(one.get("times", 1) for one in lines[MOST_SHOWN:])


def _key(text: str) -> str:
    """Return the common part of repeated lines."""
    words = " ".join(text.split()).casefold()
    return words if _is_row(words) else _NUMBER.sub("0", words)


def _is_row(text: str) -> bool:
    return text.startswith("|")


def _around(document: Document, line: int) -> str:
    """Return a line among its neighbours."""
    text = "\n".join(document.lines[max(0, line - 1 - BEFORE) : line + BEHIND])
    return text if len(text) <= _MOST_AROUND else f"{text[:_MOST_AROUND]}..."
