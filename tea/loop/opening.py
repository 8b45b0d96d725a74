"""Heads of a task's files, for the first question of an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from tea.components.context import Context
from tea.models.rendering import content, rendered
from tea.types import JsonObject, Task

MOST_HEADS = 6_000
MOST_BYTES = 20_000_000  # of a file whose head is read
HEAD_LINES = 60
MOST_WHOLE = 1_500  # characters of a text that is shown whole
MOST_BEGINNING = 300  # of one that is not
LEAST_TEXT = 200  # of a head that shows of a text more than its kind and size
LEAST_PART, MOST_BEFORE = 100, 4  # characters of a long line that is shown in part, behind a few short ones
MOST_CELLS = 60  # of a table that is shown whole
MOST_MEMBER = 600  # bytes of a text in an archive that is shown
MEMBER = 40  # characters beside the name of a file in an archive
TABLES, TEXTS, OTHERS = ("table",), ("text", "code", "json", "document"), ("image", "audio", "video", "archive")
ALL = (*TABLES, *TEXTS, *OTHERS)
UNPACKED = "unpacked, by these names:"


class Head(NamedTuple):
    """The head of a file in the first question.

    Args:
        name: Name of the file.
        text: What is shown.
        whole: Whether it shows all that the file holds.
        members: Heads of the files of an archive, which stand in its text.
    """

    name: str
    text: str
    whole: bool = False
    members: tuple[Head, ...] = ()


async def heads(ctx: Context, task: Task) -> list[Head]:
    """Return a head of each file of a task: kind, size, and columns with examples, the first lines, or contents.

    All heads together have at most 6,000 characters; a file that cannot be read is described by name and size. Short
    texts and tables of a few rows are shown whole; of an archive the names of the unpacked files, with their tables.
    """
    return await _heads(ctx, task.files, MOST_HEADS) if task.files else []


def conversation(task: Task) -> str:
    r"""Return the conversation before a task as one block for a prompt, each contribution under its speaker.

    Args:
        task: The task; without a history the block is empty.

    Examples:
        >>> from tea.types import Said
        >>> conversation(Task(text="Its legs?", history=(Said(who="person", text="Name a bird."),)))
        '<conversation>\nThe conversation before this task, oldest first:\nperson: Name a bird.\n</conversation>'
    """
    if not task.history:
        return ""
    lines = [f"{one.who}: {one.text}" if one.who else f"({one.text})" for one in task.history]
    begin = ("<conversation>", "The conversation before this task, oldest first:")
    return "\n".join([*begin, *lines, "</conversation>"])


async def _heads(ctx: Context, names: Sequence[str], most: int, *, members: bool = False) -> list[Head]:
    """Return the heads of files within a number of characters; of members only tables and short texts show more."""
    response = await ctx.ecp.invoke("workspace#list_files", {"names": list(names), "limit": len(names)})
    value: Any = response.value if response.ok else {"files": []}
    found = {str(one["name"]): one for one in cast("list[dict[str, Any]]", value["files"])}
    each = most // len(names)
    return [await _head(ctx, name, found.get(name), each, member=members) for name in names]


async def _head(ctx: Context, name: str, file: Mapping[str, Any] | None, most: int, *, member: bool) -> Head:
    if file is None:
        return Head(name, f"{name}: there is no such file")
    line = f"{name}: {file['type']}, {file['size']:,} bytes"
    if not 0 < file["size"] <= MOST_BYTES:
        return Head(name, line) if file["size"] else Head(name, f"{line}, empty", whole=True)
    kind = str(file["type"])
    if member and kind not in TABLES and not (kind in TEXTS and file["size"] <= min(MOST_MEMBER, most)):
        return Head(name, line)
    body, whole, members = await _body(ctx, name, kind, most - len(line))
    if not body:
        return Head(name, line)
    text = f"{line}\n{body}"
    if len(text) > most:
        return Head(name, f"{text[: max(0, most - 3)]}...")
    return Head(name, text, whole, members)


async def _body(ctx: Context, name: str, kind: str, most: int) -> tuple[str, bool, tuple[Head, ...]]:
    """Return a short view of a file, whether it is whole, and heads in it; empty if its tool is missing or fails."""
    if kind in TABLES:
        value = await _told(ctx, "table_query", {"files": [name]})
        whole = await _rows(ctx, name, value, most) if value is not None else ""
        return (whole, True, ()) if whole else ("" if value is None else _outline(value), False, ())
    if most < LEAST_TEXT:
        return "", False, ()
    if kind in TEXTS:
        value = await _told(ctx, "read_file", {"path": name, "lines": HEAD_LINES})
    else:
        value = await _told(ctx, "to_markdown", {"source": name})
        if value is not None and kind == "archive" and value.get("files"):
            text, members = await _unpacked(ctx, cast("list[str]", value["files"]), most)
            return text, False, members
    return ("", False, ()) if value is None else (*_beginning(value, counted=kind in TEXTS), ())


async def _told(ctx: Context, tool: str, arguments: JsonObject) -> Mapping[str, Any] | None:
    response = await ctx.tcp.invoke(tool, arguments)
    return cast("Mapping[str, Any]", response.value) if response.ok else None


async def _rows(ctx: Context, name: str, outline: Mapping[str, Any], most: int) -> str:
    """Return all rows of a file with one small table; empty if it is not one, or they have no room."""
    tables = cast("list[dict[str, Any]]", outline["tables"])
    if len(tables) != 1 or not 0 < tables[0]["rows"] * len(tables[0]["columns"]) <= MOST_CELLS:
        return ""
    query = f"SELECT * FROM {tables[0]['table']}"
    value = await _told(ctx, "table_query", {"files": [name], "sql": query})
    if value is None or value.get("truncated") or value.get("cut"):
        return ""
    text = f"table: {tables[0]['table']}, rows: {tables[0]['rows']}, all of them\n{content(value)}"
    if sheets := outline.get("sheets"):
        text = "\n".join([text, *sheets])
    return text if len(text) <= min(most, MOST_WHOLE) else ""


async def _unpacked(ctx: Context, names: Sequence[str], most: int) -> tuple[str, tuple[Head, ...]]:
    """Return the files of an archive by their names in the workspace, with the heads of its tables and short texts."""
    shown = list(names)
    while len(shown) > 1 and sum(len(one) + MEMBER for one in shown) > most:
        shown.pop()
    left = len(names) - len(shown)
    more = [f"and {left:,} more beside them"] if left else []
    found = await _heads(ctx, shown, most - len(UNPACKED), members=True)
    return "\n".join([UNPACKED, *(one.text for one in found), *more]), tuple(found)


def _outline(value: Mapping[str, Any]) -> str:
    """Return tables with their columns, one a line, and the remaining facts."""
    rest = {key: one for key, one in value.items() if one and key not in ("tables", "sheets")}
    lines = [line for one in value["tables"] for line in _table(cast("dict[str, Any]", one))]
    lines += value.get("sheets", ())
    return "\n".join([*lines, rendered(rest)] if rest else lines)


def _table(table: Mapping[str, Any]) -> list[str]:
    head = {key: one for key, one in table.items() if key not in ("file", "columns")}
    return [rendered(head), *(f"- {column}" for column in table["columns"])]


def _beginning(value: Mapping[str, Any], *, counted: bool) -> tuple[str, bool]:
    """Return a short text whole, and of a longer one the first lines; of a text their number is told."""
    text = str(value["text"])
    lines = f"{value['total_lines']:,} line{'' if value['total_lines'] == 1 else 's'}"
    if not value["truncated"] and len(text) <= MOST_WHOLE:
        return f"{lines}, all of them:\n{text}" if counted else text, True
    shown, left = list[str](), MOST_BEGINNING
    for line in text.splitlines():
        if shown and len(line) >= left and (left < LEAST_PART or len(shown) > MOST_BEFORE):
            break
        shown.append(line if len(line) <= left else f"{line[:left].rpartition(' ')[0] or line[:left]} ...")
        left -= len(line) + 1
    return "\n".join([f"{lines}, beginning with:", *shown]), False
