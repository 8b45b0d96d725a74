"""The planner: the agent that is given a task, does it, and has large parts done by others."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tea import Agent, Context, Result, Task, work


class Planner(Agent):
    """Answer a task, alone where a few calls do it, and with other agents for large or independent parts."""

    role = "Orchestrator"
    competencies = (
        "understand what is asked, and divide it into parts that can be checked",
        "choose the agent or tool for each part",
        "change the plan when a part fails or the aim shifts",
        "bring results together into one answer with its sources",
    )
    objectives = ("a correct answer, with evidence", "an honest end where there is none", "few steps")
    relations = dict.fromkeys(
        ("analyzer", "browser", "computer", "debate", "reporter", "researcher", "tool_generator"), "hierarchical"
    )
    tools = ("table_query", "read_file", "to_markdown", "calculator", "fetch_page", "web_search", "done", "*")
    agents = ("analyzer", "browser", "computer", "debate", "reporter", "researcher", "tool_generator")
    environments = ("workspace#write", "shell#python", "shell#bash")
    metadata: ClassVar[Mapping[str, Any]] = {"settings": {"unknown_after": {"type": "integer", "minimum": 1}}}
    rules = """
        Interpret the task, keep a plan where it has several parts, answer or delegate each, judge the results, and
        replan after a failure. End with `done`, alone: the answer, its evidence, and the report's name.
    """

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work step by step, and look once more at the answer for open points of others."""
        return await work(
            ctx,
            task,
            prompt="planner",
            tools=self.tools,
            agents=self.agents,
            environments=self.environments,
            closing=True,
        )
