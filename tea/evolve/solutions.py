"""Solutions: answers verified by a scorer or a person, kept for tasks like theirs."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tea.components.manifest import Manifest
from tea.errors import BadInput
from tea.evaluate.scoring import Helpers, Question, grade, require_expected, require_scorer
from tea.journal.history import History
from tea.refs import NAME
from tea.types import JsonValue

if TYPE_CHECKING:
    from tea.platform import Platform

_NAME = "solution_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The check passed by an answer.

    Args:
        scorer: Name of the scorer; empty where a person checked it.
        expected: What was expected.
        options: Options of the scorer.
    """

    scorer: str = ""
    expected: JsonValue = None
    options: Mapping[str, Any] | None = None


async def keep(platform: Platform, run: str, checked: Checked, name: str = "") -> Manifest:
    """Keep the answer of a run as a solution, after checking it; a wrong one is never kept.

    The same task solved again makes a new version of its solution. Retrieval offers it to later tasks that are alike.

    Args:
        platform: Has the run.
        run: Its id, a unique beginning of it, or `last`.
        checked: How it is checked, or that a person did.
        name: Name of the solution; made of the task by default.

    Raises:
        BadInput: The run did not succeed, has no answer, or the answer is wrong; nothing is kept.
    """
    found = platform.tracer.find(run)
    history = await asyncio.to_thread(lambda: History.of(found, platform.tracer.records(found), ""))
    ending: Any = history.end
    if ending.get("status") != "done" or ending.get("answer") in (None, ""):
        raise BadInput(f"The run {found[:16]} has no successful answer.", fix="keep the answer of a successful run.")
    answer, task = ending["answer"], history.task.task
    if checked.scorer:
        require_scorer(checked.scorer)
        options = dict(checked.options or {})
        require_expected(checked.scorer, checked.expected, options)
        asked = Question(task=task, answer=answer, expected=checked.expected, options=options)
        given = await grade(checked.scorer, asked, Helpers(sandbox=lambda: platform.sandboxes.terms("")))
        if given.score < 1:
            problem = f"The answer of the run {found[:16]} is wrong: {given.why or 'it is not what was expected'}."
            raise BadInput(problem, fix="keep a right answer; nothing was kept.")
    return await store(platform, task, answer, found, checked, name)


async def store(
    platform: Platform, task: str, answer: JsonValue, run: str, checked: Checked, name: str = ""
) -> Manifest:
    """Store a verified answer as the current version of a solution.

    Raises:
        BadInput: The name is not usable.
    """
    chosen = name or _NAME + hashlib.sha256(task.strip().encode()).hexdigest()[:12]
    if not NAME.fullmatch(chosen):
        raise BadInput(f"{chosen[:60]!r} is not a name.", fix="use lower-case letters, digits and _.")
    how = f"the scorer {checked.scorer}" if checked.scorer else "a person"
    document = {
        "name": chosen, "description": f"Answers: {task.strip()[:200]}", "task": task, "content": answer, "run": run,
        "metadata": {"checked_by": how},
    }  # fmt: skip
    library = platform.libraries["solution"]
    reason = f"checked by {how}"
    if await library.missing([chosen]):
        return await library.register(document, reason=reason)
    return await library.update(chosen, document, reason=reason)
