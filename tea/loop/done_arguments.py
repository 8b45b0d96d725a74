"""Arguments of `done`: correcting parts of a typed answer given beside it, and sources given as bare names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tea.components.json_schema import value_faults
from tea.components.lossless import lossless
from tea.errors import BadArguments
from tea.types import JsonObject, JsonSchema, JsonValue

_ANSWER, _EVIDENCE, _SOURCE = "answer", "evidence", "source"
_MOST_NAMED = 8


def corrected(parameters: JsonObject, arguments: JsonObject, form: JsonSchema | None) -> JsonObject:
    """Return the arguments of `done` in its form, the same object if they are so already or cannot be understood.

    Members of a typed answer beside `success`, `reason` and `evidence` become the answer if they fit its schema; a
    source in `evidence` given as a text becomes an object.

    Args:
        parameters: JSON Schema of the arguments.
        arguments: What a model gave.
        form: JSON Schema of the answer, None if it has none.
    """
    found = dict(arguments)
    flat = _flat(parameters, arguments)
    if flat and form is not None and not arguments.get(_ANSWER):
        answer = lossless(form, flat)
        if not value_faults(form, answer):
            found = {**{name: one for name, one in arguments.items() if name not in flat}, _ANSWER: answer}
    if _EVIDENCE in found:
        found[_EVIDENCE] = _sources(found[_EVIDENCE])
    return arguments if found == arguments else found


def fault_beside(parameters: JsonObject, arguments: JsonObject, form: JsonSchema | None) -> BadArguments | None:
    """Return the error of members given beside a typed answer, None if there are none.

    Args:
        parameters: JSON Schema of the arguments.
        arguments: What a model gave, with what was understood of it.
        form: JSON Schema of the answer, None if it has none.
    """
    flat = _flat(parameters, arguments)
    if not flat or form is None:
        return None
    given = arguments.get(_ANSWER)
    whole = {**cast("dict[str, Any]", given), **flat} if isinstance(given, dict) else flat
    faults = value_faults(form, lossless(form, whole))
    named = ", ".join(f"`{name[:60]}`" for name in list(flat)[:_MOST_NAMED])
    why = f", and they do not fit: {'; '.join(faults)}" if faults else ""
    problem = f"`done` got {named} beside `answer`{why}."
    return BadArguments(problem, fix="put them into `answer`, in the form of the task.")


def _flat(parameters: JsonObject, arguments: JsonObject) -> JsonObject:
    """Return the arguments without a parameter."""
    properties = cast("Mapping[str, Any]", parameters.get("properties", {}))
    return {name: one for name, one in arguments.items() if name not in properties}


def _sources(given: JsonValue) -> JsonValue:
    """Return sources as objects."""
    if isinstance(given, str) and not given.lstrip().startswith(("[", "{")):
        return [{_SOURCE: given}] if given.strip() else []
    if isinstance(given, list):
        listed = cast("list[Any]", given)
        return [{_SOURCE: one} if isinstance(one, str) else one for one in listed]
    return given
