"""Evaluation: the scored runs of a task set under one plan, none of them left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import to_json

from tea.characters import path_in_sentence
from tea.errors import Damaged
from tea.evaluate.plan import Plan
from tea.journal.form import Amount, Count
from tea.store.evaluations import FileEvaluations
from tea.types import JsonObject, JsonValue

RESULTS = "results.jsonl"
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRun:
    """One run of one task, with its score.

    Args:
        id: Id of the task within its set.
        epoch: Which repetition, from 1.
        score: From 0 to 1; 0 for a run that did not succeed, whatever it answered.
        kind: Kind of its failure, empty for a right answer: `wrong`, `partly wrong`, `failed`, `abstained`,
            `exhausted`, `waiting`, or the class of the error that ended it.
        status: How the run ended: `done`, `failed`, `exhausted`, `waiting` or `error`.
        answer: Its answer.
        reason: Why it did not succeed, or why the scorer gave this score.
        run: Id of the run, empty if none could begin.
        usd: US dollars of the run, None where a price is unknown.
        tokens: Tokens of the run.
        steps: Model calls of the run.
        seconds: How long it was worked on.
        tags: Classes of the task.
        split: Part of the set.
        cluster: What the task has in common with others.
        work: Digest of what the agent was given.
        details: What a judge said beside the score.
        infrastructure: Whether a provider or this machine failed, and not the agent.
        judging: Cost of judging: `tokens`, `usd`.
        words: The beginning of the task, on one line.
    """

    id: str
    epoch: Count
    score: Annotated[float, Field(ge=0, le=1)]
    kind: str
    status: str
    answer: JsonValue
    reason: str
    run: str
    usd: Amount | None
    tokens: Count
    steps: Count
    seconds: Amount
    tags: tuple[str, ...] = ()
    split: str = ""
    cluster: str = ""
    work: str = ""
    details: JsonObject = field(default_factory=dict[str, Any])
    infrastructure: bool = False
    judging: JsonObject = field(default_factory=dict[str, Any])
    words: str = ""

    @property
    def right(self) -> bool:
        """Whether it has the full score."""
        return self.score >= 1.0

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {**asdict(self), "tags": list(self.tags)}

    @classmethod
    def from_json(cls, data: JsonObject) -> ScoredRun:
        """Return the run in a JSON object written by `to_json`.

        Raises:
            ValueError: It is not such an object.
        """
        known = {one.name for one in fields(cls)}
        return _checked(cls, {name: value for name, value in data.items() if name in known}, "a result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The outcome of an evaluation.

    Args:
        id: Its id, the same for the same plan, tasks and epochs.
        name: Name of the task set.
        set_digest: Digest of the chosen tasks.
        plan: Who worked on them.
        plan_digest: Digest of everything that counts beside the tasks.
        epochs: How often each task was run.
        series: Which series of independent repetitions; results are shared within one alone.
        runs: Every run, by task and epoch.
        components: Digests of the components in use, by `kind:name`.
        model: The model's configuration.
        begun: When it began, ISO 8601 in UTC.
        fresh: How many of the runs were made now; the others were there.
    """

    id: str
    name: str
    set_digest: str
    plan: Plan
    plan_digest: str
    epochs: int
    series: str
    runs: tuple[ScoredRun, ...]
    components: JsonObject
    model: JsonObject
    begun: str
    fresh: int = 0

    @property
    def label(self) -> str:
        """Its name in tables."""
        return self.plan.label or f"{self.plan.agent} {self.id[:6]}"

    def by_task(self) -> dict[str, list[ScoredRun]]:
        """Return the runs of each task, by its id, in their order."""
        found: dict[str, list[ScoredRun]] = {}
        for one in self.runs:
            found.setdefault(one.id, []).append(one)
        return found

    def means(self) -> dict[str, float]:
        """Return the mean score of each task, by its id."""
        return {id: sum(one.score for one in runs) / len(runs) for id, runs in self.by_task().items()}

    def head(self, *, finished: bool, request: str) -> dict[str, Any]:
        """Return the content of its head: all but the runs.

        Args:
            finished: Whether all of its runs are there.
            request: Digest of what was asked for, before versions were looked up.
        """
        return {
            "format": FORMAT,
            "id": self.id,
            "name": self.name,
            "set": self.set_digest,
            "plan": self.plan.to_json(),
            "plan_digest": self.plan_digest,
            "epochs": self.epochs,
            "series": self.series,
            "components": dict(self.components),
            "model": dict(self.model),
            "begun": self.begun,
            "finished": finished,
            "request": request,
        }

    @classmethod
    def of(cls, head: JsonObject, runs: Sequence[ScoredRun]) -> Evaluation:
        """Return an evaluation from its head and runs.

        Raises:
            KeyError: The head lacks something.
            ValueError: It has something in another form.
        """
        names = ("id", "name", "plan", "plan_digest", "epochs", "series", "components", "model", "begun")
        given = {name: head[name] for name in names} | {"set_digest": head["set"], "runs": ()}
        return replace(_checked(cls, given, "its head"), runs=tuple(runs))


T = TypeVar("T")


def _checked(form: type[T], given: JsonObject, where: str) -> T:
    """Return the value in a JSON object.

    Raises:
        ValueError: It has another form.
    """
    try:
        return _adapter(form).validate_json(to_json(given), strict=True)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{path_in_sentence(fault['loc'])} of {where}: {fault['msg']}") from error


@cache
def _adapter(form: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(form)


class _Tagged(Protocol):
    @property
    def tags(self) -> tuple[str, ...]: ...


Row = TypeVar("Row", bound=_Tagged)


def by_tag(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each tag, by the tags in order; an evaluation from elsewhere may hold as many as runs."""
    found: dict[str, list[Row]] = {}
    for one in rows:
        for tag in dict.fromkeys(one.tags):
            found.setdefault(tag, []).append(one)
    return dict(sorted(found.items()))


def read_evaluation(store: FileEvaluations, name: str) -> Evaluation:
    """Read an evaluation.

    Args:
        store: The evaluations of a home.
        name: Its id, a unique beginning of it, or `last`.

    Raises:
        BadInput: There is none.
        Damaged: Its files are not what was written.
    """
    id = store.find(name)
    try:
        return Evaluation.of(store.head(id), [ScoredRun.from_json(one) for one in store.rows(id, RESULTS)])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        problem = f"The evaluation {id} is damaged: {str(error)[:80]}."
        raise Damaged(problem, fix="remove its folder, and evaluate again; its runs are kept.") from error
