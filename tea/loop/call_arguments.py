"""Arguments of calls as they were meant: out of a wrapper, under another name, without unknown ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, cast

from tea.components.json_schema import value_faults
from tea.components.lossless import lossless
from tea.components.naming import argument_faults, renamed, understood
from tea.loop.capability import Capability
from tea.loop.delegated_files import with_own_files
from tea.loop.offer import DONE
from tea.models.written_json import read_json
from tea.store.strict import Refused
from tea.types import JsonObject, JsonSchema, Task, ToolCall, changed

LEFT_OUT = "left out, as {name} has no such parameter: {names}"
READ_AS = "`{name}` was read as `{parameter}`"
_WRAPPERS = (
    *("arguments", "args", "parameters", "params", "input", "inputs", "kwargs", "properties"),
    *("tool_input", "action_input", "function_args"),
)
_NAMES = frozenset(("name", "tool", "tool_name", "function", "function_name", "action"))
_ASIDES = frozenset(("explanation", "reasoning", "rationale", "thinking", "thought", "thoughts"))
_LABELS = frozenset(
    (
        *("comment", "description", "encoding", "format", "id", "lang", "language", "mode", "purpose", "reason"),
        *("title", "type"),
    )
)
_LEAST_WORD = 2
_MOST_NAMED = 8


def meant_call(capability: Capability, call: ToolCall, task: Task) -> tuple[ToolCall, str]:
    """Return a call with its arguments as they were meant, with a note for the model on all changes.

    Args:
        capability: What is called.
        call: The call.
        task: What it is made for.
    """
    if call.unreadable:
        return call, ""
    if call.name == DONE:
        return changed(call, arguments=_unwrapped_end(capability.parameters, call.arguments, task.answer)), ""

    def complete(given: JsonObject) -> JsonObject:
        return with_own_files(capability, changed(call, arguments=given), task.files).arguments

    effects, whole = capability.effects, capability.whole
    found, note = as_meant(call.name, whole, call.arguments, effects=effects, complete=complete)
    return changed(call, arguments=found), note


def as_meant(
    name: str,
    schema: JsonSchema,
    arguments: JsonObject,
    *,
    effects: str = "",
    complete: Callable[[JsonObject], JsonObject] = lambda given: given,
) -> tuple[JsonObject, str]:
    """Return arguments as they were meant, with a note for the model on all changes.

    Those of a call fit for being made stay the same object, and so do those without one clear meaning. Arguments in a
    wrapper such as `arguments` are taken out. Where the effects stay inside, words of reasoning and what the call says
    anyhow are left out, and the only unknown text stands for the only needed parameter left out; what only reads loses
    all unknown ones.

    Args:
        name: Name of the function.
        schema: JSON Schema of its arguments.
        arguments: What a model gave.
        effects: What it declares to change.
        complete: Fills in what is not asked of a model.
    """
    known = cast("Mapping[str, Any]", schema.get("properties") or {})
    if not known or schema.get("additionalProperties") is not False or "patternProperties" in schema:
        return arguments, ""
    for given in (*_unwrapped(name, known, arguments), arguments):
        for found, note in _readings(name, schema, given, effects, complete):
            if not argument_faults(schema, understood(schema, complete(found))):
                return found, note
    return arguments, ""


def _unwrapped_end(parameters: JsonObject, arguments: JsonObject, form: JsonSchema | None) -> JsonObject:
    """Return the arguments of `done` out of a wrapper, the same object without one, or if they are the answer."""
    if form is not None and not value_faults(form, lossless(form, arguments)):
        return arguments
    found, _ = as_meant(DONE, {**parameters, "additionalProperties": False}, arguments)
    return found


def _unwrapped(name: str, known: Collection[str], arguments: JsonObject) -> Iterator[JsonObject]:
    """Yield the object in the only wrapper of arguments, with the parameters beside it."""
    wrappers = [one for one in arguments if one in _WRAPPERS and one not in known]
    inner = _object(arguments[wrappers[0]]) if len(wrappers) == 1 else {}
    if not inner or (wrappers == ["properties"] and all(isinstance(one, dict) for one in inner.values())):
        return  # the form itself
    beside = {key: one for key, one in arguments.items() if key not in wrappers and not _is_mark(key, one, name)}
    if not beside.keys() & inner.keys():
        yield {**beside, **inner}


def _is_mark(key: str, value: Any, name: str) -> bool:
    """Return whether a member beside a wrapper tells of the call, or of a form, alone."""
    return (key in _NAMES and value == name) or (key == "type" and value in ("object", "function")) or key == "required"


def _object(value: Any) -> dict[str, Any]:
    """Return an object, also one written as text; empty for anything else."""
    try:
        found = read_json(value) if isinstance(value, str) and value.lstrip().startswith("{") else value
    except Refused:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _readings(
    name: str, schema: JsonSchema, arguments: JsonObject, effects: str, complete: Callable[[JsonObject], JsonObject]
) -> Iterator[tuple[JsonObject, str]]:
    """Yield the meanings of arguments with their notes, the nearest first."""
    yield arguments, ""
    known = cast("Mapping[str, Any]", schema["properties"])
    given = complete(renamed(schema, arguments))
    unknown = [one for one in given if one not in known]
    if not unknown or effects not in ("reads", "writes"):
        return
    idle = [one for one in unknown if one.casefold() in _ASIDES or _is_said(name, known, given, given[one])]
    rest = {key: one for key, one in given.items() if key not in idle}
    yield rest, _left_out(name, idle)
    needed = cast("Collection[str]", schema.get("required") or ())
    missing, strange = [one for one in needed if one not in rest], [one for one in unknown if one not in idle]
    if len(missing) == len(strange) == 1 and (effects == "reads" or len(needed) == 1):
        (parameter,), (other,) = missing, strange
        form: JsonSchema = {**known[parameter], "$defs": schema.get("$defs") or {}}
        is_text = isinstance(rest[other], str) and not rest[other].lstrip().startswith(("{", "["))
        if is_text and other.casefold() not in _LABELS and not value_faults(form, rest[other]):
            found = {parameter if key == other else key: one for key, one in rest.items()}
            note = READ_AS.format(name=other[:60], parameter=parameter)
            yield found, "; ".join(filter(None, (note, _left_out(name, idle))))
    if effects == "reads" and not any(one in _WRAPPERS for one in unknown):
        yield {key: one for key, one in given.items() if key in known}, _left_out(name, unknown)


def _is_said(name: str, known: Collection[str], arguments: JsonObject, value: Any) -> bool:
    """Return whether a text is a word of the function's name, or an argument, or one of a list of them."""
    if not isinstance(value, str) or len(value) < _LEAST_WORD:
        return False
    others = [one for key, one in arguments.items() if key in known]
    lists = [cast("list[Any]", one) for one in others if isinstance(one, list)]
    return value.casefold() in name.casefold().split("_") or value in others or any(value in one for one in lists)


def _left_out(name: str, names: Collection[str]) -> str:
    """Return the note on names left out, empty without any."""
    told = ", ".join(f"`{one[:60]}`" for one in list(names)[:_MOST_NAMED])
    return LEFT_OUT.format(name=name, names=told) if names else ""
