"""The judge: answers of others to one question are compared by their evidence, each tried to be refuted, one chosen."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from tea import Agent, BadOutput, Context, Result, Task, ToolError, consult

UNSAID = 50  # stands for a confidence in words of another kind
LEVELS = {"very high": 95, "high": 85, "medium": 60, "moderate": 60, "low": 30, "very low": 10}
_WORDS = {"type": "string", "maxLength": 1000, "default": ""}
_NUMBERED = re.compile(r"(?:(?:the )?answer|number|no\.?|#|\s)*(\d{1,4})\.?", re.IGNORECASE)
_PERCENT = re.compile(r"\D{0,20}(\d{1,3})(?:\.\d+)?(?:\s*%|\s*(?:of|/)\s*100)?\.?")


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
        verdict: Any = await consult(ctx, "judge", variables, _reader([one.who for one in task.history]), output=form)
        _note(ctx, verdict)
        return Result(answer=verdict)


def _form(count: int, answer: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the form of a verdict: only given answers can be named, by number or by author."""
    number = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": count}, {"type": "string", "maxLength": 200}]}
    percent = {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 100}, {"type": "string", "maxLength": 200}]}
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
        "confidence": percent,
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


def _reader(names: Sequence[str]) -> Callable[[Any], dict[str, Any]]:
    """Return the reader of a verdict; it names each answer by its number.

    At first an unknown name is refused. At last it costs only itself: `choice` is then None, and a refutation left out.

    Args:
        names: Who gave the answers, in their order.
    """
    is_last = False

    def read(response: Any) -> dict[str, Any]:
        nonlocal is_last
        verdict: dict[str, Any] = response.output
        choice = _number(verdict["choice"], names)
        refutations = [{**one, "answer": _number(one["answer"], names)} for one in verdict["refutations"]]
        if not is_last and (choice is None or any(one["answer"] is None for one in refutations)):
            is_last = True
            known = ", ".join(f"{number} ({name})" for number, name in enumerate(names, 1))
            raise BadOutput(
                f"`choice` or a refutation names none of the answers. These are: {known}.",
                fix="name one by its number.",
            )
        return {
            **verdict,
            "choice": choice,
            "refutations": [one for one in refutations if one["answer"] is not None],
            "confidence": _confidence(verdict["confidence"]),
        }

    return read


def _number(named: int | str, names: Sequence[str]) -> int | None:
    """Return the number of an answer named by number or by author; None if unclear."""
    if isinstance(named, int):
        return named
    text = named.strip().strip("\"'`").casefold()
    folded = [name.casefold() for name in names]
    if folded.count(text) == 1:
        return folded.index(text) + 1
    if found := _NUMBERED.fullmatch(text):
        return int(found[1]) if 1 <= int(found[1]) <= len(names) else None
    within = [number for number, name in enumerate(folded, 1) if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    return within[0] if len(within) == 1 else None


def _confidence(stated: int | str) -> int:
    """Return a confidence as a number from 0 to 100; it may be stated in words."""
    if isinstance(stated, int):
        return stated
    text = stated.strip().rstrip(".").casefold()
    found = _PERCENT.fullmatch(text)
    return min(int(found[1]), 100) if found else LEVELS.get(text, UNSAID)


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
