"""Undone work: claims of an answer about runs, tests, files and pages without any call behind them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tea.loop.lost import lost
from tea.loop.observation import Observation
from tea.loop.unchanged import unchanged
from tea.loop.unopened import unopened
from tea.loop.unrun import LAST_FAILED, unrun
from tea.loop.written import Functions
from tea.types import JsonValue, Task


def undone(
    results: Collection[Observation],
    functions: Functions,
    answer: JsonValue,
    task: Task,
    words: str,
    shown: Iterable[str],
) -> dict[str, str]:
    """Return the problems of an answer about unrun code, lost lines, unchanged files and pages, by their names.

    Args:
        results: What calls gave, in their order.
        functions: Tell which calls read, and which wrote a file.
        answer: The answer.
        task: The task.
        words: Its words, and what a person said since.
        shown: What was shown beside the results.
    """
    shown = [*shown, *(one.text for one in task.history)]
    of_code = unrun(results, functions, answer, words, task.files, shown)
    return {
        "failing" if of_code == LAST_FAILED else "unrun": of_code,
        "lost": lost(results, functions, answer, words),
        "unchanged": unchanged(results, functions, answer, words, task.files),
        "unopened": unopened(results, functions, answer, task, words),
    }
