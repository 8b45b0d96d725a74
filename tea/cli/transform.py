"""`tea transform`: a component as one of another kind."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.command import Command
from tea.cli.terminal import one_line
from tea.errors import BadInput

if TYPE_CHECKING:
    from tea.components.manifest import Manifest


async def transform(
    command: Command,
    how: Annotated[str, typer.Argument(metavar="HOW", help="A2T, E2T, T2E, T2A, A2E or E2A.")],
    operands: Annotated[list[str], typer.Argument(metavar="REF...", help="What is transformed.")],
    name: Annotated[str | None, typer.Option("--name", help="Of what is made; for E2T of the toolkit.")] = None,
    description: Annotated[str | None, typer.Option("--description", help="What it is for.")] = None,
    prompt: Annotated[str | None, typer.Option("--prompt", help="What T2A and E2A choose through.")] = None,
    guard: Annotated[
        str | None,
        typer.Option(
            "--guard",
            help="Tool that may refuse what T2A and E2A do: of action, arguments and state it takes what it wants, and "
            "returns why not, or nothing.",
        ),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Become a new version when an operand does.")] = False,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", metavar="NAME=JSON", help="A further option; repeatable.")
    ] = None,
) -> None:
    """Make a component from others: an agent as a tool, an environment as a toolkit, tools as an environment or agent.

    T2E: shared (an object), state (a tool's name), rules. T2A, E2A: max_steps, rules, role, objectives (a list), memory
    (what it remembers by), and for E2A initiative. A2E: actions (an object of names with description and parameters).

    What E2A makes wakes only when it is given a task; the task `tick` is its turn, in which it follows its initiative.
    It may start actions of its own environments and `done`, nothing else; the guard may refuse each.
    """
    named = {"name": name, "description": description, "prompt": prompt, "guard": guard, "follow": follow or None}
    options = {key: value for key, value in named.items() if value is not None}
    async with command.platform() as tea:
        made = await tea.transform(how, operands, **options, **_options(option or [], options))
    lines = [f"{one.ref}  {one_line(one.description.partition(chr(10))[0])}" for one in made]
    command.show("\n".join(lines), {"made": [_facts(one) for one in made]})


def _facts(made: "Manifest") -> dict[str, Any]:
    return {"ref": str(made.ref), "digest": made.digest, "recipe": made.source}


def _options(texts: list[str], taken: dict[str, Any]) -> dict[str, Any]:
    """Return options from NAME=JSON; a value outside JSON is text."""
    from tea.store.files import parse_json_strict

    found: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.isidentifier():
            raise BadInput(f"--option {text[:80]!r} is not usable.", fix="write NAME=JSON, for example max_steps=5.")
        if name in found or name in taken:
            raise BadInput(f"The option {name!r} was given twice.", fix="give it once.")
        structured = value[:1] in ("{", "[", '"') or value in ("true", "false", "null") or value.isdecimal()
        found[name] = parse_json_strict(value.encode("utf-8", "surrogateescape"), name) if structured else value
    return found
