"""Arguments of `done` as they were meant: other names, parts beside a typed answer, sources given as bare names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from tea.components.json_schema import value_faults
from tea.components.lossless import lossless
from tea.errors import BadArguments
from tea.loop.offer import CONFIDENCE, SURE
from tea.loop.step import Reply
from tea.models.written_calls import object_alone, objects_in
from tea.prompts.slips import without_slips
from tea.types import JsonObject, JsonSchema, JsonValue, ToolCall, changed

_ANSWER, _SUCCESS, _REASON, _DOUBTS, _EVIDENCE = "answer", "success", "reason", "doubts", "evidence"
_OWN = frozenset((_ANSWER, _SUCCESS, _REASON, _DOUBTS, _EVIDENCE, CONFIDENCE))
_SOURCE, _QUOTE, _DETAIL, _DOUBT = "source", "quote", "detail", "doubt"
_ANSWERS = ("result", "final_answer", "finalAnswer", "output", "response")
_THOUGHTS = frozenset(("explanation", "reasoning", "thinking", "thought", "thoughts"))
_SOURCES = ("file", "path", "url", "filename", "file_name", "document", "name")
_QUOTES = ("text", "excerpt", "passage", "snippet", "content")
_TRUTHS: Mapping[str, bool] = {"yes": True, "no": False, "partial": True, "partially": True, "partly": True}
_PARTLY = ("partial", "partially", "partly")  # a success with a doubt
PARTIAL = "Only a part of it was answered for sure."
_APART, _FILE = re.compile(r"[,;\n]"), re.compile(r"[^\s/][^\n]*\.[A-Za-z0-9]{1,5}")
_ADDRESS = r"https?://(?:(?!,\s*https?://)[^\s;<>\"'])+"
_ADDRESSES = re.compile(rf"\s*{_ADDRESS}(?:[\s,;]+(?:[^\W\d]+\s+)?{_ADDRESS})+[\s,;.]*")  # a word may join two
_MOST_NAMED = 8


def corrected(parameters: JsonObject, arguments: JsonObject, form: JsonSchema | None) -> JsonObject:
    """Return the arguments of `done` in its form, the same object if they are so already or cannot be understood.

    Members of a typed answer beside those of `done` become the answer if they fit its schema. Else
    one under another name, such as `result`, is the answer, and thoughts beside it are left out. A source in `evidence`
    given as a text becomes an object, a text of several files one for each, and its members may have other names.

    Args:
        parameters: JSON Schema of the arguments.
        arguments: What a model gave.
        form: JSON Schema of the answer, None if it has none.
    """
    found: dict[str, Any] = dict(arguments)
    flat = _flat(parameters, arguments)
    if flat and form is not None and not arguments.get(_ANSWER):
        answer = lossless(form, flat)
        if not value_faults(form, answer):
            found = {**{name: one for name, one in arguments.items() if name not in flat}, _ANSWER: answer}
            flat = dict[str, Any]()
    members: Any = (form or {}).get("properties") or {}
    if flat and flat.keys().isdisjoint(members):
        found = _renamed(arguments, flat)
    if type(success := found.get(_SUCCESS)) is int and success in (0, 1):
        found[_SUCCESS] = success == 1
    if isinstance(success, str) and success.casefold() in _TRUTHS:
        found[_SUCCESS] = _TRUTHS[success.casefold()]
        if success.casefold() in _PARTLY and not (found.get(_REASON) or found.get(_DOUBTS)):
            found[_REASON] = PARTIAL
    if isinstance(doubts := found.get(_DOUBTS), list) and all(
        isinstance(one, str) for one in cast("list[Any]", doubts)
    ):
        found[_DOUBTS] = "\n".join(cast("list[str]", doubts))  # `done` puts the lines together
    if _EVIDENCE in found:
        found[_EVIDENCE] = _sources(found[_EVIDENCE])
    same = found == arguments and type(found.get(_SUCCESS)) is type(arguments.get(_SUCCESS))
    return arguments if same else found


def written_end(text: str, form: JsonSchema | None) -> dict[str, Any] | None:
    """Return the arguments of `done` given as text without a call, None for other text, or the answer itself.

    Among other words they are those of `done` if they hold more than `answer`.

    Args:
        text: The words.
        form: JSON Schema of the answer, None if it has none.
    """
    found = object_alone(text)
    if found is None:
        (found, *more) = [one for one in objects_in(text) if _ANSWER in one and one.keys() <= _OWN] or [None]
        found = None if more or found is None or len(found) == 1 else found
    if found is None or not found.keys() <= _OWN or not (_ANSWER in found or (_SUCCESS in found and _REASON in found)):
        return None
    return None if form is not None and not value_faults(form, lossless(form, found)) else found


def is_blank(arguments: JsonObject, form: JsonSchema | None) -> bool:
    """Return whether `done` gives no answer; of a typed one its form decides.

    Args:
        arguments: What `done` was given.
        form: The form of the answer, None without one.
    """
    given = arguments.get(_ANSWER)
    blank = given is None or (isinstance(given, str) and not given.strip())
    return blank and (form is None or _ANSWER not in arguments)


def confidence(stated: JsonValue) -> int | None:
    """Return a stated confidence from 0 to 100, also of a fraction or a percentage; None for anything else."""
    number = without_slips(dict(SURE), stated)
    if not isinstance(number, int | float) or isinstance(number, bool):
        return None
    return round(number) if 0 <= number <= 100 else None


def with_one_end(calls: Sequence[ToolCall], name: str) -> list[ToolCall]:
    """Return the calls of a step, those of `done` without any word replaced by the only one with some.

    Args:
        calls: The calls.
        name: The name of `done`.
    """
    full = [one for one in calls if one.name == name and not one.unreadable and _says_anything(one.arguments)]
    if not full or any(one.arguments != full[0].arguments for one in full):
        return [*calls]
    return [changed(one, arguments=full[0].arguments, unreadable="") if one.name == name else one for one in calls]


def with_words(
    reply: Reply,
    step: int,
    name: str,
    *,
    form: JsonSchema | None,
    is_end: Callable[[ToolCall], bool],
    is_answer: Callable[[str], bool],
) -> Reply:
    """Return a reply with its text read into `done`: its arguments as text, or the answer beside an empty call.

    Args:
        reply: The reply.
        step: Number of its step.
        name: The name of `done`.
        form: JSON Schema of the answer, None if it has none.
        is_end: Tells whether a call is one of `done`.
        is_answer: Tells whether a text is an answer.
    """
    if not reply.calls:
        given = written_end(reply.said, form)
        call = () if given is None else (ToolCall(id=f"c{step}_1", name=name, arguments=given),)
        return replace(reply, text="", calls=call) if call else reply
    ends = [one for one in reply.calls if is_end(one)]
    if len(ends) != 1 or ends[0].unreadable or ends[0].arguments.get(_SUCCESS) is False:
        return reply
    given = ends[0].arguments
    if any(given.get(one) not in (None, "") for one in (_ANSWER, *_ANSWERS)) or not is_answer(reply.beside):
        return reply
    end = changed(ends[0], arguments={**given, _ANSWER: reply.beside})
    return replace(reply, calls=tuple(end if one is ends[0] else one for one in reply.calls))


def _says_anything(arguments: JsonObject) -> bool:
    """Return whether a call of `done` gives more than its success."""
    return any(value not in ("", None, [], {}) for name, value in arguments.items() if name != _SUCCESS)


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


def _renamed(arguments: JsonObject, flat: JsonObject) -> dict[str, Any]:
    """Return arguments without thoughts, and with an answer given under another name moved to `answer`."""
    found = {name: one for name, one in arguments.items() if name not in flat or name not in _THOUGHTS}
    meant = [name for name in _ANSWERS if name in flat]
    if not found.get(_ANSWER) and len(meant) == 1:
        found[_ANSWER] = found.pop(meant[0])
    return found


def _sources(value: JsonValue) -> JsonValue:
    """Return sources as objects."""
    if isinstance(value, str) and not value.lstrip().startswith(("[", "{")):
        names = [one.strip() for one in _APART.split(value) if one.strip()]
        alone = names if all(map(_FILE.fullmatch, names)) else [value]
        return [each for one in alone for each in _each({_SOURCE: one})]
    if isinstance(value, dict):
        return _each(_source(value))
    if not isinstance(value, list):
        return value
    return [each for one in cast("list[Any]", value) for each in _each(_source(one))]


def _each(source: Any) -> list[Any]:
    """Split a source of several addresses without a quote into one for each; return any other alone."""
    given = cast("dict[str, Any]", source) if isinstance(source, dict) else dict[str, Any]()
    text = given.get(_SOURCE)
    if given.get(_QUOTE) or not isinstance(text, str) or not _ADDRESSES.fullmatch(text):
        return [source]
    return [{**given, _SOURCE: one.rstrip(".,")} for one in re.findall(_ADDRESS, text)]


def _source(data: Any) -> Any:
    """Return a source as an object of `source`, `detail` and `quote`; its other members become the detail."""
    if isinstance(data, str):
        return {_SOURCE: data}
    whole = cast("dict[str, Any]", data) if isinstance(data, dict) else dict[str, Any]()
    if whole.keys() <= {_SOURCE, _DETAIL, _QUOTE, _DOUBT}:
        return (
            {name: value for name, value in whole.items() if name != _DOUBT} if _DOUBT in whole else cast("Any", data)
        )
    one = {name: value for name, value in whole.items() if value not in (None, "")}
    found: dict[str, Any] = {}
    for name, others in {_SOURCE: _SOURCES, _QUOTE: _QUOTES, _DETAIL: ()}.items():
        if (key := next((key for key in (name, *others) if key in one), None)) is not None:
            found[name] = one.pop(key)
    rest = [f"{name} {value}" for name, value in one.items() if isinstance(value, str | int | float)]
    if rest and isinstance(found.get(_DETAIL, ""), str):
        found[_DETAIL] = ", ".join(filter(None, (found.get(_DETAIL, ""), *rest)))
    return found if _SOURCE in found else whole
