"""`tea trust`: a person vouches for a version, so that it may be executed, or for where a home sends keys."""

from typing import Annotated

import typer

from tea.cli.command import Command
from tea.cli.reference import find
from tea.cli.trust_home import HERE, HomeCommand, trust_home
from tea.errors import BadInput

SHAPE = HomeCommand


async def trust(
    command: Command,
    ref: Annotated[
        str | None, typer.Argument(metavar="[REF]", help="kind:name, the kind only where the name needs it.")
    ] = None,
    of_home: Annotated[bool, typer.Option(HERE, hidden=True)] = False,
) -> int | None:
    """Vouch for a version, so that it may be executed; with --home and no REF, for where a home sends keys.

    Read its source first: `tea show REF --source`. `tea trust --home [FOLDER]` shows what a home asks for, and asks.
    """
    exact = ref if ref is not None and ref.startswith("@") else None
    if exact is not None or (ref is None and (of_home or command.home is not None)):
        return await trust_home(command, exact)
    if ref is None:
        raise BadInput("Nothing says what to trust.", fix="name a component, or a home with --home.")
    async with command.platform() as tea:
        library, found = await find(tea, ref)
        config = await library.trust(found)
    command.show(f"trusted {config.ref}", {"ref": str(config.ref), "digest": config.digest})
    return None
