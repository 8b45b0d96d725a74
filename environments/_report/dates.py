"""Dates of texts: with a day or a month and a year, in figures or with the month's name."""

import re

MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
YEAR_AND_MONTH = re.compile(r"(?<![\d-])\d{4}-(0[1-9]|1[0-2])(?![\d-])")
_MONTH = "|".join(f"{name}|{name[:3]}\\.?" for name in MONTHS)
DATES = (
    re.compile(r"\b(?P<y>\d{4})(?P<mark>[-/])(?P<m>\d{1,2})(?P=mark)(?P<d>\d{1,2})(?!\d)"),
    re.compile(r"\b(?P<d>\d{1,2})\.[ ]?(?P<m>\d{1,2})\.[ ]?(?P<y>\d{4})\b"),
    re.compile(r"\b(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})\b"),
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?P<m>{_MONTH})\b,? (?P<y>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b(?P<m>{_MONTH}) (?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b(?P<m>{_MONTH}),? (?P<y>\d{{4}})\b", re.IGNORECASE),
)


def dates_in(text: str) -> list[re.Match[str]]:
    """Return the dates of a text, none inside of another."""
    found: list[re.Match[str]] = []
    for pattern in DATES:
        found += pattern.finditer(text)
        text = pattern.sub(lambda match: blank(match[0]), text)
    return found


def days_of(match: re.Match[str]) -> set[tuple[int, int, int]]:
    """Return the possible days of a date; 0 stands for no day."""
    parts = match.groupdict()
    year, month = int(parts["y"]), parts["m"]
    number = int(month) if month.isdigit() else [name[:3] for name in MONTHS].index(month[:3].lower()) + 1
    day = int(parts.get("d") or 0)
    turned = {(year, day, number)} if "/" in match[0] and not parts.get("mark") else set[tuple[int, int, int]]()
    return {(year, number, day)} | turned


def days_in(text: str) -> list[tuple[int, int, int]]:
    """Return the possible days of all dates of a text; 0 stands for no day."""
    return [one for match in dates_in(text) for one in days_of(match)]


def blank(text: str) -> str:
    """Return a text with blanks in place of its signs, in the same lines."""
    return re.sub(r"[^\n]", " ", text)
