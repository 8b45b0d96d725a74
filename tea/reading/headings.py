"""Headings of a text: marked ones, or without any, lines standing alone like one."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

_MARKED = re.compile(r"(#{1,6})\s+(\S.*)")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_CAPITALS = re.compile(r"(?=.*[^\W\d_]{3})\w(?:[^.!?:;,|_=<>{}\[\]]|[:,] ){2,79}")
_NAMED = re.compile(r"[^\W\d_]{3,20} (?:\d{1,4}|[IVXLC]{1,8})(?:[.:]? .{1,80}|[.:])?", re.IGNORECASE)
_LABELLED = re.compile(r"(?=[^\W\d_]{4,20}: )([^:]+): [^\W\d_](?:[^.!?:;|]){2,70}")
_COUNTED = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,4})[.)]?\s+[^\W\d_]")
_NUMBERED = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,4})[.)]?\s+[^\W\d_](?:(?![.!?;] ).){1,76}")
_CENTRED = re.compile(r"[^\W\d_][\w’'\-/&(), ]{2,70}")
_LEAST_INDENT, _LEAST_WIDTH, _MOST_WIDTH, _OFF_CENTRE = 8, 50, 100, 8  # characters
_MOST_CENTRED = 3  # lines
_LONGEST = 200


class Title(NamedTuple):
    """A heading.

    Args:
        line: Its line, from 1.
        level: Its level, from 1.
        text: Its words; none where a numbered part begins that has no heading.
    """

    line: int
    level: int
    text: str


def titles(lines: Sequence[str]) -> list[Title]:
    """Return the headings of a text in order; unmarked ones only if they are at most half of the lines with text.

    Args:
        lines: The text; marks of pages and the like are not headings.
    """
    if marked := _marked(lines):
        return marked
    found = _plain(lines)
    return found if len(found) * 2 <= sum(bool(line.strip()) for line in lines) else []


def heading_above(found: Sequence[Title], line: int) -> str:
    """Return the words of the heading above a line, empty if there is none.

    A heading stands under the last one of a higher level.

    Args:
        found: Headings in order.
        line: The line, from 1.
    """
    before = [one for one in found if one.line <= line]
    if not before or before[-1].line < line or not before[-1].text:
        return before[-1].text if before else ""
    return next((one.text for one in reversed(before) if one.level < before[-1].level), "")


def _marked(lines: Sequence[str]) -> list[Title]:
    """Return headings marked by `#` or underlined; neighbours of one level are remarks, as in a program."""
    found, fenced = list[Title](), False
    for number, line in enumerate(lines, start=1):
        fenced ^= bool(_FENCE.match(line))
        after = lines[number] if number < len(lines) else ""
        before = lines[number - 2] if number > 1 else ""
        if fenced or _FENCE.match(line):
            continue
        if mark := _MARKED.fullmatch(line):
            if not any(one.startswith(f"{mark[1]} ") for one in (before, after)):
                found.append(Title(number, len(mark[1]), (mark[2].rstrip("#").rstrip() or mark[2])[:_LONGEST]))
        elif line.strip() and not before.strip() and _is_underlined(line.strip(), after.strip()):
            found.append(Title(number, 1 if "=" in after else 2, line.strip()[:_LONGEST]))
    return found


def _is_underlined(text: str, after: str) -> bool:
    return bool(_UNDERLINE.fullmatch(after)) and text[:1].isalnum() and "|" not in text and len(text) <= _LONGEST


def _plain(lines: Sequence[str]) -> list[Title]:
    """Return lines standing alone in capitals, behind a number or centred."""
    width = min(_width(lines), _MOST_WIDTH)
    found, named = list[Title](), ("", 0)
    for number in range(1, len(lines) + 1):
        one, count = _alone(lines, number, width), _count_of(lines[number - 1])
        if one is None and count[1] and count == (named[0], named[1] + 1):  # `Chapter 2` close behind what is before it
            one = Title(number, 1, lines[number - 1].strip())
        named = count if one and count[1] else named
        if one and not _is_listed(lines, one):
            found.append(one)
        elif found and found[-1].text and _is_next(found[-1], lines, number):
            found.append(Title(number, found[-1].level, ""))
    return found


def _alone(lines: Sequence[str], number: int, width: int) -> Title | None:
    """Return the paragraph beginning with a line as a heading if it looks like one."""
    text = lines[number - 1].strip()
    if not text or not _begins(lines, number):
        return None
    block = list(takewhile(str.strip, lines[number - 1 : number + _MOST_CENTRED]))
    if len(block) <= _MOST_CENTRED and _is_centred(block, width):
        return Title(number, 1, " ".join(" ".join(block).split())[:_LONGEST])
    if len(block) > 1:
        return None
    if count := _NUMBERED.fullmatch(text):
        return Title(number, 2 + count[1].count("."), text)
    named = (text.isupper() and _CAPITALS.fullmatch(text)) or _NAMED.fullmatch(text)
    label = _LABELLED.fullmatch(text)
    return Title(number, 1, text) if named or (label and label[1].isupper()) else None


def _count_of(line: str) -> tuple[str, int]:
    """Return the name and the number of a heading such as `Chapter 2: Rain`; no name and 0 for other lines."""
    text = line.strip()
    word, _, rest = text.partition(" ")
    digits = "".join(takewhile(str.isdecimal, rest))
    return (word.casefold(), int(digits)) if digits and _NAMED.fullmatch(text) else ("", 0)


def _begins(lines: Sequence[str], number: int) -> bool:
    return number == 1 or not lines[number - 2].strip()


def _is_centred(block: Sequence[str], width: int) -> bool:
    """Return whether the lines of a paragraph are words in the middle of the text's width, the first one indented."""
    wide = [one.expandtabs().rstrip() for one in block]
    indents = [len(one) - len(one.lstrip()) for one in wide]
    centres = [(indent + len(one)) / 2 for indent, one in zip(indents, wide, strict=True)]
    near = width >= _LEAST_WIDTH and all(abs(one - width / 2) <= _OFF_CENTRE for one in centres)
    first = block[0].strip()
    return near and indents[0] >= _LEAST_INDENT and first[0].isupper() and bool(_CENTRED.fullmatch(first))


def _is_next(one: Title, lines: Sequence[str], number: int) -> bool:
    """Return whether a paragraph begins with the number after that of a heading, so it is not part of its section."""
    last, here = _COUNTED.match(one.text), _COUNTED.match(lines[number - 1].strip())
    if not last or not here or not _begins(lines, number):
        return False
    (*above, count), (*over, counted) = last[1].split("."), here[1].split(".")
    return above == over and int(counted) == int(count) + 1


def _is_listed(lines: Sequence[str], one: Title) -> bool:
    """Return whether a numbered line is an item of a list: a neighbour among the written lines is one of its level."""
    if not _NUMBERED.fullmatch(one.text):
        return False
    after = next((line.strip() for line in lines[one.line :] if line.strip()), "")
    before = next((line.strip() for line in reversed(lines[: one.line - 1]) if line.strip()), "")
    return any(_depth(near) == one.level for near in (before, after))


def _depth(text: str) -> int:
    count = _COUNTED.match(text)
    return 2 + count[1].count(".") if count else 0


def _width(lines: Sequence[str]) -> int:
    """Return the width of nearly all lines at most."""
    lengths = sorted(len(line.rstrip()) for line in lines if line.strip())
    return lengths[len(lengths) * 19 // 20] if lengths else 0
