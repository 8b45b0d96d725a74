"""Samples: values valid for a JSON Schema, the smallest ones, or with a seed others, always the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, TypeVar, cast

from tea.components.json_schema import schema_fault, value_faults
from tea.components.patterns import Pattern
from tea.errors import BadInput
from tea.testing.patterns import NoMatch, matching
from tea.types import JsonSchema, JsonValue

T = TypeVar("T")
_DEEPEST, _MORE = 12, 3
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_FORMATS: Mapping[str, Sequence[str]] = {
    "date": ("2024-01-01", "1999-12-31"),
    "date-time": ("2024-01-01T00:00:00Z", "1999-12-31T23:59:59Z"),
    "time": ("00:00:00Z", "23:59:59Z"),
    "duration": ("PT1S", "P1D"),
    "email": ("a@example.com", "b@example.org"),
    "hostname": ("example.com", "example.org"),
    "ipv4": ("127.0.0.1", "192.0.2.1"),
    "ipv6": ("::1", "2001:db8::1"),
    "uri": ("https://example.com/", "https://example.org/a"),
    "uuid": ("00000000-0000-4000-8000-000000000000", "12345678-1234-4234-8234-123456789abc"),
}
_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("properties", "required", "additionalProperties", "minProperties", "patternProperties"), "object"),
    **dict.fromkeys(("items", "prefixItems", "minItems", "maxItems", "contains"), "array"),
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), "string"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
}
_MERGED: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
    "required": lambda one, other: list(dict.fromkeys([*one, *other])),
    "enum": lambda one, other: [value for value in one if value in other],
}


class _Unfit(Exception):
    """No value was found here."""


def sample(schema: JsonSchema, seed: int | str = 0) -> JsonValue:
    """Return a value valid for a JSON Schema.

    Args:
        schema: The schema.
        seed: 0 for the smallest value that is found; any other for one of many, always the same for the same seed.

    Raises:
        BadInput: The schema cannot be used, or no value was found that fits it.

    Examples:
        >>> sample({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
        {'city': 'a'}
    """
    if fault := schema_fault(schema):
        raise BadInput(f"The schema cannot be used: {fault}.", fix="correct it.")
    tries = [_Sampler(schema, None)] if seed == 0 else [_Sampler(schema, Random(f"{seed}/{n}")) for n in range(10)]
    for one in (*tries, _Sampler(schema, None)):
        try:
            value = one.value(schema, 0)
        except (_Unfit, RecursionError):
            continue
        if not value_faults(schema, value, limit=1):
            return value
    shown = json.dumps(schema, ensure_ascii=False)[:80]
    raise BadInput(f"No value was found that fits the schema {shown}.", fix="give the value yourself.")


class _Sampler:
    """A generator of one value of a schema.

    Args:
        root: The whole schema, where references lead.
        chance: Chooses; None for the smallest.
    """

    def __init__(self, root: JsonSchema, chance: Random | None) -> None:
        self._root, self._chance = root, chance

    def value(self, schema: Any, depth: int) -> JsonValue:
        """Return a value valid for a part of the schema."""
        if depth > _DEEPEST or schema is False:
            raise _Unfit
        if not isinstance(schema, dict):
            return self._text({})
        words = self._whole(cast("dict[str, Any]", schema), depth)
        for options in ("anyOf", "oneOf"):
            if options in words:
                rest = {key: one for key, one in words.items() if key != options}
                return self._fitting([_merged(rest, one) for one in self._mixed(words[options])], words, depth)
        if "const" in words:
            return words["const"]
        if "enum" in words:
            return self._first(one for one in self._mixed(words["enum"]) if self._fits(words, one))
        kinds = words.get("type") or next((_KEYS[key] for key in words if key in _KEYS), "string")
        named = cast("list[str]", kinds if isinstance(kinds, list) else [kinds])
        return self._fitting([{**words, "type": kind} for kind in self._mixed(named)], words, depth)

    def _whole(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        """Return a schema merged with its references and all of `allOf`."""
        words, seen = schema, 0
        while "$ref" in words or "allOf" in words:
            seen += 1
            if seen > _DEEPEST:
                raise _Unfit
            rest = {key: one for key, one in words.items() if key not in ("$ref", "allOf")}
            parts = [*words.get("allOf", ()), *([self._referred(words["$ref"])] if "$ref" in words else ())]
            words = rest
            for part in parts:
                words = _merged(words, part)
        return words

    def _referred(self, reference: str) -> Any:
        found: Any = self._root
        for key in reference.removeprefix("#").split("/")[1:]:
            name = key.replace("~1", "/").replace("~0", "~")
            found = cast("list[Any]", found)[int(name)] if isinstance(found, list) else found[name]
        return found

    def _fitting(self, options: Iterable[Any], words: dict[str, Any], depth: int) -> JsonValue:
        """Return the value of the first option with a value valid for the whole schema."""
        for option in options:
            try:
                value = self._typed(option, depth) if _is_typed(option) else self.value(option, depth + 1)
            except _Unfit:
                continue
            if self._fits(words, value):
                return value
        raise _Unfit

    def _fits(self, words: dict[str, Any], value: JsonValue) -> bool:
        held = {key: self._root[key] for key in ("$defs", "definitions") if key in self._root}
        return not value_faults({**held, **words}, value, limit=1) if held or len(words) > 1 else True

    def _typed(self, words: dict[str, Any], depth: int) -> JsonValue:
        match words["type"]:
            case "object":
                return self._object(words, depth)
            case "array":
                return self._array(words, depth)
            case "string":
                return self._text(words)
            case "integer":
                return self._number(words, 1)
            case "number":
                return self._number(words, words.get("multipleOf", 1))
            case "boolean":
                return next(self._mixed([False, True]))
            case _:
                return None

    def _object(self, words: dict[str, Any], depth: int) -> dict[str, JsonValue]:
        shown = cast("dict[str, Any]", words.get("properties", {}))
        required = cast("list[str]", words.get("required", []))
        chosen = [*required, *(name for name in shown if name not in required and self._also(depth))]
        found = {name: self.value(shown.get(name, self._other(words, name)), depth + 1) for name in chosen}
        names = (*(name for name in shown if name not in found), *(f"{_LETTERS[0]}{n}" for n in range(100)))
        for name in names:
            if len(found) >= words.get("minProperties", 0):
                break
            found.setdefault(name, self.value(shown.get(name, self._other(words, name)), depth + 1))
        return found

    def _other(self, words: dict[str, Any], name: str) -> Any:
        patterns = cast("dict[str, Any]", words.get("patternProperties", {}))
        return next(
            (one for key, one in patterns.items() if Pattern(key).matches(name)), words.get("additionalProperties", {})
        )

    def _array(self, words: dict[str, Any], depth: int) -> list[JsonValue]:
        first = cast("list[Any]", words.get("prefixItems", []))
        least = max(words.get("minItems", 0), words.get("minContains", 1) if "contains" in words else 0)
        most = words.get("maxItems", max(least, len(first)) + _MORE)
        wanted = min(most, max(least, len(first))) if self._chance is None else self._chance.randint(least, most)
        items = words.get("contains", words.get("items", {}))
        found: list[JsonValue] = []
        for place in range(wanted):
            schema = first[place] if place < len(first) else items
            found.append(
                self._distinct(schema, found, depth) if words.get("uniqueItems") else self.value(schema, depth + 1)
            )
        return found

    def _distinct(self, schema: Any, taken: list[JsonValue], depth: int) -> JsonValue:
        """Return a value not yet taken: the smallest if possible, else one of many."""
        for number in range(50):
            one = self if number == 0 else _Sampler(self._root, Random(f"{len(taken)}/{number}"))
            value = one.value(schema, depth + 1)
            if value not in taken:
                return value
        raise _Unfit

    def _text(self, words: dict[str, Any]) -> str:
        least, most = words.get("minLength", 0), words.get("maxLength")
        if "pattern" in words:
            try:
                return matching(words["pattern"], self._chance)
            except NoMatch as error:
                raise _Unfit from error
        if words.get("format") in _FORMATS:
            return next(self._mixed(_FORMATS[words["format"]]))
        if self._chance is None:
            return _LETTERS[0] * max(least, 1 if most is None else min(1, most))
        size = self._chance.randint(
            max(least, min(1, most if most is not None else 1)), least + 8 if most is None else most
        )
        return "".join(self._chance.choice(_LETTERS) for _ in range(min(size, least + 8)))

    def _number(self, words: dict[str, Any], unit: float) -> int | float:
        """Return a multiple inside the limits, the one nearest to 0, or another by chance."""
        low, high = _limits(words)
        if words["type"] == "number" and "multipleOf" not in words and high - low < unit:
            unit = (high - low) / 4 or unit
        unit = words.get("multipleOf", unit)
        start = 0 if low <= 0 <= high else low if low > 0 else high
        steps = -(-start // unit) if start == low else start // unit
        steps += (unit * steps == words.get("exclusiveMinimum")) - (unit * steps == words.get("exclusiveMaximum"))
        if self._chance is not None:
            room = min(100, (high - unit * steps) / unit)
            steps += self._chance.randint(0, max(0, int(room)))
        value = unit * steps
        if words["type"] == "integer" or value == int(value):
            return int(value)
        return value

    def _also(self, depth: int) -> bool:
        return self._chance is not None and depth < _MORE and self._chance.random() < 0.5

    def _mixed(self, options: Sequence[T]) -> Iterator[T]:
        """Yield options in their order, or in another by chance."""
        return iter(options if self._chance is None else self._chance.sample(list(options), len(options)))

    def _first(self, options: Iterable[T]) -> T:
        for one in options:
            return one
        raise _Unfit


def _is_typed(option: Any) -> bool:
    known = isinstance(option, dict) and isinstance(cast("dict[str, Any]", option).get("type"), str)
    return known and not {"anyOf", "oneOf", "allOf", "$ref", "enum", "const"} & cast("dict[str, Any]", option).keys()


def _merged(one: dict[str, Any], other: Any) -> dict[str, Any]:
    """Return two schemas merged into one, as far as possible."""
    if other is False:
        raise _Unfit
    if not isinstance(other, dict):
        return one
    found = dict(one)
    for key, value in cast("dict[str, Any]", other).items():
        if key not in found:
            found[key] = value
        elif key in _MERGED:
            found[key] = _MERGED[key](found[key], value)
        elif key == "properties":
            mine = cast("dict[str, Any]", found[key])
            found[key] = {**mine, **{name: _merged(mine.get(name, {}), part) for name, part in value.items()}}
        elif key in ("anyOf", "oneOf", "allOf", "$ref") and found[key] != value:
            found["allOf"] = [*found.get("allOf", []), {key: value}]
        else:
            found[key] = value
    return found


def _limits(words: dict[str, Any]) -> tuple[float, float]:
    low = max((words[key] for key in ("minimum", "exclusiveMinimum") if key in words), default=float("-inf"))
    high = min((words[key] for key in ("maximum", "exclusiveMaximum") if key in words), default=float("inf"))
    return low, high
