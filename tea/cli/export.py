"""`tea trace export`: runs in the formats of other programs."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.command import Command
from tea.cli.terminal import counted, one_line
from tea.errors import BadInput, RegistryError, StorageError
from tea.refs import Ref

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tea.journal.export import ExportFormat
    from tea.journal.record import TraceRecord
    from tea.platform import Platform
    from tea.types import JsonObject

_FORMATS = ("openai-chat", "sharegpt", "jsonl")


async def export(
    command: Command,
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN]...", help='Ids, unique beginnings of them, or "last" (the default).'),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="openai-chat or sharegpt: a conversation a line; jsonl: an effect a line.")
    ] = "openai-chat",
    out: Annotated[Path | None, typer.Option("--out", help="A new file for the lines, else standard output.")] = None,
) -> None:
    """Write runs' conversations with models, or their effects, as JSON lines.

    Calls of functions are told with the definitions of what was called, from the registry.
    """
    from tea.journal.export import export as exported
    from tea.journal.form import understood

    chosen = _format(form)
    if out is not None and out.exists():
        raise BadInput(f"{str(out)[-80:]!r} already exists.", fix="name a new file, or remove it first.")
    lines: list[JsonObject] = []
    async with command.platform() as tea:
        found = [await asyncio.to_thread(tea.tracer.find, run) for run in runs or ["last"]]
        for run in dict.fromkeys(found):
            records = await asyncio.to_thread(_records, tea, run)
            with understood(run):
                lines += exported(records, chosen, await _functions(tea, records))
    data = {"runs": found, "format": form, "lines": lines}
    if out is None:
        command.show("\n".join(map(_line, lines)), data)
    else:
        await asyncio.to_thread(_write, out, "".join(f"{_line(one)}\n" for one in lines))
        command.show(f"wrote {counted(len(lines), 'line')} to {one_line(out.name)}", {**data, "file": str(out)})


def _records(tea: "Platform", run: str) -> "list[TraceRecord]":
    return list(tea.tracer.records(run))


async def _functions(tea: "Platform", records: "Sequence[TraceRecord]") -> "dict[str, JsonObject]":
    """Return the definitions of the functions available to a run, of each component in its last used version."""
    from tea.journal.history import pins_of
    from tea.loop.capability import callables
    from tea.loop.ledger import FUNCTIONS
    from tea.runs.registry_service import facts

    found: dict[str, JsonObject] = {str(one["name"]): one for one in FUNCTIONS}
    for pin in pins_of(records):
        ref = Ref.parse(pin.ref)
        if ref.kind not in ("tool", "environment", "agent"):
            continue
        try:
            config = await tea.libraries[ref.kind].exact(ref, pin.digest)
        except (RegistryError, StorageError):  # no longer registered; its calls are exported without a definition
            continue
        for one in callables(ref.kind, config.name, facts(config)):
            found[one.name] = {"name": one.name, "description": one.description, "parameters": one.parameters}
    return found


def _write(path: Path, text: str) -> None:
    from tea.store.bulk import write_whole

    write_whole(path, text.encode())


def _format(text: str) -> "ExportFormat":
    for one in _FORMATS:
        if one == text:
            return one
    raise BadInput(f"There is no format {text[:40]!r}.", fix=f"choose one of {', '.join(_FORMATS)}.")


def _line(data: Any) -> str:
    """Return a line in ASCII, safe for every terminal."""
    return json.dumps(data, default=dict).replace("\x7f", "\\u007f")
