"""`tea eval table`: several evaluations as one table, in the form of the paper's."""

import asyncio
from typing import Annotated

import typer

from tea.cli.command import Command


async def eval_table(
    command: Command,
    form: Annotated[
        str, typer.Argument(metavar="FORM", help="levels, benchmarks, ablation, strategies or efficiency.")
    ],
    evaluations: Annotated[
        list[str], typer.Argument(metavar="EVALUATION...", help="Their ids, or beginnings of them.")
    ],
) -> None:
    """Print evaluations as a Markdown table in the form of one of the paper's.

    levels and benchmarks: a system a line, its scores by level or by benchmark. ablation: which of P R B A T were on,
    told from --without, with the gain of each step. strategies: a strategy a line, as --label says, by benchmark.
    efficiency: time and tokens by class of task.
    """
    from tea.evaluate.evaluation import read_evaluation
    from tea.evaluate.tables import table_of
    from tea.store.evaluations import FileEvaluations

    async with command.platform() as tea:
        store = FileEvaluations(tea.home / "traces" / "evaluations")
        found = [await asyncio.to_thread(read_evaluation, store, one) for one in evaluations]
    text = table_of(form, found)
    command.show(text, {"form": form, "evaluations": [one.id for one in found], "table": text})
