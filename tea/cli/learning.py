"""Learning within a run: its revised answer, and the component mended for it, in words."""

import asyncio
import json
from typing import TYPE_CHECKING, Any

from tea.cli.command import Command
from tea.cli.terminal import one_line

if TYPE_CHECKING:
    from tea.cli.progress import Progress
    from tea.journal.header import TaskFile
    from tea.platform import Platform
    from tea.runs.outcome import Outcome

_MOST = 400


async def learned(
    command: Command, tea: "Platform", outcome: "Outcome", task: "TaskFile", progress: "Progress | None"
) -> "tuple[Outcome, dict[str, Any]]":
    """Return the outcome, mended if progress is given, and the revisions and mends as JSON."""
    more = await asyncio.to_thread(revision_of, command, tea, outcome.run) if task.reflect else {}
    if progress is not None:
        outcome, mended = await mend_once(command, tea, outcome, task.model, progress)
        more |= {"mended": mended}
    return outcome, more


def revision_of(command: Command, tea: "Platform", run: str) -> dict[str, Any]:
    """Tell and return the changes of further looks at the answer."""
    from tea.journal.tracer import as_mapping
    from tea.loop.revision import NOTE

    notes = (as_mapping(one.data) for one in tea.tracer.records(run) if one.kind in ("note", "start"))
    found = next((as_mapping(one.get("data")) for one in notes if one.get("kind") == NOTE), None)
    if found is None:
        command.tell("reflection: there was no answer to look at, or the agent works outside of the tool-calling loop")
        return {"revision": None}
    before, after = (json.dumps(found.get(name), ensure_ascii=False) for name in ("before", "after"))
    words = f"changed from {before} to {after}" if found.get("changed") else f"{after} holds"
    looks = "one look" if found.get("looks") == 1 else f"{found.get('looks')} looks"
    command.tell(one_line(f"reflection: the answer {words}, after {looks}", _MOST))
    return {"revision": dict(found)}


async def mend_once(
    command: Command, tea: "Platform", outcome: "Outcome", model: str | None, progress: "Progress"
) -> "tuple[Outcome, dict[str, Any] | None]":
    """Return the outcome after mending a failing own component, and the mended one; None for nothing."""
    from tea.errors import TeaError
    from tea.evolve.mending import mend

    if outcome.ok:
        return outcome, None
    try:
        found = await mend(tea, outcome, model, progress)
    except TeaError as error:
        command.tell(one_line(f"nothing was mended: {error.problem}", _MOST))
        return outcome, None
    if found is None:
        command.tell("nothing was mended: no tool or environment of your own failed in this run")
        return outcome, None
    name = found.ref.at(None)
    words = f"mended {found.before} as {found.ref}, sandboxed and for this run only: {found.why}"
    command.tell(one_line(f"{words} (`tea evolve {name} --candidate {found.ref.selector} --tasks SET` decides)", _MOST))
    return found.outcome, {"ref": str(found.ref), "before": str(found.before), "why": found.why, "run": outcome.run}
