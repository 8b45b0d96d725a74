"""The clarification: questions to the person, then a plan that they approve or reject, before a research begins."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from tea import Agent, BadOutput, Context, Result, Task, ToolError, consult, has_searches, named_file

MOST_PLANS = 10
APPROVE, REJECT = "approve", "reject"
NAME = re.compile(r"[\w./-]+")


class ResearchClarify(Agent):
    """Ask what a question leaves open, and have the plan of its research approved."""

    role = "Interviewer"
    competencies = ("ask the few questions that change a plan", "plan, and plan anew after a rejection")
    objectives = ("a plan that the person wants",)
    environments = ("research",)
    metadata: ClassVar[Mapping[str, Any]] = {"category": "bookkeeping", "when": "For `tea research clarify`."}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask, plan, and go on planning until a plan is approved."""
        known = {"objective": task.text, "locale": ctx.locale}
        datasets = [{"name": name, "about": await _about(ctx, name)} for name in task.files if not name.startswith(".")]
        asked = await consult(
            ctx, "research_questions", {**known, "datasets": datasets}, lambda response: response.output["questions"]
        )
        answers = [{"question": one, "answer": await _ask_until_answered(ctx, one)} for one in asked]
        searchable = await has_searches(ctx, "researcher")
        about = {"datasets": datasets, "answers": answers, "searchable": searchable}
        variables = {**known, **about, "stage": "approval"}
        feedback = list[str]()
        names = [one["name"] for one in datasets]
        for _ in range(MOST_PLANS):
            plan = await consult(
                ctx, "research_plan", {**variables, "feedback": feedback}, _planned_for(names, searchable=searchable)
            )
            if await ctx.person(_shown(plan), (APPROVE, REJECT)) == APPROVE:
                approved = {"objective": plan["objective"], "tasks": plan["tasks"], "answers": answers}
                return Result(answer=approved)
            said = await _ask_until_answered(ctx, "What shall be otherwise?")
            feedback.append(f"{_shown(plan)}\nRejected: {said}")
        return Result(ok=False, reason=f"{MOST_PLANS} plans were rejected.")


def _planned_for(names: Sequence[str], *, searchable: bool) -> Callable[[Any], Mapping[str, Any]]:
    """Return the reading of a plan, with the whole names of datasets; the first one with an unknown one is refused."""
    refused = list[str]()

    def read(response: Any) -> Mapping[str, Any]:
        plan = _with_whole_names(response.output, names, searchable=searchable)
        named = dict.fromkeys(str(name) for one in plan["tasks"] for name in one["datasets"])
        unknown = [one for one in named if one not in names]
        if unknown and not refused:
            refused.extend(unknown)
            there = f"there are: {', '.join(names)}" if names else "there is none, so plan no analysis"
            raise BadOutput(f"There is no dataset {', '.join(unknown)}; {there}.", fix="ask another model.")
        return plan

    return read


def _with_whole_names(plan: Mapping[str, Any], names: Sequence[str], *, searchable: bool) -> Mapping[str, Any]:
    """Return a plan with the full names of its datasets, and with a type for tasks without one.

    An analysis without datasets has those that the research would give it, so that the person sees them.
    """
    tasks = [
        {"type": "ANALYSIS" if one["datasets"] or (names and not searchable) else "LITERATURE"}
        | {
            **one,
            "datasets": list(dict.fromkeys(named_file(str(name), names) or str(name) for name in one["datasets"])),
        }
        for one in plan["tasks"]
    ]
    return {**plan, "tasks": [one if one["datasets"] else {**one, "datasets": _given(one, names)} for one in tasks]}


def _given(task: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return the datasets of a task without any: of an analysis those in its objective, else all."""
    named = [name for name in names if name in task["objective"]]
    return (named or list(names)) if task["type"] == "ANALYSIS" else []


async def _ask_until_answered(ctx: Context, question: str) -> str:
    """Ask until the answer is not empty, and return it."""
    for _ in range(MOST_PLANS):
        answer = (await ctx.person(question)).strip()
        if answer:
            return answer
    raise ToolError("The question was left without an answer.", fix="begin anew.")


async def _about(ctx: Context, name: str) -> str:
    response = await ctx.ecp.invoke("research#survey", {"name": name})
    if not response.ok:
        return ""
    found = response.value
    columns = f", columns: {', '.join(found['columns'])}" if found["columns"] else ""
    return f"{found['kind']}, {found['bytes']:,} bytes{columns}"


def _shown(plan: Mapping[str, Any]) -> str:
    tasks: Sequence[Mapping[str, Any]] = plan["tasks"]
    lines = [f"{number}. {one['type']}: {_line(one['objective'])}{_data(one)}" for number, one in enumerate(tasks, 1)]
    return "\n".join([f"Plan: {_line(plan['objective'])}", *lines])


def _line(text: str) -> str:
    """Return an objective on one line: quoted as JSON if it could be taken for more of a plan."""
    odd = "\n" in text or text.startswith('"') or (text.endswith(")") and " (" in text)
    return text if not odd else json.dumps(text, ensure_ascii=False)


def _data(task: Mapping[str, Any]) -> str:
    names = (one if NAME.fullmatch(one) else json.dumps(one, ensure_ascii=False) for one in task["datasets"])
    return f" ({', '.join(names)})" if task["datasets"] else ""
