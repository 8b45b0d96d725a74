"""Choice: validators built of other validators, and those of functions."""

from __future__ import annotations

import copy
import enum
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, cast

from tea.untrusted.portable.faults import (
    Fault,
    PydanticCustomError,
    PydanticKnownError,
    PydanticOmit,
    PydanticUndefined,
    PydanticUseDefault,
    Some,
    ValidationError,
    called,
    gathered,
)
from tea.untrusted.portable.state import Builder, Check, Info, Schema, State, option

_IN_JSON_EXACT: tuple[type, ...] = (list, tuple, set, frozenset)
_ALIKE: tuple[tuple[type, ...], ...] = ((str,), (int, float, Decimal), (tuple, list))


def literal(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of some values alone."""
    expected: list[Any] = list(schema["expected"])
    words = _listed([repr(one.value if isinstance(one, enum.Enum) else one) for one in expected])

    def check(value: Any, state: State) -> Any:
        for one in expected:
            if one == value and (type(one) is type(value) or (type(one) is int and type(value) in (bool, float))):
                return one
        for one in expected:
            if isinstance(one, enum.Enum) and state.json and type(one.value) is type(value) and one.value == value:
                return one
        raise Fault.of("literal_error", value, expected=words)

    return check


def enumeration(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of the members of an enumeration."""
    cls, members = schema["cls"], list(schema["members"])
    strict, missing = option(schema, config, "strict", False), schema.get("missing")
    words = _listed([repr(one.value) for one in members])

    def check(value: Any, state: State) -> Any:
        if isinstance(value, cls):
            return value
        if state.is_strict(strict) and not state.json:
            raise Fault.of("is_instance_of", value, **{"class": cls.__name__})
        for one in members:
            if one.value == value and (type(one.value) is type(value) or _alike(one.value, value)):
                return one
        if missing is not None and (found := missing(value)) is not None:
            return found
        raise Fault.of("enum", value, expected=words)

    return check


def _alike(one: Any, other: Any) -> bool:
    """Return whether both are texts, or both numbers and none a truth value."""
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    return any(isinstance(one, kind) and isinstance(other, kind) for kind in _ALIKE)


def nullable(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator also passing None."""
    inner = build.build(schema["schema"], config)
    return lambda value, state: None if value is None else inner(value, state)


def default(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator with a default."""
    inner = build.build(schema["schema"], config)
    on_error = schema.get("on_error", "raise")

    def check(value: Any, state: State) -> Any:
        try:
            return inner(value, state) if value is not PydanticUndefined else _default(state)
        except PydanticUseDefault:
            return _default(state)
        except Fault:
            if on_error == "omit":
                raise PydanticOmit from None
            if on_error == "default":
                return _default(state)
            raise

    def _default(state: State) -> Any:
        found = default_of(schema, state, config, inner)
        return found.value if found is not None else PydanticUndefined

    return check


def default_of(schema: Schema, state: State, config: Mapping[str, Any], inner: Check | None = None) -> Some | None:
    """Return the default of a schema, None without one.

    Args:
        schema: Any schema.
        state: The validation.
        config: The configuration around it.
        inner: The validator of the schema inside, where defaults are validated.
    """
    if schema["type"] != "default":
        return default_of(schema["schema"], state, config) if schema["type"] in _THROUGH else None
    if "default_factory" in schema:
        factory: Any = schema["default_factory"]
        if schema.get("default_factory_takes_data"):
            if state.failed:
                raise Fault.of("default_factory_not_called", PydanticUndefined)
            value = factory(state.data)
        else:
            value = factory()
    elif "default" in schema and schema["default"] is not PydanticUndefined:
        value = schema["default"]
        value = copy.deepcopy(value) if schema.get("copy_default") else value
    else:
        return None
    if inner is not None and option(schema, config, "validate_default", False):
        with state.of_python():
            value = inner(value, state)
    return Some(value)


_THROUGH = ("function-after", "function-before", "function-wrap", "model-field", "nullable")


def union(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of one of several kinds: the closest one, or the first one from left to right."""
    choices: list[tuple[Check, str]] = []
    listed: list[Any] = schema["choices"]
    for one in listed:
        inner, label = cast("tuple[Schema, str]", one if isinstance(one, tuple) else (one, ""))
        choices.append((build.build(inner, config), label or _label(inner)))
    first = schema.get("mode") == "left_to_right"

    def check(value: Any, state: State) -> Any:
        passes = [state.strict] if first else [True, state.strict]
        faults: list[Fault] = []
        for strict in passes:
            with state.strictly(strict):
                found, faults = _tried(choices, value, state, first=first)
            if found:
                return max(found, key=lambda one: _closeness(value, one, json_input=state.json))
        if len(choices) == 1:
            raise faults[0]
        raise gathered(fault.below(label) for fault, (_, label) in zip(faults, choices, strict=True))

    return check


def _tried(
    choices: Sequence[tuple[Check, str]], value: Any, state: State, *, first: bool
) -> tuple[list[Any], list[Fault]]:
    found: list[Any] = []
    faults: list[Fault] = []
    for check, _ in choices:
        try:
            found.append(check(value, state))
        except Fault as fault:
            faults.append(fault)
            continue
        if first:
            break
    return found, faults


def _closeness(value: Any, found: Any, *, json_input: bool) -> tuple[bool, int]:
    """Return the closeness of a result to its input: the same type, and the number of its given fields."""
    given = getattr(found, "__pydantic_fields_set__", None)
    return _is_exact(value, found, json_input=json_input), 0 if given is None else len(given)


def _is_exact(value: Any, found: Any, *, json_input: bool) -> bool:
    if json_input and isinstance(value, list) and isinstance(found, _IN_JSON_EXACT):
        pairs = zip(cast("list[Any]", value), list(cast("Sequence[Any]", found)), strict=False)
        return all(_is_exact(one, other, json_input=json_input) for one, other in pairs)
    if isinstance(value, dict) and isinstance(found, dict):
        given, got = cast("dict[Any, Any]", value), cast("dict[Any, Any]", found)
        return all(name in got and _is_exact(one, got[name], json_input=json_input) for name, one in given.items())
    if isinstance(value, list | tuple) and type(cast("Any", value)) is type(found):
        pairs = zip(cast("Sequence[Any]", value), cast("Sequence[Any]", found), strict=False)
        return all(_is_exact(one, other, json_input=json_input) for one, other in pairs)
    return type(cast("Any", value)) is type(found) or (
        type(cast("Any", value)) is dict and hasattr(found, "__pydantic_fields_set__")
    )


def _label(schema: Schema) -> str:
    """Return the name of a choice in the place of an error."""
    kind = schema["type"]
    if kind in ("model", "dataclass", "is-instance", "enum"):
        return schema["cls"].__name__
    if kind in ("list", "set", "frozenset"):
        return f"{kind}[{_label(schema.get('items_schema', {'type': 'any'}))}]"
    if kind == "dict":
        inner = [_label(schema.get(f"{name}_schema", {"type": "any"})) for name in ("keys", "values")]
        return f"dict[{','.join(inner)}]"
    if kind == "tuple":
        parts = [_label(one) for one in schema["items_schema"]]
        return f"tuple[{', '.join([*parts, '...'] if 'variadic_item_index' in schema else parts)}]"
    if kind == "literal":
        return f"literal[{','.join(repr(one) for one in schema['expected'])}]"
    if kind == "definition-ref":
        return str(schema["schema_ref"]).rpartition(".")[2].partition(":")[0]
    if kind == "typed-dict":
        return str(schema.get("cls_name") or getattr(schema.get("cls"), "__name__", kind))
    inside = schema.get("schema")
    return f"{kind}[{_label(inside)}]" if kind == "nullable" and inside else str(kind)


def tagged(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of the kind told by a tag."""
    choices = {tag: build.build(one, config) for tag, one in schema["choices"].items()}
    by = schema["discriminator"]
    shown = by.__name__ + "()" if callable(by) else _path_words(by)
    expected = ", ".join(repr(str(getattr(tag, "value", tag))) for tag in choices)

    def check(value: Any, state: State) -> Any:
        tag = called(by, value, value) if callable(by) else _tag(by, value)
        if tag is None:
            raise Fault.of("union_tag_not_found", value, discriminator=shown)
        try:
            found = choices.get(tag)
        except TypeError:
            found = None
        if found is None:
            found = next((one for name, one in choices.items() if getattr(name, "value", name) == tag), None)
        if found is None:
            raise Fault.of("union_tag_invalid", value, discriminator=shown, tag=str(tag), expected_tags=expected)
        try:
            return found(value, state)
        except Fault as fault:
            raise fault.below(getattr(tag, "value", tag)) from fault

    return check


def _path_words(by: Any) -> str:
    if isinstance(by, str):
        return repr(by)
    return " | ".join(".".join(f"'{part}'" for part in path) for path in _tag_paths(by))


def _tag_paths(by: Any) -> list[list[Any]]:
    """Return the ways to a tag, each a list of names."""
    listed = cast("list[Any]", [by] if isinstance(by, str) else by)
    return [cast("list[Any]", one if isinstance(one, list) else [one]) for one in listed]


def _tag(by: Any, value: Any) -> Any:
    """Return the tag of a value: a member or an attribute."""
    for path in _tag_paths(by):
        at: Any = value
        for part in path:
            inside: Any = at
            at = inside.get(part) if isinstance(at, Mapping) else getattr(inside, str(part), None)
        if at is not None:
            return at
    return None


def function(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of a function: before, after, around, or in place of another."""
    kind, told = schema["type"].removeprefix("function-"), schema["function"]
    work, informed, name = told["function"], told["type"] == "with-info", told.get("field_name")
    inner = build.build(schema["schema"], config) if "schema" in schema else None

    def handler(state: State, value: Any, outer_location: Any = None) -> Any:
        try:
            return cast(Check, inner)(value, state)
        except Fault as fault:
            found = fault if outer_location is None else fault.below(outer_location)
            raise ValidationError("value", found.lines, json_input=state.json) from fault

    def check(value: Any, state: State) -> Any:
        more = (Info(state, config, name),) if informed else ()
        if kind == "plain" or inner is None:
            return called(work, value, value, *more)
        if kind == "before":
            return inner(called(work, value, value, *more), state)
        if kind == "after":
            return called(work, value, inner(value, state), *more)
        return called(work, value, value, partial(handler, state), *more)

    return check


def chain(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of several steps."""
    steps = [build.build(one, config) for one in schema["steps"]]

    def check(value: Any, state: State) -> Any:
        for step in steps:
            value = step(value, state)
        return value

    return check


def lax_or_strict(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator with another one for strict validation."""
    lax, hard = build.build(schema["lax_schema"], config), build.build(schema["strict_schema"], config)
    own = option(schema, config, "strict", False)
    return lambda value, state: (hard if state.is_strict(own) else lax)(value, state)


def json_or_python(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator with another one for JSON."""
    of_json, of_python = build.build(schema["json_schema"], config), build.build(schema["python_schema"], config)
    return lambda value, state: (of_json if state.json else of_python)(value, state)


def json_text(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of texts holding JSON."""
    inner = build.build(schema.get("schema") or {"type": "any"}, config)

    def check(value: Any, state: State) -> Any:
        if not isinstance(value, str | bytes | bytearray):
            raise Fault.of("json_type", value)
        try:
            found = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise Fault.of("json_invalid", value, error=error) from error
        return inner(found, state)

    return check


def custom_error(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator with an error of its own."""
    inner = build.build(schema["schema"], config)
    kind, words, context = (
        schema["custom_error_type"],
        schema.get("custom_error_message"),
        schema.get("custom_error_context"),
    )

    def check(value: Any, state: State) -> Any:
        try:
            return inner(value, state)
        except Fault as fault:
            made = PydanticKnownError(kind, context) if words is None else PydanticCustomError(kind, words, context)
            raise Fault.custom(made, value) from fault

    return check


def definitions(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator with named schemas."""
    for one in schema["definitions"]:
        build.build(one, config)
    return build.build(schema["schema"], config)


def definition(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return the validator of a named schema."""
    return build.named(schema["schema_ref"])


def missing(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of the mark for nothing at all."""

    def check(value: Any, state: State) -> Any:
        if repr(value) != "<MISSING>":
            raise Fault.of("missing_sentinel_error", value)
        return value

    return check


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}" if words else ""
