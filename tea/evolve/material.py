"""Material: variables, failed runs with their traces, and verdicts as text for a strategy."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from tea.components.variable import tagged
from tea.evolve.proposal import StrategyInput
from tea.journal.form import understood
from tea.journal.steps import call_words, cut, opening

if TYPE_CHECKING:
    from tea.evaluate.evaluation import ScoredRun
    from tea.evaluate.task_set import PlacedTask
    from tea.journal.tracer import Step
    from tea.platform import Platform

MOST_RUNS = 6
_MOST_RIGHT, _MOST_TEXT = 2, 20_000
_LEAST_OPENING, _MOST_OPENING = 40, 4_000  # characters of a question beside its task: tags alone say nothing


def material(platform: Platform, known: StrategyInput) -> str:
    """Return a model's material for a reflection: variables, failures with their traces, and earlier verdicts.

    Nothing of the gate's tasks is in it.
    """
    wrong = failures(known)
    right = sorted((one for one in known.runs.runs if one.right), key=lambda one: one.id)
    tasks = {one.id: one for one in known.tasks.tasks}
    parts = ["Variables that may be rewritten:"]
    for name, variables in sorted(known.variables.items()):
        parts += [tagged(name, one.name, one.value) for one in variables]
    openings = dict[str, str]()
    parts.append(f"{len(wrong)} of {len(known.runs.runs)} runs failed. Some of them:")
    parts += [shown(platform, one, tasks[one.id], openings) for one in wrong[:MOST_RUNS]]
    parts.append("Runs that were right, so that it stays so:")
    parts += [shown(platform, one, tasks[one.id], openings) for one in right[:_MOST_RIGHT]]
    tried = [f"- {'accepted' if accepted else 'rejected'}: {one.why}" for one, accepted in known.verdicts[-20:]]
    parts.append("\n".join(["Earlier proposals:", *(tried or ["- none"])]))
    return "\n\n".join(parts)


def failures(known: StrategyInput) -> list[ScoredRun]:
    """Return the training runs failed by the agent, other ones first after each verdict."""
    wrong = sorted((one for one in known.runs.runs if not one.right and not one.infrastructure), key=lambda one: one.id)
    shift = len(known.verdicts) * MOST_RUNS % max(len(wrong), 1)
    return [*wrong[shift:], *wrong[:shift]]


def shown(
    platform: Platform, run: ScoredRun, task: PlacedTask, openings: MutableMapping[str, str] | None = None
) -> str:
    """Return a run as text: its task, the expected and the given answer, its first question, and each step.

    Args:
        platform: Made the run.
        run: Its score.
        task: Its task.
        openings: Beginnings shown already, each with the id of its task; further ones are added.
    """
    lines = [
        f"<run task={run.id!r} score={run.score:g} ended={(run.kind or 'right')!r}>",
        f"task: {task.task.task}",
        f"expected: {cut(task.task.expected)}",
        f"answered: {cut(run.answer)}",
        *([f"reason: {run.reason}"] if run.reason else []),
        *(_opening(platform, run, task.task.task, {} if openings is None else openings) if run.run else ()),
        *(steps_of(platform, run.run) if run.run else ()),
        "</run>",
    ]
    return "\n".join(lines)[:_MOST_TEXT]


def _opening(platform: Platform, run: ScoredRun, task: str, openings: MutableMapping[str, str]) -> list[str]:
    """Return the first question of a run beside its task, as heads of files and memories; of an equal one its run."""
    with understood(run.run):
        text = opening(platform.tracer.records(run.run)).replace(task, "").strip()
    if len(text) < _LEAST_OPENING:
        return []
    first = openings.setdefault(text, run.id)
    if first != run.id:
        return [f"shown at first: the same as in run {first!r}"]
    return ["shown at first:", *(f"  {line}" for line in cut(text, _MOST_OPENING).splitlines() if line.strip())]


def steps_of(platform: Platform, run: str) -> list[str]:
    """Return the steps of a run as lines: the thoughts, and each call with its result."""
    with understood(run):
        return [line for one in platform.tracer.run_steps(run) for line in _step(one)]


def _step(step: Step) -> Sequence[str]:
    data: Mapping[str, Any] = step.data
    words = [f"  {name}: {cut(data[name])}" for name in ("thinking", "memory", "next_goal") if data.get(name)]
    return [f"step {step.index}, {step.agent}:", *words, *map(call_words, data.get("results", ()))]
