"""Questions beyond one table: joins, two keys, sums without a file, a text, and questions without an answer."""

import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _offline_held_out import HELD_ARITHMETIC, HELD_TEXT, HELD_TEXT_ABSENT
from _offline_pick import number, only
from _offline_tables import Question, Source
from _offline_wordings import ARITHMETIC, TEXT, TEXT_ABSENT

JOIN_ZONES = (
    ("How many time zones does {country} have?", "Which time zones does {country} have?",
     "Which country has the most time zones?", "Which country does the time zone {TZ} belong to?"),
    ("Count the time zones of {country}.", "Name the time zones of {country}.",
     "In what country do we find the most time zones?", "In which nation is the zone {TZ}?"),
)  # fmt: skip
JOIN_AIRLINES = (
    ("How many flights did {name} operate?", "Which airline, by name, had the most flights?",
     "What is the average distance of flights by {name}?",
     "What is the name of the airline with the highest average air time?"),
    ("How many times did {name} fly?", "What is the name of the airline with the most flights?",
     "How far do the flights of {name} go on average?", "By name, which airline has the greatest mean air time?"),
)  # fmt: skip
JOIN_PLANES = (
    ("How many flights were made with planes built by {manufacturer}?",
     "What is the average number of seats of the planes that flew to {dest}?",
     "Which manufacturer's planes made the most flights?"),
    ("Count the flights on aircraft made by {manufacturer}.",
     "On average, how many seats do the planes to {dest} have?",
     "The planes of which manufacturer were used for most flights?"),
)  # fmt: skip
TWO_KEYS = (
    ("What was the {np} in the {ordinal} quarter of {year}?", "What was the {np} in {year} Q{quarter}?"),
    ("Tell me the {np} for Q{quarter} {year}.", "How high was the {np} in quarter {quarter} of {year}?"),
)


def joins(sources: dict[str, Source], *, held_out: bool, repeat: int) -> Iterator[Question]:
    """Ask about two files at once, where both are there."""
    for _ in range(repeat):
        if {"zone.tab", "iso3166.tab"} <= sources.keys():
            yield from zone_joins(sources["zone.tab"], sources["iso3166.tab"], JOIN_ZONES[held_out])
        if {"flights.csv", "airlines.csv"} <= sources.keys():
            yield from airline_joins(sources["flights.csv"], sources["airlines.csv"], JOIN_AIRLINES[held_out])
        if {"flights.csv", "planes.csv"} <= sources.keys():
            yield from plane_joins(sources["flights.csv"], sources["planes.csv"], JOIN_PLANES[held_out])


def joined(wording: str, one: Source, two: Source, kind: str, answer: Any, rivals: Any = (), **slots: str) -> Question:
    """Make a question about two files."""
    return Question(
        text=wording.format(**slots), files=(one.path, two.path), kind=kind, answer=answer, rivals=tuple(rivals),
        label="join", table=f"{one.table.domain} + {two.path.name}", wording=wording,
    )  # fmt: skip


def zone_joins(zones: Source, countries: Source, wordings: tuple[str, ...]) -> Iterator[Question]:
    merged = zones.frame.merge(countries.frame, on="code")
    counts = merged["country"].value_counts()
    country = zones.random.choice(list(counts.index[:60]))
    yield joined(wordings[0], zones, countries, "number", int(counts[country]), country=country)
    country = zones.random.choice(list(counts[counts.between(2, 6)].index))
    here = merged["country"] == country
    answer = tuple((zone,) for zone in merged[here]["TZ"])
    yield joined(wordings[1], zones, countries, "list", answer, merged[~here]["TZ"], country=country)
    most = only(counts)
    yield joined(wordings[2], zones, countries, "text", (most,), set(merged["country"]) - {most})
    row = merged.iloc[zones.random.randrange(len(merged))]
    rivals = set(merged["country"]) - {row["country"]}
    yield joined(wordings[3], zones, countries, "text", (row["country"],), rivals, TZ=row["TZ"])


def airline_joins(flights: Source, airlines: Source, wordings: tuple[str, ...]) -> Iterator[Question]:
    merged = flights.frame.merge(airlines.frame, on="carrier")
    counts = merged["name"].value_counts()
    name = flights.random.choice(list(counts.index))
    yield joined(wordings[0], flights, airlines, "number", int(counts[name]), name=name)
    most = only(counts)
    yield joined(wordings[1], flights, airlines, "text", (most,), set(counts.index) - {most})
    name = flights.random.choice(list(counts.index))
    mean = float(merged[merged["name"] == name]["distance"].mean())
    yield joined(wordings[2], flights, airlines, "number", mean, name=name)
    longest = only(merged.groupby("name")["air_time"].mean())
    yield joined(wordings[3], flights, airlines, "text", (longest,), set(counts.index) - {longest})


def plane_joins(flights: Source, planes: Source, wordings: tuple[str, ...]) -> Iterator[Question]:
    merged = flights.frame.merge(planes.frame, on="tailnum")
    counts = merged["manufacturer"].value_counts()
    maker = flights.random.choice(list(counts.index[:8]))
    yield joined(wordings[0], flights, planes, "number", int(counts[maker]), manufacturer=maker)
    dest = flights.random.choice(list(merged["dest"].value_counts().index[:20]))
    seats = float(merged[merged["dest"] == dest]["seats"].mean())
    yield joined(wordings[1], flights, planes, "number", seats, dest=dest)
    most = only(counts)
    yield joined(wordings[2], flights, planes, "text", (most,), set(counts.index) - {most})


def two_keys(source: Source, *, held_out: bool, repeat: int) -> Iterator[Question]:
    """Look up a cell that needs two keys, the year and the quarter."""
    for turn in range(repeat):
        wording = TWO_KEYS[held_out][turn % 2]
        column = source.random.choice(source.table.measures)
        row = source.frame.iloc[source.random.randrange(len(source.frame))]
        quarter = int(row["quarter"])
        slots = {"np": column.words[0], "year": str(row["year"]), "quarter": str(quarter)}
        slots["ordinal"] = ("first", "second", "third", "fourth")[quarter - 1]
        yield Question(
            text=wording.format(**slots), files=(source.path,), kind="number", answer=float(row[column.column]),
            label="look up two keys", table=source.table.domain, wording=wording,
        )  # fmt: skip


def arithmetic(chance: random.Random, *, held_out: bool, repeat: int) -> Iterator[Question]:
    """Ask for sums that need no file."""
    for _ in range(repeat):
        for wording, formula in HELD_ARITHMETIC if held_out else ARITHMETIC:
            p, root = chance.randint(3, 19), chance.randint(11, 60)
            a, b = chance.randint(200, 9999), chance.randint(12, 199)
            numbers = {"a": a, "b": b, "p": p, "m": p * b, "q": root * root, "s": root, "x": chance.randint(5, 80) / 4}
            answer = float(eval(formula, {"__builtins__": {}, "math": math}, numbers))
            said = {name: number(value) for name, value in numbers.items()}
            yield Question(
                text=wording.format(**said), files=(), kind="number", answer=answer, label="arithmetic",
                table="no file", wording=wording,
            )  # fmt: skip


def text(path: Path, *, held_out: bool) -> Iterator[Question]:
    """Ask about a text: the answer must contain the words that answer, within a passage of bearable length."""
    for wording, accepted in HELD_TEXT if held_out else TEXT:
        yield Question(
            text=wording, files=(path,), kind="passage", answer=accepted, label="text", table="text", wording=wording
        )
    for wording in HELD_TEXT_ABSENT if held_out else TEXT_ABSENT:
        yield Question(
            text=wording, files=(path,), kind="none", answer=None, label="unanswerable", table="text", wording=wording
        )


def unanswerable(source: Source, *, held_out: bool) -> Iterator[Question]:
    """Ask for columns and for rows that are not in the table; the right reply is to abstain."""
    table = source.table
    columns = (*table.measures, *table.categories)
    looks = [look for column in columns for look in column.looks]
    asked = [(text, text) for text in (table.held_absent if held_out else table.absent)]
    for stranger in table.strangers[:1] if held_out else table.strangers[1:]:
        if looks:
            wording = source.random.choice(looks)
            asked.append((wording.format(e=stranger), wording))
    for asked_text, wording in asked:
        yield Question(
            text=asked_text, files=(source.path,), kind="none", answer=None, label="unanswerable", table=table.domain,
            wording=wording,
        )  # fmt: skip
