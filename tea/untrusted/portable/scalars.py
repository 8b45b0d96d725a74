"""Scalars: validators of single plain values."""

from __future__ import annotations

import math
import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any
from uuid import UUID

from tea.untrusted.portable.faults import Fault, SchemaError
from tea.untrusted.portable.state import Builder, Check, Schema, State, option

_TRUE = frozenset({"1", "on", "t", "true", "y", "yes"})
_FALSE = frozenset({"0", "off", "f", "false", "n", "no"})
_INT = re.compile(r"\s*[+-]?\d+(?:_\d+)*(?:\.0+)?\s*", re.ASCII)
_FLOAT = re.compile(r"\s*[+-]?(?:inf(?:inity)?|nan|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[+-]?\d+)?)\s*", re.I | re.ASCII)
_MOST_DIGITS = 4_300
_LARGEST = 2**63
BOUNDS: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("le", "less_than_equal", lambda value, bound: value <= bound),
    ("lt", "less_than", lambda value, bound: value < bound),
    ("ge", "greater_than_equal", lambda value, bound: value >= bound),
    ("gt", "greater_than", lambda value, bound: value > bound),
)


def anything(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator passing everything."""
    return lambda value, state: value


def none(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of None."""

    def check(value: Any, state: State) -> Any:
        if value is not None:
            raise Fault.of("none_required", value)

    return check


def boolean(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of truth values."""
    strict = option(schema, config, "strict", False)

    def check(value: Any, state: State) -> Any:
        if isinstance(value, bool):
            return value
        if state.is_strict(strict):
            raise Fault.of("bool_type", value)
        if isinstance(value, str | bytes):
            word = (value.decode("utf-8", "replace") if isinstance(value, bytes) else value).lower()
            if word in _TRUE or word in _FALSE:
                return word in _TRUE
            raise Fault.of("bool_parsing", value)
        if isinstance(value, int | float):
            if value in (0, 1):
                return bool(value)
            raise Fault.of("bool_parsing", value)
        raise Fault.of("bool_type", value)

    return check


def integer(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of whole numbers."""
    strict, bounded = option(schema, config, "strict", False), _bounds(schema)

    def check(value: Any, state: State) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            return bounded(int(value), value)
        if state.is_strict(strict):
            raise Fault.of("int_type", value)
        return bounded(_whole(value), value)

    return check


def _whole(value: Any) -> int:
    """Return the whole number meant by a value of another type."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str | bytes):
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        if len(text) > _MOST_DIGITS:
            raise Fault.of("int_parsing_size", value)
        if not _INT.fullmatch(text):
            raise Fault.of("int_parsing", value)
        return int(text.partition(".")[0])
    if isinstance(value, Decimal | float):
        if not math.isfinite(value):
            raise Fault.of("finite_number", value)
        if value != int(value):
            raise Fault.of("int_from_float", value)
        if abs(value) >= _LARGEST:
            raise Fault.of("int_parsing_size", value)
        return int(value)
    raise Fault.of("int_type", value)


def number(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of numbers with a fraction."""
    strict, bounded = option(schema, config, "strict", False), _bounds(schema)
    infinite = option(schema, config, "allow_inf_nan", True)

    def check(value: Any, state: State) -> Any:
        if isinstance(value, float):
            found = float(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            found = _float(value, value)
        elif isinstance(value, Decimal):
            found = float(value)
        elif state.is_strict(strict):
            raise Fault.of("float_type", value)
        elif isinstance(value, str | bytes):
            text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
            if not _FLOAT.fullmatch(text):
                raise Fault.of("float_parsing", value)
            found = _float(text, value)
        elif hasattr(value, "__float__") or isinstance(value, bool):
            found = _float(value, value)
        else:
            raise Fault.of("float_type", value)
        if not infinite and not math.isfinite(found):
            raise Fault.of("finite_number", value)
        return bounded(found, value)

    return check


def _float(number: Any, value: Any) -> float:
    try:
        return float(number)
    except (ValueError, TypeError, OverflowError) as error:
        raise Fault.of("float_parsing", value) from error


def decimal(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of decimal numbers."""
    strict, bounded = option(schema, config, "strict", False), _bounds(schema)
    infinite = option(schema, config, "allow_inf_nan", False)

    def check(value: Any, state: State) -> Any:
        if isinstance(value, Decimal):
            found = value
        elif (state.is_strict(strict) and not state.json) or isinstance(value, bool):
            raise Fault.of(
                "is_instance_of" if state.is_strict(strict) else "decimal_type", value, **{"class": "Decimal"}
            )
        elif isinstance(value, str | int | float):
            try:
                found = Decimal(str(value).strip())
            except InvalidOperation as error:
                raise Fault.of("decimal_parsing", value) from error
        else:
            raise Fault.of("decimal_type", value)
        if not infinite and not found.is_finite():
            raise Fault.of("finite_number", value)
        _digits(found, schema, value)
        return bounded(found, value)

    return check


def _digits(found: Decimal, schema: Schema, value: Any) -> None:
    """Check a decimal number against the digits allowed."""
    most, places = schema.get("max_digits"), schema.get("decimal_places")
    if (most is None and places is None) or not found.is_finite():
        return
    _, digits, exponent = found.normalize().as_tuple()
    power = int(exponent)
    after = max(0, -power)
    total = max(len(digits), after) if power <= 0 else len(digits) + power
    if places is not None and after > places:
        raise Fault.of("decimal_max_places", value, decimal_places=places)
    if most is not None and total > most:
        raise Fault.of("decimal_max_digits", value, max_digits=most)
    if most is not None and places is not None and total - after > most - places:
        raise Fault.of("decimal_whole_digits", value, whole_digits=most - places)


def _bounds(schema: Schema) -> Callable[[Any, Any], Any]:
    """Return a function holding a number to the bounds of its schema."""
    bounds = [(name, kind, fits, schema[name]) for name, kind, fits in BOUNDS if schema.get(name) is not None]
    multiple = schema.get("multiple_of")
    for one in (multiple, *(bound for *_, bound in bounds)):
        if not isinstance(one, int | float | Decimal | None):
            raise SchemaError(f"The bound {str(one)[:40]!r} is not a number.")

    def bounded(found: Any, value: Any) -> Any:
        if multiple is not None and not _is_multiple(found, multiple):
            raise Fault.of("multiple_of", value, multiple_of=multiple)
        for name, kind, fits, bound in bounds:
            if not fits(found, bound):
                raise Fault.of(kind, value, **{name: bound})
        return found

    return bounded


def _is_multiple(found: Any, multiple: Any) -> bool:
    """Return whether a number is a multiple of another, with the tolerance of floating point."""
    if not isinstance(found, float):
        return found % multiple == 0
    rest, threshold = found % multiple, found / 1e9
    return abs(rest) <= abs(threshold) or abs(rest - multiple) <= abs(threshold)


def text(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of texts."""
    strict = option(schema, config, "strict", False)
    least, most = (option(schema, config, name, None, f"str_{name}") for name in ("min_length", "max_length"))
    strip, lower, upper = (
        option(schema, config, name, False, f"str_{name}") for name in ("strip_whitespace", "to_lower", "to_upper")
    )
    numbers = option(schema, config, "coerce_numbers_to_str", False)
    pattern = schema.get("pattern")
    compiled = re.compile(pattern) if isinstance(pattern, str) else pattern

    def check(value: Any, state: State) -> Any:
        found = _text(value, strict=state.is_strict(strict), numbers=numbers)
        found = found.strip() if strip else found
        if most is not None and len(found) > most:
            raise Fault.of("string_too_long", value, max_length=most)
        if least is not None and len(found) < least:
            raise Fault.of("string_too_short", value, min_length=least)
        if compiled is not None and compiled.search(found) is None:
            raise Fault.of("string_pattern_mismatch", value, pattern=compiled.pattern)
        found = found.lower() if lower else found
        return found.upper() if upper else found

    return check


def _text(value: Any, *, strict: bool, numbers: bool) -> str:
    if isinstance(value, str):
        return str.__str__(value)  # also of a subclass, as an enumeration is
    if strict:
        raise Fault.of("string_type", value)
    if isinstance(value, Enum) and isinstance(value.value, str):
        return value.value
    if isinstance(value, bytes | bytearray):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise Fault.of("string_unicode", value) from error
    if numbers and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return str(value)
    raise Fault.of("string_type", value)


def data(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of bytes."""
    strict = option(schema, config, "strict", False)
    encoding = config.get("val_json_bytes", "utf8")
    least, most = schema.get("min_length"), schema.get("max_length")

    def check(value: Any, state: State) -> Any:
        if isinstance(value, bytes):
            found = value
        elif isinstance(value, str) and (state.json or not state.is_strict(strict)):
            found = _decoded(value, encoding) if state.json else value.encode()
        elif isinstance(value, bytearray) and not state.is_strict(strict):
            found = bytes(value)
        else:
            raise Fault.of("bytes_type", value)
        if most is not None and len(found) > most:
            raise Fault.of("bytes_too_long", value, max_length=most)
        if least is not None and len(found) < least:
            raise Fault.of("bytes_too_short", value, min_length=least)
        return found

    return check


def _decoded(value: str, encoding: str) -> bytes:
    try:
        if encoding == "base64":
            return urlsafe_b64decode(value) if set(value) & set("-_") else b64decode(value)
        return bytes.fromhex(value) if encoding == "hex" else value.encode()
    except ValueError as error:
        raise Fault.of("bytes_invalid_encoding", value, encoding=encoding, encoding_error=error) from error


def unique_id(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of UUIDs."""
    strict, version = option(schema, config, "strict", False), schema.get("version")

    def check(value: Any, state: State) -> Any:
        if isinstance(value, UUID):
            found = value
        elif state.is_strict(strict) and not state.json:
            raise Fault.of("is_instance_of", value, **{"class": "UUID"})
        elif isinstance(value, str | bytes):
            try:
                found = UUID(value) if isinstance(value, str) else UUID(bytes=value)
            except ValueError as error:
                raise Fault.of("uuid_parsing", value, error=error) from error
        else:
            raise Fault.of("uuid_type", value)
        if version is not None and found.version != version:
            raise Fault.of("uuid_version", value, expected_version=version)
        return found

    return check


def instance(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of instances of a class."""
    cls = schema["cls"]
    name = schema.get("cls_repr") or getattr(cls, "__name__", str(cls))

    def check(value: Any, state: State) -> Any:
        if state.json or not isinstance(value, cls):
            raise Fault.of("is_instance_of", value, **{"class": name})
        return value

    return check


def subclass(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of classes below a class."""
    cls = schema["cls"]

    def check(value: Any, state: State) -> Any:
        if not (isinstance(value, type) and issubclass(value, cls)):
            raise Fault.of("is_subclass_of", value, **{"class": schema.get("cls_repr") or cls.__name__})
        return value

    return check


def function(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of callables."""

    def check(value: Any, state: State) -> Any:
        if not callable(value):
            raise Fault.of("callable_type", value)
        return value

    return check


def complex_number(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of complex numbers."""

    def check(value: Any, state: State) -> Any:
        try:
            return value if isinstance(value, complex) else complex(value)
        except (TypeError, ValueError) as error:
            raise Fault.of("complex_type", value) from error

    return check
