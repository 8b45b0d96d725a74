"""Test docstrings: every example of bundled components, and the first lines of all."""

import ast
import inspect
import re
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path
from typing import Any

import pytest

from tea.components.operation import Example
from tea.errors import TeaError
from tea.platform import Platform
from tea.refs import Kind
from tea.source.bundled import bundled_files
from tea.testing import platform

ROOT = Path(__file__).parent.parent
RELATIVE = re.compile(r"\b(who|whom|whose|which|that|what|where)\b", re.IGNORECASE)
NAMES: dict[Kind, list[str]] = {kind: [path.stem for path in bundled_files(kind)] for kind in ("tool", "environment")}


async def outcome(example: Example, names: dict[str, Any]) -> str:
    """Run one example, with await if it needs, and show its value or error as a prompt would."""
    code = compile(example.call, "<example>", "eval", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    try:
        value = eval(code, names)
        value = await value if inspect.isawaitable(value) else value
    except TeaError as error:
        return f"Traceback (most recent call last):\n{type(error).__module__}.{type(error).__name__}: {error}"
    return "" if value is None else repr(value)


async def check(example: Example, names: dict[str, Any]) -> None:
    found = await outcome(example, names)
    assert OutputChecker().check_output(f"{example.result}\n", f"{found}\n", ELLIPSIS), f"{example.call}\n{found}"


async def test_everything_that_ships_is_loaded_without_a_problem() -> None:
    async with platform() as tea:
        assert tea.problems == []
        for library in tea.libraries.values():
            for one in await library.list():
                assert await library.get(one.name) is not None


@pytest.fixture
async def shipped() -> Any:
    async with platform() as tea:
        yield tea


@pytest.mark.parametrize("name", NAMES["tool"])
async def test_examples_of_a_tool_give_what_they_say(shipped: Platform, name: str) -> None:
    config, function = await shipped.tcp.info(name), await shipped.tcp.get(name)
    for example in config.operations["call"].examples:
        await check(example, {name: function})


@pytest.mark.parametrize("name", NAMES["environment"])
async def test_examples_of_an_environment_give_what_they_say(shipped: Platform, name: str) -> None:
    config = await shipped.ecp.info(name)
    for operation in config.operations.values():
        room = await shipped.ecp.get(name)
        for example in operation.examples:
            await check(example, {name: room})


def test_first_lines_of_docstrings_are_rarely_relative_clauses() -> None:
    folders = ("agents", "benchmarks", "environments", "examples", "offline", "tea", "tests", "tools")
    trees = [ast.parse(path.read_text(encoding="utf-8")) for one in folders for path in (ROOT / one).rglob("*.py")]
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [ast.get_docstring(node) for tree in trees for node in ast.walk(tree) if isinstance(node, documented)]
    firsts = [text.splitlines()[0] for text in texts if text]
    relative = [first for first in firsts if RELATIVE.search(first)]
    assert len(relative) <= len(firsts) * 0.03, relative
