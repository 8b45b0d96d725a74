"""Dates: the day stated near the beginning of a document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

HEAD = 600  # characters in which it is looked for

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.?"
_STATED = re.compile(
    r"\b(?:published|posted|issued|released|revised|written|(?:last )?(?:updated|modified|changed|reviewed)|date)\b"
    r"(?: (?:on|in))?[\s:*_\"']{1,6}"
    rf"(?:(?P<iso>\d{{4}}-\d\d-\d\d)(?!\d)|(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?P<m>{_MONTH}),? (?P<y>\d{{4}})\b"
    rf"|(?P<m2>{_MONTH}) (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y2>\d{{4}})\b"
    r"|(?P<year>(?:19|20)\d\d)(?![\w\-–/]|[.,]\d))",
    re.IGNORECASE,
)


def stated_day(text: str) -> str:
    r"""Return the latest day stated by a text for itself, as `YYYY-MM-DD` or `YYYY`; empty if it states none.

    Args:
        text: The text, of which the first 600 characters count.

    Examples:
        >>> stated_day("# Rainy thoughts\n\nPosted 3 May 2016. In 2020 it rained.")
        '2016-05-03'
        >>> stated_day("Published 2021 by the office, on the years 1950-2019.")
        '2021'
    """
    return max(_days(text[:HEAD]), default="")


def _days(text: str) -> Iterator[str]:
    for match in _STATED.finditer(text):
        if match["year"]:
            yield match["year"]
            continue
        month = _MONTHS.index((match["m"] or match["m2"])[:3].lower()) + 1 if not match["iso"] else 0
        written = match["iso"] or f"{match['y'] or match['y2']}-{month:02}-{int(match['day'] or match['day2']):02}"
        try:
            yield date.fromisoformat(written).isoformat()
        except ValueError:  # there is no such day
            continue
