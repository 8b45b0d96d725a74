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
        ("3 x 1250", 3750),
        ("10x5", 50),
        ("3 \u00d7 1250 \u2212 50", 3700),
        ("50 \u00f7 2", 25),
        ("0x10", 16),
        ("3,500 - 3,750", -250),
        ("12*85 =", 1020),
        ("2^10", 1024),
        ("10%", 0.1),
        ("12.5% * 80", 10),
        ("10 % 4", 2),
        ("max(1,500)", 500),
        ("sum(1, 2, 3) + sum([4, 5]) + max([1, 6])", 21),
        ("math.sqrt(16) * math.pi / pi", 4),
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
        "200 + 10%",
        "[1, 2]",
        "math.system(1)",
        "abs([1])",
        "1,5 + 2",
    ],
)
async def test_anything_else_is_an_error_that_names_a_remedy(tools: TCPServer, expression: str) -> None:
    response = await tools.invoke("calculator", {"expression": expression})
    assert not response.ok
    assert response.error
    assert response.error["code"] == "ToolError"
    assert response.error["fix"]


async def test_a_refusal_names_what_has_no_meaning(tools: TCPServer) -> None:
    for expression, part in {"mean(1, 2)": "mean", "2 $ 3": "$", "rate * 2": "rate"}.items():
        response = await tools.invoke("calculator", {"expression": expression})
        assert response.error
        assert response.error["problem"] == f"{expression!r} is not arithmetic: {part!r} has no meaning here."


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.integers(-(10**9), 10**9), st.sampled_from("+-*"), st.integers(-(10**9), 10**9))
async def test_whole_numbers_stay_exact(tools: TCPServer, left: int, sign: str, right: int) -> None:
    value = (await tools.invoke("calculator", {"expression": f"({left}) {sign} ({right})"})).unwrap()
    expected = {"+": left + right, "-": left - right, "*": left * right}[sign]
    assert value == expected
    assert isinstance(value, int)
    assert math.isfinite(value)
