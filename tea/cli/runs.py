"""`tea runs`: the past runs."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.command import Command
from tea.cli.ending import cost_words
from tea.cli.terminal import brief, one_line, table
from tea.errors import BadInput, StorageError

if TYPE_CHECKING:
    from tea.journal.tracer import Tracer

_WORDS = 70


async def runs(
    command: Command,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many to show.")] = 20,
) -> None:
    """List the runs, newest first.

    `tea inbox` shows what those that wait asked, `tea runs gc` removes old ones.
    """
    async with command.platform() as tea:
        ids = await asyncio.to_thread(tea.tracer.runs)
        found = [one for run in ids[:limit] if (one := await asyncio.to_thread(_summary, tea.tracer, run))]
    command.show(_text(found), {"runs": found, "total": len(ids)})
    if not command.as_json:
        for problem in [one["problem"] for one in found if "problem" in one]:
            command.tell(one_line(problem, 250))
    waiting = sum(one["status"] == "waiting" for one in found)
    if waiting and not command.as_json:
        command.tell(f"{waiting} wait{'s' if waiting == 1 else ''} for an answer: tea inbox{command.at}")
    if len(ids) > limit and not command.as_json:
        command.tell(f"{len(ids) - limit} more: tea runs --limit {len(ids)}")


def _summary(tracer: "Tracer", run: str) -> dict[str, Any]:
    """Return the summary of a run from its records; without its end it is running, waiting, or interrupted.

    Nothing of one that another process removed meanwhile.
    """
    from tea.journal.form import understood
    from tea.journal.record import as_mapping
    from tea.journal.status import RunStatus, StatusReader

    found: dict[str, Any] = {"run": run, "time": "", "status": "never begun", "task": "", "session": "", "cost": None}
    standing = RunStatus()
    try:
        with understood(run):
            for record in tracer.records(run, wanted=StatusReader()):
                standing.take(record)
                if record.kind == "run":
                    task = as_mapping(as_mapping(record.data).get("task")).get("task", "")
                    found |= {"time": record.time, "task": task, "session": record.session}
                elif record.kind == "end":
                    data = as_mapping(record.data)
                    found |= {"status": data.get("status", ""), "cost": data.get("cost")}
        if standing.status != "ended" and tracer.store.held(run):
            found["status"] = "running"
        elif standing.status != "ended" and found["time"]:
            found["status"] = standing.status
    except BadInput:
        return {}
    except StorageError as error:
        found |= {"status": "damaged", "problem": error.problem}
    return found


def _text(found: list[dict[str, Any]]) -> str:
    rows = [(one["run"], one["time"], one["status"], _cost(one["cost"]), brief(one["task"], _WORDS)) for one in found]
    return table(rows) if rows else "There is no run yet."


def _cost(cost: dict[str, Any] | None) -> str:
    from tea.runs.budget import Spent

    return cost_words(Spent(**cost)) if cost else "-"
