"""Patterns: the regular expressions of JSON Schemas, matched in time that grows with the text alone.

Python's own are matched by trying, and a short one may take without end (`a*a*a*a*b`), in which nothing else is done.
Those here are read and matched by RE2 in bounded memory. It has neither look-ahead nor references back; a look-ahead
at the very beginning (`^(?!-)[a-z-]+$`) is a pattern of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, cast

from tea.types import JsonSchema

_MOST = 30  # different ones in a schema
_LONGEST, _SHOWN = 500, 60
_MEMORY = 1 << 18  # bytes, of one that was read: for ten thousand instructions
_READ = 200  # steps of work in which one is read
_MATCHED = 1_000  # instructions tried in one step, as all may be tried for each byte
_MATCH = 250  # instructions tried in the time that each match takes beside that
_AHEAD, _AGAIN = ("^(?=", "^(?!"), ("*", "+", "?", "{")
_SIGN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)  # of a pattern, a set of characters as one
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)


class Pattern:
    """A regular expression that was read.

    Args:
        text: The expression.

    Raises:
        ValueError: It cannot be read, or is none that is matched in bounded time.
    """

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise ValueError(f"the pattern {text[:_SHOWN]!r}... is too long")
        re2: Any = import_module("re2")
        options = re2.Options()
        options.max_mem, options.log_errors, options.never_capture = _MEMORY, False, True
        try:
            self._parts = [(re2.compile(_with_code_points(one), options), wanted) for one, wanted in _parted(text)]
        except (re2.error, ValueError) as error:
            raise ValueError(
                f"the pattern {text!r} cannot be matched: write it without references and large repetitions, "
                "and look ahead at its beginning"
            ) from error
        self.size: int = sum(one.programsize for one, _ in self._parts)

    def matches(self, text: str) -> bool:
        """Return whether a text holds a match."""
        encoded = text.encode(errors="surrogatepass")
        return all((one.search(encoded) is not None) is wanted for one, wanted in self._parts)


def pattern_fault(patterns: Iterable[str]) -> str | None:
    """Return the reason the patterns of a schema cannot be matched, None if they can."""
    found = dict.fromkeys(patterns)
    if len(found) > _MOST:
        return f"it holds more than {_MOST} patterns"
    try:
        for one in found:
            Pattern(one)
    except ValueError as error:
        return str(error)
    return None


class Matching:
    """The matching of the patterns of one schema, as the checks of its keywords.

    Args:
        spend: Counts steps of work.
    """

    def __init__(self, spend: Callable[[int], None]) -> None:
        self._spend = spend
        self._read: dict[str, Pattern] = {}
        self._tried = 0

    def checks(self) -> Mapping[str, Any]:
        """Return the checks of the keywords with patterns."""
        return {
            "pattern": self._check_text,
            "patternProperties": self._check_named,
            "additionalProperties": self._check_others,
        }

    def _matches(self, text: str, value: str) -> bool:
        if text not in self._read:
            self._read[text] = Pattern(text)
            self._spend(_READ)
        pattern = self._read[text]
        steps, self._tried = divmod(self._tried + _MATCH + len(value) * pattern.size, _MATCHED)
        self._spend(steps)
        return pattern.matches(value)

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


def _with_code_points(pattern: str) -> str:
    r"""Return a pattern with letters named by their numbers (`\u00e9`) as RE2 names them."""
    return _ESCAPED.sub(lambda found: rf"\x{{{found[1]}}}" if found[1] else found[0], pattern)


def _signs(pattern: str) -> Iterator[tuple[int, str, int]]:
    """Yield the signs of a pattern, each with its place and how many brackets are open around it."""
    depth = 0
    for one in _SIGN.finditer(pattern):
        depth -= one[0] == ")"
        yield one.start(), one[0], depth
        depth += one[0] == "("
