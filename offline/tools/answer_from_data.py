"""The offline analysis solver: the next step on a question about tables, by rules instead of a model."""

from typing import Any

from tea import tool

from ._answer_from_data.policy import next_step
from ._answer_from_data.steps import Step


@tool(effects="reads", idempotent=True, network=False, metadata={"category": "solver"})
def answer_from_data(
    task: str, files: list[str], history: list[dict[str, Any]], answer: dict[str, Any] | None = None
) -> Step:
    """Return the next step of the work on a question about tables.

    It reads nothing itself: it asks for calls of `table_query`, and finds their results in the history. It ends with a
    call of `done`, without success when it cannot tell; a question about a text is one of those.

    Args:
        task: The question.
        files: Names of files in the workspace.
        history: The steps so far, oldest first, each `{"step": 1, "calls": [...]}` with calls
            `{"name", "arguments", "ok", "value", "error"}`.
        answer: JSON Schema of the wanted answer; text when there is none.

    Examples:
        >>> (answer_from_data("How many orders?", ["orders.csv"], []))["calls"][0]["name"]
        'table_query'
    """
    return next_step(task, files, history, answer)
