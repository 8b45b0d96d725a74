"""Test ends straight after a result with a warning: asked about once if of nothing, or doubted otherwise too."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, step, told

ORDERS = "id,status,amount\n" + "".join(f"{number},{('paid', 'open')[number % 2]},{number}\n" for number in range(90))
WARNED = """The last result warned: "nothing in "status" is 'Paid': did you mean 'paid'?"."""
TASK = "What is the median amount of paid orders?"
WRONG = "SELECT median(amount) FROM orders WHERE status = 'Paid'"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open() as stage:
        yield stage


pytestmark = pytest.mark.asyncio(loop_scope="module")


def ask(sql: str) -> dict[str, Any]:
    return step(("table_query", {"files": ["orders.csv"], "sql": sql}))


@pytest.fixture
def orders(tmp_path: Path) -> str:
    (tmp_path / "orders.csv").write_text(ORDERS)
    return str(tmp_path / "orders.csv")


@pytest.mark.parametrize(
    "end",
    [
        step(("done", {"success": False, "reason": "There are no paid orders."})),
        step(done("none")),
        step(done(0)),
        "There are no paid orders, so the median cannot be computed.",
        "There are no paid orders.",
    ],
)
async def test_an_end_of_nothing_after_a_warning_is_asked_about_once(stage: Stage, orders: str, end: Any) -> None:
    last = step(("done", {"success": False, "reason": "There are no paid orders."}))
    outcome, model = await stage.play(ask(WRONG), end, last, task=TASK, files=(orders,))
    assert told(model.requests[2]).replace("\\", "").count(WARNED) == 1
    assert (outcome.ok, len(model.requests)) == (False, 3)


async def test_a_warning_heeded_by_a_later_call_is_not_told_again(stage: Stage, orders: str) -> None:
    none = "SELECT count(*) FROM orders WHERE status = 'paid' AND amount > 1000"
    outcome, model = await stage.play(ask(WRONG), ask(none), step(done(0)), task=TASK, files=(orders,))
    assert (outcome.answer, len(model.requests)) == (0, 3)


async def test_an_answer_of_something_is_taken_beside_a_warning(stage: Stage, orders: str) -> None:
    sql = "SELECT median(amount) AS m FROM orders WHERE status IN ('paid', 'settled')"
    outcome, model = await stage.play(ask(sql), step(done("44")), task=TASK, files=(orders,))
    assert (outcome.answer, len(model.requests)) == ("44", 2)


async def test_a_warning_is_told_with_another_doubt_about_an_answer_of_something(stage: Stage, orders: str) -> None:
    sql = "SELECT median(amount) AS m FROM orders WHERE status IN ('paid', 'settled')"
    outcome, model = await stage.play(ask(sql), step(done("44.37")), step(done("44")), task=TASK, files=(orders,))
    asked = told(model.requests[2])
    assert "simple arithmetic: 44.37" in asked
    assert 'The last result warned: "' in asked
    assert (outcome.answer, len(model.requests)) == ("44", 3)
