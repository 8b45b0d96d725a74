"""Executors of a recipe's calls: they only call the recipe's operands, through the context."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

from tea.components.context import Context
from tea.components.manifest import Manifest, canonical
from tea.components.naming import argument_faults, name_hint
from tea.components.operation import Executor, parameters_in_words
from tea.components.port import ClaimState, Invocation, LoadState, PutState, PutStateInTurn, ReleaseState
from tea.errors import BadArguments, CallFailed, InternalError, ToolError
from tea.recipes.scoped_port import exact_ref
from tea.refs import Kind
from tea.types import JsonObject, JsonSchema, JsonValue, Task

_MOST_IN_LAST, _MOST_IN_ALL_LAST = 2_000, 24 * 1024
_ATTEMPTS = 10
_TURN_SECONDS, _SECOND_TURN_SECONDS = 3600.0, 2.0
_under_way: ContextVar[tuple[asyncio.Lock, ...]] = ContextVar("under_way", default=())
_acting: ContextVar[frozenset[tuple[bool, str]]] = ContextVar("acting", default=frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeExecutor:
    """An executor calling the operand; the operand validates the call."""

    kind: Kind
    ref: str

    @classmethod
    def to(cls, config: Manifest, operation: str) -> RecipeExecutor:
        """Return an executor for an operation of exactly the given version."""
        return cls(kind=config.kind, ref=exact_ref(config, operation))

    async def __call__(self, receiver: object, arguments: JsonObject, context: Context | None) -> JsonValue:
        """Call the operand; its error is this call's error."""
        return (await _given(context).port.call(Invocation(self.kind, self.ref, arguments))).unwrap()


class Serialized:
    """An executor for one action at a time, as in every environment.

    The lock belongs to one run, since a run loads its own definition. Branches of the program and effects have one
    each: what a branch waits for, another branch must end.

    Args:
        turns: The locks that all actions of an environment share.
        executor: What carries the action out.
    """

    def __init__(self, turns: Mapping[bool, asyncio.Lock], executor: Executor) -> None:
        self._turns, self._executor = turns, executor

    async def __call__(self, receiver: object, arguments: JsonObject, context: Context | None) -> JsonValue:
        """Wait for the previous action, then execute this one.

        Raises:
            CallFailed: The action before is what this one is a part of.
        """
        turn, under_way = self._turns[_given(context).opens_files], _under_way.get()
        if turn in under_way:
            raise CallFailed("An agent cannot act in the environment that it is itself.", fix="call it as an agent.")
        async with turn:
            token = _under_way.set((*under_way, turn))
            try:
                return await self._executor(receiver, arguments, context)
            finally:
                _under_way.reset(token)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCall:
    """An executor of a tool with the values of the shared variables; it keeps the changes in the result.

    From reading them to keeping them, calls that share variables take turns: effects of all runs and processes, scopes
    of one run, which keep them in a turn among effects. Where one was faster nevertheless, nothing it wrote is
    overwritten: a call that only reads is done again, any other is done once, so it fails.

    Args:
        turn: The lock that all actions of the environment share in one run, for those that are scopes.
        relay: Calls the tool.
        action: Its name.
        owner: Whose state it is.
        first: The first values of the shared variables.
        takes: The tool's parameters.
        learns: The shared variables that it may change.
        reads: Whether it changes nothing else, so that its result need not be remembered.
        room: How many bytes of its result are remembered.
    """

    relay: RecipeExecutor
    action: str
    owner: str
    first: JsonObject
    takes: frozenset[str]
    learns: frozenset[str]
    reads: bool
    room: int
    turn: asyncio.Lock

    async def __call__(self, receiver: object, arguments: JsonObject, context: Context | None) -> JsonValue:
        """Fill in the shared variables, call, and keep the changes.

        Raises:
            CallFailed: It was done, but what it changed had been changed meanwhile.
        """
        found = _given(context)
        async with _turn(found, self.owner, self.turn) if self.first else nullcontext():
            for _ in range(_ATTEMPTS if self.reads else 1):
                value, kept = await self._called(arguments, found)
                if kept:
                    return value
        problem = f"{self.action!r} was done, but what it shares was changed meanwhile, so its change was not kept."
        raise CallFailed(problem, fix="look at the state before you do anything again.")

    async def _called(self, arguments: JsonObject, context: Context) -> tuple[JsonValue, bool]:
        """Call once; return the value, and whether its changes to the shared variables could be kept.

        Raises:
            CallFailed: It was done, but what it says is too large to be kept.
        """
        there: JsonObject = (await _kept(context, self.owner)).get("variables", {}) if self.first else {}
        known: JsonObject = {**self.first, **there}
        filled = {name: value for name, value in known.items() if name in self.takes - set(arguments)}
        given = {**{name: value for name, value in filled.items() if value is not None}, **arguments}
        value = cast(object, await self.relay(None, given, context))
        said = {**given, **cast("JsonObject", value)} if isinstance(value, dict) else given
        learnt = [name for name in sorted(self.learns) if name in said and said[name] != known[name]]
        if self.reads and not learnt:
            return cast(JsonValue, value), True
        changes = [(["variables", name], said[name]) for name in learnt]
        changes.append((["last", self.action], _bounded(cast(JsonValue, value), self.room)))
        before = [(["variables", name], [there[name]] if name in there else []) for name in learnt if name in filled]
        if context.opens_files:
            keeping = PutState(self.owner, False, changes, before)
        else:
            keeping = PutStateInTurn(self.owner, False, changes, before, _TURN_SECONDS)
        try:
            return cast(JsonValue, value), await context.port.serve(keeping)
        except BadArguments as error:
            problem = f"{self.action!r} was done, but what it shares was not kept: {error.problem}"
            raise CallFailed(problem, fix=error.fix) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedState:
    """An observer of an environment made of tools.

    Args:
        owner: Whose state it is.
        first: The first values of the shared variables.
        observe: Calls the tool that observes.
    """

    owner: str
    first: JsonObject
    observe: SharedCall | None

    async def __call__(self, receiver: object, arguments: JsonObject, context: Context | None) -> JsonValue:
        """Return the shared variables, the last results, and the tool's observation."""
        if arguments:
            raise BadArguments(f"'state' does not take {min(arguments)!r}.", fix="call it without arguments.")
        kept = await _kept(_given(context), self.owner)
        found = {"variables": {**self.first, **kept.get("variables", {})}, "last": kept.get("last", {})}
        return found if self.observe is None else {**found, "observed": await self.observe(None, {}, context)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState:
    """An observer of an agent: its rules, and its stored state."""

    agent: Manifest

    async def __call__(self, receiver: object, arguments: JsonObject, context: Context | None) -> JsonValue:
        """Return its rules, role and objectives, and its state in this session, else its lasting one."""
        if arguments:
            raise BadArguments(f"'state' does not take {min(arguments)!r}.", fix="call it without arguments.")
        owner, port = f"agent:{self.agent.name}", _given(context).port
        kept = await port.serve(LoadState(owner, lasting=False))
        if kept is None:
            kept = await port.serve(LoadState(owner, lasting=True))
        facts = {name: self.agent.metadata.get(name) for name in ("role", "competencies", "objectives")}
        return {"rules": self.agent.rules, **{name: fact for name, fact in facts.items() if fact}, "state": kept}


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAction:
    """An executor giving an agent a task made of an action with its arguments, as JSON; its answer is the value.

    Args:
        relay: Asks the agent.
        action: Name of the action.
        owner: `environment:name`, whose words its parameters are: a recipe is executed here without trust in it.
        parameters: Their schema.
    """

    relay: RecipeExecutor
    action: str
    owner: str
    parameters: JsonSchema

    async def __call__(self, receiver: object, arguments: JsonObject, context: Context | None) -> JsonValue:
        """Validate, ask the agent, and return its answer."""
        if faults := argument_faults(self.parameters, dict(arguments)):
            hint = name_hint(self.parameters, arguments)
            fix = f"{self.owner} says: {hint}{parameters_in_words(self.parameters)}."
            raise BadArguments(f"{self.action!r} got bad arguments: {'; '.join(faults)}.", fix=fix)
        task = Task(text=canonical({"action": self.action, "arguments": dict(arguments)}).decode())
        response = await _given(context).acp.invoke(self.relay.ref.partition("#")[0], task)
        response.unwrap()
        if not response.result.ok:
            reason = response.result.reason or "no reason was given"
            raise ToolError(f"{self.action!r} did not succeed: {reason}", fix="do something else.")
        return response.result.answer


def room_of_last(actions: int) -> int:
    """Return the bytes each of several actions may keep of its result, within the limit of one document."""
    return min(_MOST_IN_LAST, _MOST_IN_ALL_LAST // actions)


def _given(context: Context | None) -> Context:
    if context is None:
        raise InternalError("A recipe is called without a context.", fix="call it through its protocol.")
    return context


@asynccontextmanager
async def _turn(context: Context, owner: str, lock: asyncio.Lock) -> AsyncGenerator[None]:
    """Hold an environment's turn in the session: an effect among all effects, a scope among its run's.

    Whoever has one already may be what others wait for, so an effect waits for a second one briefly, a scope not at
    all, and nobody for his own; then what is kept shows whether another was faster. So nothing ends in a deadlock.
    """
    effect, acting = context.opens_files, _acting.get()
    second = any(one is effect for one, _ in acting)
    token = _acting.set(acting | {(effect, owner)})
    try:
        if effect and (effect, owner) not in acting:
            async with _claimed(context, owner, _SECOND_TURN_SECONDS if second else _TURN_SECONDS):
                yield
        else:
            async with nullcontext() if second else lock:
                yield
    finally:
        _acting.reset(token)


@asynccontextmanager
async def _claimed(context: Context, owner: str, seconds: float) -> AsyncGenerator[None]:
    """Hold a turn among all processes, if it is available within the given seconds."""
    mine = await context.port.serve(ClaimState(owner, False, seconds))
    try:
        yield
    finally:
        if mine:
            await context.port.serve(ReleaseState(owner, lasting=False))


async def _kept(context: Context, owner: str) -> dict[str, Any]:
    return await context.port.serve(LoadState(owner, lasting=False)) or {}


def _bounded(value: JsonValue, room: int) -> JsonValue:
    text = json.dumps(value, ensure_ascii=False).encode(errors="replace")
    return value if len(text) <= room else text[:room].decode(errors="ignore") + "..."
