"""Output: the facts of one serialization, and the forms of values described by no schema."""

from __future__ import annotations

import base64
import dataclasses
import math
import re
from collections import deque
from collections.abc import Callable, Generator, KeysView, Mapping, ValuesView
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from pathlib import PurePath
from typing import Any, cast
from uuid import UUID

from tea.untrusted.portable.faults import PydanticSerializationError
from tea.untrusted.portable.times import iso_duration, iso_time

_MOST_DEEP = 200
_AS_TEXT = (UUID, PurePath, IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network)
_LISTS: tuple[type, ...] = (list, tuple, set, frozenset, deque, Generator, KeysView, ValuesView)


class Output:
    """The facts of one serialization, for the functions taking part in it.

    Args:
        mode: `python` or `json`.
        given: The options of the call.
        config: Those of the schema around.
    """

    def __init__(self, mode: str, given: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        self.mode = mode
        self.include, self.exclude = given.get("include"), given.get("exclude")
        by_alias = given.get("by_alias")
        self.by_alias = bool(config.get("serialize_by_alias")) if by_alias is None else bool(by_alias)
        self.exclude_unset, self.exclude_defaults, self.exclude_none, self.exclude_computed_fields = (
            bool(given.get(f"exclude_{name}")) for name in ("unset", "defaults", "none", "computed_fields")
        )
        self.round_trip, self.serialize_as_any = bool(given.get("round_trip")), bool(given.get("serialize_as_any"))
        self.polymorphic_serialization = given.get("polymorphic_serialization")
        self.context, self.fallback = given.get("context"), given.get("fallback")
        self.unknown = bool(given.get("serialize_unknown"))
        self.given = given
        self.duration = given.get("timedelta_mode") or config.get("ser_json_timedelta", "iso8601")
        self.bytes = given.get("bytes_mode") or config.get("ser_json_bytes", "utf8")
        self.infinite = given.get("inf_nan_mode") or config.get("ser_json_inf_nan", "null")
        self.model: Any = None
        self.field_name: str | None = None
        self.depth = 0

    @property
    def json(self) -> bool:
        """Whether the result is to be plain JSON data."""
        return self.mode == "json"

    def mode_is_json(self) -> bool:
        """Return whether the result is to be plain JSON data."""
        return self.json

    def below(self, key: Any) -> tuple[Any, Any] | None:
        """Return the inclusions and exclusions below a key, None if the key itself is left out."""
        include, exclude = _part(self.include, key), _part(self.exclude, key)
        if (self.include is not None and include is None) or exclude is True:
            return None
        return (None if include is True else include), exclude

    def at(self, key: Any, work: Callable[[], Any]) -> Any:
        """Run work with the inclusions and exclusions below a key."""
        before = self.include, self.exclude
        self.include, self.exclude = self.below(key) or (None, None)
        self.depth += 1
        try:
            if self.depth > _MOST_DEEP:
                raise ValueError("Circular reference detected (depth exceeded)")
            return work()
        finally:
            self.depth -= 1
            self.include, self.exclude = before


def _part(chosen: Any, key: Any) -> Any:
    """Return a choice's word on a key: True, a further choice, or None."""
    if chosen is None:
        return None
    if isinstance(chosen, Mapping):
        found = cast("Mapping[Any, Any]", chosen).get(key, cast("Mapping[Any, Any]", chosen).get("__all__"))
        return True if found is ... else (found or None)
    return True if key in chosen or "__all__" in chosen else None


def inferred(value: Any, output: Output) -> Any:
    """Return a value in the form of the output, told by its own type."""
    kind = cast("Any", type(value))
    if hasattr(kind, "__pydantic_serializer__") and not isinstance(value, type):
        return _by_itself(value, kind, output)
    if isinstance(value, Enum):
        return inferred(value.value, output) if output.json else value
    if isinstance(value, dict):
        return _mapping(cast("dict[Any, Any]", value), output)
    if isinstance(value, _LISTS) and not (isinstance(value, Generator) and not output.json):
        return _listed(cast("Any", value), output)
    if dataclasses.is_dataclass(kind):
        names = [one.name for one in dataclasses.fields(kind)]
        return _mapping({name: getattr(cast("Any", value), name) for name in names}, output)
    return plain(value, output) if output.json else cast("Any", value)


def _by_itself(value: Any, kind: Any, output: Output) -> Any:
    """Write an instance of a model or a dataclass of pydantic, built now if it was not yet."""
    if not hasattr(kind.__pydantic_serializer__, "put") and hasattr(kind, "model_rebuild"):
        kind.model_rebuild()
    return kind.__pydantic_serializer__.put(value, output)


def _mapping(value: dict[Any, Any], output: Output) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for name, one in value.items():
        if output.below(name) is not None and not (output.exclude_none and one is None):
            found[key(name, output) if output.json else name] = output.at(name, lambda one=one: inferred(one, output))
    return found


def _listed(value: Any, output: Output) -> Any:
    made = [
        output.at(place, lambda one=one: inferred(one, output))
        for place, one in enumerate(value)
        if output.below(place) is not None
    ]
    if output.json or isinstance(value, list):
        return made
    kind = next((one for one in (tuple, set, frozenset, deque) if isinstance(value, one)), list)
    return cast("Any", kind)(made)


def key(value: Any, output: Output) -> str:
    """Return the name of a member in JSON."""
    if isinstance(value, Enum):
        return key(value.value, output)
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or isinstance(value, bool):
        return {None: "None", True: "true", False: "false"}[value]
    if isinstance(value, tuple):
        return ",".join(key(one, output) for one in cast("tuple[Any, ...]", value))
    found = plain(value, output)
    return found if isinstance(found, str) else str(found)


def plain(value: Any, output: Output) -> Any:
    """Return a single value as plain JSON data."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _number(float(value), output)
    if isinstance(value, datetime | time):
        return iso_time(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds() if output.duration == "float" else iso_duration(value)
    if isinstance(value, bytes | bytearray):
        return _encoded(bytes(value), output)
    if isinstance(value, (Decimal, *_AS_TEXT)):
        return str(value)
    if isinstance(value, re.Pattern):
        return cast("re.Pattern[str]", value).pattern
    if output.fallback is not None:
        return inferred(output.fallback(value), output)
    if output.unknown:
        return str(value)
    raise PydanticSerializationError(f"Unable to serialize unknown type: {type(value)}")


def _number(value: float, output: Output) -> Any:
    if math.isfinite(value) or output.infinite != "strings":
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _encoded(value: bytes, output: Output) -> str:
    if output.bytes == "base64":
        return base64.urlsafe_b64encode(value).decode()
    if output.bytes == "hex":
        return value.hex()
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise PydanticSerializationError(f"invalid utf-8 sequence: {error}") from error
