"""Fields: validators of members by their names, and of the arguments of calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from tea.untrusted.portable.choice import default_of
from tea.untrusted.portable.faults import ArgsKwargs, Fault, PydanticOmit, PydanticUndefined, gathered
from tea.untrusted.portable.state import Builder, Check, Schema, State, option

_ABSENT = PydanticUndefined


class Field(NamedTuple):
    """One member: its name, its schema and its validator."""

    name: str
    schema: Schema
    check: Check
    told: Schema
    paths: tuple[tuple[Any, ...], ...]


def read_fields(build: Builder, listed: Iterable[tuple[str, Schema]], config: Mapping[str, Any]) -> list[Field]:
    """Return the members of a schema, each with its validator."""
    found: list[Field] = []
    for name, told in listed:
        alias = told.get("validation_alias", told.get("alias"))
        found.append(Field(name, told["schema"], build.build(told["schema"], config), told, _paths(alias)))
    return found


def _paths(alias: Any) -> tuple[tuple[Any, ...], ...]:
    if alias is None:
        return ()
    if isinstance(alias, str):
        return ((alias,),)
    paths = cast("list[Any]", alias)
    return tuple(tuple(cast("list[Any]", one)) if isinstance(one, list) else tuple(paths) for one in paths)


class Members:
    """Validates the members of an object.

    Args:
        fields: The known ones.
        schema: The schema that lists them.
        config: Its configuration.
        extra: What is done with unknown ones: `ignore`, `forbid`, `allow`.
        extras: Validates unknown ones.
    """

    def __init__(self, build: Builder, fields: list[Field], schema: Schema, config: Mapping[str, Any]) -> None:
        self.fields, self._config = fields, config
        self._extra = option(schema, config, "extra_behavior", "ignore", "extra_fields_behavior")
        self._extras = build.build(schema["extras_schema"], config) if schema.get("extras_schema") else None
        self._by_alias = config.get("validate_by_alias", True)
        by_name = config.get("validate_by_name")
        self._by_name = config.get("populate_by_name", False) if by_name is None else by_name

    def read(
        self, value: Any, state: State, *, attributes: bool = False
    ) -> tuple[dict[str, Any], dict[str, Any], set[str]]:
        """Return the validated members, the unknown ones, and the names of those given."""
        found: dict[str, Any] = {}
        given: set[str] = set()
        used: set[Any] = set()
        faults: list[Fault] = []
        data, failed = state.data, state.failed
        state.data, state.failed = found, False
        own, state.self_instance = state.self_instance, None
        try:
            for field in self.fields:
                try:
                    self._one(field, value, state, found, given, used, attributes)
                except Fault as fault:
                    faults.append(fault)
                    state.failed = True
            extra = {} if attributes else self._unknown(value, used, state, faults)
        finally:
            state.data, state.failed, state.self_instance = data, failed, own
        if faults:
            raise gathered(faults)
        return found, extra, given

    def _one(
        self,
        field: Field,
        value: Any,
        state: State,
        found: dict[str, Any],
        given: set[str],
        used: set[Any],
        attributes: bool,
    ) -> None:
        """Validate one member, or take its default."""
        one, at = self._looked_up(field, value, state, attributes)
        if one is _ABSENT:
            self._left_out(field, value, state, found)
            return
        used.add(at)
        try:
            found[field.name] = field.check(one, state)
            given.add(field.name)
        except PydanticOmit:
            return
        except Fault as fault:
            raise fault.below(at if self._config.get("loc_by_alias", True) else field.name) from fault

    def _left_out(self, field: Field, value: Any, state: State, found: dict[str, Any]) -> None:
        try:
            one = default_of(field.schema, state, self._config, field.check)
        except Fault as fault:
            raise fault.below(field.name) from fault
        if one is not None:
            found[field.name] = one.value
        elif field.told.get("required", True):
            shown = field.paths[0] if field.paths and self._by_alias else (field.name,)
            raise Fault.of("missing", value).below(*shown)

    def _looked_up(self, field: Field, value: Any, state: State, attributes: bool) -> tuple[Any, Any]:
        """Return the value given for a member, and the name it has there."""
        by_alias = self._by_alias if state.by_alias is None else state.by_alias
        by_name = self._by_name if state.by_name is None else state.by_name
        for path in field.paths if by_alias else ():
            at = value
            for part in path:
                at = _member(at, part, attributes)
            if at is not _ABSENT:
                return at, path[0]
        if not field.paths or by_name:
            return _member(value, field.name, attributes), field.name
        return _ABSENT, field.name

    def _unknown(self, value: Any, used: set[Any], state: State, faults: list[Fault]) -> dict[str, Any]:
        """Return the unknown members, or note them as faults."""
        extra: dict[str, Any] = {}
        behavior = state.extra or self._extra
        if behavior == "ignore" or not isinstance(value, Mapping):
            return extra
        for name, one in cast("Mapping[Any, Any]", value).items():
            if name in used:
                continue
            if not isinstance(name, str):
                faults.append(Fault.of("invalid_key", name).below(name))
            elif behavior == "forbid":
                faults.append(Fault.of("extra_forbidden", one).below(name))
            else:
                try:
                    extra[name] = one if self._extras is None else self._extras(one, state)
                except Fault as fault:
                    faults.append(fault.below(name))
        return extra

    def assign(self, data: dict[str, Any], name: str, value: Any, state: State) -> tuple[Any, bool]:
        """Return the value to set for a member, and whether it is an unknown one."""
        field = next((one for one in self.fields if one.name == name), None)
        if field is None:
            if (state.extra or self._extra) != "allow":
                raise Fault.of("no_such_attribute", value, attribute=name).below(name)
            return (value if self._extras is None else self._extras(value, state)), True
        if field.told.get("frozen"):
            raise Fault.of("frozen_field", value).below(name)
        before, state.data = state.data, {key: one for key, one in data.items() if key != name}
        try:
            return field.check(value, state), False
        except Fault as fault:
            raise fault.below(name) from fault
        finally:
            state.data = before


def _member(value: Any, part: Any, attributes: bool) -> Any:
    if value is _ABSENT:
        return _ABSENT
    if isinstance(value, Mapping):
        return cast("Mapping[Any, Any]", value).get(part, _ABSENT)
    if isinstance(part, int) and isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return items[part] if -len(items) <= part < len(items) else _ABSENT
    if attributes and isinstance(part, str):
        try:
            return getattr(value, part, _ABSENT)
        except Exception as error:  # what an attribute does is the value's own
            raise Fault.of("get_attribute_error", value, error=error) from error
    return _ABSENT


def typed_dict(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of dictionaries with known members."""
    config = {**config, **(schema.get("config") or {})}
    total = schema.get("total", True)
    listed = [(name, {"required": total, **told}) for name, told in schema["fields"].items()]
    members = Members(build, read_fields(build, listed, config), schema, config)

    def check(value: Any, state: State) -> Any:
        if not isinstance(value, Mapping):
            raise Fault.of("dict_type", value)
        found, extra, _ = members.read(value, state)
        return {**found, **extra}

    return check


def arguments(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of the arguments of a call."""
    parameters = [
        (one, build.build(one["schema"], config), one.get("mode", "positional_or_keyword"))
        for one in schema["arguments_schema"]
    ]
    more = build.build(schema["var_args_schema"], config) if "var_args_schema" in schema else None
    named = build.build(schema["var_kwargs_schema"], config) if "var_kwargs_schema" in schema else None

    def check(value: Any, state: State) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given, by_name = _given(value)
        taken = _Taken(given, by_name, state, config)
        for one, inner, mode in parameters:
            taken.parameter(one, inner, mode, value)
        taken.rest(more, named)
        if taken.faults:
            raise gathered(taken.faults)
        return tuple(taken.args), taken.kwargs

    return check


def _given(value: Any) -> tuple[list[Any], dict[str, Any]]:
    if isinstance(value, ArgsKwargs):
        return list(value.args), dict(value.kwargs or {})
    if isinstance(value, dict):
        return [], dict(cast("dict[str, Any]", value))
    if isinstance(value, list | tuple):
        return list(cast("list[Any]", value)), {}
    raise Fault.of("arguments_type", value)


class _Taken:
    """The arguments as they are taken, one parameter after the other."""

    def __init__(self, given: list[Any], by_name: dict[str, Any], state: State, config: Mapping[str, Any]) -> None:
        self.given, self.by_name, self.state, self.config = given, by_name, state, config
        self.args: list[Any] = []
        self.kwargs: dict[str, Any] = {}
        self.faults: list[Fault] = []
        self.used: set[str] = set()
        self.place = 0

    def parameter(self, one: Schema, inner: Check, mode: str, value: Any) -> None:
        """Take the argument of one parameter, or its default."""
        name = one["name"]
        keys = [] if mode == "positional_only" else [key for key in (one.get("alias"), name) if key in self.by_name]
        placed = mode != "keyword_only" and self.place < len(self.given)
        try:
            if placed and keys:
                raise Fault.of("multiple_argument_values", self.by_name[keys[0]]).below(name)
            if placed:
                self.args.append(self._checked(inner, self.given[self.place], self.place))
            elif keys:
                self.kwargs[name] = self._checked(inner, self.by_name[keys[0]], keys[0])
            else:
                self._left_out(one, inner, mode, value)
        except PydanticOmit:
            pass
        except Fault as fault:
            self.faults.append(fault)
        self.used.update(keys)
        self.place += mode != "keyword_only"

    def _checked(self, inner: Check, value: Any, at: Any) -> Any:
        try:
            return inner(value, self.state)
        except Fault as fault:
            raise fault.below(at) from fault

    def _left_out(self, one: Schema, inner: Check, mode: str, value: Any) -> None:
        name = one["name"]
        try:
            found = default_of(one["schema"], self.state, self.config, inner)
        except Fault as fault:
            raise fault.below(name) from fault
        if found is None:
            kinds = {
                "keyword_only": "missing_keyword_only_argument",
                "positional_only": "missing_positional_only_argument",
            }
            raise Fault.of(kinds.get(mode, "missing_argument"), value).below(
                self.place if mode == "positional_only" else one.get("alias", name)
            )
        if mode == "positional_only":
            self.args.append(found.value)
        else:
            self.kwargs[name] = found.value

    def rest(self, more: Check | None, named: Check | None) -> None:
        """Take the arguments named by no parameter, or note them as faults."""
        for place in range(self.place, len(self.given)):
            try:
                if more is None:
                    raise Fault.of("unexpected_positional_argument", self.given[place]).below(place)
                self.args.append(self._checked(more, self.given[place], place))
            except Fault as fault:
                self.faults.append(fault)
        for name, one in self.by_name.items():
            if name in self.used:
                continue
            try:
                if named is None:
                    raise Fault.of("unexpected_keyword_argument", one).below(name)
                self.kwargs[name] = self._checked(named, one, name)
            except Fault as fault:
                self.faults.append(fault)


def call(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of a call: its arguments are validated, it is called, and so is its result."""
    taken = build.build(schema["arguments_schema"], config)
    returned = build.build(schema["return_schema"], config) if "return_schema" in schema else None
    function: Any = schema["function"]

    def check(value: Any, state: State) -> Any:
        if isinstance(function, type) and isinstance(value, function):
            value = ArgsKwargs(tuple(cast("Iterable[Any]", value))) if isinstance(value, tuple) else value
        args, kwargs = taken(value, state)
        found = function(*args, **kwargs)
        return found if returned is None else returned(found, state)

    return check
