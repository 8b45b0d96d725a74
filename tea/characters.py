"""Hidden characters: the recognition of those invisible or misleading to a reader, and their visible spelling.

A terminal obeys control characters, a reader never sees invisible ones, and bidirectional ones show text in another
order than the one in which it is read by Python. Where a person reviews text, nothing of it is left out: each such
character is written as its number, `<U+202E>`. A text that spells such a number itself is written with `<U+003C>` in
the place of its first character, so what is shown stands for one text only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from shlex import quote
from typing import Any, cast
from unicodedata import bidirectional, category

_BLANK = frozenset("\n\t")
# Letters and signs that print as nothing or as a gap (Unicode, Default_Ignorable_Code_Point, and blanks, joiners and
# modifiers of its charts), beside the categories.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u2d7f\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U0001107f"
    "\U00013440-\U00013442\U00016fe4\U0001bc9d\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U0001da9b-\U0001daaf\U000e0000-\U000e0fff]"
)
_ODD_BLANKS = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")  # Unicode, category Zs
_SIGNS = frozenset("\"'`=+*/%<>|&^~[]{}\\")  # of code, and rare in prose
_SPELLED = re.compile(r"<(?=U\+[0-9A-Fa-f]{4,6}>)")
_MEMBER = re.compile(r'^( *)("(?:[^"\\]|\\.)*")(?=: )', re.MULTILINE)  # of an object in JSON, one a line
_PLAIN_WORD = re.compile(r"[\w./:@#?&=%+~*$\\-]+")
_MOST_OF_NAME = 80  # characters
_GAPS = re.compile(r"(?:[ \t\n]|\r\n)+")
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)", re.DOTALL
)


def is_hidden(character: str) -> bool:
    """Return whether a character shows a reader neither a sign nor a blank, newline or tab in its place."""
    if character in _BLANK:
        return False
    return category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or _UNSEEN.match(character) is not None


def escaped(text: str) -> str:
    """Return text with the number of each hidden character in its place, `<U+202E>`; different texts stay different.

    It is to be done once: what is escaped already is a text that spells numbers.
    """
    return numbered(_SPELLED.sub("<U+003C>", text))


def numbered(text: str) -> str:
    """Replace each hidden character of a text by its number; a second pass changes nothing more."""
    return text.translate(_NUMBERS)


def on_one_line(text: str) -> str:
    """Return text on one line, with one blank for each of its gaps, and none around it.

    A gap is of blanks, tabs and ends of lines alone: Python takes control characters and separators for white space
    too, and they are to be shown as their numbers.
    """
    return _GAPS.sub(" ", text).strip(" ")


def indented(text: str, before: str) -> str:
    """Return text with each of its lines behind some blanks; Python would do so behind other characters, too."""
    return "\n".join(f"{before}{line}" for line in text.split("\n"))


def escaped_json(value: Any, indent: int | None = None) -> str:
    r"""Return a JSON value as JSON text with its hidden characters escaped in the way of JSON."""
    return json.dumps(value, ensure_ascii=False, indent=indent, default=str).translate(_IN_JSON)


def in_sentence(text: str) -> str:
    """Return words of others for a sentence of tea's own: one plain word as it is, everything else quoted as JSON."""
    return text if _PLAIN_WORD.fullmatch(text) else escaped_json(text)


def path_in_sentence(names: Iterable[object]) -> str:
    """Return a path of names in a document of others for a sentence of tea's own, with the beginnings of long ones."""
    return ".".join(in_sentence(str(one)[:_MOST_OF_NAME]) for one in names)


def shell_word(text: str) -> str:
    """Return a text as a word of a shell, on one line and without the backticks around commands of tea's own."""
    if text.isprintable() and "`" not in text:
        return quote(text)
    return "$'" + "".join(one if one.isprintable() and one not in "`'\\" else _octal(one) for one in text) + "'"


def _octal(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))


def path_line(path: str) -> str:
    """Return a path on one line, its hidden characters and newlines escaped in the way of JSON."""
    return escaped_json(path)[1:-1]


def numbered_in_source(text: str) -> str:
    """Replace visible but misleading characters of a source by their numbers.

    These are blanks other than the plain one, which look like it, and letters written from right to left on a line in
    which a terminal shows code beside them in another order, as in a call with two texts of such letters.
    """
    if text.isascii():
        return text
    lines = _ODD_BLANKS.sub(lambda found: f"<{number(found[0])}>", text).split("\n")
    return "\n".join(line if line.isascii() else _numbered_if_reordered(line) for line in lines)


def _numbered_if_reordered(line: str) -> str:
    """Return a line with its right-to-left letters replaced by numbers if they reorder the code between them."""
    behind, sign = False, False  # whether such a letter, and then a sign, came with no other letter since
    for one in line:
        turned = _is_turned(one)
        if sign and (turned or one.isdigit()):
            return "".join(f"<{number(each)}>" if _is_turned(each) else each for each in line)
        if turned or bidirectional(one) == "L":
            behind, sign = turned, False
        sign = sign or (behind and one in _SIGNS)
    return line


def argument_lines(arguments: object) -> str:
    """Return the arguments of a call as a person reviews them: one a line, each value as JSON.

    A list or an object that holds letters written from right to left has a line for each of its values: what stands
    between such letters on one line, a terminal shows in another order. So such letters in names are escaped.
    """
    if not isinstance(arguments, Mapping):
        return _value_lines(arguments)
    pairs = cast("Mapping[str, object]", arguments).items()
    return "\n".join(
        f"{name if name.isascii() and name.isidentifier() else _name(escaped_json(name))}: {_value_lines(one)}"
        for name, one in pairs
    )


def _value_lines(value: object) -> str:
    text = escaped_json(value)
    if not (isinstance(value, Mapping | list | tuple) and is_turned(text)):
        return text
    return _MEMBER.sub(lambda found: found[1] + _name(found[2]), escaped_json(value, indent=2))


def _name(written: str) -> str:
    """Return the JSON name of a member with its right-to-left letters escaped."""
    return "".join(_in_json(one)[1:-1] if _is_turned(one) else one for one in written)


def _is_turned(character: str) -> bool:
    """Return whether a character is written from right to left, or reorders its neighbours."""
    return bidirectional(character) in ("R", "AL", "AN")


def is_turned(text: str) -> bool:
    """Return whether a text holds characters written from right to left, or reordering their neighbours."""
    return not text.isascii() and any(map(_is_turned, text))


def forbidden(text: str) -> tuple[int, int, str] | None:
    """Return line, column and number of the first character forbidden in a source, None if there is none.

    It may hold no control character but newline, tab, form feed and the carriage return of a line end, and none that
    changes the direction of writing.
    """
    found = _FORBIDDEN.search(text)
    if found is None:
        return None
    before = text[: found.start()]
    return before.count("\n") + 1, len(before) - before.rfind("\n"), number(found[0])


def spelled(literals: str) -> str:
    r"""Return a text of literals with the characters forbidden in a source written as escapes."""
    return _FORBIDDEN.sub(lambda found: found[0] if found[0] in "\0\r" else f"\\u{ord(found[0]):04x}", literals)


def number(character: str) -> str:
    """Return how Unicode calls a character, `U+202E`."""
    return f"U+{ord(character):04X}"


def _in_json(character: str) -> str:
    return json.dumps(character) if ord(character) > 0x7F else f'"\\u{ord(character):04x}"'


class _Written(dict[int, str]):
    """The written form of each character, worked out at its first use.

    Args:
        write: Writes a hidden one.
    """

    def __init__(self, write: Callable[[str], str]) -> None:
        super().__init__()
        self._write = write

    def __missing__(self, code: int) -> str:
        one = chr(code)
        found = self[code] = self._write(one) if is_hidden(one) else one
        return found


_NUMBERS = _Written(lambda one: f"<{number(one)}>")
_IN_JSON = _Written(lambda one: _in_json(one)[1:-1])
