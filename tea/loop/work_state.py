"""Work state: facts, failures and leads of an attempt at a task, for the next one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tea.loop.end_words import short
from tea.loop.ledger import Ledger
from tea.loop.observation import Observation
from tea.types import Fact, WorkState

MOST_FAILED, MOST_WHY = 12, 300


def work_state(
    ledger: Ledger,
    results: Iterable[Observation],
    failed: Mapping[str, str],
    facts: Iterable[Fact],
    confidence: int | None,
) -> WorkState:
    """Return the state of the work at its result: facts, failures, and leads left open.

    Args:
        ledger: Its facts and plan.
        results: What its calls gave.
        failed: The reasons of failed parts, by their tasks.
        facts: What else was found.
        confidence: That in the answer, in percent.
    """
    parts = [f"{short(text)}: {why}" for text, why in failed.items()]
    items = [one.item for one in ledger.plan if one.state == "failed"]
    calls = [one.failure(MOST_WHY) for one in results if one.error is not None]
    fields = ledger.fields
    missing = [f"find {name!r}" for name in fields.missing] if fields is not None and fields.known else []
    noted = {(one.fact, one.source): one for one in (*ledger.facts, *facts)}
    return WorkState(
        confidence=confidence,
        facts=tuple(noted.values()),
        failed=tuple(dict.fromkeys([*parts, *items, *calls]))[-MOST_FAILED:],
        leads=tuple(dict.fromkeys([*ledger.open_items, *missing])),
    )
