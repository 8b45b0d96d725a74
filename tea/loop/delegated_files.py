"""Files named for a part of a task, by the names that they have in the workspace."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from tea.components.context import Context
from tea.components.lossless import lossless
from tea.errors import BadArguments
from tea.loop.capability import DELEGATION
from tea.loop.claims import MOST_FILES, looked_up
from tea.loop.naming import to_be_written
from tea.types import JsonObject

_MOST_TOLD = 10
_MOST_IN_TEXT = 1_000  # names in one text
_APART = re.compile(r"[,;\n]")


async def with_files(ctx: Context, arguments: JsonObject, own: Sequence[str]) -> JsonObject:
    """Return the arguments for an agent in their types, with the names of its files.

    Several names in one text become several, and the path of a file elsewhere becomes the name of the task's own file
    that it ends with. Only files that are none of the task's, and are not to be written, are looked up; addresses are
    left to the agent.

    Args:
        ctx: What the agent may reach.
        arguments: What the agent is given.
        own: Names of the task's own files.

    Raises:
        BadArguments: There is no file of a name.
    """
    arguments = lossless(DELEGATION, arguments)
    given = arguments.get("files")
    names = cast("list[Any]", given) if isinstance(given, list) else []
    if not all(isinstance(name, str) for name in names):
        return arguments
    found = [one for name in names for one in _named(name, own)]
    known = {*own, *to_be_written(str(arguments.get("task", "")))}
    others = [one for one in dict.fromkeys(found) if one not in known and "://" not in one][:MOST_FILES]
    there = await looked_up(ctx, others)
    if (missing := next((one for one in others if not there.get(one)), None)) is not None:
        told = f"there are {', '.join(map(repr, own[:_MOST_TOLD]))}" if own else "leave `files` out"
        raise BadArguments(f"There is no file {missing[:100]!r}.", fix=f"{told}.")
    return arguments if found == names else {**arguments, "files": found}


def _named(name: str, own: Sequence[str]) -> list[str]:
    """Return the task's own files meant by a text, else the text."""
    parts = [part.strip() for part in _APART.split(name.strip("[] \n"), maxsplit=_MOST_IN_TEXT) if part.strip()]
    meant = [_nearest(part, own) for part in parts]
    return meant if name not in own and all(one in own for one in meant) else [name]


def _nearest(name: str, own: Sequence[str]) -> str:
    path = "/" + name.strip("'\"").replace("\\", "/").lstrip("/")
    return max((one for one in own if path.endswith(f"/{one}")), key=len, default=name)
