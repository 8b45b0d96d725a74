"""State: the facts of one validation, and the builder of validators out of core schemas."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from tea.untrusted.portable.faults import Fault, SchemaError

Check = Callable[[Any, "State"], Any]
Schema = Mapping[str, Any]
_MOST_DEEP = 120


class State:
    """The facts of one validation.

    Args:
        json: Whether the value was JSON.
        strict: Whether only values of the very type pass; None to leave it to each schema.
        context: What validators are given.
        given: Further options: `self_instance`, `from_attributes`, `extra`, `by_alias`, `by_name`.
    """

    def __init__(self, *, json: bool, strict: bool | None, context: Any, given: Mapping[str, Any]) -> None:
        self.json, self.strict, self.context = json, strict, context
        self.self_instance = given.get("self_instance")
        self.from_attributes = given.get("from_attributes")
        self.extra = given.get("extra")
        self.by_alias, self.by_name = given.get("by_alias"), given.get("by_name")
        self.data: dict[str, Any] = {}
        self.failed = False
        self.depth = 0

    def is_strict(self, own: bool) -> bool:
        """Return whether a schema is strict, by the call or by itself."""
        return own if self.strict is None else self.strict

    @contextmanager
    def of_python(self) -> Generator[None]:
        """Validate a value of Python for a while, as a default is one also amid JSON."""
        before, self.json = self.json, False
        try:
            yield
        finally:
            self.json = before

    @contextmanager
    def strictly(self, strict: bool | None) -> Generator[None]:
        """Validate strictly, or not, for a while."""
        before, self.strict = self.strict, strict
        try:
            yield
        finally:
            self.strict = before


class Info:
    """The facts passed to a validator's function about its call."""

    def __init__(self, state: State, config: Mapping[str, Any], field_name: str | None) -> None:
        self.context, self.config, self.field_name = state.context, config, field_name
        self.mode = "json" if state.json else "python"
        self.data = state.data


class Builder:
    """Makes validators of core schemas.

    Args:
        kinds: The makers, by the types of schemas.
        definitions: What `definition-ref` names.
    """

    def __init__(self, kinds: Mapping[str, Callable[[Builder, Schema, Mapping[str, Any]], Check]]) -> None:
        self._kinds = kinds
        self.definitions: dict[str, Check] = {}

    def build(self, schema: Schema, config: Mapping[str, Any]) -> Check:
        """Return the validator of a schema.

        Raises:
            SchemaError: Its type is not known at this level.
        """
        make = self._kinds.get(schema["type"])
        if make is None:
            problem = f"The type {schema['type']!r} is not there at the level wasm: take plain types."
            raise SchemaError(problem)
        found = make(self, schema, config)
        if "ref" in schema:
            self.definitions.setdefault(schema["ref"], found)
        return found

    def named(self, ref: str) -> Check:
        """Return the validator named by a reference, found when it is first needed."""

        def check(value: Any, state: State) -> Any:
            state.depth += 1
            try:
                if state.depth > _MOST_DEEP:
                    raise Fault.of("recursion_loop", value)
                return self.definitions[ref](value, state)
            finally:
                state.depth -= 1

        return check


def option(schema: Schema, config: Mapping[str, Any], name: str, default: Any, of_config: str | None = None) -> Any:
    """Return an option of a schema, else of its configuration, else a default."""
    found = schema.get(name)
    if found is None:
        found = config.get(of_config or name)
    return default if found is None else found
