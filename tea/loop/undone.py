"""Undone work: claims of an answer about runs, tests, files, pages and sums without any call behind them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tea.loop.claims import announces, gives_up
from tea.loop.lost import lost
from tea.loop.observation import Observation
from tea.loop.sums import wrong_sums
from tea.loop.unchanged import unchanged
from tea.loop.unopened import unopened
from tea.loop.unrun import LAST_FAILED, unrun
from tea.loop.written import Functions
from tea.types import JsonValue, Task, as_text

MOST_SHOWN = 120


def undone(
    results: Collection[Observation],
    functions: Functions,
    answer: JsonValue,
    task: Task,
    words: str,
    shown: Iterable[str],
) -> dict[str, str]:
    """Return the problems of an answer about unrun code, lost lines, unchanged files, pages and sums, by their names.

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
    said = answer if isinstance(answer, str) and task.answer is None and not task.talk else ""
    unsaid = announces(said) or (not results and gives_up(said, words))
    return {
        "unsaid": f"{said[:MOST_SHOWN]!r} is no answer" if unsaid else "",
        "failing" if of_code == LAST_FAILED else "unrun": of_code,
        "lost": lost(results, functions, answer, words),
        "unchanged": unchanged(results, functions, answer, words, task.files),
        "sums": wrong_sums(as_text(answer), words) if isinstance(answer, str | int | float) else "",
        "unopened": unopened(results, functions, answer, task, words),
    }
