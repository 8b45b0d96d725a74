"""The planner: the agent that is given a task, and has it done by the others."""

from tea import Agent, Context, Result, Task, work


class Planner(Agent):
    """Plan a task, give its parts to other agents and tools, and bring their results together."""

    role = "Orchestrator"
    competencies = (
        "understand what is asked, and divide it into parts that can be checked",
        "choose the agent or tool for each part",
        "change the plan when a part fails or the aim shifts",
        "bring results together into one answer with its sources",
    )
    objectives = ("a correct answer, with evidence", "an honest end where there is none", "few steps")
    relations = {"analyzer": "hierarchical", "reporter": "hierarchical"}
    tools = ("todo", "done", "calculator")
    agents = ("analyzer", "reporter")
    environments = ("workspace",)
    rules = """
        Interpret the task, keep a plan where it has several parts, delegate, judge each result, and replan after a
        failure. End with `done`, alone or last: the answer, its evidence, and the report's name.
    """

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work in at most fifty steps."""
        return await work(
            ctx,
            task,
            prompt="planner",
            tools=self.tools,
            agents=self.agents,
            environments=self.environments,
            max_steps=50,
        )
