"""Rows of a list: told apart by their key, equal ones joined, each cell with its sources."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any, Literal, cast

from .evidence import ranked
from .sources import Source, tokens

ALIKE = 0.85  # of two names, above which they are one
MOST_NAME = 80
UNKNOWN = "unknown"
WEB, STATED, REWORDED = "web", 0.8, 0.4  # confidence in a value that its source states, or only in other words
Added = Literal["new", "more", "same", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The origin of a value: its source, quote, place and dates, its worker, and any doubt about it.

    `confidence`, from 0 to 1, is that in a value of this worker which the source states so.
    """

    url: str
    quote: str
    line: int
    place: str
    date: str
    host: str
    tier: int
    round: int
    at: str
    doubt: str
    worker: str
    confidence: float


@dataclass(slots=True, kw_only=True)
class Value:
    """One value of a cell, and its sources."""

    value: Any
    origins: list[Origin]

    def record(self) -> dict[str, Any]:
        """Return it with its origins as JSON."""
        return {
            "value": self.value,
            "confidence": self.confidence,
            "origins": [asdict(one) for one in self.origins],
        }

    @property
    def confidence(self) -> float:
        """Confidence from 0 to 1, as if hosts erred independently: each host counts once, with its best confidence."""
        hosts = sorted({one.host for one in self.origins})
        best = [max(one.confidence for one in self.origins if one.host == host) for host in hosts]
        return round(1 - prod(1 - one for one in best), 2)

    @property
    def is_doubtful(self) -> bool:
        """Whether all of its sources are in doubt."""
        return all(one.doubt for one in self.origins)


@dataclass(slots=True)
class Row:
    """One row: for each column the values given by sources; and how many searches had been made when it was found."""

    cells: dict[str, list[Value]] = field(default_factory=dict[str, list[Value]])
    asked: int = 0

    def lacks(self, columns: Sequence[str], asked: int, after: int) -> list[str]:
        """Return the columns without a value, as long as so few searches were made since that they are not given up.

        Args:
            columns: All columns.
            asked: How many searches were made.
            after: After how many a cell is given up.
        """
        return [name for name in columns if self.value(name) is None] if asked - self.asked < after else []

    def value(self, column: str) -> Any:
        """Return the best value of a column, None without one."""
        return found.value if (found := self.best(column)) is not None else None

    def best(self, column: str) -> Value | None:
        """Return the best value: said by a source, then the most recent, by the most hosts, from the best source."""
        given = self.cells.get(column, [])
        values = [one for one in given if not one.is_doubtful] or given
        if len(values) < 2:
            return values[0] if values else None
        recency = [max(one.date for one in value.origins) for value in values]
        agreement = [len({one.host for one in value.origins}) for value in values]
        tier = [-min(one.tier for one in value.origins) for value in values]
        return values[ranked([recency, agreement, tier])[0]]


@dataclass(slots=True, kw_only=True)
class Table:
    """The rows of a list.

    Args:
        columns: Names of the columns.
        key: Those that tell rows apart.
        rows: The rows, in the order in which they were found.
        rejected: Rows that do not hold, with the reason.
    """

    columns: list[str]
    key: list[str]
    rows: list[Row] = field(default_factory=list[Row])
    rejected: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def add(
        self, cells: Mapping[str, Any], source: Source, quote: str, *, round: int, at: str, worker: str = WEB,
        confidence: float = STATED, asked: int = 0,
    ) -> Added:  # fmt: skip
        """Add a row with quotation and name found in its source, or join it with the same one."""
        given = {name: _stripped(cells.get(name)) for name in self.columns}
        line = source.line_of(quote)
        why = self._fault(given, source) if line is not None else "the quotation does not stand in the source"
        if why or line is None:
            self.rejected.append({"cells": given, "url": source.url, "quote": quote, "why": why})
            return "rejected"
        said = tokens("\n".join(one.text for one in source.words))

        def value(one: Any) -> Value:
            doubt = "" if _contains(one, said) else "the source says it in other words"
            origin = Origin(
                url=source.url, quote=quote, line=line, place=source.place, date=source.date, host=source.host,
                tier=source.tier, round=round, at=at, doubt=doubt, worker=worker,
                confidence=min(confidence, REWORDED) if doubt else confidence,
            )  # fmt: skip
            return Value(value=one, origins=[origin])

        values = {name: value(one) for name, one in given.items() if one is not None}
        same = self._same(given)
        if same is None:
            self.rows.append(Row({name: [one] for name, one in values.items()}, asked))
            return "new"
        filled = list[bool]()
        for name, one in values.items():
            cell = same.cells.setdefault(name, [])
            known = cell[0].value if name in self.key else one.value  # another spelling of a name is no other value
            filled.append(_join(cell, Value(value=known, origins=one.origins)))
        return "more" if any(filled) else "same"

    def unheld(self) -> list[str]:
        """Return each name that stands in rejected rows alone, with the first reason."""
        why = dict[str, str]()
        for one in self.rejected:
            if all(one["cells"][name] is not None for name in self.key) and self._same(one["cells"]) is None:
                why.setdefault(", ".join(str(one["cells"][name]) for name in self.key), one["why"])
        return [f"{name[:MOST_NAME]} is left out: {reason}." for name, reason in why.items()]

    def _fault(self, row: Mapping[str, Any], source: Source) -> str:
        """Return the fault of a row, empty for a good one."""
        lacking = [name for name in self.key if row.get(name) is None]
        if lacking:
            return f"{lacking[0]!r} is not known"
        said = dict.fromkeys(word for one in source.words for word in tokens(one.text))
        if any(word not in said for word in tokens(str(row[self.key[0]]))):
            return f"{str(row[self.key[0]])[:80]!r} does not stand in the source"
        return ""

    def _same(self, cells: Mapping[str, Any]) -> Row | None:
        """Return the row with the same key, or one with a very similar name and no contradiction."""
        for row in self.rows:
            if all(_equal(row.value(name), cells[name]) for name in self.key):
                return row
        name, *others = self.key
        for row in self.rows:
            shared = [one for one in (*others, *self.columns) if one != name and cells.get(one) is not None]
            agrees = all(row.value(one) is None or _equal(row.value(one), cells[one]) for one in shared)
            if agrees and alike(str(row.value(name)), str(cells[name])) > ALIKE:
                return row
        return None

    def status(self, asked: int, after: int) -> dict[str, int]:
        """Return how many cells are found, missing, and unknown; see `Row.lacks`."""
        found = sum(row.value(name) is not None for row in self.rows for name in self.columns)
        missing = sum(len(row.lacks(self.columns, asked, after)) for row in self.rows)
        return {
            "found": found,
            "missing": missing,
            "unknown": len(self.rows) * len(self.columns) - found - missing,
        }

    def shown(self, most: int, asked: int, after: int) -> list[str]:
        """Return the keys of the first rows, with their missing columns; see `Row.lacks`."""
        lines = list[str]()
        for row in self.rows[:most]:
            lacks = row.lacks(self.columns, asked, after)
            name = ", ".join(str(row.value(one)) for one in self.key)
            lines.append(f"{name} (lacks {', '.join(lacks)})" if lacks else name)
        return lines

    def answer(self, schema: Mapping[str, Any] | None) -> list[dict[str, Any]]:
        """Return the rows in the form of a schema: an unknown value is null, left out, or `unknown`, as it allows."""
        properties: Mapping[str, Any] = (schema or {}).get("properties", {})
        required = (schema or {}).get("required", ())
        answer = list[dict[str, Any]]()
        for row in self.rows:
            values = {name: row.value(name) for name in self.columns}
            for name in self.columns:
                if values[name] is None and schema is not None and not allows(properties.get(name), "null"):
                    if name not in required:
                        del values[name]
                    elif allows(properties.get(name), "string"):
                        values[name] = UNKNOWN
            if schema is None or all(one is not None or allows(properties.get(n), "null") for n, one in values.items()):
                answer.append(values)
        return answer

    def contradictions(self) -> list[str]:
        """Return the disagreements of sources, one line a cell."""
        lines = list[str]()
        for row in self.rows:
            for column, values in row.cells.items():
                if len(values) > 1:
                    first = row.best(column)
                    told = "; ".join(f"{one.value!r} ({one.origins[0].url})" for one in values)
                    name = ", ".join(str(row.value(one)) for one in self.key)
                    lines.append(f"{name}, {column}: {told}; taken: {first.value if first else None!r}")
        return lines

    def unfounded(self) -> list[str]:
        """Return the cells with digits standing in none of their sources, one line each."""
        lines = list[str]()
        for row in self.rows:
            name = ", ".join(str(row.value(one)) for one in self.key)
            for column in row.cells:
                best = row.best(column)
                if best is not None and best.is_doubtful and any(one.isdigit() for one in str(best.value)):
                    lines.append(f"{name}, {column}: {best.value!r} does not stand in {best.origins[0].url}")
        return lines

    def record(self) -> list[dict[str, Any]]:
        """Return each row with all of its values and their origins."""
        return [{name: [one.record() for one in values] for name, values in row.cells.items()} for row in self.rows]


def alike(one: str, other: str) -> float:
    """Return how similar two names are, from 0 to 1: the share of common pairs of letters; other digits are others."""
    first, second = " ".join(tokens(one)), " ".join(tokens(other))
    if first == second:
        return 1.0
    if [letter for letter in first if letter.isdigit()] != [letter for letter in second if letter.isdigit()]:
        return 0.0
    pairs, others = _pairs(first), _pairs(second)
    common = 0
    for pair in pairs:
        if pair in others:
            others.remove(pair)
            common += 1
    total = len(pairs) + common + len(others)
    return 2 * common / total if total else 0.0


def _pairs(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(len(text) - 1)]


def _join(values: list[Value], new: Value) -> bool:
    """Add a value or its sources to a cell, and return whether the cell was empty or contradicted."""
    for one in values:
        if _equal(one.value, new.value):
            known = [origin.url for origin in one.origins]
            one.origins += [origin for origin in new.origins if origin.url not in known]
            return False
    values.append(new)
    return True


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float) and not isinstance(one, bool):
        return one == other
    return tokens(str(one)) == tokens(str(other))


def _stripped(value: Any) -> Any:
    """Strip a text value; return None for words meaning unknown."""
    if isinstance(value, str):
        text = value.strip()
        return None if text.casefold() in ("", UNKNOWN, "n/a", "null", "none", "-") else text
    return value


def _contains(value: Any, tokens_of_text: Sequence[str]) -> bool:
    """Return whether a text, given as words, contains those of a value; marks of thousands do not count."""
    if isinstance(value, bool | list | dict):
        return True  # a form of its own: the quotation has to say it
    plain = [one.replace(",", "") for one in tokens_of_text]
    words = [one.replace(",", "") for one in tokens(str(value))]
    return all(one in plain for one in words)


def allows(schema: Any, kind: str) -> bool:
    """Tell whether a schema allows a simple type."""
    form: Mapping[str, Any] = cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else {}
    given: Any = form.get("type")
    options: list[Any] = form.get("anyOf") or form.get("oneOf") or []
    if options:
        return any(allows(one, kind) for one in options)
    return given is None or given == kind or (isinstance(given, list) and kind in given)
