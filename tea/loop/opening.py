"""Heads of a task's files, for the first question of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tea.components.context import Context
from tea.models.rendering import rendered
from tea.types import JsonObject, Task

MOST_HEADS = 6_000
MOST_BYTES = 20_000_000  # of a file whose head is read
HEAD_LINES = 12
TABLES, TEXTS = ("table",), ("text", "code", "json", "document")


async def heads(ctx: Context, task: Task) -> list[str]:
    """Return a head of each file of a task: kind, size, and columns with examples or the first lines.

    All heads together have at most 6,000 characters; a file that cannot be read is described by name and size.
    """
    if not task.files:
        return []
    response = await ctx.ecp.invoke("workspace#list_files", {"names": list(task.files), "limit": len(task.files)})
    value: Any = response.value if response.ok else {"files": []}
    found = {str(one["name"]): one for one in cast("list[dict[str, Any]]", value["files"])}
    each = MOST_HEADS // len(task.files)
    return [await _head(ctx, name, found.get(name), each) for name in task.files]


async def _head(ctx: Context, name: str, file: Mapping[str, Any] | None, most: int) -> str:
    if file is None:
        return f"{name}: there is no such file"
    line = f"{name}: {file['type']}, {file['size']:,} bytes"
    if not 0 < file["size"] <= MOST_BYTES:
        return line if file["size"] else f"{line}, empty"
    body = await _body(ctx, name, str(file["type"]))
    if not body:
        return line
    text = f"{line}\n{body}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


async def _body(ctx: Context, name: str, kind: str) -> str:
    """Return a short view of a file; empty if its tool is missing or fails."""
    if kind in TABLES:
        tool, arguments = "table_query", cast(JsonObject, {"files": [name]})
    elif kind in TEXTS:
        tool, arguments = "read_file", cast(JsonObject, {"path": name, "lines": HEAD_LINES})
    else:
        return ""
    response = await ctx.tcp.invoke(tool, arguments)
    if not response.ok:
        return ""
    value: Any = response.value
    if kind in TABLES:
        return rendered({key: one for key, one in value.items() if one})
    lines = f"{value['total_lines']:,} lines, beginning with:"
    return f"{lines}\n{value['text']}"
