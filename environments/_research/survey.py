"""The facts about a dataset, read once from its beginning to its end, in any size."""

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TypedDict

from tea import ToolError, open_resolved
from tea.reading import kind_of_file

MOST_BYTES = 500_000_000
TEXTS = frozenset(("csv", "tsv", "json", "jsonl", "markdown", "md", "text", "txt", "code", "html", "xml", "yaml"))
_CHUNK = 2**20
_HEAD = 4_000  # characters
_COLUMNS = 200


class Survey(TypedDict):
    """The facts: lines and columns are those of a text, `parse` tells whether a parser is needed for the content."""

    name: str
    kind: str
    family: str
    bytes: int
    lines: int
    columns: list[str]
    head: str
    parse: bool


def survey(path: Path, name: str) -> Survey:
    """Return the facts about a file.

    Raises:
        ToolError: It is larger than 500 MB, or cannot be read.
    """
    try:
        with open_resolved(path) as file:
            return _survey(file, name)
    except OSError as error:
        raise ToolError(f"{name[:100]!r} cannot be read: {error.strerror}.", fix="check the file.") from error


def _survey(file: BinaryIO, name: str) -> Survey:
    size = os.fstat(file.fileno()).st_size
    if size > MOST_BYTES:
        raise ToolError(f"{name[:100]!r} is larger than {MOST_BYTES // 10**6} MB.", fix="split the file.")
    told = kind_of_file(file, name)
    kind = told.name
    found = Survey(name=name, kind=kind, family=told.family, bytes=size, lines=0, columns=[], head="", parse=False)
    if kind not in TEXTS:
        found["parse"] = True
        return found
    file.seek(0)
    found["lines"], head = _streamed(file)
    found["head"] = head[:_HEAD]
    if kind in ("csv", "tsv"):
        found["columns"] = _columns(head, "\t" if kind == "tsv" else "")
    return found


def _streamed(file: BinaryIO) -> tuple[int, str]:
    """Return the number of lines of a text, and its beginning."""
    lines, head, last = 0, b"", b"\n"
    for chunk in _chunks(file):
        if len(head) < 4 * _HEAD:
            head += chunk[: 4 * _HEAD]
        lines += chunk.count(b"\n")
        last = chunk[-1:]
    return lines + (last != b"\n"), head.decode("utf-8-sig", "replace")


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _columns(head: str, delimiter: str) -> list[str]:
    lines = head.splitlines()
    if not lines:
        return []
    mark = delimiter or max(",;\t|", key=lines[0].count)
    names = list(csv.reader([lines[0]], delimiter=mark))
    return names[0][:_COLUMNS] if names else []
