"""Forms: texts, numbers and lists as scorers compare them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from tea.components.equality import number_of
from tea.errors import TeaError
from tea.store.files import parse_json_strict
from tea.types import JsonValue

_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3}){1,110}|\d+)?(?:\.\d+|\d|\.(?=\s|$))(?:[eE][-+]?\d+)?")
_FENCE = re.compile(r"```[A-Za-z0-9_+-]*[ \t]*\n(.*?)```", re.DOTALL)


def decoded(text: str) -> JsonValue:
    """Return the JSON list or object written as a text, else the text."""
    if not text.strip().startswith(("[", "{")):
        return text
    try:
        return parse_json_strict(text.encode(), "it")
    except TeaError:
        return text


def only_number(text: str) -> float | None:
    """Return a text's number if it is one, or the only number in it; else None."""
    whole = number_of(text)
    if whole is not None:
        return whole
    found = {number_of(one[0]) for one in _NUMBER.finditer(text.replace("\u2212", "-"))}
    return found.pop() if len(found) == 1 else None


def items_of(value: JsonValue) -> list[JsonValue]:
    """Return the items of a list: of a JSON list, or of a text with commas, semicolons or lines between them."""
    if isinstance(value, str):
        value = decoded(value)
    if isinstance(value, list):
        return cast("list[Any]", value)
    if value is None or isinstance(value, Mapping):
        return [] if value is None else [value]
    if not isinstance(value, str):
        return [value]
    return [item for one in re.split(r"[,;\n]", value) if (item := one.strip().lstrip("-*• ").strip())]


def unfenced(text: str) -> str:
    """Return the last fenced block of a text, else the text."""
    blocks = _FENCE.findall(text)
    return blocks[-1] if blocks else text
