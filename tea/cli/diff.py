"""`tea diff`: the differences between two versions of a component."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tea.cli.command import Command
from tea.cli.reference import find
from tea.cli.terminal import painted, review_source
from tea.errors import BadRef
from tea.refs import Ref

if TYPE_CHECKING:
    from tea.registry.difference import Diff


async def diff(
    command: Command,
    old: Annotated[str, typer.Argument(metavar="REF@A", help="One version of a component.")],
    new: Annotated[
        str | None, typer.Argument(metavar="[REF@B]", help="The other: a version or a ref; else the current.")
    ] = None,
) -> None:
    """Show the differences between two versions in source and schema."""
    async with command.platform() as tea:
        library, first = await find(tea, old)
        second = _second(first, new)
        found = await library.diff(first, second)
    command.show(_text(found), asdict(found))


def _second(first: Ref, text: str | None) -> Ref:
    if text is None:
        return first.at(None)
    if ":" not in text and "@" not in text:
        return first.at(Ref.parse(f"{first.at(None)}@{text}").selector)
    found = Ref.parse(text, kind=first.kind)
    if found.kind != first.kind:
        raise BadRef(f"A {first.kind} and a {found.kind} cannot be compared.", fix="name two of one kind.")
    return found


def _text(found: "Diff") -> str:
    parts = [f"{found.old} -> {found.new}: {found.change}", found.source]
    parts += [f"schema:\n{found.schema}"] if found.schema else []
    return "\n".join(_line(line) for part in parts if part for line in review_source(part).split("\n"))


def _line(line: str) -> str:
    if line.startswith("+"):
        return painted(line, "green", sys.stdout)
    return painted(line, "red", sys.stdout) if line.startswith("-") else line
