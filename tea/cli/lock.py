"""`tea lock`: the versions and digests for runs, as a file to commit."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tea.cli.command import Command
from tea.cli.reference import find
from tea.cli.terminal import counted, one_line
from tea.errors import BadInput

if TYPE_CHECKING:
    from tea.platform import Platform
    from tea.protocols.lock import Lock


async def lock(
    command: Command,
    refs: Annotated[
        list[str] | None, typer.Argument(metavar="[REF]...", help="These and what they can reach; all if left out.")
    ] = None,
    run: Annotated[str | None, typer.Option("--run", help="What that run used.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The file, else tea.lock of the home.")] = None,
) -> None:
    """Write a lock file: versions and digests of components. `tea run --locked` uses exactly these."""
    from tea.protocols.lock import LOCK_FILE

    if refs and run:
        raise BadInput("Refs and --run exclude each other.", fix="leave one of them out.")
    async with command.platform() as tea:
        made = await _made(tea, refs or [], run)
        path = out or tea.home / LOCK_FILE
        await asyncio.to_thread(made.write, path)
    data = {"file": str(path), **made.model_dump(mode="json")}
    command.show(f"locked {counted(len(made.components), 'component')} in {one_line(path.name)}", data)


async def _made(tea: "Platform", refs: list[str], run: str | None) -> "Lock":
    from tea.journal.form import understood
    from tea.protocols.lock import LOCKED_KINDS, lock_current, lock_refs, lock_run

    if run is not None:
        found = await asyncio.to_thread(tea.tracer.find, run)
        with understood(found):
            return lock_run(await asyncio.to_thread(lambda: list(tea.tracer.records(found))))
    if refs:
        return await lock_refs(tea.libraries, [(await find(tea, ref, LOCKED_KINDS))[1] for ref in refs])
    return await lock_current(tea.libraries)
