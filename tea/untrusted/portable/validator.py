"""Validator: the door to validation by core schemas, as pydantic calls it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tea.untrusted.portable import choice, fields, many, models, scalars, times
from tea.untrusted.portable.choice import default_of
from tea.untrusted.portable.faults import Fault, Some, ValidationError
from tea.untrusted.portable.state import Builder, Check, Schema, State

_KINDS: Mapping[str, Callable[[Builder, Schema, Mapping[str, Any]], Check]] = {
    "any": scalars.anything,
    "none": scalars.none,
    "bool": scalars.boolean,
    "int": scalars.integer,
    "float": scalars.number,
    "decimal": scalars.decimal,
    "str": scalars.text,
    "bytes": scalars.data,
    "uuid": scalars.unique_id,
    "complex": scalars.complex_number,
    "is-instance": scalars.instance,
    "is-subclass": scalars.subclass,
    "callable": scalars.function,
    "date": times.day,
    "datetime": times.moment,
    "time": times.clock,
    "timedelta": times.duration,
    "list": many.items,
    "set": many.items,
    "frozenset": many.items,
    "tuple": many.places,
    "dict": many.mapping,
    "generator": many.generator,
    "literal": choice.literal,
    "enum": choice.enumeration,
    "nullable": choice.nullable,
    "default": choice.default,
    "union": choice.union,
    "tagged-union": choice.tagged,
    "function-before": choice.function,
    "function-after": choice.function,
    "function-wrap": choice.function,
    "function-plain": choice.function,
    "chain": choice.chain,
    "lax-or-strict": choice.lax_or_strict,
    "json-or-python": choice.json_or_python,
    "json": choice.json_text,
    "custom-error": choice.custom_error,
    "definitions": choice.definitions,
    "definition-ref": choice.definition,
    "missing-sentinel": choice.missing,
    "typed-dict": fields.typed_dict,
    "arguments": fields.arguments,
    "call": fields.call,
    "model-fields": models.model_fields,
    "model": models.model,
    "dataclass-args": models.dataclass_args,
    "dataclass": models.dataclass,
}


class SchemaValidator:
    """Validates values by a core schema.

    Args:
        schema: The schema.
        config: The configuration around it.

    Raises:
        SchemaError: It has a type beyond this level.
    """

    def __init__(self, schema: Schema, config: Mapping[str, Any] | None = None, _use_prebuilt: bool = True) -> None:
        self._schema, self._config = schema, {**(config or {})}
        self._check = Builder(_KINDS).build(schema, self._config)
        self.title = str(self._config.get("title") or _title(schema))

    def __reduce__(self) -> Any:
        return SchemaValidator, (self._schema, self._config)

    def validate_python(self, input: Any, *, strict: bool | None = None, context: Any = None, **given: Any) -> Any:
        """Return a validated value.

        Raises:
            ValidationError: It does not fit.
        """
        return self._run(input, State(json=False, strict=strict, context=context, given=given))

    def isinstance_python(self, input: Any, **given: Any) -> bool:
        """Return whether a value fits."""
        try:
            self.validate_python(input, **given)
        except ValidationError:
            return False
        return True

    def validate_json(
        self, input: str | bytes | bytearray, *, strict: bool | None = None, context: Any = None, **given: Any
    ) -> Any:
        """Return the validated value of a text of JSON.

        Raises:
            ValidationError: It is not JSON, or does not fit.
        """
        try:
            data = from_json(input)
        except ValueError as error:
            lines = Fault.of("json_invalid", input, error=error).lines
            raise ValidationError(self.title, lines, json_input=True) from error
        return self._run(data, State(json=True, strict=strict, context=context, given=given))

    def validate_strings(self, input: Any, *, strict: bool | None = None, context: Any = None, **given: Any) -> Any:
        """Return the validated value of texts in a structure.

        Raises:
            ValidationError: They do not fit.
        """
        return self._run(input, State(json=True, strict=strict, context=context, given=given))

    def validate_assignment(
        self,
        obj: Any,
        field_name: str,
        field_value: Any,
        *,
        strict: bool | None = None,
        context: Any = None,
        **given: Any,
    ) -> Any:
        """Return an instance with one attribute set anew.

        Raises:
            ValidationError: The value does not fit.
        """
        state = State(json=False, strict=strict, context=context, given=given)
        return self._run(models.setting(obj, field_name, field_value), state)

    def get_default_value(self, *, strict: bool | None = None, context: Any = None) -> Some | None:
        """Return the default of the schema, None without one."""
        state = State(json=False, strict=strict, context=context, given={})
        return default_of(self._schema, state, self._config)

    def _run(self, value: Any, state: State) -> Any:
        try:
            return self._check(value, state)
        except Fault as fault:
            hide = bool(self._config.get("hide_input_in_errors"))
            raise ValidationError(self.title, fault.lines, json_input=state.json, hide_input=hide) from None
        except RecursionError:
            lines = Fault.of("recursion_loop", value).lines
            raise ValidationError(self.title, lines, json_input=state.json) from None


def from_json(data: str | bytes | bytearray, *, allow_inf_nan: bool = True, **_: Any) -> Any:
    """Return the value of a text of JSON.

    Raises:
        ValueError: It is not JSON.
    """
    try:
        return json.loads(data, parse_constant=None if allow_inf_nan else _refused)
    except RecursionError as error:
        raise ValueError("recursion limit exceeded") from error


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _title(schema: Schema) -> str:
    """Return the name of a schema in errors."""
    kind = schema["type"]
    if kind in ("definitions", "function-before", "function-after", "function-wrap", "default"):
        inner = schema.get("schema")
        title = _title(inner) if inner else kind
        return title if kind == "definitions" else f"{kind}[{title}]"
    config: Any = schema.get("config") or {}
    cls: Any = schema.get("cls")
    return config.get("title") or (getattr(cls, "__name__", kind) if cls is not None else kind)
