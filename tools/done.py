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


@tool(effects="reads", idempotent=True, scope=True, network=False)
async def done(
    answer: Any = "",
    success: bool = True,
    reason: str = "",
    evidence: list[Source] | None = None,
) -> Outcome:
    """End the task with its answer, or say why there is none.

    Args:
        answer: Nothing but the answer, in the form asked for.
        success: False if it cannot be done.
        reason: Why not; with success, what remains doubtful: the person is told it.
        evidence: Source (file or address), detail (rows, lines), quote (its words).

    Examples:
        >>> (await done(answer=70)).answer
        70
        >>> await done(success=False)
        Traceback (most recent call last):
        tea.errors.ToolError: success is false, and no reason is given. ...
    """
    if not success and not reason.strip():
        raise ToolError("success is false, and no reason is given.", fix="say in one line why it cannot be done.")
    return Outcome(answer=answer, success=success, reason=reason, evidence=evidence or [])
