"""Enumeration: all of a kind as rows - planned, searched, made one of the same, and stopped in a fixed order.

The stops, in this order: the target, the time, the queries, the tokens, the rounds, rounds without anything new, the
questions left to a model; every cell resolved, where that is set; and what is left to look for. A round that brought
little halves the queries of the next one.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tea import BadOutput, BudgetExceeded, Evidence, Result, TeaError, consult

from .entities import listed
from .flags import flags, worst
from .research import Plan, Research
from .rows import Table
from .sources import Source, Words
from .together import together

LIMITS = {
    "list_seconds": 300, "list_queries": 50, "list_tokens": 200_000, "list_rounds": 8, "list_unknown_after": 12,
    "list_until_resolved": 0,
}  # fmt: skip
PLATEAU, LEAST_NOVELTY = 2, 0.05  # rounds, and the share of rows in each that bring something new
LOW, LEAST_ROWS = 0.2, 2  # novelty of two rounds, and rows after the second one, below which more pages are read
QUERIES_A_ROUND = 3
PAGES, MORE_PAGES = 3, 5
WINDOWS = 4  # parts of a long page
BATCH = 24_000  # characters of material in one question
SHOWN_ROWS = 150
MOST_EVIDENCE = 200
FILES = 50

_NUMBERS = re.compile(r"\d+")
_RISKY = ("=", "+", "-", "@", "\t")  # what begins a formula where a table is opened


@dataclass(slots=True)
class Round:
    """The result of one round."""

    number: int
    queries: list[str]
    pages: list[str]
    failed: list[str]
    extracted: int = 0
    new: int = 0
    filled: int = 0
    same: int = 0
    rejected: int = 0

    @property
    def novelty(self) -> float:
        """The share of rows with something new."""
        held = self.new + self.filled + self.same
        return (self.new + self.filled) / held if held else 0.0


@dataclass(slots=True, kw_only=True)
class Enumeration:
    """The work on one list."""

    research: Research
    plan: Plan
    table: Table
    schema: dict[str, Any]
    begun: str
    queries: list[str]
    limits: Mapping[str, int]
    wanted: list[str] = field(default_factory=list[str])
    rounds: list[Round] = field(default_factory=list[Round])
    spent: int = 0
    stop: str = ""
    allowed: int = QUERIES_A_ROUND  # queries of the next round
    first: dict[str, Any] = field(default_factory=dict[str, Any])  # what came of asking Wikidata
    unread: Sequence[int] = ()  # sources found before the plan, which no round has shown to a model

    async def reason(self) -> str:
        """Return why to stop now, empty to go on; the order is fixed."""
        target, gathering, limits = self.plan.target, self.research.gathering, self.limits
        if target is not None and len(self.table.rows) >= target:
            return "target"
        if _seconds(await self.research.ctx.now()) - _seconds(self.begun) >= limits["list_seconds"]:
            return "time"
        if len(gathering.queries) >= limits["list_queries"]:
            return "queries"
        if self.spent >= limits["list_tokens"]:
            return "tokens"
        if len(self.rounds) >= limits["list_rounds"]:
            return "rounds"
        last = self.rounds[-PLATEAU:]
        if len(last) == PLATEAU and all(one.novelty < LEAST_NOVELTY for one in last):
            return "plateau"
        left = await gathering.questions()
        if left is not None and left < 1:
            return "steps"
        if limits["list_until_resolved"] and self.table.rows and not self.status["missing"]:
            return "resolved"
        if self.rounds and not gathering.new(self.queries) and not gathering.chosen(self.wanted):
            return "nothing left"
        return ""

    @property
    def why(self) -> str:
        """The reason of the stop, in words; empty while there is none."""
        reasons = {
            "target": "as many rows as were wanted are there",
            "time": f"it ended after {_counted(self.limits['list_seconds'], 'second')}",
            "queries": f"it ended after {_counted(self.limits['list_queries'], 'query')}",
            "tokens": f"it ended after {_counted(self.limits['list_tokens'], 'token')}",
            "rounds": f"it ended after {_counted(self.limits['list_rounds'], 'round')}",
            "plateau": f"{PLATEAU} rounds brought nothing new",
            "steps": "no question to a model is left",
            "resolved": "each cell of its rows is found or given up",
            "nothing left": "nothing is left to search for or to read",
            "unreadable": UNREADABLE,
        }
        return reasons.get(self.stop, "")

    @property
    def asked(self) -> int:
        """How many queries were searched for."""
        return len(self.research.gathering.queries)

    @property
    def earlier(self) -> int:
        """How many of them before this round, whose material may still tell what is missing."""
        return self.asked - len(self.rounds[-1].queries)

    @property
    def status(self) -> dict[str, int]:
        """How many cells are found, missing, and unknown: given up after enough searches since their row was found."""
        return self.table.status(self.asked, self.limits["list_unknown_after"])

    def tighten(self) -> None:
        """Halve the queries of the next round after one that brought little; restore them after a better one."""
        poor = self.rounds[-1].novelty < LOW
        self.allowed = max(1, self.allowed // 2) if poor else QUERIES_A_ROUND

    @property
    def low(self) -> bool:
        """Whether the rounds so far brought too little, so more pages are to be read."""
        last = self.rounds[-2:]
        few = len(self.rounds) >= 2 and len(self.table.rows) < LEAST_ROWS
        return few or (len(last) == 2 and all(one.novelty < LOW for one in last))


UNREADABLE = "the rows that a model wrote could not be read"
COMPLETE = ("target", "plateau", "resolved", "nothing left")


async def enumerated(research: Research, plan: Plan) -> Result:
    """Work on a list in rounds until a stop, and return its rows, with a table and its sources in the workspace."""
    work = await _begun(research, plan)
    try:
        if research.ctx.entities:
            await _listed(work)
        while not work.stop:
            await _round(work)
            work.stop = work.stop or await work.reason()
            research.ctx.so_far(_result(work))
    except BudgetExceeded as error:
        work.stop, research.partial = "steps", error.problem
        found = _result(work)
        return found.model_copy(update={"ok": False, "reason": error.problem, "exhausted": True})
    if not work.table.rows:
        _conclude(work)
        why = "; ".join(research.gathering.problems[:2]) or f"{len(work.table.rejected)} rows were rejected"
        return research.without_answer(f"No row of the list was found: {work.why}; {why}.")
    return await _written(work, _result(work))


def row_schema(answer: Mapping[str, Any] | None) -> tuple[str, Mapping[str, Any]] | None:
    """Return the list member of an answer (empty for all of it) and the schema of one row; None without rows."""
    whole = answer or {}
    items = _object(whole.get("items"))
    if whole.get("type") == "array" and items.get("properties"):
        return "", items
    properties = _object(whole.get("properties"))
    if len(properties) == 1:
        ((name, inner),) = properties.items()
        found = row_schema(_object(inner))
        return (name, found[1]) if found is not None and not found[0] else None
    return None


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


async def _listed(work: Enumeration) -> None:
    """Take the rows that Wikidata knows, before any of the web."""
    research, schema = work.research, _of_task(work) or {}
    work.first = await listed(research, work.plan, work.table, _object(schema.get("properties")))
    work.spent += work.first["tokens"]
    research.checkpoint(0, "listed", wikidata=work.first, rows=work.table.answer(None))
    work.stop = await work.reason()
    research.ctx.so_far(_result(work))


async def _begun(research: Research, plan: Plan) -> Enumeration:
    given = row_schema(research.task.answer)
    properties: Mapping[str, Any] = given[1]["properties"] if given else {}
    columns = [*properties] or [one["name"] for one in plan.columns]
    key = [one for one in plan.key if one in columns] or columns[:1]
    free = {"anyOf": [{"type": "string"}, {"type": "number"}]}
    cells = {name: {"anyOf": [properties.get(name, free), {"type": "null"}]} for name in columns}
    answer = research.task.answer or {}
    return Enumeration(
        research=research, plan=plan, table=Table(columns=columns, key=key), begun=await research.ctx.now(),
        schema=_schema(cells) | ({"$defs": answer["$defs"]} if "$defs" in answer else {}), queries=plan.queries,
        limits={**LIMITS, **research.ctx.declared.get("settings", {})},
        unread=[one.number for one in research.gathering.sources.all()],
    )  # fmt: skip


def _schema(cells: dict[str, Any]) -> dict[str, Any]:
    row = {"cells": _closed(cells), "source": {"type": "integer"}, "quote": {"type": "string"}}
    texts = {"type": "array", "items": {"type": "string"}}
    return _closed({"rows": {"type": "array", "items": _closed(row)}, "queries": texts, "read": texts})


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


async def _round(work: Enumeration) -> None:
    """Search, read the text of pages, take rows from all of it side by side, and join them."""
    research, gathering = work.research, work.research.gathering
    known = [one.number for one in gathering.sources.all() if one.number not in work.unread]
    work.unread = ()
    room = work.limits["list_queries"] - len(gathering.queries)
    asked = gathering.new(work.queries)[: min(work.allowed, room)]
    await gathering.search_each(asked, work.plan.since)
    pages = gathering.chosen(work.wanted, MORE_PAGES if work.low else min(PAGES, gathering.opens))
    await _read(work, pages)
    read = [one.number for one in pages]
    new = [one for one in gathering.sources.all() if one.number not in known or one.number in read]
    round = Round(
        len(work.rounds) + 1, asked, [one.url for one in pages], [one.url for one in pages if one.state == "failed"]
    )
    work.rounds.append(round)
    batches = _batches(new, min(BATCH, research.room))
    found = await together(research.ctx, [_extracted(work, batch) for batch in batches])
    outputs = [one for one in found if one is not None]
    if found and not outputs:
        work.stop, research.partial = "unreadable", UNREADABLE
    work.queries = [*work.queries, *(query for one in outputs for query in one["queries"])]
    work.wanted = [url for one in outputs for url in one["read"]]
    at = await research.ctx.now()
    for row in [row for one in outputs for row in one["rows"]]:
        _count(work, round, row, at)
    work.tighten()
    told: dict[str, Any] = {"new": round.new, "filled": round.filled, "novelty": round.novelty}
    told |= {"allowed": work.allowed} if work.allowed < QUERIES_A_ROUND else {}
    told |= {"status": status} if (status := work.status)["unknown"] else {}
    research.checkpoint(round.number, "searched", **told, rows=work.table.answer(None))


def _count(work: Enumeration, round: Round, row: Mapping[str, Any], at: str) -> None:
    source = work.research.gathering.sources.of(row["source"])
    round.extracted += 1
    if source is None:
        round.rejected += 1
        return
    added = work.table.add(row["cells"], source, row["quote"], round=round.number, at=at, asked=work.asked)
    round.new += added == "new"
    round.filled += added == "more"
    round.same += added == "same"
    round.rejected += added == "rejected"


async def _read(work: Enumeration, pages: Sequence[Source]) -> None:
    """Read the text of pages side by side, long ones in several parts."""
    gathering = work.research.gathering

    async def whole(page: Source) -> None:
        start = 1
        for _ in range(WINDOWS):
            start = await gathering.read_text(page, start)
            if not start:
                break

    await together(work.research.ctx, [whole(page) for page in pages])


def _batches(sources: Sequence[Source], most: int) -> list[list[tuple[Source, str]]]:
    """Return the words of sources in as few questions as possible; of read pages only their text."""
    batches, left = list[list[tuple[Source, str]]](), 0
    documents = [*dict.fromkeys(one.url for one in sources)]
    for source in sorted(sources, key=lambda one: documents.index(one.url)):  # passages of one document together
        texts = [one for one in source.words if one.line] or source.words
        for text in [part for one in texts for part in _parts(one, most)]:
            if len(text) > left:
                batches.append([])
                left = most
            batches[-1].append((source, text))
            left -= len(text)
    return batches


def _parts(words: Words, most: int) -> list[str]:
    return [words.text[at : at + most] for at in range(0, len(words.text), most)]


async def _extracted(work: Enumeration, batch: Sequence[tuple[Source, str]]) -> Mapping[str, Any] | None:
    """Return the rows in some material, None if they cannot be read."""
    research = work.research
    meanings = {one["name"]: one["meaning"] for one in work.plan.columns}
    material = [
        {
            "number": one.number,
            "url": one.url,
            "title": one.title,
            "about": ", ".join(filter(None, [one.date, one.place])),
            "text": text,
        }
        for one, text in batch
    ]
    variables = {
        "task": research.task.text, "entity": work.plan.entity or work.plan.question, "mark": research.mark,
        "columns": [{"name": one, "meaning": meanings.get(one, "")} for one in work.table.columns],
        "key": work.table.key, "known": work.table.shown(SHOWN_ROWS, work.earlier, work.limits["list_unknown_after"]),
        "material": material,
        "queries": research.gathering.queries, "today": research.today,
    }  # fmt: skip

    def read(response: Any) -> Mapping[str, Any]:
        work.spent += response.usage.input_tokens + response.usage.output_tokens
        return response.output

    try:
        return await consult(research.ctx, "researcher_rows", variables, read, output=work.schema)
    except BadOutput:
        return None


def _conclude(work: Enumeration) -> None:
    """Set the missing columns, and whether the list is incomplete."""
    research, table, target = work.research, work.table, work.plan.target
    missing = [f"The list does not answer this part of the question: {one}" for one in work.plan.uncovered]
    if target is not None and len(table.rows) < target:
        missing.append(f"{len(table.rows)} of {target} rows were found.")
    if target is not None and len(table.rows) > target:
        missing.append(f"{len(table.rows)} rows were found, though {_counted(target, 'row')} had been asked for.")
    for name in table.columns:
        lacking = sum(row.value(name) is None for row in table.rows)
        missing += [f"{name} is not known in {lacking} of {len(table.rows)} rows."] * bool(lacking)
    given_up, after = work.status["unknown"], _counted(work.limits["list_unknown_after"], "search")
    missing += [f"{_counted(given_up, 'cell')} {'was' if given_up == 1 else 'were'} given up after {after}."] * bool(
        given_up
    )
    left_out = len(table.rows) - len(table.answer(_of_task(work)))
    missing += [f"{left_out} rows are left out, as the form asks for what is not known of them."] * bool(left_out)
    if work.stop and (work.stop not in COMPLETE or (target is not None and len(table.rows) < target)):
        research.partial = research.partial or f"The list may be incomplete: {work.why}."
    research.missing = [*missing, *table.contradictions(), *table.unfounded(), *table.unheld()]


def _of_task(work: Enumeration) -> Mapping[str, Any] | None:
    found = row_schema(work.research.task.answer)
    return found[1] if found else None


def _result(work: Enumeration) -> Result:
    _conclude(work)
    given, rows = row_schema(work.research.task.answer), work.table.answer(_of_task(work))
    answer: Any = {given[0]: rows} if given and given[0] else rows
    evidence = list[Evidence]()
    for row in work.table.rows[:MOST_EVIDENCE]:
        first = row.best(work.table.key[0])
        if first is not None:
            origin, name = first.origins[0], ", ".join(str(row.value(one)) for one in work.table.key)
            where = "; ".join(filter(None, [name, f"line {origin.line}" if origin.line else origin.place, origin.date]))
            evidence.append(Evidence(source=origin.url, detail=where, quote=origin.quote))
    research = work.research
    return Result(answer=answer, evidence=tuple(evidence), gaps=research.gaps, partial=bool(research.partial))


def audit(work: Enumeration) -> dict[str, Any]:
    """Return the searches and the reason to stop: completeness, contradictions, rejected and doubtful rows."""
    table, gathering = work.table, work.research.gathering
    flagged, complete = flags(table), not work.research.partial
    doubtful = [
        {"row": [row.value(one) for one in table.key], "column": column, "doubt": origin.doubt, "source": origin.url}
        for row in table.rows
        for column, values in row.cells.items()
        for value in values
        for origin in value.origins
        if origin.doubt
    ]
    return {
        "stopped": work.stop,
        "why": work.why,
        "complete": complete,
        "severity": worst(flagged, complete=complete),
        "flagged": flagged,
        "rows": len(table.rows),
        "target": work.plan.target,
        "known": {name: sum(row.value(name) is not None for row in table.rows) for name in table.columns},
        "tokens": work.spent,
        "queries": list(gathering.queries),
        "rounds": [
            {
                "round": one.number, "queries": one.queries, "pages": one.pages, "failed": one.failed,
                "extracted": one.extracted, "new": one.new, "filled": one.filled, "same": one.same,
                "rejected": one.rejected, "novelty": round(one.novelty, 3),
            }
            for one in work.rounds
        ],
        **({"wikidata": work.first} if work.first else {}),
        **({"status": work.status} if work.status["unknown"] else {}),
        "unmet": list(work.research.missing),
        "contradictions": table.contradictions(),
        "doubtful": doubtful,
        "rejected": list(table.rejected),
        "problems": list(gathering.problems),
    }  # fmt: skip


async def _written(work: Enumeration, result: Result) -> Result:
    """Write the table, and its rows with their sources and the audit, under the first free name."""
    ctx, told = work.research.ctx, audit(work)
    work.research.ctx.note("audit", {"agent": ctx.agent, **told})
    names = ["rows", *(f"rows-{number}" for number in range(2, FILES))]
    wanted = {"names": [f"{name}.csv" for name in names], "limit": FILES}
    try:
        listing = (await ctx.ecp.invoke("workspace#list_files", wanted)).unwrap()
        taken = [one["name"] for one in listing["files"]]
        name = next((one for one in names if f"{one}.csv" not in taken), names[-1])
        record = {"columns": work.table.columns, "key": work.table.key, "rows": work.table.record(), "audit": told}
        text = json.dumps(record, ensure_ascii=False, indent=1)
        for file, content in ((f"{name}.csv", _csv(work.table)), (f"{name}.sources.json", text)):
            (await ctx.ecp.invoke("workspace#write", {"name": file, "text": content})).unwrap()
    except BudgetExceeded:
        raise
    except TeaError as error:
        gap = f"The table could not be written: {error.problem}"
        return result.model_copy(update={"gaps": (*result.gaps, gap)})
    return result


def _csv(table: Table) -> str:
    """Return the table as CSV, its last column the address of each row's first source."""
    lines = [[*table.columns, "source"]]
    for row in table.rows:
        first = row.best(table.key[0])
        lines.append([*(_cell(row.value(name)) for name in table.columns), first.origins[0].url if first else ""])
    return "".join(",".join(map(_quoted, line)) + "\n" for line in lines)


def _cell(value: Any) -> str:
    """Return a value as text; an apostrophe goes before anything a spreadsheet would take for a formula."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if isinstance(value, str) and text.startswith(_RISKY) else text


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if re.search(r'[",\n\r]', text) else text


def _counted(number: int, word: str) -> str:
    more = f"{word[:-1]}ies" if word.endswith("y") else f"{word}{'es' if word.endswith('ch') else 's'}"
    return f"{number:,} {word if number == 1 else more}"


def _seconds(moment: str) -> float:
    """Return a moment, ISO 8601 in UTC, as seconds of the common calendar."""
    year, month, day, hour, minute, second = (int(one) for one in _NUMBERS.findall(moment)[:6])
    early = month <= 2
    year, month = year - early, month + 12 * early
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day
    return ((days * 24 + hour) * 60 + minute) * 60 + second
