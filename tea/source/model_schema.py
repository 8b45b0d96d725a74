"""Pydantic models to JSON Schema and back.

A model made from a schema is strict, as the schema is: give it JSON, with `model_validate_json`.
"""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from keyword import iskeyword
from types import new_class
from typing import Annotated, Any, ForwardRef, Literal, Union, cast
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WrapSerializer, create_model
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError, to_jsonable_python

from tea.components.json_schema import schema_fault
from tea.components.patterns import Pattern
from tea.errors import BadInput
from tea.source.text import one_line, words
from tea.types import JsonSchema

_WORDS = words(
    """
    $comment $defs $id $schema default definitions deprecated description examples readOnly title writeOnly
    discriminator
    """
)
_BOUNDS = {
    "minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt", "multipleOf": "multiple_of",
    "minLength": "min_length", "maxLength": "max_length", "pattern": "pattern", "minItems": "min_length",
    "maxItems": "max_length", "minProperties": "min_length", "maxProperties": "max_length",
}  # fmt: skip
_USED: Mapping[str, frozenset[str]] = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"}),
    "integer": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
    "boolean": frozenset(),
    "null": frozenset(),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}),
    "object": frozenset({"properties", "required", "additionalProperties", "minProperties", "maxProperties"}),
}
_SCALARS: Mapping[str, Any] = {"integer": int, "number": float, "boolean": bool, "null": None}
_FORMATS: Mapping[str, Any] = {
    "date-time": datetime,
    "date": date,
    "time": time,
    "duration": timedelta,
    "uuid": UUID,
}
_MOST_MATCHED = 10**9  # characters of a text times instructions of a pattern, as all may be tried for each
_CONFIG = ConfigDict(strict=True, allow_inf_nan=False, protected_namespaces=())


def schema_to_json(model: type[BaseModel]) -> JsonSchema:
    """Return a model's JSON Schema, in its validation form.

    Raises:
        BadInput: A field has a type that JSON cannot carry.
    """
    try:
        return model.model_json_schema()
    except PydanticUserError as error:
        problem = f"{model.__name__!r} has no JSON Schema: {one_line(str(error), 100)}."
        raise BadInput(problem, fix="use types that JSON can carry.") from error


def model_from_schema(schema: JsonSchema, name: str) -> type[BaseModel]:
    """Return a strict model validating the JSON values described by `schema`.

    Objects, arrays, fixed tuples, enumerations, unions, null, bounds, formats, defaults and references within the
    schema, also recursive ones through objects, are understood. Whole numbers are written without a fraction.

    Args:
        schema: A JSON Schema of type object.
        name: The model's name.

    Raises:
        BadInput: The schema is not of type object, or uses words that no model can carry.
    """
    try:
        if fault := schema_fault(schema):
            raise _refuse(f"cannot be used: {one_line(fault, 160)}")
        return _Models(schema).root(name)
    except (PydanticUserError, SchemaError, re.error, TypeError, ValueError, KeyError, AttributeError) as error:
        raise _refuse(f"cannot be used ({type(error).__name__}: {one_line(str(error), 80)})") from error
    except RecursionError:
        raise _refuse("nests too deeply") from None


class _Models:
    """The models needed by one schema, made once each."""

    def __init__(self, schema: JsonSchema) -> None:
        self.schema = schema
        self.models: dict[str, type[BaseModel]] = {}
        self.references: dict[str, Any] = {}
        self.names: set[str] = set()
        self.claimed: set[str] = set()
        self.promised: set[str] = set()

    def root(self, name: str) -> type[BaseModel]:
        """Make the whole schema's model."""
        found = self._referred("#", name)
        if not (isinstance(found, type) and issubclass(found, BaseModel)):
            raise _refuse("is not of type object with properties")
        if self.promised - self.models.keys():
            raise _refuse("refers to itself in a circle without an object")
        for model in self.models.values():
            model.model_rebuild(_types_namespace=self.models)
        return found

    def _type(self, schema: Any, name: str) -> Any:
        if schema is True or schema == {}:
            return Any
        if not isinstance(schema, dict):
            raise _refuse(f"has no use for {one_line(repr(schema), 40)}")
        said = cast("dict[str, Any]", schema)
        used = said.keys() - _WORDS
        match said:
            case {"$ref": str() as reference} if used == {"$ref"}:
                return self._referred(reference, name)
            case {"allOf": [only]} if used == {"allOf"}:
                return self._type(only, name)
            case {"anyOf": options} if used == {"anyOf"}:
                return self._union(options, name)
            case {"oneOf": options} if used == {"oneOf"}:
                return self._union(options, name)
            case {"enum": values} if used <= {"enum", "type"}:
                return _literal(values)
            case {"const": value} if used <= {"const", "type"}:
                return _literal([value])
            case {"type": kinds} if isinstance(kinds, list):
                return self._union([_only(said, kind) for kind in cast("list[str]", kinds)], name)
            case {"type": str() as kind} if kind in _USED and used <= _USED[kind] | {"type"}:
                return self._typed(kind, said, name)
            case _ if not used:
                return Any
            case _:
                raise _refuse(f"uses {', '.join(sorted(used))} in a way that no model can carry")

    def _typed(self, kind: str, schema: Mapping[str, Any], name: str) -> Any:
        if kind == "object":
            return self._object(schema, name)
        if kind == "array":
            return self._array(schema, name)
        if kind != "string":
            return _bounded(_SCALARS[kind], schema)
        found = _FORMATS.get(schema.get("format", ""))
        if found is not None:
            return found
        extra = {key: schema[key] for key in ("format", "contentEncoding", "contentMediaType") if key in schema}
        return Annotated[_bounded(str, schema), Field(json_schema_extra=extra)] if extra else _bounded(str, schema)

    def _union(self, options: list[Any], name: str) -> Any:
        kinds = tuple(self._type(option, f"{name}Option{number}") for number, option in enumerate(options, 1))
        return Union[kinds]  # noqa: UP007

    def _array(self, schema: Mapping[str, Any], name: str) -> Any:
        if "prefixItems" in schema:
            kinds = tuple(self._type(one, f"{name}Item{number}") for number, one in enumerate(schema["prefixItems"], 1))
            if not len(kinds) == schema.get("minItems") == schema.get("maxItems"):
                raise _refuse("has an array with a fixed start and an open end")
            return tuple[kinds]
        found = _bounded(list[self._type(schema.get("items", True), f"{name}Item")], schema)
        if schema.get("uniqueItems"):
            return Annotated[found, AfterValidator(_unique), Field(json_schema_extra={"uniqueItems": True})]
        return found

    def _object(self, schema: Mapping[str, Any], name: str) -> Any:
        properties: dict[str, Any] = dict(schema.get("properties", {}))
        required: list[str] = list(schema.get("required", ()))
        others = schema.get("additionalProperties")
        properties |= {key: True if others is None else others for key in required if key not in properties}
        if not properties and others is not False:
            kind = self._type(True if others is None else others, f"{name}Value")
            if "title" not in schema or others is not None:
                return _bounded(dict[str, kind], schema)
        fields: dict[str, Any] = {
            field: self._field(key, one, f"{name}{_capital(key)}", required=key in required, alias=key != field)
            for (key, one), field in zip(properties.items(), _field_names(properties), strict=True)
        }
        made = create_model(self._claim(name), __base__=self._base(others, name), **fields)
        made.__doc__ = schema.get("description")
        self.models[made.__name__] = made
        return made

    def _base(self, others: Any, name: str) -> type[BaseModel]:
        extra = {True: "allow", False: "forbid", None: "ignore"}.get(others if not isinstance(others, dict) else True)
        body: dict[str, Any] = {"model_config": {**_CONFIG, "extra": extra}, "__module__": __name__}
        if isinstance(others, dict):
            body["__annotations__"] = {"__pydantic_extra__": dict[str, self._type(others, f"{name}Value")]}
        return new_class("_Base", (BaseModel,), exec_body=lambda namespace: namespace.update(body))

    def _field(self, key: str, schema: Any, name: str, *, required: bool, alias: bool) -> Any:
        kind = self._type(schema, name)
        facts: dict[str, Any] = {"alias": key} if alias else {}
        said = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
        facts |= {fact: said[fact] for fact in ("title", "description", "examples", "deprecated") if fact in said}
        if "default" in said:
            return kind, self._default(kind, said["default"], facts)
        if required:
            return kind, Field(**facts)
        return Annotated[kind, WrapSerializer(_or_none)], Field(default_factory=_nothing, **facts)

    def _default(self, kind: Any, value: Any, facts: Mapping[str, Any]) -> Any:
        """Return the field's default: unchanged if JSON and Python agree, else read from JSON each time."""
        if (value is None or isinstance(value, str | int | float)) and kind not in _FORMATS.values():
            return Field(default=value, **facts)

        def make() -> Any:
            holder: Any = create_model("_Default", __config__=_CONFIG, value=(kind, ...))
            holder.model_rebuild(_types_namespace=self.models)
            return holder.model_validate_json(json.dumps({"value": value})).value

        return Field(default_factory=make, json_schema_extra={"default": value}, **facts)

    def _referred(self, reference: str, name: str) -> Any:
        found = self.references.get(reference)
        if found is None:
            target, own = self._target(reference, name)
            claimed = self._claim(own)
            self.claimed.add(claimed)
            self.references[reference] = ForwardRef(claimed)
            found = self.references[reference] = self._type(target, claimed)
            self.claimed.discard(claimed)
        elif isinstance(found, ForwardRef):
            self.promised.add(found.__forward_arg__)
        return found

    def _target(self, reference: str, name: str) -> tuple[Any, str]:
        if reference == "#":
            return self.schema, name
        for place in ("$defs", "definitions"):
            key = reference.removeprefix(f"#/{place}/").replace("~1", "/").replace("~0", "~")
            if reference.startswith(f"#/{place}/") and key in self.schema.get(place, {}):
                return self.schema[place][key], _capital(key)
        raise _refuse(f"refers to {one_line(repr(reference), 60)}, which it does not define")

    def _claim(self, name: str) -> str:
        """Return a unique class name, used neither by a model of this schema nor by a name of this module."""
        if name in self.claimed:
            self.claimed.discard(name)
            return name
        stem = re.sub(r"\W", "_", name, flags=re.ASCII)
        stem = stem if stem.isidentifier() and not iskeyword(stem) else f"Model{stem}"
        found, number = stem, 2
        while found in self.names or found in globals() or hasattr(builtins, found):
            found, number = f"{stem}{number}", number + 1
        self.names.add(found)
        return found


def _refuse(why: str) -> BadInput:
    return BadInput(f"The JSON Schema {why}.", fix="use objects, arrays, enums, anyOf and plain types.")


def _literal(values: list[Any]) -> Any:
    if not values or not all(one is None or isinstance(one, str | int) for one in values):
        raise _refuse("enumerates values other than texts, whole numbers, true, false and null")
    return Literal[tuple(values)]


def _only(schema: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the part of a multi-type schema for one of its types."""
    everything = frozenset[str]().union(*_USED.values())
    return {
        key: value for key, value in schema.items() if key not in everything - _USED.get(kind, everything) - _WORDS
    } | {"type": kind}


def _bounded(kind: Any, schema: Mapping[str, Any]) -> Any:
    bounds: dict[str, Any] = {_BOUNDS[key]: value for key, value in schema.items() if key in _BOUNDS}
    if kind is str and "pattern" in bounds:
        pattern = bounds.pop("pattern")
        kind = Annotated[kind, AfterValidator(_matched(pattern)), Field(json_schema_extra={"pattern": pattern})]
    return Annotated[kind, Field(**bounds)] if bounds else kind


def _matched(pattern: str) -> Callable[[str], str]:
    """Return the check of a text against a pattern, in bounded time."""
    read = Pattern(pattern)

    def check(text: str) -> str:
        if len(text) * read.size > _MOST_MATCHED:
            raise ValueError(f"it is too long to be matched with {pattern!r}")
        if not read.matches(text):
            raise ValueError(f"it does not match {pattern!r}")
        return text

    return check


def _field_names(properties: Mapping[str, Any]) -> list[str]:
    """Return an attribute name for each property: its own, unless Python or pydantic needs it."""
    names: list[str] = []
    for key in properties:
        stem = re.sub(r"\W", "_", key, flags=re.ASCII).strip("_") or "field"
        good = key.isascii() and key.isidentifier() and not iskeyword(key) and not key.startswith("_")
        found = stem if good and not hasattr(BaseModel, stem) else f"field_{stem}"
        while found in names or (found != key and found in properties):
            found += "_"
        names.append(found)
    return names


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _unique(values: list[Any]) -> list[Any]:
    seen = {json.dumps(to_jsonable_python(one), sort_keys=True) for one in values}
    if len(seen) < len(values):
        raise ValueError("items are not unique")
    return values


def _or_none(value: Any, dump: Callable[[Any], Any]) -> Any:
    return None if value is None else dump(value)


def _nothing() -> None:
    """Return None, as the default of an optional property; a plain None would appear in the schema."""
