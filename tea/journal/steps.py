"""Steps: the perceive-interpret-act cycles of a run's agents, as its journal tells them."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from tea.journal.record import TraceRecord, as_mapping
from tea.kernel.key import scopes_around
from tea.types import JsonObject, JsonValue, as_text

_CALLS = ("tool", "environment", "model")
_MOST_TOLD = 400  # characters of arguments, and of a result, that a person is told
_EMPTY: tuple[JsonValue, ...] = ("", [], {})
_WORDS: JsonObject = {"thinking": "", "evaluation": "", "memory": "", "next_goal": "", "observation": {}}


def steps_among(records: Iterable[TraceRecord]) -> Iterator[tuple[TraceRecord, JsonObject]]:
    """Yield the steps among the records of one run, each as its record and its data, in the order of the journal.

    The loop notes each step of an agent itself. An agent with a `run` of its own notes none: there each call of a tool,
    an action, a model or another agent is one step, as soon as its result is known.
    """
    told = list(_steps_and_calls(records))
    noted = {scope for _, scope, call in told if call is None}
    for record, scope, call in told:
        if call is None:
            yield record, as_mapping(as_mapping(record.data).get("data"))
        elif scope not in noted:
            yield record, call


def opening(records: Iterable[TraceRecord]) -> str:
    """Return the words of the first question to a model of a run, those behind its instructions; empty without one."""
    for record in records:
        data = as_mapping(record.data)
        if record.kind == "start" and data.get("kind") == "model":
            asked = as_mapping(data.get("data")).get("messages") or ()
            parts = [part for one in asked if one["role"] == "user" for part in one["content"]]
            return "\n".join(str(part["text"]) for part in parts if part.get("type") == "text")
    return ""


def call_words(result: Mapping[str, Any], most: int = 1_200) -> str:
    """Return a call of a step with its result in one line, for a model to read.

    Args:
        result: One of the step's `results`.
        most: Most characters of its arguments, and of what it gave.
    """
    given = result.get("value" if result.get("ok") else "error")
    given = _said(given) if str(result.get("name")).startswith("model:") else given
    return f"  {result.get('name')}({cut(result.get('arguments'), most)}) -> {cut(given, most)}"


def _said(value: JsonValue) -> JsonValue:
    """Return the answer of a model, once, and its calls; anything but an answer unchanged."""
    response = as_mapping(as_mapping(value).get("response"))
    output, text = response.get("output"), response.get("text")
    calls = [{name: as_mapping(one).get(name) for name in ("name", "arguments")} for one in response.get("calls") or ()]
    said = text if output is None else output
    if not calls:
        return value if said is None else said
    return {**({"answer": said} if said else {}), "calls": calls}


def found_among(records: Iterable[TraceRecord], besides: Container[str], most: int = 3) -> tuple[str, ...]:
    """Return the last results of calls among the records of one run, each once, with its call, for a person.

    A result without a value tells nothing, and arguments that are empty or null are left out.

    Args:
        records: The records.
        besides: Names of functions that only organise the work.
        most: Most results.
    """
    found = deque[str](maxlen=most)
    for _, step in steps_among(records):
        made = [one for one in step.get("results", ()) if one.get("ok") and one.get("name") not in besides]
        told = (one for one in made if one.get("value") is not None and not str(one.get("name")).startswith("model:"))
        said = (call_words(_brief(one), _MOST_TOLD).strip(" \n") for one in told)
        found.extend(one for one in said if one not in found)
    return tuple(found)


def has_refusal(remedy: str, records: Iterable[TraceRecord]) -> bool:
    """Return whether a call among the records of one run ended with an error of a remedy.

    Args:
        remedy: Its whole fix: that of an untrusted component begins with its name.
        records: The records.
    """
    ended = (as_mapping(as_mapping(one.data).get("data")) for one in records if one.kind == "done")
    return any(as_mapping(one.get("error")).get("fix") == remedy for one in ended)


def _brief(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result under the bare name of its function, without arguments that are empty or null."""
    given = as_mapping(result.get("arguments"))
    arguments = {name: one for name, one in given.items() if one is not None and one is not False and one not in _EMPTY}
    return {**result, "name": _bare(str(result.get("name"))), "arguments": arguments}


def _bare(ref: str) -> str:
    """Return a reference without its kind, version, and `#call`."""
    name, _, action = ref.rpartition(":")[2].partition("#")
    name = name.partition("@")[0]
    return name if action in ("", "call") else f"{name}#{action}"


def cut(value: object, most: int = 1_200) -> str:
    """Return a value as text of at most so many characters."""
    text = as_text(value)
    return text if len(text) <= most else text[:most] + " ..."


def _steps_and_calls(records: Iterable[TraceRecord]) -> Iterator[tuple[TraceRecord, str, JsonObject | None]]:
    """Yield the record of each step or call, the key of its scope, and the data of a call; None for a step."""
    begun, scopes = dict[str, Mapping[str, Any]](), dict[str, str]()
    for record in records:
        data = as_mapping(record.data)
        kind = data.get("kind") if record.kind in ("start", "note") else ""
        if record.kind == "start" and kind in _CALLS:
            begun[record.key] = data
        elif record.kind in ("done", "failed") and (call := begun.pop(record.key, None)) is not None:
            if scope := _scope(record.key, scopes):
                yield record, scope, _call(record.agent, call, data.get("data"), failed=record.kind == "failed")
        elif kind == "enter":
            key = record.key.rpartition(".")[0]
            begun[key], scopes[key] = {**data, "target": as_mapping(data.get("data")).get("ref")}, record.agent
        elif kind == "exit":
            key = record.key.rpartition(".")[0]
            call, above = begun.pop(key, {}), _scope(key, scopes)
            if above and call:
                yield record, above, _call(scopes[above], call, as_mapping(data.get("data")).get("response"))
        elif kind == "step":
            yield record, _scope(record.key, scopes), None


def _call(agent: str, call: Mapping[str, Any], result: JsonValue, *, failed: bool = False) -> JsonObject:
    """Return the data of a step of one call, in the form of the loop's own."""
    made = {"name": call.get("target"), "arguments": as_mapping(call.get("data")).get("arguments", {})}
    if failed:
        end: JsonObject = {"ok": False, "value": None, "error": result}
    elif call.get("kind") == "model":
        end = {"ok": True, "value": result, "error": None}
    else:
        end = {name: as_mapping(result).get(name) for name in ("ok", "value", "error")}
    return {**_WORDS, "agent": agent, "calls": [made], "results": [{**made, **end}]}


def _scope(key: str, scopes: Mapping[str, str]) -> str:
    """Return the key of the innermost agent around a key, empty if there is none."""
    return next((one for one in reversed([*scopes_around(key)]) if one in scopes), "")
