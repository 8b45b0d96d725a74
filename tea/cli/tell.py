"""`tea tell`: a message to a running run."""

import asyncio
from typing import Annotated

import typer

from tea.cli.command import Command
from tea.cli.resume import RunArgument


async def tell(
    command: Command,
    run: RunArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to tell it, at most 64 KiB.")],
) -> None:
    """Send a message to a run; its agent reads it at its next step.

    A run that nobody works on takes it over when `tea resume` goes on with it.
    """
    async with command.platform() as tea:
        found = await asyncio.to_thread(tea.tracer.find, run)
        number = await tea.tell(found, text)
        held = await asyncio.to_thread(tea.tracer.store.held, found)
    command.show(f"told run {found}: message {number}", {"run": found, "number": number, "held": held})
    if not (held or command.as_json):
        command.tell(f"nobody works on it now: tea resume {found}")
