"""`tea purge`: the permanent removal of a version's bytes."""

import asyncio
import sys
from typing import Annotated

import typer

from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.register import ReasonOption
from tea.cli.terminal import interactive
from tea.errors import BadInput


async def purge(
    command: Command,
    ref: RefArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    reason: ReasonOption = "",
) -> None:
    """Remove bytes permanently: of REF@VERSION, or of all versions of an unregistered component.

    Runs that pinned them can no longer be replayed. What stays says who purged them, when and why. Aliases that stood
    for them go too, and are named.
    """
    if not yes and not interactive(sys.stdin):
        raise BadInput(f"A purge of {ref[:80]} cannot be undone.", fix="add --yes if that is meant.")
    if not yes:
        await asyncio.to_thread(typer.confirm, f"Remove the bytes of {ref} for good?", abort=True)
    async with command.platform() as tea:
        library, found = await find(tea, ref, gone=True)
        before = await asyncio.to_thread(tea.versions.head, found.kind, found.name)
        gone = await library.purge(found, reason=reason)
    refs, versions = [str(one.ref) for one in gone], {one.version for one in gone}
    tags = sorted(tag for tag, version in before.aliases.items() if version in versions)
    taken = f"; gone with it: {', '.join(f'{found.at(None)}@{tag}' for tag in tags)}" if tags else ""
    command.show(f"purged {', '.join(refs)}{taken}", {"purged": refs, "aliases": tags})
