"""`tea save`: components saved to one file."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tea.cli.command import Command
from tea.cli.reference import find, kind_named
from tea.cli.terminal import counted, one_line
from tea.refs import Ref

if TYPE_CHECKING:
    from tea.platform import Platform

SavedFile = Annotated[Path, typer.Argument(metavar="FILE", help="A JSON file; one that is there is replaced.")]
Chosen = Annotated[list[str] | None, typer.Argument(metavar="[KIND|REF]...", help="What; everything if left out.")]


async def save(command: Command, file: SavedFile, chosen: Chosen = None) -> None:
    """Save components with their whole history to one file.

    What a recipe is made of is saved where it is named too; what the file lacks of that is told.
    """
    from tea.protocols.bundle import save_components

    async with command.platform() as tea:
        refs = [ref for text in chosen or () for ref in await _refs(tea, text)]
        found = await save_components(tea.libraries, file, refs if chosen else None)
    text = f"saved {counted(len(found.components), 'component')} to {one_line(file.name)}"
    command.show(text, {"file": str(file), **asdict(found)})
    if found.missing and not command.as_json:
        names = " ".join(found.missing)
        command.tell(f"recipes in it are made of what it does not hold; to add that, save these refs too: {names}")


async def _refs(tea: "Platform", text: str) -> list[Ref]:
    kind = kind_named(text)
    if kind is None:
        return [(await find(tea, text, upto="component"))[1]]
    return [Ref(kind=kind, name=name) for name in tea.versions.names(kind)]
