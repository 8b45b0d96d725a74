"""Mending: the repair of a failing own component, once and for one run alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tea.components.variable import Variable, tagged
from tea.evolve.material import steps_of
from tea.evolve.proposal import Proposal, stage
from tea.evolve.strategies import proposed
from tea.journal.pin import pins
from tea.journal.record import as_mapping
from tea.refs import Ref
from tea.types import Budget, JsonObject

if TYPE_CHECKING:
    from tea.components.manifest import Manifest
    from tea.journal.record import TraceRecord
    from tea.journal.recorder import Event
    from tea.platform import Platform
    from tea.runs.outcome import Outcome

_CODE = ("tool", "environment", "agent")  # kinds whose untrusted versions run in sandboxes
_FAULTS = ("CallFailed", "BadOutput", "ToolError")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """A repaired component.

    Args:
        ref: Its new version, which is not current.
        before: The version that failed.
        why: What was changed, in one line.
        outcome: The outcome of the run that went on with it.
    """

    ref: Ref
    before: Ref
    why: str
    outcome: Outcome


async def mend(
    platform: Platform, outcome: Outcome, model: str | None = None, watch: Callable[[Event], None] | None = None
) -> Mended | None:
    """Repair an own tool, environment or agent after an unsuccessful run, and continue from before its first use.

    The reflection is a run of its own, paid from what the other one left of its limit in dollars; what it writes runs
    in a sandbox, in a fork of the run and nowhere else. It becomes current only through the gate, or by a person.

    Args:
        platform: Made the run.
        outcome: How the run ended.
        model: Which model reflects; that of the home by default.
        watch: Told of each record of the fork.

    Returns:
        What was repaired; None if the run was successful, or nothing of the operator's own failed in it.

    Raises:
        TeaError: The reflection gave nothing usable.
    """
    if outcome.ok or (found := await _failing(platform, outcome)) is None:
        return None
    manifest, variables = found
    name = str(manifest.ref.at(None))
    material, left = await _material(platform, outcome, manifest, variables), await _remaining_budget(platform, outcome)
    proposal = await proposed(platform, material, model, budget=left, components=(name,))
    only = Proposal(changes={name: dict(proposal.changes.get(name, {}))}, why=proposal.why, run=proposal.run)
    staged = await stage(platform, only, {name: manifest.version})
    gone_on = await platform.fork(outcome.run, use=dict(staged.use), watch=watch)
    return Mended(ref=manifest.ref.at(staged.use[name]), before=manifest.ref, why=proposal.why, outcome=gone_on)


async def _failing(platform: Platform, outcome: Outcome) -> tuple[Manifest, list[Variable]] | None:
    """Return the last failing own component of a run, and its variables."""
    records = await asyncio.to_thread(lambda: [*platform.tracer.records(outcome.run)])
    pinned = {str(Ref.parse(one.ref).at(None)): Ref.parse(one.ref) for one in pins(records)}
    for name in reversed([*_faults(platform, outcome, records[0])]):
        ref = next((one for key, one in pinned.items() if one.kind in _CODE and _refers_to(name, key)), None)
        if ref is None:
            continue
        library = platform.libraries[ref.kind]
        manifest = await library.info(ref.at(ref.selector))
        variables = [one for one in await library.vars(manifest.ref) if one.trainable]
        if manifest.lineage.how != "bundled" and variables:
            return manifest, variables
    return None


def _faults(platform: Platform, outcome: Outcome, head: TraceRecord) -> Iterator[str]:
    """Yield the names of failed calls, in order, behind the agent of the run if it failed by itself."""
    if outcome.error is not None and outcome.error["code"] in _FAULTS:
        yield f"agent:{as_mapping(as_mapping(head.data).get('task')).get('agent', '')}"
    for step in platform.tracer.run_steps(outcome.run):
        data: Any = step.data
        for one in data.get("results", ()):
            if not one.get("ok") and as_mapping(one.get("error")).get("code") in _FAULTS:
                yield str(one.get("name", ""))


def _refers_to(name: str, component: str) -> bool:
    """Return whether the name of a call, `kind:name@version`, `name` or `environment_action`, refers to a component."""
    kind, _, bare = component.partition(":")
    called = name.partition("@")[0].partition("#")[0]
    return called in (component, bare) or (kind == "environment" and called.startswith(f"{bare}_"))


def _task(platform: Platform, run: str) -> JsonObject:
    """Return the task of a run."""
    first = next(iter(platform.tracer.records(run)))
    return as_mapping(as_mapping(first.data).get("task"))


async def _remaining_budget(platform: Platform, outcome: Outcome) -> JsonObject:
    """Return the budget of a repair: the rest of its run's limit in dollars."""
    task = await asyncio.to_thread(_task, platform, outcome.run)
    budget = Budget.model_validate(task.get("budget") or {})
    left = None if budget.usd is None else max(0.0, budget.usd - (outcome.cost.usd or 0.0))
    return {"usd": left, "unknown_price": budget.unknown_price}


async def _material(platform: Platform, outcome: Outcome, manifest: Manifest, variables: list[Variable]) -> str:
    name = str(manifest.ref.at(None))
    parts = ["Variables that may be rewritten:"]
    parts += [tagged(name, one.name, one.value) for one in variables]
    parts += ["1 of 1 runs failed:", f"<run task={outcome.run!r} score=0 ended={outcome.status!r}>"]
    task = await asyncio.to_thread(_task, platform, outcome.run)
    parts += [f"task: {task.get('task', '')}", f"answered: {outcome.answer}", f"reason: {outcome.reason}"]
    return "\n".join([*parts, *await asyncio.to_thread(steps_of, platform, outcome.run), "</run>"])
