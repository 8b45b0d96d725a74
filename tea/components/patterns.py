"""Patterns: the regular expressions of JSON Schemas, matched in time that grows with the text alone.

Python's own are matched by trying, and a short one may take without end (`a*a*a*a*b`), in which nothing else is done.
Those here are matched by what pydantic checks its fields with, which has neither look-ahead nor references back; a
look-ahead at the very beginning (`^(?!-)[a-z-]+$`) is a pattern of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import Any, cast

from tea.types import JsonSchema

_MOST = 30  # different ones in a schema
_LONGEST, _LARGEST = 160, 75_000  # a pattern, and all of a schema as `_size` counts them: a third of a second to read
_READ = 2  # of that size, read in one step of work
_MATCHED = 500  # places of a pattern that are tried in one step, as all may be tried for each character
_MATCH = 100  # places tried in the time that each match takes beside that
_WIDE_TO_READ, _WIDE_TO_MATCH = 60, 3  # the sizes of a set of all letters
_WIDE = re.compile(r"\\[wWpP]")
_AHEAD, _AGAIN = ("^(?=", "^(?!"), ("*", "+", "?", "{")
_SIGN = re.compile(  # of a pattern, a set of characters as one, and a number of times
    r"\\[pPuUx]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{[^}]*\}|.", re.DOTALL
)
_IN_SET = re.compile(r"\\.|--|[\[&~]", re.DOTALL)  # in some dialects signs of sets within sets
_ESCAPED = {r"\<": "<", r"\>": ">"}  # in some dialects the ends of words
_TIMES = re.compile(r"\{([0-9]+)(,)?([0-9]*)\}")
_NO_CHARACTER = frozenset({*"^$*+?|", r"\b", r"\B"})
_BLANKS_DROPPED = re.compile(r"\?[a-zA-Z-]*x")


def pattern_fault(patterns: Iterable[str]) -> str | None:
    """Return the reason the patterns of a schema cannot be matched, None if they can."""
    found = dict.fromkeys(patterns)
    if len(found) > _MOST:
        return f"it holds more than {_MOST} patterns"
    if too_long := next((one for one in found if len(one) > _LONGEST), None):
        return f"the pattern {too_long[:_LONGEST]!r}... is too long"
    if sum(_size(one, _WIDE_TO_READ) for one in found) > _LARGEST:
        return "its patterns repeat too much"
    for one in found:
        try:
            matcher(one)
        except ValueError:
            return (
                f"the pattern {one!r} cannot be matched: write it without references, and look ahead at its beginning"
            )
    return None


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return the function that tells whether a text holds a match of a pattern.

    Raises:
        ValueError: It is not a pattern, or not one of these.
    """
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        plain, least, most = _without_length(_plain(pattern))
        parts = [
            (wanted, SchemaValidator(core_schema.str_schema(pattern=one)).isinstance_python)
            for one, wanted in _parted(plain)
        ]
    except (SchemaError, UnicodeError) as error:
        raise ValueError(pattern) from error
    return lambda text: least <= len(text) <= most and all(matches(text) is wanted for wanted, matches in parts)


class Matching:
    """The matching of the patterns of one schema, as the checks of its keywords.

    Args:
        spend: Counts steps of work.
    """

    def __init__(self, spend: Callable[[int], None]) -> None:
        self._spend = spend
        self._read: dict[str, tuple[int, Callable[[str], bool]]] = {}
        self._tried = 0

    def checks(self) -> Mapping[str, Any]:
        """Return the checks of the keywords with patterns."""
        return {
            "pattern": self._check_text,
            "patternProperties": self._check_named,
            "additionalProperties": self._check_others,
        }

    def _matches(self, pattern: str, text: str) -> bool:
        if pattern not in self._read:
            if len(pattern) > _LONGEST:
                raise ValueError(pattern)
            self._spend(1 + _size(pattern, _WIDE_TO_READ) // _READ)
            self._read[pattern] = _size(pattern, _WIDE_TO_MATCH), matcher(pattern)
        size, matches = self._read[pattern]
        steps, self._tried = divmod(self._tried + _MATCH + len(text) * size, _MATCHED)
        self._spend(steps)
        return matches(text)

    def _check_text(self, validator: Any, pattern: str, value: Any, _: JsonSchema) -> Iterator[Exception]:
        from jsonschema import ValidationError

        if isinstance(value, str) and not self._matches(pattern, value):
            yield ValidationError(f"{value!r} does not match {pattern!r}")

    def _check_named(self, validator: Any, named: JsonSchema, value: Any, _: JsonSchema) -> Iterator[Exception]:
        for pattern, schema in named.items() if isinstance(value, dict) else ():
            for name, one in cast("dict[str, Any]", value).items():
                if self._matches(pattern, name):
                    yield from validator.descend(one, schema, path=name, schema_path=pattern)

    def _check_others(self, validator: Any, said: Any, value: Any, schema: JsonSchema) -> Iterator[Exception]:
        from jsonschema import Draft202012Validator, ValidationError

        named: JsonSchema = schema.get("patternProperties", {})
        if not named or not isinstance(value, dict):
            check: Any = Draft202012Validator.VALIDATORS["additionalProperties"]
            yield from check(validator, said, value, schema)
            return
        shown, members = schema.get("properties", {}), cast("dict[str, Any]", value)
        others = [name for name in members if name not in shown and not any(self._matches(one, name) for one in named)]
        if isinstance(said, dict):
            for name in others:
                yield from validator.descend(members[name], said, path=name)
        elif not said and others:
            words, patterns = (", ".join(map(repr, sorted(some))) for some in (others, named))
            verb = "does" if len(others) == 1 else "do"
            yield ValidationError(f"{words} {verb} not match any of the regexes: {patterns}")


def _parted(pattern: str) -> list[tuple[str, bool]]:
    """Return patterns that stand for one with look-ahead at its beginning, each with whether it is to match.

    Raises:
        ValueError: What is ahead has no end, is repeated, or belongs to one of several alternatives alone.
    """
    found, rest = list[tuple[str, bool]](), pattern
    while rest.startswith(_AHEAD):
        end = next((at for at, sign, depth in _signs(rest) if (sign, depth) == (")", 0)), None)
        if end is None or rest[end + 1 : end + 2] in _AGAIN:
            raise ValueError(pattern)
        found.append((f"^(?:{rest[4:end]})", rest[3] == "="))
        rest = f"^{rest[end + 1 :]}"
    if found and any((sign, depth) == ("|", 0) for _, sign, depth in _signs(rest)):
        raise ValueError(pattern)
    return [*found, (rest, True)]


def _plain(pattern: str) -> str:
    """Return a pattern with the special signs of other dialects escaped, such as those of sets within sets.

    Raises:
        ValueError: It asks for a dialect in which blanks and lines of comments mean nothing.
    """
    if any(sign == "(" and _BLANKS_DROPPED.match(pattern, at + 1) for at, sign, _ in _signs(pattern)):
        raise ValueError(pattern)
    return "".join(
        sign[0] + _IN_SET.sub(_escaped, sign[1:]) if len(sign) > 1 and sign[0] == "[" else _ESCAPED.get(sign, sign)
        for _, sign, _ in _signs(pattern)
    )


def _escaped(found: re.Match[str]) -> str:
    """Return a sign of a set, escaped; the second of two hyphens behind another sign ends a range."""
    if found[0] == "--":
        return r"\--" if found.start() == found.string.startswith("^") else r"-\-"
    return _ESCAPED.get(found[0], found[0]) if found[0][0] == "\\" else f"\\{found[0]}"


def _without_length(pattern: str) -> tuple[str, int, float]:
    r"""Return a pattern without the number of times that its only sign is repeated, and the limits that it sets.

    With that number, `^\w{1,255}$` would be too large to be read.
    """
    signs = [sign for _, sign, _ in _signs(pattern)]
    times = _TIMES.fullmatch(signs[2]) if len(signs) == 4 and (signs[0], signs[3]) == ("^", "$") else None
    if times is None or signs[1] in _NO_CHARACTER:
        return pattern, 0, inf
    least, more, most = int(times[1]), times[2], times[3]
    return f"^{signs[1]}*$", least, int(most) if most else inf if more else least


def _size(pattern: str, wide: int) -> int:
    """Return how many signs a pattern has with all that is repeated written out, and no less.

    Args:
        pattern: A pattern.
        wide: What a set of all letters counts.
    """
    groups, last = [0], 0
    for _, sign, _ in _signs(_without_length(pattern)[0]):
        if sign == "(":
            groups.append(1)
            continue
        if sign in _AGAIN:
            continue
        if sign == ")" and len(groups) > 1:
            last = added = groups.pop()
        elif sign[0] == "{":
            added = last * max(0, *(int(one) - 1 for one in re.findall("[0-9]+", sign)), 0)
            last += added
        else:
            last = added = wide if _WIDE.search(sign) else 1
        groups[-1] += added
    return sum(groups)


def _signs(pattern: str) -> Iterator[tuple[int, str, int]]:
    """Yield the signs of a pattern, each with its place and how many brackets are open around it."""
    depth = 0
    for one in _SIGN.finditer(pattern):
        depth -= one[0] == ")"
        yield one.start(), one[0], depth
        depth += one[0] == "("
