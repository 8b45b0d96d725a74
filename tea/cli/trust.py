"""`tea trust`: a person's trust in a version for its execution, or in the places a home sends keys to."""

import asyncio
import sys
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

from tea.cli.command import Command
from tea.cli.diff import difference_parts
from tea.cli.person import person
from tea.cli.reference import find
from tea.cli.show import source_text
from tea.cli.terminal import folded, write
from tea.cli.trust_home import HERE, HomeCommand, trust_home
from tea.errors import ApprovalNeeded, BadInput, Denied

if TYPE_CHECKING:
    from tea.components.manifest import Manifest
    from tea.platform import AnyManager, Platform

SHAPE = HomeCommand
_CHOICES = ("trust", "no")
_MARK = "| "  # before each row of what is reviewed: none looks like a question of tea's own, or its answer


async def trust(
    command: Command,
    ref: Annotated[
        str | None, typer.Argument(metavar="[REF]", help="kind:name, the kind only where the name needs it.")
    ] = None,
    of_home: Annotated[bool, typer.Option(HERE, hidden=True)] = False,
) -> int | None:
    """Trust a version for execution; with --home and no REF, trust the places a home sends keys to.

    Trust is of a digest. It is given at once to what `tea show REF --source` showed last, and to REF@sha256:DIGEST;
    of anything else the source is shown, or how it differs from the last version that is trusted, and a person at a
    terminal is asked. What is trusted already, or ships, needs no grant and gets none.
    `tea trust --home [FOLDER]` shows what a home asks for, and asks.
    """
    exact = ref if ref is not None and ref.startswith("@") else None
    if exact is not None or (ref is None and (of_home or command.home is not None)):
        return await trust_home(command, exact)
    if ref is None:
        raise BadInput("Neither a component nor a home is named.", fix="name a component, or a home with --home.")
    async with command.platform() as tea:
        library, found = await find(tea, ref)
        config: Manifest = await library.info(found)
        spelled = found.selector == config.digest
        granted = not spelled and tea.trust(config.digest)
        if not granted:
            if not spelled:
                await _reviewed(tea, library, config)
            await library.trust(config.ref.at(config.digest))
    told = f"{config.ref} is trusted already" if granted else f"trusted {config.ref}"
    command.show(told, {"ref": str(config.ref), "digest": config.digest})
    return None


async def _reviewed(tea: "Platform", library: "AnyManager", config: "Manifest") -> None:
    """Ask a person to review a source unless it was the last one shown to this account.

    Raises:
        ApprovalNeeded: Nobody is there to review it.
        Denied: They do not trust it.
    """
    from tea.source.reviewed import Reviewed

    reviewed = Reviewed(tea.trust.path.parent)
    if await asyncio.to_thread(reviewed.last, config.ref) == config.digest:
        return
    who, digest = person(), config.ref.at(config.digest)
    if who is None:
        problem = f"{config.ref} is not what was shown to you last, so it is not trusted."
        raise ApprovalNeeded(problem, fix=f"read `tea show {config.ref} --source`, or name it, `tea trust {digest}`.")
    shown = folded(await _shown(tea, library, config), sys.stderr, len(_MARK))
    await asyncio.to_thread(reviewed.begin, config.ref, config.digest)  # whatever the answer
    write(indent(shown, _MARK, lambda _: True) + "\n", sys.stderr)
    if await who(f"Do you trust {digest}?", _CHOICES) != _CHOICES[0]:
        raise Denied(f"{config.ref} was not trusted.", fix="`tea trust` asks again.")
    await asyncio.to_thread(reviewed.add, config.ref, config.digest)


async def _shown(tea: "Platform", library: "AnyManager", config: "Manifest") -> str:
    """Return the difference between a version and the last trusted one, or its source if there is none."""
    from tea.registry.difference import diff

    trusted = [one for one in await library.history(config.name) if tea.trust(one.digest)]
    if not trusted:
        return source_text(config)
    found = diff(trusted[-1], config)
    return "\n".join([*difference_parts(found, trusted=False), f"# {config.ref} {config.digest}"])
