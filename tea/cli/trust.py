"""`tea trust`: a person vouches for a version, so that it may be executed."""

from tea.cli.command import Command
from tea.cli.reference import RefArgument, find


async def trust(command: Command, ref: RefArgument) -> None:
    """Vouch for a version, so that it may be executed.

    Read its source first: `tea show REF --source`.
    """
    async with command.platform() as tea:
        library, found = await find(tea, ref)
        config = await library.trust(found)
    command.show(f"trusted {config.ref}", {"ref": str(config.ref), "digest": config.digest})
