"""Status: the progress of a research, for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self

from tea.errors import BadInput, ErrorRecord
from tea.journal.inbox import Question
from tea.research.conversation import Reading
from tea.research.guard import stale
from tea.research.settings import ResearchSettings

_PENDING = "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The progress of a research.

    Args:
        conversation: Id of the conversation.
        run: Id of the run.
        question: The words it was started with.
        agent: Name of its agent.
        message: Id of the iteration that is meant: the last one, or that asked for.
        status: `queued`, `processing`, `waiting` for a person, `interrupted`, `completed` or `failed`.
        mode: `steering`, `semi` or `full`.
        iteration: Number of the iteration in its run, 0 before the first.
        phase: What it does at present, or did last.
        phases: What was done in this iteration so far.
        reply: The reply of the iteration with its next steps and sources, None before there is one.
        error: Why it failed, empty if it did not.
        fault: The error that ended it, None for none.
        stale: Why a start would give it up, empty if none would.
        questions: What it asks the person.
        state: All that the research knows.
        answer: What the run ended with.
        own: Whether this account began the run; else also the words that it was started with are of others.
    """

    conversation: str
    run: str
    question: str
    agent: str
    message: str
    status: str
    mode: str
    iteration: int
    phase: str
    phases: tuple[str, ...]
    reply: Mapping[str, Any] | None
    error: str
    fault: ErrorRecord | None
    stale: str
    questions: tuple[Question, ...]
    state: Mapping[str, Any]
    answer: Any
    own: bool = True

    @classmethod
    def of(cls, run: Reading, name: str, now: datetime, limits: ResearchSettings) -> Self:
        """Return the status of a run, or of one of its messages.

        Args:
            run: The run.
            name: What was asked for; the id of a message means that one.
            now: The time, with its zone.
            limits: The operator's limits.

        Raises:
            BadInput: The run has no such message.
        """
        messages = [one for one in run.world.get("messages", ()) if one["who"] != "person"]
        origin = str(run.world.get("run") or run.head.run)  # a fork keeps the message ids of the run it continues
        own = [one for one in messages if str(one["id"]).startswith(f"{origin}.")]
        shown = _chosen(name, run, origin, own)
        error, status, phase = run.reason, str(run.status), run.phase if run.active else ""
        if shown is not None and shown["status"] == "completed" and "." in name:  # the run may be at the next one
            status, error, phase = "completed", "", ""
        return cls(
            conversation=run.head.session,
            run=run.head.run,
            question=run.head.text,
            agent=run.head.agent,
            message=str(shown["id"]) if shown else f"{run.head.run}.1",
            status=status,
            mode=str(run.world.get("mode", "")),
            iteration=int(shown.get("iteration", 0)) if shown else 0,
            phase=phase,
            phases=run.phases,
            reply=shown if shown is not None and shown["status"] != _PENDING else None,
            error=error,
            fault=run.fault,
            stale=stale(run, limits, now),
            questions=run.questions,
            state=run.world,
            answer=run.answer,
            own=run.head.own,
        )

    @property
    def title(self) -> str:
        """The subject of the research, in a line."""
        return str(self.state.get("title") or self.state.get("objective") or "")

    @property
    def latest(self) -> Mapping[str, Any] | None:
        """The reply of the iteration, and while there is none the last one of the conversation before it."""
        replies = (one for one in self.state.get("messages", ()) if one["who"] != "person")
        done = [one for one in replies if one["status"] == "completed"]
        return self.reply or (done[-1] if done else None)

    @property
    def hypothesis(self) -> str:
        """The hypothesis, empty for none."""
        return str(self.state.get("hypothesis", ""))

    @property
    def discoveries(self) -> list[str]:
        """The claims of the discoveries."""
        return [str(one["claim"]) for one in self.state.get("discoveries", ())]

    @property
    def tasks(self) -> list[Mapping[str, Any]]:
        """The tasks of the plan, in their order."""
        return list(self.state.get("plan", {}).values())

    @property
    def rounds(self) -> int:
        """How many iterations the conversation has had, in all runs."""
        return sum(one["who"] != "person" for one in self.state.get("messages", ()))

    @property
    def unanswered(self) -> list[str]:
        """The words of the person since the last completed reply; while a run is new they are its objective."""
        found = list[str]()
        for one in reversed(self.state.get("messages", ())):
            if one["who"] != "person" and one["status"] == "completed":
                return found[::-1]
            if one["who"] == "person":
                found.append(str(one["text"]))
        return found[-2::-1]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


def _chosen(name: str, run: Reading, origin: str, own: list[dict[str, Any]]) -> dict[str, Any] | None:
    wanted, _, number = name.partition(".")
    if not number or not run.head.run.startswith(wanted):
        return own[-1] if own else None
    found = next((one for one in own if one["id"] == f"{origin}.{number}"), None)
    if found is None and not (number == "1" and run.active):
        raise BadInput(f"There is no message {name[:80]!r}.", fix=f"ask for the run {run.head.run}.")
    return found
