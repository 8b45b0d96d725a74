"""Plain values: values unchanged by JSON are checked without JSON text; all others are encoded strictly first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import Parameter
from math import isfinite
from typing import Any, cast

from pydantic_core import to_json

from tea.types import JsonObject, JsonValue

_LARGEST = 2**63
_UNCHANGED: Mapping[Any, Callable[[Any], bool]] = {  # a type by itself, no subclass, and which of its values
    str: str.isascii,
    int: lambda number: -_LARGEST <= number < _LARGEST,
    float: isfinite,
    bool: lambda _: True,
    type(None): lambda _: True,
}
_FLAT = _UNCHANGED.keys() - {float}
_strict = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainParameters:
    """Parameters of plain types, with arguments mostly validated by a look at their types.

    Args:
        kinds: The type of each.
        required: Those without a default.
    """

    kinds: Mapping[str, type]
    required: frozenset[str]

    @classmethod
    def of(cls, parameters: Iterable[Parameter], hints: Mapping[str, Any]) -> PlainParameters | None:
        """Return parameters, None if one of them, or its default, is of any other type."""
        kinds, required = dict[str, type](), set[str]()
        for one in parameters:
            kind = hints[one.name]
            if not isinstance(kind, type) or kind not in _UNCHANGED:
                return None
            if one.default is one.empty:
                required.add(one.name)
            elif type(one.default) is not kind:
                return None
            kinds[one.name] = kind
        return cls(kinds=kinds, required=frozenset(required))

    def fit(self, arguments: JsonObject) -> bool:
        """Return whether arguments certainly equal their validated JSON; if not, validation decides."""
        given, kinds = cast("dict[str, object]", arguments), self.kinds
        if type(given) is not dict or (len(given) < len(kinds) and not self.required <= given.keys()):
            return False
        for name, value in given.items():
            kind = type(value)
            if kind is not kinds.get(name) or not _UNCHANGED[kind](value):
                return False
        return True


def is_plain(value: object, kind: Any) -> bool:
    """Return whether a value is exactly of the given type, and certainly unchanged by JSON."""
    return type(value) is kind and kind in _UNCHANGED and _UNCHANGED[kind](value)


def strict_json(value: JsonValue) -> bytes:
    """Return strict JSON; NaN, infinities and half characters are a ValueError."""
    return _strict.encode(value).encode()


def strict_object(arguments: JsonObject) -> bytes:
    """Return strict JSON of arguments, with a fast path for flat ones, equal in all libraries except for failures."""
    if type(arguments) is dict:
        for value in cast("dict[str, object]", arguments).values():
            if type(value) not in _FLAT:
                break
        else:
            try:
                return to_json(arguments)
            except ValueError:
                pass  # the strict encoder says better what is wrong
    return strict_json({**arguments})
