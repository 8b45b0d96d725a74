"""`tea load`: components from one file."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tea.cli.command import Command

LoadedFile = Annotated[Path, typer.Argument(metavar="FILE", help="What `tea save` wrote.")]


async def load(command: Command, file: LoadedFile) -> None:
    """Load the components that a file holds.

    Nothing of them is executed before a person trusts it: read the source, then `tea trust REF`.
    """
    from tea.protocols.bundle import load_components

    async with command.platform() as tea:
        found = await load_components(tea.libraries, file)
    known = f"; {len(found.skipped)} were here already" if found.skipped else ""
    command.show(f"loaded {len(found.added)} versions{known}", asdict(found))
    if command.as_json:
        return
    if found.added:
        command.tell("what nobody trusts yet is quarantined: `tea list` shows it, `tea trust REF` vouches for it")
    moved = {one.partition("@")[0] for one in found.current}
    for name in dict.fromkeys(one.partition("@")[0] for one in found.added):
        if name not in moved:
            command.tell(f"{name} stays as it is here: `tea history {name}` shows what lies beside")
