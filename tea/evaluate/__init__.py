"""Evaluate: task sets, scorers, and honest measurements of agents; everything is loaded on first use."""

import typing as _typing

from tea.lazy import lazy_names as _lazy_names

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

__getattr__, __dir__ = _lazy_names(
    __name__,
    {
        "tea.evaluate.benchmarks": "BENCHMARKS load_benchmark",
        "tea.evaluate.compare": "Comparison compare",
        "tea.evaluate.evaluation": "Evaluation ScoredRun",
        "tea.evaluate.plan": "Plan",
        "tea.evaluate.runner": "Spending evaluate preview",
        "tea.evaluate.scoring": "SCORERS Grade Judge grade",
        "tea.evaluate.statistics": "Interval calibration_error clustered_interval paired_p pass_at_k smallest_visible",
        "tea.evaluate.summary": "Summary summarise",
        "tea.evaluate.task": "EvalTask",
        "tea.evaluate.task_set": "TaskSet read_task_set",
    },
)
