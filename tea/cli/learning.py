"""Learning within a run: the revisions of its answer and the repaired components, in words."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tea.cli.command import Command
from tea.cli.failure import most_of
from tea.cli.terminal import SENDER, one_line
from tea.errors import BadRef
from tea.refs import Ref, is_version

if TYPE_CHECKING:
    from tea.cli.progress import Progress
    from tea.journal.header import TaskFile
    from tea.platform import Platform
    from tea.runs.outcome import Outcome

_MOST = 400


async def learned(
    command: Command, tea: "Platform", outcome: "Outcome", task: "TaskFile", progress: "Progress"
) -> "tuple[Outcome, dict[str, Any]]":
    """Return the outcome, after a repair if the task asks for one, with the revisions and repairs as JSON."""
    more = await asyncio.to_thread(revision_of, command, tea, outcome) if task.reflect else {}
    if task.evolve:
        mended = await asyncio.to_thread(mends_in, command, tea, outcome.run)
        if not (outcome.ok or mended):
            outcome, mended = await mend_once(command, tea, outcome, task.model, progress)
        more |= {"mended": mended}
    return outcome, more


def revision_of(command: Command, tea: "Platform", outcome: "Outcome") -> dict[str, Any]:
    """Show and return the revisions of the answer; one with a doubt left does not hold."""
    from tea.loop.revision import NOTE

    found = next(_notes(tea, outcome.run, NOTE), None)
    if found is None:
        command.tell("reflection: there was no answer to look at, or the agent works outside of the tool-calling loop")
        return {"revision": None}
    before, after = (json.dumps(found.get(name), ensure_ascii=False) for name in ("before", "after"))
    kept = "was kept, unconfirmed" if any(one.doubt for one in outcome.evidence) else "holds"
    words = f"changed from {before} to {after}" if found.get("changed") else f"{after} {kept}"
    looks = "one look" if (count := found.get("looks")) == 1 else f"{count if isinstance(count, int) else 'some'} looks"
    command.tell(one_line(f"reflection: the answer {words}, after {looks}", _MOST))
    return {"revision": dict(found)}


def mends_in(command: Command, tea: "Platform", run: str) -> list[dict[str, Any]]:
    """Show the repairs made or refused during a run, and return those made."""
    from tea.journal.history import is_own

    found: list[dict[str, Any]] = []
    sender = "" if is_own(run, next(iter(tea.tracer.records(run))), tea.seal.made) else SENDER
    for given, made in _mends(tea, run):
        if made.get("ref"):
            found.append({"ref": made["ref"], "before": given["ref"], "why": given.get("why"), "run": run})
            _tell_of(command, **found[-1], sender=sender)
        else:
            problem = str(made.get("problem"))
            command.tell(one_line(f"{given['ref']} was not mended{sender}: {problem}", max(_MOST, most_of(problem))))
    return found


async def mend_once(
    command: Command, tea: "Platform", outcome: "Outcome", model: str | None, progress: "Progress"
) -> "tuple[Outcome, list[dict[str, Any]]]":
    """Mend a failing own component after the end of a run; return the outcome, and the mended component if any."""
    from tea.errors import TeaError
    from tea.evolve.mending import mend

    try:
        found = await mend(tea, outcome, model, progress)
    except TeaError as error:
        command.tell(one_line(f"nothing was mended: {error}", max(_MOST, most_of(error.problem))))
        return outcome, []
    if found is None:
        command.tell("nothing was mended: no tool, environment or agent of your own failed in this run")
        return outcome, []
    mended = {"ref": str(found.ref), "before": str(found.before), "why": found.why, "run": outcome.run}
    _tell_of(command, **mended)
    return found.outcome, [mended]


def _tell_of(command: Command, ref: str, before: str, why: str, run: str, sender: str = "") -> None:
    """Show a repair, with the command to propose it for good."""
    name, _, version = ref.partition("@")
    decides = f"`tea evolve {name} --candidate {version} --tasks SET` decides"
    words = f"mended {before} as {ref}, sandboxed and for this run only{sender} ({decides}): {why}"
    command.tell(one_line(words, _MOST))


def _mends(tea: "Platform", run: str) -> "Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]":
    """Yield the request and the outcome of each repair, in the order of the journal.

    They are effects of the run, as an agent may note anything. A journal from elsewhere may hold anything, too, so what
    names no version there, and would look like another command, is left out.
    """
    from tea.components.port import MendOwn
    from tea.journal.record import as_mapping

    asked: dict[str, Mapping[str, Any]] = {}
    for one in tea.tracer.records(run):
        data = as_mapping(one.data)
        if one.kind == "start" and (data.get("kind"), data.get("target")) == (MendOwn.service, MendOwn.verb):
            asked[one.key] = as_mapping(data.get("data"))
        elif one.kind == "done" and one.key in asked:
            given, made = asked.pop(one.key), as_mapping(data.get("data"))
            if _is_version(given.get("ref")) and (not made.get("ref") or _is_version(made["ref"])):
                yield given, made


def _is_version(ref: object) -> bool:
    """Return whether something is the exact ref of a version."""
    try:
        return is_version(Ref.parse(str(ref)).selector or "")
    except BadRef:
        return False


def _notes(tea: "Platform", run: str, kind: str) -> "Iterator[Mapping[str, Any]]":
    """Yield the data of an agent's notes of a kind, in the order of the journal."""
    from tea.journal.record import as_mapping

    for one in tea.tracer.records(run):
        data = as_mapping(one.data)
        if one.kind in ("note", "start") and data.get("kind") == kind:
            yield as_mapping(data.get("data"))
