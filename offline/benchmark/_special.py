"""Questions beyond one table: joins, two keys, sums without a file, and questions without an answer."""

import math
from collections.abc import Iterator
from random import Random
from typing import Any

from _pick import any_row, number, only
from _tables import Question, Source
from _wordings import ARITHMETIC

ZONES = (
    "Count the time zones of {country}.",
    "Name the time zones of {country}.",
    "In what country do we find the most time zones?",
    "In which nation is the zone {TZ}?",
)
AIRLINES = (
    "How many times did {name} fly?",
    "What is the name of the airline with the most flights?",
    "How far do the flights of {name} go on average?",
    "By name, which airline has the greatest mean air time?",
)
PLANES = (
    "Count the flights on aircraft made by {manufacturer}.",
    "On average, how many seats do the planes to {dest} have?",
    "The planes of which manufacturer were used for most flights?",
)
TWO_KEYS = ("Tell me the {np} for Q{quarter} {year}.", "How high was the {np} in quarter {quarter} of {year}?")


def joined(wording: str, one: Source, two: Source, kind: str, answer: Any, rivals: Any = (), **slots: str) -> Question:
    """Make a question about two files."""
    return Question(
        text=wording.format(**slots), files=(one.path, two.path), kind=kind, answer=answer, rivals=tuple(rivals),
        label="join", table=f"{one.table.domain} + {two.path.name}", wording=wording,
    )  # fmt: skip


def zone_joins(zones: Source, countries: Source) -> Iterator[Question]:
    merged = zones.frame.merge(countries.frame, on="code")
    counts = merged["country"].value_counts()
    country = zones.random.choice(list(counts.index[:60]))
    yield joined(ZONES[0], zones, countries, "number", int(counts[country]), country=country)
    country = zones.random.choice(list(counts[counts.between(2, 6)].index))
    here = merged["country"] == country
    answer = tuple((zone,) for zone in merged[here]["TZ"])
    yield joined(ZONES[1], zones, countries, "list", answer, merged[~here]["TZ"], country=country)
    most, row = only(counts), any_row(zones, merged)
    for wording, right in ((ZONES[2], most), (ZONES[3], row["country"])):
        rivals = set(merged["country"]) - {right}
        yield joined(wording, zones, countries, "text", (right,), rivals, TZ=row["TZ"])


def airline_joins(flights: Source, airlines: Source) -> Iterator[Question]:
    merged = flights.frame.merge(airlines.frame, on="carrier")
    counts = merged["name"].value_counts()
    name = flights.random.choice(list(counts.index))
    yield joined(AIRLINES[0], flights, airlines, "number", int(counts[name]), name=name)
    mean = float(merged[merged["name"] == name]["distance"].mean())
    yield joined(AIRLINES[2], flights, airlines, "number", mean, name=name)
    for wording, best in ((AIRLINES[1], only(counts)), (AIRLINES[3], only(merged.groupby("name")["air_time"].mean()))):
        yield joined(wording, flights, airlines, "text", (best,), set(counts.index) - {best})


def plane_joins(flights: Source, planes: Source) -> Iterator[Question]:
    merged = flights.frame.merge(planes.frame, on="tailnum")
    counts = merged["manufacturer"].value_counts()
    maker = flights.random.choice(list(counts.index[:8]))
    yield joined(PLANES[0], flights, planes, "number", int(counts[maker]), manufacturer=maker)
    dest = flights.random.choice(list(merged["dest"].value_counts().index[:20]))
    yield joined(PLANES[1], flights, planes, "number", float(merged[merged["dest"] == dest]["seats"].mean()), dest=dest)
    most = only(counts)
    yield joined(PLANES[2], flights, planes, "text", (most,), set(counts.index) - {most})


def two_keys(source: Source) -> Iterator[Question]:
    """Look up cells by two keys, the year and the quarter."""
    for wording in TWO_KEYS * 2:
        column, row = source.random.choice(source.table.measures), any_row(source, source.frame)
        slots = {"np": column.words[0], "year": str(row["year"]), "quarter": str(int(row["quarter"]))}
        yield Question(
            text=wording.format(**slots), files=(source.path,), kind="number", answer=float(row[column.column]),
            label="look up two keys", table=source.table.domain, wording=wording,
        )  # fmt: skip


def arithmetic(chance: Random) -> Iterator[Question]:
    """Ask for sums without a file."""
    for wording, formula in ARITHMETIC * 2:
        p, a, b = chance.randint(3, 19), chance.randint(200, 9999), chance.randint(12, 199)
        numbers = {"a": a, "b": b, "p": p, "m": p * b, "x": chance.randint(5, 80) / 4}
        answer = float(eval(formula, {"__builtins__": {}, "math": math}, numbers))
        said = {name: number(value) for name, value in numbers.items()}
        yield Question(
            text=wording.format(**said), files=(), kind="number", answer=answer, label="arithmetic", table="no file",
            wording=wording,
        )  # fmt: skip


def unanswerable(source: Source) -> Iterator[Question]:
    """Ask for columns and rows outside the table; the right reply is to abstain."""
    asked = [(text, text) for text in source.table.absent]
    looks = [look for column in (*source.table.measures, *source.table.categories) for look in column.looks]
    if looks and source.table.stranger:
        wording = source.random.choice(looks)
        asked.append((wording.format(e=source.table.stranger), wording))
    for text, wording in asked:
        yield Question(
            text=text, files=(source.path,), kind="none", answer=None, label="unanswerable", table=source.table.domain,
            wording=wording,
        )  # fmt: skip
