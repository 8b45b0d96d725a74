"""Insights: lessons of agents in a session, confirmed or contradicted by the outcomes of later tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from tea.types import JsonObject

INSIGHT, RESULT, FORGOTTEN = "insight", "result", "forgotten"
TOLD = "insights"  # member of a result: the insights that its task was told
LEAST_AGAINST = 3
_UNUSED = 50  # tasks that were told other insights


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """An insight, with all evidence for and against it.

    Args:
        id: The beginning of the digest of its text.
        text: What was learned.
        session: Where.
        agent: Who recorded it first.
        task: In which task.
        recorded: How often it was recorded.
        uses: How many later tasks were told it.
        confirmed: How many of them succeeded.
        contradicted: How many of them failed.
        forgotten: Why it is not told any more, empty while it is.
    """

    id: str
    text: str
    session: str
    agent: str
    task: str
    recorded: int
    uses: int
    confirmed: int
    contradicted: int
    forgotten: str = ""

    def to_json(self) -> JsonObject:
        """Return it as a JSON object."""
        return asdict(self)


def insight_id(text: str) -> str:
    """Return the id of an insight: 12 hex digits of the digest of its text.

    Examples:
        >>> insight_id("Look first.")
        'c681c19011be'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def learned(session: str, events: Sequence[JsonObject], texts: Sequence[str]) -> list[Insight]:
    """Return the insights of a session, in the order of their first records.

    One is forgotten if a person said so after it was recorded last, if at least three tasks that were told it failed
    and more than twice as many as succeeded, or if fifty tasks since its last record or use were told others only.

    Args:
        session: Its id.
        events: Its events, oldest first.
        texts: What each of them says; only those of insights count.
    """
    found: dict[str, dict[str, Any]] = {}
    tasks = 0  # that were told insights
    for event, text in zip(events, texts, strict=True):
        data = cast("dict[str, Any]", event["data"])
        if event["kind"] == INSIGHT:
            one = found.setdefault(insight_id(text), _begun(session, event, text))
            one |= {"recorded": one["recorded"] + 1, "dropped": False, "since": tasks}
        elif event["kind"] == FORGOTTEN and (id := str(data.get("insight"))) in found:
            found[id]["dropped"] = True
        elif event["kind"] == RESULT and isinstance(told := data.get(TOLD), list) and told:
            tasks += 1
            _count(found, cast("list[object]", told), tasks, ok=bool(data.get("ok")))
    return [_insight(one, tasks) for one in found.values()]


def _begun(session: str, event: JsonObject, text: str) -> dict[str, Any]:
    numbers = dict.fromkeys(("recorded", "uses", "confirmed", "contradicted", "since"), 0)
    names = {"id": insight_id(text), "text": text, "session": session, "agent": event["agent"], "task": event["task"]}
    return {**names, **numbers, "dropped": False}


def _count(found: dict[str, dict[str, Any]], told: Iterable[object], tasks: int, *, ok: bool) -> None:
    """Count the outcome of a task, with its number, for the insights told to it."""
    for id in {one for one in told if isinstance(one, str)} & found.keys():
        one, side = found[id], "confirmed" if ok else "contradicted"
        one |= {"uses": one["uses"] + 1, side: one[side] + 1, "since": tasks}


def _insight(insight: dict[str, Any], tasks: int) -> Insight:
    idle = tasks - insight.pop("since")
    against, for_it = insight["contradicted"], insight["confirmed"]
    why = ""
    if insight.pop("dropped"):
        why = "a person forgot it"
    elif against >= LEAST_AGAINST and against > 2 * for_it:
        why = f"{against} tasks that were told it failed, {for_it} succeeded"
    elif idle >= _UNUSED:
        why = f"{idle} tasks did without it"
    return Insight(**insight, forgotten=why)
