"""`tea deprecate`, `tea archive`, `tea activate`: the state of a version."""

from typing import TYPE_CHECKING

from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.register import ReasonOption

if TYPE_CHECKING:
    from tea.types import State


async def deprecate(command: Command, ref: RefArgument, reason: ReasonOption = "") -> None:
    """Remove a version from lists and retrieval.

    It can still be called.
    """
    await _mark(command, ref, "deprecated", reason)


async def archive(command: Command, ref: RefArgument, reason: ReasonOption = "") -> None:
    """Keep a version for the record only.

    It can no longer be called; runs that pinned it still replay.
    """
    await _mark(command, ref, "archived", reason)


async def activate(command: Command, ref: RefArgument, reason: ReasonOption = "") -> None:
    """Bring a deprecated or archived version back into use."""
    await _mark(command, ref, "active", reason)


async def _mark(command: Command, ref: str, state: "State", reason: str) -> None:
    async with command.platform() as tea:
        library, found = await find(tea, ref)
        config = await library.info(found)
        mark = {"active": library.activate, "deprecated": library.deprecate, "archived": library.archive}[state]
        await mark(config.ref, reason=reason)
    command.show(f"{config.ref} is {state}", {"ref": str(config.ref), "state": state})
