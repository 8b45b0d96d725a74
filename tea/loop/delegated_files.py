"""Files of a call: names as in the workspace, and names of files left out by a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, cast

from tea.components.context import Context
from tea.components.lossless import lossless
from tea.errors import BadArguments
from tea.loop.capability import DELEGATION, Capability
from tea.loop.claims import MOST_FILES, looked_up
from tea.loop.naming import to_be_written
from tea.types import JsonObject, ToolCall, changed

_MOST_TOLD = 10
_MOST_HANDED = 10  # files of a task, all of which an agent gets that is given what was found
_MOST_IN_TEXT = 1_000  # names in one text
_FILES = "files"
_WORD, _MARKS = re.compile(r"[\w-]+"), re.compile(r"[\W_]")
_FINDINGS = re.compile(r"\[\d{1,4}\]\(|^```json", re.MULTILINE)  # citations, or findings as JSON
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
    names = [given] if isinstance(given, str) else cast("list[Any]", given) if isinstance(given, list) else []
    if not all(isinstance(name, str) for name in names):
        return arguments
    found = [one for name in names for one in _named(name, own)]
    known = {*own, *to_be_written(str(arguments.get("task", "")))}
    others = [one for one in dict.fromkeys(found) if one not in known and "://" not in one][:MOST_FILES]
    there = await looked_up(ctx, others)
    if (missing := next((one for one in others if not there.get(one)), None)) is not None:
        told = f"there are {', '.join(map(repr, own[:_MOST_TOLD]))}" if own else "leave `files` out"
        raise BadArguments(f"There is no file {missing[:100]!r}.", fix=f"{told}.")
    return arguments if not found or found == given else {**arguments, "files": found}


def with_own_files(capability: Capability, call: ToolCall, own: Sequence[str]) -> ToolCall:
    """Return a call with its required `files` filled in: those named elsewhere in it, else the only file of the task.

    A file is named by its table, as in `FROM sales`. An agent that is given what was found gets the few of the
    task, unless its own words are findings with their sources.

    Args:
        capability: What is called.
        call: The call.
        own: Names of the task's own files.
    """
    told = str(call.arguments.get("task", ""))
    lacks = capability.takes_findings and _FILES not in call.arguments and not _FINDINGS.search(told)
    if lacks and 0 < len(own) <= _MOST_HANDED:
        return changed(call, arguments={**call.arguments, _FILES: list(own)})
    needed: Any = capability.parameters.get("required") or ()
    if _FILES not in needed or not own or not call.arguments or _FILES in capability.understood(call.arguments):
        return call
    words = {_bare(one) for text in call.arguments.values() for one in _WORD.findall(str(text))}
    named = [one for one in own if _bare(PurePosixPath(one).stem) in words]
    found = named or (list(own) if len(own) == 1 else [])
    return changed(call, arguments={**call.arguments, _FILES: found}) if found else call


def _bare(name: str) -> str:
    """Return a name with its letters and digits alone, as a table may be called after its file."""
    return _MARKS.sub("", name.casefold())


def _named(name: str, own: Sequence[str]) -> list[str]:
    """Return the task's own files meant by a text, else the text."""
    parts = [part.strip() for part in _APART.split(name.strip("[] \n"), maxsplit=_MOST_IN_TEXT) if part.strip()]
    meant = [_nearest(part, own) for part in parts]
    return meant if name not in own and all(one in own for one in meant) else [name]


def _nearest(name: str, own: Sequence[str]) -> str:
    path = "/" + name.strip("'\"").replace("\\", "/").lstrip("/")
    return max((one for one in own if path.endswith(f"/{one}")), key=len, default=name)
