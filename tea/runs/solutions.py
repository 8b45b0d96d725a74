"""Solutions of earlier tasks: those offered to a run, and those of tasks like its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tea.refs import Ref
from tea.registry.document import Solution, made_as
from tea.retrieval.likeness import ALIKE, likeness
from tea.types import JsonObject

if TYPE_CHECKING:
    from tea.components.manifest import Manifest
    from tea.journal.header import TaskFile
    from tea.runs.deps import RunContext

KIND = "solution:"
_OFFERED = 1_000  # of each run's solutions at most so many are looked at


def offered(task: TaskFile, solutions: bool) -> str:
    """Return the solutions offered to a run: `all`, the `named` ones of its task, or none if empty.

    Args:
        task: The task.
        solutions: Whether there are any.
    """
    if any(name.startswith(KIND) for name in task.use):
        return "named" if task.fresh else "all"
    return "all" if solutions and not task.fresh else ""


async def similar(run: RunContext, query: str, k: int) -> list[Any]:
    """Return the solutions of tasks like one, best first: ref, task and content.

    Two tasks are alike if at least half of their words are the same. Deprecated and untrusted solutions are left out,
    and so are those switched off; a version that the task's `use` names comes in place of the current one.
    """
    config, library = run.run_config, run.deps.libraries["solution"]
    use = {name.removeprefix(KIND): one for name, one in config.use.items() if name.startswith(KIND)}
    names = {one.name for one in await library.list() if one.trusted} if config.solved == "all" else set[str]()
    allowed = sorted(name for name in names | use.keys() if not {name, KIND + name} & {*config.without})[:_OFFERED]
    digests = library.services.trust.digests()  # before any words are taken
    found = [await library.usable(Ref(kind="solution", name=name).at(use.get(name))) for name in allowed]
    trusted = [one for one in found if one.digest in digests]  # whatever leads by now
    ranked = await asyncio.to_thread(_ranked, trusted, query)
    return ranked[:k]


def _ranked(found: list[Manifest], query: str) -> list[JsonObject]:
    told = (one for one in found if "solution" in one.metadata)  # one that cannot be described here tells none
    read = [(one, made_as(Solution)(one.name, one.metadata["solution"])) for one in told]
    scored = [(likeness(query, solution.task), one, solution) for one, solution in read]
    best = sorted((one for one in scored if one[0] >= ALIKE), key=lambda one: (-one[0], one[1].name))
    return [{"ref": str(one.ref), "task": solution.task, "content": solution.content} for _, one, solution in best]
