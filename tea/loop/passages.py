"""Passages of search results, each shown once in a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from tea.types import JsonValue

GIVEN = "[given above already]"
_LEAST = 100  # characters of a text worth a reference


def once(value: JsonValue, earlier: Callable[[], Iterable[JsonValue]]) -> JsonValue:
    """Return a result with a short reference in place of each passage found in earlier ones.

    Args:
        value: The result; its passages are the objects with `url` and `text` in its lists.
        earlier: Returns the results still to be read whole; asked for only where the result has passages.
    """
    if not any(True for _ in _passages(value)):
        return value
    given = {(one["url"], one["text"]) for other in earlier() for one in _passages(other) if len(one["text"]) >= _LEAST}

    def told(one: Any) -> Any:
        passage = _is_passage(one) and (one["url"], one["text"]) in given
        return {**one, "text": GIVEN} if passage else one

    members = cast("Mapping[str, Any]", value)
    return {
        name: [told(one) for one in cast("list[Any]", member)] if isinstance(member, list) else member
        for name, member in members.items()
    }


def _passages(value: JsonValue) -> Iterator[Mapping[str, str]]:
    if isinstance(value, Mapping):
        lists = (cast("list[Any]", one) for one in cast("Mapping[str, Any]", value).values() if isinstance(one, list))
        yield from (one for rows in lists for one in rows if _is_passage(one))


def _is_passage(one: Any) -> bool:
    if not isinstance(one, Mapping):
        return False
    row = cast("Mapping[str, Any]", one)
    return isinstance(row.get("url"), str) and isinstance(row.get("text"), str)
