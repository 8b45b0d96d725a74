"""Values: numbers, names and passages read by a run, found in a proposed answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from tea.loop.checks import numbers_stand_in
from tea.types import JsonValue

MOST_WORDS = 800  # characters of words that may hold no value; longer ones are an answer
_CELL = 80  # characters of a value that stands for itself, as that of a table does
_MOST_READ = 2_000_000  # characters looked through
_SHARE = 1 / 3  # of the letters of words, for values that the task names too or that are not names
_PASSAGE = 5  # words in a row that are a passage
_NAME = 3  # letters of a name that is looked for in a reason
_SIGNS = 8  # characters in a row that are one, in a script without spaces
_TOKEN = re.compile(r"\w(?:[\w./:@-]*\w)?")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d.,]*")
_SEPARATED = re.compile(r"[,;|\t]")
_INSIDE = re.compile(r"(?<=[^\W_])[,;:]? [(\"']?([^\W\d_]\w+)")


def holds_value(text: str, task: str, read: Iterable[JsonValue]) -> bool:
    """Return whether words hold a value read by the run: a number, a name, a cell, or a passage.

    What the task names already counts only if the words consist of little else. Long words always count as holding one.

    Args:
        text: The words.
        task: The task in words.
        read: Values of results; names of columns and fields do not count.
    """
    if len(text) > MOST_WORDS:
        return True
    leaves = list(_some(one for value in read for one in _leaves(value)))
    texts = "\n".join(leaves)
    return (
        any(_is_new_number(one, task, texts) for one in _NUMBER.findall(text))
        or _holds_name(text, task, leaves)
        or _holds_passage(text, task, texts)
        or _known_share(text, leaves, texts) >= _SHARE
    )


def shown_values(head: str) -> list[JsonValue]:
    """Return the values in the head of a file: its lines without the names of columns, and the cells in them."""
    lines = [one.partition(": ")[2] if one.startswith("- ") and ": " in one else one for one in head.splitlines()]
    return [*lines, *(cell for line in lines for cell in _SEPARATED.split(line))]


def names_shown(text: str, task: str, heads: Iterable[str]) -> bool:
    """Return whether words name a column or cell out of the heads of files, and the task does not."""
    lines = [line for head in heads for line in head.splitlines()[1:]]
    columns = [line[2:].partition(": ")[0] for line in lines if line.startswith("- ")]
    cells = {
        one.strip("`'\" ").casefold()
        for one in (*columns, *(cell for line in lines for cell in _SEPARATED.split(line)))
    }
    said, asked = text.casefold(), task.casefold()
    return any(_stands_in(one, said) and not _stands_in(one, asked) for one in cells if len(one) >= _NAME)


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _some(leaves: Iterable[str]) -> Iterator[str]:
    """Yield the leaves of a value, up to the limit."""
    left = _MOST_READ
    for one in leaves:
        yield one[:left]
        left -= len(one)
        if left <= 0:
            return


def _leaves(value: JsonValue) -> Iterator[str]:
    """Yield the values of a result as texts, without the names of fields and columns."""
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        for name, one in members.items():
            if not (name == "columns" and "rows" in members):
                yield from _leaves(one)
    elif isinstance(value, list | tuple):
        for one in cast("list[Any]", value):
            yield from _leaves(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _is_new_number(number: str, task: str, texts: str) -> bool:
    """Return whether a number is not the task's, and was read; one of several digits may be calculated too."""
    bare = number.strip(".,+-")
    if not bare or numbers_stand_in(bare, task):
        return False
    return sum(map(str.isdecimal, bare)) > 1 or numbers_stand_in(bare, texts)


def _holds_name(text: str, task: str, leaves: Iterable[str]) -> bool:
    """Return whether words hold a name out of values, new to the task."""
    words = [one for one in _TOKEN.findall(text) if len(one) > 1 and _is_name(one)]
    if not words:
        return False
    texts = list(leaves)
    small = set(_TOKEN.findall("\n".join((task, *texts))))
    known = {word for one in texts if len(one) <= _CELL for word in _TOKEN.findall(one)}
    known |= {word for one in texts for word in _INSIDE.findall(one)}
    known |= {word for word in small if not word.isalpha()}
    before = set(_TOKEN.findall(task.casefold()))
    return any(one in known and one.casefold() not in before and one.lower() not in small - {one} for one in words)


def _is_name(word: str) -> bool:
    """Return whether a word looks like a name or an identifier: with a capital, a digit or a sign in it."""
    return not word.isalpha() or not word.islower()


def _holds_passage(text: str, task: str, texts: str) -> bool:
    """Return whether words repeat a passage read by the run."""
    words, read, asked = _TOKEN.findall(text.casefold()), _plain(texts), _plain(task)
    pieces = (" ".join(words[at : at + _PASSAGE]) for at in range(len(words) - _PASSAGE + 1))
    if any(f" {one} " in read and f" {one} " not in asked for one in pieces):
        return True
    runs = [word for word in words if _is_caseless(word)]
    signs = (word[at : at + _SIGNS] for word in runs for at in range(len(word) - _SIGNS + 1))
    return any(one in read and one not in asked for one in signs)


def _known_share(text: str, leaves: Iterable[str], texts: str) -> float:
    """Return the share of the words' letters found in names and whole cells read by the run."""
    plain, letters = _plain(text), sum(map(str.isalnum, text))
    cells = {_plain(one) for one in leaves if 0 < len(one.strip()) <= _CELL}
    found = {one.strip() for one in cells if one in plain or (_is_caseless(one.strip()) and one.strip() in plain)}
    capitals = {one for one in _TOKEN.findall(text) if len(one) > 1 and not one.islower()}
    there = set(_TOKEN.findall(texts))
    found |= {one.casefold() for one in capitals if one in there and one.lower() not in there}
    numbers = [one for one in _NUMBER.findall(text) if numbers_stand_in(one.strip(".,"), texts)]
    known = sum(sum(map(str.isalnum, one)) for one in (*found, *numbers))
    return known / letters if letters else 0.0


def _is_caseless(word: str) -> bool:
    """Return whether a word is of a script without capitals."""
    return len(word) > 1 and word.upper() == word.lower() and any(map(str.isalpha, word))


def _plain(text: str) -> str:
    """Return the words of a text in small letters, with a space around each."""
    return f" {' '.join(_TOKEN.findall(unicodedata.normalize('NFKC', text).casefold()))} "
