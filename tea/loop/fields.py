"""Fields: the status of each field of a wanted object, and the best object made of the known ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tea.components.json_schema import value_faults
from tea.components.lossless import lossless
from tea.errors import BadArguments
from tea.types import JsonObject, JsonSchema, JsonValue

UNKNOWN = "unknown"
UNKNOWN_AFTER = 12  # searches that found no field, after which the missing ones are given up
UNFOUND = "given up after {searches} that found no field; it may stay without a value, unless you know one"
FEW = 2  # up to so many fields no list of found values is shown
MOST_NAMED = 12
_MOST_VALUE = 200
_MOST_DEPTH = 4
_EMPTY = frozenset(("", UNKNOWN, "n/a", "not known", "not found", "?", "tbd"))


@dataclass(slots=True)
class Fields:
    """The fields of a wanted object, as far as they are known.

    Args:
        schema: JSON Schema of the object.
        known: What was found so far; None for a field that was given up.
        unknown_after: After how many searches that found no field the missing ones are given up.

    `searches` is how many were made since a field was found, and `given_up` after how many each field was given up.
    """

    schema: JsonSchema
    known: dict[str, JsonValue] = field(default_factory=dict[str, Any])
    unknown_after: int = UNKNOWN_AFTER
    searches: int = 0
    given_up: dict[str, int] = field(default_factory=dict[str, int])

    @classmethod
    def of(cls, schema: JsonSchema | None, unknown_after: int = UNKNOWN_AFTER) -> Fields | None:
        """Return the fields of a form, None if it is not an object with named members."""
        return cls(schema, unknown_after=unknown_after) if schema is not None and _members(schema) else None

    @property
    def are_many(self) -> bool:
        """Whether a list of found values helps."""
        return len(_members(self.schema)) > FEW

    def keep(self, arguments: JsonObject) -> str:
        """Keep found fields, and return their names; the question ends with the status of all fields.

        Raises:
            BadArguments: One is not a field of the answer, or its value does not fit.
        """
        given: object = arguments.get("fields", arguments)
        members = _members(self.schema)
        if not isinstance(given, Mapping) or not given:
            raise BadArguments("No field is given.", fix='write {"fields": {"name": value}}.')
        found: dict[str, JsonValue] = {}
        for name, value in cast("Mapping[str, Any]", given).items():
            if name not in members:
                raise BadArguments(f"{name!r} is not a field.", fix=f"the fields are {', '.join(members)}.")
            part = _part(self.schema, name)
            read = lossless(_whole(part), {"value": value})["value"] if value is not None else None
            if read is not None and (faults := value_faults(part, read)):
                raise BadArguments(f"{name!r} does not fit: {'; '.join(faults)}.", fix="give it in the form asked for.")
            found[name] = read
        if any(value is not None and self.known.get(name) is None for name, value in found.items()):
            self.searches = 0
        self.known.update(found)
        return f"Kept: {', '.join(found)}."

    def completed(self, answer: JsonValue) -> JsonValue:
        """Return an answer completed by the kept fields."""
        if not isinstance(answer, Mapping):
            return answer
        given = cast("Mapping[str, Any]", answer)
        kept = {name: one for name, one in self.known.items() if one is not None and name not in given}
        return {**given, **kept} if kept else given

    def searched(self, searches: int) -> None:
        """Count searches, and give up the missing fields after too many fruitless ones."""
        self.searches += searches
        if self.searches >= self.unknown_after:
            self.given_up |= dict.fromkeys(self.missing, self.searches)
            self.known |= dict.fromkeys(self.missing)

    @property
    def missing(self) -> list[str]:
        """The fields neither found nor given up."""
        return [name for name in _members(self.schema) if name not in self.known]

    def text(self) -> str:
        """Return the status of each field as text; empty before anything is known."""
        if not self.known:
            return ""
        lines = [f"- {name}: {self._status(name)}" for name in _members(self.schema)]
        return "\n".join(["Fields of the answer:", *lines])

    def unresolved(self, answer: JsonValue) -> list[str]:
        """Return the places of an answer without a value, but for those given up."""
        given_up = {name for name, value in self.known.items() if value is None}
        return [
            one for one in unresolved(self.schema, answer) if one.partition(".")[0].partition("[")[0] not in given_up
        ]

    def gaps(self, answer: JsonValue) -> list[str]:
        """Return a line for each place of an answer without a value, and for each required field left out."""
        after = {name: f" after {self._after(name)}" for name in self.given_up}
        places = [*unresolved(self.schema, answer), *self.left_out(answer)]
        return [f"{place!r} is not known{after.get(place, '')}" for place in places]

    def left_out(self, answer: JsonValue) -> list[str]:
        """Return the required fields missing in an answer."""
        given = cast("Mapping[str, Any]", answer) if isinstance(answer, Mapping) else dict[str, Any]()
        return [name for name in _required(self.schema) if name not in given]

    def best(self, *others: JsonValue) -> JsonValue:
        """Return an object in the form asked for, of the known fields; None without any.

        A field without a fitting value is null where that fits, else `unknown` where that does, else left out.

        Args:
            others: Further values to take fields from, the best first.
        """
        values = [self.known, *(cast("Mapping[str, Any]", one) for one in others if isinstance(one, Mapping))]
        found: dict[str, JsonValue] = {}
        for name in _members(self.schema):
            fitting = (one[name] for one in values if one.get(name) is not None)
            part = _part(self.schema, name)
            value = next((one for one in fitting if not value_faults(part, one)), None)
            if value is not None:
                found[name] = value
        if not found:
            return None
        for name in _required(self.schema):
            if name not in found and (filler := _filler(_part(self.schema, name))) is not None:
                found[name] = filler[0]
        return {name: found[name] for name in _members(self.schema) if name in found}

    def _status(self, name: str) -> str:
        if name not in self.known:
            return "missing" if name in _required(self.schema) else "open, may be left out"
        value = self.known[name]
        if value is not None:
            return json.dumps(value, ensure_ascii=False)[:_MOST_VALUE]
        return "given up" if name not in self.given_up else UNFOUND.format(searches=self._after(name))

    def _after(self, name: str) -> str:
        number = self.given_up[name]
        return f"{number} search{'' if number == 1 else 'es'}"


def unresolved(schema: JsonSchema, answer: JsonValue) -> list[str]:
    """Return the places of an answer without a value: null, empty text, or a word such as `unknown`.

    Args:
        schema: Its form.
        answer: The answer, which fits it.
    """
    return list(_empty_places(schema, answer, "", 0))


def _empty_places(schema: Mapping[str, Any], value: JsonValue, place: str, depth: int) -> Iterator[str]:
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, Mapping):
        members = _members(schema)
        for name, one in cast("Mapping[str, Any]", value).items():
            part: Any = members.get(name, {})
            if isinstance(part, Mapping):
                yield from _empty_places(cast("Mapping[str, Any]", part), one, f"{place}.{name}".lstrip("."), depth + 1)
    elif isinstance(value, list):
        items: Any = schema.get("items", {})
        for number, one in enumerate(cast("list[Any]", value), 1):
            if isinstance(items, Mapping):
                yield from _empty_places(cast("Mapping[str, Any]", items), one, f"{place}[{number}]", depth + 1)
    elif place and value not in schema.get("enum", ()) and _is_empty(value):
        yield place


def _is_empty(value: JsonValue) -> bool:
    return value is None or (isinstance(value, str) and value.strip().casefold() in _EMPTY)


def _members(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the named members of an object's schema."""
    found: Any = schema.get("properties")
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) and schema.get("type") == "object" else {}


def _required(schema: Mapping[str, Any]) -> Sequence[str]:
    found: Any = schema.get("required", ())
    return [str(one) for one in cast("list[Any]", found)] if isinstance(found, list) else []


def _part(schema: JsonSchema, name: str) -> JsonSchema:
    """Return the schema of a member, with the definitions it may refer to."""
    part: Any = _members(schema).get(name, {})
    held = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    return {**held, **part} if isinstance(part, dict) else held


def _whole(part: JsonSchema) -> JsonSchema:
    held = {key: part[key] for key in ("$defs", "definitions") if key in part}
    return {**held, "type": "object", "properties": {"value": part}, "required": ["value"]}


def _filler(part: JsonSchema) -> tuple[JsonValue] | None:
    """Return the value for an unknown field, None if none fits."""
    return next(((one,) for one in (None, UNKNOWN) if not value_faults(part, one)), None)
