"""The browser agent: works on a web site step by step, by elements or by pixels, and keeps a record of each step.

Source: the paper, Appendix D.5: prepare, generate, execute, evaluate, record; the result is what was extracted, else
the final words, else what the last step gave.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tea import Agent, Context, Message, Result, Task, TeaError, consult

BY_ELEMENTS, BY_PIXELS = 5, 50
MOST_ACTIONS = 8
MOST_STATE = 24_000
MOST_RESULT = 12_000
MOST_REMEMBERED = 20
SAME_FAILURES = 3
PIXELS = ("click_at", "drag")


@dataclass(slots=True, kw_only=True)
class Work:
    """The work on one task.

    Args:
        id: Id of the call, in the names of all that is kept of it.
        steps: What was done in each step.
        pictures: Names of the pictures, in order.
        extracted: What was read that belongs to the answer.
        log: The conversation in Markdown.
        pixels: Whether it works by pixels.
        failures: Failed steps in a row.
    """

    id: str
    steps: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    pictures: list[str] = field(default_factory=list[str])
    extracted: list[str] = field(default_factory=list[str])
    log: list[str] = field(default_factory=list[str])
    pixels: bool = False
    failures: int = 0

    @property
    def most(self) -> int:
        """Most steps."""
        return BY_PIXELS if self.pixels else BY_ELEMENTS


class BrowserUse(Agent):
    """Do on web sites what a task asks: find, read, fill in, choose, download; for pages that need a browser."""

    name = "browser"
    role = "Browser operator"
    competencies = (
        "use a web site as a person does: navigate, click, type, choose, upload, download",
        "read pages that a plain fetch does not show, as those made by scripts or behind forms",
        "work by pixels where a page has no elements to name",
    )
    objectives = ("do what was asked and no more", "tell only what pages really showed", "few steps")
    relations = {"planner": "hierarchical"}
    environments = ("browser", "workspace#write", "report")
    metadata: ClassVar[Mapping[str, Any]] = {"takes": "web", "needs": "sandbox"}
    max_steps = BY_PIXELS

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work in at most 5 steps by elements, or 50 by pixels; each step is up to eight actions."""
        work = Work(id=await ctx.new_id())
        senses = (await ctx.model()).get("senses", [])
        final: dict[str, Any] = {}
        while not final and len(work.steps) < work.most and work.failures < SAME_FAILURES:
            state = await _observed(ctx, work)
            step = await _generated(ctx, task, work, state, sees="vision" in senses)
            final = await _executed(ctx, work, step)
        return await _recorded(ctx, task, work, final)


async def _observed(ctx: Context, work: Work) -> dict[str, Any]:
    """Return the state of the browser, and keep the name of its picture; a page that is lost is told as a step."""
    response = await ctx.ecp.state("browser")
    if not response.ok and response.error is not None:
        result = {"action": "state", "ok": False, "result": f"{response.error['problem']} {response.error['fix']}"}
        work.steps.append({"evaluation": "", "memory": "", "next_goal": "", "results": [result]})
        response = await ctx.ecp.state("browser")
    state: dict[str, Any] = response.unwrap()
    if state.get("screenshot"):
        work.pictures.append(state["screenshot"])
    return state


async def _generated(ctx: Context, task: Task, work: Work, state: dict[str, Any], *, sees: bool) -> dict[str, Any]:
    """Return the next step: the result of the last one, the facts so far, and the next actions."""
    variables = {
        "task": task.text,
        "files": list(task.files),
        "state": {**state, "elements": state["elements"][:MOST_STATE]},
        "steps": work.steps[-MOST_REMEMBERED:],
        "left": work.most - len(work.steps),
        "sees": sees,
        "locale": ctx.locale,
    }
    history = await _shown(ctx, state) if sees else ()
    return await consult(ctx, "browser", variables, lambda response: response.output, history)


async def _shown(ctx: Context, state: dict[str, Any]) -> tuple[Message, ...]:
    """Return the message with the picture of the page for a model with vision."""
    if not state.get("screenshot"):
        return ()
    (found,) = await ctx.media([state["screenshot"]])
    if found["problem"]:
        return ()
    picture = {"type": "image", "digest": found["digest"], "media_type": found["media_type"]}
    words = {"type": "text", "text": "The page as it looks now; numbers are the indexes of its elements."}
    return (Message.model_validate({"role": "user", "content": [words, picture]}),)


async def _executed(ctx: Context, work: Work, step: dict[str, Any]) -> dict[str, Any]:
    """Do the actions of a step until one fails or changes the page, note it, and return its ending, if it has one."""
    actions: list[dict[str, Any]] = step.get("actions", [])[:MOST_ACTIONS]
    work.pixels = work.pixels or any(one["action"] in PIXELS for one in actions)
    results: list[dict[str, Any]] = []
    for one in actions:
        results.append(await _act(ctx, one))
        if not results[-1]["ok"]:
            break
    if words := step.get("extracted", "").strip():
        work.extracted.append(words)
    work.failures = work.failures + 1 if results and not results[-1]["ok"] else 0
    told = {name: step.get(name, "") for name in ("evaluation", "memory", "next_goal")}
    done = [{"action": one["action"], "arguments": one.get("arguments", {})} for one in actions[: len(results)]]
    work.steps.append({**told, "results": results})
    _log(work, told, done, results)
    _note(ctx, work, step, done, results)
    final: dict[str, Any] = step.get("final") or {}
    return final if not results or results[-1]["ok"] else {}


async def _act(ctx: Context, one: dict[str, Any]) -> dict[str, Any]:
    try:
        response = await ctx.ecp.invoke(f"browser#{one['action']}", one.get("arguments", {}))
    except TeaError as error:
        return {"action": one["action"], "ok": False, "result": f"{error.problem} {error.fix}"}
    words = response.value if response.ok else response.error
    return {"action": one["action"], "ok": response.ok, "result": json.dumps(words, ensure_ascii=False)[:MOST_RESULT]}


async def _recorded(ctx: Context, task: Task, work: Work, final: dict[str, Any]) -> Result:
    """Keep the log, the film and the report of the call, and return the result."""
    folder = f"browser/{work.id}"
    await ctx.ecp.invoke("workspace#write", {"name": f"{folder}/log.md", "text": "\n\n".join(work.log) + "\n"})
    records = [f"{folder}/log.md"]
    if work.pictures:
        filmed = await ctx.ecp.invoke("browser#film", {"pictures": work.pictures, "name": f"{folder}/steps.gif"})
        records += [f"{folder}/steps.gif"] if filmed.ok else []
    answer = _answer(work, final)
    ok = bool(final.get("success", False)) and bool(answer)
    report = await _reported(ctx, task, work, answer, records)
    if ok:
        return Result(answer=answer, report=report)
    reason = final.get("reason") or f"The task was not done in {len(work.steps)} steps."
    return Result(ok=False, answer=answer or None, reason=reason, report=report)


def _answer(work: Work, final: dict[str, Any]) -> str:
    """Return the extracted result, else the final words, else the last step's result."""
    last = work.steps[-1]["results"][-1]["result"] if work.steps and work.steps[-1]["results"] else ""
    return "\n\n".join(work.extracted) or str(final.get("answer") or "").strip() or last


async def _reported(ctx: Context, task: Task, work: Work, answer: str, records: list[str]) -> str | None:
    report = f"browser-{work.id}"
    listed = "\n".join(f"- [{name.rpartition('/')[2]}]({name.rpartition('/')[2]})" for name in records)
    text = f"## Task\n\n{task.text}\n\n## Result\n\n{answer or 'There is none.'}\n\n## Records\n\n{listed}"
    added = await ctx.ecp.invoke("report#add", {"text": text, "report": report})
    wanted = {"title": "Work in the browser", "report": report, "name": f"browser/{work.id}/report"}
    written = await ctx.ecp.invoke("report#complete", wanted) if added.ok else added
    return written.unwrap()["files"][0] if written.ok else None


def _log(work: Work, told: dict[str, str], done: list[dict[str, Any]], results: list[dict[str, Any]]) -> None:
    lines = [f"## Step {len(work.steps)}", *(f"{name}: {words}" for name, words in told.items() if words)]
    for one, result in zip(done, results, strict=True):
        call = f"{one['action']} {json.dumps(one['arguments'], ensure_ascii=False)}"
        lines.append(f"    {call}\n    {'ok' if result['ok'] else 'failed'}: {result['result'][:500]}")
    work.log.append("\n\n".join(lines))


def _note(
    ctx: Context, work: Work, step: dict[str, Any], done: list[dict[str, Any]], results: list[dict[str, Any]]
) -> None:
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
            "calls": [{"name": f"browser_{one['action']}", "arguments": one["arguments"]} for one in done],
            "results": [{"name": f"browser_{one['action']}", "ok": one["ok"]} for one in results],
        },
    )
