"""The reporter: findings become a Markdown report whose sources are numbered and linked.

Source: the paper, Appendix D.7: one number for each source, URLs count before descriptions, files become links.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from tea import Agent, Context, Result, Task, ToolError, consult

from ._reporter.references import References

MOST_MATERIAL = 8_000
MOST_REPORTS = 200
TRIES = 3


class Reporter(Agent):
    """Write a Markdown report of findings, with numbered citations, into the workspace."""

    role = "Reporter"
    competencies = (
        "write a report of findings given in words, as JSON, or in files",
        "keep every claim with its source: citations as [n](source), each source once, numbered from 1",
    )
    objectives = ("say what was asked, what was found, how, and from where", "add nothing that was not found")
    relations = {"planner": "hierarchical"}
    environments = ("workspace",)
    metadata: ClassVar[Mapping[str, Any]] = {"takes": "findings"}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Draft, number the references, and write the report under a name that is free."""
        materials = [await _material(ctx, name) for name in task.files]
        findings = [one.model_dump(mode="json") for one in task.facts]
        variables = {"task": task.text, "materials": materials, "findings": findings, "locale": ctx.locale}
        draft = await consult(ctx, "reporter", variables, lambda response: response.output)
        body = References(ctx.workspace).number(draft["markdown"])
        name = await _written(ctx, f"# {' '.join(draft['title'].split())}\n\n{body}")
        _note(ctx, draft, name)
        return Result(answer=draft["summary"], report=name)


async def _material(ctx: Context, name: str) -> dict[str, str]:
    response = await ctx.ecp.invoke("workspace#read", {"name": name, "limit": MOST_MATERIAL})
    return {"source": name, "content": response.unwrap()["text"]}


async def _written(ctx: Context, text: str) -> str:
    """Write under the first free name: an earlier report is never replaced."""
    names = ["report.md", *(f"report-{number}.md" for number in range(2, MOST_REPORTS))]
    listing = (await ctx.ecp.invoke("workspace#list_files", {"names": names, "limit": MOST_REPORTS})).unwrap()
    taken = [file["name"] for file in listing["files"]]
    free = [name for name in names if name not in taken][:TRIES]
    for name in free:
        response = await ctx.ecp.invoke("workspace#write", {"name": name, "text": text, "replace": False})
        if response.ok or name == free[-1]:
            return response.unwrap()["name"]
    raise ToolError(f"The workspace holds {MOST_REPORTS} reports.", fix="move some of them away.")


def _note(ctx: Context, draft: dict[str, Any], name: str) -> None:
    ctx.note(
        "step",
        {
            "agent": ctx.agent,
            "step": 1,
            "observation": {},
            "thinking": "Lay out the findings, number their sources, and write the report.",
            "evaluation": draft["summary"],
            "memory": f"The report is {name}.",
            "next_goal": "",
            "calls": [{"name": "workspace_write", "arguments": {"name": name}}],
            "results": [{"name": "workspace_write", "ok": True}],
        },
    )
