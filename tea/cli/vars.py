"""`tea vars`: the parts of a component's text, shown and rewritten."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tea.characters import indented, path_line
from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.register import ReasonOption, summary
from tea.cli.terminal import review_source
from tea.errors import BadInput

if TYPE_CHECKING:
    from tea.components.variable import Variable

SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=TEXT", help="Replace its text; NAME=@FILE reads a file.")
]


async def variables(command: Command, ref: RefArgument, texts: SetOption = None, reason: ReasonOption = "") -> None:
    """Show the rewritable parts of a component's text, or rewrite some.

    What is written becomes a new version.
    """
    values = dict(map(_value, texts or ()))
    if len(values) < len(texts or ()):
        raise BadInput("A variable is given twice.", fix="give each once.")
    async with command.platform() as tea:
        library, found = await find(tea, ref)
        if values:
            config = await library.setvars(found, values, reason=reason)
            command.show(f"updated {config.ref}", summary(config))
        else:
            shown = await library.vars(found)
            text = review_source("\n\n".join(map(_text, shown)))
            command.show(text, {"variables": [asdict(one) for one in shown]})


def _value(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise BadInput(f"{text[:60]!r} is not NAME=TEXT.", fix="write for example --set system=TEXT or source=@FILE.")
    if not value.startswith("@"):
        return name, value
    from tea.source.bundled import read_source

    return name, read_source(Path(value[1:]))[0]


def _text(one: "Variable") -> str:
    """Return a variable below its name; its text is indented, so no line of it looks like another name."""
    fixed = "" if one.trainable else ", fixed"
    return f"{path_line(one.name)} ({one.kind}{fixed})\n{indented(one.value, '  ')}"
