"""Form: the check of a research as its journals describe it; a writer of journals may write anything."""

from __future__ import annotations

from functools import cache
from typing import Any, NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from tea.components.operation import reasons
from tea.journal.form import Count, Object
from tea.types import JsonValue


class _Message(TypedDict):
    id: str
    who: str
    status: str
    text: str
    number: Count
    iteration: NotRequired[Count]
    doubts: NotRequired[list[Any]]
    missing: NotRequired[list[str]]


class _Task(TypedDict):
    id: str
    type: str
    objective: str
    level: Count
    start: str
    end: str
    output: str
    error: str
    artifacts: list[str]


class _Discovery(TypedDict):
    claim: str


class World(TypedDict):
    """The parts of a research read by this check."""

    run: str
    title: str
    mode: str
    level: int
    objective: str
    hypothesis: str
    discoveries: list[_Discovery]
    plan: dict[str, _Task]
    datasets: Object
    clarification: Object
    messages: list[_Message]
    warnings: NotRequired[list[str]]


class _Planned(TypedDict):
    type: str
    objective: str
    datasets: NotRequired[list[str]]


class _Answer(TypedDict):
    question: str
    answer: str


class Plan(TypedDict):
    """The answer of a clarification."""

    objective: str
    tasks: list[_Planned]
    answers: NotRequired[list[_Answer]]


class Paper(TypedDict):
    """The answer of a paper."""

    title: str
    files: list[str]
    doubts: Count


def check(form: type[Any], data: JsonValue) -> None:
    """Check data for a form.

    Raises:
        ValueError: It has another one.
    """
    try:
        _adapter(form).validate_python(data, strict=True)
    except ValidationError as error:
        raise ValueError(reasons(error, 1)) from error


@cache
def _adapter(form: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(form)
