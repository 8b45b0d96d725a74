"""`tea trace export`: a run in forms that other programs read."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.command import Command
from tea.errors import BadInput

if TYPE_CHECKING:
    from tea.runtime.export import ExportFormat

_FORMATS = ("openai-chat", "sharegpt", "jsonl")


async def export(
    command: Command,
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help='Its id, a unique beginning of it, or "last" (the default).')
    ] = "last",
    form: Annotated[
        str, typer.Option("--format", help="openai-chat or sharegpt: a conversation a line; jsonl: an effect a line.")
    ] = "openai-chat",
) -> None:
    """Write a run's conversations with models, or its effects, as JSON lines."""
    from tea.runtime.export import export as exported

    chosen = _format(form)
    async with command.platform() as tea:
        found = await asyncio.to_thread(tea.tracer.find, run)
        lines = await asyncio.to_thread(lambda: exported(list(tea.tracer.records(found)), chosen))
    command.show("\n".join(map(_line, lines)), {"run": found, "format": form, "lines": lines})


def _format(text: str) -> "ExportFormat":
    for one in _FORMATS:
        if one == text:
            return one
    raise BadInput(f"There is no format {text[:40]!r}.", fix=f"choose one of {', '.join(_FORMATS)}.")


def _line(data: Any) -> str:
    """Return a line in ASCII, which no terminal acts upon."""
    return json.dumps(data, default=dict).replace("\x7f", "\\u007f")
