"""Generated tools held against their tests, stage by stage, to input of ten million characters."""

import importlib.util
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from tea.errors import BadArguments
from tea.platform import Platform
from tea.testing import platform
from tea.untrusted.cases import Case, case_fault, passing_stub, read_cases, same_value
from tea.untrusted.conduct import conduct_fault
from tea.untrusted.evaluation import STAGES, evaluate

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "generated_tools.py"
in_one_loop = pytest.mark.asyncio(loop_scope="module")
# Of these no tool has to be afraid: what is too large for its time is ended by the sandbox, as a structured error.
NOT_CAUGHT = {"endless on large input"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def seeded() -> ModuleType:
    """The benchmark with the seeded faults."""
    spec = importlib.util.spec_from_file_location("generated_tools", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["generated_tools"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


def case(returns: Any = None, /, *, fails: bool = False, **arguments: Any) -> Case:
    return Case(arguments=arguments, returns=returns, fails=fails)


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        ([case(1, a=1), case(2, a=2)], "2 cases are there, and 3 to 20 are needed"),
        ([case(1, a=1), case(2, a=3), case(4, a=4)], "no case gives wrong input"),
        ([case(1, a=1), case(fails=True, a=2), case(fails=True, a=3)], "fewer than two cases want a value"),
        ([case(5, a=1), case(5, a=2), case(fails=True, a=3)], "a stub that always gives 5 passes"),
        ([case([1.0], a=1), case([1.0], a=2), case(fails=True, a=3)], "always gives [1.0]"),
        ([case("x", a="x"), case("yy", a="yy"), case(fails=True, a="")], "gives its argument 'a' back"),
        ([case(2, a=1), case(3, a=2), case(3, a=2), case(fails=True, a=0)], "two cases have the same arguments"),
        ([case(2, a=1), case(3, a=2), case(fails=True, a=0)], ""),
    ],
)
def test_cases_that_test_nothing_are_refused(cases: list[Case], words: str) -> None:
    fault = case_fault(cases)
    assert words in fault
    assert bool(fault) == bool(words)


@given(JSON, st.integers(2, 6))
def test_no_constant_passes_cases_unless_all_want_it(value: Any, count: int) -> None:
    assert passing_stub([case(value, a=number) for number in range(count)]) is not None


@given(JSON)
def test_a_value_is_the_same_as_itself_and_no_other_kind_of_value(value: Any) -> None:
    assert same_value(value, value)
    assert not same_value(value, [value])
    assert not same_value({"a": value}, value)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(1, 1.0, True), (0.1 + 0.2, 0.3, True), (1, True, False), ("1", 1, False), (0.3, 0.3001, False), ([], {}, False)],
)
def test_numbers_are_compared_to_nine_digits_and_all_else_exactly(one: Any, other: Any, same: bool) -> None:
    assert same_value(one, other) is same


@pytest.mark.parametrize("data", [[1], [{}], [{"arguments": {}}], [{"arguments": {}, "returns": 1, "also": 2}], [None]])
def test_what_is_no_case_is_bad_arguments(data: Any) -> None:
    with pytest.raises(BadArguments, match="Case 1"):
        read_cases(data)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("import socket", "uses the network"),
        ("from urllib import request", "uses the network"),
        ("from urllib.parse import quote", ""),
        ("import os", ""),
        ("import os as o\n\n\ndef f() -> None:\n    o.fork()", "'os.fork'"),
        ("from os import path", ""),
        ("from os import environ", "'os.environ'"),
        ("from time import sleep", "it waits"),
        ("def f() -> None:\n    eval('1')", "executes text"),
        ("COUNT = 0\n\n\ndef f() -> None:\n    global COUNT\n    COUNT = 1", "calls depend on each other"),
        ("import importlib", "reaches into the machine"),
        ("def one(a: int, b: int) -> int:\n    return a", "ignores its argument 'b'"),
    ],
)
def test_conduct_of_a_source_is_judged_without_executing_it(lines: str, words: str) -> None:
    fault = conduct_fault(f"{lines}\n", "one")
    assert words in fault
    assert bool(fault) == bool(words)


@in_one_loop
async def test_a_sound_tool_passes_all_stages(tea: Platform, seeded: ModuleType) -> None:
    found = await seeded.evaluate(seeded.SOUND, seeded.CASES, tea.sandboxes, given={"text": "Tea", "letters": "ea"})
    assert [one.name for one in found.stages] == list(STAGES)
    assert (found.ok, found.passed, found.result) == (True, len(seeded.CASES), 2)
    assert found.to_json()["name"] == "count_letters"


SIZE = '''
from tea import tool


@tool(effects="reads", network=False)
def size(texts: list[str]) -> int:
    """Count the letters of texts.

    Args:
        texts: Texts.

    Examples:
        >>> size(["a", "bc"])
        3
    """
    if not isinstance(texts, list):
        raise ValueError("no list")
    return sum(len(one) for one in texts)
'''


@pytest.mark.slow
@in_one_loop
async def test_a_sound_tool_may_be_tested_with_large_items(tea: Platform) -> None:
    texts = [["a"], ["x" * 90_000], []]
    cases = [*(case(sum(map(len, one)), texts=one) for one in texts), case(fails=True, texts=5)]
    found = await evaluate(SIZE, cases, tea.sandboxes)
    assert found.ok, found.to_json()


HALF = '''
from tea import ToolError, tool


@tool(effects="reads", idempotent=True, network=False)
async def half(of: str) -> float:
    """Halve a number.

    Args:
        of: The number.

    Examples:
        >>> await half("4")
        2.0
    """
    if not of:
        raise ToolError("It is empty."{fix})
    return float(of) / 2
'''


@in_one_loop
@pytest.mark.parametrize(
    ("fix", "wrong", "raised"),
    [
        (', fix="give one."', "", ""),
        ("", "", "TypeError: TeaError.__init__() missing 1 required keyword-only argument: 'fix'"),
        (', fix="give one."', "x", "ValueError: could not convert string to float"),
    ],
)
async def test_only_a_told_refusal_passes_a_test_with_wrong_input(
    tea: Platform, fix: str, wrong: str, raised: str
) -> None:
    cases = [case(2.0, of="4"), case(1.5, of="3"), case(fails=True, of=wrong)]
    found = await evaluate(HALF.replace("{fix}", fix), cases, tea.sandboxes)
    assert found.ok is not bool(raised), found.to_json()
    if found.failed is not None:
        assert found.failed.name == "tests"
        assert raised in found.failed.words
        assert 'raise ToolError("What is wrong.", fix="What to do.")' in found.failed.words


@in_one_loop
@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("raises on valid input", "tests"),
        ("mutable state: counts over all calls", "state"),
        ("hidden input: reads a host file", "deeds"),
        ("huge output", "examples"),
        pytest.param("endless on a longer text", "input", marks=pytest.mark.slow),
    ],
)
async def test_a_fault_is_caught_by_its_stage_and_the_reason_is_said(
    tea: Platform, seeded: ModuleType, name: str, stage: str
) -> None:
    (fault,) = [one for one in seeded.FAULTS if one.name == name]
    failed = (await seeded.judged(tea, fault.source)).failed
    assert failed is not None
    assert (failed.name, bool(failed.words)) == (stage, True)


@pytest.mark.slow
@in_one_loop
async def test_every_seeded_fault_is_caught_but_those_that_are_named(tea: Platform, seeded: ModuleType) -> None:
    rows = await seeded.table(tea)
    assert {name for name, stage, _ in rows if not stage} == NOT_CAUGHT
    assert len(rows) - len(NOT_CAUGHT) >= 20
