"""Dates in texts, and the time between them."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from datetime import date, datetime
from itertools import combinations

MOST_DATES = 24  # dates of which each two are compared
MOST_EXACT = 4  # dates of which the months beside full years are counted
_DATE = re.compile(
    r"(?<![\w.-])(?:\d{4}-\d{2}-\d{2}(?!\d)|\d{1,2}(?:st|nd|rd|th)?\.? [^\W\d_]{3,9},? \d{4}\b"
    r"|[^\W\d_]{3,9} \d{1,2}(?:st|nd|rd|th)?,? \d{4}\b)"
)
_YEAR = re.compile(r"(?<![\w.,-])(?:1[5-9]|20)\d\d(?![\w%]|[.,]\d)")
_ASIDE = re.compile(r"(?<=\d)(?:st|nd|rd|th)|[.,]")
_FORMS = ("%Y-%m-%d", "%d %B %Y", "%B %d %Y", "%d %b %Y", "%b %d %Y")


def dates_of(text: str) -> list[date]:
    """Return the dates of a text, each once, written as `2026-05-03` or with the English month."""
    return list(dict.fromkeys(one for match in _DATE.finditer(text) if (one := _read(match[0])) is not None))


def spans(dates: Sequence[date]) -> set[float]:
    """Return the days and weeks between each two dates.

    Of more than 24 dates nothing is returned, as too much would follow.

    Examples:
        >>> sorted(spans(dates_of("from 3 May 2026 to 2026-05-17")))
        [2.0, 14.0, 15.0]
    """
    days = (
        {abs((one - other).days) for one, other in combinations(dates, 2)} if len(dates) <= MOST_DATES else set[int]()
    )
    return {float(each) for one in days for each in (one, one + 1, one / 7)}  # with and without the first day


def dates_apart(text: str, known: Container[date]) -> tuple[str, list[str]]:
    """Return a text without its dates, and the unknown ones among them, in any form.

    Examples:
        >>> dates_apart("It ended on March 4, 1845, after 1,430 days.", dates_of("1841-04-04,1845-03-04"))
        ('It ended on  , after 1,430 days.', [])
    """
    found = {match[0]: one for match in _DATE.finditer(text) if (one := _read(match[0])) is not None}
    return (
        _DATE.sub(lambda match: " " if match[0] in found else match[0], text),
        [words for words, one in found.items() if one not in known],
    )


def _read(text: str) -> date | None:
    for form in _FORMS:
        try:
            return datetime.strptime(_ASIDE.sub("", text), form).date()
        except ValueError:
            continue
    return None


def years_between(text: str) -> set[float]:
    """Return the years between each two years of a text; nothing of one with more than 24.

    Examples:
        >>> sorted(years_between("It was built in 1932, and closed in 1987."))
        [55.0]
    """
    found = list(dict.fromkeys(map(int, _YEAR.findall(text))))
    return {float(abs(one - other)) for one, other in combinations(found, 2)} if len(found) <= MOST_DATES else set()


def years_of(dates: Sequence[date]) -> set[float]:
    """Return the full and the begun years between each two dates, and of a few the months beside full years.

    Examples:
        >>> sorted(years_of([date(1890, 5, 14), date(2001, 1, 30)]))
        [8.0, 110.0, 111.0]
    """
    found = set[int]()
    for first, last in combinations(sorted(dates), 2) if len(dates) <= MOST_DATES else ():
        years, months = divmod(12 * (last.year - first.year) + last.month - first.month - (last.day < first.day), 12)
        found |= {years, last.year - first.year, *([months] if len(dates) <= MOST_EXACT else [])}
    return {float(one) for one in found}
