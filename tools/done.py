"""The end of a task: an agent's answer, and where it comes from."""

import re
from dataclasses import dataclass
from typing import Any

from tea import ToolError, tool

_DOUBT = r"(?:doubts?|assumptions?|ambiguit(?:y|ies)|uncertaint(?:y|ies))"
_NO_DOUBT = re.compile(
    rf"\W*(?:(?:there (?:are|is) )?(?:no(?: \w+)? {_DOUBT}(?:,? (?:and |or )?{_DOUBT})*|none|nothing|nil|n/?a|no)"
    r"(?: (?:were |was |are |is )?(?:remains?|remaining|left|known|made|needed|doubtful))?)?\W*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[-*\u2022]\s+")


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
    doubts: str = "",
    evidence: list[Source] | None = None,
) -> Outcome:
    """End the task with its answer, or say why there is none.

    Args:
        answer: Nothing but the answer, in the form asked for.
        success: False if it cannot be done.
        reason: Why not, where success is false.
        doubts: Assumptions, ambiguous dates or units, what is missing; empty if none. The person is told them.
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
    parts = [reason.strip(), *(_BULLET.sub("", line.strip()) for line in doubts.splitlines())]
    told = list(dict.fromkeys(one for one in parts if not _NO_DOUBT.fullmatch(one)))
    why = _sentences(told) if success or told else reason
    return Outcome(answer=answer, success=success, reason=why, evidence=evidence or [])


def _sentences(parts: list[str]) -> str:
    """Return texts one after another, with a semicolon behind each without a mark at its end."""
    closed = [one if one.endswith((".", "!", "?", ";", ":", "\u2026", "\u3002")) else f"{one};" for one in parts[:-1]]
    return " ".join([*closed, *parts[-1:]])
