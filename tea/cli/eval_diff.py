"""`tea eval diff`: one evaluation against another."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from tea.cli.command import Command
from tea.errors import BadInput


async def eval_diff(
    command: Command,
    first: Annotated[str, typer.Argument(metavar="A", help='An evaluation: its id, a beginning of it, or "last".')],
    second: Annotated[str, typer.Argument(metavar="B", help="The one compared with it.")],
    out: Annotated[Path | None, typer.Option("--out", help="A new Markdown file for the comparison.")] = None,
    picture: Annotated[Path | None, typer.Option("--picture", help="A new SVG file for a picture of it.")] = None,
) -> None:
    """Compare two evaluations task by task, with the runs behind each difference."""
    from tea.evaluate.compare import compare
    from tea.evaluate.evaluation import read_evaluation
    from tea.evaluate.picture import difference_picture
    from tea.evaluate.report import comparison_of
    from tea.store.bulk import write_whole
    from tea.store.evaluations import FileEvaluations

    for path in (out, picture):
        if path is not None and path.exists():
            raise BadInput(f"{str(path)[-80:]!r} already exists.", fix="name a new file, or remove it first.")
    async with command.platform() as tea:
        store = FileEvaluations(tea.home / "traces" / "evaluations")
        before, after = [await asyncio.to_thread(read_evaluation, store, one) for one in (first, second)]
    found = compare(before, after)
    text = comparison_of(before, after, found)
    if out is not None:
        await asyncio.to_thread(write_whole, out, text.encode())
    if picture is not None:
        await asyncio.to_thread(write_whole, picture, difference_picture(before, after, found).encode())
    command.show(text.rstrip(), {"first": before.id, "second": after.id, **found.to_json()})
