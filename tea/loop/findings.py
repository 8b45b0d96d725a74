"""Findings: results as facts, for agents writing reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from tea.loop.observation import Observation, clipped
from tea.models.rendering import rendered
from tea.types import Evidence, Fact

MOST_FINDING, MOST_HITS = 1_500, 6
MOST_ASKED = 500  # characters of the words or arguments that a finding answers
_NAMING = ("files", "path", "url", "source")  # arguments that name what was read


def findings_of(outcome: Observation) -> list[Fact]:
    """Return a result as findings: each hit of a search with its address, else the call, its file, and the value."""
    called = f"{outcome.name} {clipped(json.dumps(outcome.arguments, ensure_ascii=False), MOST_ASKED)}"
    listed: Any = (
        cast("Mapping[str, Any]", outcome.value).get("results") if isinstance(outcome.value, Mapping) else None
    )
    given = cast("list[Any]", listed) if isinstance(listed, list) else []
    hits = [cast("Mapping[str, Any]", outcome) for outcome in given if isinstance(outcome, Mapping)]
    if hits and all(isinstance(hit.get("url"), str) for hit in hits):
        return [
            Fact(
                fact=f"{called} found: {clipped(rendered(hit), MOST_FINDING)}", source=str(hit["url"]), quote=_text(hit)
            )
            for hit in hits[:MOST_HITS]
        ]
    named = next((value for key in _NAMING if (value := outcome.arguments.get(key))), outcome.name)
    source = ", ".join(map(str, cast("list[Any]", named))) if isinstance(named, list) else str(named)
    text = clipped(outcome.text, MOST_FINDING)
    return [Fact(fact=f"{called} gave: {text}", source=source, quote=text)]


def told_once(said: str, sources: Sequence[Evidence]) -> list[Fact]:
    """Return an answer as facts, one for each of its sources: the words stand in the first alone.

    Args:
        said: The words, with what was asked.
        sources: Its sources.
    """
    more = [f"On the same answer: {clipped(one.detail or one.quote or one.source, MOST_ASKED)}" for one in sources[1:]]
    words = [said, *more][: len(sources)]
    return [Fact(fact=fact, source=one.source, quote=one.quote) for fact, one in zip(words, sources, strict=True)]


def _text(hit: Mapping[str, Any]) -> str:
    return clipped(str(hit.get("text") or ""), MOST_FINDING)
