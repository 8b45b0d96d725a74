"""Strategies: makers of proposals from training runs."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from tea.errors import BadInput, ProviderError
from tea.evolve.proposal import Known, Proposal, Strategy

if TYPE_CHECKING:
    from tea.evaluate.evaluation import ScoredRun
    from tea.evaluate.task_set import PlacedTask
    from tea.journal.tracer import Step
    from tea.platform import Platform

_MOST_RUNS, _MOST_RIGHT, _MOST_STEP, _MOST_TEXT = 6, 2, 1_200, 20_000


class Nothing:
    """A strategy without proposals: the row for comparison with others."""

    name = "nothing"

    async def propose(self, platform: Platform, known: Known) -> Proposal | None:
        """Return None."""
        return None


@dataclass(slots=True)
class RandomEdit:
    """A strategy for dropping a line of a random text: a baseline without any sense.

    Args:
        seed: Decides what it drops.
    """

    seed: int = 0
    name: str = "random"

    async def propose(self, platform: Platform, known: Known) -> Proposal | None:
        """Return a proposal to drop one line."""
        chance = random.Random(f"{self.seed}/{len(known.verdicts)}")
        texts = [
            (name, one) for name, ones in sorted(known.variables.items()) for one in ones if "\n" in one.value.strip()
        ]
        if not texts:
            return None
        name, variable = chance.choice(texts)
        lines = variable.value.splitlines(keepends=True)
        del lines[chance.randrange(len(lines))]
        return Proposal(changes={name: {variable.name: "".join(lines)}}, why="a random line dropped")


@dataclass(slots=True)
class Reflection:
    """A strategy for rewriting one variable by a model, after it reads traces of failures and finds their cause.

    Args:
        model: Which model configuration reflects; the home's default without one.
        name: What it is called by `--strategy`.

    Source: paper, section 3.4 and Appendix A.3.
    """

    model: str | None = None
    name: str = "reflection"

    async def propose(self, platform: Platform, known: Known) -> Proposal | None:
        """Return the proposal of the agent `reflector`, None if no run failed.

        Raises:
            ProviderError: The model cannot be reached, or gave no proposal.
        """
        wrong = [one for one in known.runs.runs if not one.right and not one.infrastructure]
        if not wrong:
            return None
        options: dict[str, Any] = {} if self.model is None else {"model": self.model}
        outcome = await platform.run(material(platform, known), agent="reflector", **options)
        if not outcome.ok or not isinstance(outcome.answer, Mapping):
            raise ProviderError(
                f"The reflection gave no proposal: {outcome.reason}", fix="look at its trace, or try again."
            )
        found = cast("dict[str, Any]", outcome.answer)
        return Proposal(
            changes={str(found["component"]): {str(found["variable"]): str(found["text"])}},
            why=str(found["why"]),
            run=outcome.run,
            diagnosis={name: found[name] for name in found if name not in ("text", "why", "component", "variable")},
        )


def material(platform: Platform, known: Known) -> str:
    """Return a model's material for a reflection: variables, failures with their traces, and earlier verdicts.

    Nothing of the gate's tasks is in it.
    """
    wrong = sorted((one for one in known.runs.runs if not one.right and not one.infrastructure), key=lambda one: one.id)
    right = sorted((one for one in known.runs.runs if one.right), key=lambda one: one.id)
    tasks = {one.id: one for one in known.tasks.tasks}
    shift = len(known.verdicts) * _MOST_RUNS % max(len(wrong), 1)  # other failures after a rejection
    parts = ["Variables that may be rewritten:"]
    for name, variables in sorted(known.variables.items()):
        parts += [f"<variable component={name!r} name={one.name!r}>\n{one.value}\n</variable>" for one in variables]
    parts.append(f"{len(wrong)} of {len(known.runs.runs)} runs failed. Some of them:")
    parts += [_shown(platform, one, tasks[one.id]) for one in [*wrong[shift:], *wrong[:shift]][:_MOST_RUNS]]
    parts.append("Runs that were right, so that it stays so:")
    parts += [_shown(platform, one, tasks[one.id]) for one in right[:_MOST_RIGHT]]
    tried = [f"- {'accepted' if accepted else 'rejected'}: {one.why}" for one, accepted in known.verdicts[-20:]]
    parts.append("\n".join(["Earlier proposals:", *(tried or ["- none"])]))
    return "\n\n".join(parts)


def _shown(platform: Platform, run: ScoredRun, task: PlacedTask) -> str:
    """Return a run as text: its task, the expected and the given answer, and each step."""
    steps = platform.tracer.run_steps(run.run) if run.run else []
    lines = [
        f"<run task={run.id!r} score={run.score:g} ended={(run.kind or 'right')!r}>",
        f"task: {task.task.task}",
        f"expected: {_cut(task.task.expected)}",
        f"answered: {_cut(run.answer)}",
        *([f"reason: {run.reason}"] if run.reason else []),
        *(line for one in steps for line in _step(one)),
        "</run>",
    ]
    return "\n".join(lines)[:_MOST_TEXT]


def _step(step: Step) -> Sequence[str]:
    data: Mapping[str, Any] = step.data
    words = [f"  {name}: {_cut(data[name])}" for name in ("thinking", "memory", "next_goal") if data.get(name)]
    results = [
        f"  {one.get('name')}({_cut(one.get('arguments'))}) -> {_cut(one.get('value' if one.get('ok') else 'error'))}"
        for one in data.get("results", ())
    ]
    return [f"step {step.index}, {step.agent}:", *words, *results]


def _cut(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST_STEP else text[:_MOST_STEP] + " ..."


def strategy(name: str, model: str | None = None) -> Strategy:
    """Return a strategy by its name.

    Args:
        name: `reflection`, `random` or `nothing`.
        model: Which model configuration it asks.

    Raises:
        BadInput: There is none of that name.
    """
    made: dict[str, Strategy] = {"reflection": Reflection(model), "random": RandomEdit(), "nothing": Nothing()}
    if name not in made:
        raise BadInput(f"There is no strategy {name[:60]!r}.", fix=f"choose one of {', '.join(made)}.")
    return made[name]
