"""Addresses in the words of a task."""

from __future__ import annotations

import re

ADDRESS = re.compile(r"https?://[^\s<>\"'`]+", re.IGNORECASE)
_FILES = (
    r"(?:bak|cp?p?|css|csv|docx?|go|gz|html?|ini|ipynb|java|jpe?g|js|jsonl?|log|md|od[st]|pdf|png|py|rs|rst|sh|sql"
    r"|toml|ts|tsv|txt|xlsx?|xml|ya?ml|zip)"
)
BARE = re.compile(  # without its scheme: a host with a dot or a port, and a path
    r"(?<![\w.@/:\\-])(?!\d+(?:\.\d+){3}/\d\d?(?![\w/.-]*\w))"  # a network such as 10.0.0.0/8
    r"(?:(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?"
    rf"|(?=[\d.-]{{0,60}}[a-z])[a-z\d-]{{1,60}}(?:\.[a-z\d-]{{1,60}}){{0,4}}(?::\d{{2,5}}|\.(?!{_FILES}/)[a-z]{{2,12}}))"
    r"/[\w%~.-][^\s<>\"'`]*",
    re.IGNORECASE,
)
_ENDS = ".,;:!?*_~]}\u201d\u2019"  # stand behind an address in a sentence


def addresses_in(words: str) -> list[str]:
    """Return the web addresses in words, each once and in order, without the marks of a sentence or of Markdown.

    Examples:
        >>> addresses_in("See https://a.test/b, or [this](http://c.test/d_(e)).")
        ['https://a.test/b', 'http://c.test/d_(e)']
    """
    return list(dict.fromkeys(map(without_marks, ADDRESS.findall(words.replace("](", " ")))))


def without_marks(address: str) -> str:
    """Return an address without the marks at its end, of the sentence or brackets around it."""
    open_ends, end = address.count(")") - address.count("("), len(address)
    while end and (address[end - 1] in _ENDS or (address[end - 1] == ")" and open_ends > 0)):
        end -= 1
        open_ends -= address[end] == ")"
    return address[:end]
