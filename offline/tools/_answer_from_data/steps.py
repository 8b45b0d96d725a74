"""Records of a solver's steps, and the results of earlier ones."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, cast


class Call(TypedDict):
    """A wish to call a tool."""

    name: str
    arguments: dict[str, Any]


class Step(TypedDict):
    """One step of thought, with the calls it leads to."""

    thinking: str
    evaluation: str
    memory: str
    next_goal: str
    calls: list[Call]


History = Sequence[Mapping[str, Any]]


def step(thinking: str, evaluation: str, memory: str, next_goal: str, *calls: Call) -> Step:
    """Return one step's record."""
    return Step(thinking=thinking, evaluation=evaluation, memory=memory, next_goal=next_goal, calls=list(calls))


def call(name: str, **arguments: Any) -> Call:
    """Return a wish to call a tool."""
    return Call(name=name, arguments=arguments)


def given_up(reason: str, memory: str = "") -> Step:
    """Return the step ending without an answer."""
    done = call("done", answer="", success=False, evidence=[], reason=reason)
    return step(
        f"I cannot tell: {reason}.", "No reading of the question is certain.", memory, "Stop without an answer.", done
    )


def result_of(history: History, wanted: Call) -> Mapping[str, Any] | None:
    """Return the record of an earlier call with the same name and arguments, or None."""
    for past in history:
        for record in cast("Sequence[Mapping[str, Any]]", past.get("calls", ())):
            if record.get("name") == wanted["name"] and record.get("arguments") == wanted["arguments"]:
                return record
    return None
