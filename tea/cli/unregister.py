"""`tea unregister`: hiding a component."""

from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.register import ReasonOption


async def unregister(command: Command, ref: RefArgument, reason: ReasonOption = "") -> None:
    """Hide a component and its history.

    Runs that pinned a version still find its bytes. To have it again, `tea register` its source.
    """
    async with command.platform() as tea:
        library, found = await find(tea, ref, upto="component")
        head = await library.unregister(found.name, reason=reason)
    name = str(found.at(None))
    command.show(f"unregistered {name}", {"ref": name, "removed": list(head.removed)})
