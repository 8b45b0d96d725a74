"""`tea fork`: a run continued from a position of another, with another version or model."""

import asyncio
from typing import Annotated

import typer

from tea.cli.command import Command
from tea.cli.ending import conclude, interruptible
from tea.cli.left_out import tell_left_out
from tea.cli.progress import Progress
from tea.cli.resume import RunArgument
from tea.cli.run import UseOption
from tea.cli.task_input import read_uses
from tea.cli.terminal import one_line


async def fork(
    command: Command,
    run: RunArgument,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="POSITION", help="A record's number or an effect's key: tea trace --positions."),
    ] = None,
    use: UseOption = None,
    model: Annotated[str | None, typer.Option("--model", help="Which model answers from there on.")] = None,
) -> int:
    """Begin a run with the events of another up to a position, and continue live with a change.

    Without --at it begins where the first component that changes comes in. All that the run pinned keeps its version
    but for --use. The run itself is not touched; `tea trace diff RUN FORK` shows what became of it.
    """
    uses = read_uses(use or ())
    told: list[str] = []

    def tell(remark: str) -> None:
        told.append(remark)
        command.tell(f"tea: {one_line(remark, 300)}")

    async with command.platform() as tea:
        tell_left_out(command, tea)
        found = await asyncio.to_thread(tea.tracer.find, run)
        progress = Progress(command)
        async with interruptible(command, progress):
            outcome = await tea.fork(found, at=at, use=uses, model=model, watch=progress, tell=tell)
    return conclude(command, outcome, origin=found, remarks=told)
