"""Addresses in the words of a task."""

from __future__ import annotations

import re

ADDRESS = re.compile(r"https?://[^\s<>\"'`]+", re.IGNORECASE)
_ENDS = ".,;:!?*_~]}\u201d\u2019"  # stand behind an address in a sentence


def addresses_in(words: str) -> list[str]:
    """Return the web addresses in words, each once and in order, without the marks of a sentence or of Markdown.

    Examples:
        >>> addresses_in("See https://a.test/b, or [this](http://c.test/d_(e)).")
        ['https://a.test/b', 'http://c.test/d_(e)']
    """
    return list(dict.fromkeys(map(without_marks, ADDRESS.findall(words.replace("](", " ")))))


def without_marks(address: str) -> str:
    """Return an address without what closes the sentence or the brackets around it."""
    open_ends, end = address.count(")") - address.count("("), len(address)
    while end and (address[end - 1] in _ENDS or (address[end - 1] == ")" and open_ends > 0)):
        end -= 1
        open_ends -= address[end] == ")"
    return address[:end]
