"""`tea alias`: point a movable tag to a version."""

from typing import Annotated

import typer

from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.register import ReasonOption


async def alias(
    command: Command,
    ref: RefArgument,
    tag: Annotated[str, typer.Argument(metavar="TAG", help="For example prod; a ref may end in @prod then.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take the tag away.")] = False,
    reason: ReasonOption = "",
) -> None:
    """Point a tag to a version, moving it if it is in use."""
    async with command.platform() as tea:
        library, found = await find(tea, ref, upto="component" if remove else "version")
        if remove:
            head = await library.unalias(found.name, tag, reason=reason)
        else:
            head = await library.alias(found, tag, reason=reason)
    name = str(found.at(None))
    words = f"{name} has no {tag} any more" if remove else f"{name}@{tag} is {head.aliases[tag]}"
    command.show(words, {"ref": name, "aliases": dict(head.aliases)})
