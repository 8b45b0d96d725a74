"""`tea update`: a new implementation for a registered component."""

from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.register import FileArgument, ReasonOption, VersionOption, check_version, show_stored


async def update(
    command: Command, ref: RefArgument, file: FileArgument, version: VersionOption = None, reason: ReasonOption = ""
) -> None:
    """Give a component a new implementation, as a new version."""
    check_version(version)
    async with command.platform() as tea:
        library, found = await find(tea, ref, upto="component")
        before = tea.versions.store.moves
        config = await library.update(found.name, file, version=version, reason=reason)
        unchanged = tea.versions.store.moves == before
    show_stored(command, "updated", config, config, unchanged=unchanged)
