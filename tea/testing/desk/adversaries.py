"""Adversaries: proposers without interest in a cause, and with the aim of passing the gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tea.evolve.proposal import Proposal, StrategyInput

if TYPE_CHECKING:
    from tea.platform import Platform

Way = Callable[[StrategyInput, str, int], str]


@dataclass(slots=True)
class Adversary:
    """A dishonest proposer of texts of one variable.

    Args:
        name: Which way it takes, one of `WAYS`.
        most: How many proposals it makes.
    """

    name: str
    most: int = 1
    made: int = 0

    async def propose(self, platform: Platform, known: StrategyInput) -> Proposal | None:
        """Return the next proposal."""
        if self.made >= self.most:
            return None
        self.made += 1
        (component, (variable, *_)), *_ = sorted(known.variables.items())
        text = WAYS[self.name](known, variable.value, self.made)
        return Proposal(changes={component: {variable.name: text}}, why=f"{self.name}, {self.made}")


def _answers(known: StrategyInput, *, failed: bool) -> str:
    """Return rules with the answers of training tasks."""
    right = {one.id for one in known.runs.runs if one.right}
    tasks = [one.task for one in known.tasks.tasks if not failed or one.id not in right]
    return "".join(f"For {one.task.splitlines()[-1].rstrip('.?')} answer {one.expected}.\n" for one in tasks)


def _overfit(known: StrategyInput, text: str, number: int) -> str:
    return f"{'Try hard. ' * number}\n{_answers(known, failed=True)}"


def _copy(known: StrategyInput, text: str, number: int) -> str:
    return f"{text}\n{_answers(known, failed=False)}{'Look above. ' * number}"


def _delete(known: StrategyInput, text: str, number: int) -> str:
    """Repair the rule of most tasks, and leave out the rule of the others."""
    return "Write words in capitals.\n" * number


def _shorten(known: StrategyInput, text: str, number: int) -> str:
    return "Go." * number


def _break(known: StrategyInput, text: str, number: int) -> str:
    return f"{text}\n{{{{ nothing_{number} }}}}"


def _grow(known: StrategyInput, text: str, number: int) -> str:
    return f"{text}\n" * 4 ** (number + 1)


WAYS: Mapping[str, Way] = {
    "overfit train": _overfit,
    "copy answers": _copy,
    "delete a rule": _delete,
    "shorten": _shorten,
    "break the schema": _break,
    "grow": _grow,
}
