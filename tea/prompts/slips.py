"""Slips: small deviations of a model's answer from its form, set right if their meaning is clear."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from tea.components.json_schema import Endless, Work, fits_strictly, value_faults
from tea.components.lossless import converted
from tea.models.written_json import read_json
from tea.store.strict import Refused
from tea.types import JsonSchema, JsonValue

_PERCENT = re.compile(r"\s*(\d{1,3}(?:\.\d{1,9})?)\s*%\s*", re.ASCII)
_FRACTION = re.compile(r"\s*0?\.\d{1,9}\s*", re.ASCII)
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
_APART = re.compile(r"[ -]|(?<=[a-z0-9])(?=[A-Z])")
_CONTENTS = ("text", "content", "body")  # names of members that tell nothing of what they hold
_BRANCHES = frozenset({"anyOf", "oneOf", "allOf", "not", "if", "patternProperties"})
_FILES = re.compile(r"[^\n,]{1,200}\.\w{1,8}(?:,[^\n,]{1,200}\.\w{1,8})+\s?")  # names of files, with their endings
_MOST_REFERENCES = 50
LONG = 1_000  # characters that a text may have which an object stands for
_NEAR = 1e-9


def without_slips(schema: JsonSchema, value: JsonValue, *, extras: bool = False) -> Any:
    """Return an answer with its slips set right; whether it fits is for the caller to check.

    A truth as `yes` or `no` becomes a boolean, `85%` a number where the form wants 0 to 100 or 0 to 1, and a fraction
    such as 0.8 a whole percentage where it wants an integer from 0 to 100; `source 2` of the member `source` is 2. A
    list of texts becomes a text of lines, and an object of texts in place of a long text becomes that. An object of
    texts becomes a list of objects with two needed texts, each member one of them; names of files with commas between
    them become a list of texts, and a text that fits a pattern only as a name in small letters becomes that.
    Null for a list becomes an empty list, and for a member with a default that default. A text becomes the object or
    list that it holds where one is wanted; in a list of objects with one needed member, a text, it becomes that member.
    An object of texts in a list of texts becomes a text. A value of several forms is read in the only one that it then
    fits. Where an object is closed, a member in the singular stands for the missing list of that name, and one called
    `text`, `content` or `body` for the only needed text or list of texts; unknown members beside the name of an action,
    or an object under that name, are its missing arguments.

    Args:
        schema: JSON Schema of the answer.
        value: JSON data.
        extras: Whether members that closed objects do not know are left out.
    """
    try:
        return _Form(schema, Work(value), extras=extras).read(schema, value)
    except (Endless, RecursionError):
        return value


class _Form:
    """A form, read part by part.

    Args:
        root: The schema with the definitions.
        work: Bounds the forms that are tried.
        extras: Whether unknown members of closed objects are left out.
    """

    def __init__(self, root: JsonSchema, work: Work, *, extras: bool) -> None:
        self._root, self._work, self._extras = root, work, extras

    def read(self, schema: Any, value: Any) -> Any:
        """Return a value without slips."""
        self._work.spend()
        words = self._resolved(schema)
        if forms := _forms(words):
            return self._only(forms, value)
        match words.get("type"), value:
            case "object" | "array", str():
                return self._written(words, value)
            case "object", dict():
                return self._members(words, cast("dict[str, Any]", value))
            case "array", list():
                return [self._item(words.get("items"), one) for one in cast("list[Any]", value)]
            case "array", dict():
                return self._of_members(words, cast("dict[str, Any]", value))
            case "string", dict() if words.get("maxLength", 0) >= LONG:
                return _in_words(cast("dict[str, Any]", value)) or cast("Any", value)
            case "array", None:
                return value if words.get("minItems") else []
            case "string", list() if value and all(isinstance(one, str) for one in cast("list[Any]", value)):
                return "\n".join(cast("list[str]", value))
            case "string", str() if "pattern" in words:
                return _named(words, value)
            case "boolean", str():
                return _TRUTHS.get(value.strip().rstrip(".").casefold(), value)
            case "integer" | "number" as kind, str() | float():
                return _number(words, kind, value)
            case _:
                return value

    def _members(self, words: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = words.get("properties") or {}
        is_closed = words.get("additionalProperties") is False and not _BRANCHES & words.keys()
        members = self._gathered(words, shown, self._renamed(words, shown, members)) if is_closed else members
        found = dict[str, Any]()
        for name, value in members.items():
            form = self._resolved(shown.get(name))
            if name in shown:
                is_left_out = value is None and "default" in form and bool(value_faults(form, None, limit=1))
                found[name] = form["default"] if is_left_out else self.read(form, _numbered(form, name, value))
            elif not (is_closed and self._extras):
                found[name] = value
        return found

    def _renamed(self, words: dict[str, Any], shown: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
        """Return members with the names of the form in place of names for the same."""
        missing = [name for name in shown if name not in members]
        names = dict[str, str]()
        for one in (name for name in members if name not in shown):
            plurals = [name for name in _plurals(one) if name in missing]
            lists = [name for name in plurals if self._may_list(self._resolved(shown[name]), members[one])]
            needed = [name for name in missing if name in (words.get("required") or ()) and self._is_told(shown[name])]
            if lists and lists[0] not in names.values():
                names[one] = lists[0]
            elif one in _CONTENTS and len(needed) == 1 and needed[0] not in names.values():
                names[one] = needed[0]
        return {names.get(name, name): value for name, value in members.items()} if names else members

    def _gathered(self, words: dict[str, Any], shown: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
        """Return members with the unknown ones in the missing open object, as in `{"action": "go", "to": 2}`."""
        unknown = {name: value for name, value in members.items() if name not in shown}
        open_ = [name for name in shown if name not in members and self._is_open(shown[name])]
        if not unknown or len(open_) != 1:
            return members
        known = {name: value for name, value in members.items() if name in shown}
        missing = [name for name in words.get("required") or () if name not in members and name != open_[0]]
        if not missing:
            return {**known, open_[0]: unknown}
        (name, value), *more = unknown.items()
        names = self._resolved(shown.get(missing[0])).get("enum") or ()
        if missing[1:] or more or name not in names or not isinstance(value, dict | None):
            return members
        return {**known, missing[0]: name, open_[0]: value or {}}

    def _is_open(self, schema: Any) -> bool:
        """Return whether a form is of an object with any members."""
        words = self._resolved(schema)
        return words.get("type") == "object" and words.keys() <= {"type", "description", "default"}

    def _may_list(self, words: dict[str, Any], value: Any) -> bool:
        """Return whether a value may be a list of a form, or its only part."""
        kind = self._resolved(words.get("items")).get("type")
        if words.get("type") != "array" or isinstance(value, list):
            return words.get("type") == "array"
        return isinstance(value, dict) or kind != "object" or isinstance(self._item(words.get("items"), value), dict)

    def _is_told(self, schema: Any) -> bool:
        """Return whether a member without a default is a text, or a list of texts."""
        words = self._resolved(schema)
        inner = self._resolved(words.get("items")) if words.get("type") == "array" else words
        return "default" not in words and inner.get("type") == "string" and not inner.keys() & {"enum", "pattern"}

    def _of_members(self, words: dict[str, Any], members: dict[str, Any]) -> Any:
        """Return the list of objects meant by an object of texts: its names and values are their two needed texts."""
        form = self._resolved(words.get("items"))
        needed, shown = form.get("required") or (), cast("dict[str, Any]", form.get("properties") or {})
        told = len(needed) == len(shown) == 2 and all(self._is_told(shown.get(name)) for name in needed)
        if not told or any(name in needed for name in members):
            return members
        return [dict(zip(needed, (name, one), strict=True)) for name, one in members.items()]

    def _item(self, schema: Any, value: Any) -> Any:
        """Return an item of a list without slips, converted between object and text as the schema wants."""
        words, read = self._resolved(schema), self.read(schema, value)
        if isinstance(read, str) and words.get("type") == "object":
            needed = words.get("required") or ()
            shown: dict[str, Any] = words.get("properties") or {}
            open_ = [name for name in needed if "default" not in self._resolved(shown.get(name))]
            is_text = len(open_) == 1 and self._is_told(shown.get(open_[0]))
            is_one = is_text and self._resolved(shown[open_[0]]).get("type") == "string"
            return {open_[0]: read} if is_one else read
        if isinstance(read, dict) and words.get("type") == "string":
            members = cast("dict[str, Any]", read)
            return _in_words(members) or members
        return cast("Any", read)

    def _written(self, words: dict[str, Any], text: str) -> Any:
        """Return the wanted object or list in a text without slips, or a list of the object meant; else the text."""
        try:
            value = read_json(text)
        except Refused:
            value = text
        if isinstance(value, dict if words["type"] == "object" else list):
            return self.read(words, value)
        if words["type"] == "array" and _FILES.fullmatch(text) and self._is_told(words.get("items")):
            return [one.strip() for one in text.split(",")]
        one = self._item(words.get("items"), text) if words["type"] == "array" else text
        return [one] if isinstance(one, dict) else text

    def _only(self, forms: list[Any], value: Any) -> Any:
        """Return the value in its only form among several once its slips are set right; unchanged if it fits one."""
        known = self._root.get("$defs")
        whole = [{**self._resolved(one), **({"$defs": known} if known else {})} for one in forms]
        if any(fits_strictly(one, value, self._work) for one in whole):
            return value
        found = dict[str, Any]()
        for one in whole:
            read = converted(one, self.read(one, value))
            if fits_strictly(one, read, self._work):
                found[json.dumps(read, sort_keys=True)] = read
        return next(iter(found.values())) if len(found) == 1 else value

    def _resolved(self, schema: Any) -> dict[str, Any]:
        """Return the schema behind a reference, if it is a definition of the same schema; else the schema itself."""
        known: dict[str, Any] = self._root.get("$defs") or {}
        for _ in range(_MOST_REFERENCES):
            if not isinstance(schema, dict):
                return {}
            words = cast("dict[str, Any]", schema)
            if "$ref" not in words:
                return words
            schema = known.get(str(words["$ref"]).removeprefix("#/$defs/"))
        return {}


def _forms(words: dict[str, Any]) -> list[Any]:
    """Return the alternative forms of a value, empty without any."""
    kind = words.get("type")
    if isinstance(kind, list):
        return [{**words, "type": one} for one in cast("list[Any]", kind)]
    forms = None if kind else words.get("anyOf", words.get("oneOf"))
    return cast("list[Any]", forms) if isinstance(forms, list) else []


def _plurals(name: str) -> list[str]:
    """Return the plural forms of a name."""
    return [f"{name}s", f"{name}es", *([f"{name[:-1]}ies"] if name.endswith("y") else [])]


def _numbered(words: dict[str, Any], name: str, value: Any) -> Any:
    """Return the number in `source 2` or `[2]` for a member that is a whole number; other values as they are."""
    if words.get("type") != "integer" or not isinstance(value, str):
        return value
    label = rf"(?:{re.escape(name)}\s*(?:no\.?|number|#)?\s*)?"
    found = re.fullmatch(rf"\s*(?:{label}(\d{{1,6}})|\[{label}(\d{{1,6}})\])\s*", value, re.IGNORECASE | re.ASCII)
    return int(found[1] or found[2]) if found else value


def _in_words(members: dict[str, Any]) -> str:
    """Return an object of texts as a text, the longest first and the others in brackets; empty for another object."""
    texts = list[str]()
    for one in members.values():
        told = cast("list[Any]", one) if isinstance(one, list) else [one]
        if not all(isinstance(each, str) for each in told):
            return ""
        texts += [each for each in told if each.strip()]
    if not texts:
        return ""
    longest = max(texts, key=len)
    others = [one for one in texts if one is not longest and one not in longest]
    return f"{longest} ({', '.join(others)})" if others else longest


def _named(words: dict[str, Any], text: str) -> str:
    """Return a text in small letters with `_` for blanks, hyphens and capitals, if it fits its pattern only so."""
    name = _APART.sub("_", text.strip()).lower()
    return name if name != text and value_faults(words, text) and not value_faults(words, name) else text


def _number(words: dict[str, Any], kind: str, value: str | float) -> str | float:
    """Return a percentage or fraction as a number of the form; other values as they are."""
    limits = (words.get("minimum"), words.get("maximum"))
    percent = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if percent and limits == (0, 100):
        return _whole(float(percent[1]))
    if percent and limits == (0, 1) and kind == "number":
        return float(percent[1]) / 100
    is_fraction = _FRACTION.fullmatch(value) if isinstance(value, str) else 0 < value <= 1
    if is_fraction and kind == "integer" and limits == (0, 100):
        part = _whole(float(value) * 100)
        return part if isinstance(part, int) else value
    return value


def _whole(number: float) -> float:
    """Return a number as an integer if it is whole."""
    return round(number) if abs(number - round(number)) < _NEAR else number
