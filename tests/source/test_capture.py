"""Test live components to stand-alone source text."""

from __future__ import annotations

import functools
import json as js
import linecache
import math
import os.path
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea import Agent, Context, Environment, Result, Task, action, tool
from tea.components.clients import Caller
from tea.components.definition import Definition, define
from tea.components.manifest import Manifest
from tea.errors import BadComponent
from tea.source import live
from tea.source.dynamic import DynamicManager

MANAGER = DynamicManager(lambda digest: True)
FACTOR = 3
OFFSET: int = FACTOR - 1
WORD = re.compile(r"\w+")
HANDLE = open(os.devnull)  # noqa: SIM115
HANDLE.close()


@dataclass(frozen=True)
class Share:
    part: int
    words: Mapping[str, int]


def _inner(number: int) -> int:
    return number * FACTOR


@functools.cache
def _outer(number: int) -> int:
    return _inner(number) + OFFSET


@tool(effects="reads", idempotent=True)
async def count_words(text: str, number: int = 1) -> dict[str, Any]:
    """Count words.

    Args:
        text: Any text.
        number: A number.
    """
    share = Share(part=_outer(number), words=Counter(WORD.findall(text)))
    return {"part": share.part, "words": dict(share.words), "json": js.dumps(os.path.join("a", str(math.floor(2.5))))}


async def undecorated(x: int) -> int:
    """Add."""
    return x + OFFSET


@tool(effects="reads")
def at_once(x: int) -> int:
    """Add, without waiting."""
    return x + OFFSET


def twice_at_once(x: int) -> int:
    """Add twice."""
    return x + 2 * OFFSET


class Base(Environment):
    """A shared base of this file's environments."""

    async def state(self) -> int:
        """Look."""
        return self.total

    def __init__(self) -> None:
        self.total = FACTOR


class Adder(Base):
    """Add up."""

    @action(effects="writes")
    async def add(self, amount: int = 1) -> int:
        """Add."""
        self.total += amount
        return self.total


class Echo(Agent):
    """Say it again."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Answer with the task."""
        return Result(answer=task.text.strip())


@tool
async def uses_tea_inside(x: int) -> str:
    """Reach into tea."""
    return str(Caller) + str(x)


@tool
async def uses_handle(x: int) -> str:
    """Use an open file."""
    return str(HANDLE) + str(x)


@tool
async def uses_distribution(x: int) -> str:
    """Use an installed distribution."""
    return hypothesis.__version__ + str(x)


def stored(found: object) -> Manifest:
    return MANAGER.describe(MANAGER.capture(found), version="1.0.0")


async def call(found: object, arguments: dict[str, Any]) -> Any:
    operation = MANAGER.load(stored(found)).operations["call"]
    return await operation.executor(None, arguments, None)


@pytest.fixture(scope="module")
def both() -> tuple[Definition, Definition]:
    return define(count_words), MANAGER.load(stored(count_words))


@given(st.text(), st.integers(-1000, 1000))
async def test_a_captured_tool_behaves_as_the_live_one(
    both: tuple[Definition, Definition], text: str, number: int
) -> None:
    arguments = {"text": text, "number": number}
    live, loaded = [await one.operations["call"].executor(None, arguments, None) for one in both]
    assert loaded == live


def test_what_a_tool_refers_to_is_taken_along_and_named() -> None:
    found = MANAGER.capture(count_words)
    taken = [f"with {n}" for n in sorted(["Any", "Counter", "FACTOR", "Mapping", "OFFSET", "Share", "WORD", "_inner"])]
    assert set(found.changes) >= {*taken, "with _outer"}
    assert "async def undecorated" not in found.source
    assert (found.kind, found.name, found.requires) == ("tool", "count_words", ())
    assert stored(count_words).operations["call"] == define(count_words).operations["call"].signature


async def test_a_function_that_is_not_async_becomes_a_tool() -> None:
    assert await call(at_once, {"x": 1}) == 3
    found = MANAGER.capture(twice_at_once)
    assert found.source.endswith(
        "@tool\ndef twice_at_once(x: int) -> int:\n" + '    """Add twice."""\n    return x + 2 * OFFSET\n'
    )


def test_a_lambda_has_no_name_to_be_called_by() -> None:
    with pytest.raises(BadComponent, match="A lambda has no name"):
        MANAGER.capture(lambda x: x)


async def test_an_undecorated_async_function_becomes_a_tool() -> None:
    assert await call(undecorated, {"x": 1}) == 3


async def test_an_environment_comes_with_the_class_it_derives_from() -> None:
    definition = MANAGER.load(stored(Adder))
    assert definition.create is not None
    instance = definition.create()
    assert await definition.operations["add"].executor(instance, {"amount": 2}, None) == 5
    assert await definition.operations["state"].executor(instance, {}, None) == 5


def test_an_agent_is_captured() -> None:
    assert (stored(Echo).kind, stored(Echo).name) == ("agent", "echo")


def test_a_loaded_component_can_be_captured_again() -> None:
    definition = MANAGER.load(stored(Echo))
    assert definition.create is not None
    assert stored(type(definition.create())).operations == stored(Echo).operations


async def test_a_definition_inside_a_function_is_dedented_and_its_texts_are_kept() -> None:
    @tool
    async def shout(text: str) -> str:
        """Shout."""
        return (
            text.upper()
            + """
    kept
  as it is"""
        )

    assert await call(shout, {"text": "a"}) == "A\n    kept\n  as it is"


def test_closures_are_refused_by_naming_what_they_close_over() -> None:
    local = 3

    @tool
    async def closed(x: int) -> int:
        """Close."""
        return x + local

    class Derived(Echo):
        """Close."""

        async def run(self, ctx: Context, task: Task) -> Result:
            """Answer."""
            return Result(answer=local)

    for found in (closed, Derived):
        with pytest.raises(BadComponent, match=r"cannot be written into its source: local\."):
            MANAGER.capture(found)


def test_what_cannot_be_written_down_is_refused_by_name() -> None:
    with pytest.raises(BadComponent, match=r"at the top level"):
        MANAGER.capture(uses_handle)
    with pytest.raises(BadComponent, match=r"part of tea's inside"):
        MANAGER.capture(uses_tea_inside)


def test_an_imported_distribution_becomes_a_requirement() -> None:
    assert MANAGER.capture(uses_distribution).requires == ("hypothesis",)


@pytest.mark.parametrize("found", [3, "x", print, Environment, Context, len, lambda x: x, None])
def test_what_is_no_component_is_refused(found: object) -> None:
    with pytest.raises(BadComponent):
        MANAGER.capture(found)


def cells(*sources: str) -> dict[str, Any]:
    """Run cells as a notebook does: one namespace, a file name of its own for each, known to linecache."""
    module = ModuleType("__main__")
    for number, source in enumerate(sources):
        name = f"<cell {number} of {id(module)}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def test_a_class_that_is_not_a_component_is_refused_by_its_own_name() -> None:
    with pytest.raises(BadComponent, match="'dict' is not a component"):
        MANAGER.capture(dict)


async def test_a_notebook_cell_takes_along_what_other_cells_define() -> None:
    values = cells(
        "import json as js\nfrom tea import tool\nLIMIT = 4\nBOTH, OTHER = 1, 2\n",
        "def helper(x):\n    return x + LIMIT + BOTH\n",
        '@tool\nasync def cell(x: int) -> str:\n    """Cell."""\n    return js.dumps(helper(x))\n',
        '@tool\nasync def lost(x: int) -> str:\n    """Lost."""\n    return str(thing) + str(x)\nthing = iter(())\n',
    )
    assert await call(values["cell"], {"x": 1}) == "6"
    with pytest.raises(BadComponent):
        MANAGER.capture(values["lost"])


def test_source_that_nobody_kept_is_refused_with_a_remedy() -> None:
    values: dict[str, Any] = {"__name__": "__main__"}
    exec("from tea import tool\n@tool\nasync def typed(x: int) -> int:\n    'Doc.'\n    return x\n", values)
    with pytest.raises(BadComponent, match=r"'typed' is not available\. Fix: write it in a file"):
        MANAGER.capture(values["typed"])


def test_a_file_is_parsed_once_for_all_names_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    live._read.cache_clear()
    texts, read = list[str](), live.ParsedFile.read
    monkeypatch.setattr(live.ParsedFile, "read", lambda text: texts.append(text) or read(text))
    assert MANAGER.capture(count_words) == MANAGER.capture(count_words)
    assert sum("def count_words" in one and "def at_once" in one for one in texts) == 1
