"""Pages of long results: as many lines or rows as fit into a message, with facts true of those alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any, cast

from tea.models.rendering import rendered
from tea.types import JsonObject, JsonValue


def fitted(value: JsonValue, arguments: JsonObject, most: int) -> JsonObject | None:
    """Return a page with as many of its lines or rows as fit, its place and the place to read on from corrected.

    A page holds lines `start` to `end` in `text`, or `row_count` `rows` of a table. None stands for anything else, and
    for a page without room for a single line or row.

    Args:
        value: What a call gave.
        arguments: What it was called with; an `offset` counts the characters or rows before the page.
        most: Most characters of its text form.
    """
    if not isinstance(value, dict):
        return None
    page = cast("dict[str, Any]", value)
    offset = arguments.get("offset")
    before = int(offset) if isinstance(offset, int | str) and str(offset).isdecimal() else 0
    if _is_whole_lines(page):
        lines = page["text"].split("\n")
        if found := _most_of(len(lines), most, lambda count: _lines(page, lines, count)):
            return found
        return _most_of(len(lines[0]), most, lambda count: _part_of_line(page, lines[0], before, count))
    if _is_rows(page):
        return _most_of(len(page["rows"]), most, lambda count: _rows(page, before, count))
    return None


def _most_of(all: int, most: int, shown: Callable[[int], JsonObject]) -> JsonObject | None:
    """Return the longest of the fitting pages, shorter than the whole."""
    count = bisect_right(range(1, all), most, key=lambda count: len(rendered(shown(count))))
    return shown(count) if count else None


def _is_whole_lines(page: dict[str, Any]) -> bool:
    text, start, end = page.get("text"), page.get("start"), page.get("end")
    return type(start) is int and type(end) is int and isinstance(text, str) and text.count("\n") == end - start


def _is_rows(page: dict[str, Any]) -> bool:
    columns, rows = page.get("columns"), page.get("rows")
    return (
        isinstance(columns, list) and isinstance(rows, list) and page.get("row_count") == len(cast("list[Any]", rows))
    )


def _lines(page: dict[str, Any], lines: list[str], count: int) -> JsonObject:
    end = page["start"] + count - 1
    kept = {name: one for name, one in page.items() if name != "next_offset"}
    return {**kept, **_more(page), "text": "\n".join(lines[:count]), "end": end, "next_start": end + 1}


def _part_of_line(page: dict[str, Any], line: str, before: int, count: int) -> JsonObject:
    start = page["start"]
    places = {"end": start, "next_start": start, "next_offset": before + count}
    return {**page, **_more(page), "text": line[:count], **places}


def _rows(page: dict[str, Any], before: int, count: int) -> JsonObject:
    all = page["row_count"]
    first = page["next_offset"] - all if "next_offset" in page else before
    total = {} if page.get("truncated") else {"query_rows": first + all}
    facts = {"rows": page["rows"][:count], "row_count": count, "next_offset": first + count}
    return {**page, **_more(page), **facts, **total}


def _more(page: dict[str, Any]) -> JsonObject:
    return {"truncated": True} if "truncated" in page else {}
