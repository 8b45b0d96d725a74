"""Serializer: the door to serialization by core schemas, as pydantic calls it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from tea.untrusted.portable.faults import PydanticOmit, PydanticSerializationError, PydanticUndefined
from tea.untrusted.portable.models import members_of
from tea.untrusted.portable.output import Output, inferred, key
from tea.untrusted.portable.state import Schema

Put = Callable[[Any, Output], Any]
_INNER = (
    "function-before", "function-after", "function-wrap", "default", "custom-error", "lax-or-strict", "json-or-python",
    "chain", "json",
)  # fmt: skip
_OF_TYPE: Mapping[str, tuple[type, ...]] = {
    "none": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "decimal": (Decimal,),
    "str": (str,),
    "bytes": (bytes,),
    "uuid": (UUID,),
    "date": (date,),
    "datetime": (datetime,),
    "time": (time,),
    "timedelta": (timedelta,),
    "list": (list,),
    "tuple": (tuple,),
    "set": (set,),
    "frozenset": (frozenset,),
    "dict": (dict,),
    "typed-dict": (dict,),
}


class _Unfit(Exception):
    """A value other than its schema describes."""


class _Writers:
    """Makes the writers of one core schema."""

    def __init__(self) -> None:
        self.definitions: dict[str, Put] = {}
        self._kinds: Mapping[str, Callable[[Schema], Put]] = {
            "list": self._items,
            "set": self._items,
            "frozenset": self._items,
            "generator": self._items,
            "tuple": self._places,
            "dict": self._mapping,
            "nullable": self._nullable,
            "union": self._union,
            "tagged-union": self._union,
            "definitions": self._definitions,
            "definition-ref": lambda schema: self._named(schema["schema_ref"]),
            "typed-dict": self._typed_dict,
            "model-fields": self._typed_dict,
            "model": self._model,
            "dataclass": self._dataclass,
        }

    def make(self, schema: Schema) -> Put:
        """Return the writer of a schema."""
        made = self._made(schema)
        told = schema.get("serialization")
        if told is not None:
            made = self._special_writer(told, made)
        if "ref" in schema:
            self.definitions.setdefault(schema["ref"], made)
        return made

    def _made(self, schema: Schema) -> Put:
        kind = schema["type"]
        if kind in self._kinds:
            return self._kinds[kind](schema)
        if kind in _INNER:
            inner = schema.get("schema") or schema.get("python_schema") or schema.get("strict_schema")
            inner = schema["json_schema"] if kind == "json-or-python" else inner
            return inferred if inner is None or kind == "chain" else self.make(inner)
        return inferred

    def _special_writer(self, schema: Schema, made: Put) -> Put:
        """Return the writer of a schema with a form of its own."""
        kind, when = schema["type"], schema.get("when_used")
        if kind in ("function-plain", "function-wrap"):
            return self._function(schema, made)
        if kind in ("to-string", "format"):
            form = schema.get("formatting_string", "")
            return _when(
                when or "json-unless-none", lambda value, output: format(value, form) if form else str(value), made
            )
        if kind in ("include-exclude-dict", "include-exclude-sequence"):
            return made
        return self._made(schema) if kind in self._kinds or kind in _OF_TYPE or kind == "any" else made

    def _function(self, schema: Schema, made: Put) -> Put:
        work: Any = schema["function"]
        of_field, informed = schema.get("is_field_serializer"), schema.get("info_arg")
        inner = self.make(schema["schema"]) if "schema" in schema else made
        after = self.make(schema["return_schema"]) if "return_schema" in schema else inferred

        def put(value: Any, output: Output) -> Any:
            given: list[Any] = [output.model, value] if of_field else [value]
            if schema["type"] == "function-wrap":
                given.append(lambda one, *_: inner(one, output))  # pyright: ignore[reportUnknownLambdaType]
            if informed:
                given.append(output)
            name, model = output.field_name, output.model
            found = work(*given)
            output.field_name, output.model = name, model
            return after(found, output)

        return _when(schema.get("when_used", "always"), put, made)

    def _items(self, schema: Schema) -> Put:
        item = self.make(schema["items_schema"]) if schema.get("items_schema") else inferred
        kind = _OF_TYPE.get(schema["type"])

        def put(value: Any, output: Output) -> Any:
            if kind is not None and not isinstance(value, kind):
                return inferred(value, output)
            found = [
                output.at(place, lambda one=one: item(one, output))
                for place, one in enumerate(value)
                if output.below(place) is not None
            ]
            return found if output.json or kind is None else kind[0](found)

        return put

    def _places(self, schema: Schema) -> Put:
        items: list[Put] = [self.make(one) for one in schema["items_schema"]]
        variadic = schema.get("variadic_item_index")

        def put(value: Any, output: Output) -> Any:
            if not isinstance(value, tuple):
                return inferred(value, output)
            given = cast("tuple[Any, ...]", value)
            wanted: list[Put] = items
            if variadic is not None:
                more = max(0, len(given) - len(items) + 1)
                wanted = [*items[:variadic], *[items[variadic]] * more, *items[variadic + 1 :]]
            wanted = [*wanted, *[inferred] * (len(given) - len(wanted))]
            found = [
                output.at(place, lambda one=one, item=item: item(one, output))
                for place, (one, item) in enumerate(zip(given, wanted, strict=False))
                if output.below(place) is not None
            ]
            return found if output.json else tuple(found)

        return put

    def _mapping(self, schema: Schema) -> Put:
        keys, values = (self.make(schema.get(f"{name}_schema") or {"type": "any"}) for name in ("keys", "values"))

        def put(value: Any, output: Output) -> Any:
            if not isinstance(value, dict):
                return inferred(value, output)
            found: dict[Any, Any] = {}
            for name, one in cast("dict[Any, Any]", value).items():
                if output.below(name) is not None:
                    shown = keys(name, output)
                    found[key(shown, output) if output.json else shown] = output.at(
                        name, lambda one=one: values(one, output)
                    )
            return found

        return put

    def _nullable(self, schema: Schema) -> Put:
        inner = self.make(schema["schema"])
        return lambda value, output: None if value is None else inner(value, output)

    def _union(self, schema: Schema) -> Put:
        listed: Any = schema["choices"]
        given: list[Any] = list(cast("dict[Any, Any]", listed).values() if schema["type"] == "tagged-union" else listed)
        schemas = [cast("Schema", one[0] if isinstance(one, tuple) else one) for one in given]
        choices = [(self.make(one), self._fits(one)) for one in schemas]

        def put(value: Any, output: Output) -> Any:
            for exactly in (True, False):
                for inner, fits in choices:
                    if fits(value, exactly):
                        try:
                            return inner(value, output)
                        except (PydanticSerializationError, _Unfit):
                            continue
            return inferred(value, output)

        return put

    def _fits(self, schema: Schema) -> Callable[[Any, bool], bool]:
        """Return a function telling whether a value is of a schema's kind, exactly or as a subclass."""
        kind = schema["type"]
        if kind in ("model", "dataclass", "enum", "is-instance"):
            return lambda value, exactly: type(value) is schema["cls"] if exactly else isinstance(value, schema["cls"])
        if kind in _OF_TYPE:
            types = _OF_TYPE[kind]
            return lambda value, exactly: type(value) is types[0] if exactly else isinstance(value, types)
        if kind == "literal":
            return lambda value, exactly: any(type(one) is type(value) and one == value for one in schema["expected"])
        if kind == "nullable":
            inner = self._fits(schema["schema"])
            return lambda value, exactly: value is None or inner(value, exactly)
        if kind in _INNER and "schema" in schema:
            return self._fits(schema["schema"])
        return lambda value, exactly: not exactly

    def _definitions(self, schema: Schema) -> Put:
        for one in schema["definitions"]:
            self.make(one)
        return self.make(schema["schema"])

    def _named(self, ref: str) -> Put:
        return lambda value, output: self.definitions[ref](value, output)

    def _typed_dict(self, schema: Schema) -> Put:
        members = self._members(schema, schema["fields"].items())

        def put(value: Any, output: Output) -> Any:
            if isinstance(value, tuple):  # a model's triple
                data, extra, _ = cast("tuple[dict[str, Any], dict[str, Any] | None, set[str]]", value)
                return members({**data, **(extra or {})}, output, None)
            if not isinstance(value, dict):
                return inferred(value, output)
            return members(cast("dict[str, Any]", value), output, None)

        return put

    def _members(self, schema: Schema, listed: Any) -> Callable[[dict[str, Any], Output, set[str] | None], Any]:
        """Return the writer of an object's members; it is told the names of the given ones."""
        fields = {name: (told, self.make(told["schema"]), _default(told["schema"])) for name, told in listed}
        computed = [(one, self.make(one["return_schema"])) for one in schema.get("computed_fields", ())]

        def put(data: dict[str, Any], output: Output, given: set[str] | None) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for name, value in data.items():
                told, inner, default = fields.get(name, ({}, inferred, PydanticUndefined))
                if not _is_written(name, value, told, default, output, given):
                    continue
                shown = told.get("serialization_alias") if output.by_alias else None
                before, output.field_name = output.field_name, name
                try:
                    found[shown or name] = output.at(name, lambda inner=inner, value=value: inner(value, output))
                except PydanticOmit:
                    continue
                finally:
                    output.field_name = before
            if output.model is not None and not output.round_trip and not output.exclude_computed_fields:
                for one, inner in computed:
                    name = one["property_name"]
                    value = getattr(output.model, name)
                    if output.below(name) is not None and not (output.exclude_none and value is None):
                        shown = one.get("alias", name) if output.by_alias else name
                        found[shown] = output.at(name, lambda inner=inner, value=value: inner(value, output))
            return found

        return put

    def _model(self, schema: Schema) -> Put:
        cls, root = schema["cls"], bool(schema.get("root_model"))
        inside = _fields_of(schema["schema"])
        inner = self.make(schema["schema"])
        members = None if root or inside is None else self._members(inside, inside["fields"].items())

        def put(value: Any, output: Output) -> Any:
            if not isinstance(value, cls):
                return inferred(value, output)
            if output.serialize_as_any and type(value) is not cls:
                return inferred(value, output)
            before, output.model = output.model, value
            try:
                if root:
                    return inner(value.root, output)
                if members is None:
                    return inferred(members_of(value), output)
                return members(members_of(value), output, value.__pydantic_fields_set__)
            finally:
                output.model = before

        return put

    def _dataclass(self, schema: Schema) -> Put:
        cls, names = schema["cls"], list(schema["fields"])
        inside = _fields_of(schema["schema"])
        listed = [(one["name"], one) for one in inside["fields"]] if inside is not None else []
        members = self._members(inside or {}, listed)

        def put(value: Any, output: Output) -> Any:
            if not isinstance(value, cls):
                return inferred(value, output)
            before, output.model = output.model, value
            try:
                return members({name: getattr(value, name) for name in names if hasattr(value, name)}, output, None)
            finally:
                output.model = before

        return put


def _fields_of(schema: Schema) -> Schema | None:
    """Return the schema listing members, inside of functions around it."""
    while "fields" not in schema:
        if "schema" not in schema:
            return None
        schema = schema["schema"]
    return schema


def _default(schema: Schema) -> Any:
    return schema.get("default", PydanticUndefined) if schema["type"] == "default" else PydanticUndefined


def _is_written(name: str, value: Any, schema: Schema, default: Any, output: Output, given: set[str] | None) -> bool:
    """Return whether the output contains a member."""
    if schema.get("serialization_exclude") or output.below(name) is None:
        return False
    if (output.exclude_none and value is None) or (output.exclude_unset and given is not None and name not in given):
        return False
    leaves = schema.get("serialization_exclude_if")
    if leaves is not None and leaves(value):
        return False
    return not (output.exclude_defaults and default is not PydanticUndefined and value == default)


def _when(when: str, work: Put, otherwise: Put) -> Put:
    """Return a writer used in some outputs alone."""

    def put(value: Any, output: Output) -> Any:
        used = (output.json or "json" not in when) and not ("unless-none" in when and value is None)
        return (work if used else otherwise)(value, output)

    return put


class SchemaSerializer:
    """Serializes values by a core schema.

    Args:
        schema: The schema.
        config: The configuration around it.
    """

    def __init__(self, schema: Schema, config: Mapping[str, Any] | None = None, _use_prebuilt: bool = True) -> None:
        self._schema = schema
        self._config: dict[str, Any] = {**(config or {}), **(schema.get("config") or {})}
        self.put = _Writers().make(schema)

    def __reduce__(self) -> Any:
        return SchemaSerializer, (self._schema, self._config)

    def to_python(self, value: Any, *, mode: str | None = None, **given: Any) -> Any:
        """Return a value in the form of its schema.

        Raises:
            PydanticSerializationError: It has none.
        """
        return self.put(value, Output(mode or "python", given, self._config))

    def to_json(self, value: Any, *, indent: int | None = None, ensure_ascii: bool = False, **given: Any) -> bytes:
        """Return a value as JSON.

        Raises:
            PydanticSerializationError: It has no such form.
        """
        output = Output("json", given, self._config)
        return _dumped(self.put(value, output), output, indent, ensure_ascii=ensure_ascii)


def to_jsonable_python(value: Any, **given: Any) -> Any:
    """Return a value as plain JSON data.

    Raises:
        PydanticSerializationError: It has no such form.
    """
    return inferred(value, Output("json", {"by_alias": True, **given}, {}))


def to_json(value: Any, *, indent: int | None = None, ensure_ascii: bool = False, **given: Any) -> bytes:
    """Return a value as JSON.

    Raises:
        PydanticSerializationError: It has no such form.
    """
    output = Output("json", {"by_alias": True, "inf_nan_mode": "constants", **given}, {})
    return _dumped(inferred(value, output), output, indent, ensure_ascii=ensure_ascii)


def _dumped(data: Any, output: Output, indent: int | None, *, ensure_ascii: bool) -> bytes:
    found = _finite(data) if output.infinite == "null" else data
    separators = (",", ":") if indent is None else (",", ": ")
    try:
        return json.dumps(found, indent=indent, ensure_ascii=ensure_ascii, separators=separators).encode()
    except UnicodeEncodeError as error:
        raise PydanticSerializationError(f"invalid text: {error}") from error


def _finite(data: Any) -> Any:
    """Return plain data with nothing in place of numbers unknown to JSON."""
    if isinstance(data, dict):
        return {name: _finite(one) for name, one in cast("dict[str, Any]", data).items()}
    if isinstance(data, list):
        return [_finite(one) for one in cast("list[Any]", data)]
    return None if isinstance(data, float) and not math.isfinite(data) else data


__all__ = ["SchemaSerializer", "to_json", "to_jsonable_python"]
