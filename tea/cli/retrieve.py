"""`tea retrieve`: components fitting a query in words, and their past uses."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tea.characters import in_sentence
from tea.cli.command import Command
from tea.cli.list import level_for, marked
from tea.cli.reference import KEPT, find, kind_named
from tea.cli.terminal import brief, counted, table
from tea.errors import BadInput, BadRef
from tea.refs import Kind, Ref

if TYPE_CHECKING:
    from tea.platform import Platform
    from tea.retrieval.search import Match
    from tea.store.usage import Use


async def retrieve(
    command: Command,
    query: Annotated[
        str, typer.Argument(metavar="[WORDS|REF]", help="What is wished for; with --usage or --forget, a component.")
    ] = "",
    kind: Annotated[str, typer.Option("--kind", help="Which kind of component.")] = "tool",
    number: Annotated[int, typer.Option("-k", help="How many at most.")] = 5,
    route: Annotated[bool, typer.Option("--route", help="Prefer the best toolkits of the best categories.")] = False,
    usage: Annotated[
        bool, typer.Option("--usage", help="Show what was served, by one component or all of the kind.")
    ] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Erase that for good.")] = False,
) -> None:
    """Find components by their purpose, or show and erase the records of their past uses."""
    one = _kind(kind)
    if usage and forget:
        raise BadInput("--usage and --forget exclude each other.", fix="give one of them.")
    async with command.platform() as tea:
        if usage:
            one, name = await _served_by(tea, query, one)
            uses = await asyncio.to_thread(tea.retrieval.evidence.uses, one, name)
            command.show(_served(uses), {"uses": [asdict(use) for use in uses]})
        elif forget:
            one, name = await _served_by(tea, query, one)
            erased = await asyncio.to_thread(tea.retrieval.forget, one, name)
            command.show(f"erased {counted(erased, 'use')}", {"erased": erased})
        else:
            found = await tea.libraries[one].retrieve(query, number, route=route)
            level = await level_for(tea, [one.listing for one in found])
            command.show(_text(found, level), {"matches": [one.to_json() for one in found]})


def _kind(text: str) -> Kind:
    found = kind_named(text)
    if found is None:
        raise BadRef(f"{text[:80]!r} is not a kind of component.", fix=f"kinds are {', '.join(KEPT)}.")
    return found


async def _served_by(tea: "Platform", what: str, kind: Kind) -> tuple[Kind, str | None]:
    """Return the kind to list uses of, and the name of its only component if one is given, hidden or not."""
    if not what:
        return kind, None
    ref = Ref.parse(what, kind=kind)
    _, found = await find(tea, str(ref).partition(":")[2], (ref.kind,), gone=True, upto="component")
    return found.kind, found.name


def _text(found: "list[Match]", level: str) -> str:
    rows = [(one.ref, f"{one.score:.3f}", _why(one.why), marked(one.listing, level)) for one in found]
    return table(rows) if rows else "Nothing is registered."


def _why(parts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in parts.items() if value)


def _served(uses: "list[Use]") -> str:
    rows = [(in_sentence(use.name), use.time, use.run, brief(use.text, 80)) for use in uses]
    return table(rows) if rows else "Nothing was served yet."
