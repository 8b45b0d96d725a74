"""Several attempts: one task is worked on several times, side by side or one after another, and one answer chosen.

Source: design/033-attempts.md; the fields of the state are those of RE-TRAC (arXiv 2602.02486).
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tea import Agent, Attempted, Context, Fact, Result, Said, Task, ToolError, budget_share, clipped, same

SURE = 90  # of 100: a stated confidence that may end the attempts
UNSAID = 50  # stands in a vote for a confidence that was not stated
LEAST = 2  # questions to a model: one for an attempt, one for the judge
AGREEING = 2  # sure answers of attempts side by side that have to be the same
SHORT = "not begun: the budget left too little for it"
AGREED, ALONE = "not asked: all answers are the same", "not asked: there is one answer"
UNNAMED = "attempt {best}, as the judge named none of the answers as its choice"
OVERRIDDEN = "attempt {best}, which was not refuted: the judge chose attempt {chosen}, and refuted it itself: {why}"
MOST_FACTS, MOST_SHOWN_FACTS = 60, 10
MOST_ANSWER, MOST_QUOTE, MOST_TOLD, MOST_WORDS = 2_000, 300, 6_000, 200

EARLIER = (
    "Attempt {number} at this task ended without a sure answer. Use freely what it found, check what decides, and "
    "widen the search: other sources, other words, the leads that were not followed."
)


class _EnoughError(Exception):
    """End the attempts still at work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One ended attempt."""

    number: int
    result: Result
    status: str
    response: Any = None

    @property
    def confidence(self) -> int | None:
        """How sure it is of its answer."""
        return None if self.result.state is None else self.result.state.confidence

    @property
    def is_sure(self) -> bool:
        """Whether its answer is sure enough to end the attempts: by its own word, with no doubted evidence."""
        confirmed = all(not one.doubt for one in self.result.evidence)
        return self.status == "done" and confirmed and (self.confidence or 0) >= SURE

    @property
    def rank(self) -> tuple[bool, int, int]:
        """The place of its answer among equal ones: confirmed evidence first, then confidence."""
        evidence = self.result.evidence
        return bool(evidence) and not any(one.doubt for one in evidence), self.confidence or 0, -self.number


class Attempts(Agent):
    """Have one agent attempt a task several times, and choose among its answers by a judge.

    A failed attempt loses none of the others; all work under the budget of the task.
    """

    role = "Leader of attempts"
    competencies = ("divide a budget among attempts", "hand on what an attempt found", "choose among answers")
    objectives = ("the answer that stands best",)
    relations = {"judge": "hierarchical"}
    agents = ("judge",)
    metadata: ClassVar[Mapping[str, Any]] = {"category": "bookkeeping", "when": "For `tea run --attempts`."}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Attempt it side by side or in turn, then compare the answers."""
        given = ctx.attempts
        if not given:
            raise ToolError("Nothing says what to attempt.", fix="use `tea run --attempts 4 --agent NAME`.")
        work = _in_turn if given["successive"] else _side_by_side
        tried = await work(ctx, task, str(given["agent"]), int(given["count"]))
        count = int(given["count"])
        return await _chosen(ctx, task, tried, _unfinished(tried, count, successive=bool(given["successive"])))


async def _side_by_side(ctx: Context, task: Task, agent: str, count: int) -> list[Tried]:
    """Attempt a task several times at once; two equal sure answers end the others."""
    most = int(max(1, min(count, await _questions(ctx) - 1)))  # one question is the judge's
    budget = await budget_share(ctx, most)
    tried: dict[int, Tried] = {}

    async def one(number: int) -> None:
        tried[number] = await _attempt(ctx, agent, task.model_copy(update={"budget": budget}), number)
        _keep(ctx, [*tried.values()])
        if len(tried) < most and _agrees(tried[number], [*tried.values()]):
            raise _EnoughError

    try:
        async with ctx.group() as group:
            for number in range(1, most + 1):
                group.spawn(one(number))
    except ExceptionGroup as errors:
        _, others = errors.split(_EnoughError)
        if others is not None:
            raise others from None
        for number in sorted({*range(1, most + 1)} - tried.keys()):
            _tell(ctx, number, "stopped, as two others agree and are sure")
    return [tried[number] for number in sorted(tried)]


def _agrees(one: Tried, among: Sequence[Tried]) -> bool:
    """Return whether enough sure answers are the same as one."""
    return one.is_sure and sum(each.is_sure and _is_same(one, each) for each in among) >= AGREEING


async def _in_turn(ctx: Context, task: Task, agent: str, count: int) -> list[Tried]:
    """Attempt a task again and again, each time from the last state, until one is sure."""
    tried: list[Tried] = []
    for number in range(1, count + 1):
        if tried and await _questions(ctx) < LEAST:
            break
        budget = await budget_share(ctx, count - number + 1, side_by_side=False)
        told = tuple(Said(who="person", text=text) for text in await ctx.messages())
        task = task.model_copy(update={"history": (*task.history, *told)})
        part = task.model_copy(update={"budget": budget, **(_carried(task, tried) if tried else {})})
        tried.append(await _attempt(ctx, agent, part, number))
        _keep(ctx, tried)
        if tried[-1].is_sure:
            break
    return tried


async def _questions(ctx: Context) -> float:
    """Return how many questions to a model are left."""
    steps = (await ctx.remaining())["steps"]
    return math.inf if steps is None else float(steps)


async def _attempt(ctx: Context, agent: str, task: Task, number: int) -> Tried:
    _tell(ctx, number, "begins")
    response = await ctx.acp.invoke(agent, task)
    result, code = response.result, (response.error or {}).get("code")
    if result.exhausted or code == "BudgetExceeded":
        status = "exhausted"
    else:
        status = "done" if result.ok and result.answer not in ("", None) else "failed"
    tried = Tried(number=number, result=result, status=status, response=response)
    sure = "" if tried.confidence is None else f", confidence {tried.confidence}"
    words = _value(result.answer) if status == "done" else result.reason or "without an answer"
    _tell(ctx, number, f"{status}{sure}: {clipped(words, MOST_WORDS)}")
    return tried


def _keep(ctx: Context, tried: Sequence[Tried]) -> None:
    """Set the best answer so far, in case the time ends."""
    if done := [one for one in tried if one.status == "done"]:
        ctx.so_far(max(done, key=lambda one: one.rank).result)


def _carried(task: Task, tried: Sequence[Tried]) -> dict[str, Any]:
    """Return the start of an attempt: the facts of those before it, and in words how the last one ended."""
    facts: dict[tuple[str, str], Fact] = {(one.fact, one.source): one for one in task.facts}
    for one in tried:
        for fact in one.result.state.facts if one.result.state is not None else ():
            facts.setdefault((fact.fact, fact.source), fact)
    said = Said(text=clipped(_state(tried), MOST_TOLD))
    return {"facts": tuple(facts.values())[-MOST_FACTS:], "history": (*task.history, said)}


def _state(tried: Sequence[Tried]) -> str:
    """Return the last state of an attempt, in words."""
    last = tried[-1]
    state = last.result.state
    answers = [f"{_value(one.result.answer)} ({_sure(one)})" for one in tried if one.result.answer not in ("", None)]
    lines = {
        "Answers so far": answers,
        "Evidence": [_source(one) for one in last.result.evidence],
        "Not known": [*last.result.gaps, *([last.result.reason] if last.result.reason else [])],
        "Tried in vain": list(state.failed) if state is not None else [],
        "Not followed": list(state.leads) if state is not None else [],
    }
    told = [f"{name}:\n" + "\n".join(f"- {one}" for one in some) for name, some in lines.items() if some]
    return "\n".join([EARLIER.format(number=last.number), *told])


async def _chosen(ctx: Context, task: Task, tried: Sequence[Tried], unfinished: Mapping[int, str]) -> Result:
    """Return the result of the attempts: one answer, with all of them beside it."""
    done = [one for one in tried if one.status == "done"]
    if not done:
        return _without(tried, unfinished)
    if all(_is_same(done[0], one) for one in done):
        best, objections, doubt = max(done, key=lambda one: one.rank), dict[int, str](), ""
        ctx.note("attempt", {"phase": "judge", "text": ALONE if len(done) == 1 else AGREED})
    else:
        best, objections, doubt = await _judged(ctx, task, done)
    gaps = (*best.result.gaps, *([doubt] if doubt else []))
    listed = tuple(_listed(one, chosen=one is best, objection=objections.get(one.number, "")) for one in tried)
    update = {"attempts": _with_stopped(listed, tried, unfinished), "state": None, "cost": None, "gaps": gaps}
    return best.result.model_copy(update=update)


async def _judged(ctx: Context, task: Task, done: Sequence[Tried]) -> tuple[Tried, dict[int, str], str]:
    """Return the answer chosen by a judge, its objections by attempt, and the words about the choice."""
    _keep(ctx, done)
    said = tuple(Said(who=f"attempt {one.number}", text=_report(one, done)) for one in done)
    response = await ctx.acp.invoke("judge", Task(text=task.text, files=task.files, history=said))
    if not response.result.ok:
        best = _voted(done)
        ctx.note("attempt", {"phase": "judge", "text": f"could not be asked: {response.result.reason}"})
        return best, {}, f"no judge compared the answers: {response.result.reason}"
    verdict: dict[str, Any] = response.result.answer
    against: Sequence[Mapping[str, Any]] = [one for one in verdict["refutations"] if one["refuted"]]
    refuted = {done[int(one["answer"]) - 1].number: str(one["objection"]) for one in against}
    standing = [one for one in done if one.number not in refuted]
    chosen = done[int(verdict["choice"]) - 1] if verdict["choice"] is not None else None
    if chosen is None:
        best = _voted(standing or done)
        text = UNNAMED.format(best=best.number)
    elif chosen.number in refuted and standing:
        best = _voted(standing)
        text = OVERRIDDEN.format(best=best.number, chosen=chosen.number, why=refuted[chosen.number])
    else:
        best, text = chosen, f"attempt {chosen.number}: {verdict['reason']}"
    ctx.note("attempt", {"phase": "judge", "text": text})
    doubt = text if chosen is None else ""
    return best, refuted, f"the judge refuted it: {refuted[best.number]}" if best.number in refuted else doubt


def _voted(tried: Sequence[Tried]) -> Tried:
    """Return the best of the equal answers with the most confidence together."""

    def weight(one: Tried) -> int:
        return sum(UNSAID if each.confidence is None else each.confidence for each in tried if _is_same(one, each))

    return max(tried, key=lambda one: (weight(one), one.rank))


def _without(tried: Sequence[Tried], unfinished: Mapping[int, str]) -> Result:
    """Return the result without a successful attempt: the best unfinished answer, and the reasons of all.

    Raises:
        TeaError: Every attempt ended with an error; the first is raised.
    """
    if all(not one.response.ok for one in tried):
        tried[0].response.unwrap()
    best = max(tried, key=lambda one: (one.result.answer not in ("", None), one.rank))
    why = "; ".join(dict.fromkeys(f"attempt {one.number}: {one.result.reason or one.status}" for one in tried))
    listed = _with_stopped(tuple(_listed(one) for one in tried), tried, unfinished)
    update = {"ok": False, "reason": why, "attempts": listed, "state": None, "cost": None}
    update["exhausted"] = any(one.status == "exhausted" for one in tried)
    return best.result.model_copy(update=update)


def _unfinished(tried: Sequence[Tried], count: int, *, successive: bool) -> dict[int, str]:
    """Return the reason of each attempt without an end, by its number."""
    ended = [one.number for one in tried]
    sure = [one for one in tried if one.is_sure]
    if successive:
        why = f"not begun: attempt {sure[0].number} was sure enough" if sure else SHORT
    else:
        agree = any(_agrees(one, tried) for one in sure)
        why = "two others agree and are sure" if agree else SHORT
    return {number: why for number in range(1, count + 1) if number not in ended}


def _with_stopped(
    listed: Sequence[Attempted], tried: Sequence[Tried], unfinished: Mapping[int, str]
) -> tuple[Attempted, ...]:
    """Return the attempts in their order, the ones without an end included."""
    known = dict(zip((one.number for one in tried), listed, strict=True))
    known |= {number: Attempted(status="stopped", reason=why) for number, why in unfinished.items()}
    return tuple(known[number] for number in sorted(known))


def _listed(one: Tried, *, chosen: bool = False, objection: str = "") -> Attempted:
    """Return an attempt as the task's result lists it."""
    return Attempted.model_validate(
        {
            "answer": one.result.answer,
            "status": one.status,
            "reason": one.result.reason,
            "confidence": one.confidence,
            "cost": one.result.cost or {},
            "chosen": chosen,
            "objection": objection,
        }
    )


def _report(one: Tried, done: Sequence[Tried]) -> str:
    """Return an answer with its evidence, as the judge reads it."""
    equal = [str(each.number) for each in done if each is not one and _is_same(one, each)]
    facts = one.result.state.facts if one.result.state is not None else ()
    more = [f"and {len(facts) - MOST_SHOWN_FACTS} more"] if len(facts) > MOST_SHOWN_FACTS else []
    lines = {
        "Evidence": [_source(each) for each in one.result.evidence],
        "Noted": [*map(_noted, facts[:MOST_SHOWN_FACTS]), *more],
        "Doubts of its own": [one.result.reason] if one.result.reason else [],
        "Not known": one.result.gaps,
    }
    told = [f"{name}:\n" + "\n".join(f"- {each}" for each in some) for name, some in lines.items() if some]
    alike = [f"The same answer as attempt {' and '.join(equal)}."] if equal else []
    return clipped("\n".join([f"Answer ({_sure(one)}): {_value(one.result.answer)}", *alike, *told]), MOST_TOLD)


def _noted(one: Fact) -> str:
    """Return a fact with its source; what was asked and what that gave are cut apart, so that each is seen."""
    asked = one.fact.removesuffix(one.quote)
    parts = (clipped(asked.rstrip(), MOST_QUOTE), clipped(one.fact[len(asked) :], MOST_QUOTE))
    return f"{' '.join(filter(None, parts))} ({one.source})"


def _source(one: Any) -> str:
    """Return evidence in one line."""
    quote = f': "{clipped(one.quote, MOST_QUOTE)}"' if one.quote else ""
    detail = f" ({one.detail})" if one.detail else ""
    return f"{one.source}{detail}{quote}{f' [not confirmed: {one.doubt}]' if one.doubt else ''}"


def _sure(one: Tried) -> str:
    return "confidence not stated" if one.confidence is None else f"confidence {one.confidence} of 100"


def _value(answer: Any) -> str:
    return clipped(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False), MOST_ANSWER)


def _is_same(one: Tried, other: Tried) -> bool:
    return same(one.result.answer, other.result.answer)


def _tell(ctx: Context, number: int, text: str) -> None:
    ctx.note("attempt", {"phase": f"attempt {number}", "text": text})
