"""`tea import`: an Agent Skill as a prompt."""

from pathlib import Path
from typing import Annotated

import typer

from tea.cli.command import Command
from tea.cli.register import ReasonOption, show_stored


async def import_component(
    command: Command,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that holds SKILL.md.")],
    name: Annotated[
        str | None, typer.Option("--name", help="Its name here; made from the skill's if left out.")
    ] = None,
    reason: ReasonOption = "",
) -> None:
    """Import an Agent Skill as a prompt.

    Agents see its name and description and open it with the tool `open_skill`; its scripts run in the sandbox's shell
    alone. Its words are marked as those of others until you say otherwise with `tea trust`.
    """
    from tea.interop.skill_import import import_skill

    async with command.platform() as tea:
        before, library = tea.versions.store.moves, tea.libraries["prompt"]
        found = await import_skill(library, folder, name=name, reason=reason)
        current = await library.info(found.name)
        unchanged = tea.versions.store.moves == before
    show_stored(command, "imported", found, current, unchanged=unchanged)
