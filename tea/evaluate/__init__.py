"""Evaluate: task sets, scorers, and honest measurements of agents; everything is loaded on first use."""

import typing as _typing
from importlib import import_module as _import_module

if _typing.TYPE_CHECKING:
    from tea.evaluate.benchmarks import BENCHMARKS, load_benchmark
    from tea.evaluate.compare import Comparison, compare
    from tea.evaluate.evaluation import Evaluation, ScoredRun
    from tea.evaluate.plan import Plan
    from tea.evaluate.runner import Spending, evaluate, preview
    from tea.evaluate.scoring import SCORERS, Grade, Judge, grade
    from tea.evaluate.statistics import (
        Interval,
        calibration_error,
        clustered_interval,
        paired_p,
        pass_at_k,
        smallest_visible,
    )
    from tea.evaluate.summary import Summary, summarise
    from tea.evaluate.task import EvalTask
    from tea.evaluate.task_set import TaskSet, read_task_set

__all__ = [
    "BENCHMARKS",
    "Comparison",
    "EvalTask",
    "Evaluation",
    "Grade",
    "Interval",
    "Judge",
    "Plan",
    "SCORERS",
    "ScoredRun",
    "Spending",
    "Summary",
    "TaskSet",
    "calibration_error",
    "clustered_interval",
    "compare",
    "evaluate",
    "grade",
    "load_benchmark",
    "paired_p",
    "pass_at_k",
    "preview",
    "read_task_set",
    "smallest_visible",
    "summarise",
]

_HOMES = {
    "benchmarks": "BENCHMARKS load_benchmark",
    "compare": "Comparison compare",
    "evaluation": "Evaluation ScoredRun",
    "plan": "Plan",
    "runner": "Spending evaluate preview",
    "scoring": "SCORERS Grade Judge grade",
    "statistics": "Interval calibration_error clustered_interval paired_p pass_at_k smallest_visible",
    "summary": "Summary summarise",
    "task": "EvalTask",
    "task_set": "TaskSet read_task_set",
}
_LAZY = {name: f"tea.evaluate.{module}" for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    if name not in _LAZY:
        raise AttributeError(f"module 'tea.evaluate' has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(_LAZY[name]), name)
    return found


def __dir__() -> list[str]:
    """List the lazy names too."""
    return sorted([*globals(), *_LAZY])
