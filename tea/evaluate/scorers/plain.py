"""Plain: scorers comparing texts, numbers, lists and JSON by fixed rules."""

from __future__ import annotations

import asyncio
import json
import math
import re
import sys
from collections.abc import Callable
from typing import Any, cast

from tea.components.equality import Items, equal, number_of, same, text_of
from tea.errors import BadInput
from tea.evaluate.forms import decoded, items_of, only_number, unfenced
from tea.evaluate.scoring import Grade, Helpers, Question
from tea.types import JsonObject, JsonValue

_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
_MOST_MATCHED = 20_000  # characters that a pattern is tried on
_SECONDS = 10.0
# A pattern can take any time, which nothing but the end of its process stops.
_WORKER = """
import json, re, sys
text, *given = json.load(sys.stdin)
try:
    pattern = re.compile(*given)
except (re.error, OverflowError, RecursionError):
    sys.exit(2)
sys.exit(not pattern.search(text))
"""
_UNUSABLE = 2
_MOST_PATTERN = 1_000  # characters
_WIDE = re.compile(r"[^\x00-\xff]|\\[uUN]")  # a set with such characters takes long to compile


async def exact(question: Question, helpers: Helpers) -> Grade:
    """Grade an answer equal to the expected one, or to one of a list, but for spaces around it."""
    answer = text_of(question.answer).strip()
    return _any(question, lambda expected: answer == text_of(expected).strip())


async def normalized(question: Question, helpers: Helpers) -> Grade:
    """Grade an answer equal to the expected one, or to one of a list, but for capitals, punctuation and articles.

    Numbers are compared as numbers, as points and signs count in them.
    """
    return _any(question, Items([question.answer]).hold)


async def numeric(question: Question, helpers: Helpers) -> Grade:
    """Grade a number: the answer, or the only number in it, within `tolerance` or `relative` of the expected one."""
    wanted, near, share = check_numbers(question.expected, question.options)
    answer = question.answer if not isinstance(question.answer, str) else only_number(question.answer)
    found = number_of(answer)
    if found is None:
        return Grade(score=0.0, why="the answer holds no single number")
    return Grade(score=float(any(math.isclose(found, one, rel_tol=share, abs_tol=near) for one in wanted)))


def check_numbers(expected: JsonValue, options: JsonObject) -> tuple[list[float], float, float]:
    """Return the expected numbers, and how far from them an answer may be: absolutely, and as a share.

    Raises:
        BadInput: One is not a number.
    """
    wanted = cast("list[Any]", expected) if isinstance(expected, list) else [expected]
    found = [number for one in wanted if (number := number_of(one)) is not None]
    if not found or len(found) != len(wanted):
        raise BadInput(f"The expected {text_of(expected)[:60]!r} is not a number.", fix="write a number.")
    return found, _amount(options, "tolerance", 1e-12), _amount(options, "relative", 1e-9)


async def listed(question: Question, helpers: Helpers) -> Grade:
    """Grade a list with the expected items in their order."""
    answer, expected = items_of(question.answer), items_of(question.expected)
    if len(answer) != len(expected):
        return Grade(score=0.0, why=f"{len(answer)} items, not {len(expected)}")
    wrong = [place for place, pair in enumerate(zip(answer, expected, strict=True), 1) if not same(*pair)]
    return Grade(score=float(not wrong), why=f"item {wrong[0]} differs" if wrong else "")


async def as_set(question: Question, helpers: Helpers) -> Grade:
    """Grade a list with the expected items in any order, each however often."""
    answer, expected = items_of(question.answer), items_of(question.expected)
    given, wanted = Items(answer), Items(expected)
    missing = [one for one in expected if not given.hold(one)]
    surplus = [one for one in answer if not wanted.hold(one)]
    words = [f"{len(missing)} missing"] * bool(missing) + [f"{len(surplus)} too many"] * bool(surplus)
    return Grade(score=float(not words), why=", ".join(words))


async def as_json(question: Question, helpers: Helpers) -> Grade:
    """Grade JSON data equal to the expected, with any order of keys and any writing of numbers."""
    answer, expected = _data(question.answer), _data(question.expected)
    return Grade(score=float(equal(answer, expected)))


async def regex(question: Question, helpers: Helpers) -> Grade:
    """Grade an answer as right if it contains the expected pattern, with `flags` of `ims`."""
    pattern, flags = check_pattern(question.expected, question.options)
    asked = json.dumps([text_of(question.answer)[:_MOST_MATCHED], pattern, flags])
    words, quiet = (sys.executable, "-I", "-S", "-c", _WORKER), asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*words, stdin=asyncio.subprocess.PIPE, stderr=quiet, env={})
    try:
        async with asyncio.timeout(_SECONDS):
            await process.communicate(asked.encode())
    except TimeoutError:
        return Grade(score=0.0, why=f"the pattern took longer than {_SECONDS:.0f} s")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == _UNUSABLE:
        raise BadInput("The expected pattern cannot be used.", fix="mend it.")
    return Grade(score=float(process.returncode == 0))


def check_pattern(expected: JsonValue, options: JsonObject) -> tuple[str, int]:
    """Return the expected pattern and its flags; one with sets of rare characters is compiled only to match.

    Raises:
        BadInput: It is not a pattern, is too long, or has an unknown flag.
    """
    flags = re.NOFLAG
    for letter in text_of(options.get("flags")):
        if letter not in _FLAGS:
            raise BadInput(f"{letter!r} is not a flag of a pattern.", fix=f"flags are {', '.join(_FLAGS)}.")
        flags |= _FLAGS[letter]
    pattern = text_of(expected)
    if len(pattern) > _MOST_PATTERN:
        problem = f"The expected pattern has {len(pattern):,} characters, and {_MOST_PATTERN:,} are allowed."
        raise BadInput(problem, fix="write a shorter one.")
    try:
        if not _WIDE.search(pattern):
            re.compile(pattern, flags)
        return pattern, int(flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadInput(f"The expected pattern cannot be used: {error}.", fix="mend it.") from error


def _any(question: Question, fits: Callable[[JsonValue], bool]) -> Grade:
    """Grade by the expected value as a whole, else by any one of a list."""
    answer, expected = question.answer, question.expected
    if isinstance(answer, list):
        return Grade(score=float(equal(answer, expected) or fits(expected)))
    if isinstance(answer, str) and isinstance(expected, list) and equal(decoded(answer), expected):
        return Grade(score=1.0)
    values: list[JsonValue] = [expected, *(cast("list[Any]", expected) if isinstance(expected, list) else ())]
    return Grade(score=float(any(fits(one) for one in values)))


def _amount(options: JsonObject, name: str, default: float) -> float:
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise BadInput(f"The option {name!r} is not a number from 0 on.", fix="write a number.")
    return float(value)


def _data(value: JsonValue) -> JsonValue:
    """Return the data written as a text, perhaps in a fenced block; any other text stays."""
    if not isinstance(value, str):
        return value
    found = decoded(unfenced(value).strip())
    number = number_of(found) if isinstance(found, str) else None
    return found if number is None else number
