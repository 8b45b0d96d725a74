"""`tea list`: the registered components."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.command import Command
from tea.cli.reference import KEPT, kind_named
from tea.cli.terminal import one_line, table
from tea.errors import BadRef, StorageError
from tea.refs import Kind
from tea.untrusted import SANDBOXED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tea.platform import Platform
    from tea.registry.row import Row


async def list_components(
    command: Command,
    kind: Annotated[str | None, typer.Argument(metavar="[KIND]", help=f"One of {', '.join(KEPT)}.")] = None,
    category: Annotated[str | None, typer.Option("--category", help="Only what declares it.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what is deprecated or archived.")] = False,
) -> None:
    """List the registered components."""
    kinds = _kinds(kind)
    found: list[Row] = []
    async with command.platform() as tea:
        await asyncio.to_thread(tea.trust.digests)  # raises here if unreadable; below, it would drop every component
        for one in kinds:
            try:
                found += await tea.libraries[one].list(state=None if everything else "active", category=category)
            except StorageError as error:
                tea.problems.append(error.problem)
        level = await level_for(tea, found)
    if command.as_json:
        command.show("", {"components": [_facts(one, level) for one in found], "problems": tea.problems})
        return
    command.show(_text(found, level), {})
    for problem in tea.problems:
        command.tell(f"skipped {one_line(problem, 250)}")


def _kinds(text: str | None) -> list[Kind]:
    if text is None:
        return list(KEPT)
    found = kind_named(text)
    if found is None:
        raise BadRef(f"{text[:80]!r} is not a kind of component to list.", fix=f"kinds are {', '.join(KEPT)}.")
    return [found]


async def level_for(tea: "Platform", found: "Iterable[Row]") -> str:
    """Return the level of the sandbox for untrusted ones among components; empty for none, or if none needs it."""
    return await tea.sandboxes.name() if any(map(_runs_in_sandbox, found)) else ""


def _text(found: "list[Row]", level: str) -> str:
    rows = [(f"{one.kind}:{one.name}", one.version, one.origin, marked(one, level)) for one in found]
    return table(rows) if rows else "Nothing is registered."


def _facts(one: "Row", level: str) -> dict[str, Any]:
    facts = {name: fact for name, fact in one._asdict().items() if name != "text"}
    return {**facts, "sandbox": level if _runs_in_sandbox(one) else ""}


def marked(one: "Row", level: str) -> str:
    """Return a component's description, preceded by its warnings.

    Args:
        one: The component.
        level: The sandbox for what is not trusted, empty for none.
    """
    held = f"sandboxed: {level}" if level and _runs_in_sandbox(one) else "quarantined"
    marks = [] if one.trusted else [held]
    marks += [] if one.state == "active" else [one.state]
    return " ".join([*(f"[{mark}]" for mark in marks), one.description])


def _runs_in_sandbox(one: "Row") -> bool:
    return not one.trusted and one.kind in SANDBOXED
