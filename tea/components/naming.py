"""Names of arguments: those of other functions for the same thing, and misspelt ones, as the parameters meant."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any, cast

from tea.components.json_schema import value_faults
from tea.components.lossless import lossless, names_several, shaped
from tea.types import JsonObject, JsonSchema

_MOST_FAULTS, _MOST_NAME = 3, 40
_ALIKE = 0.8  # share of equal letters in names that are the same
_MEANINGS = (
    {"path", "paths", "file", "files", "filename", "filenames", "filepath", "filepaths", "source", "sources", "url"}
    | {"urls", "uri", "link", "document", "image", "picture", "name", "names"},
    {"sql", "query", "statement"},
    {"query", "queries", "q", "question", "search"},
    {"task", "question", "query", "prompt", "request", "instruction", "instructions"},
    {"text", "content", "contents"},
    {"code", "program", "script"},
    {"expression", "formula"},
    {"command", "cmd"},
)


def understood(schema: JsonSchema, arguments: JsonObject) -> JsonObject:
    """Return arguments by the names and in the types of a schema; the same object if nothing changes.

    Args:
        schema: JSON Schema of the arguments, an object.
        arguments: JSON data.
    """
    return shaped(schema, lossless(schema, renamed(schema, arguments)))


def renamed(schema: JsonSchema, arguments: JsonObject) -> JsonObject:
    """Return arguments with each unknown name replaced by the only parameter meant; the same object if there is none.

    A parameter is meant that is left out, and called by another word for the same thing or nearly the same; the needed
    one before others.
    """
    if type(cast(object, arguments)) is not dict:
        return arguments
    known = _parameters(schema)
    if known is None or arguments.keys() <= known.keys():
        return arguments
    needed = cast("Collection[str]", schema.get("required") or ())
    found = {name: _meant(name, [one for one in known if one not in arguments], needed) for name in arguments}
    meant = {name: one for name, one in found.items() if name not in known and one}
    if not meant or len({*meant.values()}) < len(meant):
        return arguments
    return {
        meant.get(name, name): _alone(known[meant[name]], value) if name in meant else value
        for name, value in arguments.items()
    }


def name_hint(schema: JsonSchema, arguments: object) -> str:
    """Return a hint at the form of a list given as one text, or at the parameter for an unknown name.

    That is the nearest, or the only needed one left out. Empty if nothing is known.
    """
    known = _parameters(schema) or {}
    given = cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}
    left_out = [one for one in cast("Collection[str]", schema.get("required") or ()) if one not in given]
    for name, value in given.items():
        if known.get(name, {}).get("type") == "array" and names_several(value):
            return f'write {name} as a list of texts, ["...", "..."], also for one; '
        near = () if name in known else difflib.get_close_matches(_letters(name), map(_letters, known), n=1)
        found = [one for one in known if _letters(one) in near]
        if found := found or (left_out if name not in known and len(left_out) == 1 else []):
            return f"did you mean {found[0]!r}? "
    return ""


def argument_faults(schema: JsonSchema, arguments: JsonObject) -> list[str]:
    """Return the first reasons arguments do not fit a schema: names first, then values; empty if they fit.

    Args:
        schema: JSON Schema of the arguments.
        arguments: By name.
    """
    known, needed = _parameters(schema), cast("Collection[str]", schema.get("required") or ())
    if known is None:
        return value_faults(schema, arguments)
    strange = [f"there is no parameter {name[:_MOST_NAME]!r}" for name in arguments if name not in known]
    missing = [f"{name!r} is missing" for name in needed if name not in arguments]
    return [*strange, *missing][:_MOST_FAULTS] if strange else value_faults(schema, arguments)


def _parameters(schema: JsonSchema) -> Mapping[str, Any] | None:
    """Return the parameters of a schema by name; None if it takes others besides."""
    known: Any = schema.get("properties")
    is_closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    if not isinstance(known, dict) or not is_closed:
        return None
    return cast("dict[str, Any]", known)


def _meant(name: str, free: Collection[str], needed: Collection[str]) -> str:
    """Return the only free parameter meant by a name, empty if there is none or several."""
    word = _letters(name)
    same = [one for one in free if _letters(one) == word]
    alike = [one for one in free if _is_alike(word, _letters(one))]
    for some in (same, alike, [one for one in alike if one in needed]):
        if len(some) == 1:
            return some[0]
    return ""


def _is_alike(word: str, other: str) -> bool:
    if any(word in words and other in words for words in _MEANINGS):
        return True
    return len(word) > 3 and difflib.SequenceMatcher(None, word, other).ratio() >= _ALIKE


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _alone(schema: Any, value: Any) -> Any:
    """Return the only member of a list, for a parameter taking a single text."""
    if not isinstance(value, list) or not isinstance(schema, dict):
        return cast("Any", value)
    listed, wanted = cast("list[Any]", value), cast("dict[str, Any]", schema).get("type")
    return listed[0] if wanted == "string" and len(listed) == 1 and isinstance(listed[0], str) else listed
