"""Names of members inside arguments: those unknown to models and dataclasses, otherwise dropped."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from tea.types import JsonObject, JsonValue

_FIELDS: Mapping[str, str] = {"model": "model-fields", "dataclass": "dataclass-args", "typed-dict": "typed-dict"}
_WITHIN: Mapping[str, str] = {  # where a schema holds the one of the same value
    "call": "arguments_schema",
    "default": "schema",
    "definitions": "schema",
    "function-after": "schema",
    "json-or-python": "json_schema",
    "lax-or-strict": "strict_schema",
    "nullable": "schema",
}
_LISTS = frozenset(("list", "set", "frozenset", "tuple"))
_OPEN = frozenset(("any", "chain", "function-before", "function-plain", "function-wrap"))  # they may read all names
_MOST_DEEP = 100
_MOST_STEPS = 200_000
_ALIKE = 0.5

Schema = Mapping[str, Any]
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """An unknown name of an object inside of arguments.

    Args:
        path: Where it stands.
        known: The names that are known there.
    """

    path: Path
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))}: Unexpected keyword argument"

    @property
    def hint(self) -> str:
        """A question for the nearest known name; empty if there is none."""
        names = {one.casefold(): one for one in self.known}
        near = difflib.get_close_matches(str(self.path[-1]).casefold(), names, n=1, cutoff=_ALIKE)
        return f"did you mean {names[near[0]]!r}? " if near else ""


class MemberNames:
    """The names of members in the types of parameters.

    Args:
        schema: Pydantic's core schema of the arguments.
    """

    def __init__(self, schema: Any) -> None:
        self._schema = cast(Schema, schema)
        definitions: Iterable[Schema] = self._schema.get("definitions", ())
        self._known = {str(one["ref"]): one for one in definitions if "ref" in one}

    def unknown(self, arguments: JsonObject) -> list[Unknown]:
        """Return the unknown names inside of arguments; types with further names know all.

        Args:
            arguments: JSON data.
        """
        try:
            return _Search(known=self._known).look(self._schema, arguments, ()) or []
        except _Endless:  # choices within choices multiply
            return []


class _Endless(Exception):
    """A search takes more steps than it may."""


@dataclass(slots=True, kw_only=True)
class _Search:
    """A search for unknown names, of at most so many steps."""

    known: Mapping[str, Schema]
    left: int = _MOST_STEPS

    def look(self, schema: Schema, value: JsonValue, path: Path) -> list[Unknown] | None:
        """Return the unknown names in a value, None where its schema is for another kind of value."""
        self.left -= 1
        if self.left < 0:
            raise _Endless
        kind = _kind(schema)
        if kind in _OPEN or len(path) > _MOST_DEEP:
            return []
        if kind == "definition-ref":
            known = self.known.get(str(schema["schema_ref"]))
            return [] if known is None else self.look(known, value, path)
        if kind in ("union", "tagged-union"):
            return self._chosen(schema, value, path)
        if schema.get("root_model"):
            return self.look(schema["schema"], value, path)
        if kind in _WITHIN:
            return self.look(schema[_WITHIN[kind]], value, path)
        if isinstance(value, dict):
            return self._object(schema, cast("dict[str, Any]", value), path)
        if isinstance(value, list) and kind in _LISTS:
            return self._list(schema, cast("list[Any]", value), path)
        return None

    def _object(self, schema: Schema, value: Mapping[str, Any], path: Path) -> list[Unknown] | None:
        kind = _kind(schema)
        if kind == "arguments":
            inner: dict[str, Schema] = {str(one["name"]): one["schema"] for one in schema["arguments_schema"]}
        elif kind == "dict":
            inner = dict.fromkeys(value, cast(Schema, schema.get("values_schema") or {}))
        elif kind in _FIELDS:
            return self._members(schema, value, path)
        else:
            return None
        found = [self.look(inner[name], one, (*path, name)) for name, one in value.items() if name in inner]
        return [one for some in found for one in some or ()]

    def _members(self, schema: Schema, value: Mapping[str, Any], path: Path) -> list[Unknown]:
        """Return the unknown names in an object of a class."""
        fields: Schema = schema if _kind(schema) == "typed-dict" else schema["schema"]
        while _kind(fields) == "function-after":
            fields = fields["schema"]
        if _kind(fields) != _FIELDS[_kind(schema)]:  # a function may read all names
            return []
        by_name = {name: one for one, names in _fields(schema, fields) for name in names}
        found: list[Unknown] = []
        for name, one in value.items():
            if name in by_name:
                found += self.look(by_name[name]["schema"], one, (*path, name)) or []
            elif not _says_extra(schema, fields):
                found.append(Unknown(path=(*path, name), known=tuple(by_name)))
        return found

    def _list(self, schema: Schema, value: list[Any], path: Path) -> list[Unknown]:
        items: Any = schema.get("items_schema")
        inner = cast("list[Schema]", items) if isinstance(items, list) else [cast(Schema, items)] * len(value)
        found = (self.look(of, one, (*path, at)) for at, (of, one) in enumerate(zip(inner, value, strict=False)) if of)
        return [one for some in found for one in some or ()]

    def _chosen(self, schema: Schema, value: JsonValue, path: Path) -> list[Unknown] | None:
        """Return the unknown names in a value for the choice with the fewest."""
        given: Any = schema["choices"]
        choices: list[Any] = [*cast("dict[str, Any]", given).values()] if isinstance(given, dict) else given
        schemas = [cast(Schema, one[0] if isinstance(one, tuple) else one) for one in choices]
        found = [one for one in (self.look(each, value, path) for each in schemas) if one is not None]
        return min(found, key=len) if found else None


def holds_names(schema: object) -> bool:
    """Return whether a core schema holds a class with members."""
    if isinstance(schema, dict):
        whole = cast("dict[str, Any]", schema)
        return whole.get("type") in _FIELDS or any(map(holds_names, whole.values()))
    return isinstance(schema, list | tuple) and any(map(holds_names, cast("list[Any]", schema)))


def _kind(schema: Schema) -> str:
    return str(schema.get("type", "any"))


def _fields(schema: Schema, fields: Schema) -> Iterable[tuple[Schema, list[str]]]:
    """Yield each field with its names in arguments."""
    given: Any = fields["fields"]
    config: Schema = schema.get("config") or {}
    by_name = config.get("validate_by_name") or config.get("populate_by_name")
    whole = {str(one["name"]): one for one in cast("list[Schema]", given)} if isinstance(given, list) else given
    for name, one in cast("dict[str, Schema]", whole).items():
        alias = one.get("validation_alias")
        names = [*_first_names(alias)] if alias is not None else []
        yield one, [*names, name] if by_name or not names else names


def _first_names(alias: Any) -> Iterable[str]:
    """Yield the names of members at the beginning of an alias: it is a name, a path, or several paths."""
    if isinstance(alias, str):
        yield alias
    elif isinstance(alias, list) and alias:
        listed = cast("list[Any]", alias)
        yield from (str(one[0]) for one in (listed if isinstance(listed[0], list) else [listed]))


def _says_extra(schema: Schema, fields: Schema) -> bool:
    """Return whether a class itself decides about further names, or reads them in its own way."""
    config: Schema = schema.get("config") or {}
    if _kind(schema) == "typed-dict":  # its names are a promise to readers, and callers hand on whole objects
        return True
    said = "extra_fields_behavior" in config or "extra_behavior" in fields
    return said or bool(schema.get("custom_init"))
