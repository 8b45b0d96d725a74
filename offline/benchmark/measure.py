"""How well the offline model answers questions it has not seen, over real tables; pandas works out the right answers.

Usage: python offline/benchmark/measure.py [--seed N] [--only CLASS] [--show GRADE] [--list]
"""

import argparse
import asyncio
import contextlib
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

from _build import BUILDERS, build
from _grade import Grade, grade
from _special import airline_joins, arithmetic, plane_joins, two_keys, unanswerable, zone_joins
from _tables import Question, Source, Table, sources
from _wordings import WORDINGS

import tea

REPEATS = dict.fromkeys(("count where", "mean", "top row", "look up", "look up own", "most rows"), 2)
GRADES: tuple[Grade, ...] = ("right", "wrong", "abstained")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Hold the result of one question."""

    question: Question
    answer: Any
    error: str
    grade: Grade


def main() -> None:
    """Generate the questions, ask them, and print the score."""
    options = parse()
    questions = [one for one in generate(options.seed) if options.only in (None, one.label)]
    if options.list:
        for one in questions:
            print(f"[{one.label}] {one.text}  ->  {one.answer}  ({one.table})")
        return
    started = time.perf_counter()
    outcomes = asyncio.run(ask_all(questions))
    for outcome in outcomes:
        if outcome.grade == options.show:
            one = outcome.question
            print(f"[{one.label}] {one.text} ({one.table})\n    right: {one.answer}\n    given: {outcome.answer}")
    print_report(outcomes, time.perf_counter() - started)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="decides every choice")
    parser.add_argument("--only", help="ask one class of questions")
    parser.add_argument("--show", choices=GRADES, help="print the questions that ended so")
    parser.add_argument("--list", action="store_true", help="print the questions and the right answers, ask nothing")
    return parser.parse_args()


def generate(seed: int) -> list[Question]:
    """Make the questions; the same seed gives the same questions."""
    tables = sources(seed)
    asked = [question for source in tables.values() for question in about(source)]
    for _ in range(2):
        asked += zone_joins(tables["zone.tab"], tables["iso3166.tab"])
        asked += airline_joins(tables["flights.csv"], tables["airlines.csv"])
        asked += plane_joins(tables["flights.csv"], tables["planes.csv"])
    asked += [*two_keys(tables["us_macro.csv"]), *arithmetic(Random(seed))]
    return list({(question.text, question.table): question for question in reversed(asked)}.values())[::-1]


def about(source: Source) -> Iterator[Question]:
    """Ask one table one or two questions of every class it lends itself to."""
    for label, wordings in wordings_for(source.table).items():
        start = source.random.randrange(max(1, len(wordings)))
        turns = (*wordings[start:], *wordings[:start]) * 4
        built = (question for wording in turns if (question := build(source, label, wording)))
        yield from islice(built, REPEATS.get(label, 1))
    yield from unanswerable(source)


def wordings_for(table: Table) -> dict[str, tuple[str, ...]]:
    """Join the general wordings with those made for the columns of a table."""
    looks = tuple(look for column in (*table.measures, *table.categories) for look in column.looks)
    own = {"count asked": tuple(ask for category in table.categories for ask in category.held), "look up own": looks}
    return {label: own.get(label) or WORDINGS.get(label, ()) for label in BUILDERS}


async def ask_all(questions: list[Question]) -> list[Outcome]:
    """Ask every question, two at a time, in a throw-away home beside copies of the files."""
    turn = asyncio.Semaphore(2)

    async def one(question: Question, platform: tea.Platform) -> Outcome:
        async with turn:
            answer, error = await ask(question, platform)
        return Outcome(question=question, answer=answer, error=error, grade=grade(question, answer))

    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for path in {path for question in questions for path in question.files}:
            shutil.copy(path, folder)
        async with tea.Platform(home) as platform, asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(question, platform)) for question in questions]
    return [task.result() for task in tasks]


async def ask(question: Question, platform: tea.Platform) -> tuple[Any, str]:
    """Put one question to the offline model; the answer is None after an abstention or an error."""
    try:
        result = await platform.run(question.text, files=[path.name for path in question.files], model="offline")
    except tea.TeaError as error:
        return None, str(error)
    return (result.answer, "") if result.ok else (None, "")


def print_report(outcomes: list[Outcome], seconds: float) -> None:
    """Print the score by class, by table and in total."""
    for heading in ("label", "table"):
        print(f"\n| {heading} | questions | right | wrong | abstained |\n|---|---|---|---|---|")
        for value in sorted({getattr(outcome.question, heading) for outcome in outcomes}):
            print_row(value, [outcome for outcome in outcomes if getattr(outcome.question, heading) == value])
    print_row("total", outcomes)
    shares = Counter(outcome.grade for outcome in outcomes)
    print("\n" + ", ".join(f"{shares[name] / max(1, len(outcomes)):.1%} {name}" for name in GRADES))
    errors = Counter(outcome.error for outcome in outcomes if outcome.error)
    print(f"{len({one.question.wording for one in outcomes})} wordings, {seconds:.0f} s, {errors.total()} errors")
    for error, times in errors.most_common(5):
        print(f"  {times} x {error[:200]}", file=sys.stderr)


def print_row(name: str, outcomes: list[Outcome]) -> None:
    """Print one line of a report."""
    counts = Counter(outcome.grade for outcome in outcomes)
    print(f"| {name} | {len(outcomes)} | {' | '.join(str(counts[name]) for name in GRADES)} |")


if __name__ == "__main__":
    main()
