"""Models: validators of pydantic's models and of dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tea.untrusted.portable.faults import ArgsKwargs, Fault, PydanticUndefined, called, gathered
from tea.untrusted.portable.fields import Members, read_fields
from tea.untrusted.portable.state import Builder, Check, Schema, State, option

_SET = object.__setattr__


def model_fields(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of the members of a model: a triple of the known ones, the others, and the given names."""
    members = Members(build, read_fields(build, schema["fields"].items(), config), schema, config)
    keeps = option(schema, config, "extra_behavior", "ignore", "extra_fields_behavior") == "allow"
    name = schema.get("model_name", "Model")

    def check(value: Any, state: State) -> Any:
        attributes = not state.json and bool(
            config.get("from_attributes") if state.from_attributes is None else state.from_attributes
        )
        if isinstance(value, _Assigned):
            return _assigned(members, value, state)
        if isinstance(value, Mapping):
            found, extra, given = members.read(cast("Mapping[str, Any]", value), state)
        elif attributes and not isinstance(value, str | int | float | bool | list | tuple | None):
            found, extra, given = members.read(value, state, attributes=True)
        else:
            raise Fault.of("model_attributes_type" if attributes else "model_type", value, class_name=name)
        return found, (extra if keeps or state.extra == "allow" else None), given | set(extra)

    return check


class _Assigned:
    """One member to be set, in the place of all of them."""

    def __init__(self, data: dict[str, Any], extra: dict[str, Any] | None, name: str, value: Any) -> None:
        self.data, self.extra, self.name, self.value = data, extra, name, value


def _assigned(members: Members, one: _Assigned, state: State) -> Any:
    found, is_extra = members.assign(one.data, one.name, one.value, state)
    if is_extra:
        return one.data, {**(one.extra or {}), one.name: found}, {one.name}
    return {**one.data, one.name: found}, one.extra, {one.name}


def model(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of a model's instances."""
    config = {**(schema.get("config") or {})}
    cls: Any = schema["cls"]
    inner = build.build(schema["schema"], config)
    root = bool(schema.get("root_model"))
    again = option(schema, config, "revalidate_instances", "never")
    post, own_init = schema.get("post_init"), bool(schema.get("custom_init"))

    def check(value: Any, state: State) -> Any:
        own, state.self_instance = state.self_instance, None
        if own is not None:
            return _filled(own, value, state)
        if isinstance(value, _Setting):
            return _set(value, state)
        if isinstance(value, cls) and not state.json:
            if again == "never" or (again == "subclass-instances" and type(value) is cls):
                return value
            value = value.root if root else members_of(value)
        if own_init and isinstance(value, Mapping):
            made = cls.__new__(cls)
            called(made.__init__, value, *()) if not value else _initialised(made, cast("Mapping[str, Any]", value))
            return made
        return _filled(cls.__new__(cls), value, state)

    def _filled(made: Any, value: Any, state: State) -> Any:
        try:
            found = inner(value, state)
        except Fault as fault:
            raise _named(fault, cls.__name__) from fault
        if root:
            _set_state(made, {"root": found}, None, {"root"} if value is not PydanticUndefined else set[str]())
        else:
            _set_state(made, *found)
        if post is not None:
            called(getattr(made, post), value, state.context)
        return made

    def _set(setting: _Setting, state: State) -> Any:
        made = setting.instance
        if schema.get("frozen"):
            raise Fault.of("frozen_instance", setting.value).below(setting.name)
        if root:
            found = ({"root": inner(setting.value, state)}, None, {"root"})
        else:
            data = dict(made.__dict__)
            found = inner(_Assigned(data, made.__pydantic_extra__, setting.name, setting.value), state)
        _set_state(made, found[0], found[1], made.__pydantic_fields_set__ | found[2])
        return made

    return check


def _initialised(made: Any, value: Mapping[str, Any]) -> None:
    called(lambda: made.__init__(**value), value)


def _set_state(made: Any, data: dict[str, Any], extra: dict[str, Any] | None, names: set[str]) -> None:
    _SET(made, "__dict__", data)
    _SET(made, "__pydantic_extra__", extra)
    _SET(made, "__pydantic_fields_set__", names)
    if getattr(made, "__pydantic_private__", PydanticUndefined) is PydanticUndefined:
        _SET(made, "__pydantic_private__", None)


def _named(fault: Fault, name: str) -> Fault:
    """Return a fault with the model's name in its context, if its words want one."""
    lines = [
        (kind, at, value, {"class_name": name} if kind == "model_type" and not at else context, template)
        for kind, at, value, context, template in fault.lines
    ]
    return Fault(lines)


def members_of(made: Any) -> dict[str, Any]:
    """Return the members of a model's instance, the unknown ones too."""
    return {**made.__dict__, **(made.__pydantic_extra__ or {})}


class _Setting:
    """An attribute to be set on a model's instance."""

    def __init__(self, instance: Any, name: str, value: Any) -> None:
        self.instance, self.name, self.value = instance, name, value


def setting(instance: Any, name: str, value: Any) -> Any:
    """Return the stand-in for a value to let a model's validator set one attribute."""
    return _Setting(instance, name, value)


def dataclass_args(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of a dataclass's arguments: its attributes, and the arguments of its `__post_init__`."""
    listed = [(one["name"], one) for one in schema["fields"]]
    members = Members(
        build, read_fields(build, [one for one in listed if one[1].get("init", True)], config), schema, config
    )
    by_place = [name for name, one in listed if not one.get("kw_only", True) and one.get("init", True)]
    only = [name for name, one in listed if one.get("init_only")]
    later = read_fields(build, [one for one in listed if not one[1].get("init", True)], config)
    collect = bool(schema.get("collect_init_only"))

    def check(value: Any, state: State) -> Any:
        if isinstance(value, ArgsKwargs):
            value = _by_name(value, by_place)
        if not isinstance(value, Mapping):
            raise Fault.of("dataclass_type", value, class_name=schema.get("dataclass_name", ""))
        found, extra, _ = members.read(cast("Mapping[str, Any]", value), state)
        for field in later:
            members._left_out(field, value, state, found)  # pyright: ignore[reportPrivateUsage]
        init_only = tuple(found.pop(name) for name in only) if only else None
        return {**found, **extra}, (init_only if collect else None)

    return check


def _by_name(value: ArgsKwargs, names: list[str]) -> dict[str, Any]:
    faults = [
        Fault.of("unexpected_positional_argument", one).below(place)
        for place, one in enumerate(value.args)
        if place >= len(names)
    ]
    given = dict(value.kwargs or {})
    faults += [
        Fault.of("multiple_argument_values", given[name]).below(name)
        for name in names[: len(value.args)]
        if name in given
    ]
    if faults:
        raise gathered(faults)
    return {**dict(zip(names, value.args, strict=False)), **given}


def dataclass(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of a dataclass's instances."""
    config = {**config, **(schema.get("config") or {})}
    cls: Any = schema["cls"]
    inner = build.build(schema["schema"], config)
    strict, post = option(schema, config, "strict", False), bool(schema.get("post_init"))
    again = option(schema, config, "revalidate_instances", "never")

    def check(value: Any, state: State) -> Any:
        own, state.self_instance = state.self_instance, None
        if own is None and isinstance(value, _Setting):
            return _set(value, state)
        if own is None and isinstance(value, cls) and not state.json:
            if again == "never" or (again == "subclass-instances" and type(value) is cls):
                return value
            value = {one["name"]: getattr(value, one["name"]) for one in schema["schema"]["fields"]}
        elif own is None and not state.json and state.is_strict(strict):
            raise Fault.of("dataclass_exact_type", value, class_name=cls.__name__)
        data, init_only = inner(value, state)
        made = cls.__new__(cls) if own is None else own
        for name, one in data.items():
            _SET(made, name, one)
        if post:
            called(made.__post_init__, value, *(init_only or ()))
        return made

    def _set(setting: _Setting, state: State) -> Any:
        if schema.get("frozen"):
            raise Fault.of("frozen_instance", setting.value).below(setting.name)
        names = [one["name"] for one in schema["schema"]["fields"]]
        data = {name: getattr(setting.instance, name) for name in names}
        found, _ = inner({**data, setting.name: setting.value}, state)
        _SET(setting.instance, setting.name, found[setting.name])
        return setting.instance

    return check
