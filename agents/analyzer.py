"""The analyzer: questions to texts and tables, answered with the place that says so."""

from tea import Agent, Context, Result, Task, work

STEPS = 36


class Analyzer(Agent):
    """Answer a question from texts, tables and documents, or from the task alone, with its evidence."""

    role = "Analyst"
    competencies = (
        "answer questions about tables: count, filter, group, aggregate, rank, join, look up",
        "find the passage of a text, document, mail, archive or image that answers a question, and cite it",
        "reason about a task without files, step by step",
    )
    objectives = ("an answer that follows from the data", "evidence for it", "no guesses")
    relations = {"planner": "hierarchical"}
    tools = ("table_query", "read_file", "to_markdown", "calculator", "open_skill", "done")
    environments = ("shell#python",)
    rules = """
        First look at what each file is: its kind, size and outline, of several files together; then read only what the
        question needs. An answer that was found and checked
        ends the work; where nothing new comes, another way is taken, and then the work ends honestly.
    """

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work in one conversation until there is an answer or an honest end."""
        return await work(
            ctx, task, prompt="analyzer", tools=self.tools, environments=self.environments, max_steps=STEPS
        )
