"""Operate: the work of an agent with a browser or a desktop, kept step by step.

Source: the paper, Appendix D.5: prepare, generate, execute, evaluate, record. The result is the final words, else what
was extracted, which is evidence beside them; the paper takes first what was extracted, and last what a step gave.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from tea.components.context import Context
from tea.errors import BadArguments, BadOutput, StateLost, TeaError
from tea.loop.checks import holds, standing_in, stands_in
from tea.loop.claims import announces, gives_up
from tea.loop.fields import MOST_NAMED
from tea.loop.nearby import nearest_number
from tea.loop.observation import MOST_IN_RECORD, shortened
from tea.loop.step import consult
from tea.models.format import braced
from tea.models.written_calls import answered, is_broken
from tea.models.written_json import read_json
from tea.store.strict import Refused
from tea.types import Evidence, Message, ModelResponse, Response, Result, Task, as_text

MOST_ACTIONS = 8
MOST_RESULT = 12_000
MOST_REMEMBERED = 20
MOST_PAGES = 20
MOST_READ = 1_000_000  # characters kept of all that was read
SAME_FAILURES = 3
MOST_VAIN = 3  # steps not counted as nothing was done in them: their form was refused
_STEP = ("thinking", "evaluation", "memory", "next_goal", "actions", "extracted")
STEPS_OF_LOSS = 2  # steps not counted after a loss: noticing it, and reopening the page or program
_NUMBERS = re.compile(r"\d+(?:[.,:/-]\d+)*%?")
_BEGUN = "Done for you, and not counted as a step"
_UNSEEN = (
    "It was said beside actions whose results nobody had seen: {}. They are done, and told here: give `final` again, "
    "alone, as they show it."
)
_TOO_EARLY = "It was said before the results of the actions beside it were seen."
_UNREAD = (
    "These numbers of it stand in nothing that was read, and follow from none by simple arithmetic: {}. Mend it, or "
    "give it again if it is right."
)
_WORKED_OUT = "Worked out from what was read, and standing nowhere in it: {}."
_GOES_ON = re.compile(
    r"\b(?:click|continue|going to|go to|i(?:'|\u2019)ll|i (?:must|need|should|will)|let me|let(?:'|\u2019)s|navigate"
    r"|next|now|proceed|scroll|step|still|then|try|wait)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operated:
    """A screen operated step by step: its environment, its limits and its texts.

    Args:
        environment: Its name, which is also that of the prompt, and of the folder of the records.
        most: Most steps, given the names of the actions done so far.
        bounded: The state as the prompt shows it.
        picture: What a model with vision is told of the picture.
        title: Title of the report.
        pages: The pages that a state or an outcome shows: titles by address. They are the evidence of the result.
        read: The words that a state or an outcome shows.
        exact: Whether these words are those of the screen for sure, and not recognised in its picture.
        files: The files that an action brought into the workspace: origins by name. They are evidence, too.
        completed: The arguments of an action, given its name, the arguments of the model, and what was seen last: a
            state, or the outcome of an action.
        before: The actions done right before an action, given its name, its arguments, and what was seen last; the
            model is not told of them.
        told: The parts of an action's outcome that the model is told.
        begins: The actions done before the first question, and again after a loss, given the words of the task and the
            state; they are neither a step nor a failure of the model, and it is told of them.
    """

    environment: str
    most: Callable[[set[str]], int]
    bounded: Callable[[dict[str, Any]], dict[str, Any]]
    picture: str
    title: str
    pages: Callable[[dict[str, Any]], dict[str, str]] = lambda state: {}
    read: Callable[[dict[str, Any]], str] = lambda value: json.dumps(value, ensure_ascii=False)
    exact: bool = True
    files: Callable[[dict[str, Any]], dict[str, str]] = lambda value: {}
    completed: Callable[[str, dict[str, Any], dict[str, Any]], dict[str, Any]] = lambda action, given, seen: given
    before: Callable[[str, dict[str, Any], dict[str, Any]], list[dict[str, Any]]] = lambda action, given, seen: []
    told: Callable[[dict[str, Any]], dict[str, Any]] = lambda value: value
    begins: Callable[[str, dict[str, Any]], list[dict[str, Any]]] = lambda task, state: []


@dataclass(slots=True, kw_only=True)
class Work:
    """The work on one task.

    Args:
        id: Id of the call, in the names of all that is kept of it.
        on: What is operated.
        steps: What was done in each step.
        pictures: Names of the pictures, in order.
        pages: Titles of the pages looked at, by address.
        read: Words that were read, by the address of their page, in order; without pages by an empty one.
        files: Origins of the files that came into the workspace, by name.
        asked: Number of steps asked of the model.
        allowed: Steps of the budget that the work began with, 0 without one; they raise the limit of what is operated.
        last: What the last action gave, to tell of the next one only what is other.
        seen: The state, or what an action gave after it.
        extracted: Words of pages that the answer rests on.
        log: The conversation in Markdown.
        actions: Names of the actions done so far.
        failures: Failed steps in a row.
        losses: How often the screen was lost, and had to be begun anew.
        begun: Number of losses when the first actions of the task were done, -1 before that.
        vain: Steps with nothing done, as the first action or the answer had another form.
        sees: Whether the model is shown pictures, whose words nothing but what it extracts tells.
        ends: Whether the budget allows no question after the next one.
        beside: The actions of the last step, if an end was said beside them and not taken.
        doubted: Whether an end was asked for again, for numbers that stand in nothing that was read.
        early: Whether the end was said beside actions with the last question of the budget.
    """

    id: str
    on: Operated
    steps: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    pictures: list[str] = field(default_factory=list[str])
    pages: dict[str, str] = field(default_factory=dict[str, str])
    read: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    files: dict[str, str] = field(default_factory=dict[str, str])
    asked: int = 0
    allowed: int = 0
    last: dict[str, Any] = field(default_factory=dict[str, Any])
    seen: dict[str, Any] = field(default_factory=dict[str, Any])
    extracted: list[str] = field(default_factory=list[str])
    log: list[str] = field(default_factory=list[str])
    actions: set[str] = field(default_factory=set[str])
    failures: int = 0
    losses: int = 0
    begun: int = -1
    vain: int = 0
    sees: bool = False
    ends: bool = False
    beside: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    doubted: bool = False
    early: bool = False

    @property
    def most(self) -> int:
        """Most steps; those lost, the way back, and the first few vain ones are not counted."""
        more = STEPS_OF_LOSS * self.losses + min(self.vain, MOST_VAIN)
        return max(self.on.most(self.actions), self.allowed) + more

    def look(self, value: dict[str, Any]) -> None:
        """Note the words of a state or of an action's outcome."""
        self.seen = value
        pages = self.on.pages(value)
        self.pages.update(pages if len(self.pages) < MOST_PAGES else {})
        words, known = self.on.read(value), self.read.setdefault(next(iter(pages), ""), [])
        if words not in known and sum(len(one) for texts in self.read.values() for one in texts) < MOST_READ:
            known.append(words)


async def operate(ctx: Context, task: Task, on: Operated) -> Result:
    """Do a task step by step, each of up to eight actions; with no step left, ask once for the end alone.

    Args:
        ctx: What the agent was given.
        task: What to do.
        on: What is operated.
    """
    senses = (await ctx.model()).get("senses", [])
    allowed = min(int((await ctx.remaining())["steps"] or 0), int(ctx.declared.get("max_steps", 0)))
    work = Work(id=await ctx.new_id(), on=on, sees="vision" in senses, allowed=allowed)
    final: dict[str, Any] = {}
    while not final and work.failures < SAME_FAILURES and (left := await _left(ctx, work)) > 0:
        work.asked += 1
        final = _undoubted(task, work, await _stepped(ctx, task, work, left))
    return await _recorded(ctx, task, work, final or await _stepped(ctx, task, work, 0))


async def _left(ctx: Context, work: Work) -> int:
    """Return the number of steps left, without the last question of a budget, kept for the end."""
    own, budget = work.most - work.asked, (await ctx.remaining())["steps"]
    work.ends = budget is not None and int(budget) <= 1
    return own if budget is None else min(own, max(int(budget) - 1, 0 if work.asked else 1))


async def _stepped(ctx: Context, task: Task, work: Work, left: int) -> dict[str, Any]:
    """Do the next step, and return its ending, if it has one; with none left, no action is done."""
    state = await _observed(ctx, work)
    if left and work.begun < work.losses:
        state = await _begun(ctx, task, work, state)
    try:
        step = await _generated(ctx, task, work, state, left)
    except BadOutput as error:
        work.failures += 1
        work.vain += 1
        work.steps.append(_failed("answer", error.problem))
        return {}
    return await _executed(ctx, work, step if left else {**step, "actions": []})


def _undoubted(task: Task, work: Work, final: dict[str, Any]) -> dict[str, Any]:
    """Return an ending, or an empty one to ask again, once, about numbers not read anywhere."""
    known = work.on.exact or not work.sees  # else a model may know better
    if not final.get("success") or not known or work.doubted or work.ends:
        return final
    answer, read = _answer(work, final), [text for texts in work.read.values() for text in texts]
    unread = _unread(task, work, answer)
    if not unread:
        return final
    from tea.loop.numbers import unfounded  # loads slowly; most ends are not asked for it

    doubtful = unfounded(answer, task.text, read, "\n".join(work.extracted if work.sees else ()))
    near = {one: nearest_number(one, "\n".join(read)) for one in doubtful if one in unread}
    told = [f"{one} ({other} was read)" if other else one for one, other in near.items()]
    if not told:
        return final
    work.doubted = True
    work.steps.append(_failed("final", _UNREAD.format(", ".join(told[:MOST_NAMED]))))
    return {}


async def _begun(ctx: Context, task: Task, work: Work, state: dict[str, Any]) -> dict[str, Any]:
    """Do the first actions of the task, if it has any, and return the state then."""
    work.begun, failures, vain = work.losses, work.failures, work.vain
    actions = work.on.begins(task.text, state)
    if not actions:
        return state
    await _executed(ctx, work, {"next_goal": _BEGUN, "actions": actions})
    work.failures, work.vain = failures, vain
    return await _observed(ctx, work)


async def _observed(ctx: Context, work: Work) -> dict[str, Any]:
    """Return the state of the environment, and keep the name of its picture; a lost state is told as a step."""
    response = await ctx.ecp.state(work.on.environment)
    if not response.ok and response.error is not None:
        work.losses += _is_lost(response)
        work.steps.append(_failed("state", f"{response.error['problem']} {response.error['fix']}"))
        response = await ctx.ecp.state(work.on.environment)
    state: dict[str, Any] = response.unwrap()
    work.look(state)
    if state.get("screenshot"):
        work.pictures.append(state["screenshot"])
    return state


def _failed(action: str, problem: str) -> dict[str, Any]:
    """Return a step without an effect."""
    result = {"action": action, "ok": False, "result": problem}
    return {"evaluation": "", "memory": "", "next_goal": "", "results": [result]}


async def _generated(ctx: Context, task: Task, work: Work, state: dict[str, Any], left: int) -> dict[str, Any]:
    """Return the next step: the result of the last one, the facts so far, and the next actions."""
    variables = {
        "task": task.text,
        "files": list(task.files),
        "state": work.on.bounded(state),
        "steps": work.steps[-MOST_REMEMBERED:],
        "left": left,
        "sees": work.sees,
        "locale": ctx.locale,
    }
    history = await _shown(ctx, work, state) if work.sees else ()
    plain = partial(_early_words, task.text, work) if left and not work.ends else _final_words
    return await consult(ctx, work.on.environment, variables, _step, history, plain=plain)


def _step(response: ModelResponse) -> dict[str, Any]:
    """Return the step in a response.

    Raises:
        BadOutput: It says neither what to do nor what was found.
    """
    step: dict[str, Any] = response.output
    if step.get("actions") or step.get("extracted") or _ending(step):
        return step
    problem = "It is not a step: it holds no action and no `final` with an answer or a reason."
    raise BadOutput(problem, fix="ask otherwise, or another model.")


def _early_words(asked: str, work: Work, text: str) -> dict[str, Any] | None:
    """Return the ending of a text before the last question: a `final` in words, or an answer after an action.

    Plain words need a number, and neither tell of a further step nor give up; else a step is asked for again.
    """
    said = answered(text).strip()
    try:
        found: Any = read_json(braced(said)) if "{" in said else None
    except Refused:
        return None
    if isinstance(found, dict):
        members = cast("dict[str, Any]", found)
        return _final_words(text) if isinstance(members.get("final"), str) and not members.get("actions") else None
    acted = any(one["ok"] for step in work.steps for one in step["results"])
    goes_on = announces(said) or said.endswith("?") or _GOES_ON.search(said) or gives_up(said, asked)
    return _final_words(text) if acted and not goes_on and any(map(str.isdecimal, said)) else None


def _final_words(text: str) -> dict[str, Any] | None:
    """Return the ending of a text without the form of a step: plain words, or an object with an answer or a reason."""
    said = answered(text).strip()
    try:
        found: Any = read_json(braced(said)) if "{" in said else None
    except Refused:
        found = None
    if not isinstance(found, dict):
        return {"final": {"answer": said}} if said and not (said.startswith("{") or is_broken(said)) else None
    members = cast("dict[str, Any]", found)
    given = members.get("final", members)
    if isinstance(given, str):
        return _final_words(given)
    final = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    texts: dict[str, Any] = {name: as_text(final[name]) for name in ("answer", "reason") if final.get(name)}
    if not texts:  # words that only quote an object are the answer
        is_record = said.startswith(("{", "`")) or members.keys() & {*_STEP, "final"}
        return None if is_record else {"final": {"answer": said}}
    failed = {"success": False} if final.get("success") is False else {}
    return {"final": {**texts, **failed}}


def _ending(step: dict[str, Any]) -> dict[str, Any]:
    """Return how a step ends the work, empty if it goes on; beside actions only words of an ending count."""
    final: dict[str, Any] = step.get("final") or {}
    reason = str(final.get("reason") or "").strip()
    found = str(step.get("extracted") or "").strip() if final.get("success") else ""
    words = str(final.get("answer") or "").strip() or reason or found
    if not final or not (words or ("success" in final and not step.get("actions"))):
        return {}
    return {"success": not reason, **final}


async def _shown(ctx: Context, work: Work, state: dict[str, Any]) -> tuple[Message, ...]:
    """Return the message with the picture for a model with vision."""
    if not state.get("screenshot"):
        return ()
    (found,) = await ctx.media([state["screenshot"]])
    if found["problem"]:
        return ()
    picture = {"type": "image", "digest": found["digest"], "media_type": found["media_type"]}
    words = {"type": "text", "text": work.on.picture}
    return (Message.model_validate({"role": "user", "content": [words, picture]}),)


async def _executed(ctx: Context, work: Work, step: dict[str, Any]) -> dict[str, Any]:
    """Do the actions of a step until one fails, note it, and return its ending, if it has one.

    An ending beside actions is not taken, as their results are not known to it, unless the budget allows no question
    more. With the same actions once more it is, and these are not done again.
    """
    actions: list[dict[str, Any]] = step.get("actions", [])[:MOST_ACTIONS]
    ending = _ending(step)
    actions = [] if ending and actions == work.beside else actions
    work.actions.update(one["action"] for one in actions)
    results: list[dict[str, Any]] = []
    for one in actions:
        results.append(await _act(ctx, work, one, first=not results))
        if not results[-1]["ok"]:
            break
    words = str(step.get("extracted") or "").strip()
    work.extracted += [words] if words and words not in work.extracted else []
    work.failures = work.failures + 1 if results and not results[-1]["ok"] else 0
    told = {name: step.get(name, "") for name in ("evaluation", "memory", "next_goal")}
    done = [{"action": one["action"], "arguments": one.get("arguments", {})} for one in actions[: len(results)]]
    work.steps.append({**told, "results": results})
    _log(work, told, done, results)
    _note(ctx, work, step, done, results)
    work.beside = []
    if not (ending and results):
        return ending
    if not results[-1]["ok"]:
        return {}
    if work.ends:
        work.early = True
        return ending
    work.beside = actions
    work.steps.append(_failed("final", _UNSEEN.format(_text(ending))))
    return {}


async def _act(ctx: Context, work: Work, one: dict[str, Any], *, first: bool) -> dict[str, Any]:
    given = work.on.completed(one["action"], one.get("arguments", {}), work.seen)
    try:
        response = await _invoked(ctx, work, one["action"], given)
    except TeaError as error:
        return {"action": one["action"], "ok": False, "result": f"{error.problem} {error.fix}"}
    if response.error is not None:
        work.losses += _is_lost(response)
        work.vain += first and response.error["code"] == BadArguments.__name__
    if not response.ok or not isinstance(response.value, dict):
        words = response.value if response.ok else response.error
        return {"action": one["action"], "ok": response.ok, "result": _text(words)}
    work.look(cast("dict[str, Any]", response.value))
    work.files.update(work.on.files(work.seen))
    value = work.on.told(work.seen)
    other = {name: part for name, part in value.items() if name not in work.last or work.last[name] != part}
    work.last = value
    return {"action": one["action"], "ok": True, "result": _text(other) if other else ""}


async def _invoked(ctx: Context, work: Work, action: str, given: dict[str, Any]) -> Response:
    """Do an action after those due before it; if one of them finds the screen lost, return its response instead."""
    for one in work.on.before(action, given, work.seen):
        ahead = await ctx.ecp.invoke(f"{work.on.environment}#{one['action']}", one["arguments"])
        if _is_lost(ahead):
            return ahead
    return await ctx.ecp.invoke(f"{work.on.environment}#{action}", given)


def _is_lost(response: Response) -> bool:
    return response.error is not None and response.error["code"] == StateLost.__name__


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:MOST_RESULT]


async def _recorded(ctx: Context, task: Task, work: Work, final: dict[str, Any]) -> Result:
    """Store the log, the film and the report of the call, and return the result."""
    name = work.on.environment
    folder = f"{name}/{work.id}"
    await ctx.ecp.invoke("workspace#write", {"name": f"{folder}/log.md", "text": "\n\n".join(work.log) + "\n"})
    records = [f"{folder}/log.md"]
    if work.pictures:
        filmed = await ctx.ecp.invoke(f"{name}#film", {"pictures": work.pictures, "name": f"{folder}/steps.gif"})
        records += [f"{folder}/steps.gif"] if filmed.ok else []
    success = bool(final.get("success", False))
    answer = _answer(work, final)
    ok = success and bool(answer)
    report = await _reported(ctx, task, work, answer, records)
    if ok:
        gaps = (*([_TOO_EARLY] if work.early else ()), *_concluded(task, work, answer))
        return Result(answer=answer, report=report, evidence=_evidence(work), gaps=gaps)
    reason = final.get("reason") or f"The task was not done in {work.asked} steps."
    return Result(ok=False, answer=answer or None, reason=reason, report=report, evidence=_evidence(work))


def _answer(work: Work, final: dict[str, Any]) -> str:
    """Return the answer of an ending: its words, else the texts extracted if it is a success."""
    found = work.extracted if final.get("success") else ()
    return str(final.get("answer") or "").strip() or "\n\n".join(found)


def _evidence(work: Work) -> tuple[Evidence, ...]:
    """Return the pages looked at, each with the extracted words found there, and the files."""
    quotes: dict[str, list[str]] = {}
    for words in work.extracted:
        for page in _holding(work, words)[-1:]:
            quotes.setdefault(page, []).append(words)
    pages = [
        Evidence(source=page, detail=title, quote=quote)
        for page, title in work.pages.items()
        for quote in quotes.get(page, [""])
    ]
    return (*pages, *(Evidence(source=name, detail=about) for name, about in work.files.items()))


def _holding(work: Work, words: str) -> list[str]:
    """Return the pages holding some words; a line found as it is on some pages counts on no others."""
    texts = {page: "\n".join(work.read.get(page, ())) for page in work.pages}
    holding = [page for page, text in texts.items() if holds(words, text)]
    if holding:
        return holding
    holding = list(texts)
    for line in filter(str.strip, words.splitlines()):
        exact = [page for page, text in texts.items() if holds(line, text)]
        holding = [page for page in holding if (page in exact if exact else stands_in(line, texts[page]))]
    return holding


def _concluded(task: Task, work: Work, answer: str) -> tuple[str, ...]:
    """Return a gap naming the numbers of the answer that were neither read nor given; else none."""
    unread = _unread(task, work, answer)
    return (_WORKED_OUT.format(", ".join(unread[:MOST_NAMED])),) if unread else ()


def _unread(task: Task, work: Work, answer: str) -> list[str]:
    """Return the numbers of an answer neither read nor given; the whole answer if they cannot be told apart."""
    seen = work.extracted if work.sees else ()
    stands = standing_in("\n".join([task.text, *seen, *(one for texts in work.read.values() for one in texts)]))
    if stands(answer):
        return []
    return list(dict.fromkeys(one for one in _NUMBERS.findall(answer) if not stands(one))) or [answer]


async def _reported(ctx: Context, task: Task, work: Work, answer: str, records: list[str]) -> str | None:
    name = work.on.environment
    report = f"{name}-{work.id}"
    listed = "\n".join(f"- [{one.rpartition('/')[2]}]({one.rpartition('/')[2]})" for one in records)
    text = f"## Task\n\n{task.text}\n\n## Result\n\n{answer or 'There is none.'}\n\n## Records\n\n{listed}"
    added = await ctx.ecp.invoke("report#add", {"text": text, "report": report})
    wanted = {"title": work.on.title, "report": report, "name": f"{name}/{work.id}/report"}
    written = await ctx.ecp.invoke("report#complete", wanted) if added.ok else added
    return written.unwrap()["files"][0] if written.ok else None


def _log(work: Work, texts: dict[str, str], done: list[dict[str, Any]], results: list[dict[str, Any]]) -> None:
    lines = [f"## Step {len(work.steps)}", *(f"{name}: {words}" for name, words in texts.items() if words)]
    for one, result in zip(done, results, strict=True):
        call = f"{one['action']} {json.dumps(one['arguments'], ensure_ascii=False)}"
        lines.append(f"    {call}\n    {'ok' if result['ok'] else 'failed'}: {result['result'][:500]}")
    work.log.append("\n\n".join(lines))


def _note(
    ctx: Context, work: Work, step: dict[str, Any], done: list[dict[str, Any]], results: list[dict[str, Any]]
) -> None:
    name = work.on.environment
    ctx.note(
        "step",
        {
            "agent": ctx.agent,
            "step": len(work.steps),
            "observation": {},
            "thinking": step.get("thinking", ""),
            "evaluation": step.get("evaluation", ""),
            "memory": step.get("memory", ""),
            "next_goal": step.get("next_goal", ""),
            "calls": [{"name": f"{name}_{one['action']}", "arguments": one["arguments"]} for one in done],
            "results": [_noted(name, one, result) for one, result in zip(done, results, strict=True)],
        },
    )


def _noted(environment: str, one: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """Return an action with its outcome, in the form of the step's record."""
    gave = shortened(result["result"], MOST_IN_RECORD)
    told = {"value": gave, "error": None} if result["ok"] else {"value": None, "error": {"problem": gave}}
    arguments = shortened(one["arguments"], MOST_IN_RECORD)
    return {"name": f"{environment}_{one['action']}", "arguments": arguments, "ok": result["ok"], **told}
