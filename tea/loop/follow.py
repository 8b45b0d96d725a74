"""Follow: the fixed steps of a workflow, each a call of a component with the results of earlier steps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from tea.components.context import Context
from tea.errors import BadTask
from tea.loop.checks import joined
from tea.types import AgentResponse, Evidence, Fact, JsonObject, JsonValue, Response, Result, Task, as_text

MOST_STEPS = 20
_PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_USE = re.compile(rf"(?:tool|agent):{_NAME.pattern}|environment:{_NAME.pattern}#{_NAME.pattern}")
_NAME_RULE = "a small letter followed by small letters, digits and `_`, without blanks"
_GIVEN = ("task", "files")


async def follow(ctx: Context, task: Task, steps: Sequence[Mapping[str, Any]]) -> Result:
    """Carry out steps in their order, and return the last result with the evidence of all; the first failure ends them.

    Of a tool that is given files of the task or addresses, these are the evidence. Gaps and a report are kept, too.

    Args:
        ctx: What the workflow may reach.
        task: What it was asked to do.
        steps: Of each its `name`, what to `use` (`tool:NAME`, `agent:NAME` or `environment:NAME#ACTION`), and its
            `arguments`, for an agent `task` in words. In texts `{task}`, `{files}` and the name of an earlier step in
            braces stand for what they gave; a text that is nothing else becomes the value itself. An agent gets answers
            with their sources, which are its facts, too.

    Raises:
        BadTask: They are not steps.
    """
    if fault := steps_fault(steps):
        raise BadTask(f"The steps of the workflow cannot be used: {fault}.", fix="correct its steps.")
    found: dict[str, JsonValue] = {"task": task.text, "files": list(task.files)}
    told, facts, so_far = {**found}, list[Fact](), Result(answer=None)
    for step in steps:
        kind, _, name = str(step["use"]).partition(":")
        arguments = cast(JsonObject, filled(step["arguments"], told if kind == "agent" else found))
        if kind == "agent":
            given = Task(text=str(arguments["task"]), files=task.files, facts=tuple(facts))
            one = _result_of(await ctx.acp.invoke(name, given))
        else:
            port = ctx.tcp if kind == "tool" else ctx.ecp
            one = _result_of(await port.invoke(name, arguments), tuple(_sources(arguments, task, name)))
        so_far = _after(so_far, one)
        if not one.ok:
            reason = f"The step {step['name']!r} failed: {one.reason or 'it did not succeed'}"
            return so_far.model_copy(update={"ok": False, "answer": None, "reason": reason})
        found[str(step["name"])] = one.answer
        told[str(step["name"])] = _with_sources(one.answer, one.evidence) if kind == "agent" else one.answer
        if kind == "agent":
            facts += [Fact(fact=as_text(one.answer), source=place.source, quote=place.quote) for place in one.evidence]
    return so_far


def _result_of(response: Response, evidence: tuple[Evidence, ...] = ()) -> Result:
    """Return the result of a step with its evidence."""
    if not response.ok:
        return Result(ok=False, reason=str(response.error["problem"]) if response.error else "")
    return response.result if isinstance(response, AgentResponse) else Result(answer=response.value, evidence=evidence)


def _after(before: Result, result: Result) -> Result:
    """Return a step's result with the sources and remains of the steps before it."""
    return Result(
        answer=result.answer,
        evidence=joined(before.evidence, result.evidence),
        report=result.report or before.report,
        exhausted=before.exhausted or result.exhausted,
        gaps=tuple(dict.fromkeys((*before.gaps, *result.gaps))),
        partial=before.partial or result.partial,
    )


def _sources(arguments: JsonValue, task: Task, tool: str) -> Iterator[Evidence]:
    """Yield the files of a task and the addresses among the arguments of a tool."""
    if isinstance(arguments, Mapping):
        arguments = list(cast("Mapping[str, Any]", arguments).values())
    if isinstance(arguments, list | tuple):
        for one in cast("Sequence[Any]", arguments):
            yield from _sources(one, task, tool)
    elif isinstance(arguments, str) and (arguments in task.files or arguments.startswith(("https://", "http://"))):
        yield Evidence(source=arguments, detail=f"read by {tool}")


def steps_fault(steps: object) -> str:
    """Return the faults of a value as a sequence of steps, in one line; empty for a good one."""
    listed = list(cast("Sequence[object]", steps)) if isinstance(steps, list | tuple) else []
    if not 0 < len(listed) <= MOST_STEPS:
        return f"1 to {MOST_STEPS} steps are needed"
    known: list[str] = [*_GIVEN]
    return "; ".join(fault for number, one in enumerate(listed, 1) for fault in _step_faults(number, one, known))


def _step_faults(number: int, one: object, known: list[str]) -> Iterator[str]:
    """Yield the faults of one step, and add its name to those known."""
    step = cast("Mapping[str, Any]", one) if isinstance(one, Mapping) else dict[str, Any]()
    name, arguments = step.get("name"), step.get("arguments")
    if set(step) != {"name", "use", "arguments"} or not isinstance(arguments, Mapping):
        yield f"step {number} needs exactly `name`, `use` and `arguments`"
        return
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"the name of step {number}, {str(name)[:60]!r}, is not {_NAME_RULE}"
    elif name in known:
        yield f"the name of step {number}, {name!r}, is taken: give it another one"
    use = str(step["use"])
    if not _USE.fullmatch(use):
        forms = "none of tool:NAME, agent:NAME and environment:NAME#ACTION"
        yield f"step {number} uses {use[:60]!r}, which is {forms}"
    if use.startswith("agent:") and not isinstance(cast("Mapping[str, Any]", arguments).get("task"), str):
        yield f"step {number} gives its agent no `task`"
    places = _PLACE.findall(json.dumps(arguments, ensure_ascii=False, default=str))
    if unknown := next((one for one in places if one not in known), None):
        yield f"step {number} names {{{unknown}}}, which is not a step before it"
    known.append(str(name))


def filled(value: Any, found: Mapping[str, JsonValue]) -> JsonValue:
    """Return a value with the places in its texts filled.

    Args:
        value: JSON data.
        found: What the names in braces stand for.
    """
    if isinstance(value, Mapping):
        return {str(key): filled(one, found) for key, one in cast("Mapping[object, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [filled(one, found) for one in cast("Sequence[Any]", value)]
    if not isinstance(value, str):
        return value
    if (whole := _PLACE.fullmatch(value)) and whole[1] in found:
        return found[whole[1]]
    return _PLACE.sub(lambda one: as_text(found[one[1]]) if one[1] in found else one[0], value)


def _with_sources(value: JsonValue, evidence: Sequence[Evidence]) -> JsonValue:
    """Return an answer in words with its sources behind it; the value itself without any."""
    places = dict.fromkeys(", ".join(filter(None, [one.source, one.detail, one.doubt])) for one in evidence)
    return f"{as_text(value)}\n(Sources: {'; '.join(places)})" if places else value
