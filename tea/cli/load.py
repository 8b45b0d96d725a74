"""`tea load`: components loaded from one file."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tea.cli.command import Command
from tea.cli.terminal import counted

if TYPE_CHECKING:
    from tea.registry.transfer import Loaded

LoadedFile = Annotated[Path, typer.Argument(metavar="FILE", help="What `tea save` wrote.")]


async def load(command: Command, file: LoadedFile) -> None:
    """Load the components in a file.

    Nothing of them is executed before a person trusts it: read the source, then `tea trust REF`.
    """
    from tea.protocols.bundle import load_components

    async with command.platform() as tea:
        found = await load_components(tea.libraries, file)
    skipped, purged = len(found.skipped), len(found.purged)
    known = f"; {skipped} {'was' if skipped == 1 else 'were'} here already" if skipped else ""
    gone = f"; {purged} stay{'s' if purged == 1 else ''} purged" if purged else ""
    command.show(f"loaded {counted(len(found.added), 'version')}{known}{gone}", asdict(found))
    if not command.as_json:
        for line in _notes(found):
            command.tell(line)


def _notes(found: "Loaded") -> Iterator[str]:
    """Yield the notes on components with anything other than a plain addition."""
    hidden, moved, kept = set(found.unregistered), set(_names(found.current)), _names((*found.added, *found.skipped))
    added = [name for name in _names(found.added) if name not in hidden]
    if added:
        yield (
            "what nobody trusts yet is quarantined: tools, environments and agents run in a sandbox only; "
            "`tea list` shows it, `tea show REF --source` and after that `tea trust REF` vouch for it"
        )
    for name in added:
        if name not in moved:
            yield f"{name} stays as it is here: `tea history {name}` shows what lies beside"
    for name in kept:
        if name in hidden:
            yield (
                f"{name} stays unregistered, so nothing lists it: to have it again, `tea register` its source, "
                "or load a file saved while it was registered"
            )
    for ref in found.purged:
        yield (
            f"{ref} was purged and stays so: to have it again, `tea register` its source, "
            f"which a home that holds it prints with `tea show {ref} --source`"
        )


def _names(refs: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ref.partition("@")[0] for ref in refs))
