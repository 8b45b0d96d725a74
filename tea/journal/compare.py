"""Comparison: two runs side by side, with their pins, effects, answers and costs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from tea.characters import in_sentence
from tea.journal.pin import RESOLVE, pins
from tea.journal.record import TraceRecord, as_mapping
from tea.kernel.key import path_of
from tea.types import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """An effect of a run, with its outcome if it ended.

    Args:
        seq: Number of the record that starts it.
        key: Its key.
        agent: Who asked.
        kind: What sort of effect.
        target: What is called, with its version.
        asked: What it was given.
        gave: What it gave, or its error; None without an outcome.
    """

    seq: int
    key: str
    agent: str
    kind: str
    target: str
    asked: JsonValue
    gave: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two runs.

    Args:
        run: Its id.
        task: The task's words.
        status: How it ended; `unfinished` where it did not.
        answer: Its answer.
        reason: Why it did not succeed.
        cost: Steps, tokens and dollars, an empty object where it did not end.
        effects: How many effects it had.
    """

    run: str
    task: str
    status: str
    answer: Any
    reason: str
    cost: JsonObject
    effects: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference between two runs; None for a run without a counterpart.

    Args:
        what: A component, or a step by agent, its call where there are several, and number.
        a: What the first has.
        b: What the second has.
    """

    what: str
    a: JsonValue
    b: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs side by side.

    Args:
        a: The first run.
        b: The second.
        pins: Components that they used in different versions, or that one of them did not use.
        first: The first effects that differ, of both, None where one had ended; None where all are the same.
        steps: Steps that differ, in order.
        same_steps: How many steps are the same.
    """

    a: Side
    b: Side
    pins: tuple[Difference, ...]
    first: tuple[Effect | None, Effect | None] | None
    steps: tuple[Difference, ...]
    same_steps: int

    @property
    def same(self) -> bool:
        """Whether both had the same effects with the same results."""
        return (
            self.first is None and not self.steps and (self.a.status, self.a.answer) == (self.b.status, self.b.answer)
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {**asdict(self), "same": self.same}


def compare(a: Sequence[TraceRecord], b: Sequence[TraceRecord]) -> Comparison:
    """Compare two runs by their journals."""
    effects = _effects(a), _effects(b)
    first = _first(*effects)
    pins = _pins(a, effects[0]), _pins(b, effects[1])
    names = dict.fromkeys((*pins[0], *pins[1]))
    steps = _pairs(_steps(a), _steps(b))
    return Comparison(
        a=_side(a, len(effects[0])),
        b=_side(b, len(effects[1])),
        pins=tuple(
            Difference(what=name, a=pins[0].get(name), b=pins[1].get(name))
            for name in names
            if pins[0].get(name) != pins[1].get(name)
        ),
        first=first,
        steps=tuple(one for one in steps if one.a != one.b),
        same_steps=sum(one.a == one.b for one in steps),
    )


def _first(a: Sequence[Effect], b: Sequence[Effect]) -> tuple[Effect | None, Effect | None] | None:
    """Return the first different effects at one place of the program; work side by side is in any order."""
    there = {one.key: one for one in b}
    for one in a:
        other = there.pop(one.key, None)
        if other is None or _essence(one) != _essence(other):
            return one, other
    return (None, next(iter(there.values()))) if there else None


def _side(records: Sequence[TraceRecord], effects: int) -> Side:
    header = as_mapping(next((one.data for one in records if one.kind == "run"), None))
    end = as_mapping(next((one.data for one in records if one.kind == "end"), None))
    return Side(
        run=as_mapping(header.get("setting")).get("run", ""),
        task=as_mapping(header.get("task")).get("task", ""),
        status=end.get("status", "unfinished"),
        answer=end.get("answer"),
        reason=end.get("reason", ""),
        cost=as_mapping(end.get("cost")),
        effects=effects,
    )


def _effects(records: Sequence[TraceRecord]) -> list[Effect]:
    ends = {one.key: one for one in records if one.kind in ("done", "failed", "fired", "message")}
    found: list[Effect] = []
    for record in records:
        if record.kind == "start":
            data, end = as_mapping(record.data), ends.get(record.key)
            found.append(
                Effect(
                    seq=record.seq,
                    key=record.key,
                    agent=record.agent,
                    kind=data["kind"],
                    target=data["target"],
                    asked=data["data"],
                    gave=as_mapping(end.data).get("data") if end else None,
                )
            )
    return found


def _essence(effect: Effect) -> tuple[JsonValue, ...]:
    """Return the parts of an effect to compare, independent of its run."""
    return effect.key, effect.kind, effect.target, effect.asked, effect.gave


def _pins(records: Sequence[TraceRecord], effects: Sequence[Effect]) -> dict[str, str]:
    """Return the versions touched by a run, by name; several if a fork changed them."""
    found: dict[str, list[str]] = {}
    for one in effects:
        gave = as_mapping(one.gave)
        if one.kind == RESOLVE and "provider" in gave:
            found.setdefault(one.target, []).append(f"{gave['provider']} {gave.get('model') or ''}".strip())
    for pin in pins(records):
        found.setdefault(pin.asked, []).append(pin.ref)
    return {name: ", ".join(dict.fromkeys(versions)) for name, versions in found.items()}


def _steps(records: Sequence[TraceRecord]) -> dict[str, list[JsonObject]]:
    """Return the steps of a run by the scope of their agent, in the order of the scopes' places in the program."""
    found: dict[str, list[JsonObject]] = {}
    for one in records:
        if one.kind == "note" and (note := as_mapping(one.data))["kind"] == "step":
            found.setdefault(path_of(one.key), []).append({"agent": one.agent, **as_mapping(note["data"])})
    return found


def _pairs(a: dict[str, list[JsonObject]], b: dict[str, list[JsonObject]]) -> list[Difference]:
    """Return the steps of two runs side by side: those of an agent with those of the agent in the same place."""
    scopes = sorted({*a, *b}, key=lambda scope: tuple(map(int, re.findall(r"\d+", scope))))
    names = {scope: in_sentence(str((a.get(scope) or b[scope])[0]["agent"])) for scope in scopes}
    calls, found = Counter(names.values()), list[Difference]()
    seen = Counter[str]()
    for scope, name in names.items():
        seen[name] += 1
        which = f" (call {seen[name]})" if calls[name] > 1 else ""
        steps = enumerate(zip_longest(a.get(scope, ()), b.get(scope, ())), start=1)
        found += [Difference(what=f"{name}{which}, step {number}", a=x, b=y) for number, (x, y) in steps]
    return found
