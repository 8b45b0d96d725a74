"""The analyzer: questions to texts and tables, answered with the place that says so."""

from collections.abc import Mapping
from typing import Any

from tea import Agent, Context, Result, Task, work

ROUNDS = 3
STEPS = 12
MOST_BYTES = 200_000_000
READABLE = ("table", "json", "text", "code")


class Analyzer(Agent):
    """Answer a question from text, CSV, TSV, JSON and XLSX files, or from the task alone, with its evidence."""

    role = "Analyst"
    competencies = (
        "answer questions about tables: count, filter, group, aggregate, rank, join, look up",
        "find the passage of a text that answers a question, and cite it",
        "reason about a task without files, step by step",
    )
    objectives = ("an answer that follows from the data", "evidence for it", "no guesses")
    relations = {"planner": "hierarchical"}
    tools = ("table_query", "read_file", "calculator", "done")
    environments = ("workspace",)
    rules = """
        First look at what each file is, then read only what the question needs. An answer found in the first round
        ends the work; a round that ran out of steps is followed by another, at most three in all.
    """

    async def run(self, ctx: Context, task: Task) -> Result:
        """Validate and classify the files, then work in rounds until there is an answer or an honest end."""
        inventory = await _inventory(ctx, task.files)
        if faults := [fault for one in inventory if (fault := _fault(one))]:
            return Result(ok=False, reason=" ".join(faults))
        best, insights = Result(ok=False), list[str]()
        for number in range(1, ROUNDS + 1):
            result = await work(
                ctx,
                task,
                prompt="analyzer",
                tools=self.tools,
                environments=(),
                max_steps=STEPS,
                insights=insights,
                variables={"inventory": inventory},
            )
            best = result if result.answer != "" or number == 1 else best
            if not result.exhausted or (await ctx.remaining()).get("steps") == 0:
                return result if not result.exhausted else best
            insights.append(f"Round {number} of {ROUNDS} ran out of steps. Best so far: {result.answer!r}.")
        return best


async def _inventory(ctx: Context, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return name, size and type of each file, from its metadata alone."""
    if not names:
        return []
    response = await ctx.ecp.invoke("workspace#list_files", {"names": list(names), "limit": len(names)})
    found = {file["name"]: file for file in response.unwrap()["files"]}
    return [dict(found.get(name, {"name": name, "size": -1, "type": "missing"})) for name in names]


def _fault(file: Mapping[str, Any]) -> str:
    """Return why a file cannot be analysed, or nothing."""
    name, size, kind = str(file["name"])[:100], int(file["size"]), file["type"]
    if size < 0:
        return f"There is no file {name!r}."
    if size == 0:
        return f"{name!r} is empty."
    if size > MOST_BYTES:
        return f"{name!r} is larger than {MOST_BYTES // 1_000_000} MB."
    if kind not in (*READABLE, "other"):
        return f"{name!r} is a file of type {kind}, which is not supported yet."
    return ""
