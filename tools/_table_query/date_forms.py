"""Forms of dates as SQL names them, in the words of several tools, and the dates not read by `iso`."""

import re
from collections.abc import Callable
from functools import lru_cache

from .numbers import date_forms, iso_date

FORMS = "'dmy', 'mdy', 'words' (1 May 2018), 'iso', or such as '%d/%m/%Y' and 'DD/MM/YYYY'"
_BY_ORDER = {"dmy": "dmy", "mdy": "mdy", "ymd": "iso", "ym": "iso", "dMy": "words", "Mdy": "words"}
_TIME = re.compile(r"%[HIMSfpzZT]|[hH]|[tT](?=[hH])")
_PART = re.compile(r"%-?([deFmbBhYy])|([dDmMyY])\2*")
_PARTS = {"year": (0, 4), "quarter": (5, 7), "month": (5, 7), "day": (8, 10)}
_MONTH_NAMED = 3  # letters: MMM
_MOST_TOLD = 100_000
_LONGEST = 80


@lru_cache(maxsize=1_000)
def known_form(form: str) -> str:
    """Return a form as `iso_date` names it, empty for an unknown one.

    Args:
        form: One of its names, or a pattern such as `%d.%m.%Y` or `DD.MM.YYYY`; what follows of time is left aside.
    """
    bare = form.strip()
    if bare.casefold() in ("iso", "dmy", "mdy", "words"):
        return bare.casefold()
    time = _TIME.search(bare)
    order = "".join(map(_letter, _PART.finditer(bare[: time.start()] if time else bare)))
    rest = _PART.sub("", bare[: time.start()] if time else bare)
    return "" if re.search(r"\w|%", rest) else _BY_ORDER.get(order, "")


def _letter(part: re.Match[str]) -> str:
    """Return d, m or y of a part of a pattern, M for a month's name."""
    if code := part[1]:
        return {"e": "d", "F": "ymd", "b": "M", "B": "M", "h": "M", "Y": "y"}.get(code, code)
    letter = part[2].lower()
    return "M" if letter == "m" and len(part[0]) >= _MONTH_NAMED else letter


class Iso:
    """The function `iso` of one statement, with the values it could not read."""

    def __init__(self) -> None:
        self.unknown = ""
        self._read, self._unread = set[str](), dict[str, str]()

    def begin(self) -> None:
        """Begin a statement."""
        self.unknown = ""
        self._read.clear()
        self._unread.clear()

    def __call__(self, value: object, form: object) -> str | None:
        """Return a date in ISO 8601, None for a text of another form.

        Raises:
            ValueError: There is no such form.
        """
        return self._date(value, form, "iso")

    def part(self, name: str) -> Callable[..., int | None]:
        """Return the function for the year, quarter, month or day of a date, in ISO 8601 without another form.

        Args:
            name: Its name in SQL.
        """

        def part(value: object, form: object = "iso", *more: object) -> int | None:
            if more:
                raise TypeError(name)
            begin, end = _PARTS[name]
            found = (self._date(value, form, name) or "")[begin:end]
            return None if not found else (int(found) + 2) // 3 if name == "quarter" else int(found)

        return part

    def _date(self, value: object, form: object, name: str) -> str | None:
        if value is None or form is None:
            return None
        if not (known := known_form(str(form))):
            self.unknown = str(form)[:_LONGEST] or " "
            raise ValueError(form)
        found, text = iso_date(str(value), known), str(value)[:_LONGEST]
        if found is None and len(self._unread) < _MOST_TOLD:
            self._unread.setdefault(text, f"{name}(..., {str(form)!r})")
        elif len(self._read) < _MOST_TOLD:
            self._read.add(text)
        return found

    def doubts(self) -> list[str]:
        """Return a line about the values no call of the statement could read."""
        unread = [text for text in self._unread if text not in self._read]
        if not unread:
            return []
        first = unread[0]
        count = f"{len(unread)} value{'' if len(unread) == 1 else 's'}"
        forms = " or ".join(map(repr, sorted(date_forms(first))))
        written = f", of form {forms}" if forms else ""
        return [f"{self._unread[first]} gives NULL for {count}, such as {first!r}{written}"]
