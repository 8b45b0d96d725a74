"""Tables: evaluations in the form of the paper's tables 2 to 5, and of its time and tokens by class."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import mean, median

from tea.characters import numbered
from tea.errors import BadInput
from tea.evaluate.evaluation import Evaluation, ScoredRun, by_tag
from tea.evaluate.report import plain, table

# The paper's letters for its agents, with the names of ours that play the part.
PARTS: Mapping[str, tuple[str, ...]] = {
    "P": ("planner",),
    "R": ("researcher", "deep_researcher"),
    "B": ("browser", "browser_use", "browser_operator"),
    "A": ("analyzer", "deep_analyzer"),
    "T": ("tool_generator", "tool_manager"),
}
_LEVEL = "level"
_MARK = "✓"


def table_of(form: str, evaluations: Sequence[Evaluation]) -> str:
    """Return evaluations as a Markdown table.

    Args:
        form: `levels` (table 2), `benchmarks` (table 3), `ablation` (table 4), `strategies` (table 5), `efficiency`.
        evaluations: The evaluations, in the order of the lines.

    Raises:
        BadInput: There is no such form, or an evaluation has no results yet.
    """
    if form not in _FORMS:
        raise BadInput(f"There is no table {form[:40]!r}.", fix=f"choose one of {', '.join(_FORMS)}.")
    for one in evaluations:
        if not one.runs:
            raise BadInput(f"The evaluation {one.id} has no results.", fix="evaluate again, or leave it out.")
    return numbered("\n".join(_FORMS[form](evaluations)))


def _levels(evaluations: Sequence[Evaluation]) -> list[str]:
    classes = _classes(evaluations)
    rows = [[one.label, *_of_classes(one, classes), _score(one.runs)] for one in evaluations]
    return table(("Agents", *map(_title, classes), "Average"), rows)


def _benchmarks(evaluations: Sequence[Evaluation]) -> list[str]:
    names = list(dict.fromkeys(one.name for one in evaluations))
    return table(("Models", *names), _cross_table(evaluations, names))


def _strategies(evaluations: Sequence[Evaluation]) -> list[str]:
    names = list(dict.fromkeys(one.name for one in evaluations))
    lines: list[str] = []
    for model in dict.fromkeys(_model(one) for one in evaluations):
        chosen = [one for one in evaluations if _model(one) == model]
        lines += [*([""] if lines else []), f"Base model: {plain(model)}", "", *table(("Strategy", *names),
                  _cross_table(chosen, names))]  # fmt: skip
    return lines


def _ablation(evaluations: Sequence[Evaluation]) -> list[str]:
    classes = _classes(evaluations)
    rows: list[list[str]] = []
    before: float | None = None
    for one in evaluations:
        marks = [_MARK if _is_on(one, names) else "" for names in PARTS.values()]
        now = mean(run.score for run in one.runs)
        gain = "–" if not before else f"{100 * (now / before - 1):+.2f} %"
        rows.append([*marks, *_of_classes(one, classes), _score(one.runs), gain])
        before = now
    return table((*PARTS, *map(_title, classes), "Average", "Improvement"), rows)


def _efficiency(evaluations: Sequence[Evaluation]) -> list[str]:
    rows: list[list[str]] = []
    for one in evaluations:
        groups = by_tag(one.runs)
        for name, runs in (*((name, groups[name]) for name in _classes([one])), ("all", list(one.runs))):
            rows.append(
                [
                    one.label,
                    name,
                    str(len({run.id for run in runs})),
                    _score(runs),
                    f"{median(run.seconds for run in runs):.1f}",
                    f"{mean(run.seconds for run in runs):.1f}",
                    f"{median(run.tokens for run in runs):,.0f}",
                    f"{mean(run.tokens for run in runs):,.0f}",
                    _usd(runs),
                ]
            )
    head = ("Agents", "Class", "Tasks", "Score", "Seconds (median)", "Seconds (mean)", "Tokens (median)")
    return table((*head, "Tokens (mean)", "US dollars each"), rows)


def _is_on(evaluation: Evaluation, names: Sequence[str]) -> bool:
    """Return whether an agent took part: it is there, and was not switched off."""
    off = {one.rpartition(":")[2] for one in evaluation.plan.without}
    there = [name for name in names if f"agent:{name}" in evaluation.components]
    return bool(there) and not off & {*there}


def _cross_table(evaluations: Sequence[Evaluation], names: Sequence[str]) -> list[list[str]]:
    """Return a row for each label with its score in each named evaluation."""
    rows: list[list[str]] = []
    for label in dict.fromkeys(one.plan.label or one.plan.agent for one in evaluations):
        own = {one.name: one for one in evaluations if (one.plan.label or one.plan.agent) == label}
        rows.append([label, *(_score(own[name].runs) if name in own else "–" for name in names)])
    return rows


def _classes(evaluations: Sequence[Evaluation]) -> list[str]:
    """Return the tags naming levels; all tags if none does."""
    tags = sorted({tag for one in evaluations for run in one.runs for tag in run.tags})
    levels = [tag for tag in tags if tag.lower().startswith(_LEVEL)]
    return levels or tags


def _of_classes(evaluation: Evaluation, tags: Sequence[str]) -> list[str]:
    groups = by_tag(evaluation.runs)
    return [_score(groups[one]) if one in groups else "–" for one in tags]


def _score(runs: Sequence[ScoredRun]) -> str:
    return f"{100 * mean(one.score for one in runs):.2f}"


def _usd(runs: Sequence[ScoredRun]) -> str:
    prices = [one.usd for one in runs if one.usd is not None]
    return f"{math.fsum(prices) / len(runs):.4f}" if len(prices) == len(runs) else "unknown"


def _model(evaluation: Evaluation) -> str:
    return evaluation.plan.model or str(evaluation.model.get("model") or evaluation.model.get("origin") or "default")


def _title(tag: str) -> str:
    return tag.replace("-", " ").replace("_", " ").capitalize()


_FORMS: Mapping[str, Callable[[Sequence[Evaluation]], list[str]]] = {
    "levels": _levels,
    "benchmarks": _benchmarks,
    "ablation": _ablation,
    "strategies": _strategies,
    "efficiency": _efficiency,
}
