"""Document: the result of a parser, and its form of refusal."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECONDS = 20.0  # after which a parser gives what it has; it is killed after 30


class Unreadable(Exception):
    """The refusal of a file of another kind than it seems, or unreadable here.

    Args:
        problem: What is wrong, as the rest of a sentence that begins with the file's name.
        fix: What to do.
    """

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.problem, self.fix = problem, fix


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The file and the parts to read, and the way of reading.

    Args:
        path: The file.
        name: What its user calls it.
        url: Where it comes from, against which links are resolved.
        content_type: What its server says that it is.
        kind: What it is, where that is known already.
        pages: First and last page, from 1; 0 for the end.
        most_pages: Most pages at once.
        characters: Most characters.
        ocr: Whether pages and images without text are recognised.
        unpack: Whether parts are written into `out`: of an archive, a mail, a video.
        language: Languages of recognition, as tesseract names them.
        out: Folder for parts.
    """

    path: Path
    name: str
    out: Path
    url: str = ""
    content_type: str = ""
    kind: str = ""
    pages: tuple[int, int] = (1, 0)
    most_pages: int = 400
    characters: int = 10_000_000
    ocr: bool = False
    unpack: bool = False
    language: str = "eng"
    began: float = field(default_factory=time.monotonic)

    @property
    def late(self) -> bool:
        """Whether it is time for a parser to give its result so far."""
        return time.monotonic() - self.began > SECONDS


@dataclass(slots=True, kw_only=True)
class Parsed:
    """The result of a reading.

    Args:
        kind: Short name of what the file is.
        text: Its Markdown.
        title: What it calls itself.
        facts: What else is known of it: pages, sheets, size, dates, encoding.
        notes: What its reader should know, each a sentence.
        truncated: Whether there is more than was read.
    """

    kind: str
    text: str = ""
    title: str = ""
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    notes: list[str] = field(default_factory=list[str])
    truncated: bool = False


def cell_words(text: str) -> str:
    """Return a text as a cell of a Markdown table has it."""
    return " ".join(text.split()).replace("|", "\\|")


def markdown_table(rows: list[list[str]]) -> str:
    """Return rows as a Markdown table, the first as its head; of one row as a line."""
    width = max(map(len, rows), default=0)
    if not width:
        return ""
    lines = [f"| {' | '.join(cell_words(cell) for cell in (*row, *[''] * (width - len(row))))} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])
