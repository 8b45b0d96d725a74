"""The decision whether a research goes on by itself: rules first, a model only for open cases."""

import re
from collections.abc import Mapping
from typing import Any, TypedDict

# The reasons to stop and to ask the person, as they are recorded.
CONVERGENCE, UNREADABLE = "research_convergence", "error"


_LEVEL = re.compile(r"\b(?:high|medium|low)\b", re.IGNORECASE)


class Decision(TypedDict):
    """A decision: whether to go on, the reason to stop, and by whom: `rule`, `model`, `person` or `error`."""

    go_on: bool
    trigger: str
    reasoning: str
    confidence: str
    by: str


def by_rule(state: Mapping[str, Any], iteration: int) -> Decision | None:
    """Return the decision made without a model, None for one to ask a model about.

    Args:
        state: The world.
        iteration: The number of the iteration in its run, from 1.
    """
    mode, limit = str(state["mode"]), int(state["limits"][state["mode"]])
    if not state["suggestions"]:
        return _ruled(go_on=False, trigger=CONVERGENCE, reasoning="Nothing is left that would be worth doing.")
    if mode == "steering":
        return _ruled(go_on=False, trigger="", reasoning="In this mode the person decides after each iteration.")
    if iteration >= limit:
        return _ruled(go_on=False, trigger="", reasoning=f"The limit of {limit} iterations is reached.")
    if mode == "full":
        return _ruled(go_on=True, trigger="", reasoning="In this mode the research goes on while there is work.")
    if iteration == 1:
        return _ruled(go_on=True, trigger="", reasoning="The first iteration is followed by another.")
    return None


def by_model(output: Mapping[str, Any]) -> Decision:
    """Return the verdict of a model as a decision; a reason to stop counts only with a stop."""
    go_on = bool(output["go_on"])
    return Decision(
        go_on=go_on,
        trigger="" if go_on else str(output["trigger"]),
        reasoning=str(output["reasoning"]),
        confidence=level_of(output["confidence"]) or "low",
        by="model",
    )


def level_of(words: str) -> str:
    """Return the first level of confidence in some words: `high`, `medium` or `low`; empty for none."""
    found = _LEVEL.search(words)
    return found[0].lower() if found else ""


def unreadable(problem: str) -> Decision:
    """Return the decision without a readable verdict: the person decides."""
    reasoning = f"Whether to go on could not be told, so you decide: {problem}"
    return Decision(go_on=False, trigger=UNREADABLE, reasoning=reasoning, confidence="low", by="error")


def unplanned() -> Decision:
    """Return the decision without a readable plan of the next tasks: it stops."""
    return _ruled(
        go_on=False, trigger=UNREADABLE, reasoning="The next tasks could not be planned; another start plans anew."
    )


def all_failed() -> Decision:
    """Return the decision after tasks without any output: it stops."""
    return _ruled(go_on=False, trigger=UNREADABLE, reasoning="Every task of this iteration failed.")


def by_person(decision: Decision, *, go_on: bool) -> Decision:
    """Return the decision of the person about what nobody else could decide; the reason to ask them stays."""
    words = "goes on" if go_on else "stops"
    return Decision(
        go_on=go_on,
        trigger=decision["trigger"],
        reasoning=f"{decision['reasoning']} The person decided that it {words}.",
        confidence="high",
        by="person",
    )


def _ruled(*, go_on: bool, trigger: str, reasoning: str) -> Decision:
    return Decision(go_on=go_on, trigger=trigger, reasoning=reasoning, confidence="high", by="rule")
