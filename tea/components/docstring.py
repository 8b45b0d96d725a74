"""Docstrings of functions: their words, parameters and examples, in Google, NumPy or Sphinx style."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tea.errors import BadComponent

_MOST_LINES = 5_000
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
        examples: The text of its examples, with `>>>` before each call.
    """

    summary: str
    description: str
    parameters: dict[str, str | None]
    examples: str


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
    try:
        parsed = parse(text, style=style)
    except ParseError as error:
        raise ValueError(str(error)) from error
    shown = [part or "" for one in parsed.examples for part in (one.snippet, one.description)]
    return Docstring(
        summary=parsed.short_description or "",
        description="\n\n".join(filter(None, (parsed.short_description, parsed.long_description))),
        parameters={
            name.strip().lstrip("*"): one.description for one in parsed.params for name in one.arg_name.split(",")
        },
        examples="\n".join(filter(None, shown)),
    )
