"""`tea register`: a file as a component."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.command import Command
from tea.cli.reference import KEPT
from tea.cli.terminal import one_line
from tea.errors import BadInput
from tea.refs import Kind, Version

if TYPE_CHECKING:
    from tea.components.component import Agent
    from tea.components.manifest import Manifest
    from tea.platform import Platform

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="Python, Markdown for a prompt, JSON for a model, memory or solution.")
]
VersionOption = Annotated[
    str | None, typer.Option("--version", help="X.Y.Z; the next by the kind of change if left out.")
]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why, for the history.")]


async def register(
    command: Command,
    file: FileArgument,
    kind: Annotated[
        str | None, typer.Option("--kind", help="What it must be; found from the file if left out.")
    ] = None,
    version: VersionOption = None,
    reason: ReasonOption = "",
) -> None:
    """Register a file as a component.

    A name used before continues at its next version. What you register may be executed: you vouch for it.

    A tool or action says what it does with effects, as in @tool(effects="external") after `from tea import tool`:
    reads, writes (the workspace), external (beyond it: asked about once) or irreversible (asked about too).
    """
    check_version(version)
    async with command.platform() as tea:
        before = tea.versions.store.moves
        with declared_component(file, kind) as what:
            library = tea.libraries[_kind(tea, what, kind)]
            config = await library.register(what, version=version, reason=reason)
        current = await library.info(config.name)
        unchanged = tea.versions.store.moves == before
    show_stored(command, "registered", config, current, unchanged=unchanged)


@contextmanager
def declared_component(file: Path, kind: str | None) -> "Generator[Path | Agent]":
    """Yield the agent declared in a file, or the path of any other file."""
    from tea.source.agent_file import agent_in, declares_agent
    from tea.source.bundled import read_source

    source = read_source(file)[0] if file.suffix == ".py" and kind in (None, "agent") else ""
    if not declares_agent(source):
        yield file
        return
    with agent_in(file, source) as agent:
        yield agent


def check_version(version: str | None) -> None:
    """Raise BadRef if `version` is given, and is not a version."""
    if version is not None:
        Version.parse(version)


def summary(config: "Manifest") -> dict[str, Any]:
    """Return the summary, for programs, of a version just made current."""
    return {"ref": str(config.ref), "version": config.version, "digest": config.digest, "changes": config.changes}


def show_stored(command: Command, verb: str, config: "Manifest", current: "Manifest", *, unchanged: bool) -> None:
    """Write the result of storing given source: a new version, or an earlier one with the same bytes.

    Args:
        command: The command.
        verb: What was done to a version where anything was.
        config: The version.
        current: The one that is current now.
        unchanged: Whether nothing was written.
    """
    words = f"{config.ref} is unchanged" if unchanged else f"{verb} {config.ref}"
    if config.version != current.version:
        words += f"; {current.ref} stays current: `tea restore {config.ref}` changes that"
    command.show(words, {**summary(config), "current": current.version, "unchanged": unchanged})
    if not unchanged:
        tell_changes(command, config)
        tell_undeclared(command, config)


def tell_changes(command: Command, config: "Manifest") -> None:
    """Report the additions to the source."""
    if not command.as_json:
        for change in config.changes:
            command.tell(f"written in: {one_line(change)}")


def tell_undeclared(command: Command, config: "Manifest") -> None:
    """Explain how a tool or the actions of an environment declare their effects, if they declare none."""
    from tea.components.manifest import is_recipe

    if command.as_json or config.kind not in ("tool", "environment") or is_recipe(config.source):
        return
    silent = [name for name, one in config.operations.items() if not one.traits.declared and name != "state"]
    if not silent:
        return
    who, word = (config.name, "tool") if config.kind == "tool" else (f"{config.name}.{silent[0]}", "action")
    more = f" (and {len(silent) - 1} more)" if len(silent) > 1 else ""
    command.tell(
        f"note: {who}{more} declares no effects; if it changes nothing, "
        f'@{word}(effects="reads", idempotent=True) lets it run beside others and be retried; if it acts on others or '
        f'cannot be undone, @{word}(effects="external") has a person asked before its first call.'
    )


def _kind(tea: "Platform", file: "Path | Agent", wanted: str | None) -> Kind:
    if wanted is not None:
        found: Kind | None = next((kind for kind in KEPT if kind == wanted), None)
        if found is None:
            raise BadInput(f"{wanted[:60]!r} is not a kind to register.", fix=f"kinds are {', '.join(KEPT)}.")
        return found
    if not isinstance(file, Path):
        return "agent"
    if file.suffix == ".md":
        return "prompt"
    from tea.source.bundled import read_source

    source, files = read_source(file)
    return _document_kind(source) if source.startswith("{") else tea.dynamic.check(source, files).kind


def _document_kind(source: str) -> Kind:
    """Return the kind of a JSON document: the one stated in it, or the result of its transformation."""
    from tea.recipes.recipe import Direction, transformation
    from tea.store.files import parse_json_strict

    said: Any = parse_json_strict(source.encode(), "The document")
    if isinstance(said.get("transform"), str):
        return Direction.of(transformation(said["transform"])).target
    found: Kind | None = next((kind for kind in KEPT if kind == said.get("kind")), None)
    if found is None:
        raise BadInput("The document does not state its kind.", fix="add --kind, for example --kind model.")
    return found
