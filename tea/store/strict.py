"""Strict JSON: each program reads back the value written by another, or refuses it.

Refused, besides what is not JSON: encodings other than UTF-8, duplicate keys, NaN and infinities (also `1e999`), lone
surrogates, numbers beyond what Python takes, and nesting of more than `DEPTH` levels, a limit that does not depend on
how deep the caller's stack is.
"""

import json
import math
import re
from typing import Any, cast

from tea.types import JsonObject, JsonValue

DEPTH = 200

_BESIDE_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ALIKE = bytes.maketrans(b"{}", b"[]")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class Refused(ValueError):
    """The reason bytes or a file cannot be used; for callers naming the file in their error."""


def loads(data: bytes, *, halves: bool = False, controls: bool = False) -> JsonValue:
    """Return the strict JSON value in `data`.

    Args:
        data: Its bytes.
        halves: Whether a text may hold half of a surrogate pair, as a piece of a text may that was cut anywhere.
        controls: Whether a text may hold line breaks and other control characters as they are.

    Raises:
        Refused: It is not strict JSON.
    """
    try:
        text = data.decode("utf-8")
        value = (_LENIENT if controls else _DECODER).decode(text)
        check_depth(text)
        if not halves and _SURROGATE.search(data):
            dumps(value)
        return value
    except Refused:
        raise
    except UnicodeDecodeError as problem:
        raise Refused(f"it is not UTF-8 at byte {problem.start}") from problem
    except json.JSONDecodeError as problem:
        raise Refused(
            f"{problem.msg.removesuffix(' at')} at line {problem.lineno}, column {problem.colno}"
        ) from problem
    except ValueError as problem:
        raise Refused("a number has too many digits") from problem
    except RecursionError as problem:
        raise Refused("it is nested too deeply") from problem
    except MemoryError as problem:
        raise Refused("it does not fit into memory") from problem


def dumps(value: JsonValue, *, indent: int | None = None, sort_keys: bool = False) -> bytes:
    """Return `value` as strict JSON in UTF-8.

    Raises:
        Refused: `value` is not JSON.
    """
    separators = (",", ":") if indent is None else (",", ": ")
    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators, sort_keys=sort_keys
        )
        check_depth(text)
        return text.encode("utf-8")
    except Refused:
        raise
    except UnicodeEncodeError as problem:
        raise Refused("a text holds half of a surrogate pair") from problem
    except (TypeError, ValueError) as problem:
        raise Refused(f"it is not JSON ({problem})") from problem
    except RecursionError as problem:
        raise Refused("it is nested too deeply") from problem
    except MemoryError as problem:
        raise Refused("it does not fit into memory") from problem


def as_json_object(value: JsonValue) -> dict[str, Any]:
    """Return `value` if it is a JSON object.

    Raises:
        Refused: It is another kind of value.
    """
    if not isinstance(value, dict):
        raise Refused("it is not a JSON object")
    return cast("dict[str, Any]", value)


def check_depth(text: str, most: int = DEPTH) -> None:
    """Raise Refused if JSON text is nested deeper than `most` levels.

    Raises:
        Refused: It is.
    """
    if text.count("[") + text.count("{") <= most:
        return
    between = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]  # what stands outside of texts
    brackets = "".join(between).encode("utf-8", "replace").translate(_ALIKE, _BESIDE_BRACKETS)
    for _ in range(most):
        if not brackets:
            return
        brackets = brackets.replace(b"[]", b"")
    if brackets:
        raise Refused(f"it is nested more than {most} deep")


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise Refused(f"the key {twice[:60]!r} stands twice")
    return found


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Refused(f"the number {text[:60]} is too large")
    return value


def _constant(text: str) -> float:
    raise Refused(f"{text} is not a JSON number")


_HOOKS: Any = {"object_pairs_hook": _object, "parse_float": _float, "parse_constant": _constant}
_DECODER, _LENIENT = json.JSONDecoder(**_HOOKS), json.JSONDecoder(**_HOOKS, strict=False)
