"""Take a skill into the registry as a prompt with lineage `imported`; nothing of it is executed or trusted."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tea.components.manifest import Lineage, Manifest
from tea.errors import AlreadyRegistered, UnknownComponent
from tea.interop.skill import prompt_of
from tea.interop.skill_folder import MAIN, read_folder
from tea.protocols.manager import ContextManager
from tea.refs import check_name
from tea.source.text import check_characters


async def import_skill(prompts: ContextManager, folder: Path, *, name: str | None = None, reason: str = "") -> Manifest:
    """Register a skill's folder as a version of a prompt; the same skill again is its next version, if it changed.

    Args:
        prompts: The library of prompts.
        folder: The skill's folder.
        name: The prompt's name; made from the skill's by default.
        reason: Why, for the history.

    Raises:
        BadRef: `name` is not a name.
        BadComponent: It is not a usable skill, or holds characters that would hide text; nothing is written.
        AlreadyRegistered: Something else has that name; nothing is written.
    """
    chosen = None if name is None else check_name(name, "a prompt")
    skill = await asyncio.to_thread(read_folder, folder)
    check_characters("", {MAIN: skill.document(), **skill.files})
    text = prompt_of(skill, chosen)
    try:
        there: Manifest | None = await prompts.info(text.name)
    except UnknownComponent:
        there = None
    if there is not None and there.metadata.get("origin_name") != skill.name:
        problem = f"{there.ref.at(None)} exists, and does not come from the skill {skill.name!r}."
        raise AlreadyRegistered(problem, fix="choose another name with --name.")
    return await prompts.register(text, reason=reason, lineage=Lineage(how="imported"))
