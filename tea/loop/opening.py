"""Heads of a task's files, for the first question of an agent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from tea.components.context import Context
from tea.loop.shown import Column, Listed, told
from tea.models.rendering import content, rendered
from tea.types import JsonObject, JsonValue, Task

MOST_HEADS = 6_000  # bytes, as all lengths here: words in other scripts take more tokens
MOST_BYTES = 20_000_000  # of a file whose head is read
HEAD_LINES = 60
MOST_WHOLE = 1_500  # of a text that is shown whole
MOST_BEGINNING = 300  # of one that is not
LEAST_TEXT = 200  # of a head that shows of a text more than its kind and size
LEAST_PART, MOST_BEFORE = 100, 4  # of a long line that is shown in part, behind a few short ones
MOST_CELLS, FEW_ROWS = 60, 10  # of a table that is shown whole, one of the two
MOST_MEMBER = 600  # bytes of a text in an archive that is shown
MEMBER = 40  # beside the name of a file in an archive
TABLES, TEXTS, OTHERS = ("table",), ("text", "code", "json", "document"), ("image", "audio", "video", "archive")
ALL = (*TABLES, *TEXTS, *OTHERS)
_RECORDS = re.compile(r"\s*(?:\[\s*[\[{\"\d-]|\{.*\}[ \t,]*\n)")
APART = "Values of each column, the most frequent first, of unique ones least and greatest; not rows:"
UNPACKED = "unpacked, by these names:"


class Head(NamedTuple):
    """The head of a file in the first question.

    Args:
        name: Name of the file.
        text: What is shown.
        whole: Whether it shows all that the file holds.
        members: Heads of the files of an archive, which stand in its text.
        told: What it tells of the file for sure, such as size and columns; None if that is all of its text.
        listed: Values of its columns, as examples.
        prose: Whether it shows the first lines of a longer prose, which may say otherwise further on.
    """

    name: str
    text: str
    whole: bool = False
    members: tuple[Head, ...] = ()
    told: str | None = None
    listed: tuple[Listed, ...] = ()
    prose: bool = False

    @property
    def sure(self) -> str:
        """The sure facts about the file."""
        return self.text if self.told is None else self.told

    @property
    def all(self) -> str:
        """All shown facts, with the same put as a sentence."""
        return self.text if self.told is None else f"{self.text}\n{self.told}"


class _Body(NamedTuple):
    """The view of a file below the line of its head, and the sure part of it."""

    text: str = ""
    whole: bool = False
    members: tuple[Head, ...] = ()
    told: str | None = None
    listed: tuple[Listed, ...] = ()
    prose: bool = False


async def heads(ctx: Context, task: Task) -> list[Head]:
    """Return a head of each file of a task: kind, size, and columns with examples, the first lines, or contents.

    All heads together have at most 6,000 bytes; a file that cannot be read is described by name and size. Short
    texts and tables of a few rows are shown whole; of an archive the names of the unpacked files, with their tables.
    """
    return await _heads(ctx, task.files, MOST_HEADS) if task.files else []


def described(value: JsonValue) -> Head | None:
    """Return a result as a head if it is but the description of tables."""
    members: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
    tables: Any = members.get("tables")
    found = cast("list[Any]", tables) if isinstance(tables, list) else []
    if not found or not all(isinstance(one, dict) and "columns" in one for one in found):
        return None
    body = _outline(members)
    return Head("", body.text, told=body.told, listed=body.listed)


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
    """Return the heads of files within a number of bytes; of members only tables and short texts show more."""
    response = await ctx.ecp.invoke("workspace#list_files", {"names": list(names), "limit": len(names)})
    value: Any = response.value if response.ok else {"files": []}
    found = {str(one["name"]): one for one in cast("list[dict[str, Any]]", value["files"])}
    each = most // len(names)
    return [await _head(ctx, name, found.get(name), each, member=members) for name in names]


async def _head(ctx: Context, name: str, file: Mapping[str, Any] | None, most: int, *, member: bool) -> Head:
    shown = name if name.splitlines() == [name] else json.dumps(name)
    if file is None:
        return Head(name, f"{shown}: there is no such file")
    line = f"{shown}: {file['type']}, {file['size']:,} bytes"
    if not 0 < file["size"] <= MOST_BYTES:
        return Head(name, line) if file["size"] else Head(name, f"{line}, empty", whole=True)
    kind = str(file["type"])
    if member and kind not in TABLES and not (kind in TEXTS and file["size"] <= min(MOST_MEMBER, most)):
        return Head(name, line)
    body = await _body(ctx, name, kind, file["size"], most - _size(line))
    if not body.text:
        return Head(name, line)
    text = f"{line}\n{body.text}"
    sure = None if body.told is None else f"{line}\n{body.told}"
    if _size(text) > most:
        return Head(name, f"{_first(text, most - 3)}...", told=sure, listed=body.listed, prose=body.prose)
    return Head(name, text, body.whole, body.members, sure, body.listed, body.prose)


async def _body(ctx: Context, name: str, kind: str, size: int, most: int) -> _Body:
    """Return a short view of a file, by `to_markdown` if the tool for its kind fails; empty if all do."""
    if kind in TABLES and (value := await _told(ctx, "table_query", {"files": [name]})) is not None:
        body = _outline(value)
        whole = await _rows(ctx, name, value, most, small=size <= _size(body.text))
        return _Body(whole, whole=True) if whole else body
    if most < LEAST_TEXT:
        return _Body()
    if kind in TEXTS and (value := await _told(ctx, "read_file", {"path": name, "lines": HEAD_LINES})) is not None:
        return _beginning(value, counted=True)
    value = await _told(ctx, "to_markdown", {"source": name})
    if value is not None and kind == "archive" and value.get("files"):
        text, members = await _unpacked(ctx, cast("list[str]", value["files"]), most)
        return _Body(text, members=members, told="\n".join(one.sure for one in members))
    return _Body() if value is None else _beginning(value, counted=False)


async def _told(ctx: Context, tool: str, arguments: JsonObject) -> Mapping[str, Any] | None:
    response = await ctx.tcp.invoke(tool, arguments)
    return cast("Mapping[str, Any]", response.value) if response.ok else None


async def _rows(ctx: Context, name: str, outline: Mapping[str, Any], most: int, *, small: bool) -> str:
    """Return all rows of a file with one table of few cells, or a small file; empty if they have no room."""
    tables = cast("list[dict[str, Any]]", outline["tables"])
    if len(tables) != 1 or not (cells := tables[0]["rows"] * len(tables[0]["columns"])):
        return ""
    if cells > MOST_CELLS and tables[0]["rows"] > FEW_ROWS and not small:
        return ""
    query = f"SELECT * FROM {tables[0]['table']}"
    value = await _told(ctx, "table_query", {"files": [name], "sql": query})
    if value is None or value.get("truncated") or value.get("cut"):
        return ""
    layout = [f"layout: {told}"] if (told := tables[0].get("layout")) else []
    lines = [f"table: {tables[0]['table']}, rows: {tables[0]['rows']}, all of them", *layout, content(value)]
    text = "\n".join([*lines, *outline.get("sheets", ())])
    return text if _size(text) <= min(most, MOST_WHOLE) else ""


async def _unpacked(ctx: Context, names: Sequence[str], most: int) -> tuple[str, tuple[Head, ...]]:
    """Return the files of an archive by their names in the workspace, with the heads of its tables and short texts."""
    shown = list(names)
    while len(shown) > 1 and sum(_size(one) + MEMBER for one in shown) > most:
        shown.pop()
    left = len(names) - len(shown)
    more = [f"and {left:,} more beside them"] if left else []
    found = await _heads(ctx, shown, most - len(UNPACKED), members=True)
    return "\n".join([UNPACKED, *(one.text for one in found), *more]), tuple(found)


def _outline(value: Mapping[str, Any]) -> _Body:
    """Return tables with their columns, one a line, and the remaining facts."""
    tables = cast("list[dict[str, Any]]", value["tables"])
    rest = {key: one for key, one in value.items() if one and key not in ("tables", "sheets")}
    last = [*value.get("sheets", ()), *([rendered(rest)] if rest else ())]
    columns = [[Column.of(str(line)) for line in one["columns"]] for one in tables]
    sure = [
        line
        for one, found in zip(tables, columns, strict=True)
        for line in (_table(one), *told(found, whole="more" not in one))
    ]
    shown = [line for one in tables for line in (_table(one), *(f"- {column}" for column in one["columns"]))]
    listed = tuple(one.listed for found in columns for one in found if one.listed.values)
    if listed:
        shown = [APART, *shown]
    return _Body("\n".join([*shown, *last]), told="\n".join([*sure, *last]), listed=listed)


def _table(table: Mapping[str, Any]) -> str:
    return rendered({key: one for key, one in table.items() if key not in ("file", "columns")})


def _beginning(value: Mapping[str, Any], *, counted: bool) -> _Body:
    """Return a short text whole, and of a longer one the first lines; of a text their number is told."""
    text = str(value["text"])
    lines = f"{value['total_lines']:,} line{'' if value['total_lines'] == 1 else 's'}"
    more = value.get("truncated") or value.get("next_start")
    if not more and _size(text) <= MOST_WHOLE:
        return _Body(f"{lines}, all of them:\n{text}" if counted else text, whole=True)
    shown, left = list[str](), MOST_BEGINNING
    for line in text.splitlines():
        if shown and _size(line) >= left and (left < LEAST_PART or len(shown) > MOST_BEFORE):
            break
        part = line if _size(line) <= left else _first(line, left)
        shown.append(line if part == line else f"{part.rpartition(' ')[0] or part} ...")
        left -= _size(line) + 1
    return _Body("\n".join([f"{lines}, beginning with:", *shown]), told=lines, prose=not _is_records(text))


def _is_records(text: str) -> bool:
    """Return whether a text begins as a list or lines of JSON records, so its beginning tells nothing of the rest."""
    return _RECORDS.match(text) is not None


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))


def _first(text: str, most: int) -> str:
    """Return the beginning of a text within a number of bytes."""
    return text.encode(errors="replace")[: max(0, most)].decode(errors="ignore")
