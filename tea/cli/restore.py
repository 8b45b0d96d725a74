"""`tea restore`: making a historical version current."""

from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.register import ReasonOption, summary


async def restore(command: Command, ref: RefArgument, reason: ReasonOption = "") -> None:
    """Make a version, REF@VERSION, the current one."""
    async with command.platform() as tea:
        library, found = await find(tea, ref)
        config = await library.restore(found, reason=reason)
    command.show(f"current is {config.ref}", summary(config))
