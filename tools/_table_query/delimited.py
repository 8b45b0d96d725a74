"""Delimited text: its delimiter, comments and header."""

import csv
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from tea import ToolError

from .heading import above_header
from .numbers import number
from .tables import Budget, RawTable

_DELIMITERS = (",", "\t", ";", "|")
_NAMED = {";": "semicolons", "\t": "tabs", "|": "bars"}
_DECIMAL_COMMA = re.compile(r"[-+]?\d{1,3}(?:\.?\d{3})*,\d+")
_SAMPLE = 200
_LONGEST_FIELD = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How a delimited text is to be read row by row.

    Args:
        delimiter: What stands between two cells.
        skipped: Lines before the first row.
        comments: Whether later lines that begin with `#` are left out.
        rows_above: Rows that are not empty before the first one below the header.
        header: Names of the columns, perhaps too few.
        decimal_comma: Whether 3,14 is three and a bit.
    """

    delimiter: str
    skipped: int
    comments: bool
    rows_above: int
    header: list[str]
    decimal_comma: bool


def shape_of(lines: list[str], *, loose: bool = True) -> Shape | None:
    """Return the shape of a text by its first lines, None without any.

    Args:
        lines: Its first lines.
        loose: Take lines without any delimiter for a table of one column.
    """
    comments, body = _split_comments(lines)
    delimiter = _delimiter(body) or ("," if loose else None)
    if delimiter is None:
        return None
    try:
        rows = [row for row in csv.reader(body, delimiter=delimiter, skipinitialspace=True) if any(map(str.strip, row))]
    except csv.Error:
        return None
    if not rows:
        return None
    below = _without_titles(rows)
    above = len(rows) - len(below)
    header = _from_comments(comments, delimiter, max(map(len, below)))
    if header is None and _is_header(below):
        header, above = [cell.strip() for cell in below[0]], above + 1
    marked = not comments and body[0] != lines[0]  # a first line such as `#,Name`, which is the header
    return Shape(
        delimiter=delimiter,
        skipped=1 if marked else len(comments),
        comments=bool(comments),
        rows_above=above - marked,
        header=header or [],
        decimal_comma=delimiter == ";",
    )


def read_delimited(
    text: str, name: str, file: str, budget: Budget, *, loose: bool = False, encoding: str = "utf-8"
) -> RawTable | None:
    """Return the table in a text, or None when it holds none.

    Args:
        text: The file's text.
        name: A name for the table.
        file: The file it comes from.
        budget: Counts its cells.
        loose: Take lines without any delimiter for a table of one column.
        encoding: What the text was encoded as.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    lines = text.splitlines(keepends=True)
    comments, body = _split_comments(lines)
    delimiter = _delimiter(body)
    if delimiter is None:
        if not loose or not body:
            return None
        delimiter = ","
    rows = _rows(body, delimiter, file, budget)
    if not rows:
        return None
    rows = _without_titles(rows)
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    header = _from_comments(comments, delimiter, max(len(row) for row in rows))
    if header is None and _is_header(rows):
        header, rows = [cell.strip() for cell in rows[0]], rows[1:]
    if header is None:
        header = [""] * width
    layout = layout_of(lines[:_SAMPLE], rows[:_SAMPLE], header, delimiter, encoding)
    return RawTable(
        name=name, file=file, header=header, rows=rows, decimal_comma=delimiter == ";", untyped=True, layout=layout
    )


def layout_of(lines: list[str], rows: list[list[str]], header: list[str], delimiter: str, encoding: str) -> str:
    """Return the differences of a delimited text from the plainest form, in words; empty without any.

    Args:
        lines: Its first lines.
        rows: Its first rows below the header.
        header: Names of its columns; empty ones are not in the text.
        delimiter: What stands between two cells.
        encoding: What it was encoded as.
    """
    found = list[str]()
    if delimiter != ",":
        found.append(f"separated by {_NAMED.get(delimiter, delimiter)}")
    if delimiter == ";" and any(_DECIMAL_COMMA.fullmatch(cell.strip()) for row in rows for cell in row):
        found.append("decimal comma")
    if encoding.removesuffix("-sig") != "utf-8":
        found.append(f"encoded as {encoding}")
    if not any(header):
        found.append("no header")
    elif above := next((at for at, line in enumerate(lines) if _cells(line, delimiter) == header), 0):
        found.append(f"header in line {above + 1}")
        titles = [_cells(line, delimiter) for line in lines[:above] if not line.startswith("#")]
        found += filter(None, [above_header(titles, header)])
    return "; ".join(found)


def _cells(line: str, delimiter: str) -> list[str]:
    """Return the stripped cells of a line, none of an unreadable one."""
    try:
        return [cell.strip() for row in csv.reader([line], delimiter=delimiter, skipinitialspace=True) for cell in row]
    except csv.Error:
        return []


def _rows(lines: list[str], delimiter: str, file: str, budget: Budget) -> list[list[str]]:
    """Return the non-empty rows; stop at too many, before they fill the memory."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True):
            if any(map(str.strip, row)):
                rows.append(row)
                budget.take(file, len(row))
    except csv.Error as error:
        fix = f"close its quotation marks, and keep a field below {_LONGEST_FIELD:,} characters."
        raise ToolError(f"{file!r} is not a readable table: {error}.", fix=fix) from error
    return rows


def _split_comments(lines: list[str]) -> tuple[list[str], list[str]]:
    """Split off comment lines; a first line `#,Name,...` fitting the next line is a header, not a comment."""
    marked = [line for line in lines[:_SAMPLE] if line.startswith("#")]
    if not marked:
        return [], lines
    first, second = lines[0], next((line for line in lines[1:] if line.strip()), "")
    delimiter = _delimiter(lines[1:])
    if lines[0] == marked[0] and not second.startswith("#") and delimiter:
        fields = next(csv.reader([first], delimiter=delimiter))
        if len(fields) == len(next(csv.reader([second], delimiter=delimiter))):
            rest = first if first.startswith("#" + delimiter) else first[1:].lstrip()
            return [], [rest, *lines[1:]]
    leading = 0
    while leading < len(lines) and (lines[leading].startswith("#") or not lines[leading].strip()):
        leading += 1
    body = [line for line in lines[leading:] if not line.startswith("#")] if leading else lines
    return [line.rstrip("\r\n") for line in lines[:leading]], body


def _delimiter(lines: list[str]) -> str | None:
    """Return the delimiter giving most lines the same number of fields, more than one."""
    sample = [line for line in lines[:_SAMPLE] if line.strip()]
    best: tuple[float, int, str] | None = None
    for delimiter in _DELIMITERS:
        try:
            widths = Counter(len(row) for row in csv.reader(sample, delimiter=delimiter) if row)
        except csv.Error:
            continue
        wide = {width: count for width, count in widths.items() if width > 1}
        if not wide:
            continue
        width = max(wide, key=lambda key: wide[key])
        spread = sum(wide.values()) / sum(widths.values())
        agreement = wide[width] / sum(widths.values())
        if spread >= 0.8 and (agreement >= 0.5 or delimiter == "\t"):
            best = max(best or (0.0, 0, ""), (agreement + spread, width, delimiter))
    return best[2] if best else None


def _without_titles(rows: list[list[str]]) -> list[list[str]]:
    """Drop leading rows of one filled cell before rows of several: titles."""
    usual = Counter(len(row) for row in rows).most_common(1)[0][0]
    start = 0
    while start < min(5, len(rows) - 1) and usual > 1 and sum(bool(cell.strip()) for cell in rows[start]) <= 1:
        start += 1
    return rows[start:] if start < min(5, len(rows) - 1) else rows


def _from_comments(comments: list[str], delimiter: str, width: int) -> list[str] | None:
    """Return column names from the last comment line when it fits the rows."""
    if not comments or width < 2:
        return None
    names = [part.strip() for part in comments[-1].lstrip("#").split(delimiter) if part.strip()]
    if not 2 <= len(names) <= width or len(names) < width - 1:
        return None
    before = comments[-2].lstrip("#").strip() if len(comments) > 1 else ""
    if re.fullmatch(r"[\w ]+-", before):
        names[0] = before + names[0]
    return names


def _is_header(rows: list[list[str]]) -> bool:
    first = [cell.strip() for cell in rows[0]]
    filled = [cell for cell in first if cell]
    if len(rows) < 2 or not filled or len(filled) < len(first) - 1:
        return False
    if len(set(filled)) < len(filled) * 0.8 and not _repeats_above_numbers(first, rows[1:_SAMPLE]):
        return False
    numeric = [cell for cell in filled if number(cell) is not None]
    if numeric:
        years = [int(cell) for cell in numeric if re.fullmatch(r"1[5-9]\d\d|20\d\d", cell)]
        steps = {after - before for before, after in pairwise(years)}
        return len(years) >= 3 and len(years) == len(numeric) and number(first[0]) is None and len(steps) <= 2
    seen = [{row[index].strip() for row in rows[1:_SAMPLE] if index < len(row)} for index in range(len(first))]
    return _above_numbers(first, seen) or not any(cell and cell in seen[index] for index, cell in enumerate(first))


def _repeats_above_numbers(first: list[str], rows: list[list[str]]) -> bool:
    """Tell whether each repeated cell of a first row is a word above numbers alone."""
    counts = Counter(first)
    repeated = [at for at, cell in enumerate(first) if cell and counts[cell] > 1]
    below = [[row[at].strip() for row in rows if at < len(row) and row[at].strip()] for at in repeated]
    return all(number(first[at]) is None for at in repeated) and all(
        cells and all(number(cell) is not None for cell in cells) for cells in below
    )


def _above_numbers(first: list[str], seen: list[set[str]]) -> bool:
    """Tell whether words stand above numbers alone in two columns or more, as only a header's do."""
    columns = [(cell, {other for other in below if other}) for cell, below in zip(first, seen, strict=True)]
    over = [
        cell
        for cell, below in columns
        if len(below) > 2 and re.search(r"[^\W\d_]{3}", cell) and all(number(other) is not None for other in below)
    ]
    return len(over) > 1
