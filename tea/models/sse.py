"""Server-sent events, read from bytes as they come: a character or an event may be cut anywhere.

Source: WHATWG HTML, section 9.2.6 "Interpreting an event stream".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tea.models.failure import CallFailure

MOST_BYTES = 32 * 2**20
_ENDS = (b"\n", b"\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One event: its name, empty for the default, and its data."""

    event: str
    data: bytes


@dataclass(slots=True)
class Events:
    """A decoder of byte chunks into events; `sent` is whether there was any."""

    _left: list[bytes] = field(default_factory=list[bytes])
    _returned: bool = False
    _event: str = ""
    _data: list[bytes] = field(default_factory=list[bytes])
    _size: int = 0
    sent: bool = False

    @property
    def begun(self) -> bool:
        """Whether anything has come."""
        return self._size > 0

    def feed(self, chunk: bytes) -> Iterator[Sent]:
        """Process the next bytes and yield the events completed by them.

        Raises:
            Fault: The stream is larger than an answer can be.
        """
        self._size += len(chunk)
        if self._size > MOST_BYTES:
            raise CallFailure("the answer is larger than 32 MiB", again=False)
        if self._returned and chunk.startswith(b"\n"):  # the second half of a line's end
            chunk, self._returned = chunk[1:], False
        if not chunk:
            return
        self._returned = chunk.endswith(b"\r")
        first, *lines = chunk.splitlines(keepends=True)
        self._left.append(first)
        if not first.endswith(_ENDS):
            return
        lines = [b"".join(self._left), *lines]
        self._left = [] if self._returned or lines[-1].endswith(_ENDS) else [lines.pop()]
        for line in lines:
            yield from self._line(line.rstrip(b"\r\n"))

    def _line(self, line: bytes) -> Iterator[Sent]:
        if not line:
            if self._data:
                self.sent = True
                yield Sent(event=self._event, data=b"\n".join(self._data))
            self._event, self._data = "", []
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
