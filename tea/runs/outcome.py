"""Outcome: the end of a run, for people, programs and exit codes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic_core import to_jsonable_python

from tea.errors import ErrorRecord, error_from
from tea.journal.record import TraceRecord
from tea.journal.steps import found_among, has_refusal
from tea.runs.budget import Spent
from tea.types import AgentResponse, Attempted, Evidence, Result, without_empty

Status = Literal["done", "failed", "exhausted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a run.

    Args:
        run: Its id.
        status: `done`; `failed`: it ran and did not succeed; `exhausted`: a budget ended first.
        answer: The answer; with `exhausted`, the best so far.
        reason: Why it did not succeed, in one line; of one that did, what its agent remarks on the answer.
        evidence: Where the answer comes from.
        cost: Steps, tokens and US dollars (None when a price is unknown); see `Spent`.
        trace: The run's folder.
        report: The Markdown report, if one was written.
        error: The error that ended it, if one did.
        files: Names of the files that it wrote into its workspace.
        unheard: What it was told too late to hear.
        handoff: Name of the agent that it hands the conversation over to.
        task: The task of that agent, if it is another one.
        remarks: Of a replay, in a line each: what was played and not executed again.
        gaps: What is not known, contradictory, or could not be looked at.
        partial: Whether the work stopped before it was complete, although the answer holds.
        attempts: The attempts that the answer was chosen from, where the task asked for several.
        doubts: What agents remark on their answers to parts of the task, each with its agent and its part.
        found: What its last calls gave, where a budget or a model ended it without an answer.
        made: References of the tools that it made.
        remedies: Where it did not succeed, what the operator can do about calls that the guard refused; in words of
            tea's own alone, as the errors of calls may be those of others.
    """

    run: str
    status: Status
    answer: Any
    reason: str
    evidence: tuple[Evidence, ...]
    cost: Spent
    trace: Path
    report: Path | None
    error: ErrorRecord | None = None
    files: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()
    handoff: str | None = None
    task: str | None = None
    remarks: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    partial: bool = False
    attempts: tuple[Attempted, ...] = ()
    doubts: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the task succeeded."""
        return self.status == "done"

    @property
    def exit_code(self) -> int:
        """The command line's exit code for it."""
        if self.status == "exhausted":
            return 5
        if self.error is not None:
            return error_from(self.error).exit_code
        return 0 if self.ok else 1

    @classmethod
    def of(cls, run: str, response: AgentResponse, cost: Spent, folder: Path) -> Outcome:
        """Return the outcome of a run from its agent's `response`."""
        result: Result = response.result
        status: Status = "exhausted" if result.exhausted else ("done" if result.ok else "failed")
        if response.error is not None and error_from(response.error).exit_code == 5:
            status = "exhausted"
        return cls(
            run=run,
            status=status,
            answer=result.answer,
            reason=result.reason,
            evidence=result.evidence,
            cost=cost,
            trace=folder,
            report=folder / "workspace" / result.report if result.report else None,
            error=response.error,
            handoff=result.handoff,
            task=result.task,
            gaps=result.gaps,
            partial=result.partial,
            attempts=result.attempts,
        )

    @classmethod
    def given_up(cls, run: str, reason: str, cost: Spent, folder: Path) -> Outcome:
        """Return the outcome of a run ended from outside, for a reason."""
        return cls(
            run=run,
            status="failed",
            answer="",
            reason=reason,
            evidence=(),
            cost=cost,
            trace=folder,
            report=None,
        )

    def unfinished(
        self, records: Callable[[], Iterable[TraceRecord]], besides: Container[str]
    ) -> dict[str, tuple[str, ...]]:
        """Return the results and remedies left to a person, of a run without success.

        Args:
            records: Gives the records of the run.
            besides: Names of functions that only organise the work.
        """
        if self.error is not None and self.status == "failed":
            return {}
        from tea.web.guard import OPENS, OTHERWISE  # a run with success does not need it

        gave_up = self.status == "exhausted" or self.cost.tokens  # a solver tells itself
        is_open = gave_up and self.answer in ("", None)
        found = found_among(records(), besides) if is_open else ()
        remedies = (f"The guard refused an address; {OPENS}",) if has_refusal(OTHERWISE, records()) else ()
        return {"found": found, "remedies": remedies}

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object, with a typed answer as its original JSON."""
        data = {
            "run": self.run,
            "status": self.status,
            "ok": self.ok,
            "answer": to_jsonable_python(self.answer),
            "reason": self.reason,
            "evidence": [one.model_dump(mode="json") for one in self.evidence],
            "cost": asdict(self.cost),
            "trace": str(self.trace),
            "report": str(self.report) if self.report else None,
            "error": self.error,
            "files": list(self.files),
            "unheard": list(self.unheard),
            "handoff": self.handoff,
            "task": self.task,
            "remarks": list(self.remarks),
            "gaps": list(self.gaps),
            "partial": self.partial,
            "attempts": [one.model_dump(mode="json") for one in self.attempts],
            "doubts": list(self.doubts),
            "found": list(self.found),
            "made": list(self.made),
            "remedies": list(self.remedies),
        }
        more = ("handoff", "task", "remarks", "gaps", "partial", "attempts", "doubts", "found", "made", "remedies")
        return without_empty(data, *more)
