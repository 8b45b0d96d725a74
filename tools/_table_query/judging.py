"""The type of a column never held as a whole: told value by value, with the results of `columns.py`."""

import math
from collections.abc import Callable

from .columns import CODE, PERHAPS_CODES
from .numbers import ALSO_MISSING_AMONG_NUMBERS, EITHER, MISSING, date_forms, is_code, is_pointed, iso_date, number
from .tables import Cell, Kind

_MISSING_NUMBERS = MISSING | ALSO_MISSING_AMONG_NUMBERS
_MOST_SEEN = 5_000
_SAFE = 2**53


class _Numbers:
    """Whether all values are numbers, read in one way."""

    def __init__(self, *, decimal_comma: bool, pointed: bool) -> None:
        self.decimal_comma, self.pointed = decimal_comma, pointed
        self.hold, self.some, self.whole = True, False, True

    def take(self, text: str) -> None:
        value = self.value(text)
        if value is None:
            self.hold = self.hold and text.strip() in _MISSING_NUMBERS
            return
        self.some = True
        self.whole = self.whole and (isinstance(value, int) or value.is_integer()) and abs(value) < _SAFE

    def value(self, text: str) -> int | float | None:
        return number(text.replace(".", "") if self.pointed else text, decimal_comma=self.decimal_comma)


class Judge:
    """Take the cells of a column one by one, and then tell its type and each cell's meaning.

    Args:
        decimal_comma: Whether 3,14 is three and a bit.
        marks: Whether NA and the like stand for missing values among texts; among numbers they always do.
    """

    def __init__(self, *, decimal_comma: bool, marks: bool = True) -> None:
        self._marks, self._marked = marks, False
        self._plain = _Numbers(decimal_comma=decimal_comma, pointed=False)
        self._pointed = _Numbers(decimal_comma=True, pointed=True) if decimal_comma else None
        self._points, self._all_pointed = False, decimal_comma
        self._forms: set[str] | None = None
        self._coded = self._perhaps = False
        self._present = self._codes = 0
        self._seen = set[str]()

    def take(self, cell: str) -> None:
        """Take a cell."""
        text = cell.strip()
        if text in MISSING:
            self._perhaps = self._perhaps or text in PERHAPS_CODES
            self._marked = self._marked or text != ""
            return
        self._present += 1
        self._codes += CODE.fullmatch(text) is not None if len(text) < 40 else 0
        if text in self._seen:
            return
        if len(self._seen) < _MOST_SEEN and len(text) < 200:
            self._seen.add(text)
        self._coded = self._coded or is_code(text)
        if self._plain.hold:
            self._plain.take(cell)
        if self._pointed is not None and self._pointed.hold:
            self._pointed.take(cell)
            if text not in _MISSING_NUMBERS:
                self._points = self._points or "." in text
                self._all_pointed = self._all_pointed and is_pointed(text)
        if self._forms is None:
            self._forms = date_forms(text)
        elif self._forms:
            self._forms = {form for form in self._forms if iso_date(text, form)}

    @property
    def _numbers(self) -> _Numbers | None:
        """Return the way of reading its numbers, None for other columns."""
        pointed = self._pointed if self._points and self._all_pointed else None
        found = pointed or self._plain
        return found if found.hold and found.some and not self._coded else None

    @property
    def form(self) -> str:
        """Return the form of its dates, empty without any."""
        forms = self._date_forms
        return next(iter(forms)) if len(forms) == 1 else ""

    @property
    def ambiguous(self) -> bool:
        """Whether all of its dates have the day or the month first, and none shows which."""
        return self._date_forms == EITHER

    @property
    def _date_forms(self) -> set[str]:
        """Return the ways of reading all its values as dates."""
        return (self._forms or set[str]()) if self._numbers is None and not self._keeps_codes else set[str]()

    @property
    def kind(self) -> Kind:
        """The type of its values."""
        if found := self._numbers:
            return "integer" if found.whole else "real"
        return "date" if self.form else "text"

    @property
    def _keeps_codes(self) -> bool:
        """Whether NA is a code among others such as MA and ZA, and not a missing value."""
        return self._perhaps and self._present > 0 and self._codes >= 0.9 * self._present

    def meaning(self) -> Callable[[str], Cell]:
        """Return a function for the meaning of a cell."""
        found = self._numbers
        missing = {""} if not self._marks else MISSING - PERHAPS_CODES if self._keeps_codes else MISSING

        def as_number(cell: str) -> Cell:
            value = None if found is None else found.value(cell)
            if value is None or not math.isfinite(value):
                return None
            return int(value) if found is not None and found.whole else value

        def as_text(cell: str) -> Cell:
            text = cell.strip()
            return None if text in missing else text

        return as_text if found is None else as_number
