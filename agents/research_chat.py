"""The chat about a research: quick questions to what it knows, without an iteration."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from tea import Agent, Context, Result, Task, work

CALLS = 10
SHOWN = 20_000
RESEARCH = "research"  # what its knowledge is called as a source


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
        knowledge = _knowledge(state)
        known = json.dumps(knowledge, ensure_ascii=False)[:SHOWN]
        outputs = {one["id"]: one["output"] for one in knowledge["tasks"] if one["output"]}
        datasets = tuple(name for name in task.files if not name.startswith("."))  # what it knows is told already
        task = task.model_copy(update={"files": datasets})
        return await work(
            ctx, task, prompt="research_chat", tools=self.tools, environments=(), max_steps=CALLS + 1, max_calls=1,
            variables={"known": known}, known={RESEARCH: known, **outputs},
        )  # fmt: skip


def _knowledge(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the knowledge of a research, with the beginnings of its tasks' outputs and without ids of its parts."""
    names = ("title", "objective", "evolving_objective", "hypothesis", "insights", "methodology")
    told = ("claim", "evidence", "novelty", "confidence", "tasks")
    discoveries = [{name: one[name] for name in told} for one in state["discoveries"]]
    tasks = [
        {"id": one["id"], "objective": one["objective"], "output": one["output"][:500]}
        for one in state["plan"].values()
    ]
    known = {name: state[name] for name in names}
    return {**known, "discoveries": discoveries, "suggestions": state["suggestions"], "tasks": tasks}
