"""Research: what a conversation's research knows and plans; each write is an action with a number."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NotRequired, TypedDict

from tea import Context, Environment, ToolError, action, open_resolved

from ._research.survey import Survey, survey
from ._research.world import (
    COMPLETED,
    FAILED,
    LIMITS,
    MODES,
    MOST_OUTPUT,
    MOST_SOURCES,
    PENDING,
    Change,
    World,
    added,
    inserted,
    replaced,
)

OPENING = ".research.json"  # what a run is started with, beside its files
MOST_LISTED = 200
UNREADABLE = "No hypothesis could be read in the answers of the model; the one before stands, if there is one."


class PlannedTask(TypedDict):
    """A task to do: `LITERATURE` or `ANALYSIS`, what it is to find out, and the datasets it needs, by name."""

    type: Literal["LITERATURE", "ANALYSIS"]
    objective: str
    datasets: NotRequired[list[str]]


class Source(TypedDict):
    """A source of a task's output; `doubt` says why it could not be confirmed."""

    source: str
    detail: NotRequired[str]
    quote: NotRequired[str]
    doubt: NotRequired[str]


class Evidence(TypedDict):
    """What a task says for a discovery."""

    task: str
    explanation: str


class Discovery(TypedDict):
    """A claim with its evidence; `replaces` is the number, from 1, of the discovery that it revises, else 0."""

    claim: str
    evidence: list[Evidence]
    novelty: str
    confidence: Literal["high", "medium", "low", ""]
    replaces: NotRequired[int]


class Research(Environment):
    """What the research of a conversation knows: objectives, hypothesis, insights, discoveries, plan and replies.

    Only the run at work writes. Nothing that was found is ever lost: tasks and messages are appended.
    """

    name = "research"
    metadata: ClassVar[Mapping[str, Any]] = {"category": "bookkeeping"}
    recovery = "snapshot"
    rules = "The scientist keeps this; other agents look at its state and leave it as it is."

    def __init__(self) -> None:
        self._world = World()

    async def snapshot(self) -> dict[str, Any]:
        """Return the whole world."""
        return self._world.state

    async def restore(self, state: dict[str, Any]) -> None:
        """Take the whole world."""
        self._world.load(state)

    async def state(self, ctx: Context) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return what is known, from what the run was started with where no run has begun here."""
        if self._world.state["number"]:
            return self._world.state
        opening = await asyncio.to_thread(_opening, ctx.path(OPENING))
        world = World()
        world.load(opening.get("state", {}))
        return world.state

    @action(effects="writes", idempotent=True, network=False)
    async def begin(self, ctx: Context, text: str, files: list[str], time: str) -> dict[str, Any]:
        """Begin a run with what it was started with, and return the whole world.

        Args:
            text: What the person says.
            files: Names of the files that are there.
            time: The time, ISO 8601 in UTC.
        """
        opening = await asyncio.to_thread(_opening, ctx.path(OPENING))
        world = World()
        world.load(opening.get("state", {}) if opening or not self._world.state["number"] else self._world.state)
        if world.state["run"] == ctx.run and world.state["messages"]:
            return self._world.state
        state = world.state
        mode = str(opening.get("mode") or state["mode"])
        if mode not in MODES:
            raise ToolError(f"{mode[:40]!r} is not a mode.", fix=f"use {', '.join(MODES)}.")
        failures: Mapping[str, str] = opening.get("failures", {})
        messages = [
            {**one, "status": FAILED, "error": failures.get(one["id"], "its run did not end")}
            if one["status"] == PENDING
            else one
            for one in state["messages"]
        ]
        # A branch goes on with nothing: what it was copied from is all that it says.
        if not opening.get("branch"):
            messages = added(messages, id=f"{ctx.run}.0", who="person", text=text, status=COMPLETED, time=time)
        datasets = {name: {"name": name, "facts": "", "description": ""} for name in files}
        world.write(
            run=ctx.run,
            mode=mode,
            limits={**LIMITS, **opening.get("limits", {})},
            objective=state["objective"] or text,
            messages=messages,
            datasets={name: one for name, one in datasets.items() if name not in state["datasets"]},
            clarification=opening.get("clarification", {}),
            branch=opening.get("branch", ""),
            finished="",
        )
        self._world = world
        return world.state

    @action(effects="reads", idempotent=True, network=False)
    async def survey(self, ctx: Context, name: str) -> Survey:
        """Return the facts about a dataset, read as a stream: kind, size, lines, columns, and how it begins.

        Args:
            name: A file of the workspace.
        """
        path = await ctx.file(name)
        return await asyncio.to_thread(survey, path, name)

    @action(effects="writes", idempotent=True, network=False)
    async def describe(self, ctx: Context, run: str, datasets: dict[str, dict[str, str]]) -> Change:
        """Describe datasets.

        Args:
            run: The run at work.
            datasets: For each name its `facts`, found by reading, and its `description`, in words.
        """
        self._world.require(run)
        known = {name: one for name, one in datasets.items() if name in self._world.state["datasets"]}
        return self._world.write(datasets=known)

    @action(effects="writes", idempotent=True, network=False)
    async def iterate(self, ctx: Context, run: str, message: str, iteration: int, time: str) -> Change:
        """Begin an iteration, whose reply is pending.

        Args:
            run: The run at work.
            message: Id of its reply.
            iteration: Its number in the run, from 1.
            time: The time, ISO 8601 in UTC.
        """
        self._world.require(run)
        messages = self._world.state["messages"]
        if any(one["id"] == message for one in messages):
            return self._world.same()
        begun = {"id": message, "who": "scientist", "text": "", "status": PENDING, "iteration": iteration, "time": time}
        return self._world.write(messages=added(messages, **begun))

    @action(effects="writes", idempotent=True, network=False)
    async def hear(self, ctx: Context, run: str, texts: list[str], after: int, time: str) -> Change:
        """Add what a person said while the run was at work, before the reply that is pending.

        Args:
            run: The run at work.
            texts: Their words.
            after: How many messages there were before.
            time: The time, ISO 8601 in UTC.
        """
        self._world.require(run)
        messages = self._world.state["messages"]
        if len(messages) > after:
            return self._world.same()
        said = [
            {"id": f"{run}.{len(messages) + place}p", "who": "person", "text": text, "status": COMPLETED, "time": time}
            for place, text in enumerate(texts, 1)
        ]
        return self._world.write(messages=inserted(messages, said))

    @action(effects="writes", idempotent=True, network=False)
    async def plan(self, ctx: Context, run: str, tasks: list[PlannedTask], objective: str, level: int) -> Change:
        """Append tasks at the next level; what was suggested before is cleared.

        Args:
            run: The run at work.
            tasks: What to do, side by side.
            objective: What this iteration is to find out; empty leaves it.
            level: The highest level there was before, -1 for none.
        """
        self._world.require(run)
        return self._planned(tasks, level, objective)

    @action(effects="writes", idempotent=True, network=False)
    async def adopt(self, ctx: Context, run: str, level: int) -> Change:
        """Take over the tasks and the objective that a person approved, once.

        Args:
            run: The run at work.
            level: The highest level there was before, -1 for none.
        """
        self._world.require(run)
        found = self._world.state["clarification"]
        if not found.get("tasks"):
            raise ToolError("No plan was approved.", fix="plan.")
        if found.get("used") and self._world.state["level"] <= level:
            raise ToolError("The approved plan was used already.", fix="plan.")
        refined = found.get("objective", "")
        more: dict[str, Any] = {"clarification": {"used": True}, **({"objective": refined} if refined else {})}
        return self._planned(found["tasks"], level, refined, more)

    @action(effects="writes", idempotent=True, network=False)
    async def promote(self, ctx: Context, run: str, level: int) -> Change:
        """Make the next level of what was suggested, and clear the suggestions.

        Args:
            run: The run at work.
            level: The highest level there was before, -1 for none.
        """
        self._world.require(run)
        return self._planned(self._world.state["suggestions"], level, "")

    @action(effects="writes", idempotent=True, network=False)
    async def start_task(self, ctx: Context, run: str, task: str, time: str) -> Change:
        """Note the start of a task.

        Args:
            run: The run at work.
            task: Its id.
            time: The time, ISO 8601 in UTC.
        """
        self._world.require(run)
        self._world.task(task)
        return self._world.write(plan={task: {"start": time}})

    @action(effects="writes", idempotent=True, network=False)
    async def end_task(
        self,
        ctx: Context,
        run: str,
        task: str,
        time: str,
        output: str,
        error: str = "",
        sources: list[Source] | None = None,
        artifacts: list[str] | None = None,
        job: str = "",
    ) -> Change:
        """Note the end of a task with what it gave.

        Args:
            run: The run at work.
            task: Its id.
            time: The time, ISO 8601 in UTC.
            output: What it found.
            error: Why it found nothing.
            sources: Where its output comes from.
            artifacts: Names of the files that it wrote.
            job: Its id elsewhere.
        """
        self._world.require(run)
        self._world.task(task)
        given = [dict(one) for one in (sources or [])[:MOST_SOURCES]]
        ended = {"end": time, "output": _cut(output), "error": error, "sources": given}
        return self._world.write(plan={task: {**ended, "artifacts": (artifacts or [])[:MOST_LISTED], "job": job}})

    @action(effects="writes", idempotent=True, network=False)
    async def suppose(self, ctx: Context, run: str, hypothesis: str) -> Change:
        """Set the hypothesis, unless it is empty or rests on no task with an output: then the one before stays.

        Args:
            run: The run at work.
            hypothesis: A claim that can be tested; empty where the model's answer could not be read.
        """
        self._world.require(run)
        if not hypothesis:
            return self._world.write(**self._warned([UNREADABLE]))
        kept, lost = self._world.resting([hypothesis])
        warnings = [f"The hypothesis rests on no task with an output: {one[:120]}" for one in lost]
        return self._world.write(**self._warned(warnings), **({"hypothesis": kept[0]} if kept else {}))

    @action(effects="writes", idempotent=True, network=False)
    async def reflect(
        self,
        ctx: Context,
        run: str,
        title: str,
        evolving_objective: str,
        current_objective: str,
        insights: list[str],
        methodology: str,
    ) -> Change:
        """Set the five fields of a reflection.

        Args:
            run: The run at work.
            title: What the conversation is about, in one line.
            evolving_objective: The objective as it is understood by now.
            current_objective: What is to be found out next.
            insights: What is known, one sentence each; one that rests on no task with an output does not count.
            methodology: How it is found out.
        """
        self._world.require(run)
        insights, lost = self._world.resting(insights)
        warnings = [f"An insight rests on no task with an output: {one[:120]}" for one in lost]
        return self._world.write(
            title=title,
            evolving_objective=evolving_objective,
            current_objective=current_objective,
            insights=insights,
            methodology=methodology,
            **self._warned(warnings),
        )

    @action(effects="writes", idempotent=True, network=False)
    async def discover(self, ctx: Context, run: str, discoveries: list[Discovery], level: int) -> Change:
        """Add discoveries, or revise some; evidence that names no task with an output does not count.

        Args:
            run: The run at work.
            discoveries: What is new.
            level: The highest level of the tasks that were considered.
        """
        self._world.require(run)
        held = [dict(one) for one in self._world.state["discoveries"]]
        dropped = list[str]()
        for one in discoveries:
            tasks = self._world.with_outputs([each["task"] for each in one["evidence"]])
            evidence = [each for each in one["evidence"] if each["task"] in tasks]
            if not evidence:
                dropped.append(f"A discovery names no task with an output: {one['claim'][:120]}")
                continue
            jobs = [self._world.task(id)["job"] for id in tasks]
            made = {"claim": one["claim"], "evidence": evidence, "novelty": one["novelty"]}
            made |= {"confidence": one["confidence"], "tasks": tasks, "jobs": [job for job in jobs if job]}
            place = one.get("replaces", 0)
            if 0 < place <= len(held):
                held[place - 1] = made
            elif all(each["claim"] != one["claim"] for each in held):
                held.append(made)
        return self._world.write(discoveries=held, considered=level, **self._warned(dropped))

    @action(effects="writes", idempotent=True, network=False)
    async def suggest(self, ctx: Context, run: str, tasks: list[PlannedTask], objective: str = "") -> Change:
        """Set what may be done next.

        Args:
            run: The run at work.
            tasks: What to do.
            objective: What is to be found out next; empty leaves it, and so does one without tasks.
        """
        self._world.require(run)
        changed = {"current_objective": objective} if objective and tasks else {}
        listed = [
            {"type": one["type"], "objective": one["objective"], "datasets": one.get("datasets", [])} for one in tasks
        ]
        return self._world.write(suggestions=listed, **changed)

    @action(effects="writes", idempotent=True, network=False)
    async def decide(
        self, ctx: Context, run: str, message: str, go_on: bool, trigger: str, reasoning: str, confidence: str, by: str
    ) -> Change:
        """Note whether the research goes on by itself, and why.

        Args:
            run: The run at work.
            message: The iteration.
            go_on: Whether it does.
            trigger: The reason to stop; empty for none.
            reasoning: Why, in words.
            confidence: How certain that is.
            by: `rule`, `model`, `person`, or `error` where nobody could.
        """
        self._world.require(run)
        made = {"message": message, "go_on": go_on, "trigger": trigger, "reasoning": reasoning}
        return self._world.write(decision={**made, "confidence": confidence, "by": by})

    @action(effects="writes", idempotent=True, network=False)
    async def reply(
        self, ctx: Context, run: str, message: str, text: str, final: bool, about: dict[str, Any]
    ) -> Change:
        """Complete the reply of an iteration.

        Args:
            run: The run at work.
            message: Its id.
            text: What it says, in Markdown.
            final: Whether it is the last one of its run.
            about: What else is to be known of it: `next_steps`, `sources`, `decision` and others.
        """
        self._world.require(run)
        self._replied(message)
        changes = {**about, "text": text, "final": final, "status": COMPLETED, "level": self._world.state["level"]}
        return self._world.write(messages=replaced(self._world.state["messages"], message, **changes))

    @action(effects="writes", idempotent=True, network=False)
    async def settle(self, ctx: Context, run: str, message: str, final: bool) -> Change:
        """Flag a reply by what the person decided after it, and note the decision with it.

        Args:
            run: The run at work.
            message: Its id.
            final: Whether it is the last one of its run.
        """
        self._world.require(run)
        self._replied(message)
        messages = replaced(self._world.state["messages"], message, final=final, decision=self._world.state["decision"])
        return self._world.write(messages=messages)

    @action(effects="writes", idempotent=True, network=False)
    async def finish(self, ctx: Context, run: str) -> Change:
        """End the run at work; another one is refused.

        Args:
            run: The run at work.
        """
        self._world.require(run)
        return self._world.write(finished=run)

    def _replied(self, message: str) -> None:
        """Refuse the reply of an unknown iteration.

        Raises:
            ToolError: There is none of that id.
        """
        if all(one["id"] != message for one in self._world.state["messages"]):
            raise ToolError(f"There is no message {message[:80]!r}.", fix="begin its iteration first.")

    def _planned(
        self, tasks: Sequence[Mapping[str, Any]], level: int, objective: str, more: Mapping[str, Any] | None = None
    ) -> Change:
        """Append tasks at the level after the given one; those there already stay as they are."""
        if self._world.state["level"] > level:
            return self._world.same()
        wanted = [one for one in tasks if str(one.get("objective", "")).strip()]
        if not wanted:
            return self._world.write(suggestions=[], **(more or {}))
        number, made = self._world.new_level(wanted)
        changed = {"current_objective": objective} if objective else {}
        lost = self._warned(self._world.missing(wanted))
        return self._world.write(plan=made, level=number, suggestions=[], **changed, **lost, **(more or {}))

    def _warned(self, warnings: list[str]) -> dict[str, Any]:
        return {"warnings": [*self._world.state["warnings"], *warnings][-MOST_LISTED:]} if warnings else {}


def _opening(path: Path) -> dict[str, Any]:
    """Return the start of a run, empty if it was started without."""
    try:
        with open_resolved(path) as file:
            found = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ToolError(f"What the run was started with cannot be read: {error}.", fix="start another.") from error
    if not isinstance(found, dict):
        raise ToolError("What the run was started with is not an object.", fix="start another.")
    return found  # pyright: ignore[reportUnknownVariableType]


def _cut(text: str) -> str:
    half = MOST_OUTPUT // 2
    left = len(text) - 2 * half
    return text if left <= 0 else f"{text[:half]}\n[... {left:,} characters ...]\n{text[-half:]}"
