"""The chat about a research: quick questions to what it knows, without an iteration."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from tea import Agent, Context, Result, Task, work

CALLS = 10
SHOWN = 20_000


class ResearchChat(Agent):
    """Answer a quick question about a research from what it knows, with at most ten calls."""

    role = "Colleague"
    competencies = ("say what a research knows, and where from", "look something up quickly")
    objectives = ("a short answer",)
    tools = ("knowledge", "web_search", "fetch_page", "read_file", "table_query", "calculator", "done")
    environments = ("research",)
    metadata: ClassVar[Mapping[str, Any]] = {"category": "bookkeeping", "when": "For `tea research ask`."}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work in at most ten steps of one call each, and answer in the one after."""
        state = (await ctx.ecp.state("research")).unwrap()
        known = json.dumps(_knowledge(state), ensure_ascii=False)[:SHOWN]
        datasets = tuple(name for name in task.files if not name.startswith("."))  # what it knows is told already
        task = task.model_copy(update={"files": datasets})
        return await work(
            ctx, task, prompt="research_chat", tools=self.tools, environments=(), max_steps=CALLS + 1, max_calls=1,
            variables={"known": known},
        )  # fmt: skip


def _knowledge(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the knowledge of a research, without the outputs of its tasks."""
    names = ("title", "objective", "evolving_objective", "hypothesis", "insights", "discoveries", "methodology")
    tasks = [
        {"id": one["id"], "objective": one["objective"], "output": one["output"][:500]}
        for one in state["plan"].values()
    ]
    return {**{name: state[name] for name in names}, "suggestions": state["suggestions"], "tasks": tasks}
