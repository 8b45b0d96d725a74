"""The triage: the agent that gives what a person says to the agent for it, and ends cases."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tea import Agent, BadOutput, Context, Result, Task, consult

MOST_AGENTS = 12


class Triage(Agent):
    """Hand each task of a conversation over to the agent that fits it, or end the case."""

    role = "Triage"
    competencies = ("choose the agent for a task", "tell when a case is resolved, and when nobody can resolve it")
    objectives = ("every task with the agent that can do it", "an honest end where there is none")
    relations = {"planner": "hierarchical", "analyzer": "hierarchical", "reporter": "hierarchical"}
    metadata: ClassVar[Mapping[str, Any]] = {"category": "conversation"}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Choose, without doing any of the work."""
        found = await ctx.acp.retrieve(f"task: {task.text}", MOST_AGENTS, among=["*"], besides=[ctx.agent])
        agents = [{"name": one["name"], "description": one["description"]} for one in found]
        variables = {
            "task": task.text,
            "files": list(task.files),
            "agents": agents,
            "history": [one.model_dump(mode="json") for one in task.history],
            "locale": ctx.locale,
        }
        form = _form([str(one["name"]) for one in agents])
        return await consult(ctx, "triage", variables, lambda response: _decided(response.output), output=form)


def _form(names: Sequence[str]) -> dict[str, Any]:
    """Return the form of a decision: other agents than these cannot be named; each kind needs fields of its own."""
    text = {"type": "string", "default": ""}
    chosen = {"next": {"enum": ["hand_over", "case_resolved", "case_not_resolved"]}}
    properties = {**chosen, "agent": {"enum": [*names, ""], "default": ""}, "task": text, "answer": text}
    return {"type": "object", "properties": properties, "required": ["next"], "additionalProperties": False}


def _decided(choice: Mapping[str, str]) -> Result:
    """Return the decision as a result.

    Raises:
        BadOutput: It lacks what its kind needs.
    """
    agent, answer = choice.get("agent", ""), choice.get("answer", "")
    match choice["next"]:
        case "hand_over" if agent:
            return Result(handoff=agent, task=choice.get("task", "") or None)
        case "case_resolved" if answer:
            return Result(answer=answer)
        case "case_not_resolved":
            return Result(ok=False, reason=answer or "no agent fits the task")
        case "hand_over":
            raise BadOutput("`hand_over` names no agent.", fix="name one in `agent`, or end the case.")
        case _:
            raise BadOutput("`case_resolved` came without an answer.", fix="give `answer`.")
