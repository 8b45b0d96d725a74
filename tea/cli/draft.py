"""Draft: the text of an answer as it arrives, shown on a terminal and removed again."""

from __future__ import annotations

import re
from typing import TextIO

from tea.characters import is_hidden
from tea.cli.terminal import cells_of, clean, is_narrow, painted, sequence_end, size, writable, write

_STARTS = re.compile("[\r\x1b\x80-\x9f]")  # of a control sequence, or a line break of two characters
_MARK = "| "  # before each row, as one that stays where a person typed may not look like a line of tea's own
_AGAIN = "\r\x1b[K"
_KEPT = "[what stands above was a draft]"
_TONES = frozenset(map(chr, range(0x1F3FB, 0x1F400)))  # of skin, joined with the picture before by some terminals
_RECORDS = ("{", "```")
_BEGIN = max(map(len, _RECORDS))
_MOST_AGAIN = 2_000  # characters shown again, as one of many pieces may have each hidden the text
_MOST_HELD = 1_000  # characters of a control sequence that may go on


class Draft:
    """A draft of text shown piece by piece, without control characters.

    Args:
        stream: The terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._came = list[str]()
        self._begin = self._open = ""
        self._shown = False
        self._row, self._wrapped = "", False
        self._rows = self._column = self._width = 0

    def add(self, piece: str) -> bool:
        """Show a further piece, preceded by the end of the earlier text if it was hidden in between.

        Returns:
            Whether it is shown: what a model without functions writes is a record, and no words for a person. A
            terminal too narrow for a question shows none.
        """
        if is_narrow(self._stream):
            return False
        given = self._open + piece
        end = _settled(given)
        new, self._open = _plain(given[:end]), given[end:]
        self._came.append(new if self._begin else new.lstrip())
        self._begin = (self._begin + self._came[-1])[:_BEGIN]
        if not self._begin or self._begin.startswith(_RECORDS):
            return False
        if not self._shown:
            self._came = ["".join(self._came)[-_MOST_AGAIN:]]
        self._show(self._came[-1])
        return True

    def hide(self) -> None:
        """Remove the text from the screen; a text too long for it, or wrapped anew, stays, and is marked."""
        if not self._shown:
            return
        columns, lines = size(self._stream)
        if self._rows < lines - 1 and self._width == columns and not self._wrapped:
            up = f"\x1b[{self._rows}A" if self._rows else ""
            write(f"\r{up}\x1b[J", self._stream)
        else:
            write(painted(f"\n{_KEPT}", "dim", self._stream) + "\n", self._stream)
        self._shown, self._wrapped, self._row, self._rows, self._column = False, False, "", 0, 0

    def drop(self) -> None:
        """Remove the text from the screen permanently."""
        self.hide()
        self._came.clear()
        self._begin = self._open = ""

    def _show(self, text: str) -> None:
        """Write the row so far anew, in case a person moved the cursor by typing, and the text behind it."""
        width, text = size(self._stream).columns, writable(text, self._stream)
        if self._shown and self._width != width:  # it was wrapped
            self._wrapped, self._row, self._column = True, "", 0
            rows = ["\n"]
        else:
            rows = [_AGAIN, self._row]
        self._width = width
        for letter in text:
            cells = cells_of(letter)
            if letter == "\n" or self._column + cells > width:
                self._rows, self._row, self._column = self._rows + 1, "", 0
                rows.append("\n")
            if letter != "\n":
                new = letter if self._column else _MARK + letter
                self._row, self._column = self._row + new, self._column + len(new) - 1 + cells
                rows.append(new)
        write(painted("".join(rows), "dim", self._stream), self._stream)
        self._shown = True


def _settled(text: str) -> int:
    """Return the end of a text without an unfinished control sequence."""
    begins = max((one.start() for one in _STARTS.finditer(text)), default=-1)
    over = begins < 0 or len(text) - begins > _MOST_HELD or sequence_end(text, begins) < len(text)
    return len(text) if over else begins


def _plain(text: str) -> str:
    """Return text without characters of zero or uncertain width."""
    return "".join(one for one in clean(text).replace("\t", "    ") if not is_hidden(one) and one not in _TONES)
