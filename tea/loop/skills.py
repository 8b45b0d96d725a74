"""Skills in an offer: the function to open one, with their names and descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tea.components.context import Context
from tea.loop.capability import Capability
from tea.loop.offer import OPEN_SKILL, allowed
from tea.loop.shortlist import ranked
from tea.types import EVERY, JsonObject, Task

MOST_SKILLS = 20
MOST_WORDS = 120  # characters of a description


def with_skills(ctx: Context, tools: Sequence[str], task: Task, reads_texts: bool) -> tuple[str, ...]:
    """Return the tools allowed to an agent, with the opener of skills only if it may help.

    Args:
        ctx: What the agent may reach.
        tools: Its own; those of `*` include the opener.
        task: Its task, which may name the opener.
        reads_texts: Whether who answers reads descriptions.
    """
    names = allowed(tools, task.tools, task.also)
    if OPEN_SKILL in (*(task.tools or ()), *task.also):
        return names
    rest = tuple(name for name in names if name != OPEN_SKILL)
    return (OPEN_SKILL, *rest) if ctx.skills and reads_texts and {OPEN_SKILL, EVERY} & {*names} else rest


async def naming_skills(ctx: Context, opener: Capability, task: Task) -> Capability:
    """Return the opener of skills with the names of the skills nearest to a task, and the beginnings of their texts."""
    found = {str(one["name"]): one for one in await ctx.list_skills()}
    texts = {name: f"{name.replace('_', ' ')}\n{one['description']}" for name, one in found.items()}
    names = sorted(texts) if len(texts) <= MOST_SKILLS else await ranked(ctx.tcp, texts, task.text, MOST_SKILLS)
    left = len(found) - len(names)
    lines = [_line(found[name]) for name in names] + ([f"and {left} more"] if left else [])
    if not lines:
        return opener
    exact = {name: f"{name}@{one['version']}" for name, one in found.items()}
    exact |= {name.replace("_", "-"): ref for name, ref in exact.items()}
    return replace(opener, description="\n".join([opener.description, "Skills:", *lines]), exact=exact)


def _line(skill: JsonObject) -> str:
    words = " ".join(str(skill["description"]).split())
    cut = words if len(words) <= MOST_WORDS else f"{words[: MOST_WORDS - 3]}..."
    return f"- {skill['name']}{'' if skill['trusted'] else ' (untrusted)'}: {cut}"
