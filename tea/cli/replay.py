"""`tea replay`: the agents' code run again against a journal, without a model."""

import asyncio
from typing import Annotated

import typer

from tea.cli.command import Command
from tea.cli.resume import RunArgument
from tea.cli.run import UseOption
from tea.cli.task_input import read_uses
from tea.cli.terminal import one_line


async def replay(
    command: Command,
    run: RunArgument,
    lenient: Annotated[bool, typer.Option("--lenient", help="Let data differ where call and place agree.")] = False,
    use: UseOption = None,
) -> None:
    """Run a journal's agents again, without a model.

    Prints "identical", or the first divergence, with exit code 7.
    """
    uses = read_uses(use or ())
    async with command.platform() as tea:
        found = await asyncio.to_thread(tea.tracer.find, run)
        count = await asyncio.to_thread(lambda: sum(1 for _ in tea.tracer.store.read(found)))
        outcome = await tea.replay(found, lenient=lenient, use=uses)
    verdict = "identical" if not lenient else "identical but for data"
    data = {"run": found, "verdict": verdict, "records": count, "outcome": outcome.to_json()}
    for one in outcome.remarks:
        command.tell(one_line(one, 400))
    command.show(f"{verdict}: {count} records of run {found}", data)
