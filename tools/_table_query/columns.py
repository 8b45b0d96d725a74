"""Raw cells to typed columns, with names for SQL."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from .numbers import (
    ALSO_MISSING_AMONG_NUMBERS,
    EITHER,
    MISSING,
    date_forms,
    has_points_between_thousands,
    is_code,
    iso_date,
    number,
)
from .tables import Cell, Column, RawTable, Table

CODE = re.compile(r"[A-Z0-9][A-Za-z0-9]{0,2}([,;/ ]+[A-Z0-9][A-Za-z0-9]{0,2})*")
PERHAPS_CODES = {"NA", "nan", "NaN"}
_MOST_NUMBERED = 5
_CUT = "\u2026"
_MISSING_NUMBERS = MISSING | ALSO_MISSING_AMONG_NUMBERS


def typed(raw: RawTable, name: str) -> Table:
    """Return the table with typed columns, under the given name."""
    names = _names(raw)
    columns: list[Column] = []
    values: list[list[Cell]] = []
    for index, label in enumerate(names):
        column, cells = _column(label, [row[index] if index < len(row) else None for row in raw.rows], raw)
        columns.append(column)
        values.append(cells)
    return Table(
        name=name,
        file=raw.file,
        columns=columns,
        cells=values,
        sheet=raw.sheet,
        sheets=raw.sheets,
        layout="; ".join(filter(None, (raw.layout, numbered_names(raw.header, names)))),
    )


def sql_name(text: str) -> str:
    """Return a table name without need of quotes in SQL."""
    bare = re.sub(r"\W+", "_", text).strip("_") or "data"
    return f"t_{bare}" if bare[0].isdigit() else bare


def _names(raw: RawTable) -> list[str]:
    """Return names for all columns with a header or a cell."""
    width = max([len(raw.header), *(_filled(row) for row in raw.rows)])
    return column_names(raw.header, width)


def column_names(header: Sequence[str], width: int) -> list[str]:
    """Return distinct names for columns, letter case aside; one without a name becomes col_1 and so on.

    Args:
        header: Names as the file has them, perhaps too few.
        width: How many columns there are.
    """
    plain = [" ".join(name.split()) for name in header] + [""] * (width - len(header))
    return distinct(label or f"col_{position}" for position, label in enumerate(plain, start=1))


def numbered_names(header: Sequence[str], names: Sequence[str]) -> str:
    """Return the numbered names in words, empty without any.

    Args:
        header: Names as the file has them, perhaps too few.
        names: Those of the columns.
    """
    found = [
        name for name, plain in zip(names, header, strict=False) if plain.strip() and name != " ".join(plain.split())
    ]
    more = [_CUT] if len(found) > _MOST_NUMBERED else []
    return f"repeated names are numbered: {', '.join([*found[:_MOST_NUMBERED], *more])}" if found else ""


def distinct(wanted: Iterable[str]) -> list[str]:
    """Return names in their order, each with a number behind it after an equal one, letter case aside."""
    names: list[str] = []
    taken: set[str] = set()
    repeats: dict[str, int] = {}
    for base in wanted:
        name, repeat = base, repeats.get(base.lower(), 2)
        while name.lower() in taken:
            name, repeat = f"{base}_{repeat}", repeat + 1
        repeats[base.lower()] = repeat
        taken.add(name.lower())
        names.append(name)
    return names


def _filled(row: Sequence[Cell]) -> int:
    if row and row[-1] not in (None, ""):
        return len(row)
    return max((index + 1 for index, cell in enumerate(row) if cell not in (None, "")), default=0)


def _column(name: str, cells: list[Cell], raw: RawTable) -> tuple[Column, list[Cell]]:
    """Type a column; among texts alone, each distinct one only once."""
    counts = Counter(cells) if raw.untyped else None
    column, values = _typed(name, cells if counts is None else list(counts), raw.decimal_comma, counts)
    if counts is not None:
        meant = dict(zip(counts, values, strict=True))
        values = [meant[cell] for cell in cells]
    return column, values


def _typed(
    name: str, cells: list[Cell], decimal_comma: bool, counts: Counter[Cell] | None
) -> tuple[Column, list[Cell]]:
    texts = [cell.strip() for cell in cells if isinstance(cell, str)]
    present = [text for text in texts if text not in MISSING]
    if (numbers := _numbers(cells, present, decimal_comma)) is not None:
        real = any(isinstance(value, float) for value in numbers)
        return Column(name=name, kind="real" if real else "integer"), numbers
    missing = {""} if counts is None else _missing(counts)
    values = [_text(cell, missing) for cell in cells]
    forms = _date_forms(present) if len(present) == sum(value is not None for value in values) else set[str]()
    form = next(iter(forms)) if len(forms) == 1 else ""
    return Column(name=name, kind="date" if form else "text", form=form, ambiguous=forms == EITHER), values


def _numbers(cells: list[Cell], present: list[str], decimal_comma: bool) -> list[Cell] | None:
    """Return all cells as numbers, or None for any other significant cell."""
    if present and present[0] not in _MISSING_NUMBERS and number(present[0], decimal_comma=decimal_comma) is None:
        return None
    if any(text[0] == "0" and is_code(text) for text in present):
        return None
    pointed = decimal_comma and has_points_between_thousands([t for t in present if t not in _MISSING_NUMBERS])
    numeric: list[Cell] = []
    for cell in cells:
        value = cell
        if isinstance(cell, str):
            value = number(cell.replace(".", "") if pointed else cell, decimal_comma=decimal_comma)
            if value is None and cell.strip() not in _MISSING_NUMBERS:
                return None
        elif isinstance(cell, float) and not math.isfinite(cell):
            value = None
        numeric.append(value)
    whole = [value for value in numeric if not isinstance(value, str) and value is not None]
    if not whole:
        return None
    if all(float(value).is_integer() and abs(value) < 2**53 for value in whole):
        return [None if value is None else int(value) for value in numeric]
    return numeric


def _missing(counts: Counter[Cell]) -> set[str]:
    """Return the marks of a missing text: NA does not count among codes such as MA and ZA."""
    if not any(isinstance(cell, str) and cell.strip() in PERHAPS_CODES for cell in counts):
        return MISSING
    present = {cell: count for cell, count in counts.items() if isinstance(cell, str) and cell.strip() not in MISSING}
    codes = sum(count for cell, count in present.items() if CODE.fullmatch(cell.strip()))
    return MISSING - PERHAPS_CODES if present and codes >= 0.9 * sum(present.values()) else MISSING


def _text(cell: Cell, missing: set[str]) -> Cell:
    text = "" if cell is None else str(cell).strip()
    return None if text in missing else text


def _date_forms(present: list[str]) -> set[str]:
    """Return the ways of reading every cell of a column as a date."""
    forms = date_forms(present[0]) if present else set[str]()
    for text in present:
        forms = {form for form in forms if iso_date(text, form)}
        if not forms:
            break
    return forms
