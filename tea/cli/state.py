"""`tea state`: what an environment shows."""

from tea.cli.call import answered
from tea.cli.command import Command
from tea.cli.reference import RefArgument, find


async def state(command: Command, ref: RefArgument) -> int:
    """Observe an environment as an agent would see it."""
    async with command.platform() as tea:
        _, found = await find(tea, ref, ("environment",))
        return answered(command, await tea.ecp.state(str(found.at(found.selector))))
