"""Rows of a result to the words of an answer, or the reason why there is none."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

from .query import Query
from .schema import items_of

Row = Sequence[Any]
MOST_LISTED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An answer as values, or the reason why there is none."""

    values: tuple[Any, ...] = ()
    reason: str = ""
    pairs: tuple[tuple[str, Any], ...] = ()


def outcome(query: Query, rows: Sequence[Row], truncated: bool) -> Outcome:
    """Return the answer in the rows of a query's SQL."""
    if truncated:
        return Outcome(reason="the answer is too long to list")
    readers = {
        "scalar": _scalar, "share": _scalar, "values": _values, "top": _top, "groups": _groups, "exists": _exists,
        "truth": _exists,
        "check": _check, "place": _place,
        "having": _scalar if query.per else _values
    }  # fmt: skip
    return readers[query.kind](query, rows) if query.kind in readers else _pair(query, rows)


def _scalar(query: Query, rows: Sequence[Row]) -> Outcome:
    row = rows[0] if rows else ()
    if not row or row[0] is None or (len(row) > 1 and not row[1]):
        return Outcome(reason="no row fits")
    return Outcome(values=(row[0],))


def _values(query: Query, rows: Sequence[Row]) -> Outcome:
    shown = [tuple(row) for row in rows]
    if not shown:
        return Outcome(reason="no row fits")
    if len(shown) > 1 and not query.plural:
        return Outcome(reason=f"{len(shown)} different values fit")
    if len(shown) > MOST_LISTED:
        return Outcome(reason="the answer is too long to list")
    if len(shown) == len(query.select) == 1 and query.select[0].listing and isinstance(shown[0][0], str):
        return Outcome(values=tuple(items_of(shown[0][0])))
    if len(query.select) > 1 and len(shown) > 1:
        return Outcome(values=tuple(", ".join(map(number_text, row)) for row in shown))
    return Outcome(values=tuple(value for row in shown for value in row))


def _top(query: Query, rows: Sequence[Row]) -> Outcome:
    width = len(query.select)
    wanted = [row for row in rows if row[-1] >= query.rank]
    shown = [tuple(row[:width]) for row in wanted]
    if query.count == 1:
        exact = [tuple(row[:width]) for row in wanted if row[-1] == query.rank]
        distinct = list(dict.fromkeys(exact))
        if not distinct:
            return Outcome(reason="no row holds that place")
        if len(distinct) > 1 and not query.plural:
            return Outcome(reason=f"{len(distinct)} share that place")
        if len(distinct) > MOST_LISTED:
            return Outcome(reason="too many share that place")
        if any("NA" in row for row in distinct):
            return Outcome(reason="NA may be a code or a missing value")
        return Outcome(values=tuple(value for row in distinct for value in row))
    if len(shown) != query.count or len(set(shown)) != len(shown):
        return Outcome(reason="places are shared, or there are fewer rows")
    return Outcome(values=tuple(value for row in shown for value in row))


def _groups(query: Query, rows: Sequence[Row]) -> Outcome:
    if not rows or len(rows) > MOST_LISTED:
        return Outcome(reason="no group, or too many")
    pairs = tuple((number_text(row[0]), row[1]) for row in rows)
    return Outcome(values=tuple(f"{name}: {number_text(value)}" for name, value in pairs), pairs=pairs)


def _exists(query: Query, rows: Sequence[Row]) -> Outcome:
    return Outcome(values=(bool(rows and rows[0][0]),))


def _check(query: Query, rows: Sequence[Row]) -> Outcome:
    asked, known = (rows[0][0], rows[0][1]) if rows else (0, 0)
    if not known or 0 < asked < known:
        return Outcome(reason="the rows do not tell")
    return Outcome(values=(asked == known,))


def _place(query: Query, rows: Sequence[Row]) -> Outcome:
    if len(rows) != 1:
        return Outcome(reason=f"{len(rows)} places fit")
    return _scalar(query, rows)


def _pair(query: Query, rows: Sequence[Row]) -> Outcome:
    if len(rows) != 1:
        return Outcome(reason=f"{len(rows)} rows fit")
    one, one_used, two, two_used = rows[0]
    if one is None or two is None or one_used != 1 or two_used != 1:
        return Outcome(reason="the two sides have no single value each")
    if query.kind == "compare":
        return Outcome(values=(one > two if query.operator in (">", ">=") else one < two,))
    if query.kind == "which":
        return _which(query, one, two)
    if isinstance(one, str) and isinstance(two, str) and query.kind == "difference":
        return _days(one, two)
    if isinstance(one, str) or isinstance(two, str):
        return Outcome(reason="the values are not numbers")
    if query.kind == "ratio":
        return Outcome(values=(one / two,)) if two else Outcome(reason="the second is zero")
    difference = one - two if query.operator in ("", ">", ">=") else two - one
    if query.operator and difference < 0:
        return Outcome(reason="it is the other way round")
    return Outcome(values=(abs(difference),))


def _days(one: str, two: str) -> Outcome:
    try:
        return Outcome(values=(abs((date.fromisoformat(one) - date.fromisoformat(two)).days),))
    except ValueError:
        return Outcome(reason="the values are not numbers")


def _which(query: Query, one: Any, two: Any) -> Outcome:
    if one == two:
        return Outcome(reason="both are equal")
    first = (one > two) == (query.operator in (">", ">="))
    side = (query.where if first else query.part)[0]
    values: tuple[Any, ...] = getattr(side, "values", ())
    return Outcome(values=values[:1])


def number_text(value: Any) -> str:
    """Return a number as words, without digits from rounding errors."""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        rounded = round(value, 6) if abs(value) >= 0.01 else float(f"{value:.6g}")
        return format(rounded, ".15g") if abs(rounded) >= 1e-4 else repr(rounded)
    return "" if value is None else str(value)


def answer_value(found: Outcome, schema: Mapping[str, Any] | None, places: int | None) -> Any:
    """Return an outcome as an answer of the wanted type, or None if it has another type."""
    values = [_rounded(value, places) for value in found.values]
    return _formed(values, [(name, _rounded(value, places)) for name, value in found.pairs], schema or {})


def _formed(values: Sequence[Any], pairs: Sequence[tuple[str, Any]], schema: Mapping[str, Any]) -> Any:
    kind = schema.get("type", "string")
    kinds = cast("list[Any]", kind) if isinstance(kind, list) else [kind]
    if "array" in kinds:
        items = cast("Mapping[str, Any]", schema.get("items") or {})
        formed = [_formed([value], (), items) if "type" in items else value for value in values]
        return None if None in formed else formed
    if "object" in kinds:
        properties = cast("Mapping[str, Any]", schema.get("properties") or {})
        if not properties:
            return dict(pairs) or None
        (name, *more), inner = properties, _formed(values, pairs, next(iter(properties.values())))
        return None if more or inner is None else {name: inner}
    if "string" in kinds:
        return ", ".join(map(number_text, values))
    return _scalar_of(values[0], kinds) if len(values) == 1 else None


def _scalar_of(value: Any, kinds: Sequence[Any]) -> Any:
    if isinstance(value, bool):
        return value if "boolean" in kinds else None
    if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value):
        value = float(value)
    if not isinstance(value, int | float) or not {"number", "integer"} & set(kinds):
        return None
    number: int | float = json.loads(number_text(value))
    return number if isinstance(number, int) or "number" in kinds else None


def _rounded(value: Any, places: int | None) -> Any:
    if places is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return round(value, places)
