"""The self-check: whether each level of this machine holds its claims, told by attacking it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Literal

from tea.errors import ToolError, Unsupported
from tea.sandbox.inside.attempts import ATTACKS
from tea.sandbox.levels import Level, attempted, facts_of, terms_of
from tea.sandbox.packages import declared
from tea.sandbox.scene import Scene, planted
from tea.sandbox.session import Sandbox, opened
from tea.sandbox.settings import MOVED, LevelName, Limits
from tea.sandbox.trials import TRIALS, Stage

LIMITS = Limits(memory_mb=128, cpu_seconds=2, call_seconds=6, disk_mb=16, processes=16, output_kb=100)
Outcome = Literal["held", "broke", "absent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The outcome of one case at one level.

    Args:
        level: The level.
        name: Name of the case.
        words: What was tried.
        claim: What the level says about it: the claim's name.
        claimed: Whether the level says that it enforces that.
        outcome: What was observed.
        detail: How it broke, or why the case does not apply.
    """

    level: LevelName
    name: str
    words: str
    claim: str
    claimed: bool
    outcome: Outcome
    detail: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the level does not claim more than it holds."""
        return not (self.claimed and self.outcome == "broke")


async def check(level: Level, *, heavy: bool = True) -> AsyncGenerator[Checked]:
    """Attack one level, and yield the outcome of each case.

    Args:
        level: The level, with its claims.
        heavy: Whether to let off bombs and storms, too, which take seconds.
    """
    with planted() as scene:
        facts = {**scene.facts, **facts_of(LIMITS, moved=level.name in MOVED, net=level.claims["net"])}
        packages = [str(one) for one in await asyncio.to_thread(declared, None)]
        opening = terms_of(level.name, str(scene.workspace), LIMITS, level.claims, ["input.txt"])
        terms = {**opening, "packages": packages}
        async with opened(terms) as sandbox:
            outcomes = await _attempted(sandbox, facts)
        if scene.arrived():
            outcomes["udp"] = "broke: it came"
        elif outcomes["udp"].startswith("absent"):
            outcomes["udp"] = "held"
        for name, attack in ATTACKS.items():
            yield _checked(level, name, attack.words, attack.claim, outcomes[name])
        yield _checked(level, "untouched", "Find all that was planted as it was", "fs", _untouched(scene))
        for name, trial in TRIALS.items():
            if heavy or not trial.heavy:
                stage = Stage(scene=scene, level=level.name, limits=LIMITS, terms=terms, facts=facts)
                try:
                    async with asyncio.timeout(60):
                        outcome = await trial.run(stage)
                except Unsupported as error:
                    outcome = f"absent: {error.problem}"
                except (ToolError, TimeoutError) as error:
                    outcome = f"broke: {error}"
                yield _checked(level, name, trial.words, trial.claim, outcome)


_BY_ITSELF = ("fork_storm", "thread_storm", "memory_bomb", "mapped_memory", "shared_folder", "deep_recursion")


async def _attempted(sandbox: Sandbox, facts: Mapping[str, object]) -> dict[str, str]:
    """Return the outcome of every attack; those able to end the interpreter are made one by one."""
    together = [name for name in ATTACKS if name not in _BY_ITSELF]
    outcomes = await attempted(sandbox.python, together, facts)
    for name in _BY_ITSELF:
        outcomes |= await attempted(sandbox.python, [name], facts)
    return outcomes


def _untouched(scene: Scene) -> str:
    changed = [name for name in scene.changed() if name != "input.txt"]
    return f"broke: {', '.join(changed)} changed" if changed else "held"


def _checked(level: Level, name: str, words: str, claim: str, answer: str) -> Checked:
    """Return the meaning of a case's words; a call stopped by a limit counts as held."""
    kind, _, detail = answer.partition(": ")
    outcome: Outcome = "held" if kind in ("held", "stopped") else "absent" if kind == "absent" else "broke"
    claimed = claim == "limits" or level.claims[claim]
    return Checked(
        level=level.name, name=name, words=words, claim=claim, claimed=claimed, outcome=outcome, detail=detail
    )
