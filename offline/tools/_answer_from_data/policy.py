"""The steps from tables to an answer: look at them, query, compare the readings, answer."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from .answers import Outcome, answer_value, number_text, outcome
from .cleaning import Asked, cleaned
from .phrases import candidates
from .query import Query, Reading, columns_of
from .questions import free_readings, readings
from .schema import Schema, schema_from
from .span import Span, paths
from .spans import spans
from .sql import Unreachable, Writer
from .steps import Call, History, Step, call, given_up, result_of, step
from .tokens import tokens

_TABLES = {
    ".csv", ".tsv", ".tab", ".psv", ".dat", ".data", ".json", ".jsonl", ".ndjson", ".geojson", ".xlsx", ".xlsm", ".ods",
}  # fmt: skip
_ABOUT_ALL = re.compile(
    r"(?:is|are|do|does|did|has|have|was|were) (?:all|every|each|most|half|none|no|both)\b", re.IGNORECASE
)
Read = Callable[[Sequence[Span], float, Schema], Iterator[Reading]]
MOST_CHARACTERS = 1_000
MARGIN = 0.17
MOST_QUERIES = 4
MOST_DOUBT = 2.5
LIMIT = 500


def next_step(task: str, files: list[str], history: History, answer: Mapping[str, Any] | None) -> Step:
    """Return the next step of the work on a task; a pure function of its arguments."""
    if len(task) > MOST_CHARACTERS:
        return given_up("the task is too long for the rules that stand in for a model")
    asked = cleaned(task, files)
    if _ABOUT_ALL.match(asked.question):
        return given_up("whether something holds for all is more than the rules can tell")
    tables = [file for file in files if PurePosixPath(file).suffix.lower() in _TABLES]
    if not tables:
        return given_up("the rules read tables only, and a text needs a model" if files else "there are no files")
    return _table_step(asked, tables, history, answer)


def _table_step(asked: Asked, files: list[str], history: History, answer: Mapping[str, Any] | None) -> Step:
    """Return the next step of the work on a question about table files."""
    words = tokens(asked.question)
    phrases = list(dict.fromkeys(candidate.phrase for candidate in candidates(words)))
    look = call("table_query", files=files, full=True, **({"find": phrases} if phrases else {}))
    seen = result_of(history, look)
    if seen is None:
        goal = "Learn which tables and columns there are, and which words of the question stand in cells."
        return step(f"The question is: {asked.question}", "Nothing was done yet.", "", goal, look)
    if not seen.get("ok"):
        return given_up(f"the tables cannot be read: {_problem(seen)}")
    schema, chosen = interpret(asked.question, json.dumps(seen["value"]))
    return _query_step(asked, files, history, answer, schema, chosen)


@lru_cache(maxsize=4)  # the step behind a query begins with what was read for it
def interpret(question: str, described: str) -> tuple[Schema, list[tuple[str, Query]]]:
    """Return described tables, and the SQL of a question's likeliest readings, none if there is no sound one."""
    value, words = json.loads(described), tokens(question)
    schema = schema_from(value)
    ways = paths(spans(words, schema, value.get("found", ())), len(words))
    return schema, _likeliest(ways, schema, readings) or _likeliest(ways, schema, free_readings)


def _likeliest(paths: Sequence[tuple[float, list[Span]]], schema: Schema, read: Read) -> list[tuple[str, Query]]:
    best: dict[str, Reading] = {}
    least = MOST_DOUBT
    for cost, path in paths:
        if cost > least + 2 * MARGIN:
            break
        for reading in read(path, cost, schema):
            for query in (reading.query, *_weighted(reading.query, schema)):
                sql = _sql(query, schema)
                known = best.get(sql)
                if sql and (known is None or reading.cost < known.cost):
                    best[sql] = replace(reading, query=query)
                    least = min(least, reading.cost)
    ranked = sorted(best.items(), key=lambda item: item[1].cost)
    if not ranked or ranked[0][1].cost > MOST_DOUBT or ranked[0][1].misplaced:
        return []
    near = [(sql, reading.query) for sql, reading in ranked if reading.cost < ranked[0][1].cost + MARGIN - 1e-9]
    return near if len(near) <= MOST_QUERIES else []


def _weighted(query: Query, schema: Schema) -> list[Query]:
    """Return another meaning of an aggregate over a join: each row counts once a mention in the other table."""
    column = query.measure.column if query.measure else None
    if query.kind != "scalar" or column is None or query.measure is None or query.measure.function in ("max", "min"):
        return []
    others = {tested.table for tested in columns_of(query.where)} - {column.table}
    return [replace(query, base=other) for other in others if schema.path(other, column.table)]


def _sql(query: Query, schema: Schema) -> str:
    try:
        return Writer(query, schema).write()
    except Unreachable:
        return ""


def _query_step(
    asked: Asked,
    files: list[str],
    history: History,
    answer: Mapping[str, Any] | None,
    schema: Schema,
    chosen: list[tuple[str, Query]],
) -> Step:
    if not chosen:
        return given_up("the words of the question do not fit the columns and cells with certainty", _summary(schema))
    asking = [call("table_query", files=files, sql=sql, limit=LIMIT, full=True) for sql, _ in chosen]
    results = [result_of(history, one) for one in asking]
    waiting = [one for one, result in zip(asking, results, strict=True) if result is None]
    if waiting:
        many = "1 query" if len(chosen) == 1 else f"{len(chosen)} queries, which must agree"
        told = f"The question reads as {many}.", "The words were found.", _summary(schema), "Run the SQL."
        return step(*told, *waiting)
    first, *others = [_outcome(query, result) for (_, query), result in zip(chosen, results, strict=True)]
    if not first.values:
        return given_up(first.reason, _summary(schema))
    if any(other.values and not _same(first, other) for other in others):
        return given_up("the question can be read in ways that give different answers", _summary(schema))
    value = answer_value(first, answer, asked.places)
    if value in (None, ""):
        return given_up("the answer is not of the wanted type", _summary(schema))
    evidence = _evidence(schema, chosen[0][1], asking[0], results[0])
    done = call("done", answer=value, success=True, evidence=evidence, reason="")
    return step(
        f"The answer is {str(value)[:200]}.", "The query gave an answer.", _summary(schema), "Report the answer.", done
    )


def _outcome(query: Query, result: Mapping[str, Any] | None) -> Outcome:
    if result is None or not result.get("ok"):
        return Outcome(reason="the query failed")
    value = result["value"]
    return outcome(query, value["rows"], bool(value["truncated"]))


def _same(one: Outcome, two: Outcome) -> bool:
    return sorted(map(number_text, one.values)) == sorted(map(number_text, two.values))


def _evidence(schema: Schema, query: Query, asked: Call, result: Mapping[str, Any] | None) -> list[dict[str, str]]:
    sql = str(asked["arguments"]["sql"])
    rows: list[list[Any]] = result["value"]["rows"][:3] if result else []
    used = [table for table in schema.tables if f'"{table.name}"' in sql]
    quote = "; ".join(", ".join(map(number_text, row)) for row in rows)
    return [{"source": table.file, "detail": f"SQL {sql}", "quote": quote[:300]} for table in used]


def _summary(schema: Schema) -> str:
    return "; ".join(
        f"{table.name} ({table.rows} rows): {', '.join(c.name for c in table.columns)}" for table in schema.tables
    )[:1000]


def _problem(result: Mapping[str, Any]) -> str:
    error = result.get("error")
    return str(error.get("problem", error) if isinstance(error, Mapping) else error)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
