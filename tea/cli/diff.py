"""`tea diff`: the differences between two versions of a component."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tea.cli.command import Command
from tea.cli.reference import find
from tea.cli.terminal import SENDER, painted, review_source
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
    from tea.registry import difference

    async with command.platform() as tea:
        library, first = await find(tea, old)
        (before, old_trusted), (after, new_trusted) = [
            await library.judged(one) for one in (first, _second(first, new))
        ]
    found, trusted = difference.diff(before, after), old_trusted and new_trusted
    lines = (line for part in difference_parts(found, trusted=trusted) for line in part.split("\n"))
    command.show("\n".join(map(_line, lines)), asdict(found))


def difference_parts(found: "Diff", *, trusted: bool) -> list[str]:
    """Return the parts of a difference in review form: the kind of change, the source, the schema.

    Args:
        found: The difference.
        trusted: Whether both versions are; else what is said of one, and no source says, is its sender's word.
    """
    said = "" if trusted else SENDER
    change = f"{found.old} -> {found.new}: {found.change}{said if found.change != 'none' else ''}"
    schema = f"schema{said}:\n{found.schema}" if found.schema else ""
    return [review_source(part) for part in (change, found.source, schema) if part]


def _second(first: Ref, text: str | None) -> Ref:
    if text is None:
        return first.at(None)
    if ":" not in text and "@" not in text:
        return first.at(Ref.parse(f"{first.at(None)}@{text}").selector)
    found = Ref.parse(text, kind=first.kind)
    if found.kind != first.kind:
        raise BadRef(f"A {first.kind} and a {found.kind} cannot be compared.", fix="name two of one kind.")
    return found


def _line(line: str) -> str:
    if line.startswith("+"):
        return painted(line, "green", sys.stdout)
    return painted(line, "red", sys.stdout) if line.startswith("-") else line
