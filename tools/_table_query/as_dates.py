"""Dates as texts: the forms sorted in the order of time."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .numbers import date_forms, iso_date

_PADDED = re.compile(r"\d{4}([-/.])\d\d(?:\1\d\d(?!\d).*)?", re.DOTALL)
_FEWEST = 0.8  # share of the values of a column of dates that are dates


@dataclass(frozen=True, slots=True)
class Dates:
    """A column of dates: its name in SQL, one date for each form, and whether they sort in the order of time.

    Args:
        column: Its name.
        shown: Dates by their forms.
        ordered: Whether the order of the texts is that of time.
        ambiguous: Whether day and month may be taken for each other.
    """

    column: str
    shown: dict[str, str]
    ordered: bool
    ambiguous: bool

    @property
    def as_iso(self) -> str:
        """Return the dates in ISO 8601, in SQL."""
        calls = [f"iso({self.column}, '{form}')" for form in self.shown]
        return calls[0] if len(calls) == 1 else f"coalesce({', '.join(calls)})"

    @property
    def in_order(self) -> str:
        """Return the dates as texts of the order of time, in SQL."""
        return self.column if self.ordered else self.as_iso

    @property
    def perhaps(self) -> str:
        """Return a remark about dates of two meanings, empty for others."""
        return " ('mdy' if the month comes first)" if self.ambiguous else ""

    @property
    def unclear(self) -> str:
        """Return a warning about dates of two meanings read in one, empty for others."""
        if not self.ambiguous:
            return ""
        told = f"{self.column} has no day above 12, so {self.shown['dmy']!r} may be 'dmy' or 'mdy'"
        return f"{told}: look for what tells which, and say which was taken"

    def doubt(self) -> str:
        """Return a warning about their order, empty if they sort in the order of time."""
        return "" if self.ordered else f"{self._written}: take {self.as_iso}{self.perhaps}"

    def doubts_beside(self, texts: Sequence[str]) -> Iterator[str]:
        """Yield warnings about dates and texts compared by their order, none for the order of time."""
        meant = [{iso for one in date_forms(text) if (iso := iso_date(text, one))} for text in texts]
        if not self.ordered:
            clear = all(len(one) == 1 for one in meant)
            others = " and ".join(repr(iso) for one in meant for iso in one)
            other = others if clear else "a date such as '2024-05-31'"
            yield f"{self._written}: compare {self.as_iso} with {other}{self.perhaps}"
            return
        yield from filter(None, map(self._unlike, texts, meant))

    def _unlike(self, text: str, meant: set[str]) -> str:
        """Return a warning about a date written otherwise than those of the column, empty for others."""
        first = self.shown["iso"]
        right = {one.replace("-", first[4]) for one in meant}
        if not meant or any(text.startswith(one) for one in right):
            return ""
        fix = f": did you mean {right.pop()!r}?" if len(right) == 1 else ""
        return f"{text!r} is not written as the dates of {self.column}, such as {first!r}{fix}"

    @property
    def _written(self) -> str:
        examples = " and ".join(map(repr, self.shown.values()))
        return f"{self.column} is written as {examples}, in no order of time"


def dates_of(column: str, values: Sequence[str], form: str = "") -> Dates | None:
    """Return a column of texts as one of dates, None if a good part of them are none.

    Args:
        column: Its name, in SQL.
        values: Some of its values.
        form: The form of all of them, if it is known.
    """
    read = [(one, {form} if form else date_forms(one)) for one in values]
    dates = [(one, forms) for one, forms in read if forms]
    if not dates or len(dates) < _FEWEST * len(values):
        return None
    needed = {next(iter(forms)) for _, forms in dates if len(forms) == 1}
    ambiguous = not {"dmy", "mdy"} & needed and any(len(forms) > 1 for _, forms in dates)
    needed |= {"dmy"} if ambiguous else set()
    padded = [one for one, _ in dates if _PADDED.fullmatch(one)]
    ordered = needed == {"iso"} and len(padded) == len(dates) and len({one[4] for one in padded}) == 1
    shown = {
        form: next((one for one, forms in dates if form in forms and not _PADDED.fullmatch(one)), dates[0][0])
        for form in sorted(needed)
    }
    return Dates(column, shown, ordered, ambiguous)


def days_between(later: Dates, earlier: Dates) -> str:
    """Return a warning about a difference of two columns of dates."""
    days = f"julianday({later.in_order}) - julianday({earlier.in_order}) gives days"
    remark = later.perhaps or earlier.perhaps
    return f"{later.column} - {earlier.column} subtracts texts, not dates: {days}{remark}"
