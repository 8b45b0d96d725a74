"""Actions: the calls of one step, made in order or side by side, each with an outcome of its own."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from tea.components.context import Context
from tea.components.naming import understood
from tea.errors import (
    ApprovalNeeded,
    BadArguments,
    BudgetExceeded,
    CallError,
    Diverged,
    InternalError,
    Interrupted,
    NotLocked,
    TeaError,
    ToolError,
)
from tea.loop.done_arguments import with_one_end
from tea.loop.ledger import DRAFT, FIND_TOOLS, FUNCTIONS, NOTE, PLAN, Ledger
from tea.loop.limits import Limits
from tea.loop.observation import Observation
from tea.loop.offer import DONE
from tea.loop.toolset import Toolset
from tea.loop.window import Window
from tea.types import Fact, JsonValue, ToolCall, changed

REPEATED = "you made this call before as {id}; nothing has changed since, so it was not made again"
TWO_ENDS = "`done` was called with different answers in one step."
ONE_END = "call it once, with the answer that holds."
_ENDS = (ApprovalNeeded, BudgetExceeded, Diverged, InternalError, Interrupted, NotLocked)  # of the run, not of a call


class Checks(Protocol):
    """The checks of a task's end."""

    def check(
        self,
        outcome: Observation,
        others: Sequence[Observation],
        *,
        last: bool,
        unseen: Sequence[Observation] = (),
        more: bool = False,
    ) -> Observation:
        """Return the outcome of `done`, refused if it does not hold."""
        ...

    async def look(self, ctx: Context, arguments: JsonValue) -> None:
        """Look up the files named by an end."""
        ...

    def stated(self, call: ToolCall) -> ToolCall:
        """Return a call of `done` without the confidence stated beside it."""
        ...

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Facts from other parts of the task."""
        ...

    def findings(self, agent: str) -> tuple[Fact, ...]:
        """Return the question and the findings so far, for an agent writing reports."""
        ...


@dataclass(slots=True)
class Actions:
    """An executor of the calls of a task's steps."""

    ctx: Context
    toolset: Toolset
    ledger: Ledger
    window: Window
    limits: Limits
    max_calls: int
    steps: int = 0
    _made: dict[str, str] = field(default_factory=dict[str, str])

    async def act(self, calls: Sequence[ToolCall], *, last: bool, ending: Checks) -> list[Observation]:
        """Make the calls of one step; agents and reading calls run side by side, `done` counts last.

        An agent that is given results gets those of the calls beside it, too.

        Args:
            calls: What the model wants, in its order.
            last: Whether this was the last question.
            ending: Says whether an end holds.
        """
        self.steps += 1
        meant = [self.toolset.meant(one) for one in calls]
        named = with_one_end([one for one, _ in meant], DONE)
        beside = [self.toolset.is_agent(one.name) or self.toolset.reads(one.name) for one in named]
        outcomes: dict[int, Observation] = {}
        kept = set[int]()
        for indexes in self._batches(named, beside):
            batch = [named[index] for index in indexes]
            if any(self.toolset.takes_findings(one.name) for one in batch):
                for index in sorted(outcomes.keys() - kept):
                    self._keep(outcomes[index])
                kept |= outcomes.keys()
            agents = sum(self.toolset.is_agent(one.name) for one in batch)
            work = [self._call(named, index, agents, last, ending) for index in indexes]
            made = await _together(self.ctx, batch, work)
            outcomes |= {index: one.told(meant[index][1]) for index, one in zip(indexes, made, strict=True)}
            self._notice(outcomes[index] for index in indexes)
        for index in sorted(outcomes.keys() - kept):
            self._keep(outcomes[index])
        return [await self._ended(named, outcomes, index, last, ending) for index in range(len(named))]

    def _batches(self, calls: Sequence[ToolCall], beside: Sequence[bool]) -> Iterator[list[int]]:
        """Yield the places of calls made side by side; an agent given all results comes after the calls beside it."""
        position = 0
        while position < len(calls):
            end = position + 1
            while end < len(calls) and beside[position] and beside[end]:
                end += 1
            late = [index for index in range(position, end) if self.toolset.takes_findings(calls[index].name)]
            yield from filter(None, ([index for index in range(position, end) if index not in late], late))
            position = end

    async def _call(
        self, calls: Sequence[ToolCall], index: int, agents: int, last: bool, ending: Checks
    ) -> Observation:
        call = calls[index]
        if (error := self._refusal(call, index, agents, last)) is not None:
            return Observation.refused(call.id, call.name, call.arguments, error)
        if self.toolset.is_own(call.name):
            return await self._own(call)
        if call.name != DONE and self.toolset.reads(call.name) and (known := self._earlier_result(call)) is not None:
            return known
        if call.name == DONE:
            call = self._with_draft(ending.stated(call))
        facts = self._handed_down(call.name, ending) if self.toolset.is_agent(call.name) else ()
        return await self.toolset.call(call, facts, self.limits.share(agents) if agents else None)

    def _with_draft(self, call: ToolCall) -> ToolCall:
        """Return a call of `done`, its answer completed by the drafted fields."""
        fields, given = self.ledger.fields, call.arguments.get("answer")
        answer = given if fields is None or call.arguments.get("success") is False else fields.completed(given)
        return call if answer is given else changed(call, arguments={**call.arguments, "answer": answer})

    def _refusal(self, call: ToolCall, index: int, agents: int, last: bool) -> TeaError | None:
        """Return the reason a call is not made, None if it is."""
        if call.unreadable:
            return BadArguments(
                f"The call cannot be read: {call.unreadable}.",
                fix="write one JSON object with the names of its parameters.",
            )
        if index >= self.max_calls:
            return ToolError(f"Only {self.max_calls} calls are made in one step.", fix="make it in the next step.")
        if self.toolset.is_agent(call.name) and (last or not self.limits.can_share(agents)):
            fix = "end with what you have." if last else "do it yourself with what is left, or end with what you have."
            return ToolError("Too little is left of the budget for an agent.", fix=fix)
        return None

    def _handed_down(self, name: str, ending: Checks) -> tuple[Fact, ...]:
        """Return the facts for a delegated part, with the latest results for agents accepting findings."""
        found = (*self.ledger.facts, *ending.facts)
        return (*found, *ending.findings(name)) if self.toolset.takes_findings(name) else found

    async def _own(self, call: ToolCall) -> Observation:
        """Call a function of the loop itself."""
        ledger = self.ledger
        act = {NOTE: ledger.note, PLAN: ledger.replace_plan, DRAFT: ledger.draft}.get(call.name, self.window.read)
        (schema,) = [one["parameters"] for one in FUNCTIONS if one["name"] == call.name]
        arguments = understood({**schema, "additionalProperties": False}, call.arguments)
        try:
            value = await self.toolset.find(arguments) if call.name == FIND_TOOLS else act(arguments)
        except CallError as error:
            return Observation.refused(call.id, call.name, call.arguments, error)
        return Observation(id=call.id, name=call.name, arguments=call.arguments, ok=True, value=value)

    def forget(self, name: str) -> None:
        """Forget the results of a function, since its results differ from now on."""
        self._made = {image: id for image, id in self._made.items() if image.partition(" ")[0] != name}

    def _earlier_result(self, call: ToolCall) -> Observation | None:
        """Return the earlier result of an equal reading call, None if something may have changed since."""
        id = self._made.get(self.toolset.image(call))
        if id is None:
            return None
        before = self.window.results[id]
        return replace(before, id=call.id, hint=REPEATED.format(id=id), repeated=True, first=id)

    async def _ended(
        self, calls: Sequence[ToolCall], outcomes: dict[int, Observation], index: int, last: bool, ending: Checks
    ) -> Observation:
        """Return an outcome; `done` is refused beside another `done`, or if its answer does not hold."""
        outcome = outcomes[index]
        if outcome.name != DONE or not outcome.ok:
            return outcome
        ends = [one for at, one in outcomes.items() if at != index and one.name == DONE and one.ok]
        if any(one.value != outcome.value for one in ends):
            return Observation.refused(outcome.id, DONE, outcome.arguments, ToolError(TWO_ENDS, fix=ONE_END))
        others = [one for at, one in outcomes.items() if at != index and self._is_shown(one)]
        await ending.look(self.ctx, outcome.value)
        unseen = [one for one in others if not one.repeated and (self.toolset.shows(one.name) or not last)]
        unseen = [one for one in unseen if self.toolset.written_by(one) is None]
        return ending.check(outcome, others, last=last, unseen=unseen, more=self.limits.questions > 0)

    def _is_shown(self, outcome: Observation) -> bool:
        """Return whether an outcome is shown to the model as a result; outcomes of the loop's own functions are not."""
        return not (self.toolset.is_own(outcome.name) or (outcome.name == DONE and outcome.ok))

    def _keep(self, outcome: Observation) -> None:
        """Store a result as evidence, and for a repetition of its call."""
        if self.toolset.is_own(outcome.name) or outcome.name == DONE:
            return
        self.window.keep(outcome)
        if outcome.repeated:
            return
        if outcome.ok and self.toolset.reads(outcome.name):  # what failed may be tried again
            call = ToolCall(id="", name=outcome.name, arguments=dict(outcome.arguments))
            self._made[self.toolset.image(call)] = outcome.id
        self._notice([outcome])

    def _notice(self, outcomes: Iterable[Observation]) -> None:
        """Forget all results after a possible change, so the next reading call is made again."""
        made = [one.name for one in outcomes if one.ok and one.name != DONE and not self.toolset.is_own(one.name)]
        if not all(map(self.toolset.reads, made)):
            self._made.clear()


async def _together(
    ctx: Context, calls: Sequence[ToolCall], work: Sequence[Coroutine[Any, Any, Observation]]
) -> list[Observation]:
    """Run calls side by side; a failed one does not lose the others, and one ending the run does so after them."""

    async def guarded(call: ToolCall, one: Coroutine[Any, Any, Observation]) -> Observation | TeaError:
        try:
            return await one
        except _ENDS as error:
            return error
        except TeaError as error:
            if len(calls) == 1:
                raise
            return Observation.refused(call.id, call.name, call.arguments, error)

    if len(work) == 1:
        found: list[Observation | TeaError] = [await guarded(calls[0], work[0])]
    else:
        async with ctx.group() as group:
            handles = [group.spawn(guarded(call, one)) for call, one in zip(calls, work, strict=True)]
        found = [handle.result() for handle in handles]
    outcomes: list[Observation] = []
    for one in found:
        if isinstance(one, TeaError):
            raise one
        outcomes.append(one)
    return outcomes
