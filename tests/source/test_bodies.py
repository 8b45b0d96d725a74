"""Test functions without their bodies: described alike, and never run."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from tea.errors import BadComponent, CallFailed
from tea.source.bodies import without_bodies
from tea.source.cache import SourceCache
from tea.source.dynamic import DynamicManager

FUNCTIONS = '''
ran = []


def plain(a: int, *rest: str, b: float = 1.5, **others: bytes) -> bool:
    """Do it.

    Args:
        a: One.
    """
    ran.append(a)
    return True


async def waiting(a: int = 2) -> list[int]:
    """Wait."""
    ran.append(a)
    return [a]


def parts(a):
    def inner():
        return 1

    yield a
    yield inner()


async def stream(a):
    async with a as b:
        yield b


def nested():
    def inner():
        yield 1

    return inner


def documented_by_a_value():
    f"{ran}"
    return ran


class Some:
    """Some."""

    def method(self, a: "Some") -> "Some":
        """Return it."""
        ran.append(a)
        return super().method(a)

    @classmethod
    def made(cls, make=lambda: ran.append(1)) -> "Some":
        return cls()

    @property
    def value(self) -> int:
        return ran.append(2) or 1
'''
CALLED = '''from tea import tool


def begin() -> int:
    """Begin."""
    open("ran", "w").close()
    return 1


BEGUN = begin()


@tool(effects="reads")
async def add(a: int) -> int:
    """Add one.

    Args:
        a: A number.
    """
    return a + BEGUN
'''


def executed(tree: ast.Module) -> dict[str, Any]:
    """Return the names of a file after executing it."""
    names: dict[str, Any] = {"__name__": "some"}
    exec(compile(tree, "some.py", "exec"), names)
    return names


def functions(names: dict[str, Any]) -> dict[str, FunctionType]:
    """Return the functions and methods among some names."""
    members = {**names, **vars(names["Some"])}
    bare = {name: getattr(one, "__func__", getattr(one, "fget", one)) for name, one in members.items()}
    return {name: one for name, one in bare.items() if isinstance(one, FunctionType)}


def test_functions_without_bodies_are_described_alike() -> None:
    whole, without = (
        functions(executed(change(ast.parse(FUNCTIONS)))) for change in (lambda tree: tree, without_bodies)
    )
    assert list(whole) == list(without)
    for name, one in whole.items():
        other = without[name]
        kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
        assert [kind(one) for kind in kinds] == [kind(other) for kind in kinds], name
        assert str(inspect.signature(one))[:30] == str(inspect.signature(other))[:30], name
        assert (one.__doc__, one.__annotations__) == (other.__doc__, other.__annotations__), name
        assert one.__code__.co_firstlineno == other.__code__.co_firstlineno, name


async def test_functions_without_bodies_never_run() -> None:
    names = executed(without_bodies(ast.parse(FUNCTIONS)))
    some = names["Some"]()
    for call in (
        lambda: names["plain"](1),
        lambda: next(names["parts"](1)),
        names["nested"],
        names["documented_by_a_value"],
        lambda: some.method(some),
        lambda: some.value,
    ):
        with pytest.raises(AssertionError, match="is called while it is described"):
            call()
    with pytest.raises(AssertionError, match="waiting is called"):
        await names["waiting"]()
    with pytest.raises(AssertionError, match="stream is called"):
        await anext(names["stream"](1))
    assert inspect.signature(names["Some"].made).parameters["make"].default() is None
    assert names["ran"] == []


def test_a_function_that_the_check_would_let_be_called_does_not_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tea.source.check.check_shape", lambda *_: None)
    monkeypatch.setattr("tea.source.check.check_facts", lambda *_: None)
    manager = DynamicManager(lambda _: True)
    text = manager.check(CALLED)
    with pytest.raises(BadComponent, match="begin is called while it is described"):
        manager.describe(text, version="1.0.0")
    assert not (tmp_path / "ran").exists()


NESTED_YIELDS = {
    "default": "def inner(a=(yield)): pass",
    "default of a keyword": "def inner(*, a=(yield)): pass",
    "default of a lambda": "inner = lambda a=(yield): a",
    "decorator": "@(yield)\n    def inner(): pass",
    "base": "class Inner((yield)): pass",
    "none": "inner = lambda: (yield)",
    "none of a class": "class Inner:\n        def inner(): yield",
}


@pytest.mark.parametrize("inner", NESTED_YIELDS.values(), ids=NESTED_YIELDS)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_functions_without_bodies_yield_where_they_do_with_them(kind: str, inner: str) -> None:
    source = f"{kind} made():\n    {inner}\n"
    whole, without = (executed(change(ast.parse(source)))["made"] for change in (lambda tree: tree, without_bodies))
    kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    assert [is_kind(without) for is_kind in kinds] == [is_kind(whole) for is_kind in kinds]


def test_a_generator_by_the_default_of_an_inner_function_is_refused_where_it_is_described() -> None:
    source = CALLED.replace("BEGUN = begin()", "BEGUN = 1").replace(
        "    return a + BEGUN", "    def inner(b=(yield)):\n        return b\n"
    )
    manager = DynamicManager(lambda _: True)
    with pytest.raises(BadComponent, match="is not async"):
        manager.describe(manager.check(source), version="1.0.0")


ASSERTING = CALLED.replace("BEGUN = begin()", "BEGUN = 1").replace("    return a +", "    assert a > 0\n    return a +")
REGISTERING = """
import sys
from pathlib import Path
from tea.source.cache import SourceCache
from tea.source.dynamic import DynamicManager

manager = DynamicManager(lambda _: True, kept=SourceCache(Path(sys.argv[1])))
manager.load(manager.describe(manager.check(sys.argv[2]), version="1.0.0"))
"""


@pytest.mark.parametrize("option", ["-O", "-OO"])
async def test_assertions_and_words_stay_though_python_was_started_without_them(tmp_path: Path, option: str) -> None:
    started = [sys.executable, option, "-c", REGISTERING, str(tmp_path), ASSERTING]
    subprocess.run(started, check=True, timeout=60)
    manager = DynamicManager(lambda _: True, kept=SourceCache(tmp_path))
    found = manager.load(manager.describe(manager.check(ASSERTING), version="1.0.0"))
    with pytest.raises(CallFailed, match="AssertionError"):
        await found.operations["call"].executor(None, {"a": -1}, None)
