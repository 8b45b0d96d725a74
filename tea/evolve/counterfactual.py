"""Counterfactuals: failed runs again with one variable changed, to show the cause of the failure."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tea.errors import BadInput, ProviderError, TeaError
from tea.evaluate.scoring import JUDGED, Question, grade
from tea.evolve.proposal import Staged
from tea.journal.history import History, is_own
from tea.journal.record import TraceRecord, as_mapping
from tea.refs import Ref
from tea.runs.fork import Change, Fork

if TYPE_CHECKING:
    from tea.components.manifest import Manifest
    from tea.evaluate.task_set import PlacedTask
    from tea.evolve.account import Account
    from tea.platform import Platform
    from tea.runs.outcome import Outcome

_RECOVERED = ("rerun", "snapshot")  # environments brought back as they were at any step
How = Literal["fork", "whole run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterfactual:
    """A failed run repeated with other versions.

    Args:
        task: Id of its task.
        origin: Id of the failed run.
        run: Id of the other one, empty where it could not end.
        how: `fork` from before the first use of what changed, else a `whole run`.
        why: The reason for that choice.
        right: Whether it gave the right answer.
        answer: Its answer, or why it has none.
    """

    task: str
    origin: str
    run: str
    how: How
    why: str
    right: bool
    answer: Any


async def counterfactual(
    platform: Platform, origin: str, task: PlacedTask, staged: Staged, account: Account | None = None
) -> Counterfactual | None:
    """Repeat a failed run with other versions, and return the result; None if only a judge could grade it.

    A run without an answer of its provider says nothing either, nor does one that this account did not begin: carried
    out anew its task would count as typed here, with all that it allows.

    It is a fork from before the first use of what changed, where all environments used by then come back as they
    were; else all of the run is done anew.

    Args:
        platform: Made the run.
        origin: Id of the run.
        task: Its task.
        staged: The other versions.
        account: Counts the run.
    """
    if task.task.scorer in JUDGED:
        return None
    history = await asyncio.to_thread(lambda: History.of(origin, platform.tracer.records(origin), ""))
    if not is_own(origin, history.records[0], platform.seal.made):
        return None
    why = await _obstacle(platform, history, staged)
    how: How = "whole run" if why else "fork"
    why = why or "all environments before the first use come back as they were"
    try:
        forks = how == "fork"
        outcome = await (platform.fork(origin, use=staged.use) if forks else _rerun(platform, history, task, staged))
    except ProviderError:
        return None
    except TeaError as error:
        return Counterfactual(task=task.id, origin=origin, run="", how=how, why=why, right=False, answer=error.problem)
    if account is not None:
        await account.outcome(outcome)
    if outcome.exit_code == ProviderError.exit_code:
        return None
    right = outcome.ok and await _right(task, outcome)
    answer = outcome.answer if outcome.ok else outcome.reason
    return Counterfactual(task=task.id, origin=origin, run=outcome.run, how=how, why=why, right=right, answer=answer)


async def _right(task: PlacedTask, outcome: Outcome) -> bool:
    asked = Question(task=task.task.task, answer=outcome.answer, expected=task.task.expected, options=task.task.options)
    return (await grade(task.task.scorer, asked)).score >= 1


async def _rerun(platform: Platform, history: History, task: PlacedTask, staged: Staged) -> Outcome:
    """Repeat all of a run with its own versions, but for the changed ones."""
    pinned = {pin.asked: pin.exact[0] for pin in history.pins if "@" not in pin.asked}
    used = {**history.task.use, **pinned, **staged.use}
    given = history.task.model_copy(update={"use": used, "id": None, "session": None})
    return await platform.execute(given, task.paths)


async def _obstacle(platform: Platform, history: History, staged: Staged) -> str:
    """Return why a run cannot be forked from before the first use of the changed part, empty if it can be."""
    changed: dict[str, Manifest] = {}
    for name, version in staged.use.items():
        ref = Ref.parse(name)
        changed[name] = await platform.libraries[ref.kind].info(ref.at(version))
    try:
        fork = Fork.of(history, None, Change(use=changed))
    except BadInput as error:
        return error.problem
    for name in dict.fromkeys(_environments(fork.kept)):
        ref = Ref.parse(name)
        pinned = next((pin.exact[0] for pin in history.pins if pin.asked == name), None)
        recovery = (await platform.libraries["environment"].info(ref.at(pinned))).recovery
        if recovery not in _RECOVERED:
            return f"{name} was used before, and its recovery is {recovery!r}"
    return ""


def _environments(records: Iterable[TraceRecord]) -> Iterator[str]:
    """Yield the environments called in records, as `environment:name`."""
    for one in records:
        data: Mapping[str, Any] = as_mapping(one.data)
        called = one.kind == "evidence" or (one.kind == "start" and data.get("kind") == "environment")
        if called and str(data.get("target", "")).startswith("environment:"):
            yield str(Ref.parse(str(data["target"]).partition("#")[0]).at(None))
