"""`tea resume`: resuming a run interrupted or waiting for a person."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from tea.cli.command import Command
from tea.cli.ending import conclude, interruptible
from tea.cli.inbox import DECIDE, asks_for_plan
from tea.cli.learning import mends_in
from tea.cli.left_out import tell_left_out
from tea.cli.progress import Progress
from tea.errors import ApprovalNeeded, BadInput, Conflict

if TYPE_CHECKING:
    from tea.platform import Platform
    from tea.runs.outcome import Outcome

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help='Its id, a unique beginning of it, or "last".')]


async def resume(
    command: Command,
    run: RunArgument,
    answer: Annotated[
        list[str] | None,
        typer.Option("--answer", metavar="KEY=ANSWER", help="For a call that waits: allow, deny, or text instead."),
    ] = None,
) -> int:
    """Resume a run interrupted or waiting for an answer."""
    answers = _answers(answer or [])
    async with command.platform() as tea:
        tell_left_out(command, tea)
        found = await asyncio.to_thread(tea.tracer.find, run)
        progress = Progress(command, found)
        async with interruptible(command, progress):
            try:
                outcome = await _resumed(tea, found, answers, progress)
            except (BadInput, Conflict) as error:
                if run == "last" and (fix := await _waiting_elsewhere(tea, found, answers)):
                    raise BadInput(error.problem, fix=fix) from None
                raise
        mended = await asyncio.to_thread(mends_in, command, tea, found)
    return conclude(command, outcome, **({"mended": mended} if mended else {}))


async def _resumed(tea: "Platform", run: str, answers: dict[str, str], progress: Progress) -> "Outcome":
    """Return the outcome of a resumed run.

    Raises:
        ApprovalNeeded: The run waits for an answer; of a plan the remedy says how it is corrected.
    """
    try:
        return await tea.resume(run, answers=answers, watch=progress)
    except ApprovalNeeded as error:
        if any(map(asks_for_plan, (await tea.inbox(run)).questions)):
            raise ApprovalNeeded(error.problem, fix=f"tea research answer {run} {DECIDE}", run=run) from None
        raise


async def _waiting_elsewhere(tea: "Platform", last: str, answers: dict[str, str]) -> str:
    """Return the line for a question of another run under a key of some answers; empty if there is none.

    It is told and never answered: keys of runs are alike, and an answer may be a consent.
    """
    open_questions = (await tea.inbox()).questions if answers else ()
    for one in open_questions:
        if one.key in answers and one.run != last and one.own:
            return f"another run waits under that key: {one.command}"
    return ""


def _answers(texts: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        key, sign, answer = text.partition("=")
        if not sign or not key:
            raise BadInput(f"--answer {text[:80]!r} is not usable.", fix="write KEY=allow, KEY=deny or KEY=TEXT.")
        if key in found:
            raise BadInput(f"--answer names {key[:80]!r} twice.", fix="answer each call once.")
        found[key] = answer
    return found
