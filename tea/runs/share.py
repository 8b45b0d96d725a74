"""Share: the limits passed along with a task, and the work done within them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import cast

from pydantic import ValidationError

from tea.kernel.gate import Gate
from tea.runs.budget import BudgetAccounts
from tea.runs.call import CallRequest
from tea.types import AgentResponse, Budget, JsonObject, Response, success


async def within_limits(
    call: CallRequest, key: str, gate: Gate, accounts: BudgetAccounts, work: Callable[[], Awaitable[Response]]
) -> Response:
    """Do the work of a call; with limits passed along with its task, from a share of the remaining budget.

    Args:
        call: What is carried out.
        key: Of its scope.
        gate: The run's boundary.
        accounts: Who pays.
        work: Does it.
    """
    budget = given(call)
    if budget is None:
        return await work()
    with accounts.share(key, budget) as account:
        if budget.seconds is None:
            return await work()
        try:
            async with gate.timeout(budget.seconds) as account.passed:
                return await work()
        except TimeoutError:
            return success(AgentResponse, call.ref, account.out_of_time().model_dump(mode="json"))


def given(call: CallRequest) -> Budget | None:
    """Return the limits passed along with a task, None without any; the task itself is validated later."""
    task = call.arguments.get("task") if call.config.kind == "agent" else None
    limits = cast("JsonObject", task).get("budget") if isinstance(task, Mapping) else None
    try:
        return Budget.model_validate(limits) if limits else None
    except ValidationError:
        return None
