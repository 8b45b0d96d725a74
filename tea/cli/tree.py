"""A run's records as a tree for people: agents hold their calls, steps and the agents they called."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tea.characters import escaped_json
from tea.cli.fields import fields, items
from tea.cli.terminal import brief, one_line
from tea.errors import BadRef
from tea.kernel.key import branch_of, innermost, outer, path_of, scopes_around, spawner
from tea.refs import Ref
from tea.untrusted import PROGRAM

if TYPE_CHECKING:
    from tea.journal.record import TraceRecord

_WORDS, _LINE, _TRIES = 110, 500, 1000
_ASIDE = ("resolve", "policy", "registry", "memory", "budget", "clock", "random", PROGRAM)


def tree(records: "Sequence[TraceRecord]", *, whole: bool = False, positions: bool = False) -> str:
    """Return the lines of a run, the work of parallel agents grouped by agent.

    Args:
        records: All of its records, in order.
        whole: Also show what is there for a replay: resolutions, permissions, memory, notes and evidence; and of a
            model call the tries that failed, and what another model could not take over.
        positions: Put number and key of each record before it, in the journal's order.
    """
    ends = {one.key: one for one in records if one.kind in ("done", "failed", "fired", "message")}
    scopes = {path_of(one.key) for one in records if _is_note(one, "enter")}
    told = set(map(_problem, records))
    levels = dict(_levels(records))
    lines: list[str] = []
    hidden = 0
    for record in records if positions else _grouped(records, scopes):
        level = levels.get(path_of(record.key) if _is_note(record, "enter") else record.key, "")
        line = _line(record, ends.get(record.key), whole, level)
        if line is None:
            hidden += record.kind == "start"
        else:
            place = f"{record.seq:>5} {record.key:<12} " if positions else ""
            depth = "  " * _depth(record, scopes)
            lines += [f"{' ' * len(place)}{depth}{one_line(one, _LINE)}" for one in _refused(record, told)]
            lines.append(place + depth + one_line(line, _LINE))
            tries = _tries(ends.get(record.key)) if whole and record.kind == "start" else ()
            lines += [f"{' ' * len(place)}{depth}  {one_line(one, _TRIES)}" for one in tries]
    if hidden:
        lines.append(f"({hidden} more effects: resolutions, memory and the like; -v shows them)")
    return "\n".join(lines)


def _grouped(records: "Sequence[TraceRecord]", scopes: Set[str]) -> "Iterator[TraceRecord]":
    """Yield the records of a run by branch and scope: those in a scope right behind its beginning."""
    places = {*scopes, *(branch_of(one.key) for one in records)} - {""}
    inside: dict[str, list[TraceRecord | str]] = {"": []}

    def bucket(place: str) -> "list[TraceRecord | str]":
        if place not in inside:
            inside[place] = []
            if place not in scopes:  # a branch stands where it has its first record
                bucket(innermost(outer(place), places)).append(place)
        return inside[place]

    for record in records:
        within = path_of(record.key) if _is_note(record, "enter") else record.key
        bucket(innermost(outer(within), places)).append(record)

    def of(place: str) -> "Iterator[TraceRecord]":
        for one in inside.pop(place, ()):
            if isinstance(one, str):
                yield from of(one)
                continue
            yield one
            if _is_note(one, "enter"):
                yield from of(path_of(one.key))

    yield from of("")


def _depth(record: "TraceRecord", scopes: Set[str]) -> int:
    """Return the number of scopes around a record; the record of entering a scope counts as outside it."""
    inside = sum(one in scopes for one in scopes_around(record.key))
    return inside - 1 if _is_note(record, "enter") else inside


def _line(record: "TraceRecord", end: "TraceRecord | None", whole: bool, level: str) -> str | None:
    data = fields(record.data)
    if record.kind == "run":
        task = fields(data.get("task"))
        return f"run {fields(data.get('setting')).get('run', '')}  {record.time}  {_short_text(task.get('task'))}"
    if record.kind == "end":
        ended = _short_text(data.get("answer") if data.get("answer") not in (None, "") else data.get("reason"))
        return f"{data.get('status', 'ended')}: {ended}"
    if record.kind == "secrets":
        words = {"masked": "secrets were taken out of", "left": "secrets are in, and no text:"}
        return "; ".join(f"{words[what]} {', '.join(names)}" for what, names in data.items() if what in words)
    if record.kind == "forked":
        return _forked(fields(data.get("data")))
    if record.kind == "start":
        return _effect(record, data, end, level) if whole or data.get("kind") not in _ASIDE else None
    if record.kind == "note":
        return _note(data, whole, level)
    if record.kind in ("done", "failed", "fired", "message"):
        return None
    return f"{plain_name(record.kind)} {_short_text(record.data)}" if whole else None


def _forked(origin: Mapping[str, Any]) -> str:
    changes = [one["ref"] for one in fields(origin.get("use")).values()]
    changes += [f"model {origin['model']}"] if origin.get("model") else []
    otherwise = f", with {', '.join(changes)}" if changes else ""
    return f"forked from run {origin.get('run')} at record {origin.get('position')}{otherwise}"


def _note(data: Mapping[str, Any], whole: bool, level: str) -> str | None:
    kind, said = data.get("kind"), fields(data.get("data"))
    if kind == "enter":
        task = fields(said.get("arguments")).get("task", said.get("arguments"))
        held = f"  [sandboxed: {level}]" if level else ""
        return f"{_component(said.get('ref'))}{held}  {_short_text(fields(task).get('text', task))}"
    if kind == "exit":
        response = fields(said.get("response"))
        return f"-> {_ended(fields(response.get('value')))}" if _is_result(response) else f"-> {_outcome(response)}"
    if kind == "step":
        return f"step {said.get('step', '?')}: {_short_text(said.get('next_goal') or said.get('thinking'))}"
    if {"phase", "text"} <= said.keys():
        return f"note {kind}: {_short_text(said['phase'])}: {_short_text(said['text'])}"
    return f"note {kind}: {_short_text(data.get('data'))}" if whole else None


def _refused(record: "TraceRecord", recorded: Container[str]) -> list[str]:
    """Return the calls of a step refused before they began, and therefore without a record."""
    if not _is_note(record, "step"):
        return []
    failed = [one for one in items(fields(fields(record.data).get("data")).get("results")) if one.get("error")]
    return [
        f"refused {one.get('name')}({_short_text(one.get('arguments'))}) -> {_outcome({**one, 'value': None})}"
        for one in failed
        if str(fields(one["error"]).get("problem")) not in recorded
    ]


def _problem(record: "TraceRecord") -> str:
    """Return the problem of a call from its outcome; empty for every other record."""
    data = fields(fields(record.data).get("data"))
    return str(fields(fields(data.get("response", data)).get("error", data)).get("problem", ""))


def _levels(records: "Iterable[TraceRecord]") -> "Iterator[tuple[str, str]]":
    """Yield the sandbox levels of a run: of a call by its key, of a program by the scope of its agent."""
    steps: dict[str, str] = {}
    for one in records:
        data = fields(one.data)
        if one.kind == "evidence" and data.get("kind") == "sandbox":
            held = fields(data.get("data"))
            more = ", which cannot keep it from writing" if held.get("workspace") == "writable" else ""
            yield one.key, f"{held.get('level', '')}{more}"
        elif one.kind == "start" and data.get("kind") == PROGRAM:
            steps[one.key] = spawner(path_of(one.key))
        elif one.kind == "done" and one.key in steps:
            begun = fields(fields(data.get("data")).get("sandbox"))
            if begun:
                yield steps[one.key], str(begun.get("level", ""))


def _effect(record: "TraceRecord", data: Mapping[str, Any], end: "TraceRecord | None", level: str) -> str:
    if data.get("kind") == "messages":
        texts = items(fields(end.data if end else None).get("data"))
        return f"told: {'; '.join(_short_text(one.get('text')) for one in texts)}"
    given = fields(data.get("data"))
    what = f"{plain_name(data.get('kind'))} {_ref(data.get('target'))}".rstrip(" ")
    if "arguments" in given:
        what += f"({_short_text(given['arguments'])})"
    elif "prompt" in given or "question" in given:
        what += f" {_short_text(given.get('prompt', given.get('question')))}"
    if end is None:
        return f"{what} -> no outcome"
    value = fields(end.data).get("data")
    result = f"failed: {_short_text(fields(value).get('problem'))}" if end.kind == "failed" else _outcome(value)
    held = f", sandboxed: {level}" if level else ""
    return f"{what} -> {result}  [{_milliseconds(record.time, end.time)}{held}]"


def _outcome(value: Any) -> str:
    """Return the result of a call as text: a response's value or problem, a model's answer's text."""
    found = fields(value)
    if "ok" in found and "value" in found:
        error = fields(found.get("error"))
        return (
            _short_text(found["value"]) if found["ok"] else f"{error.get('code')}: {_short_text(error.get('problem'))}"
        )
    if "response" in found:
        response, error = fields(found["response"]), fields(found.get("error"))
        if error:
            return f"{error.get('code')}: {_short_text(error.get('problem'))}"
        by = response.get("answered_by") or "a model"
        return f"{_short_text(response.get('output') or response.get('text') or response.get('calls'))} (by {by})"
    return _short_text(value)


def _is_result(response: Mapping[str, Any]) -> bool:
    """Return whether a response is the result of an agent."""
    return bool(response.get("ok")) and {"answer", "ok", "reason"} <= fields(response.get("value")).keys()


def _ended(result: Mapping[str, Any]) -> str:
    """Return the answer of an agent, or the reason for its absence."""
    said = _short_text(result.get("answer"))
    if result.get("ok"):
        return said or f"hands over to {result.get('handoff')}" if result.get("handoff") else said
    return f"failed: {_short_text(result.get('reason'))}" + (f" (so far: {said})" if said else "")


def _tries(end: "TraceRecord | None") -> list[str]:
    """Return the details too long for a call's line: attempts before its answer, or the rest of its error."""
    found = fields(fields(end.data if end else None).get("data"))
    problem = str(fields(found.get("error", found)).get("problem", ""))
    tries = items(fields(found.get("response")).get("attempts"))
    return [_try(one) for one in tries] + ([f"problem: {problem}"] if len(problem) > _WORDS else [])


def _try(one: Mapping[str, Any]) -> str:
    again = "" if one.get("waited") is None else f"; again after {one['waited']} s"
    return f"tried {one.get('model')}: {one.get('problem')}{again}"


def _ref(target: Any) -> str:
    return str(target or "").removesuffix("#call").removesuffix("#run")


def plain_name(name: Any) -> str:
    """Return the name of a kind or agent, an unknown one in quotes, as it begins a line."""
    return name if isinstance(name, str) and name.isidentifier() else escaped_json(name)


def _component(ref: Any) -> str:
    """Return the component of a scope, an invalid ref in quotes, as it begins a line."""
    try:
        Ref.parse(str(ref))
    except BadRef:
        return escaped_json(ref)
    return _ref(ref)


def _short_text(value: Any) -> str:
    """Return a JSON value as short text for a part of a line."""
    if value is None:
        return ""
    return brief(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), _WORDS)


def _milliseconds(start: str, end: str) -> str:
    try:
        taken = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    except ValueError:
        return "?"
    return f"{taken.total_seconds() * 1000:.0f} ms"


def _is_note(record: "TraceRecord", kind: str) -> bool:
    return record.kind == "note" and fields(record.data).get("kind") == kind
