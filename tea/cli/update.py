"""`tea update`: a registered component gets a new implementation."""

from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.register import (
    FileArgument,
    ReasonOption,
    VersionOption,
    check_version,
    summary,
    tell_changes,
    tell_undeclared,
)


async def update(
    command: Command, ref: RefArgument, file: FileArgument, version: VersionOption = None, reason: ReasonOption = ""
) -> None:
    """Give a component a new implementation, as a new version."""
    check_version(version)
    async with command.platform() as tea:
        library, found = await find(tea, ref, upto="component")
        config = await library.update(found.name, file, version=version, reason=reason)
    command.show(f"updated {config.ref}", summary(config))
    tell_changes(command, config)
    tell_undeclared(command, config)
