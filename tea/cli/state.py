"""`tea state`: the state of an environment, or the stored state of an agent."""

from typing import Annotated

import typer

from tea.cli.call import answered
from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.terminal import shown


async def state(
    command: Command,
    ref: RefArgument,
    session: Annotated[
        str | None, typer.Option("--session", help="The session; for an agent without one, what it keeps for good.")
    ] = None,
) -> int:
    """Observe an environment in an agent's view, or show the stored state of an agent."""
    async with command.platform() as tea:
        _, found = await find(tea, ref, ("environment", "agent"))
        if found.kind == "environment":
            return answered(command, await tea.ecp.state(str(found.at(found.selector)), session=session))
        kept = await tea.kept(str(found), session)
    command.show(shown(kept), {"ref": str(found), "session": session, "state": kept})
    return 0
