"""Lossless conversion of arguments to the types of a schema: models write `"5"` for 5, `"x"` for `["x"]`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from types import NoneType
from typing import Any, cast

from tea.components.json_schema import Endless, Work, fits_strictly
from tea.types import JsonObject, JsonSchema, JsonValue

_WHOLE = re.compile(r"(0|-?[1-9]\d{0,17})(\.0+)?", re.ASCII)
_DECIMAL = re.compile(r"-?(0|[1-9]\d{0,17})(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)
_SEVERAL = re.compile(r"\S[^\S\n]*+[,;\n\u3001]\s*+\S")  # between the parts of an enumeration
_LEAST_SENTENCE = 300  # characters that the items of a list may have where each is a sentence, not a name
_EXACT = 2**53
_LARGEST = 10**18
_KINDS: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "object",
    list: "array",
    NoneType: "null",
}
_SINGLE: Mapping[Any, str] = {kind: name for kind, name in _KINDS.items() if kind not in (dict, list, NoneType)}
_MARKS: Mapping[str, str] = {"array": "[", "object": "{"}
_LOST: Any = object()


def lossless(schema: JsonSchema, arguments: JsonObject) -> JsonObject:
    """Return arguments in the types of a schema; the same object if nothing changes or the conversion is uncertain.

    A text that is a number, a truth, an object or a list becomes one, or the one of some allowed texts that differs
    only in capital letters and blanks around; a whole number becomes an integer, or a text; a single value becomes a
    list of one, unless it is a text that may name several, and a list of one its value; null for what may be left out
    is left out. Items of 300 characters and more are sentences, of which a text names no several. A value that fits is
    never changed.
    Where the outcome as a whole does not fit, a member is changed only if it fits alone, so that errors tell of the
    others.

    Args:
        schema: JSON Schema of the arguments, an object.
        arguments: JSON data.
    """
    if type(cast(object, arguments)) is not dict or _is_read(schema, cast("dict[str, Any]", arguments)):
        return arguments
    try:
        reader = _Reader(schema, Work(arguments))
        found = reader.read(schema, arguments)
        fits = found is arguments or fits_strictly(schema, found, reader.work)
        return found if fits else reader.singly(arguments)
    except (Endless, RecursionError):
        return arguments


def shaped(schema: JsonSchema, arguments: JsonObject) -> JsonObject:
    """Return arguments with texts of JSON parsed where only their form is wanted, for errors about their content.

    A text that fits, or whose parameter may be a text, stays; the same object if nothing changes.

    Args:
        schema: JSON Schema of the arguments, an object.
        arguments: JSON data.
    """
    if type(cast(object, arguments)) is not dict or not any(map(_is_written, arguments.values())):
        return arguments
    try:
        return _Reader(schema, Work(arguments)).shaped(arguments)
    except (Endless, RecursionError):
        return arguments


def converted(schema: JsonSchema, value: JsonValue) -> JsonValue:
    """Return data with each convertible part in the type of its schema, to tell of the faults of the others.

    Args:
        schema: JSON Schema of the data.
        value: JSON data; where the work is too much it stays as it is.
    """
    try:
        return _Reader(schema, Work(value)).read(schema, value)
    except (Endless, RecursionError):
        return value


def names_several(value: object) -> bool:
    """Return whether a value is a text of several parts: as one member of a list it may be a wrong one."""
    return isinstance(value, str) and _SEVERAL.search(value) is not None


def _is_read(schema: JsonSchema, arguments: dict[str, Any]) -> bool:
    """Return whether every argument is a scalar of exactly its parameter's type."""
    shown: Any = schema.get("properties")
    if schema.get("type") != "object" or type(shown) is not dict:
        return False
    for name, value in arguments.items():
        words = cast("dict[str, Any]", shown).get(name)
        if type(words) is not dict or "enum" in words:
            return False
        if cast("dict[str, Any]", words).get("type") != _SINGLE.get(type(value), _LOST):
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Reader:
    """A converter of values to one schema; an unconvertible value stays the same object."""

    root: JsonSchema
    work: Work

    def read(self, schema: JsonValue, value: JsonValue) -> Any:
        """Return the value in the schema's type, or unchanged."""
        self.work.spend()
        if not isinstance(schema, dict):
            return value
        words = self._resolved(cast("dict[str, Any]", schema))
        kind, wanted = _KINDS.get(cast("type[object]", type(value))), words.get("type")
        if kind is None:
            return value
        if isinstance(value, str) and (alike := _alike(words.get("enum"), value)) is not None:
            return alike
        if wanted is None:
            branches = words.get("anyOf", words.get("oneOf"))
            return self._only(cast("list[Any]", branches), value) if isinstance(branches, list) else value
        if isinstance(wanted, list):
            return self._only([{**words, "type": one} for one in cast("list[Any]", wanted)], value)
        if kind == wanted or (kind == "integer" and wanted == "number"):
            return self._inside(words, value)
        found = self._converted(words, wanted, value)
        return value if found is _LOST else found

    def singly(self, arguments: JsonObject) -> JsonObject:
        """Return arguments with each convertible member converted on its own; the same object if there is none."""
        shown: dict[str, Any] = self._resolved(self.root).get("properties") or {}
        read = {name: self.read(shown[name], value) for name, value in arguments.items() if name in shown}
        new = {name: one for name, one in read.items() if one is not arguments[name] and self._fits(shown[name], one)}
        return {**arguments, **new} if new else arguments

    def shaped(self, arguments: JsonObject) -> JsonObject:
        """Return arguments with each text of JSON of its parameter's type parsed; the same object without any."""
        shown: dict[str, Any] = self._resolved(self.root).get("properties") or {}
        new = {
            name: parsed
            for name, value in arguments.items()
            if name in shown and _is_written(value) and not self._fits(shown[name], value)
            for parsed in self._of_form(shown[name], str(value))
        }
        return {**arguments, **new} if new else arguments

    def _of_form(self, schema: JsonValue, text: str) -> list[Any]:
        """Return the JSON value in a text, as the only one of a list, if it has a type of the schema."""
        words = self._resolved(cast("dict[str, Any]", schema)) if isinstance(schema, dict) else {}
        branches: list[Any] = words.get("anyOf", words.get("oneOf")) or []
        if branches:
            return next(filter(None, (self._of_form(one, text) for one in branches)), list[Any]())
        mark = _MARKS.get(str(words.get("type")), "")
        parsed = self._parsed(words, text, mark) if mark else _LOST
        return [] if parsed is _LOST else [parsed]

    def _only(self, branches: list[Any], value: JsonValue) -> Any:
        """Return the value converted by the only one of several schemas able to read it; unchanged if it fits one."""
        if any(self._fits(one, value) for one in branches):
            return value
        found = dict[str, Any]()
        for one in branches:
            read = self.read(one, value)
            if read is not value and self._fits(one, read):
                found[json.dumps(read, sort_keys=True)] = read
        return next(iter(found.values())) if len(found) == 1 else value

    def _inside(self, words: JsonObject, value: Any) -> Any:
        """Return a value of the expected type with each of its members converted."""
        if isinstance(value, dict):
            return self._members(words, cast("dict[str, Any]", value))
        if not isinstance(value, list):
            return value
        items, given = words.get("items"), cast("list[Any]", value)
        read = [self.read(items, one) for one in given]
        return given if all(new is old for new, old in zip(read, given, strict=True)) else read

    def _members(self, words: JsonObject, members: dict[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = words.get("properties") or {}
        others, required = words.get("additionalProperties"), words.get("required") or ()
        read, changed = dict[str, Any](), False
        for name, value in members.items():
            schema = shown.get(name, others)
            if value is None and name in shown and name not in required and not self._fits(schema, None):
                changed = True
                continue
            read[name] = self.read(schema, value)
            changed = changed or read[name] is not value
        return read if changed else members

    def _converted(self, words: JsonObject, wanted: Any, value: Any) -> Any:
        """Return a value of another type as one of the expected type, `_LOST` if the conversion is uncertain."""
        match wanted, value:
            case "array", _ if value is not None:
                return self._listed(words, value)
            case "string" | "integer" | "number" | "boolean", [only] if not isinstance(only, list):
                alone = self.read(words, only)
                return alone if self._fits(words, alone) else _LOST
            case "object", str():
                return self._parsed(words, value, "{")
            case "integer", float() if value.is_integer() and abs(value) < _EXACT:
                return int(value)
            case "string", int() if type(value) is int and "format" not in words and abs(value) < _LARGEST:
                return str(value)
            case _, str():
                return _from_text(wanted, value)
            case _:
                return _LOST

    def _listed(self, words: JsonObject, value: Any) -> Any:
        """Return a list: the one written out in a text, else one of this single value."""
        parsed = self._parsed(words, value, "[") if isinstance(value, str) else _LOST
        if parsed is not _LOST and self._fits(words, parsed):
            return parsed
        items = words.get("items")
        alone = [self.read(items, value)]
        if alone == [value] and names_several(value) and not self._are_sentences(items):
            return _LOST
        return alone if "prefixItems" not in words and self._fits(words, alone) else _LOST

    def _are_sentences(self, items: JsonValue) -> bool:
        """Return whether the items of a list may be long enough for sentences."""
        words = self._resolved(cast("dict[str, Any]", items)) if isinstance(items, dict) else {}
        most = words.get("maxLength")
        return isinstance(most, int) and most >= _LEAST_SENTENCE

    def _parsed(self, words: JsonObject, text: str, mark: str) -> Any:
        """Return the JSON value in a text, with its members converted, if it begins with the given mark."""
        if not text.lstrip().startswith(mark):
            return _LOST
        try:
            return self._inside(words, json.loads(text, object_pairs_hook=_distinct, parse_constant=_refused))
        except ValueError:
            return _LOST

    def _resolved(self, words: dict[str, Any]) -> dict[str, Any]:
        """Return the schema a reference points at, if it is a definition of the same schema."""
        if "$ref" not in words:
            return words
        known: dict[str, Any] = self.root.get("$defs") or {}
        name = str(words["$ref"]).removeprefix("#/$defs/")
        return self._resolved(known[name]) if name in known else {}

    def _fits(self, schema: JsonValue, value: JsonValue) -> bool:
        if not isinstance(schema, dict):
            return schema is not False
        words, held = cast("dict[str, Any]", schema), self.root.get("$defs")
        return fits_strictly({**words, "$defs": held} if held else words, value, self.work)


def _is_written(value: object) -> bool:
    """Return whether a value is a text that may be JSON of an object or a list."""
    return isinstance(value, str) and value.lstrip()[:1] in (*_MARKS.values(),)


def _alike(allowed: Any, text: str) -> str | None:
    """Return the only allowed text equal to a text, ignoring case and surrounding blanks."""
    texts = [one for one in cast("list[Any]", allowed) if isinstance(one, str)] if isinstance(allowed, list) else []
    if text in texts:
        return text
    found = [one for one in texts if one.strip().casefold() == text.strip().casefold()]
    return found[0] if len(found) == 1 else None


def _from_text(wanted: Any, text: str) -> Any:
    if wanted == "boolean":
        return {"true": True, "false": False}.get(text.lower(), _LOST)
    if wanted in ("integer", "number") and (whole := _WHOLE.fullmatch(text)):
        number = int(whole[1])
        return number if wanted == "integer" or abs(number) < _EXACT else _LOST
    if wanted == "number" and _DECIMAL.fullmatch(text):
        number = float(text)
        return number if isfinite(number) and Decimal(repr(number)) == Decimal(text) else _LOST
    return _LOST


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice")
    return found


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
