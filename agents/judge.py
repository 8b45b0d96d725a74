"""The judge: answers of others to one question are compared by their evidence, each tried to be refuted, one chosen."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tea import Agent, Context, Result, Task, ToolError, consult

_WORDS = {"type": "string", "maxLength": 1000, "default": ""}


class Judge(Agent):
    """Compare the answers of a conversation to one question, try to refute each, and choose; write one if a form asks.

    Each contribution to the conversation is an answer with its evidence.
    """

    role = "Judge"
    competencies = ("refute an answer by its own evidence", "choose among answers that contradict each other")
    objectives = ("the answer that stands best", "objections that are true")
    metadata: ClassVar[Mapping[str, Any]] = {"category": "bookkeeping", "takes": "answers"}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask once; the answer is the verdict."""
        if not task.history:
            raise ToolError("There is nothing to judge.", fix="give the answers as the conversation before the task.")
        variables = {
            "question": task.text,
            "answers": [{"name": one.who, "text": one.text} for one in task.history],
            "today": await ctx.today(),
            "locale": ctx.locale,
            **({"form": task.answer} if task.answer is not None else {}),
        }
        form = _form(len(task.history), task.answer)
        verdict: Any = await consult(ctx, "judge", variables, lambda response: response.output, output=form)
        _note(ctx, verdict)
        return Result(answer=verdict)


def _form(count: int, answer: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the form of a verdict: only given answers can be named."""
    number = {"type": "integer", "minimum": 1, "maximum": count}
    refutation = {
        "type": "object",
        "properties": {"answer": number, "objection": _WORDS, "refuted": {"type": "boolean", "default": False}},
        "required": ["answer", "objection", "refuted"],
        "additionalProperties": False,
    }
    properties: dict[str, Any] = {
        "refutations": {"type": "array", "default": [], "items": refutation, "maxItems": 2 * count},
        "choice": number,
        "reason": _WORDS,
        "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
    }
    held: dict[str, Any] = {}
    if answer is not None:
        properties["answer"] = {name: one for name, one in answer.items() if name not in ("$defs", "definitions")}
        held = {name: answer[name] for name in ("$defs", "definitions") if name in answer}
    return {
        **held,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _note(ctx: Context, verdict: Mapping[str, Any]) -> None:
    objections = [f"{one['answer']}: {one['objection']}" for one in verdict["refutations"]]
    ctx.note(
        "step",
        {
            "agent": ctx.agent,
            "step": 1,
            "observation": {},
            "thinking": " ".join(objections),
            "evaluation": verdict["reason"],
            "memory": "",
            "next_goal": "",
            "calls": [],
            "results": [],
        },
    )
