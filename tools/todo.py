"""A plan as a checklist, kept in `todo.md` of the workspace."""

import asyncio
import re
from dataclasses import dataclass, replace
from typing import Literal

from tea import Context, RootedFolder, ToolError, tool

State = Literal["pending", "in_progress", "done", "failed"]

FILE = "todo.md"
MOST_ITEMS = 100
MOST_TEXT = 500
MOST_BYTES = 200_000

_MARKS: dict[str, State] = {" ": "pending", "~": "in_progress", "x": "done", "!": "failed"}
_MARK_OF = {state: mark for mark, state in _MARKS.items()}
_LINE = re.compile(r"- \[([ ~x!])\] ([1-9][0-9]{0,5})\. (.+)")
_HEADING = ["# To do", ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of the plan."""

    id: int
    text: str
    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The whole plan after the call, and how far it is."""

    items: list[Item]
    progress: str


@tool(
    effects="writes",
    idempotent=True,
    network=False,
    after="todo.md holds the plan",
    metadata={"category": "bookkeeping"},
)
async def todo(
    ctx: Context,
    action: Literal["create", "update", "complete", "list", "replace"],
    items: list[str] | None = None,
    id: int = 0,
    state: State | None = None,
    text: str = "",
) -> Plan:
    """Keep the plan of a task as a checklist, each item pending, in_progress, done or failed.

    Worth its while for tasks of several steps; a simple question needs none.

    Args:
        action: `create` adds items that are not there yet, `update` changes the item `id`, `complete` marks it done,
            `replace` starts a new plan with `items`, `list` only shows the plan.
        items: Texts of the items, for create and replace; each starts as pending.
        id: Number of the item, for update and complete.
        state: New state, for update; for create and replace, the state of the first new item.
        text: New text, for update.
    """
    other, plan = await asyncio.to_thread(_read, ctx.workspace)
    match action:
        case "create":
            plan = _added(plan, items or [], state)
        case "replace":
            plan = _added([], items or [], state)
        case "update":
            plan = _changed(plan, id, state, text)
        case "complete":
            plan = _changed(plan, id, "done", text)
        case "list":
            return _shown(plan)
    await asyncio.to_thread(_write, ctx.workspace, other, plan)
    return _shown(plan)


def _added(plan: list[Item], texts: list[str], state: State | None) -> list[Item]:
    lines = [" ".join(text.split())[:MOST_TEXT] for text in texts]
    if not any(lines):
        raise ToolError("No items were given.", fix="give `items`, one short text for each.")
    known = {item.text for item in plan}
    fresh = [line for line in dict.fromkeys(lines) if line and line not in known]
    if len(plan) + len(fresh) > MOST_ITEMS:
        raise ToolError(f"The plan would have more than {MOST_ITEMS} items.", fix="plan in larger steps.")
    first = max((item.id for item in plan), default=0) + 1
    states: list[State] = [state or "pending", *("pending" for _ in fresh)]
    return plan + [Item(id=first + n, text=line, state=states[n]) for n, line in enumerate(fresh)]


def _changed(plan: list[Item], id: int, state: State | None, text: str) -> list[Item]:
    if state is None and not text.strip():
        raise ToolError("Nothing to change was given.", fix="give `state` or `text`.")
    if all(item.id != id for item in plan):
        known = ", ".join(str(item.id) for item in plan) or "none"
        raise ToolError(f"There is no item {id}.", fix=f"ids are {known:.200}; `list` shows them.")
    line = " ".join(text.split())[:MOST_TEXT]
    return [
        replace(item, state=state or item.state, text=line or item.text) if item.id == id else item for item in plan
    ]


def _shown(plan: list[Item]) -> Plan:
    finished = sum(item.state == "done" for item in plan)
    return Plan(items=plan, progress=f"{finished} of {len(plan)} done")


def _read(workspace: str) -> tuple[list[str], list[Item]]:
    """Return the lines outside of the plan, unchanged, and the items."""
    try:
        with RootedFolder(workspace) as files, files.reading(FILE) as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ToolError(f"{FILE} is not a checklist.", fix="move it away.")
        lines = data.decode().splitlines()
    except FileNotFoundError:
        return list(_HEADING), []
    except (OSError, UnicodeDecodeError) as error:
        raise ToolError(f"{FILE} cannot be read.", fix="move it away.") from error
    matches = [(line, _LINE.fullmatch(line)) for line in lines]
    plan = [Item(id=int(match[2]), text=match[3], state=_MARKS[match[1]]) for _, match in matches if match]
    return [line for line, match in matches if not match], plan


def _write(workspace: str, other: list[str], plan: list[Item]) -> None:
    lines = other + [f"- [{_MARK_OF[item.state]}] {item.id}. {item.text}" for item in plan]
    try:
        with RootedFolder(workspace) as files:
            files.write(FILE, "".join(f"{line}\n" for line in lines).encode())
    except (OSError, UnicodeEncodeError) as error:
        raise ToolError(f"{FILE} cannot be written.", fix="check the workspace's permissions.") from error
