"""`tea update`: a new implementation for a registered component."""

from pathlib import Path

from tea.cli.command import Command
from tea.cli.reference import KEPT, RefArgument, find
from tea.cli.register import (
    FileArgument,
    ReasonOption,
    VersionOption,
    check_version,
    declared_component,
    show_stored,
)


async def update(
    command: Command, ref: RefArgument, file: FileArgument, version: VersionOption = None, reason: ReasonOption = ""
) -> None:
    """Give a component a new implementation, as a new version."""
    check_version(version)
    async with command.platform() as tea:
        with declared_component(file, None) as what:
            plain = isinstance(what, Path) or ":" in ref  # a declared agent comes with a prompt of the same name
            library, found = await find(tea, ref, KEPT if plain else ("agent",), upto="component")
            before = tea.versions.store.moves
            config = await library.update(found.name, what, version=version, reason=reason)
        unchanged = tea.versions.store.moves == before
    show_stored(command, "updated", config, config, unchanged=unchanged)
