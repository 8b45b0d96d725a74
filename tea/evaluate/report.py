"""Report: an evaluation and a comparison as Markdown tables."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from tea.characters import in_sentence, numbered, on_one_line
from tea.evaluate.compare import Comparison
from tea.evaluate.evaluation import Evaluation
from tea.evaluate.statistics import Interval, visible_words
from tea.evaluate.summary import Figures, Summary

_MOST_ROWS = 200
_MARKS = re.compile(r"[\\|<\[]")  # they would end a cell, or begin an element, a link or a picture
Row = Sequence[str]


def report_of(evaluation: Evaluation, summary: Summary) -> str:
    """Return an evaluation as Markdown: its figures, by tag, and every run without a right answer."""
    plan = evaluation.plan
    told = [f"agent `{plan.agent}`", f"model `{plan.model or str(evaluation.model.get('origin', '')).strip()}`"]
    told += [f"without {', '.join(plan.without)}"] if plan.without else []
    told += [f"using {', '.join(f'{name}@{version}' for name, version in plan.use.items())}"] if plan.use else []
    lines = [
        f"# {plain(evaluation.name)}: {percent(summary.whole.score.mean)}",
        "",
        f"{'; '.join(told)}; {evaluation.epochs} epochs; begun {evaluation.begun}.",
        f"Evaluation `{evaluation.id}`, tasks `{evaluation.set_digest[:16]}`, plan `{evaluation.plan_digest[:16]}`.",
        "",
        *table(FIGURES, [figures_row("all", summary.whole), *(figures_row(*one) for one in summary.tags.items())]),
        "",
        *further(summary),
    ]
    wrong = [one for one in evaluation.runs if one.kind]
    if wrong:
        rows = [
            (one.id, one.words, str(one.epoch), f"{one.score:g}", one.kind, one.reason[:120], one.run)
            for one in wrong[:_MOST_ROWS]
        ]
        head = ("task", "in words", "epoch", "score", "kind", "why", "run")
        lines += ["", "## Runs that are not right", "", *table(head, rows)]
        lines += [f"\n{len(wrong) - _MOST_ROWS} more are in `results.jsonl`."] if len(wrong) > _MOST_ROWS else []
    return numbered("\n".join(lines) + "\n")


FIGURES = ("", "score", "95 % interval", "tasks", "runs", "usd", "tokens", "seconds each", "failures")


def figures_row(name: str, figures: Figures) -> Row:
    """Return the row of figures in a table under `FIGURES`."""
    return (
        name,
        percent(figures.score.mean),
        span(figures.score),
        str(figures.tasks),
        str(figures.runs),
        money(figures.usd),
        f"{figures.tokens:,}",
        f"{figures.seconds_each:.1f}",
        ", ".join(f"{count} {kind}" for kind, count in figures.failures.items()) or "none",
    )


def further(summary: Summary) -> list[str]:
    """Return further figures, one a line."""
    told = [f"pass@{k} {percent(value)}" for k, value in summary.pass_at.items()] if len(summary.pass_at) > 1 else []
    found = [", ".join(told)] if told else []
    if summary.calibration is not None:
        found.append(f"calibration error {percent(summary.calibration)}")
    if summary.attempted is not None:
        found.append(
            f"attempted {percent(summary.attempted)}, of those right {percent(summary.right_of_attempted or 0)}, "
            f"F-score {percent(summary.f_score or 0)}"
        )
    if summary.judging:
        found.append(f"judging: {summary.judging['tokens']:,} tokens, {money(summary.judging['usd'])}")
    if summary.unread:
        found.append(f"{summary.unread} verdicts of the judge could not be read, and count as wrong")
    if summary.broken:
        found.append(f"{summary.broken} runs failed by a provider or this machine, and count; --retry runs them again")
    found.append(f"{visible_words(summary.visible)} seen with these tasks")
    return [f"- {one}" for one in found]


def comparison_of(before: Evaluation, after: Evaluation, found: Comparison) -> str:
    """Return a comparison as Markdown: the change as a whole and by tag, and the runs behind each difference."""
    lines = [
        f"# {plain(before.label)} → {plain(after.label)}: {points(found.difference.mean)}",
        "",
        f"{found.tasks} tasks in both: {percent(found.before)} → {percent(found.after)}, "
        f"interval {points(found.difference.low)} to {points(found.difference.high)}, "
        f"p {min(found.p, found.p_worse):.2g} (one-sided, {'better' if found.p <= found.p_worse else 'worse'}).",
        f"{found.better} better, {found.worse} worse, {found.same} the same; "
        f"cost {_times(found.usd)}, tokens {_times(found.tokens)}, time {_times(found.seconds)}.",
    ]
    for words, ids in (("only in the first", found.only_before), ("only in the second", found.only_after)):
        lines += [f"{len(ids)} tasks are {words}, and do not count: {_listed(ids[:10])}."] if ids else []
    if found.changed:
        rows = [(name, _short(old), _short(new)) for name, (old, new) in list(found.changed.items())[:40]]
        lines += ["", *table(("what differs", "first", "second"), rows)]
    if found.tags:
        rows = [(name, points(one.mean), f"{points(one.low)} to {points(one.high)}", str(one.clusters))
                for name, one in found.tags.items()]  # fmt: skip
        lines += ["", *table(("tag", "change", "95 % interval", "clusters"), rows)]
    if found.new_failures:
        lines += ["", f"New total failures: {_listed(found.new_failures[:40])}."]
    if found.differences:
        rows = [
            (one.id, one.words, f"{one.before:.2f}", f"{one.after:.2f}", _runs(one.runs_before), _runs(one.runs_after))
            for one in found.differences[:_MOST_ROWS]
        ]
        lines += ["", *table(("task", "in words", "first", "second", "runs of the first", "runs of the second"), rows)]
    return numbered("\n".join(lines) + "\n")


def table(head: Row, rows: Sequence[Row]) -> list[str]:
    """Return the lines of a Markdown table."""
    line = "|" + "|".join("---" for _ in head) + "|"
    return [_row(head), line, *map(_row, rows)]


def percent(share: float) -> str:
    """Return a share in words: `41.3 %`."""
    return f"{100 * share:.1f} %"


def points(share: float) -> str:
    """Return a change in words: `+4.0 points`."""
    return f"{100 * share:+.1f} points" if math.isfinite(share) else "unknown"


def span(interval: Interval) -> str:
    """Return an interval in words."""
    return f"{100 * interval.low:.1f} – {100 * interval.high:.1f}"


def money(usd: float | None) -> str:
    """Return an amount in words."""
    return "unknown" if usd is None else f"${usd:.4f}"


def plain(words: str) -> str:
    """Return words on one line, free of Markdown's marks."""
    return on_one_line(_MARKS.sub(r"\\\g<0>", words))


def _listed(ids: Sequence[str]) -> str:
    return ", ".join(plain(in_sentence(one)) for one in ids)


def _row(cells: Row) -> str:
    return "| " + " | ".join(map(plain, cells)) + " |"


def _runs(ids: Sequence[str]) -> str:
    return " ".join(one[:16] for one in ids[:8])


def _short(value: object) -> str:
    return str(value if value is not None else "none")[:80]


def _times(ratio: float | None) -> str:
    return "unknown" if ratio is None else f"× {ratio:.2f}"
