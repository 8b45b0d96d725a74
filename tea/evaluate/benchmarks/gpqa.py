"""GPQA-Diamond (Rein et al. 2023): `gpqa_diamond.csv`, its choices in an order decided by a seed."""

from __future__ import annotations

import random
from pathlib import Path

from tea.evaluate.benchmarks.files import HOSTS, Row, read_rows, slugs, the_file
from tea.evaluate.scorers.choice import LETTERS
from tea.evaluate.task import EvalTask
from tea.evaluate.task_set import TaskSet

_FORM = 'Choose one of {letters}. End with a line of the form "ANSWER: X", where X is the letter.'


def load(path: Path, seed: int = 0) -> TaskSet:
    """Read GPQA-Diamond: `Question`, `Correct Answer` and `Incorrect Answer 1` to `3`.

    Args:
        path: The file, or its folder.
        seed: Decides the order of the choices, for each question by its id; the right one comes first in the file.

    Raises:
        BadInput: The layout is another one.
    """
    rows = read_rows(the_file(path, "gpqa_diamond.csv"))
    tasks = [_task(row, number, seed) for number, row in enumerate(rows, 1)]
    marks = sorted({row.optional("Canary String") for row in rows} - {""})
    return TaskSet.of(tasks, name="GPQA-Diamond", deny=HOSTS, canaries=("gpqa_diamond", *marks[:20]))


def _task(row: Row, number: int, seed: int) -> EvalTask:
    id = row.optional("Record ID") or f"gpqa-{number}"
    right = row.text("Correct Answer").strip()
    choices = [right, *(row.text(f"Incorrect Answer {place}").strip() for place in (1, 2, 3))]
    random.Random(f"{seed}/{id}").shuffle(choices)
    shown = "\n".join(f"{letter}) {words}" for letter, words in zip(LETTERS, choices, strict=False))
    form = _FORM.format(letters=", ".join(LETTERS[: len(choices)]))
    return EvalTask(
        id=id,
        task=f"{row.text('Question').strip()}\n\n{shown}\n\n{form}",
        expected=LETTERS[choices.index(right)],
        scorer="gpqa",
        options={"choices": list(choices)},
        tags=slugs([row.optional("High-level domain")]),
    )
