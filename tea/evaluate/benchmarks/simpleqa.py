"""SimpleQA (Wei et al. 2024): `simple_qa_test_set.csv` with `problem`, `answer` and `metadata`."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, cast

from tea.evaluate.benchmarks.files import HOSTS, read_rows, slugs, the_file
from tea.evaluate.task import EvalTask
from tea.evaluate.task_set import TaskSet


def load(path: Path) -> TaskSet:
    """Read SimpleQA.

    Raises:
        BadInput: The layout is another one.
    """
    rows = read_rows(the_file(path, "simple_qa_test_set.csv"))
    tasks = [
        EvalTask(
            id=f"simpleqa-{number}",
            task=row.text("problem", "question"),
            expected=row.text("answer"),
            scorer="simpleqa",
            tags=slugs(_about(row.optional("metadata"))),
        )
        for number, row in enumerate(rows, 1)
    ]
    return TaskSet.of(tasks, name="SimpleQA", deny=HOSTS, canaries=("simple_qa_test_set",))


def _about(metadata: str) -> list[str]:
    """Return the topic and the type of answer in the metadata, written as a Python dictionary."""
    try:
        found = ast.literal_eval(metadata) if len(metadata) < 10_000 else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    known = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return [str(known[name]) for name in ("topic", "answer_type") if name in known]
