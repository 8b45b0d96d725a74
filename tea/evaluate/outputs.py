"""Outputs: the files of an evaluation for people and other programs."""

from __future__ import annotations

import shutil
from pathlib import Path

from tea.characters import escaped, on_one_line
from tea.evaluate.evaluation import RESULTS, Evaluation
from tea.evaluate.picture import score_picture
from tea.evaluate.report import FIGURES, figures_row, further, report_of
from tea.evaluate.summary import Summary
from tea.evaluate.task_set import TaskSet
from tea.store.bulk import write_whole
from tea.store.files import writing
from tea.store.scratch import make_folders
from tea.store.strict import dumps

REPORT, PICTURE, SUMMARY = "report.md", "score.svg", "summary.json"


def write_outputs(
    evaluation: Evaluation,
    summary: Summary,
    folder: Path,
    *,
    out: Path | None = None,
    inspect_log: Path | None = None,
    tasks: TaskSet | None = None,
) -> None:
    """Write the Markdown table, the picture and the figures of an evaluation beside its results.

    Args:
        evaluation: The evaluation, whose results were written.
        summary: Its figures.
        folder: Its folder.
        out: A folder for copies of all of it.
        inspect_log: A new file for a log that inspect_ai reads.
        tasks: The tasks, for their words in that log.

    Raises:
        StorageError: They cannot be written.
    """
    write_whole(folder / REPORT, report_of(evaluation, summary).encode())
    write_whole(folder / PICTURE, score_picture(evaluation, summary).encode())
    write_whole(folder / SUMMARY, dumps(summary.to_json(), indent=2) + b"\n")
    if out is not None:
        with writing(out):
            make_folders(out)
            for name in (RESULTS, REPORT, PICTURE, SUMMARY):
                shutil.copyfile(folder / name, out / name)
    if inspect_log is not None:
        from tea.evaluate.inspect_log import inspect_log_of

        words = {one.id: one.task for one in tasks.tasks} if tasks is not None else {}
        write_whole(inspect_log, dumps(inspect_log_of(evaluation, summary, words), indent=2) + b"\n")


def figures_text(evaluation: Evaluation, summary: Summary, folder: Path) -> str:
    """Return the figures of an evaluation as lines for a terminal."""
    shown = [FIGURES, figures_row("all", summary.whole), *(figures_row(*one) for one in summary.tags.items())]
    rows = [[escaped(on_one_line(cell)) for cell in row] for row in shown]
    widths = [max(len(row[column]) for row in rows) for column in range(len(FIGURES))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    told = [one.removeprefix("- ") for one in further(summary)]
    runs = f"evaluation {evaluation.id}: {len(evaluation.runs)} runs, {evaluation.fresh} of them now; {folder}"
    return "\n".join([*lines, "", *told, runs])
