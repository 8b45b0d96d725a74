"""Heads of a task's files, for the first question of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tea.components.context import Context
from tea.models.rendering import rendered
from tea.types import JsonObject, Task

MOST_HEADS = 6_000
MOST_BYTES = 20_000_000  # of a file whose head is read
HEAD_LINES = 60
MOST_WHOLE = 1_500  # characters of a text that is shown whole
MOST_BEGINNING = 300  # of one that is not
LEAST_TEXT = 200  # of a head that shows of a text more than its kind and size
TABLES, TEXTS, OTHERS = ("table",), ("text", "code", "json", "document"), ("image", "audio", "video", "archive")


async def heads(ctx: Context, task: Task) -> list[str]:
    """Return a head of each file of a task: kind, size, and columns with examples, the first lines, or contents.

    All heads together have at most 6,000 characters; a file that cannot be read is described by name and size.
    """
    if not task.files:
        return []
    response = await ctx.ecp.invoke("workspace#list_files", {"names": list(task.files), "limit": len(task.files)})
    value: Any = response.value if response.ok else {"files": []}
    found = {str(one["name"]): one for one in cast("list[dict[str, Any]]", value["files"])}
    each = MOST_HEADS // len(task.files)
    return [await _head(ctx, name, found.get(name), each) for name in task.files]


def conversation(task: Task) -> str:
    """Return the conversation before a task, each contribution under its speaker; empty if there is none."""
    if not task.history:
        return ""
    lines = [f"{one.who}: {one.text}" if one.who else f"({one.text})" for one in task.history]
    return "\n".join(["The conversation before this task, oldest first:", *lines])


async def _head(ctx: Context, name: str, file: Mapping[str, Any] | None, most: int) -> str:
    if file is None:
        return f"{name}: there is no such file"
    line = f"{name}: {file['type']}, {file['size']:,} bytes"
    if not 0 < file["size"] <= MOST_BYTES:
        return line if file["size"] else f"{line}, empty"
    body = await _body(ctx, name, str(file["type"]), most)
    if not body:
        return line
    text = f"{line}\n{body}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


async def _body(ctx: Context, name: str, kind: str, most: int) -> str:
    """Return a short view of a file; empty if its tool is missing or fails."""
    if kind in TABLES:
        tool, arguments = "table_query", cast(JsonObject, {"files": [name]})
    elif kind in TEXTS and most >= LEAST_TEXT:
        tool, arguments = "read_file", cast(JsonObject, {"path": name, "lines": HEAD_LINES})
    elif kind in OTHERS and most >= LEAST_TEXT:
        tool, arguments = "to_markdown", cast(JsonObject, {"source": name})
    else:
        return ""
    response = await ctx.tcp.invoke(tool, arguments)
    if not response.ok:
        return ""
    value: Any = response.value
    return _outline(value) if kind in TABLES else _beginning(value)


def _outline(value: Mapping[str, Any]) -> str:
    """Return tables with their columns, one a line, and the remaining facts."""
    rest = {key: one for key, one in value.items() if one and key != "tables"}
    lines = [line for one in value["tables"] for line in _table(cast("dict[str, Any]", one))]
    return "\n".join([*lines, rendered(rest)] if rest else lines)


def _table(table: Mapping[str, Any]) -> list[str]:
    head = {key: one for key, one in table.items() if key not in ("file", "columns")}
    return [rendered(head), *(f"- {column}" for column in table["columns"])]


def _beginning(value: Mapping[str, Any]) -> str:
    """Return a short text whole, and of a longer one the first lines."""
    text = str(value["text"])
    lines = f"{value['total_lines']:,} lines"
    if not value["truncated"] and len(text) <= MOST_WHOLE:
        return f"{lines}, all of them:\n{text}"
    shown, left = list[str](), MOST_BEGINNING
    for line in text.splitlines():
        if shown and len(line) >= left:
            break
        shown.append(line[:left])
        left -= len(line) + 1
    return "\n".join([f"{lines}, beginning with:", *shown])
