"""Rendering of call results as compact and exact text for a model."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, cast

from tea.errors import sentence
from tea.types import JsonObject, JsonValue, without_empty

_LONG = 200  # characters from which a text stands in a block of its own
_NONE = "(nothing)"
_OF_RESULT = {"answer", "ok", "reason", "evidence", "report", "exhausted"}


def result_text(result: JsonObject) -> str:
    """Return the result of a call, `{"ok", "value", "error", "note"}`, as text."""
    value, error, note = _without_blanks(result.get("value")), result.get("error"), result.get("note")
    blocks: list[str] = []
    if error is not None:
        blocks.append(f"Error: {sentence(str(error['problem']))} Fix: {error['fix']}")
    if error is None or not _says_nothing(value):
        blocks.append(rendered(value))
    return "\n".join([*blocks, str(note)] if note else blocks)


def rendered(value: JsonValue) -> str:
    """Return a JSON value as text.

    Texts stand as they are. Of an object the short members stand on one line, each long one in a block below its
    name; `columns` and `rows`, and lists of objects with the same keys, are written as CSV. All else is JSON.
    """
    if isinstance(value, str):
        return value or '""'
    if value is None:
        return _NONE
    if isinstance(value, Mapping):
        return _object(cast("Mapping[str, Any]", value))
    if isinstance(value, list) and (table := _table(cast("list[Any]", value))):
        return table
    return _json(value)


def content(value: JsonValue) -> str:
    """Return the main content of a value as text: an object's answer, its rows, or its longest text or list."""
    if isinstance(value, Mapping):
        found = cast("Mapping[str, Any]", value)
        if found.get("answer") not in (None, ""):
            return rendered(found["answer"])
        if _is_rows(found.get("columns"), found.get("rows")):
            return _csv([found["columns"], *found["rows"]])
        if texts := [rendered(one) for one in found.values() if isinstance(one, str | list) and one]:
            return max(texts, key=len)
    return rendered(value)


def _without_blanks(value: JsonValue) -> JsonValue:
    """Return an agent's result without its empty members; any other value as it is."""
    if not _is_result(value):
        return value
    members = cast("dict[str, Any]", value)
    evidence = [without_empty(one, *one) for one in members["evidence"]]
    return without_empty({**members, "evidence": evidence}, *_OF_RESULT - {"answer", "ok"})


def _is_result(value: JsonValue) -> bool:
    return isinstance(value, Mapping) and cast("Mapping[str, Any]", value).keys() >= _OF_RESULT


def _says_nothing(value: JsonValue) -> bool:
    """Return whether a value beside an error is None, or the result of an agent with an empty answer."""
    return value is None or (isinstance(value, dict) and cast("dict[str, Any]", value).get("answer", ...) == "")


def _object(value: Mapping[str, Any]) -> str:
    blocks: dict[str, str] = {}
    rest = dict(value)
    if _is_rows(rest.get("columns"), rest.get("rows")):
        blocks["rows"] = _csv([rest.pop("columns"), *rest.pop("rows")])
    for name, one in list(rest.items()):
        if isinstance(one, str) and (len(one) > _LONG or "\n" in one):
            blocks[name] = rest.pop(name)
        elif isinstance(one, list) and (table := _table(cast("list[Any]", one)) or _lines(cast("list[Any]", one))):
            blocks[name] = table
            del rest[name]
    short = ", ".join(f"{name}: {one if isinstance(one, str) and one else _json(one)}" for name, one in rest.items())
    named = [f"{name}:\n{text}" for name, text in blocks.items()]
    return "\n".join([short, *named] if short else named) or "{}"


def _table(items: list[Any]) -> str:
    """Return flat objects with identical keys as CSV; else an empty string."""
    if len(items) < 2 or not all(isinstance(one, dict) and len(cast("dict[str, Any]", one)) for one in items):
        return ""
    keys = list(items[0])
    if any(list(one) != keys or not all(map(_is_cell, one.values())) for one in items):
        return ""
    return _csv([keys, *(list(one.values()) for one in items)])


def _lines(items: list[Any]) -> str:
    """Return texts as lines if they are long together; else an empty string."""
    long = len(items) > 1 and all(isinstance(one, str) and "\n" not in one for one in items)
    return "\n".join(f"- {one}" for one in items) if long and sum(map(len, items)) > _LONG else ""


def _csv(rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n")
    write.writerows([["NULL" if cell is None else cell for cell in row] for row in rows])
    return text.getvalue().rstrip("\n")


def _is_rows(columns: object, rows: object) -> TypeGuard[list[Any]]:
    return isinstance(columns, list) and isinstance(rows, list) and all(map(_is_row, cast("list[Any]", rows)))


def _is_row(row: object) -> bool:
    return isinstance(row, list) and all(map(_is_cell, cast("list[Any]", row)))


def _is_cell(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
