"""`tea list`: what is registered."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.command import Command
from tea.cli.reference import KEPT
from tea.cli.terminal import one_line, table
from tea.errors import BadRef
from tea.refs import Kind

if TYPE_CHECKING:
    from tea.protocols.listing import Listing


async def list_components(
    command: Command,
    kind: Annotated[str | None, typer.Argument(metavar="[KIND]", help="tool, environment, agent or prompt.")] = None,
    category: Annotated[str | None, typer.Option("--category", help="Only what declares it.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what is deprecated or archived.")] = False,
) -> None:
    """List the registered components."""
    kinds = _kinds(kind)
    found: list[Listing] = []
    async with command.platform() as tea:
        for one in kinds:
            found += await tea.libraries[one].list(state=None if everything else "active", category=category)
    command.show(_text(found), {"components": [_facts(one) for one in found], "problems": tea.problems})
    if not command.as_json:
        for problem in tea.problems:
            command.tell(f"skipped {one_line(problem, 250)}")


def _kinds(text: str | None) -> list[Kind]:
    if text is None:
        return list(KEPT)
    found: list[Kind] = [kind for kind in KEPT if text in (kind, f"{kind}s")]
    if not found:
        raise BadRef(f"{text[:80]!r} is no kind of component to list.", fix=f"kinds are {', '.join(KEPT)}.")
    return found


def _text(found: "list[Listing]") -> str:
    rows = [
        (f"{one.kind}:{one.name}", one.version, one.origin, " ".join([*_marks(one), one.description])) for one in found
    ]
    return table(rows) if rows else "Nothing is registered."


def _facts(one: "Listing") -> dict[str, Any]:
    return {key: value for key, value in asdict(one).items() if key != "text"}


def _marks(one: "Listing") -> list[str]:
    marks = [] if one.trusted else ["quarantined"]
    marks += [] if one.state == "active" else [one.state]
    return [f"[{mark}]" for mark in marks]
