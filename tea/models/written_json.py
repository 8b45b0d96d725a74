"""Written JSON: values as models write them, read if their meaning is clear."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from tea.store.strict import Refused, loads

_QUOTED = r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)'
_STRING = re.compile(_QUOTED, re.DOTALL)
_FENCE, _LANGUAGE = "```", re.compile(r"\A\w*")
_TRAILING = re.compile(rf"({_QUOTED})|,(?=\s*[}}\]])", re.DOTALL)
_MOST_LITERAL = 100_000
_BEGINNINGS = ("{", "[", '"', "'")
# A backspace or a form feed is not part of a text; models mean the `\b` of a regular expression.
_ESCAPE = re.compile(r'(\\(?:["\\/nrt]|u[0-9a-fA-F]{4}))|\\')


def read_json(text: str) -> Any:
    """Return the value of JSON as models write it.

    It may stand in a fence, have a comma behind the last member, line breaks and single backslashes in its texts, or be
    written as Python. Strict JSON is read as it is.

    Args:
        text: The JSON, with nothing else around it but a fence.

    Raises:
        Refused: It is none of these.
    """
    said = text.strip()
    if said.startswith(_FENCE) and said.endswith(_FENCE):
        said = _LANGUAGE.sub("", said[len(_FENCE) : -len(_FENCE)])
    try:
        return loads(said.encode("utf-8", "surrogatepass"))
    except Refused:
        plain = _TRAILING.sub(lambda one: one[1] or "", _STRING.sub(_escaped, said))
    try:
        return loads(plain.encode("utf-8", "surrogatepass"), controls=True)
    except Refused:
        written = _literal(said.strip())
        if written is None:
            raise
        return loads(written)


def _literal(text: str) -> bytes | None:
    """Return a Python literal as JSON, None for other text or a value outside JSON."""
    if len(text) > _MOST_LITERAL or not text.startswith(_BEGINNINGS):
        return None
    try:
        tree = ast.parse(text, mode="eval")
        names = [
            [key and ast.literal_eval(key) for key in one.keys] for one in ast.walk(tree) if isinstance(one, ast.Dict)
        ]
        if any(len({*some}) < len(some) or not all(isinstance(one, str) for one in some) for some in names):
            return None
        return json.dumps(ast.literal_eval(tree), allow_nan=False).encode()
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _escaped(string: re.Match[str]) -> str:
    """Return a JSON string with each backslash doubled if it escapes nothing."""
    return _ESCAPE.sub(lambda one: one[1] or "\\\\", string[0]) if "\\" in string[0] else string[0]
