"""`tea trace`: the record of a run."""

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tea.cli.command import Command
from tea.cli.terminal import one_line
from tea.cli.tree import plain_name, tree

if TYPE_CHECKING:
    from tea.journal.tracer import Step, Tracer

_WORDS = 160


async def trace(
    command: Command,
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help='Its id, a unique beginning of it, or "last" (the default).')
    ] = None,
    steps: Annotated[bool, typer.Option("--steps", help="Show the steps alone.")] = False,
    session: Annotated[str | None, typer.Option("--session", help="Steps of that session, of all runs.")] = None,
    task: Annotated[str | None, typer.Option("--task", help="Steps of the task with that id.")] = None,
    index: Annotated[int | None, typer.Option("--index", min=0, help="Steps at that place of their run.")] = None,
    id: Annotated[str | None, typer.Option("--id", help="The step with that record id.")] = None,
    positions: Annotated[
        bool, typer.Option("--positions", help="Show each record's number and key: where `tea fork` can begin.")
    ] = False,
) -> None:
    """Show a run as the tree of its agents, calls and steps.

    `-v` adds resolutions, memory, evidence and the failed tries of model calls.

    With --session, --task, --index or --id: the steps that fit, of one run or of all.

    `tea trace diff A B` compares two runs; `tea trace export RUN` writes one in other forms.
    """
    from tea.journal.form import understood
    from tea.journal.status import RunStatus
    from tea.runs.delivery import untaken

    wanted = {"session": session, "task": task, "index": index, "id": id}
    query = any(value is not None for value in wanted.values())
    async with command.platform() as tea:
        if steps or query:
            problems: list[str] = []
            found = await asyncio.to_thread(_steps, tea.tracer, run if query else run or "last", wanted, problems)
            command.show(_text(found), {"steps": [asdict(one) for one in found], "problems": problems})
            for problem in [] if command.as_json else problems:
                command.tell(one_line(problem, 250))
            return
        name = await asyncio.to_thread(tea.tracer.find, run or "last")
        records = await asyncio.to_thread(lambda: list(tea.tracer.records(name)))
        held = tea.tracer.store.held(name)
        with understood(name):
            messages = await asyncio.to_thread(untaken, tea.tracer, name, records)
            shown = tree(records, whole=command.verbose > 0, positions=positions)
    lines = [shown, *(f"told, and not taken over: {one_line(one.text, _WORDS)}" for one in messages)]
    data = {"run": name, "records": [asdict(one) for one in records], "untaken": [asdict(one) for one in messages]}
    command.show("\n".join(lines), data)
    if not command.as_json and not held:
        with understood(name):
            waiting = RunStatus.of(records).status == "waiting"
        if waiting:
            command.tell(f"it waits for an answer: tea inbox {name}{command.at}")


def _steps(tracer: "Tracer", run: str | None, wanted: dict[str, str | int | None], problems: list[str]) -> "list[Step]":
    chosen = {name: value for name, value in wanted.items() if value is not None}
    found = tracer.run_steps(tracer.find(run)) if run else tracer.steps(problems=problems)
    return [step for step in found if all(getattr(step, name) == value for name, value in chosen.items())]


def _text(steps: "list[Step]") -> str:
    blocks: list[str] = []
    for step in steps:
        lines = [
            one_line(f"{plain_name(step.agent) if step.agent else ''} step {step.index}  ")
            + f"  {one_line(step.time)}  id {one_line(step.id)}  run {one_line(step.run)}"
        ]
        for name in ("thinking", "evaluation", "memory", "next_goal"):
            if step.data.get(name):
                lines.append(f"  {name}: {one_line(str(step.data[name]), _WORDS)}")
        for call in step.data.get("results", ()):
            end = one_line(str(call.get("value") if call.get("ok") else call.get("error")), _WORDS)
            lines.append(
                f"  call {one_line(str(call.get('name')))}({one_line(str(call.get('arguments')), _WORDS)}) -> {end}"
            )
        blocks.append("\n".join(lines))
    return "\n".join(blocks) if blocks else "There is no such step."
