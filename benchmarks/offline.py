"""How well the offline model answers questions it has not seen, over real tables; pandas works out the right answers.

Usage: python benchmarks/offline.py [--held-out | --development] [--seed N] [--tables DIR] [--limit N] [--only CLASS]
       [--typed] [--json OUT] [--show wrong|abstained] [--list]
"""

import argparse
import asyncio
import contextlib
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from _offline_build import BUILDERS, build
from _offline_development import development
from _offline_grade import Grade, grade
from _offline_held_out import HELD_OUT
from _offline_nature import NATURE
from _offline_society import SOCIETY
from _offline_special import arithmetic, joins, text, two_keys, unanswerable
from _offline_tables import Question, Source, Table, describe, read
from _offline_wordings import WORDINGS

import tea

DATA = Path(__file__).resolve().parent.parent / "examples" / "data"
TEXT_FILE = "constitution.txt"
REPEATS = {"date": 5, **dict.fromkeys(("count where", "mean", "top row", "look up", "look up own", "most rows"), 2)}
SCHEMAS: dict[str, dict[str, Any]] = {
    "number": {"type": "number"},
    "list": {"type": "array", "items": {"type": "string"}},
    "yesno": {"type": "boolean"},
    "text": {"type": "string"},
}
GRADES: tuple[Grade, ...] = ("right", "wrong", "abstained")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one question."""

    question: Question
    answer: Any
    error: str
    grade: Grade


def main() -> None:
    """Generate the questions, ask them, and print the score."""
    options = parse()
    with tempfile.TemporaryDirectory() as untidy:
        questions = chosen(options, Path(untidy))
        if options.list:
            print_questions(questions)
            return
        started = time.perf_counter()
        outcomes = asyncio.run(ask_all(questions, typed=options.typed))
        seconds = time.perf_counter() - started
    for outcome in outcomes:
        if outcome.grade == options.show:
            print(shown(outcome))
    print_report(outcomes, seconds)
    if options.json:
        options.json.write_text(json.dumps([as_record(outcome) for outcome in outcomes], indent=1), encoding="utf-8")


def chosen(options: argparse.Namespace, untidy: Path) -> list[Question]:
    """Make the questions that the command line asks for; the files of the development set go into a folder."""
    seed = options.seed if options.seed is not None else int(options.held_out)
    if options.development:
        questions = list(development(untidy))
    else:
        questions = generate(seed=seed, held_out=options.held_out, folder=options.tables)
    if options.only:
        questions = [question for question in questions if question.label == options.only]
    return random.Random(seed).sample(questions, min(options.limit or len(questions), len(questions)))


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", action="store_true", help="the second set of wordings, which nobody tunes on")
    parser.add_argument("--development", action="store_true", help="the set read while the solver was written")
    parser.add_argument("--seed", type=int, help="default 0, with --held-out 1")
    parser.add_argument("--tables", type=Path, help="ask about every CSV file of this folder instead")
    parser.add_argument("--limit", type=int, help="ask no more than this many questions")
    parser.add_argument("--only", help="ask one class of questions")
    parser.add_argument("--typed", action="store_true", help="state the type of the wanted answer, where there is one")
    parser.add_argument("--json", type=Path, help="write every question with its answers to this file")
    parser.add_argument("--show", choices=("right", "wrong", "abstained"), help="print the questions that ended so")
    parser.add_argument("--list", action="store_true", help="print the questions and the right answers, ask nothing")
    return parser.parse_args()


def generate(*, seed: int, held_out: bool, folder: Path | None = None) -> list[Question]:
    """Make the questions; the same arguments and tables give the same questions.

    Args:
        seed: Decides every choice.
        held_out: Whether to use the wordings and tables that nobody tunes on.
        folder: CSV files to ask about instead of the usual tables.
    """
    sources = {source.path.name: source for source in find_tables(seed, held_out, folder)}
    found: dict[str, Question] = {}
    for source in sources.values():
        for question in about(source, held_out):
            found.setdefault(question.text + question.table, question)
    if folder is None:
        for question in beyond_tables(sources, seed, held_out):
            found.setdefault(question.text + question.table, question)
    return list(found.values())


def find_tables(seed: int, held_out: bool, folder: Path | None) -> Iterator[Source]:
    """Read the tables that are there: those of examples/data, of installed packages, or of a folder."""
    if folder is not None:
        tables = [(describe(path), path) for path in sorted(folder.glob("*.csv"))]
    else:
        tables = [(table, locate(table.file)) for table in (*NATURE, *SOCIETY) if held_out or not table.held_out]
    for table, path in tables:
        if path is not None and path.is_file():
            yield Source(table=table, path=path, frame=read(table, path), random=random.Random(f"{seed} {table.file}"))


def locate(name: str) -> Path | None:
    """Find a data file; `package:path` only where that package is installed."""
    package, colon, inside = name.partition(":")
    if not colon:
        return DATA / name
    spec = find_spec(package)
    return Path(spec.origin).parent / inside if spec and spec.origin else None


def about(source: Source, held_out: bool) -> Iterator[Question]:
    """Ask one table one or two questions of every class it lends itself to."""
    for label, wordings in wordings_for(source.table, held_out).items():
        start = source.random.randrange(max(1, len(wordings)))
        turns = [*wordings[start:], *wordings[:start]] * 4
        made = 0
        for wording in turns:
            if made == REPEATS.get(label, 1):
                break
            question = build(source, label, wording)
            if question is not None:
                made += 1
                yield question
    yield from unanswerable(source, held_out=held_out)


def wordings_for(table: Table, held_out: bool) -> dict[str, tuple[str, ...]]:
    """Join the general wordings with those made for the columns of a table."""
    general = HELD_OUT if held_out else WORDINGS
    asks = [ask for category in table.categories for ask in (category.held if held_out else category.asks)]
    looks = [look for column in (*table.measures, *table.categories) for look in column.looks]
    own = {"count asked": tuple(asks), "count phrase": general["count where"], "look up own": tuple(looks)}
    return {label: own.get(label) or general.get(label, ()) for label in BUILDERS}


def beyond_tables(sources: dict[str, Source], seed: int, held_out: bool) -> Iterator[Question]:
    """Ask about two files, two keys, sums and the text."""
    yield from joins(sources, held_out=held_out, repeat=2)
    if "us_macro.csv" in sources:
        yield from two_keys(sources["us_macro.csv"], held_out=held_out, repeat=4)
    yield from arithmetic(random.Random(seed), held_out=held_out, repeat=2)
    if (DATA / TEXT_FILE).is_file():
        yield from text(DATA / TEXT_FILE, held_out=held_out)


async def ask_all(questions: list[Question], *, typed: bool = False) -> list[Outcome]:
    """Ask every question, two at a time, in a home and beside copies of the files that are thrown away.

    Args:
        questions: What to ask.
        typed: Whether to state the type of the wanted answer.
    """
    turn = asyncio.Semaphore(2)

    async def one(question: Question, platform: tea.Platform) -> Outcome:
        async with turn:
            answer, error = await ask(question, platform, typed=typed)
        return Outcome(question=question, answer=answer, error=error, grade=grade(question, answer))

    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for path in {path for question in questions for path in question.files}:
            shutil.copy(path, folder)
        async with tea.Platform(home) as platform, asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(question, platform)) for question in questions]
    return [task.result() for task in tasks]


async def ask(question: Question, platform: tea.Platform, *, typed: bool = False) -> tuple[Any, str]:
    """Put one question to the product's offline model.

    Args:
        question: What is asked, about files in the current folder.
        platform: The product, open.
        typed: Whether to state the type of the wanted answer.

    Returns:
        The answer, or None where it abstained, and the error if there was one.
    """
    task: dict[str, Any] = {"task": question.text, "files": [path.name for path in question.files], "model": "offline"}
    if typed and question.kind in SCHEMAS:
        task["answer"] = SCHEMAS[question.kind]
    try:
        result = await platform.run(task)
    except tea.TeaError as error:
        return None, str(error)
    return (result.answer, "") if result.ok else (None, "")


def print_report(outcomes: list[Outcome], seconds: float) -> None:
    """Print the score by class, by table and in total."""
    for heading, name in (("class", "label"), ("table", "table")):
        print(f"\n| {heading} | questions | right | wrong | abstained |\n|---|---|---|---|---|")
        for value in sorted({getattr(outcome.question, name) for outcome in outcomes}):
            print_row(value, [outcome for outcome in outcomes if getattr(outcome.question, name) == value])
    print("\n| all | questions | right | wrong | abstained |\n|---|---|---|---|---|")
    print_row("answerable", [outcome for outcome in outcomes if outcome.question.kind != "none"])
    print_row("unanswerable", [outcome for outcome in outcomes if outcome.question.kind == "none"])
    print_row("total", outcomes)
    shares = Counter(outcome.grade for outcome in outcomes)
    print("\n" + ", ".join(f"{shares[name] / max(1, len(outcomes)):.1%} {name}" for name in GRADES))
    wordings = len({outcome.question.wording for outcome in outcomes})
    print(f"{wordings} wordings, {seconds:.0f} s, {sum(bool(outcome.error) for outcome in outcomes)} errors")
    for error, times in Counter(outcome.error for outcome in outcomes if outcome.error).most_common(5):
        print(f"  {times} x {error[:200]}", file=sys.stderr)


def print_row(name: str, outcomes: list[Outcome]) -> None:
    """Print one line of a report."""
    counts = Counter(outcome.grade for outcome in outcomes)
    print(f"| {name} | {len(outcomes)} | {' | '.join(str(counts[name]) for name in GRADES)} |")


def print_questions(questions: list[Question]) -> None:
    """Print every question with the right answer, and how many there are of each class and table."""
    for question in questions:
        print(f"[{question.label}] {question.text}  ->  {question.answer}  ({question.table})")
    for heading in ("label", "table"):
        print(dict(Counter(getattr(question, heading) for question in questions).most_common()))
    print(f"{len(questions)} questions, {len({question.wording for question in questions})} wordings")


def shown(outcome: Outcome) -> str:
    """Write a question with both answers for reading."""
    question = outcome.question
    files = ", ".join(path.name for path in question.files)
    return f"[{question.label}] {question.text} ({files})\n    right: {question.answer}\n    given: {outcome.answer}"


def as_record(outcome: Outcome) -> dict[str, Any]:
    """Write an outcome as plain data."""
    question = outcome.question
    return {
        "question": question.text, "files": [path.name for path in question.files], "class": question.label,
        "table": question.table, "kind": question.kind, "right": question.answer, "answer": str(outcome.answer),
        "error": outcome.error, "grade": outcome.grade,
    }  # fmt: skip


if __name__ == "__main__":
    main()
