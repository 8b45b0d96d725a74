"""The agent generator: an agent or a workflow drafted from words, tried on tests made from them, and registered."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tea import Agent, Context, Result, Task, consult, follow, heads, work

ROUNDS = 3
MOST_LISTED = 12
MOST_PLACES = 3  # for a workflow, which is told each action of each
OWN = ("done", "todo")  # of the loop, whatever the task
TRIAL_STEPS = 12
MOST_WRITTEN, MOST_OF_FILE, MOST_LOOKED_AT = 3, 1_500, 40
WORKFLOW = "A workflow of fixed steps: "

TEXT: dict[str, Any] = {"type": "string", "maxLength": 4_000}
WHY: dict[str, Any] = {**TEXT, "default": ""}
NAMES: dict[str, Any] = {"type": "array", "items": {"type": "string", "maxLength": 80}, "maxItems": 12, "default": []}
STEP: dict[str, Any] = {
    "type": "object",
    "properties": {"name": TEXT, "use": TEXT, "arguments": {"type": "object"}},
    "required": ["name", "use", "arguments"],
}
NAMED: dict[str, Any] = {"name": {"type": "string", "pattern": "^[a-z][a-z0-9_]{2,47}$"}, "description": TEXT}
AGENT: dict[str, Any] = {
    **NAMED,
    "instructions": {"type": "string", "maxLength": 10_000},
    "tools": NAMES,
    "agents": NAMES,
    "environments": NAMES,
}
FLOW: dict[str, Any] = {**NAMED, "steps": {"type": "array", "items": STEP, "minItems": 1, "maxItems": 12}}
TEST: dict[str, Any] = {"type": "object", "properties": {"task": TEXT, "wanted": TEXT}, "required": ["task", "wanted"]}
TESTS: dict[str, Any] = {"tests": {"type": "array", "items": TEST, "minItems": 2, "maxItems": 4}}
VERDICT: dict[str, Any] = {"right": {"type": "boolean"}, "why": WHY}


class AgentGenerator(Agent):
    """Draft an agent or a workflow from words, try it, and register it, for a person to read and trust."""

    role = "Agent maker"
    competencies = ("declare an agent with the tools it needs", "lay out a workflow of fixed steps")
    objectives = ("what passes tests made from the words", "no more tools than needed")
    metadata: ClassVar[Mapping[str, Any]] = {"category": "bookkeeping", "when": "Only for `tea new`."}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Write tests, draft, try, judge; mend failures, in at most three rounds."""
        flow = task.text.startswith(WORKFLOW)
        words = task.text.removeprefix(WORKFLOW)
        files = [one.text for one in await heads(ctx, task)]
        wish: dict[str, Any] = {"words": words, "files": files}
        tests = await _tests(ctx, wish)
        known: dict[str, Any] = {**wish, "flow": flow, "parts": await _parts(ctx, words, flow=flow)}
        trouble, last = "", dict[str, Any]()
        for _ in range(ROUNDS):
            last = await _ask(ctx, "draft", FLOW if flow else AGENT, **known, trouble=trouble, last=_text(last))
            last = _with_prefixes(last, [one["use"] for one in known["parts"]])
            trouble = await _fault(ctx, task, last, tests, wish)
            _note(ctx, "try", trouble or "It passed its tests.", not trouble)
            if not trouble:
                made = await ctx.acp.adopt(last, tests, words)
                return Result(answer=f"{made['ref']} was made and passed {len(tests)} tests; nobody trusts it yet.")
        return Result(ok=False, reason=f"No draft passed its tests in {ROUNDS} rounds: {trouble}")


async def _ask(ctx: Context, stage: str, members: dict[str, Any], **variables: Any) -> dict[str, Any]:
    output: dict[str, Any] = {"type": "object", "properties": members, "required": list(members)}
    given = {"stage": stage, **variables}
    return await consult(ctx, "agent_generator", given, lambda response: response.output, output=output)


async def _parts(ctx: Context, words: str, *, flow: bool) -> list[dict[str, Any]]:
    """Return the best components for the words: tools, agents and environments, for a workflow the actions of these."""
    found: list[dict[str, Any]] = []
    places = MOST_PLACES if flow else MOST_LISTED
    for kind, port, most in (
        ("tool", ctx.tcp, MOST_LISTED),
        ("agent", ctx.acp, MOST_LISTED),
        ("environment", ctx.ecp, places),
    ):
        near = await port.retrieve(words, most, among=["*"], besides=[ctx.agent, *OWN])
        for one in await port.facts([str(one["name"]) for one in near]):
            about, operations = one["description"], one["operations"]
            if kind == "environment" and flow:
                found += [
                    _part(f"{kind}:{one['name']}#{action['name']}", action["description"], action)
                    for action in operations
                ]
                continue
            if kind == "environment":
                about = f"{about} Its actions: {', '.join(action['name'] for action in operations)}."
            found.append(_part(f"{kind}:{one['name']}", about, operations[0] if kind == "tool" else None))
    return found


def _part(use: str, about: str, operation: Mapping[str, Any] | None) -> dict[str, Any]:
    schema: Any = operation["parameters"].get("properties") if operation else None
    return {"use": use, "description": about, "parameters": json.dumps(schema or {}, ensure_ascii=False)[:600]}


def _with_prefixes(draft: dict[str, Any], parts: Sequence[str]) -> dict[str, Any]:
    """Return a draft with the prefixes of kinds in its steps alone; a missing one is added if one part alone fits.

    Models write `reporter` for `agent:reporter`, and `tool:calculator` among tools; an action such as `shell_python`
    among them stands for its environment.
    """
    found = dict(draft)
    for number, step in enumerate(steps := list(found.get("steps", ()))):
        if len(meant := [one for one in parts if step["use"] in _names_of(one)]) == 1:
            steps[number] = {**step, "use": meant[0]}
    if steps:
        found["steps"] = steps
    for kind in ("tool", "agent", "environment"):
        if f"{kind}s" in found:
            found[f"{kind}s"] = [one.removeprefix(f"{kind}:") for one in found[f"{kind}s"]]
    for tool in [one for one in found.get("tools", ()) if f"tool:{one}" not in parts]:
        kind, _, name = next((part for part in parts if tool.startswith(_action_prefix(part))), "").partition(":")
        if kind:
            found["tools"] = [one for one in found["tools"] if one != tool]
            found["environments"] = list(dict.fromkeys([*found["environments"], name]))
    return found


def _names_of(part: str) -> tuple[str, ...]:
    """Return the names given to a part by models in place of its own."""
    kind, _, name = part.partition(":")
    return (name, name.replace("#", "_"), f"tool:{name.replace('#', '_')}") if kind == "environment" else (name,)


def _action_prefix(part: str) -> tuple[str, ...]:
    """Return the beginnings of the names of an environment's actions; none for another part."""
    kind, _, name = part.partition(":")
    return (f"{name}_", f"{name}.", f"{name}#") if kind == "environment" else ()


async def _tests(ctx: Context, wish: dict[str, Any]) -> list[dict[str, Any]]:
    """Return tests made from the words and the files; answers all alike test nothing, and are asked for again."""
    trouble, tests = "", list[dict[str, Any]]()
    for _ in range(ROUNDS):
        tests = (await _ask(ctx, "test", TESTS, **wish, trouble=trouble))["tests"]
        if len({one["wanted"].strip().casefold() for one in tests}) > 1:
            return tests
        trouble = "the wanted answers are all the same, so an agent that always gives it would pass"
    return tests


async def _fault(
    ctx: Context, task: Task, draft: dict[str, Any], tests: list[dict[str, Any]], wish: dict[str, Any]
) -> str:
    """Return the fault of a draft: it cannot be registered, or fails a test; empty for none."""
    checked = await ctx.acp.adopt(draft, tests, wish["words"], check=True)
    if not checked["ok"]:
        return str(checked["trouble"])
    for test in tests:
        before = await _texts(ctx, task)
        result = await _tried(ctx, task, draft, test["task"])
        if not result.ok:
            return f"on {test['task']!r} it failed: {result.reason}"
        answer = json.dumps(result.answer, ensure_ascii=False)[:4_000]
        texts = (await _texts(ctx, task)).items()
        written = [{"name": name, "text": text} for name, text in texts if name in answer or before.get(name) != text]
        written = written[:MOST_WRITTEN]
        verdict = await _ask(ctx, "judge", VERDICT, **wish, test=test, answer=answer, written=written)
        if not verdict["right"]:
            return f"on {test['task']!r} it answered {answer[:300]}: {verdict['why']}"
    return ""


async def _tried(ctx: Context, task: Task, draft: dict[str, Any], text: str) -> Result:
    """Return the result of a draft on a test, worked out in this run as the agent itself would."""
    if draft.get("steps"):
        return await follow(ctx, Task(text=text, files=task.files), draft["steps"])
    return await work(
        ctx,
        Task(text=text, files=task.files),
        prompt="agent_trial",
        variables={"instructions": draft["instructions"]},
        tools=draft["tools"],
        agents=draft["agents"],
        environments=draft["environments"],
        max_steps=TRIAL_STEPS,
    )


async def _texts(ctx: Context, task: Task) -> dict[str, str]:
    """Return the beginnings of the text files beside those of a task, by name."""
    listed = await ctx.ecp.invoke("workspace#list_files", {"limit": MOST_LOOKED_AT})
    found: list[Any] = listed.value["files"] if listed.ok else []
    names = [str(one["name"]) for one in found if one["name"] not in task.files]
    texts: dict[str, str] = {}
    for name in names:
        page = await ctx.ecp.invoke("workspace#read", {"name": name, "limit": MOST_OF_FILE})
        if page.ok:
            texts[name] = f"{page.value['text']}{' [...]' if page.value['left'] else ''}"
    return texts


def _text(draft: dict[str, Any]) -> str:
    return json.dumps(draft, ensure_ascii=False) if draft else ""


def _note(ctx: Context, stage: str, words: str, ok: bool) -> None:
    record: dict[str, Any] = {"agent": ctx.agent, "step": 0, "observation": {}, "thinking": words, "evaluation": ""}
    calls: dict[str, Any] = {"calls": [{"name": stage, "arguments": {}}], "results": [{"name": stage, "ok": ok}]}
    ctx.note("step", {**record, "memory": "", "next_goal": "", **calls})
