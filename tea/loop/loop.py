"""The loop of every tool-calling agent: ask, call, look at the results, until an answer holds.

Source: the paper's Appendix D.1 (the cycle) and H (the step's record, `done`); design/011-agent-loop.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from tea.components.context import Context
from tea.errors import BudgetExceeded, ContextLengthExceeded, ToolError
from tea.loop.actions import Actions
from tea.loop.done_arguments import with_words
from tea.loop.end_words import ANNOUNCED, SHORT_QUESTION, last_question, stuck_words, unusable_words
from tea.loop.ending import MOST_SCHEMA, Ending
from tea.loop.exchanges import is_shortened, json_tokens, latest
from tea.loop.fields import UNKNOWN_AFTER, Fields
from tea.loop.form import holds_form, with_declared_form
from tea.loop.ledger import DRAFT, MOST_FACT, NOTE, PLAN, READ_RESULT, STALL, Ledger
from tea.loop.limits import Limits, with_limit
from tea.loop.media import show_files
from tea.loop.memories import recalled, remember
from tea.loop.mending import Mending
from tea.loop.naming import to_be_written
from tea.loop.observation import Observation, limit_of, shortened
from tea.loop.offer import DONE
from tea.loop.opening import Head, heads
from tea.loop.revision import HELD, UNCHANGED, Revision, look_again
from tea.loop.step import Reply, said
from tea.loop.toolset import Toolset
from tea.loop.window import Window
from tea.models.context_length import limit_in
from tea.models.rendering import rendered
from tea.types import JsonObject, Message, Result, Task, ToolCall, changed, data_part, message

STRIKES = 3
FOLDS_A_QUESTION = 3
LEFT_AFTER_FOLD = 2
OPENING = 400  # tokens of a prompt's own words
LAST_TRIES = 3
NOTES_AT = 0.5  # of the context; what is noted then outlives the fold to come
STEPS = 50
PROFILE = "tool_calling"

BAD_REPLY = (
    "Your reply could not be used: {problem} Call a function, or end with `done`: the answer, or success false and the "
    "reason."
)
STALLED = (
    "The last {steps} steps brought nothing new. Note what is known and what failed, then take another strategy: "
    "another function, other files or words, smaller parts. If nothing is left to try, call `done` with what you have."
)
SHORT_TOKENS = (1_000, 500, 250, 100)  # of results in a short question, the most that the budget allows
LEFT_OUT = ("files", "heads", "memories", "agents", "environments", "further", "limits")  # of a short question
THE_TASK = "The task was: {task}"
ITS_FORM = "\nIts answer must fit {schema}"
UNDELIVERED = "The answer was not delivered: the person said more."
ANEW = "mind what was said, and call `done` anew."
PERSON = "The person says: {text}"


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
    closing: bool = False,
    known: Mapping[str, str] | None = None,
) -> Result:
    """Work on a task step by step, until an answer holds or a limit is reached.

    In each step a model, asked through `prompt`, says which calls it wants; what they give is what it sees in the next
    step. Calls that fail are results to go on from, never exceptions. What is not given, the agent declares.

    Args:
        ctx: What the agent may reach.
        task: What it was asked to do.
        prompt: Name of its prompt, whose output has `calls`; by default that of the agent, else `tool_calling`.
        tools: Names of its tools; the task's own list replaces them, `done` is always there. With `*` the best of the
            registry are offered beside them.
        agents: Names of the agents it may delegate to, each called by its name.
        environments: Names of its environments; an action is called `<environment>_<action>`, and `name#action`
            offers that action alone, without the state.
        max_steps: Most questions, the last one for the best answer; by default 50, or those of a larger budget.
        max_calls: Most calls in one step.
        insights: What is known already and worth remembering, beside what the memory gives.
        variables: Further variables for the prompt.
        closing: Whether it ends by a step of its own, which repeats the task and the form of its answer, where another
            agent was asked and left something open.
        known: Texts that the prompt shows already, by the names of their sources; they count as read.

    Raises:
        UnknownComponent: Something it declares is not registered.
        BadComponent: Two things it may call have the same name.
        BadTask: The schema of the wanted answer cannot be used.
        Abstained: No model is configured, and the prompt's solver cannot tell.
        ProviderError: The model cannot be reached.
    """
    declared, model = ctx.declared, await ctx.model()
    task = with_declared_form(task, declared)
    toolset = await Toolset.gather(
        ctx,
        task,
        tools=_given(tools, declared, "tools"),
        agents=_given(agents, declared, "agents"),
        environments=_given(environments, declared, "environments"),
        reads_texts=not model["solver"],
    )
    most = int(declared.get("max_steps") or STEPS)
    limits = Limits(ctx, max_steps or most, raised=max_steps is None and most == STEPS)
    loop = _Loop.of(ctx, task, toolset, limits, prompt or str(declared.get("prompt") or PROFILE), model, max_calls)
    loop.closing = closing and not loop.solver
    loop.known = [Head(name, text, whole=True) for name, text in (known or {}).items()]
    return await loop.whole(insights, variables or {})


def _given(names: Sequence[str] | None, declared: JsonObject, key: str) -> Sequence[str]:
    return cast("Sequence[str]", declared.get(key, ())) if names is None else names


@dataclass(slots=True)
class _Loop:
    """The work on one task."""

    ctx: Context
    task: Task
    toolset: Toolset
    prompt: str
    limits: Limits
    ledger: Ledger
    window: Window
    actions: Actions
    ending: Ending
    solver: bool
    max_calls: int
    revision: Revision
    mending: Mending
    variables: dict[str, Any] = field(default_factory=dict[str, Any])
    seen: dict[str, Any] = field(default_factory=dict[str, Any])
    heard: set[str] = field(default_factory=set[str])
    told: list[str] = field(default_factory=list[str])
    ended: str = ""
    refused: str = ""
    strikes: int = 0
    step: int = 0
    last: int = 0
    spent: str = ""
    offered_last: JsonObject = field(default_factory=dict[str, Any])
    closing: bool = False
    known: Sequence[Head] = ()

    @classmethod
    def of(
        cls,
        ctx: Context,
        task: Task,
        toolset: Toolset,
        limits: Limits,
        prompt: str,
        model: JsonObject,
        max_calls: int,
    ) -> _Loop:
        """Return the work on a task, before its first step."""
        window = Window(context=int(model["context"]), fold=str(model["fold"]))
        settings = cast("JsonObject", ctx.declared.get("settings", {}))
        fields = Fields.of(task.answer, int(settings.get("unknown_after", UNKNOWN_AFTER)))
        ledger = Ledger(room=window.room, facts=list(task.facts), fields=fields)
        actions = Actions(ctx, toolset, ledger, window, limits, max_calls)
        return cls(
            ctx=ctx,
            task=task,
            toolset=toolset,
            prompt=prompt,
            limits=limits,
            ledger=ledger,
            window=window,
            actions=actions,
            ending=Ending(task, ledger, window, toolset, solver=bool(model["solver"])),
            solver=bool(model["solver"]),
            max_calls=max_calls,
            revision=Revision(ctx.reflect),
            mending=Mending(ctx, task, actions),
        )

    async def whole(self, insights: Sequence[str], variables: JsonObject) -> Result:
        """Prepare the task, work until its end, and record the end in memory."""
        try:
            await self.prepare(insights, variables)
            result = await self.run()
        except BudgetExceeded as error:
            result = self.revision.held or await self._end_in_short() or self.ending.best(error.problem)
        self.revision.note(self.ctx, result)
        await remember(self.ctx, self.task, result, self.ledger.facts, self.told)
        return self._with_state(result)

    async def _end_in_short(self) -> Result | None:
        """Return an end refused in the last step, or else the answer to a short question; None without either."""
        self.spent = self.spent or self.limits.tightest
        found = None if self.ending.unseen else await self._refused_end()
        found = found or await self._short_end() or await self._refused_end()
        return None if found is None else self._remarked(found)

    async def _short_end(self) -> Result | None:
        """Return the answer to a short question; None without one."""
        words = self.refused
        try:
            reply = await self._short_reply()
            return None if reply is None else await self._take(self.step, reply)
        except BudgetExceeded:
            return None
        finally:
            self.refused = self.refused or words

    async def _short_reply(self) -> Reply | None:
        """Ask for `done` alone, with the task and the last results, cut; None if nothing was found, or is left.

        A question costs as little as it can, as what is left is too little for a usual one.
        """
        if self.solver or not any(one.ok for one in self.window.results.values()):
            return None
        variables = {**self._short_variables, "task": self.ending.words}
        self.window.leave_out_left()
        self.step += 1
        self.last = self.step
        for most in SHORT_TOKENS:
            results = latest(self.window.messages, most)
            told = SHORT_QUESTION.format(results=results, cut=", cut" if is_shortened(results) else "")
            try:
                response = await self.ctx.ask(self.prompt, variables, (said(told),), tool_choice="required")
            except BudgetExceeded:
                continue
            self.seen = {**self.seen, "told": told}
            self.limits.used()
            return Reply.of(response, self.step)
        return None

    @property
    def _short_variables(self) -> dict[str, Any]:
        """The prompt variables of a short question: the task and `done` alone."""
        short = {name: type(one)() if name in LEFT_OUT else one for name, one in self.variables.items()}
        return {**short, "tools": [one for one in self.variables["tools"] if one["name"] == DONE]}

    async def _refused_end(self) -> Result | None:
        """Return the end refused in the last step, marked as no other can be asked for; None without one."""
        if (given := self.ending.refused) is not None:
            call = ToolCall(id="last", name=DONE, arguments=dict(given))
            return self.ending.finished(await self.actions.act((call,), last=True, ending=self.ending))
        return self._words_end()

    def _words_end(self) -> Result | None:
        """Return the words of the last step as the end, if they can be its answer; None otherwise."""
        if self.refused and not self.ending.proposed(self.refused, last=True):
            return self.ending.accepted
        return None

    async def _words_beside(self, step: int, reply: Reply) -> Result | None:
        """Return the text beside calls not on offer as the end, if no question is left for their results."""
        names = {self.toolset.named(one.name) for one in reply.calls}
        if self.solver or self.revision.held is not None or DONE in names or not reply.beside:
            return None
        self.refused = reply.beside  # the answer where no other comes
        if not self.limits.are_spent or names & {one["name"] for one in self._offered_last["tools"]}:
            return None
        await self.ending.look(self.ctx, reply.beside)
        if (found := self._words_end()) is not None:
            await self._record(step, reply, (), {})
        else:
            self.refused = ""
        return found

    def _with_state(self, result: Result) -> Result:
        """Return a result with the last state of the work, if it is one of several attempts."""
        return changed(result, state=self.ending.state(result)) if self.ctx.attempt else result

    async def prepare(self, insights: Sequence[str], variables: JsonObject) -> None:
        """Collect the prompt variables: task, files, functions and memories."""
        remembered, solved, self.told = await recalled(self.ctx, self.task, insights)
        await self.limits.look()
        self.variables = {
            "task": self.task.text,
            "files": list(self.task.files),
            "memories": [text for text in (*remembered, *solved) if text],
            "max_steps": self.limits.most,
            "max_calls": self.max_calls,
            "limits": self.limits.text(),
            "locale": self.ctx.locale,
            **({"answer": self.task.answer} if self.task.answer is not None and self._tells_form else {}),
            **await self._heads_and_date(),
            **self.toolset.words(),
            **variables,
        }
        self.ending.told = [*remembered, rendered(variables) if variables else ""]
        self.ending.today = str(self.variables.get("today", ""))
        self.window.add(*await show_files(self.ctx, self.task.files), lasting=True)
        self.window.before = 0 if self.solver else OPENING + json_tokens(self.variables)
        if not self.solver:
            self.limits.keep(OPENING + json_tokens(self._short_variables) + SHORT_TOKENS[2])
        states = {place["name"]: place["state"] for place in self.variables["environments"]}
        self.seen = {"task": self.task.text, "files": list(self.task.files), "state": states}

    @property
    def _tells_form(self) -> bool:
        """Whether the text of the task describes the form of the answer; for a model the schema of `done` may do it."""
        return self.solver or not holds_form(self.task)

    async def _heads_and_date(self) -> JsonObject:
        """Return the heads of files and the date as prompt variables; nothing for a solver."""
        if self.solver:
            return {}
        found = await heads(self.ctx, self.task)
        self.ending.heads = [*found, *(part for one in found for part in one.members), *self.known]
        return {"heads": [one.text for one in found], "today": await self.ctx.today()}

    async def run(self) -> Result:
        """Work step by step until the result."""
        while self.limits.questions > 0:
            self.step += 1
            step = self.step
            await self._hear()
            if not self.solver:
                await self.toolset.learn()
                self.limits.expect(self.window.foreseen())
            if (self.limits.questions == 1 or self.ledger.stalled >= 2 * STALL) and not self.last:
                self.last = step
                self.spent = self.limits.tightest if self.limits.questions == 1 else ""
                self._tell_last()
            result = await self._take(step, await self._ask(step))
            heard = result is not None and self.limits.questions >= 1 and await self._hear()
            if heard and self.ended:
                self.window.refuse(self.ended, ToolError(UNDELIVERED, fix=ANEW))
            if result is not None and not heard:
                points = self.ending.points(result) if self.closing else []
                if not self.revision.wanted(result, self.limits.questions, points):
                    return self._remarked(result)
                self.last, self.spent = 0, ""
                self.ending.reopen()
                self.window.hold(self.ended, HELD)
                self._tell(look_again(points, self._task_again))
            if self.last and step - self.last + 1 >= LAST_TRIES:
                break
        short = None if self.limits.questions or self.revision.held else await self._short_end()
        short = short or (None if self.revision.held else self._words_end())
        return self.revision.held or (short and self._remarked(short)) or self._unfinished()

    def _unfinished(self) -> Result:
        """Return the best answer so far, after the budget ended, or after steps without anything new."""
        if not self.last or self.spent:
            limit = self.spent or self.limits.tightest
            return self.ending.best(f"The {limit} ended before the task was done.")
        latest = [*self.window.results.values()][-self.ledger.stalled :]
        again = next((one.name for one in latest if one.repeated), "")
        return self.ending.best(stuck_words(self.ledger.stalled, again), exhausted=False)

    def _tell_last(self) -> None:
        """Ask for the answer; the rest of the budget, told before, can no longer be used."""
        self.window.leave_out_left()
        writes = any(one["name"] != DONE for one in self._offered_last["tools"])
        self._tell(last_question(self._task_again, steps=0 if self.spent else self.ledger.stalled, writes=writes))

    @property
    def _offered_last(self) -> JsonObject:
        """The functions for the last question: `done`, and writing ones if the task names a file to write."""
        if not self.offered_last:
            self.offered_last = self.toolset.words_to_end(writes=bool(to_be_written(self.ending.words)))
        return self.offered_last

    def _remarked(self, result: Result) -> Result:
        """Return a result with a remark if a limit allowed no more; without one it is not exhausted."""
        if not self.spent:
            return changed(result, exhausted=False) if result.exhausted else result
        looked = any(one.ok for one in self.window.results.values())
        return with_limit(result, self.spent, looked=looked)

    @property
    def _task_again(self) -> str:
        """The task, the person's words since, and the form of the answer, for the end of a long conversation."""
        words, form = THE_TASK.format(task=self.ending.words), self.task.answer
        if form is None:
            return words
        return words + ITS_FORM.format(schema=json.dumps(form, ensure_ascii=False)[:MOST_SCHEMA])

    async def _ask(self, step: int) -> Reply:
        """Ask the model, with the ledger at the end of the request; a request too long for it is folded."""
        tail = () if self.solver or not (text := self.ledger.text(plan=not self.last)) else (said(text),)
        if not self.solver and self.window.full(tail):
            await self._fold(tail)
        folds = 0
        while True:
            if not self.solver:
                self._offer()
            try:
                history = (*self.window.messages, *tail)
                last = {**self._offered_last, "limits": ""} if self.last and not self.solver else {}
                variables = {**self.variables, **last}
                response = await self.ctx.ask(self.prompt, variables, history, tool_choice=self._choice)
            except ContextLengthExceeded as error:
                folds += 1
                if folds > FOLDS_A_QUESTION or not await self._shorten(error, tail):
                    raise
            else:
                self.window.asked(response.usage, tail)
                self.limits.used(self.window.size(tail))
                return Reply.of(response, step)

    def _offer(self) -> None:
        """Extend the functions on offer with found ones, and with the loop's own once they can matter."""
        if self.window.rereads or self.ledger.stalled >= STALL or self.window.full(share=NOTES_AT):
            self.toolset.add(*self._notes())  # all at once, as each addition changes the beginning of the request
        before, added = self.variables.get("further", []), self.toolset.added()
        if len(added) > len(before):
            self.window.before += json_tokens(added) - json_tokens(before)
            self.variables = {**self.variables, "further": added}

    def _notes(self) -> tuple[str, ...]:
        """Return the loop's functions for keeping facts."""
        return (NOTE, PLAN, READ_RESULT) if self.ledger.fields is None else (NOTE, PLAN, DRAFT, READ_RESULT)

    async def _shorten(self, error: ContextLengthExceeded, tail: Sequence[Message]) -> bool:
        """Fold a conversation too long for the model, and return whether it became shorter."""
        before = self.window.size(tail)
        self.window.lower(limit_in(error.problem), tail)
        await self._fold(tail)
        return self.window.size(tail) < before

    async def _fold(self, tail: Sequence[Message]) -> None:
        """Fold the conversation; a request for it counts as one, and leaves one for work and the last one."""
        may_ask = self.limits.questions > LEFT_AFTER_FOLD
        if await self.window.make_room(self.ctx, self.task.text, tail, may_ask=may_ask):
            self.limits.used()
            await self.limits.look()

    @property
    def _choice(self) -> Literal["auto", "required"]:
        """The tool choice: a call is required after an unusable reply or refused words, and at the end."""
        return "required" if self.last or self.strikes or self.ending.pressed else "auto"

    async def _take(self, step: int, reply: Reply) -> Result | None:
        """Act on a reply, and return the result if it ended the task."""
        await self.limits.look()
        if reply.record:
            self.ledger.memory = str(reply.record.get("memory") or self.ledger.memory)[:MOST_FACT]
            self.ledger.goal = str(reply.record.get("next_goal") or "")
        if reply.problem:
            return await self._strike(step, reply)
        reply = self._as_meant(step, reply)
        self.window.add(reply.message())
        self.ended = self.refused = ""
        self.ending.unseen = ()
        if not reply.calls:
            return await self._proposed_end(step, reply)
        if self.last and (words := await self._words_beside(step, reply)) is not None:
            return words
        added = len(self.toolset.added())
        outcomes = await self.actions.act(reply.calls, last=bool(self.last), ending=self.ending)
        found = len(self.toolset.added()) > added
        if any(self.toolset.is_agent(one.name) for one in outcomes):
            await self.limits.look()
        self.strikes = 0 if any(one.ok for one in outcomes) else self.strikes
        if self.ledger.fields is not None:
            made = [one for one in outcomes if one.made and not one.repeated]
            made = [one for one in made if one.ok or self.toolset.is_agent(one.name)]  # a failed search says nothing
            self.ledger.fields.searched(sum(self.toolset.searches(one.name) for one in made))
        if self.ctx.evolve and not self.last:
            outcomes = await self.mending.after(outcomes)
        given = [self.toolset.delegated(one) for one in outcomes]
        result = self.ending.finished(outcomes, given)
        self.ended = next((one.id for one in outcomes if one.name == DONE and one.ok), "")
        best = self.ending.so_far()
        if best is not None or self.ctx.attempt:
            self.ctx.so_far(self._with_state(best or Result()))
        state: JsonObject = {}
        if result is None and not all(self.toolset.reads(one.name) or one.repeated for one in outcomes):
            state = await self.toolset.observe()
        stalled = self.ledger.progress(new=self._is_new(outcomes) or found)
        self._show(outcomes, state)
        await self._record(step, reply, outcomes, state)
        if all(one.unreadable for one in reply.calls):
            return self._struck(f"{reply.calls[0].unreadable}.")
        if result is None and stalled and not self.last:
            self._tell(STALLED.format(steps=self.ledger.stalled))
        return result

    def _as_meant(self, step: int, reply: Reply) -> Reply:
        """Return a reply with the end written as text, and with the answer given before where it confirms that."""
        held, told, ending, is_end = self.revision.held, self.revision.told, self.ending, self._is_end
        form, last = self.task.answer, bool(self.last)
        reply = with_words(reply, step, DONE, form=form, is_end=is_end, is_answer=ending.is_answer)
        return ending.standing.read(reply, step, is_end, task=ending.words, held=held, told=told, last=last)

    def _is_end(self, call: ToolCall) -> bool:
        return self.toolset.named(call.name) == DONE

    def _is_new(self, outcomes: Sequence[Observation]) -> bool:
        """Return whether a step brought a new result, or a new error."""
        made = [one for one in outcomes if not self.toolset.is_own(one.name) and not one.repeated]
        errors = [one.error["problem"] for one in made if one.error is not None]
        unheard = [self._is_unheard(one) for one in errors]
        return any(unheard) or any(one.ok for one in made)

    def _is_unheard(self, problem: str) -> bool:
        """Return whether a problem occurs for the first time."""
        new = problem not in self.heard
        self.heard.add(problem)
        return new

    async def _strike(self, step: int, reply: Reply) -> Result | None:
        """Add an unusable reply to the conversation, with its fault and the expected form."""
        if reply.text.strip() or reply.record:
            self.window.add(reply.message())
        await self._record(step, reply, (), {})
        self._tell(BAD_REPLY.format(problem=reply.problem))
        return self._struck(reply.problem)

    def _struck(self, problem: str) -> Result | None:
        """Count an unusable reply, and return the task's end if there are too many."""
        self.strikes += 1
        if self.strikes < STRIKES:
            return None
        return self.revision.held or self.ending.best(unusable_words(STRIKES, problem), exhausted=False)

    async def _proposed_end(self, step: int, reply: Reply) -> Result | None:
        """Handle text without a call as a proposed end, checked like `done`."""
        await self.ending.look(self.ctx, reply.said)
        if self.ending.standing.is_unclear(reply.said, self.ending.words):
            found, problem, self.ending.refused = None, UNCHANGED, self.ending.standing.given
        elif self.revision.held is not None and not self.ending.has_form(reply.said):
            found, problem = self.revision.confirmed(reply.said)
            found = None if found is None else self.ending.with_report(found)
        else:
            problem = self.ending.proposed(reply.said, last=bool(self.last))
            found = self.ending.accepted
        await self._record(step, reply, (), {})
        if not problem:
            return found
        self.refused = "" if problem in (ANNOUNCED, UNCHANGED) else reply.said
        self.ledger.progress(new=self._is_unheard(problem))
        self._tell(problem)
        return None

    async def _hear(self) -> bool:
        """Read new messages of a person, and return whether there were any."""
        texts = await self.ctx.messages()
        if texts:  # what was the last question, or a dead end, is one no more
            self.last = self.ledger.stalled = 0
            self.offered_last, self.spent = {}, ""
            self.revision.withdraw()
        for text in texts:
            self.ending.hear(text)
            self._tell(PERSON.format(text=text), lasting=True)
        return bool(texts)

    def _show(self, outcomes: Sequence[Observation], state: JsonObject) -> None:
        """Add results to the conversation, each with the remaining budget."""
        left = "" if self.solver else self.limits.text()
        self.window.show(outcomes, left, whole=self.solver, most=self.limits.room())
        if state:
            self.window.add(message("user", (data_part({"state": state}),)))

    async def _record(self, step: int, reply: Reply, outcomes: Sequence[Observation], state: JsonObject) -> None:
        """Put the step into the journal, as the paper's record (Appendix H)."""
        memory, goal = self.ledger.words()
        words = {"thinking": reply.thought, "evaluation": reply.record.get("evaluation", "")}
        calls = [{"name": one.name, "arguments": shortened(one.arguments, limit_of(1))} for one in reply.calls]
        record = {**words, "memory": memory, "next_goal": goal, "calls": calls, "agent": self.ctx.agent, "step": step}
        plan = [{"item": one.item, "state": one.state} for one in self.ledger.plan]
        more = {"plan": plan} if plan else {}
        results = [one.record() for one in outcomes]
        self.ctx.note("step", {**record, **more, "observation": self.seen, "results": results})
        self.seen = {"state": state} if state else {}

    def _tell(self, text: str, *, lasting: bool = False) -> None:
        self.window.add(said(text), lasting=lasting)
        self.seen = {**self.seen, "told": text}
