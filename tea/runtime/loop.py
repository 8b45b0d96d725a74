"""The one loop of every tool-calling agent: perceive, interpret, act, until the task is done.

Source: the paper's Appendix D.1 (the cycle) and H (the step's structured record, `done`, the last step).
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from tea.context import Context
from tea.errors import BadOutput, BadTask, BudgetExceeded, TeaError, ToolError
from tea.managers.json_schema import schema_fault, value_faults
from tea.manifest import MAX_STEPS
from tea.protocols.recipe import LOOP_PROMPT
from tea.runtime.media import shown
from tea.runtime.observation import Outcome, observed, shortened
from tea.runtime.resources import DONE, Resources
from tea.runtime.step import Call, StepRecord, consult, said, step_record
from tea.types import Evidence, JsonObject, Message, Result, Task, changed, data_part, message

REPEATS = 3
_NOTHING: JsonObject = {  # what an agent works with that declares nothing
    "tools": (), "agents": (), "environments": (), "prompt": "", "max_steps": MAX_STEPS, "output": None,
}  # fmt: skip
WINDOW = 6
LAST_STEP = (
    "This is your last step. Call `done` now, alone: with the best answer you have, or with success false and the "
    "reason why there is none."
)
REPEATED = (
    "You have made the same calls with the same results {times} times. They will not change. Take another way, or call "
    "`done` with what you have; the next repetition ends the task."
)


async def work(
    ctx: Context,
    task: Task,
    *,
    prompt: str | None = None,
    tools: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    environments: Sequence[str] | None = None,
    max_steps: int | None = None,
    max_calls: int = 10,
    insights: Sequence[str] = (),
    variables: JsonObject | None = None,
) -> Result:
    """Work on a task step by step, until `done` is called or a limit is reached.

    In each step a model, asked through `prompt`, gives a structured record with the calls it wants; what they give is
    what it sees in the next step. Calls that fail are observations to replan from, never exceptions.

    Args:
        ctx: What the agent may reach.
        task: What it was asked to do.
        prompt: Name of its prompt; the output must be a step record. This and the four that follow are by default what
            the agent declares.
        tools: Names of its tools; the task's own list replaces them, `done` is always there.
        agents: Names of the agents it may delegate to, each called by its name.
        environments: Names of its environments; an action is called `<environment>_<action>`.
        max_steps: Most steps; in the last one only `done` makes sense, and the model is told.
        max_calls: Most calls in one step.
        insights: What is known already and worth remembering, beside what the memory gives.
        variables: Further variables for the prompt.

    Raises:
        UnknownComponent: Something it declares is not registered.
        BadComponent: Two things it may call have the same name.
        BadTask: The schema of the wanted answer cannot be used.
        Abstained: No model is configured, and the prompt's solver cannot tell.
        ProviderError: The model cannot be reached.
    """
    own = {**_NOTHING, **ctx.declared}
    if task.answer is None and own["output"] is not None:
        task = changed(task, answer=own["output"])
    if task.answer is not None and (fault := schema_fault(task.answer)):
        raise BadTask(f"The schema of the wanted answer cannot be used: {fault}.", fix="correct `answer`.")
    given = {"tools": tools, "agents": agents, "environments": environments}
    chosen = {key: own[key] if names is None else names for key, names in given.items()}
    resources = await Resources.gather(ctx, task, **chosen)
    most = own["max_steps"] if max_steps is None else max_steps
    loop = _Loop(ctx, task, resources, prompt or own["prompt"] or LOOP_PROMPT, most, max_calls)
    try:
        await loop.prepare(insights, variables or {})
        result = await loop.run()
    except BudgetExceeded as error:
        result = loop.best(error.problem, exhausted=True)
    await loop.remember(result)
    return result


@dataclass(slots=True)
class _Loop:
    """One task being worked on."""

    ctx: Context
    task: Task
    resources: Resources
    prompt: str
    max_steps: int
    max_calls: int
    variables: dict[str, Any] = field(default_factory=dict[str, Any])
    history: tuple[Message, ...] = ()
    seen: dict[str, Any] = field(default_factory=dict[str, Any])
    recent: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])
    warned: bool = False
    limited: bool = True
    left: dict[str, Any] = field(default_factory=dict[str, Any])
    last: bool = False
    answer: Any = ""
    evidence: tuple[Evidence, ...] = ()
    report: str | None = None

    async def prepare(self, insights: Sequence[str], variables: JsonObject) -> None:
        """Perceive what stays: the task, what may be called, what is remembered, the plan so far."""
        memory = self.ctx.memory
        remembered = [await memory.summarise(), *await memory.insights(), *insights]
        self.variables = {
            "task": self.task.text,
            "files": list(self.task.files),
            "memories": [text for text in remembered if text],
            "todo": await self._todo(),
            "max_steps": self.max_steps,
            "max_calls": self.max_calls,
            "locale": self.ctx.locale,
            **({"answer": self.task.answer} if self.task.answer is not None else {}),
            **self.resources.words(),
            **variables,
        }
        self.history = await shown(self.ctx, self.task.files)
        states = {place["name"]: place["state"] for place in self.variables["environments"]}
        self.seen = {"task": self.task.text, "files": list(self.task.files), "state": states}

    async def run(self) -> Result:
        """Go step by step to the result."""
        for step in range(1, self.max_steps + 1):
            left = await self._steps_left(step)
            if left <= 0:
                break
            if left == 1 and not self.last:
                self.last = True
                self._tell(LAST_STEP)
            try:
                record = await consult(self.ctx, self.prompt, self.variables, step_record, self.history)
            except BadOutput as error:
                return self.best(f"The model's answers could not be used: {error.problem}")
            result = await self._step(step, record)
            del record  # while the model is asked again, it would only be in the garbage collector's way
            if result is not None:
                return result
        return self.best("The step budget ended before the task was done.", exhausted=True)

    async def _step(self, step: int, record: StepRecord) -> Result | None:
        """Act, remember, and tell whether that was the end."""
        outcomes = await self._act(record.calls)
        result = self._finished(outcomes)
        observation = observed(step, outcomes)
        if result is None and not all(self.resources.reads(call.name) for call in record.calls):
            observation |= {"state": state} if (state := await self.resources.observe()) else {}
        stuck = result is None and self._repeats(observation["calls"])
        await self._keep(record, observation)
        if stuck and self.warned:
            return self.best(f"The same calls gave the same results {REPEATS + 1} times, and nothing else was tried.")
        if stuck:
            self.warned = True
            self._tell(REPEATED.format(times=REPEATS))
        return result

    async def _act(self, calls: Sequence[Call]) -> list[Outcome]:
        """Make the calls in order; neighbours that only read run side by side."""
        outcomes: list[Outcome] = []
        position = 0
        while position < len(calls):
            end = position + 1
            while end < len(calls) and self._side_by_side(calls[position : end + 1]):
                end += 1
            batch = [self._call(calls, index, outcomes) for index in range(position, end)]
            outcomes += [await batch[0]] if len(batch) == 1 else await _together(self.ctx, batch)
            position = end
        return outcomes

    def _side_by_side(self, calls: Sequence[Call]) -> bool:
        return all(call.name != DONE and self.resources.reads(call.name) for call in calls)

    async def _call(self, calls: Sequence[Call], index: int, before: Sequence[Outcome]) -> Outcome:
        call = calls[index]
        if index >= self.max_calls:
            error = ToolError(f"Only {self.max_calls} calls are made in one step.", fix="make it in the next step.")
            return Outcome.refused(call.name, call.arguments, error)
        if call.name != DONE:
            return await self.resources.call(call.name, call.arguments)
        if index + 1 < len(calls):
            error = ToolError("`done` stands before other calls.", fix="call it alone, or as the last of a step.")
            return Outcome.refused(call.name, call.arguments, error)
        outcome = await self.resources.call(call.name, call.arguments)
        return self._checked(outcome, before) if outcome.ok else outcome

    def _checked(self, outcome: Outcome, before: Sequence[Outcome]) -> Outcome:
        """Refuse an end that does not hold: an answer of the wrong form, or after a call that failed."""
        value = outcome.value
        self.answer = value["answer"]
        self.evidence = _evidence(value) or self.evidence
        self._so_far()
        if not value["success"]:
            return outcome
        if failed := [one.name for one in before if not one.ok]:
            error = ToolError(f"{failed[0]!r} failed in this step.", fix="look at its error before you call done.")
            return Outcome.refused(outcome.name, outcome.arguments, error)
        if self.task.answer is not None and (faults := value_faults(self.task.answer, value["answer"])):
            fix = "give `answer` in the form that the task states."
            return Outcome.refused(
                outcome.name, outcome.arguments, ToolError(f"The answer does not fit: {'; '.join(faults)}.", fix=fix)
            )
        return outcome

    def _finished(self, outcomes: Sequence[Outcome]) -> Result | None:
        """Gather what agents gave, and return the result if `done` counted."""
        for outcome in outcomes:
            result = self.resources.delegated(outcome)
            if result is not None:
                self.report = result.report or self.report
            if result is not None and result.ok and result.answer != "" and result.report is None:
                self.answer, self.evidence = result.answer, result.evidence or self.evidence
                self._so_far()
        last = outcomes[-1]
        if last.name != DONE or not last.ok:
            return None
        value = last.value
        return Result(
            answer=value["answer"],
            ok=value["success"],
            reason=value["reason"],
            evidence=_evidence(value) or self.evidence,
            report=value["report"] or self.report,
        )

    def _repeats(self, calls: list[dict[str, Any]]) -> bool:
        """Tell whether the same calls gave the same results too often, in a row or taking turns."""
        self.recent = [*self.recent, calls][-WINDOW:]
        return self.recent.count(calls) >= REPEATS

    async def _keep(self, record: StepRecord, observation: dict[str, Any]) -> None:
        """Put the step into the conversation, the journal and the memory."""
        spoken = record.model_dump(mode="json")
        self.history = (
            *self.history,
            message("assistant", (*record.reasoning, data_part(spoken))),
            message("user", (data_part(observation),)),
        )
        calls, step = observation["calls"], observation["step"]
        self.ctx.note(
            "step", {**spoken, "agent": self.ctx.agent, "step": step, "observation": self.seen, "results": calls}
        )
        self.seen = {"state": observation["state"]} if "state" in observation else {}
        words = {key: spoken[key] for key in ("evaluation", "memory", "next_goal")}
        made = [{"name": call["name"], "ok": call["ok"]} for call in calls]
        await self.ctx.memory.record("step", {**words, "agent": self.ctx.agent, "step": step, "calls": made})

    async def remember(self, result: Result) -> None:
        """Put the end into the memory, and where the task failed, what that teaches."""
        facts = {"agent": self.ctx.agent, "task": self.task.text, "ok": result.ok, "reason": result.reason}
        await self.ctx.memory.record("result", {**facts, "answer": result.answer})
        if not result.ok:
            text = f"{self.ctx.agent} could not do {shortened(self.task.text, 200)!r}: {result.reason}"
            await self.ctx.memory.record("insight", {"text": text})

    def best(self, reason: str, *, exhausted: bool = False) -> Result:
        """Return the best answer so far, honestly marked as unfinished."""
        return Result(
            answer=self.answer,
            ok=False,
            reason=reason,
            evidence=self.evidence,
            report=self.report,
            exhausted=exhausted,
        )

    async def _steps_left(self, step: int) -> int:
        """Return how many steps may still be made, with this one."""
        own = self.max_steps - step + 1
        if not self.limited:
            return own
        remaining = await self.ctx.remaining()
        now = {name: value for name, value in remaining.items() if value is not None}
        before, self.left, self.limited = self.left, now, bool(now)
        own = min(own, int(now.get("steps", own)))
        for name in now.keys() - {"steps"}:  # what the last step cost tells how many more there will be
            if (cost := before.get(name, now[name]) - now[name]) > 0:
                own = min(own, max(1, int(now[name] / cost)))
        return own

    def _so_far(self) -> None:
        if self.answer not in ("", None):
            self.ctx.so_far(Result(answer=self.answer, evidence=self.evidence, report=self.report))

    async def _todo(self) -> str:
        if "todo" not in self.resources:
            return ""
        outcome = await self.resources.call("todo", {"action": "list"})
        items: list[dict[str, Any]] = outcome.value["items"] if outcome.ok else []
        return "\n".join(f"{item['id']}. {item['text']} ({item['state']})" for item in items)

    def _tell(self, text: str) -> None:
        self.history = (*self.history, said(text))
        self.seen = {**self.seen, "told": text}


async def _together(ctx: Context, work: Sequence[Coroutine[Any, Any, Outcome]]) -> list[Outcome]:
    """Run calls side by side; of several that end the task by an error, the first in order counts."""

    async def guarded(one: Coroutine[Any, Any, Outcome]) -> Outcome | TeaError:
        try:
            return await one
        except TeaError as error:
            return error

    async with ctx.group() as group:
        handles = [group.spawn(guarded(one)) for one in work]
    found: list[Outcome] = []
    for handle in handles:
        outcome = handle.result()
        if isinstance(outcome, TeaError):
            raise outcome
        found.append(outcome)
    return found


def _evidence(value: JsonObject) -> tuple[Evidence, ...]:
    return tuple(Evidence.model_validate(source) for source in value["evidence"])
