"""Dates compared as texts: how they must be written for their order to be that of time."""

import re
from collections.abc import Sequence

from .numbers import date_forms, iso_date

_PADDED = re.compile(r"\d{4}([-/.])\d\d(?:\1\d\d(?!\d).*)?", re.DOTALL)


def date_doubt(column: str, form: str, values: Sequence[str], text: str) -> str:
    """Return a warning about dates and a text compared by their order, empty for the order of time.

    Args:
        column: The column, in SQL.
        form: The form of its dates.
        values: Some of them.
        text: What they are compared with.
    """
    if not values:
        return ""
    meant = {iso for one in date_forms(text) if (iso := iso_date(text, one))}
    first = next((one for one in values if not _PADDED.fullmatch(one)), values[0])
    if form != "iso" or not _PADDED.fullmatch(first) or len({one[4] for one in values}) > 1:
        written = repr(meant.pop()) if len(meant) == 1 else "a date such as '2024-05-31'"
        return f"{column} is written as {first!r}, in no order of time: compare iso({column}, '{form}') with {written}"
    right = {one.replace("-", first[4]) for one in meant}
    if not meant or any(text.startswith(one) for one in right):
        return ""
    fix = f": did you mean {right.pop()!r}?" if len(right) == 1 else ""
    return f"{text!r} is not written as the dates of {column}, such as {first!r}{fix}"
