"""Terminal output: text shown but never interpreted, optional colour, and pipes possibly closed.

What a person reviews is shown whole, with hidden characters escaped (`review`, `one_line`, `shown`); lines of progress,
which nobody decides by, go without them (`clean`). Text is escaped once, where it is put together for the terminal.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from io import BufferedWriter, RawIOBase, TextIOWrapper
from textwrap import indent
from typing import Any, Literal, NamedTuple, Protocol, TextIO
from weakref import WeakSet

from tea.characters import escaped, escaped_json, number, numbered, numbered_in_source, on_one_line
from tea.errors import StorageError

SCHEMA = 1
SENDER = ", as its sender says"
Colour = Literal["bold", "dim", "red", "green", "yellow", "cyan"]

_CODES: dict[Colour, str] = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_PAINT = re.compile(rf"(\x1b\[(?:0|{'|'.join(_CODES.values())})m)")
# Whole sequences first, so that no payload is left standing as text: strings with their terminator (OSC, DCS, SOS,
# PM, APC), then CSI, then any other escape. An unterminated string is cut at the end of its line.
_SEQUENCES = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters; what overrides, embeds or isolates a direction of writing; invisible tags; half surrogates.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_HALVES = re.compile("[\ud800-\udfff]")
_LONGEST_LINE, _MOST_LINES = 600, 60
_SMALLER = ((300, 60), (150, 60), (75, 60), (300, 14), (150, 14), (75, 14), (40, 6))  # of both, on small screens
_NOTE = " [... {:,} characters are not shown here; {}] "
_GOES_ON = "... "
_LIKE_IT = re.compile(rf"^((?:{_PAINT.pattern})*)\.(?=\.\.)", re.MULTILINE)  # a line that looks like such a row
_MARK = "| "  # before each row of an answer that holds words like those of tea's own
_COMMAND = (
    r"(?-i:tea)\s+(?:activate|alias|archive|call|chat|contract|copy|corpus|deprecate|diff|doctor|eval|evolve|fork"
    r"|history|import|inbox|init|keep|list|load|lock|memory|models|new|policy|purge|register|replay|research|restore"
    r"|resume|retrieve|rollback|run|runs|save|show|state|tell|tools|trace|transform|trust|unregister|update|vars)\b"
)
_LIKE_OURS = re.compile(rf"\b(?:tea|fix|asks)\s*:|:\s*`?tea\s|\b{_COMMAND}|\]\s*>|(?:^|\s)\w+>(?:\s|$)", re.IGNORECASE)
_LIKE_OURS_CUT = re.compile(rf"(?:tea|fix)\s*:|{_COMMAND}|\w>\s", re.IGNORECASE)  # where a terminal may break the line
_NARROWEST = 13  # columns: `... ` and a tab fit
_USUAL, _USUAL_LINES = 80, 24  # of a terminal of unknown size
_held: list[tuple[str, TextIO]] | None = None  # output held back until a question is answered


class Passing(Protocol):
    """A temporary display on the terminal."""

    def close(self) -> None:
        """Remove it from the terminal."""
        ...


_passing = WeakSet[Passing]()


def clean(text: str) -> str:
    """Return `text` without escape sequences, and without control characters but newline and tab: for progress only."""
    if text.isascii() and text.isprintable():
        return text
    plain = _BREAKS.sub("\n", _SEQUENCES.sub("", text))
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", _UNSEEN.sub("", plain))


def sequence_end(text: str, start: int) -> int:
    """Return the end of the control sequence or character at a place, as far as it has come."""
    found = _SEQUENCES.match(text, start)
    return found.end() if found else start + 1


def review(text: str) -> str:
    """Return `text` as a person reviews it: nothing is left out, and each hidden character is shown as its number."""
    return text if _is_seen(text) else escaped(text)


def review_source(text: str) -> str:
    """Return source in review form; blanks other than the plain one are shown as their numbers too."""
    return numbered_in_source(review(text))


def one_line(text: str, limit: int = 0) -> str:
    """Return `text` in review form on one line, cut to `limit` characters if it is given."""
    return brief(review(text), limit)


def brief(text: str, limit: int = 0) -> str:
    """Return `text` on one line, cut to `limit` characters; for a part of a line reviewed as a whole."""
    line = on_one_line(text)
    return line if not limit or len(line) <= limit else line[: max(0, limit - 3)] + "..."


def progress_line(text: str, limit: int = 0) -> str:
    """Return `text` on one line without hidden characters: for progress only."""
    return brief(clean(text), limit)


def excerpt(text: str, where: str, longest: int = _LONGEST_LINE, most: int = _MOST_LINES) -> str:
    """Return reviewed text cut to fit a screen: the first and last part of long lines and of many, with a note.

    Args:
        text: What `review` returned.
        where: How the whole is seen, in words.
        longest: Characters of a line that is not cut; of the first line, which names what the text is about, the usual.
        most: Lines that are not cut.
    """
    lines, half = text.split("\n"), most // 2
    left_out = len(lines) - 2 * half if len(lines) > most else 0
    first, *others = [*lines[:half], *lines[-half:]] if left_out else lines
    cut = [_cut(first, where, _LONGEST_LINE), *(_cut(line, where, longest) for line in others)]
    return "\n".join(
        [*cut[:half], f"[... {left_out:,} lines are not shown here; {where}]", *cut[half:]] if left_out else cut
    )


def cut_line(line: str, where: str, most: int) -> str:
    """Return a reviewed line in so many characters: the first and last part of a longer one, with a note.

    Args:
        line: What `review` or `one_line` returned.
        where: How the whole is seen, in words.
        most: Characters of the result, more than the note has.
    """
    if len(line) <= most:
        return line
    return _cut(line, where, max(2, most - len(_NOTE.format(len(line), where))))


class Fitted(NamedTuple):
    """A question on a terminal.

    Args:
        question: Its rows.
        prompt: The line below it.
        is_whole: Whether nothing of both is left out.
    """

    question: str
    prompt: str
    is_whole: bool


def fitting(text: str, where: str, stream: TextIO, prompt: str) -> Fitted:
    """Return a reviewed question and its prompt cut to the rows of a terminal.

    Else the beginning of the question, which names the call, is off the screen when it is answered. Where cuts within
    its lines do not reach, whole rows of it are left out.

    Args:
        text: What `review` returned.
        where: How the whole is seen, in words.
        stream: The terminal.
        prompt: What is written below it, reviewed too.
    """
    lines, below = size(stream).lines, excerpt(prompt, where)
    for longest, _ in _SMALLER:
        if _row_count(below, stream) <= lines // 2:
            break
        below = _cut(prompt, where, longest)
    room, found = lines - _row_count(below, stream), excerpt(text, where)
    for longest, most in _SMALLER:
        if _row_count(found, stream) <= room:
            break
        found = excerpt(text, where, longest, most)
    rows = folded(found, stream).split("\n")
    part = _first_and_last(rows, room, where, stream) if len(rows) > room else rows
    return Fitted("\n".join(part), below, part is rows and (found, below) == (text, prompt))


def folded(text: str, stream: TextIO | None, less: int = 0) -> str:
    """Return reviewed text with the further rows of each line too long for a terminal marked with `... `.

    A terminal breaks a long line by itself, and with enough blanks in it the next row looks like a line of its own.
    A line that begins like a marked row has the number of its first sign, so different texts are shown differently,
    and a text is folded once. Text for anything but a terminal is unchanged.

    Args:
        text: What `review` returned.
        stream: Where it is written.
        less: Columns taken by what stands before each row.
    """
    width = _width(stream)
    if not width:
        return text
    lines = _LIKE_IT.sub(lambda found: f"{found[1]}<{number('.')}>", writable(text, stream)).split("\n")
    return "\n".join(_rows(line, max(_NARROWEST, width - less)) for line in lines)


def writable(text: str, stream: TextIO | None) -> str:
    """Replace characters missing in the encoding of a stream by their numbers.

    Written as an escape such a character would take more columns than it was measured with.
    """
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate({ord(one): f"<{number(one)}>" for one in {*text} if not _has_code(one, encoding)})
    return text


def size(stream: TextIO) -> os.terminal_size:
    """Return columns and lines of a terminal, by default those of `COLUMNS` and `LINES` or the usual.

    Standard output may go elsewhere than what is shown, and the variables may be those of another terminal.
    """
    try:
        columns, lines = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        columns = lines = 0
    return os.terminal_size((columns or _named("COLUMNS") or _USUAL, lines or _named("LINES") or _USUAL_LINES))


def cells_of(one: str) -> int:
    """Return the width of a character in cells, the maximum of all terminals; of a colour of our own, 0."""
    return 8 if one == "\t" else 0 if one[0] == "\x1b" else 1 if one.isascii() else 2


def is_narrow(stream: TextIO | None) -> bool:
    """Return whether a terminal is too narrow for the marked rows of `folded`."""
    return 0 < _width(stream) < _NARROWEST


def counted(number: int, noun: str) -> str:
    """Return a count as text: `1 run`, `2,000 runs`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shown(value: Any) -> str:
    """Return a JSON value in review form: text unchanged, everything else as JSON."""
    return review(value) if isinstance(value, str) else escaped_json(value, indent=2)


def answer_text(value: Any, stream: TextIO) -> str:
    """Return the answer of a run in review form, with marked rows at a terminal if it resembles words of tea's own.

    There it stands among errors with their remedies, questions and prompts. All of its rows are marked, since a
    terminal breaks its lines anywhere.
    """
    text, width = shown(value), _width(stream)
    if not width or not any(_is_like_ours(line, width) for line in text.split("\n")):
        return text
    return indent(folded(text, stream, len(_MARK)), _MARK, lambda _: True)


def document(data: Mapping[str, Any]) -> str:
    """Return the output of `--json`: one object with its schema's name, in ASCII, safe for every terminal."""
    return json.dumps({"schema": SCHEMA, **data}, default=str).replace("\x7f", "\\u007f")


def interactive(stream: TextIO | None) -> bool:
    """Return whether `stream` is a terminal with cursor movement."""
    return stream is not None and stream.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def harmless(text: str, stream: TextIO | None) -> str:
    """Return text with no hidden character left but newline and tab, and our own colours if a stream shows them.

    What is put together for the terminal is escaped in its parts already; this leaves it unchanged, and holds where a
    part was forgotten.
    """
    if _is_seen(text):
        return text
    parts = _PAINT.split(text) if interactive(stream) else [text]
    return "".join(one if at % 2 else numbered(one) for at, one in enumerate(parts))


def painted(text: str, colour: Colour, stream: TextIO | None) -> str:
    """Return `text` in a colour if `stream` supports colours and they are not disabled."""
    if not interactive(stream) or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def write(text: str, stream: TextIO | None) -> None:
    """Write text already cleaned.

    Raises:
        BrokenPipeError: Whoever reads the result went away; where progress and errors go, that is not an error.
        StorageError: The output cannot be written, for example because the disk is full.
    """
    if stream is None:
        return
    if _held is not None and stream.isatty():
        _held.append((text, stream))
        return
    _put(text, stream)


def remove_in_time(passing: Passing) -> None:
    """Have a temporary display removed from the terminal before each question, message and warning."""
    _passing.add(passing)


def remove_passing() -> None:
    """Remove the temporary displays from the terminal, as it wraps text behind one at odd places."""
    for one in [*_passing]:
        one.close()


@contextmanager
def undisturbed() -> Generator[Callable[[str], None]]:
    """Yield a writer to standard error, and keep all other output off the terminal until the end.

    Beside a question, what goes on meanwhile would look like a part of it. It is written after the answer. What stands
    there for a moment is removed before, as it would look like that too, and its removal would remove the question.
    """
    global _held
    if _held is None:
        remove_passing()
    outer, _held = _held, [] if _held is None else _held
    try:
        yield lambda text: _put(text, sys.stderr)
    finally:
        held, _held = _held, outer
        for text, stream in held if outer is None else ():
            _put(text, stream)


def _put(text: str, stream: TextIO) -> None:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        discard(stream)
        if stream is sys.stdout:
            raise
    except OSError as error:
        discard(stream)
        problem = f"The output cannot be written: {error.strerror or type(error).__name__}."
        raise StorageError(problem, fix="free some space, or send it elsewhere.") from error


def discard(stream: TextIO) -> None:
    """Redirect the stream's buffered and further output to the null device."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)


def say(text: str, stream: TextIO | None = None) -> None:
    """Write a line of the result to standard output."""
    write(text + "\n", stream or sys.stdout)


def prepare() -> None:
    """Make every text writable, in any encoding of the terminal.

    Raises:
        StorageError: Nobody can be given the result, so there is no use in working for it.
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise StorageError("Standard output is closed.", fix="leave it open, or send it to a file or /dev/null.")
    if isinstance(raw := getattr(sys.stdout, "buffer", None), RawIOBase):  # unbuffered: it would write a part, once
        sys.stdout = TextIOWrapper(BufferedWriter(raw), encoding=sys.stdout.encoding, line_buffering=True)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def table(rows: list[tuple[str, ...]], indent: str = "") -> str:
    """Return rows with their columns aligned; each cell on one line, the last column unlimited in width."""
    cells = rows if _plain(rows) else [tuple(one_line(cell) for cell in row) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))] if cells else []
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)
    return "\n".join(indent + line for line in lines)


def _is_seen(text: str) -> bool:
    """Return whether text is shown unchanged; a fast check for most texts."""
    return text.isascii() and "<U+" not in text and text.replace("\n", "").replace("\t", "").isprintable()


def _is_like_ours(line: str, width: int) -> bool:
    """Return whether a row of a line may look like one of tea's own on a terminal."""
    long = 2 * len(line) > width or "\t" in line
    return bool(_LIKE_OURS.search(line) or (long and _LIKE_OURS_CUT.search(line)))


def _row_count(text: str, stream: TextIO) -> int:
    return folded(text, stream).count("\n") + 1


def _first_and_last(rows: list[str], room: int, where: str, stream: TextIO) -> list[str]:
    """Return the first rows, a note, and the last rows from the beginning of a line on: none goes on with the note."""
    note = "[... {:,} rows are not shown here; " + where + "]"
    left = max(2, room - _row_count(note.format(len(rows)), stream))
    last = rows[len(rows) - left // 2 :]
    while last and last[0].startswith(_GOES_ON):
        last.pop(0)
    first = rows[: left - len(last)]
    return [*first, folded(note.format(len(rows) - len(first) - len(last)), stream), *last]


def _cut(line: str, where: str, longest: int) -> str:
    if len(line) <= longest:
        return line
    half = longest // 2
    cut = f"{line[:half]}{_NOTE.format(len(line) - 2 * half, where)}{line[-half:]}"
    return cut if len(cut) < len(line) else line


def _has_code(one: str, encoding: str) -> bool:
    try:
        one.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _width(stream: TextIO | None) -> int:
    """Return the width of a terminal in columns; 0 for other streams."""
    try:
        return size(stream).columns if stream is not None and stream.isatty() else 0
    except ValueError:  # it is closed
        return _USUAL


def _named(variable: str) -> int:
    value = os.environ.get(variable, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 6 else 0


def _rows(line: str, width: int) -> str:
    """Return a line in rows of at most `width` cells."""
    if len(line) <= width and line.isascii() and "\t" not in line:
        return line
    if line.isascii() and "\t" not in line and "\x1b" not in line:
        return _rows_of_single_cells(line, width)
    rows, row, at = list[str](), "", 0
    parts = _PAINT.split(line) if "\x1b" in line else [line]
    for one in (one for at, part in enumerate(parts) for one in ([part] if at % 2 else part)):
        cells = cells_of(one)
        while at + cells > width:
            end = _end_of_row(row, width)
            rows.append(row[:end])
            row, at = _GOES_ON + row[end:], len(_GOES_ON) + sum(map(cells_of, _PAINT.sub("", row[end:])))
        row += one
        at += cells
    return "\n".join([*rows, row])


def _rows_of_single_cells(line: str, width: int) -> str:
    """Return a line of characters of one cell each in rows: a text of many megabytes in a moment."""
    first = _end_of_row(line[:width], width)
    rows, begin, room = [line[:first]], first, width - len(_GOES_ON)
    while len(line) - begin > room:
        row = _GOES_ON + line[begin : begin + room]
        end = _end_of_row(row, width)
        rows.append(row[:end])
        begin += end - len(_GOES_ON)
    return "\n".join([*rows, _GOES_ON + line[begin:]])


def _end_of_row(row: str, width: int) -> int:
    """Return the end of a full row: behind the last blank of its second half, if there is one."""
    return row.rfind(" ", max(len(row) - width // 2, len(_GOES_ON))) + 1 or len(row)


def _plain(rows: list[tuple[str, ...]]) -> bool:
    """Return whether all cells are on one line and unchanged; a fast check for thousands of them."""
    text = f"|{'|'.join('|'.join(row) for row in rows)}|"
    return (
        _is_seen(text) and "\n" not in text and "\t" not in text and not any(gap in text for gap in ("  ", "| ", " |"))
    )
