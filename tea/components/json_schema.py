"""JSON Schemas written by people and models: checks of schemas, and of values against them.

Source: JSON Schema, Draft 2020-12. Only references inside the same schema are followed, so that
checking a value never reaches for a file or an address.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, cast

from tea.characters import in_sentence, on_one_line, path_in_sentence
from tea.components.patterns import Matching, pattern_fault
from tea.types import JsonObject, JsonSchema, JsonValue

_REFERENCES = ("$ref", "$dynamicRef")
_DIALECT = "$schema"
_APART = ("patternProperties", "unevaluatedProperties")  # jsonschema matches the patterns of one for the other itself
_LIMIT = 160
_MOST_BEGINNING = 30  # characters of a long text in them
_MOST_VALUE = 60  # characters of a value in the words of a fault
_BY_NAME = ("properties", "$defs", "patternProperties", "definitions", "dependentSchemas")
_VALUES = ("const", "enum", "default", "examples")
_KNOWN_WORDS = """
$defs $ref additionalProperties anyOf const default description enum examples exclusiveMaximum exclusiveMinimum format
items maxItems maxLength maximum minItems minLength minimum properties required title type
"""
_KNOWN = frozenset(_KNOWN_WORDS.split())
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength")
_RULES = {"type", "properties", "required", "additionalProperties", "items", "minimum", *_COUNTS}
_SOUND = _RULES | {"default", "description", "title", "examples"}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
_PLAIN = frozenset({dict, list, str, bool, int, float, type(None)})
_MOST_SHAPES = 3_000  # of a schema that is checked itself, which takes a fifth of a millisecond for each
_STEPS, _STEPS_FOR_PART = 50_000, 40  # of a check, and more for each part of a large value
_PAIRS = 32  # of values that are compared in the time of one step
_DEEPEST = 32  # of schemas that are looked through here


def schema_fault(schema: JsonSchema) -> str | None:
    """Return the reason `schema` cannot be used, in one line, or None if it can."""
    if _sound(schema):
        return None
    if sum(isinstance(one, dict | list | bool) for one in _values(schema)) > _MOST_SHAPES:
        return f"it consists of more than {_MOST_SHAPES:,} parts"
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import SchemaError

    try:
        # Its own check of the format of patterns would read them as Python's.
        Draft202012Validator.check_schema(schema, format_checker=FormatChecker(()))
        return pattern_fault(_patterns(schema)) or _unfollowable(schema)
    except SchemaError as error:
        return f"{_place(error.absolute_path)}: {_clipped(error.message)}"
    except RecursionError:
        return "it nests too deeply"


def _unfollowable(schema: JsonSchema) -> str | None:
    """Return why a schema cannot be followed, None if all its references lead to schemas of the same dialect.

    A reference leads to one of the schemas in it: what stands elsewhere, as in a default, is data, which was not
    checked, and may hold any pattern.
    """
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    if foreign := [text for key, text in _words(schema) if key == "$id" or not f"{text}/".startswith("#/")]:
        return f"{in_sentence(_clipped(foreign[0]))} leads out of the schema, or is not a path in it"
    whole: Any = DRAFT202012.create_resource(schema)
    held, seen, waiting = set[int](), set[str](), [whole]
    while waiting:
        one = waiting.pop()
        inner: JsonValue = one.contents
        held.add(id(inner))
        words = cast("dict[str, JsonValue]", inner).keys() if isinstance(inner, dict) else ()
        if one is not whole and _DIALECT in words:
            return f"`{_DIALECT}` stands inside it"
        seen.update(words)
        waiting += one.subresources()
    if seen.issuperset(_APART):
        return f"it holds {' and '.join(_APART)}, which are not checked together"
    resolver: Any = Registry[Any]().with_resource("", whole).resolver()
    for _, reference in _words(schema):
        try:
            found = resolver.lookup(reference).contents
        except (Unresolvable, TypeError, ValueError):  # of a path through texts and numbers
            found = None
        if id(found) not in held:
            return f"{in_sentence(_clipped(reference))} points at no schema in it"
    return None


def _sound(schema: JsonValue, depth: int = 0) -> bool:
    """Return whether a schema is certainly usable, judged by the most common keywords; False if in doubt.

    Loading the full check takes longer than most runs have work for it.
    """
    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    words = cast("dict[str, Any]", schema)
    if depth > _DEEPEST or not words.keys() <= _SOUND:
        return False
    named, required, shown = words.get("type", "null"), words.get("required", []), words.get("properties", {})
    types = cast("list[Any]", named) if isinstance(named, list) else [named]
    return (
        all(isinstance(one, str) and one in _TYPES for one in types)
        and 0 < len(types) == len(set(types))
        and _distinct_words(required)
        and all(isinstance(words.get(key, ""), str) for key in ("description", "title"))
        and isinstance(words.get("examples", []), list)
        and all(type(words.get(key, 0)) is int and words.get(key, 0) >= 0 for key in _COUNTS)
        and type(words.get("minimum", 0)) in (int, float)
        and isinstance(shown, dict)
        and all(_sound(one, depth + 1) for one in cast("dict[str, Any]", shown).values())
        and all(_sound(words.get(key, True), depth + 1) for key in ("items", "additionalProperties"))
    )


def _distinct_words(value: object) -> bool:
    if not isinstance(value, list):
        return False
    found = cast("list[object]", value)
    return all(isinstance(one, str) for one in found) and len(found) == len(set(found))


def _patterns(schema: JsonValue, *, names: bool = False) -> Iterator[str]:
    """Yield the regular expressions of a schema, without those in its data; `names` as in `_plain`."""
    if isinstance(schema, list):
        for one in cast("list[JsonValue]", schema):
            yield from _patterns(one)
    elif isinstance(schema, dict):
        for name, value in cast("dict[str, JsonValue]", schema).items():
            if not names and name == "pattern" and isinstance(value, str):
                yield value
            elif not names and name == "patternProperties" and isinstance(value, dict):
                yield from cast("dict[str, JsonValue]", value)
            if names or name not in _VALUES:
                yield from _patterns(value, names=not names and name in _BY_NAME)


def value_faults(schema: JsonSchema, value: JsonValue, limit: int = 3) -> list[str]:
    """Return the first reasons `value` does not fit `schema`, one line each; empty if it fits.

    Args:
        schema: A schema; nothing fits one that cannot be used.
        value: JSON data.
        limit: How many reasons to return at most.
    """
    whole = _Whole(schema, Work(value))
    try:
        if _verdict(schema, value, whole):
            return []
        from jsonschema import Draft202012Validator

        return _reasons(Draft202012Validator, whole, value, limit)
    except RecursionError:
        return ["it nests too deeply, or its schema refers to itself without end"]
    except Endless:
        return ["its schema takes too long to check"]
    except Exception:  # a schema in which nobody looked for faults may be anything
        return ["its schema cannot be used"]


def fits_strictly(schema: JsonSchema, value: JsonValue, work: Work) -> bool:
    """Return whether `value` fits `schema` without 5.0 as an integer, as in the validation of a call's arguments.

    Patterns are left out, since the schema may be anybody's.

    Args:
        schema: Any schema; nothing fits one that cannot be used.
        value: JSON data.
        work: What the work is counted with.

    Raises:
        Endless: It takes more work than is left.
        RecursionError: One of them nests too deeply, or the schema refers to itself without end.
    """
    whole = _Whole(schema, work)
    try:
        if (known := _verdict(schema, value, whole)) is not None:
            return known
        from jsonschema import Draft202012Validator
        from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]

        checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
        followed = sum(reference.count("/") for _, reference in _words(schema))
        work.spend(_parts(schema) + followed)  # all of it is copied
        plain = whole._replace(schema=without_patterns(schema))
        return not _reasons(extend(Draft202012Validator, type_checker=checker), plain, value, 1)
    except (Endless, RecursionError):
        raise
    except Exception:  # a declared schema may be anything
        return False


class Endless(Exception):
    """A check takes more steps than it may."""


class Work:
    """The work of checks, bounded: alternatives and references in a schema may multiply it without end.

    Args:
        value: What is checked; the steps that are allowed grow with it.
    """

    def __init__(self, value: JsonValue) -> None:
        self._value = value
        self._left, self._is_counted = _STEPS, False

    def spend(self, steps: int = 1) -> None:
        """Count steps of work.

        Raises:
            Endless: All that is allowed was spent.
        """
        self._left -= steps
        if self._left < 0 and not self._is_counted:  # seldom, so that few values are gone through for it
            self._is_counted = True
            self._left += _STEPS_FOR_PART * _parts(self._value)
        if self._left < 0:
            raise Endless


class _Whole(NamedTuple):
    """The whole schema of a check, and its work."""

    schema: JsonSchema
    work: Work


def without_patterns(schema: JsonSchema) -> JsonSchema:
    """Return a schema without regular expressions: to match them may take time without end."""
    return cast(JsonSchema, _plain(dict(schema)))


def _plain(schema: JsonValue, *, names: bool = False) -> JsonValue:
    """Return a schema without regular expressions; `names` if its keys are the names of members."""
    if isinstance(schema, list):
        return [_plain(one) for one in cast("list[JsonValue]", schema)]
    if not isinstance(schema, dict):
        return schema
    found = cast("dict[str, JsonValue]", schema)
    if names:
        return {name: _plain(value) for name, value in found.items()}
    dropped = ["pattern", "patternProperties", *(["additionalProperties"] if "patternProperties" in found else [])]
    return {
        name: value if name in _VALUES else _plain(value, names=name in _BY_NAME)
        for name, value in found.items()
        if name not in dropped
    }


def _parts(value: JsonValue) -> int:
    """Return how many values a value consists of."""
    return sum(1 for _ in _values(value))


def _values(value: JsonValue) -> Iterator[JsonValue]:
    """Yield a value, and those inside it."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        yield one
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _counted(check: Any, whole: _Whole) -> Any:
    """Return the check of a keyword, with its work counted."""

    def counted(validator: Any, argument: Any, value: Any, schema: Any) -> Any:
        whole.work.spend(len(cast("list[object]", argument)) if isinstance(argument, list) else 1)
        if argument is True and schema.get("uniqueItems") is True and isinstance(value, list):
            whole.work.spend(_compared(cast("list[object]", value)))
        return check(validator, argument, value, schema)

    return counted


def _compared(values: Sequence[object]) -> int:
    """Return the work of finding equal values: each of those not sorted is compared with all before it."""
    kinds = set(map(type, values))
    return len(values) if kinds <= {str} or kinds <= {int, float} else len(values) ** 2 // _PAIRS


def _reasons(validator: Any, whole: _Whole, value: JsonValue, limit: int) -> list[str]:
    from jsonschema import validators
    from referencing import Registry

    if stray := _unfollowable(whole.schema):
        return [f"its schema cannot be used: {stray}"]

    def is_boolean(_: object, one: object) -> bool:  # all that is asked at each step to what is unevaluated
        whole.work.spend()
        return isinstance(one, bool)

    checks: Mapping[str, Any] = {**validator.VALIDATORS, **Matching(whole.work.spend).checks()}
    counted: Any = cast(Any, validators).extend(
        validator,
        {word: _counted(check, whole) for word, check in checks.items()},
        type_checker=validator.TYPE_CHECKER.redefine("boolean", is_boolean),
    )
    schema = {word: said for word, said in whole.schema.items() if word != _DIALECT}  # it names another validator
    checked: Any = counted(schema, registry=Registry[Any]())
    errors = (meant for error in cast("Iterator[Any]", checked.iter_errors(value)) for meant in _meant(error))
    found: list[Any] = list(islice(errors, limit))
    return [f"{_place(error.absolute_path)}: {_clipped(_told(error))}" for error in found]


def _told(error: Any) -> str:
    """Return the words of a fault, completed by the wanted size or forms.

    A long value at their beginning is named by its type.
    """
    words, shown = str(error.message), repr(error.instance)
    if len(shown) > _MOST_VALUE and words.startswith(shown):
        words = f"{_name(error)}{words[len(shown) :]}"
    wanted = _wanted(error)
    return f"{words}: {wanted}" if wanted else words


def _name(error: Any) -> str:
    """Return a long value's type, and the beginning of a text of another type than wanted."""
    value: object = error.instance
    if isinstance(value, str) and error.validator == "type":
        return f"this text, beginning with {value[:_MOST_BEGINNING]!r},"
    names = {dict: "this object", list: "this array", str: "this text"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "this value")


def _wanted(error: Any) -> str:
    """Return the wanted size, or the wanted forms, empty if the words of the fault name them."""
    if error.validator in ("minLength", "maxLength", "minItems", "maxItems"):
        size, unit = len(error.instance), "character" if isinstance(error.instance, str) else "item"
        most = "at most" if error.validator.startswith("max") else "at least"
        return f"it has {size:,} {unit}{'' if size == 1 else 's'}, wanted {most} {error.validator_value:,}"
    if error.validator not in ("anyOf", "oneOf") or "under any" not in error.message:
        return ""
    kinds = [kind for one in error.validator_value for kind in _kinds(one)]
    return f"wanted {_either(list(dict.fromkeys(kinds)))}" if all(map(_kinds, error.validator_value)) else ""


def _either(names: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _kinds(schema: Any) -> list[str]:
    """Return the types of an alternative, or its allowed values, empty if it names neither."""
    words = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    if isinstance(allowed := words.get("enum"), list):
        return [f"one of {', '.join(map(repr, cast('list[Any]', allowed)))}"]
    named = words.get("type", [])
    return [named] if isinstance(named, str) else [str(one) for one in named]


def _meant(error: Any) -> list[Any]:
    """Return the faults within the only alternative of a value's type; without one the fault itself."""
    alternatives: dict[object, list[Any]] = {}
    for inner in error.context if error.validator in ("anyOf", "oneOf") else ():
        alternatives.setdefault(inner.schema_path[0], []).append(inner)
    typed = [
        found
        for found in alternatives.values()
        if not any(one.validator == "type" and len(one.path) == 0 for one in found)
    ]
    return [meant for one in typed[0] for meant in _meant(one)] if len(typed) == 1 else [error]


def _is_integer(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _verdict(schema: JsonValue, value: JsonValue, root: _Whole) -> bool | None:
    """Return whether a value fits, judged by the most common keywords; None if they are inconclusive.

    It is asked about each call, and before each answer of a model counts; a full validator takes twenty times as long.
    """
    if not isinstance(schema, dict):
        return schema if isinstance(schema, bool) else None
    words = cast("dict[str, Any]", schema)
    root.work.spend()
    said = _all(one(words, value, root) for one in (_of_type, _listed, _referred, _chosen, _within, _inside))
    return said if said is False or words.keys() <= _KNOWN else None


def _all(verdicts: Iterable[bool | None]) -> bool | None:
    """Return False if any is False, else None if any is None, else True."""
    doubt = False
    for one in verdicts:
        if one is False:
            return False
        doubt = doubt or one is None
    return None if doubt else True


def _of_type(words: JsonSchema, value: JsonValue, _: _Whole) -> bool | None:
    if "type" not in words:
        return True
    named = words["type"]
    types = cast("list[Any]", named) if isinstance(named, list) else (named,)
    if any(type(value) in _TYPES.get(str(one), ()) for one in types):
        return True
    return False if type(value) in _PLAIN else None


def _listed(words: JsonSchema, value: JsonValue, root: _Whole) -> bool | None:
    if "enum" not in words and "const" not in words:
        return True
    listed: list[Any] = words["enum"] if "enum" in words else [words["const"]]
    root.work.spend(len(listed))
    equal = [one for one in listed if one == value]
    if "const" in words and words["const"] != value:
        return False
    return None if equal and (type(equal[0]) is not type(value) or type(value) in (dict, list)) else bool(equal)


def _referred(words: JsonSchema, value: JsonValue, root: _Whole) -> bool | None:
    if "$ref" not in words:
        return True
    known, name = root.schema.get("$defs", {}), str(words["$ref"]).removeprefix("#/$defs/")
    return _verdict(known[name], value, root) if name in known and name != words["$ref"] else None


def _chosen(words: JsonSchema, value: JsonValue, root: _Whole) -> bool | None:
    if "anyOf" not in words:
        return True
    doubt: bool | None = False
    for one in words["anyOf"]:
        if said := _verdict(one, value, root):
            return True
        doubt = None if said is None else doubt
    return doubt


def _within(words: JsonSchema, value: Any, _: _Whole) -> bool:
    """Return whether a number, or the length of a text or a list, is within its limits."""
    if type(value) in (str, list):
        size, kind = len(value), "Length" if type(value) is str else "Items"
        return words.get(f"min{kind}", 0) <= size <= words.get(f"max{kind}", size)
    if type(value) not in (int, float):
        return True
    if not words.get("minimum", value) <= value <= words.get("maximum", value):
        return False
    above = "exclusiveMinimum" not in words or value > words["exclusiveMinimum"]
    return above and ("exclusiveMaximum" not in words or value < words["exclusiveMaximum"])


def _inside(words: JsonSchema, value: Any, root: _Whole) -> bool | None:
    """Return whether the members of an object or the items of a list fit."""
    if "prefixItems" in words or "patternProperties" in words:
        return None
    if isinstance(value, list) and "items" in words:
        return _all(_verdict(words["items"], one, root) for one in cast("list[Any]", value))
    if not isinstance(value, dict):
        return True
    members = cast("dict[str, Any]", value)
    if not all(name in members for name in words.get("required", ())):
        return False
    shown, others = words.get("properties", dict[str, Any]()), words.get("additionalProperties", True)
    return _all(_verdict(shown.get(name, others), one, root) for name, one in members.items())


def _words(schema: JsonValue) -> Iterator[tuple[str, str]]:
    """Yield every reference and identifier in a schema, in any position."""
    if isinstance(schema, dict):
        for key, value in cast("dict[str, Any]", schema).items():
            if isinstance(value, str) and (key in _REFERENCES or key == "$id"):
                yield key, value
            yield from _words(value)
    elif isinstance(schema, list):
        for value in cast("list[Any]", schema):
            yield from _words(value)


def _place(path: Any) -> str:
    return _clipped(path_in_sentence(path)) or "value"


def _clipped(text: str) -> str:
    line = on_one_line(text)
    return line if len(line) <= _LIMIT else line[: _LIMIT - 3] + "..."


def closed(schema: JsonObject) -> dict[str, Any]:
    """Return a schema with closed objects and all members required, as needed for enforcement by providers."""
    found = {name: _closed(name, value) for name, value in schema.items() if name != "default"}
    if isinstance(found.get("properties"), dict):
        found |= {"additionalProperties": False, "required": list(found["properties"])}
    return found


def _closed(name: str, value: Any) -> Any:
    if name in _BY_NAME and isinstance(value, dict):
        return {one: _closed("", inner) for one, inner in cast("dict[str, Any]", value).items()}
    if name in ("const", "enum", "examples"):
        return value
    if isinstance(value, dict):
        return closed(cast("dict[str, Any]", value))
    return [_closed(name, one) for one in cast("list[Any]", value)] if isinstance(value, list) else value
