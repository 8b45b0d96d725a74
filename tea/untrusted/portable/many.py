"""Many: validators of lists, tuples, sets and dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from tea.untrusted.portable.faults import Fault, PydanticOmit, gathered
from tea.untrusted.portable.scalars import anything
from tea.untrusted.portable.state import Builder, Check, Schema, State, option

_WHOLE: tuple[type, ...] = (str, bytes, bytearray, Mapping)  # which are not collections of items
_FROM: Mapping[str, tuple[str, ...]] = {
    "list": ("list", "List"),
    "tuple": ("tuple", "Tuple"),
    "set": ("set", "Set"),
    "frozenset": ("frozen_set", "Frozenset"),
}
_TYPES: Mapping[str, type] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


def items(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of lists, sets and frozen sets."""
    own, made = _FROM[schema["type"]], _TYPES[schema["type"]]
    strict = option(schema, config, "strict", False)
    item = build.build(schema["items_schema"], config) if "items_schema" in schema else anything(build, schema, config)

    def check(value: Any, state: State) -> Any:
        if not _is(value, made, state, strict):
            raise Fault.of(f"{own[0]}_type", value)
        most = schema.get("max_length")
        found: Any = _each(item, cast("Iterable[Any]", value), state, most if made is list else None, own[1])
        if made is not list:
            try:
                found = cast("Any", made)(found)
            except TypeError as error:
                raise Fault.of("set_item_not_hashable", value) from error
        return _sized(found, schema, value, own[1])

    return check


def _is(value: Any, made: type, state: State, strict: bool) -> bool:
    """Return whether a value may become a container of a type."""
    if state.json:
        return isinstance(value, list)
    lax = isinstance(value, Iterable) and not isinstance(value, _WHOLE)
    return isinstance(value, made) or (not state.is_strict(strict) and lax)


def _each(item: Check, values: Iterable[Any], state: State, most: int | None, name: str) -> list[Any]:
    found: list[Any] = []
    faults: list[Fault] = []
    for place, one in enumerate(values):
        try:
            found.append(item(one, state))
        except PydanticOmit:
            continue
        except Fault as fault:
            faults.append(fault.below(place))
        if most is not None and len(found) > most:
            length = len(values) if isinstance(values, Sequence) else most + 1
            raise Fault.of("too_long", values, field_type=name, max_length=most, actual_length=length)
    if faults:
        raise gathered(faults)
    return found


def _sized(found: Any, schema: Schema, value: Any, name: str) -> Any:
    least, most = schema.get("min_length"), schema.get("max_length")
    if least is not None and len(found) < least:
        raise Fault.of("too_short", value, field_type=name, min_length=least, actual_length=len(found))
    if most is not None and len(found) > most:
        raise Fault.of("too_long", value, field_type=name, max_length=most, actual_length=len(found))
    return found


def places(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of tuples."""
    strict = option(schema, config, "strict", False)
    checks = [build.build(one, config) for one in schema["items_schema"]]
    variadic = schema.get("variadic_item_index")

    def check(value: Any, state: State) -> Any:
        if not _is(value, tuple, state, strict):
            raise Fault.of("tuple_type", value)
        given = list(cast("Iterable[Any]", value))
        found = _placed(checks, variadic, given, value, state)
        return tuple(_sized(found, schema, value, "Tuple"))

    return check


def _placed(checks: Sequence[Check], variadic: int | None, items: list[Any], value: Any, state: State) -> list[Any]:
    """Return the validated items of a tuple, each by the schema of its place."""
    if variadic is None:
        wanted = list(checks)
        if len(items) > len(checks):
            raise Fault.of(
                "too_long", value, field_type="Tuple", max_length=len(checks), actual_length=len(items)
            )  # fmt: skip
    else:
        more = max(0, len(items) - len(checks) + 1)
        wanted = [*checks[:variadic], *[checks[variadic]] * more, *checks[variadic + 1 :]]
    found: list[Any] = []
    faults = [Fault.of("missing", value).below(place) for place in range(len(items), len(wanted))]
    failed: list[Fault] = []
    for place, (one, item) in enumerate(zip(items, wanted, strict=False)):
        try:
            found.append(item(one, state))
        except PydanticOmit:
            continue
        except Fault as fault:
            failed.append(fault.below(place))
    if failed or faults:
        raise gathered([*failed, *faults])
    return found


def mapping(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of dictionaries."""
    strict = option(schema, config, "strict", False)
    keys = build.build(schema.get("keys_schema") or {"type": "any"}, config)
    values = build.build(schema.get("values_schema") or {"type": "any"}, config)

    def check(value: Any, state: State) -> Any:
        if not isinstance(value, dict) and (state.json or state.is_strict(strict) or not isinstance(value, Mapping)):
            raise Fault.of("dict_type", value)
        found: dict[Any, Any] = {}
        faults: list[Fault] = []
        for name, one in cast("Mapping[Any, Any]", value).items():
            try:
                key = _key(keys, name, state)
            except Fault as fault:
                faults.append(fault.below(name, "[key]"))
                key = None
            try:
                found[key] = values(one, state)
            except PydanticOmit:
                continue
            except Fault as fault:
                faults.append(fault.below(name))
        if faults:
            raise gathered(faults)
        return _sized(found, schema, value, "Dictionary")

    return check


def _key(check: Check, name: Any, state: State) -> Any:
    """Validate a key; in JSON it is text, so it is converted to its type."""
    if not state.json:
        return check(name, state)
    with state.strictly(False):
        return check(name, state)


def generator(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of iterables; items are validated as they are taken."""
    item = build.build(schema.get("items_schema") or {"type": "any"}, config)

    def check(value: Any, state: State) -> Any:
        if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
            raise Fault.of("iterable_type", value)
        given = cast("Iterable[Any]", value)
        return (item(one, state) for one in islice(given, schema.get("max_length")))

    return check
