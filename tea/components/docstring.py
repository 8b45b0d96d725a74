"""Docstrings of functions: their words, parameters and examples, in Google, NumPy or Sphinx style."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from tea.errors import BadComponent

_MOST_LINES = 5_000
_BLANKS = (  # what Python takes for white space, beside blank, tab and newline
    "\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_PRIVATE = range(0xF0000, 0x10FFFE)  # codes of characters that are no white space
_NUMPY = re.compile(
    r"^[ \t]*(?:Other )?(?:Parameters|Returns|Yields|Raises|Examples?|Notes)[ \t]*\n[ \t]*-{3,}[ \t]*$", re.MULTILINE
)
_SPHINX = re.compile(
    r"^[ \t]*:(?:param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?)\b[^:\n]*:", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Docstring:
    """The parts of a function's docstring.

    Args:
        summary: Its first paragraph; empty where there is none.
        description: Summary and further paragraphs, separated by empty lines.
        parameters: The words about each parameter, by name.
        examples: The call and the result of each of its examples, as written.
    """

    summary: str
    description: str
    parameters: dict[str, str | None]
    examples: tuple[tuple[str, str], ...]


def cleaned(text: str) -> str:
    """Return a docstring without its indentation, and without empty lines around it.

    Indentation is of blanks and tabs alone, as in Python 3.13: earlier ones remove control characters with it.

    Raises:
        BadComponent: It has more than 5,000 lines.
    """
    require_short(text)
    first, *others = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip(" ")) for line in others if line.strip(" ")), default=0)
    return "\n".join([first.lstrip(" "), *(line[margin:] for line in others)]).strip("\n")


def require_short(text: str) -> None:
    """Refuse a docstring too long to be cleaned.

    Raises:
        BadComponent: It has more than 5,000 lines.
    """
    if text.count("\n") > _MOST_LINES:
        raise BadComponent(f"A docstring has more than {_MOST_LINES} lines.", fix="write a shorter one.")


def read_docstring(text: str) -> Docstring:
    """Return the parts of a docstring.

    Args:
        text: The docstring, its indentation removed. It is Google style unless it holds underlined NumPy sections or
            Sphinx fields such as `:param name:`.

    Raises:
        ValueError: It cannot be read.
    """
    from docstring_parser import DocstringStyle, ParseError, parse

    style = DocstringStyle.GOOGLE
    if _NUMPY.search(text):
        style = DocstringStyle.NUMPYDOC
    elif _SPHINX.search(text):
        style = DocstringStyle.REST
    stand_ins = _stand_ins(text)  # the parser removes all white space at the ends of parts
    try:
        parsed = parse(text.translate(stand_ins), style=style)
    except ParseError as error:
        raise ValueError(str(error)) from error
    back = {ord(other): chr(blank) for blank, other in stand_ins.items()}
    shown = "\n".join(part for one in parsed.examples for part in (one.snippet, one.description) if part)
    words = {name.strip().lstrip("*"): one.description for one in parsed.params for name in one.arg_name.split(",")}
    return Docstring(
        summary=(parsed.short_description or "").translate(back),
        description="\n\n".join(filter(None, (parsed.short_description, parsed.long_description))).translate(back),
        parameters={name.translate(back): text and text.translate(back) for name, text in words.items()},
        examples=tuple((call.translate(back), result.translate(back)) for call, result in _examples(shown)),
    )


def _examples(text: str) -> list[tuple[str, str]]:
    if ">>>" not in text:
        return []
    from doctest import DocTestParser

    return [(one.source.strip(" \n"), one.want.strip(" \n")) for one in DocTestParser().get_examples(text)]


def _stand_ins(text: str) -> dict[int, str]:
    """Return a private character not in a text for each of its blanks of other kinds, by code.

    Raises:
        ValueError: There are not enough.
    """
    odd = [ord(one) for one in _BLANKS if one in text]
    free = [chr(code) for code in islice((code for code in _PRIVATE if chr(code) not in text), len(odd))]
    if len(free) < len(odd):
        raise ValueError("it holds too many private characters")
    return dict(zip(odd, free, strict=True))
