"""Faults: the errors, marks and small values shared by validators and serializers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

_MOST_SHOWN = 50
_TEMPLATES: Mapping[str, str] = {
    "no_such_attribute": "Object has no attribute '{attribute}'",
    "json_invalid": "Invalid JSON: {error}",
    "json_type": "JSON input should be string, bytes or bytearray",
    "recursion_loop": "Recursion error - cyclic reference detected",
    "missing": "Field required",
    "frozen_field": "Field is frozen",
    "frozen_instance": "Instance is frozen",
    "extra_forbidden": "Extra inputs are not permitted",
    "invalid_key": "Keys should be strings",
    "get_attribute_error": "Error extracting attribute: {error}",
    "model_type": "Input should be a valid dictionary or instance of {class_name}",
    "model_attributes_type": "Input should be a valid dictionary or object to extract fields from",
    "dataclass_type": "Input should be a dictionary or an instance of {class_name}",
    "dataclass_exact_type": "Input should be an instance of {class_name}",
    "default_factory_not_called": (
        "The default factory uses validated data, but at least one validation error occurred"
    ),
    "none_required": "Input should be None",
    "greater_than": "Input should be greater than {gt}",
    "greater_than_equal": "Input should be greater than or equal to {ge}",
    "less_than": "Input should be less than {lt}",
    "less_than_equal": "Input should be less than or equal to {le}",
    "multiple_of": "Input should be a multiple of {multiple_of}",
    "finite_number": "Input should be a finite number",
    "too_short": "{field_type} should have at least {min_length} item{plural} after validation, not {actual_length}",
    "too_long": "{field_type} should have at most {max_length} item{plural} after validation, not {actual_length}",
    "iterable_type": "Input should be iterable",
    "iteration_error": "Error iterating over object, error: {error}",
    "string_type": "Input should be a valid string",
    "string_unicode": "Input should be a valid string, unable to parse raw data as a unicode string",
    "string_too_short": "String should have at least {min_length} character{plural}",
    "string_too_long": "String should have at most {max_length} character{plural}",
    "string_pattern_mismatch": "String should match pattern '{pattern}'",
    "enum": "Input should be {expected}",
    "dict_type": "Input should be a valid dictionary",
    "mapping_type": "Input should be a valid mapping, error: {error}",
    "list_type": "Input should be a valid list",
    "tuple_type": "Input should be a valid tuple",
    "set_type": "Input should be a valid set",
    "frozen_set_type": "Input should be a valid frozenset",
    "set_item_not_hashable": "Set items should be hashable",
    "bool_type": "Input should be a valid boolean",
    "bool_parsing": "Input should be a valid boolean, unable to interpret input",
    "int_type": "Input should be a valid integer",
    "int_parsing": "Input should be a valid integer, unable to parse string as an integer",
    "int_parsing_size": "Unable to parse input string as an integer, exceeded maximum size",
    "int_from_float": "Input should be a valid integer, got a number with a fractional part",
    "float_type": "Input should be a valid number",
    "float_parsing": "Input should be a valid number, unable to parse string as a number",
    "bytes_type": "Input should be a valid bytes",
    "bytes_too_short": "Data should have at least {min_length} byte{plural}",
    "bytes_too_long": "Data should have at most {max_length} byte{plural}",
    "bytes_invalid_encoding": "Data should be valid {encoding}: {encoding_error}",
    "value_error": "Value error, {error}",
    "assertion_error": "Assertion failed, {error}",
    "literal_error": "Input should be {expected}",
    "missing_sentinel_error": "Input should be the 'MISSING' sentinel",
    "date_type": "Input should be a valid date",
    "date_parsing": "Input should be a valid date in the format YYYY-MM-DD, {error}",
    "date_from_datetime_parsing": "Input should be a valid date or datetime, {error}",
    "date_from_datetime_inexact": "Datetimes provided to dates should have zero time - e.g. be exact dates",
    "date_past": "Date should be in the past",
    "date_future": "Date should be in the future",
    "time_type": "Input should be a valid time",
    "time_parsing": "Input should be in a valid time format, {error}",
    "datetime_type": "Input should be a valid datetime",
    "datetime_parsing": "Input should be a valid datetime, {error}",
    "datetime_from_date_parsing": "Input should be a valid datetime or date, {error}",
    "datetime_past": "Input should be in the past",
    "datetime_future": "Input should be in the future",
    "timezone_naive": "Input should not have timezone info",
    "timezone_aware": "Input should have timezone info",
    "time_delta_type": "Input should be a valid timedelta",
    "time_delta_parsing": "Input should be a valid timedelta, {error}",
    "is_instance_of": "Input should be an instance of {class}",
    "is_subclass_of": "Input should be a subclass of {class}",
    "callable_type": "Input should be callable",
    "union_tag_invalid": (
        "Input tag '{tag}' found using {discriminator} does not match any of the expected tags: {expected_tags}"
    ),
    "union_tag_not_found": "Unable to extract tag using discriminator {discriminator}",
    "arguments_type": "Arguments must be a tuple, list or a dictionary",
    "missing_argument": "Missing required argument",
    "unexpected_keyword_argument": "Unexpected keyword argument",
    "missing_keyword_only_argument": "Missing required keyword only argument",
    "unexpected_positional_argument": "Unexpected positional argument",
    "missing_positional_only_argument": "Missing required positional only argument",
    "multiple_argument_values": "Got multiple values for argument",
    "uuid_type": "UUID input should be a string, bytes or UUID object",
    "uuid_parsing": "Input should be a valid UUID, {error}",
    "uuid_version": "UUID version {expected_version} expected",
    "decimal_type": "Decimal input should be an integer, float, string or Decimal object",
    "decimal_parsing": "Input should be a valid decimal",
    "decimal_max_digits": "Decimal input should have no more than {max_digits} digit{plural} in total",
    "decimal_max_places": "Decimal input should have no more than {decimal_places} decimal place{plural}",
    "decimal_whole_digits": (
        "Decimal input should have no more than {whole_digits} digit{plural} before the decimal point"
    ),
    "complex_type": "Input should be a complex number",
}
_IN_JSON: Mapping[str, str] = {
    **dict.fromkeys(("model_type", "model_attributes_type", "dataclass_type"), "Input should be an object"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "Input should be a valid array"),
    "dict_type": "Input should be an object",
    "iterable_type": "Input should be a valid array",
    "none_required": "Input should be null",
    "time_delta_type": "Input should be a valid duration",
    "time_delta_parsing": "Input should be a valid duration, {error}",
    "arguments_type": "Arguments must be an array or an object",
}
_COUNTED = ("min_length", "max_length", "max_digits", "decimal_places", "whole_digits")
_CUSTOM = "custom"


class PydanticUndefinedType:
    """The type of the mark for a value left out."""

    _one: PydanticUndefinedType | None = None

    def __new__(cls) -> PydanticUndefinedType:
        """Return the only one."""
        cls._one = cls._one or super().__new__(cls)
        return cls._one

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> str:
        return "PydanticUndefined"

    def __repr__(self) -> str:
        return "PydanticUndefined"


PydanticUndefined = PydanticUndefinedType()


class SchemaError(Exception):
    """A core schema beyond this level's validators and serializers."""

    def error_count(self) -> int:
        """Return the number of errors."""
        return 1

    def errors(self) -> list[Any]:
        """Return no details: there are none."""
        return []


class PydanticOmit(Exception):
    """The wish of a validator to leave its value out."""


class PydanticUseDefault(Exception):
    """The wish of a validator to take the default."""


class PydanticSerializationError(ValueError):
    """A value without a serialized form."""


class PydanticSerializationUnexpectedValue(ValueError):
    """A value other than its schema promises."""


class PydanticCustomError(ValueError):
    """An error of a validator with a type of its own.

    Args:
        error_type: Its type.
        message_template: Its words, with names of the context in braces.
        context: What stands for these names.
    """

    def __init__(self, error_type: str, message_template: str, context: Mapping[str, Any] | None = None, /) -> None:
        super().__init__(error_type, message_template, context)
        self.type, self.message_template = error_type, message_template
        self.context = None if context is None else dict(context)

    def message(self) -> str:
        """Return its words."""
        return filled(self.message_template, self.context or {})

    def __str__(self) -> str:
        return self.message()


class PydanticKnownError(PydanticCustomError):
    """An error of a validator with one of the known types."""

    def __init__(self, error_type: str, context: Mapping[str, Any] | None = None, /) -> None:
        super().__init__(error_type, _TEMPLATES.get(error_type, error_type), context)

    def message(self) -> str:
        """Return its words."""
        return worded(self.type, self.context or {}, json_input=False)


class Some:
    """A present default.

    Args:
        value: The default.
    """

    __match_args__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __class_getitem__(cls, item: Any, /) -> type[Self]:
        return cls


class ArgsKwargs:
    """The arguments of a call.

    Args:
        args: Those by place.
        kwargs: Those by name.
    """

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> None:
        self.args, self.kwargs = args, kwargs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArgsKwargs) and (self.args, self.kwargs) == (other.args, other.kwargs)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"ArgsKwargs({self.args!r}, {self.kwargs!r})"


class Fault(Exception):
    """One or more errors on the way through a schema, each with its place below.

    Args:
        lines: The errors: type, place, input, context and the template of a type of its own.
    """

    def __init__(self, lines: list[tuple[str, tuple[Any, ...], Any, dict[str, Any], str | None]]) -> None:
        super().__init__("validation")
        self.lines = lines

    @classmethod
    def of(cls, kind: str, value: Any, **context: Any) -> Fault:
        """Return a fault of a known type."""
        return cls([(kind, (), value, context, None)])

    @classmethod
    def custom(cls, error: PydanticCustomError, value: Any) -> Fault:
        """Return the fault of an error raised by a validator."""
        template = None if isinstance(error, PydanticKnownError) else error.message_template
        return cls([(error.type, (), value, error.context or {}, template)])

    def below(self, *place: Any) -> Fault:
        """Return the fault as seen from above."""
        return Fault([(kind, (*place, *at), *rest) for kind, at, *rest in self.lines])  # pyright: ignore[reportArgumentType]


def gathered(faults: Iterable[Fault]) -> Fault:
    """Return several faults as one."""
    return Fault([line for one in faults for line in one.lines])


def filled(template: str, context: Mapping[str, Any]) -> str:
    """Return a template with values in place of names."""
    for name, value in context.items():
        template = template.replace("{" + name + "}", str(value))
    return template


def worded(kind: str, context: Mapping[str, Any], *, json_input: bool) -> str:
    """Return the words of a known error."""
    template = (_IN_JSON.get(kind) if json_input else None) or _TEMPLATES.get(kind, kind)
    counted = next((context[name] for name in _COUNTED if name in context), None)
    return filled(template, {**context, "plural": "" if counted == 1 else "s"})


class ValidationError(ValueError):
    """All errors found in one value.

    Args:
        title: What was validated.
        lines: The errors.
        json_input: Whether the value was JSON.
        hide_input: Whether its words leave the value out.
    """

    def __init__(self, title: str, lines: Sequence[Any], *, json_input: bool, hide_input: bool = False) -> None:
        super().__init__(title)
        self.title, self.lines = title, list(lines)
        self._json, self._hide = json_input, hide_input

    @classmethod
    def from_exception_data(
        cls, title: str, line_errors: Sequence[Mapping[str, Any]], input_type: str = "python", hide_input: bool = False
    ) -> Self:
        """Return an error made of its parts."""
        lines: list[Any] = []
        for one in line_errors:
            kind = one["type"]
            place, value = tuple(one.get("loc", ())), one.get("input")
            if isinstance(kind, PydanticCustomError):
                lines += Fault.custom(kind, value).below(*place).lines
            else:
                lines.append((kind, place, value, dict(one.get("ctx", {})), None))
        return cls(title, lines, json_input=input_type == "json", hide_input=hide_input)

    def error_count(self) -> int:
        """Return the number of errors."""
        return len(self.lines)

    def errors(
        self, *, include_url: bool = True, include_context: bool = True, include_input: bool = True
    ) -> list[dict[str, Any]]:
        """Return each error with its type, place, words, input and context."""
        found: list[dict[str, Any]] = []
        for kind, place, value, context, template in self.lines:
            one: dict[str, Any] = {"type": kind, "loc": place, "msg": self._message(kind, context, template)}
            if include_input:
                one["input"] = value
            if include_context and context:
                one["ctx"] = dict(context)
            found.append(one)
        return found

    def json(
        self,
        *,
        indent: int | None = None,
        include_url: bool = True,
        include_context: bool = True,
        include_input: bool = True,
    ) -> str:
        """Return the errors as JSON."""
        found = self.errors(include_context=include_context, include_input=include_input)
        return json.dumps(found, indent=indent, default=str)

    def _message(self, kind: str, context: Mapping[str, Any], template: str | None) -> str:
        return filled(template, context) if template else worded(kind, context, json_input=self._json)

    def __str__(self) -> str:
        count = len(self.lines)
        shown = [f"{count} validation error{'' if count == 1 else 's'} for {self.title}"]
        for kind, place, value, context, template in self.lines:
            if place:
                shown.append(".".join(map(str, place)))
            held = "" if self._hide else f", input_value={_short(value)}, input_type={type(value).__name__}"
            shown.append(f"  {self._message(kind, context, template)} [type={kind}{held}]")
        return "\n".join(shown)

    __repr__ = __str__


def called(function: Callable[..., Any], value: Any, *given: Any) -> Any:
    """Return the result of a validator's function, with its errors as faults.

    Args:
        function: The function.
        value: The value in question, for the fault.
        given: Its arguments.
    """
    try:
        return function(*given)
    except ValidationError as error:
        raise Fault(list(error.lines)) from error
    except PydanticCustomError as error:
        raise Fault.custom(error, value) from error
    except ValueError as error:
        raise Fault.of("value_error", value, error=error) from error
    except AssertionError as error:
        raise Fault.of("assertion_error", value, error=error) from error


def _short(value: Any) -> str:
    text = repr(value)
    half = _MOST_SHOWN // 2
    return text if len(text) <= _MOST_SHOWN else f"{text[:half]}...{text[1 - half :]}"
