"""Memories: those of earlier work for an agent, and the record of its own."""

from __future__ import annotations

from collections.abc import Sequence

from tea.components.context import Context
from tea.loop.observation import shortened
from tea.loop.opening import conversation
from tea.memory.insights import TOLD, insight_id
from tea.types import Fact, Result, Task

SOLVED = "A task like this was solved before, and checked ({ref}): {task} -> {content}"


async def recalled(ctx: Context, task: Task, insights: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the memories for a task, the solutions of others like it, and the ids of the insights.

    Args:
        ctx: What the agent may reach.
        task: The task.
        insights: What is known already, beside what the memory gives.
    """
    before = conversation(task) or await ctx.memory.summarise(earlier=True)
    solved = [
        (one["task"].split() == task.text.split(), SOLVED.format(**one)) for one in await ctx.solutions(task.text)
    ]
    learned = await ctx.memory.insights(earlier=True)
    own, others = ([text for is_own, text in solved if is_own is wanted] for wanted in (True, False))
    return [before, *learned, *insights, *own], others, [insight_id(one) for one in learned]


async def remember(ctx: Context, task: Task, result: Result, facts: Sequence[Fact], told: Sequence[str]) -> None:
    """Record a result in memory, and an insight if the task failed.

    Args:
        ctx: What the agent may reach.
        task: The task.
        result: Its result.
        facts: The facts noted in the work.
        told: Ids of the insights that the agent was told.
    """
    record = {"agent": ctx.agent, "task": task.text, "ok": result.ok, "reason": result.reason}
    answer = {"answer": result.answer} if result.ok else {}
    noted = [one.fact for one in facts if one not in task.facts]
    more = {**({"facts": noted} if noted else {}), **({TOLD: list(told)} if told else {})}
    await ctx.memory.record("result", {**record, **answer, **more})
    if not result.ok:
        text = f"{ctx.agent} could not do {shortened(task.text, 200)!r}: {result.reason}"
        await ctx.memory.record("insight", {"text": text})
