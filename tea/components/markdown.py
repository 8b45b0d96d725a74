"""Markdown around foreign text: any text stays inside the place it is given.

Descriptions, rules and examples come from components that anybody may have written. Here they keep their paragraphs,
lists and inline code, and cannot begin a heading, a rule, a table's head, a fence, HTML or an image. Characters that
cannot be seen are written as their numbers.
"""

from __future__ import annotations

import re

from tea.characters import numbered

_MARKER = re.compile(r"(?:[-*+]|\d{1,9}[.)]) +")
_BLOCK = re.compile(r"[#>=\-*+~|\[]|`{3}|\d{1,9}[.)]|_(?=[ _]+$)")
_WIDE_SPACE = re.compile(r"[^\S\n ]")  # looks like a space, and is another character
_TAG = re.compile(r"<(?=[A-Za-z/!?])(?!U\+[0-9A-F]{4,6}>)")  # a number of a character is none


def plain(text: str) -> str:
    """Return `text` with bare newlines, spaces in place of tabs, and each hidden character as its number."""
    return numbered(text.replace("\t", " "))


def one_line(text: str) -> str:
    """Return `text` on one line, plain."""
    return " ".join(plain(text).split())


def inline(text: str) -> str:
    """Return text for use inside a line."""
    return _TAG.sub("&lt;", one_line(text)).replace("![", "!\\[").replace("```", "'''")


def prose(text: str) -> str:
    """Return text as paragraphs and flat lists; lines stay lines."""
    lines = (_line(line) for line in plain(text).strip().split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def code(text: str) -> str:
    """Return text as inline code."""
    line = one_line(text) or " "
    mark = "`" * (_longest_run(line) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{mark}{space}{line}{space}{mark}"


def block(text: str, language: str = "") -> str:
    """Return text as a code block with a fence longer than any inside it."""
    fence = "`" * max(3, _longest_run(text) + 1)
    shown = _WIDE_SPACE.sub(lambda found: f"<U+{ord(found[0]):04X}>", plain(text).rstrip())
    return f"{fence}{language}\n{shown}\n{fence}"


def _line(line: str) -> str:
    words = inline(line)
    marker = _MARKER.match(words)
    begin = marker[0] if marker else ""
    rest = words[len(begin) :]
    found = _BLOCK.match(rest)
    if found and found[0][-1] in ".)":
        return f"{begin}{found[0][:-1]}\\{rest[len(found[0]) - 1 :]}"
    return f"{begin}\\{rest}" if found else words


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
