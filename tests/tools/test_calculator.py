"""Test arithmetic: exact, bounded, and nothing but arithmetic."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tea.protocols.tcp import TCPServer

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 3 * 4", 14),
        ("(2 + 3) * -4", -20),
        ("7 // 2 + 7 % 2", 4),
        ("2 ** 100", 2**100),
        ("sqrt(16) + abs(-2)", 6),
        ("round(10 / 3, 2)", 3.33),
        ("max(1, 2, 3) - min(1, 2)", 2),
        ("cos(0) + pi - pi", 1),
    ],
)
async def test_an_expression_has_its_value(tools: TCPServer, expression: str, value: float) -> None:
    assert (await tools.invoke("calculator", {"expression": expression})).unwrap() == pytest.approx(value)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "2 +",
        "9 ** 9 ** 9",
        "1 / 0",
        "__import__('os')",
        "a + 1",
        "[1][0]",
        "1 < 2",
        "sqrt(-1)",
        "(-8) ** 0.5",
        "'a' * 9",
    ],
)
async def test_anything_else_is_an_error_that_names_a_remedy(tools: TCPServer, expression: str) -> None:
    response = await tools.invoke("calculator", {"expression": expression})
    assert not response.ok
    assert response.error
    assert response.error["code"] == "ToolError"
    assert response.error["fix"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.integers(-(10**9), 10**9), st.sampled_from("+-*"), st.integers(-(10**9), 10**9))
async def test_whole_numbers_stay_exact(tools: TCPServer, left: int, sign: str, right: int) -> None:
    value = (await tools.invoke("calculator", {"expression": f"({left}) {sign} ({right})"})).unwrap()
    expected = {"+": left + right, "-": left - right, "*": left * right}[sign]
    assert value == expected
    assert isinstance(value, int)
    assert math.isfinite(value)
