"""Patterns: texts matched by a regular expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from random import Random
from typing import Any

from tea.components.patterns import Pattern

_MORE = 3
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class NoMatch(Exception):
    """No text was found."""


def matching(pattern: str, chance: Random | None) -> str:
    """Return a text matched by a regular expression: the shortest choices, or others by chance.

    Raises:
        NoMatch: None was found, since it looks around itself in ways that are not tried, or is none of Python's.
    """
    parser: Any = import_module("re._parser")
    try:
        text, matches = _written(parser.parse(pattern), chance, {}), Pattern(pattern).matches
    except (re.error, ValueError) as error:
        raise NoMatch from error
    if not matches(text):
        raise NoMatch
    return text


def _written(parts: Any, chance: Random | None, groups: dict[int, str]) -> str:
    return "".join(_part(str(name), value, chance, groups) for name, value in parts)


def _part(name: str, value: Any, chance: Random | None, groups: dict[int, str]) -> str:
    match name:
        case "LITERAL":
            return chr(value)
        case "NOT_LITERAL":
            return next(one for one in _LETTERS if ord(one) != value)
        case "ANY":
            return _LETTERS[0]
        case "IN":
            return _member(value, chance)
        case "BRANCH":
            options = value[1]
            return _written(options[0] if chance is None else chance.choice(options), chance, groups)
        case "SUBPATTERN":
            found = _written(value[3], chance, groups)
            groups[value[0] or 0] = found
            return found
        case "GROUPREF":
            return groups.get(value, "")
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, inner = value
            times = least if chance is None else chance.randint(least, min(int(most), least + _MORE))
            return "".join(_written(inner, chance, groups) for _ in range(times))
        case "ATOMIC_GROUP":
            return _written(value, chance, groups)
        case _:  # places and looks around, which the whole is held against
            return ""


def _member(parts: Any, chance: Random | None) -> str:
    """Return a character of a set."""
    known = [chr(code) for code in range(32, 127)]
    tests = [_test(str(name), value) for name, value in parts if str(name) != "NEGATE"]
    negated = str(parts[0][0]) == "NEGATE"
    preferred = [*_LETTERS, *"0123456789", *known, *(chr(value) for name, value in parts if str(name) == "LITERAL")]
    preferred += [chr(value[0]) for name, value in parts if str(name) == "RANGE"]
    fitting = [one for one in preferred if any(test(one) for test in tests) is not negated]
    if not fitting:
        raise NoMatch
    return fitting[0] if chance is None else chance.choice(fitting)


def _test(name: str, value: Any) -> Callable[[str], bool]:
    match name:
        case "LITERAL":
            return lambda one: ord(one) == value
        case "RANGE":
            return lambda one: value[0] <= ord(one) <= value[1]
        case _:
            kind = str(value).rpartition("_")[2]
            negated = "NOT" in str(value)
            tests: Mapping[str, Callable[[str], bool]] = {
                "DIGIT": str.isdecimal,
                "SPACE": str.isspace,
                "WORD": lambda one: one.isalnum() or one == "_",
            }
            return lambda one: tests[kind](one) is not negated
