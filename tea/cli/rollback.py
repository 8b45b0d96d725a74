"""`tea rollback`: back to the version current before."""

from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.register import ReasonOption, summary


async def rollback(command: Command, ref: RefArgument, reason: ReasonOption = "") -> None:
    """Go back to the version current before.

    Again goes further back.
    """
    async with command.platform() as tea:
        library, found = await find(tea, ref, upto="component")
        config = await library.rollback(found.name, reason=reason)
    command.show(f"current is {config.ref}", summary(config))
