"""Test checks without JSON text: the verdict equals the one by way of text."""

import asyncio
import math
from enum import IntEnum
from typing import Annotated, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import Field

from tea.components.context import Context
from tea.components.operation import Function, Operation


class Word(str):
    """A subclass of str."""


class Amount(float):
    """A subclass of a number."""


class Level(IntEnum):
    """A number by name."""

    LOW = 1


HINTS = [str, int, float, bool, type(None)]
ODD = [
    "\ud800", "a\udfffb", "\x00", "é😀", Word("a"), Word("é"), Level.LOW, Amount(1.5), Amount(math.nan), -0.0,
    2**63, 2**63 - 1, -(2**63), -(2**63) - 1, 10**400, 10**5000, math.nan, math.inf, -math.inf, b"a", [1], object(),
]  # fmt: skip
values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(ODD)
keys = st.sampled_from(["one", "other", "more", Word("one"), Word("other"), "\ud800", 1, None])
arguments = st.dictionaries(keys, values, max_size=3) | st.fixed_dictionaries(
    {"one": values}, optional={"other": values}
)


def by_text(hint: Any) -> Any:
    """The same type to its validator, but not known by itself."""
    return Annotated[hint, Field()]


def taking(one: Any, other: Any, default: Any) -> Function:
    """A function of two parameters, the other with a default."""

    async def take(one: Any, other: Any = None) -> str:
        """Take them."""
        return f"{type(one).__name__} {one!a}, {type(other).__name__} {other!a}"

    take.__annotations__.update(one=one, other=other)
    take.__defaults__ = (default,)
    return take


def giving(hint: Any, value: Any) -> Function:
    """A function returning a value."""

    async def give() -> Any:
        """Give it."""
        return value

    give.__annotations__["return"] = hint
    return give


def answer(function: Function, given: Any) -> str:
    """Return a call's value or error, to the last bit."""
    try:
        value = asyncio.run(Operation.of(function).executor(None, given, None))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return f"{type(value).__name__} {value!a}"


@settings(deadline=None, max_examples=200)
@given(
    st.sampled_from(HINTS), st.sampled_from([("a", str), (1, int), (1, float), (1.5, float), (True, bool)]), arguments
)
@example(str, ("a", str), {"one": "\ud800"})
@example(float, (1, float), {"one": 1.5})
@example(float, ("a", str), {"one": 1, "other": Word("a")})
@example(int, ("a", str), {"one": True, "other": "b"})
def test_arguments_are_accepted_and_refused_as_by_their_json_text(
    hint: Any, known: tuple[Any, Any], given: dict[Any, Any]
) -> None:
    default, other = known
    found = answer(taking(hint, other, default), given)
    assert found == answer(taking(by_text(hint), by_text(other), default), given)


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(HINTS), values)
@example(str, "\ud800")
@example(float, math.nan)
@example(int, True)
def test_a_result_is_accepted_and_refused_as_by_its_json_text(hint: Any, value: Any) -> None:
    assert answer(giving(hint, value), {}) == answer(giving(by_text(hint), value), {})


def test_plain_arguments_are_never_written_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, text = (Operation.of(taking(*hints, 2)).executor for hints in ((str, int), (str, by_text(int))))
    monkeypatch.delattr("tea.components.operation.strict_object")
    for arguments, said in (({"one": "a"}, "str 'a', int 2"), ({"other": 3, "one": "b"}, "str 'b', int 3")):
        assert asyncio.run(plain(None, arguments, None)) == said
    for executor, arguments in ((plain, {"one": "é"}), (plain, {}), (text, {"one": "a"})):
        with pytest.raises(NameError):
            asyncio.run(executor(None, arguments, None))


def test_the_context_is_not_put_into_the_arguments_of_the_caller() -> None:
    async def take(text: str, ctx: Context) -> str:
        """Take it."""
        return f"{text} {ctx}"

    mine = {"text": "a"}
    context: Any = "here"
    assert asyncio.run(Operation.of(take).executor(None, mine, context)) == "a here"
    assert mine == {"text": "a"}
