"""Share: the limits passed along with a task, and the work done within them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import cast

from pydantic import ValidationError

from tea.kernel.gate import Gate
from tea.runs.budget import BudgetAccount, BudgetAccounts
from tea.runs.call import CallRequest
from tea.types import AgentResponse, Budget, JsonObject, Response, changed, success


async def within_limits(
    call: CallRequest,
    key: str,
    gate: Gate,
    accounts: BudgetAccounts,
    work: Callable[[], Awaitable[Response]],
    *,
    measured: bool = False,
) -> Response:
    """Do the work of a call; with limits passed along with its task, from a share of the remaining budget.

    Args:
        call: What is carried out.
        key: Of its scope.
        gate: The run's boundary.
        accounts: Who pays.
        work: Does it.
        measured: Whether the response of work within limits says what it used.
    """
    budget = given(call)
    if budget is None:
        return await work()
    with accounts.share(key, budget) as account:
        if budget.seconds is None:
            response = await work()
        else:
            try:
                async with gate.timeout(budget.seconds) as account.passed:
                    response = await work()
            except TimeoutError:
                response = success(AgentResponse, call.ref, account.out_of_time().model_dump(mode="json"))
        return with_cost(response, account) if measured else response


def with_cost(response: Response, account: BudgetAccount) -> Response:
    """Return the response of an agent with its cost, an error included."""
    spent = account.total()
    cost: JsonObject = {"steps": spent.steps, "tokens": spent.tokens, "usd": spent.usd}
    return changed(response, value={**(response.value or {}), "cost": cost})


def given(call: CallRequest) -> Budget | None:
    """Return the limits passed along with a task, None without any; the task itself is validated later."""
    task = call.arguments.get("task") if call.config.kind == "agent" else None
    limits = cast("JsonObject", task).get("budget") if isinstance(task, Mapping) else None
    try:
        return Budget.model_validate(limits) if limits else None
    except ValidationError:
        return None
