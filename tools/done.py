"""The end of a task: an agent's answer, and where it comes from."""

from dataclasses import dataclass
from typing import Any

from tea import ToolError, tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where an answer comes from: a file or address, which part of it, and its words."""

    source: str
    detail: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the task came to."""

    answer: Any
    success: bool
    reason: str
    evidence: list[Source]
    report: str


@tool(effects="reads", idempotent=True, scope=True, network=False)
async def done(
    answer: Any = "",
    success: bool = True,
    reason: str = "",
    evidence: list[Source] | None = None,
    report: str = "",
) -> Outcome:
    """End the task with its answer, or say honestly that it cannot be done.

    Call it alone or as the last call of a step, once the answer is checked.

    Args:
        answer: The answer itself, without explanation; in the wanted form where the task states one.
        success: Whether the task was done; false needs a reason.
        reason: Why it could not be done, in one line.
        evidence: Where the answer comes from: source (a file name or address), detail (which part: rows, columns,
            lines, a query) and quote (its words).
        report: Name of the Markdown report in the workspace, if one was written.

    Examples:
        >>> (await done(answer=70)).answer
        70
        >>> await done(success=False)
        Traceback (most recent call last):
        tea.errors.ToolError: success is false, and no reason is given. ...
    """
    if not success and not reason.strip():
        raise ToolError("success is false, and no reason is given.", fix="say in one line why it cannot be done.")
    return Outcome(answer=answer, success=success, reason=reason, evidence=evidence or [], report=report)
