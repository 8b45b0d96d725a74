"""`tea copy`: a copy of a component, under another name or as a further version."""

from typing import Annotated

import typer

from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.register import ReasonOption, VersionOption, check_version, summary

NameArgument = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="Its new name; a further version of the same name if left out.")
]


async def copy(
    command: Command,
    ref: RefArgument,
    name: NameArgument = None,
    version: VersionOption = None,
    reason: ReasonOption = "",
) -> None:
    """Copy a component, under another name or as a further version.

    A further version does not become current.
    """
    check_version(version)
    async with command.platform() as tea:
        library, found = await find(tea, ref)
        config = await library.copy(found, name=name, version=version, reason=reason)
    command.show(f"copied to {config.ref}", summary(config))
