"""Cases: tests of a tool made from a task, held against stubs before any tool is held against them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from tea.errors import BadArguments
from tea.types import JsonObject, JsonValue, as_object

LEAST, MOST = 3, 20
_NEAR = 1e-9  # relative, of numbers with a fraction
_MOST_BYTES = 100_000  # of one case as JSON
_STUBS: tuple[JsonValue, ...] = (None, "", 0, 1, False, True, [], {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test: arguments, and the value or the error wanted for them.

    Args:
        arguments: By name.
        returns: The value wanted; numbers with a fraction are compared to nine digits.
        fails: Whether an error is wanted, and no value.
        why: What the case is for.
    """

    arguments: JsonObject
    returns: JsonValue = None
    fails: bool = False
    why: str = ""

    def to_json(self) -> JsonObject:
        """Return the case as a JSON object."""
        wanted: JsonObject = {"fails": True} if self.fails else {"returns": self.returns}
        return {"arguments": dict(self.arguments), **wanted, **({"why": self.why} if self.why else {})}


def read_cases(data: Sequence[Any]) -> tuple[Case, ...]:
    """Return the cases in JSON data.

    Args:
        data: Objects with `arguments` and either `returns` or `fails: true`, perhaps with `why`.

    Raises:
        BadArguments: They are something else.
    """
    return tuple(_case(one, number) for number, one in enumerate(data, 1))


def case_fault(cases: Sequence[Case]) -> str:
    """Return the reason why cases cannot test a tool, in one line; empty for good cases.

    At least three are wanted, one of them with wrong input, and no tool may pass them without looking at its input: a
    stub with a constant value, or one that gives an argument back.
    """
    if not LEAST <= len(cases) <= MOST:
        return f"{len(cases)} cases are there, and {LEAST} to {MOST} are needed"
    if not any(one.fails for one in cases):
        return "no case gives wrong input and wants an error"
    wanted = [one for one in cases if not one.fails]
    if len(wanted) < 2:
        return "fewer than two cases want a value"
    if (stub := passing_stub(wanted)) is not None:
        return f"a stub that always gives {stub} passes all cases that want a value"
    same = [(one, other) for number, one in enumerate(cases) for other in cases[:number] if _equal(one, other)]
    return f"two cases have the same arguments, {_short(dict(same[0][0].arguments))}" if same else ""


def passing_stub(cases: Sequence[Case]) -> str | None:
    """Return a stub passing all cases with a value, described in words; None if each stub fails one."""
    for value in (*(one.returns for one in cases), *_STUBS):
        if all(same_value(value, one.returns) for one in cases):
            return _short(value)
    for name in cases[0].arguments:
        if all(name in one.arguments and same_value(one.arguments[name], one.returns) for one in cases):
            return f"its argument {name!r} back"
    return None


def same_value(one: JsonValue, other: JsonValue) -> bool:
    """Return whether two JSON values are the same: exactly, but for numbers with a fraction."""
    if isinstance(one, dict) and isinstance(other, dict):
        members, others = as_object(cast(object, one)), as_object(cast(object, other))
        return members.keys() == others.keys() and all(same_value(members[key], others[key]) for key in members)
    if isinstance(one, list) and isinstance(other, list):
        first, second = cast("list[JsonValue]", one), cast("list[JsonValue]", other)
        return len(first) == len(second) and all(map(same_value, first, second))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        return numbers and math.isclose(cast(float, one), cast(float, other), rel_tol=_NEAR, abs_tol=1e-12)
    mine, its = cast(object, one), cast(object, other)
    return type(mine) is type(its) and mine == its


def _case(data: object, number: int) -> Case:
    fix = 'give {"arguments": {...}, "returns": VALUE} or {"arguments": {...}, "fails": true}.'
    found = as_object(cast(object, data)) if isinstance(data, Mapping) else dict[str, Any]()
    arguments, fails, why = found.get("arguments"), found.get("fails", False), found.get("why", "")
    known = {"arguments", "returns", "fails", "why"}
    if (
        not isinstance(arguments, dict)
        or not isinstance(fails, bool)
        or not isinstance(why, str)
        or found.keys() - known
    ):
        raise BadArguments(f"Case {number} is not a test of a tool.", fix=fix)
    if not fails and "returns" not in found:
        raise BadArguments(f"Case {number} does not say what is wanted.", fix=fix)
    if len(json.dumps(found)) > _MOST_BYTES:
        raise BadArguments(f"Case {number} has more than {_MOST_BYTES:,} bytes.", fix="give a smaller one.")
    return Case(arguments=cast(JsonObject, arguments), returns=found.get("returns"), fails=fails, why=why[:300])


def _equal(one: Case, other: Case) -> bool:
    return same_value(dict(one.arguments), dict(other.arguments))


def _short(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
