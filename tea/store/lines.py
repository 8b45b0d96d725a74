"""The lines of a journal: the encoding of a record as a line, and the reading and verification of lines.

A line is one JSON object: the record, between its number `seq` (from 0) and its `check`, a hash of the check of the
line before and of this line so far; the first line also holds the `number` of its run. So no line can be altered,
lost, moved or repeated unnoticed, the last one included. Only the end can be torn, by a crash in the middle of a write:
it has no newline and was never reported as written, so it is left out.
"""

import json
import os
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from tea.errors import BadInput
from tea.store.files import damaged, open_regular, reading
from tea.store.strict import Refused, as_json_object, check_depth, loads
from tea.types import JsonObject

Wanted = Callable[[bytes], bool]
LINE_LIMIT = 16 * 2**20
_BLOCK = 4096
_NUMBER_BYTES = 48
_CHECK = b',"check":"'
_OWN = ("seq", "check", "number")
_NUMBERED = re.compile(rb'\{"seq":0,"number":([0-9]{1,18}),')
_TAIL = len(_CHECK) + 16 + len(b'"}\n')
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class End(NamedTuple):
    """The end of a journal: its size in bytes, its number of lines, the check of its last line."""

    size: int = 0
    lines: int = 0
    check: bytes = b""


def encode(record: JsonObject | str, end: End, number: int = 0) -> tuple[bytes, End]:
    """Return the line for adding `record` to a journal, and the journal's end after it.

    Args:
        record: A JSON object, or the text of one: compact, on one line, with none of the journal's own names.
        end: Where the journal ends before it.
        number: The number of the run, which its first line holds; 0 for none.

    Raises:
        BadInput: The record is not JSON, uses a name of the journal's own, or is too large.
    """
    if not isinstance(record, str) and (own := [name for name in _OWN if name in record]):
        raise BadInput(f"A record has a field {own[0]!r}.", fix="rename it; the journal writes that itself.")
    try:
        text = record if isinstance(record, str) else _ENCODER.encode(dict(record))
        check_depth(text)
        own = f'"number":{number}' if number and not end.lines else ""
        body = ",".join(filter(None, (f'{{"seq":{end.lines}', own, text[1:-1]))).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise BadInput(f"A record is not JSON: {problem}.", fix="record plain JSON values.") from problem
    check = _check(end.check, body)
    line = body + _CHECK + check + b'"}\n'
    if len(line) > LINE_LIMIT:
        fix = "keep large values as blobs."
        raise BadInput(f"A record has {len(line):,} bytes, and {LINE_LIMIT:,} are allowed.", fix=fix)
    return line, End(end.size + len(line), end.lines + 1, check)


def read_last(path: Path) -> JsonObject | None:
    """Return the last record of a journal, verified against the line before; earlier lines are not checked.

    None where the end alone tells nothing: of an empty journal, a torn one, and one that ends otherwise than written.

    Raises:
        StorageError: The system cannot read the file.
    """
    with reading(path), os.fdopen(open_regular(path), "rb") as file:
        size, taken = file.seek(0, os.SEEK_END), _BLOCK
        while True:
            file.seek(max(0, size - taken))
            *whole, torn = file.read(taken).split(b"\n")
            if len(whole) > 1 or taken >= min(size, 2 * LINE_LIMIT):
                break
            taken *= 8
    if torn or not whole:
        return None
    line, check = whole[-1] + b"\n", whole[-2][-18:-2] if len(whole) > 1 else b""
    with suppress(Refused):
        record = _parsed(line)
        number = record.get("seq")
        return record if isinstance(number, int) and _verified(line, End(0, number, check)) else None
    return None


def read_number(path: Path) -> int:
    """Return the number of the run of a journal, by its first bytes alone; 0 if they do not tell."""
    with suppress(OSError, Refused), os.fdopen(open_regular(path), "rb", 0) as file:
        found = _NUMBERED.match(file.read(_NUMBER_BYTES))
        return int(found[1]) if found else 0
    return 0


class JournalReading(Iterator[JsonObject]):
    """The records of one journal in order, each verified before it is returned.

    A journal may be read while it is written. After the last record, `end` says where the journal ends and `torn`
    how many bytes of an unfinished line follow.

    Args:
        path: The journal.
        start: Number of the first record to give out; those before it are verified, not given.
        least: How many records there must be, as far as is known.
        wanted: Tells of a line whether its record is given out; all are verified.

    Raises:
        Damaged: From the iteration, at the first line that is not what was written, or when lines are missing.
        StorageError: From the iteration, when the system cannot read the file.
    """

    def __init__(self, path: Path, start: int = 0, least: int = 0, wanted: Wanted | None = None) -> None:
        # The lines know nothing of the generator: a reading left in the middle closes its file at once, where a
        # circle would keep it open until the collector comes by.
        self._lines = _Lines(path, least)
        self._records = self._lines.records(start, wanted)

    @property
    def end(self) -> End:
        """The end of the journal, as far as it was read."""
        return self._lines.end

    @property
    def torn(self) -> int:
        """Bytes of an unfinished line behind the last record."""
        return self._lines.torn

    def __next__(self) -> dict[str, Any]:
        """Return the next record, with its `seq` and `check`."""
        return next(self._records)


class _Lines:
    """The lines of one journal, with the end of those read so far."""

    def __init__(self, path: Path, least: int) -> None:
        self.end, self.torn = End(), 0
        self._path, self._least = path, least

    def records(self, start: int, wanted: Wanted | None) -> Generator[dict[str, Any]]:
        """Yield the wanted records from number `start` on."""
        with reading(self._path), os.fdopen(open_regular(self._path), "rb") as file:
            end = self.end
            while line := self._next_line(file):
                number = end.lines
                self.end = end = End(end.size + len(line), number + 1, line[-19:-3])
                if number >= start and (wanted is None or wanted(line)):
                    yield self._record(line, number)
            if self.end.lines < self._least:
                raise damaged(self._path, f"{self._least - self.end.lines} records are missing at its end")

    def _next_line(self, file: BinaryIO) -> bytes:
        for _ in range(2):
            line = file.readline(LINE_LIMIT + 1)
            if _verified(line, self.end):
                return line
            if not line.endswith(b"\n") and len(line) <= LINE_LIMIT:
                if _verified(line[:-1] + b"\n", self.end):
                    break  # a whole record, whose last byte is another: no crash leaves that
                self.torn = len(line)
                return b""
            # A writer may just have cut off a torn tail, of which the buffer still holds the beginning: look again.
            file.seek(self.end.size)
        raise damaged(self._path, f"line {self.end.lines + 1} is not what was written")

    def _record(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            return _parsed(line)
        except Refused as reason:
            raise damaged(self._path, f"line {number + 1} cannot be used: {reason}") from reason


def _parsed(line: bytes) -> dict[str, Any]:
    """Return a line's record, with its `seq` and `check`; the number of a first line is its run's."""
    record = as_json_object(loads(line))
    if record.get("seq") == 0:
        record.pop("number", None)
    return record


def _verified(line: bytes, before: End) -> bool:
    body, seq = line[:-_TAIL], b'{"seq":%d,' % before.lines
    if not body.startswith(seq) and body != seq[:-1]:
        return False
    return line.endswith(b'%b%b"}\n' % (_CHECK, _check(before.check, body)))


def _check(before: bytes, body: bytes) -> bytes:
    found = blake2b(before, digest_size=8)
    found.update(body)
    return found.hexdigest().encode()
