"""AIME 24 and 25: JSON lines or CSV with `Problem` and `Answer`, in their usual spellings."""

from __future__ import annotations

from pathlib import Path

from tea.evaluate.benchmarks.files import HOSTS, read_rows, slugs, the_file
from tea.evaluate.task import EvalTask
from tea.evaluate.task_set import TaskSet

_FORM = 'The answer is a whole number from 0 to 999. End with a line of the form "ANSWER: N".'


def load(path: Path) -> TaskSet:
    """Read problems of AIME: `Problem`, `problem` or `question`, and `Answer` or `answer`; `ID` and `Year` if there.

    Raises:
        BadInput: The layout is another one.
    """
    file = the_file(path, "aime2024.jsonl", "aime_2024_problems.jsonl", "aime2025.jsonl")
    tasks = [
        EvalTask(
            id=row.optional("ID", "id") or f"{file.stem}-{number}",
            task=f"{row.text('Problem', 'problem', 'Question', 'question').strip()}\n\n{_FORM}",
            expected=row.text("Answer", "answer").strip(),
            scorer="aime",
            tags=slugs([row.optional("Year", "year")]),
        )
        for number, row in enumerate(read_rows(file), 1)
    ]
    name = "AIME25" if "25" in file.stem else "AIME24" if "24" in file.stem else "AIME"
    return TaskSet.of(tasks, name=name, deny=(*HOSTS, "artofproblemsolving.com"))
