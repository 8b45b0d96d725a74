"""`tea runs gc`: the removal of old runs."""

import asyncio
from typing import Annotated

import typer

from tea.cli.command import Command
from tea.cli.terminal import counted, one_line
from tea.errors import BadInput


async def gc(
    command: Command,
    keep: Annotated[int | None, typer.Option("--keep", min=0, help="Keep so many of the newest.")] = None,
    older: Annotated[
        float | None,
        typer.Option("--older", metavar="DAYS", min=0, max=36_500, help="Keep what is not older than that."),
    ] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Also what waits for an answer, or could be resumed.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
) -> None:
    """Remove old runs permanently: journal, blobs and workspace.

    With both --keep and --older, only what neither keeps. A run that is under way or damaged always stays.
    """
    from tea.journal.retention import RetentionPolicy, collect

    if keep is None and older is None:
        raise BadInput("No rule says which runs to keep.", fix="give --keep N, --older DAYS, or both.")
    async with command.platform() as tea:
        keeping = RetentionPolicy(newest=keep, days=older, unfinished=not unfinished)
        found = await asyncio.to_thread(collect, tea.tracer, tea.memory, keeping, remove=not dry_run)
    word = "would remove" if dry_run else "removed"
    lines = [
        one_line(f"{word} {one.run}") + f"  {one_line(one.time)}  {one_line(one.status)}  {one.bytes:,} bytes"
        for one in found.removed
    ]
    lines.append(f"{word} {counted(len(found.removed), 'run')}, {found.bytes:,} bytes; {found.kept} stay.")
    command.show("\n".join(lines), {**found.to_json(), "dry_run": dry_run})
    for reason, count in found.spared.items():
        command.tell(one_line(f"{count} old runs stay: {reason}"))
