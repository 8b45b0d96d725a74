"""What an agent may call in one task: tools, agents and environments' actions, under one set of names."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, cast

from pydantic import ValidationError

from tea.components.context import Context
from tea.components.lossless import lossless
from tea.components.operation import reasons
from tea.errors import BadArguments, BadComponent, BadRef, CallFailed, UnknownComponent
from tea.loop.ledger import FUNCTIONS
from tea.loop.observation import Observation, shortened
from tea.loop.schemas import compact
from tea.loop.shortlist import MOST_SCHEMAS, Fixed, nearest, ranked, within_limits
from tea.refs import Kind, check_name
from tea.types import EVERY, Budget, Fact, JsonObject, JsonSchema, Response, Result, Task, ToolCall

DONE = "done"
BOOKKEEPING = (DONE, "todo")
OWN = tuple(str(one["name"]) for one in FUNCTIONS)
MOST_OFFERED = MOST_SCHEMAS - len(OWN)
MOST_IN_STATE = 4_000
MOST_AGENTS = 20
MOST_FURTHER = 8
DELEGATION: JsonSchema = {
    "type": "object",
    "properties": {
        "task": {"type": "string", "description": "What to do, complete in itself: the agent knows nothing else."},
        "files": {"type": "array", "items": {"type": "string"}, "description": "The files it needs."},
    },
    "required": ["task"],
}
_GIVEN = frozenset({"files", "answer", "budget"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """One thing that a model may call, and its words for it.

    Args:
        ref: What is invoked.
        reads: Whether it declares to change nothing, so that it may run beside others.
        takes_findings: Whether it is an agent that is given what was found until then.
    """

    kind: Kind
    ref: str
    name: str
    description: str
    parameters: JsonObject
    reads: bool = False
    takes_findings: bool = False

    def words(self) -> dict[str, Any]:
        """Return what a prompt shows of it."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSource:
    """One environment: how to act in it, and what was observed last."""

    name: str
    description: str
    rules: str
    state: Any

    def words(self) -> dict[str, Any]:
        """Return what a prompt shows of it."""
        return {"name": self.name, "description": self.description, "rules": self.rules, "state": self.state}


class Toolset:
    """Everything one agent may call in one task, of which a model is offered what fits into the limits.

    Args:
        ctx: What the agent may reach.
        task: What it works on.
        found: What was looked up.
        places: Its environments.
        offered: The names that a model is told.
        further: What was not looked up, by name: it is when it is called.
    """

    def __init__(
        self,
        ctx: Context,
        task: Task,
        found: Iterable[Capability],
        places: Iterable[StateSource],
        offered: Collection[str],
        further: Mapping[str, Kind],
    ) -> None:
        self._ctx = ctx
        self._task = task
        self._offered = offered
        self._further = further
        self._places = {place.name: place for place in places}
        self._known: dict[str, Capability] = {}
        for one in found:
            if other := self._known.get(one.name):
                problem = f"{other.kind} {other.ref!r} and {one.kind} {one.ref!r} are both called {one.name!r}."
                raise BadComponent(problem, fix="leave one of them out, or register it under another name.")
            self._known[one.name] = one

    @classmethod
    async def gather(
        cls,
        ctx: Context,
        task: Task,
        *,
        tools: Sequence[str],
        agents: Sequence[str],
        environments: Sequence[str],
        reads_texts: bool = True,
    ) -> Toolset:
        """Look up what an agent declares and the task allows, of very many the nearest, and observe the environments.

        Args:
            ctx: What the agent may reach.
            task: What it works on.
            tools: Names of its tools; with `*` the best of the registry for the task are offered beside them.
            agents: Names of the agents it may delegate to.
            environments: Names of its environments; `name#action` offers that action alone, without
                the state.
            reads_texts: Whether who answers reads descriptions; a solver calls what it knows.

        Raises:
            UnknownComponent: Something is not registered.
            BadComponent: Two have the same name.
        """
        found: list[Capability] = []
        names = allowed(tools, task.tools, task.also)
        own = [name for name in names if name != EVERY]
        kept = own if EVERY in names and len(own) < MOST_SCHEMAS else BOOKKEEPING
        asked = task.tools is not None and EVERY in task.tools
        most = MOST_SCHEMAS if asked or EVERY not in names else len(own) + MOST_FURTHER
        names = names if reads_texts or asked else tuple(own)
        nearby = await nearest(ctx.tcp, names, task.text, most, kept)
        further: dict[str, Kind] = {**dict.fromkeys(agents, "agent"), **dict.fromkeys(names, "tool")}
        for name, facts in zip(nearby, await ctx.tcp.facts(nearby), strict=True):
            one = _tool(name, facts)
            found.append(_answering(one, task) if name == DONE else one)
        chosen = await nearest(ctx.acp, agents, task.text, MOST_AGENTS)
        for name, facts in zip(chosen, await ctx.acp.facts(chosen), strict=True):
            found.append(_agent(name, facts))
        places: list[StateSource] = []
        rooms = _rooms(environments)
        for name, facts in zip(rooms, await ctx.ecp.facts([*rooms]), strict=True):
            found += _chosen(_actions(name, facts), name, rooms[name])
            if not rooms[name]:
                places.append(_place(name, facts, await ctx.ecp.state(name)))
        taken = {one.name for one in found if one.kind != "tool"}
        found = [one for one in found if one.kind != "tool" or one.name in names or one.name not in taken]
        offered = await _offered(ctx, task, found, in_order=nearby != list(names))
        return cls(ctx, task, found, places, offered, further)

    def words(self) -> dict[str, Any]:
        """Return the variables of a prompt: tools (with environments' actions), agents, environments."""
        offered = [one for one in self._known.values() if one.name in self._offered]
        return {
            "tools": Fixed([*(one.words() for one in offered if one.kind != "agent"), *self._own]),
            "agents": Fixed(one.words() for one in offered if one.kind == "agent"),
            "environments": [place.words() for place in self._places.values()],
        }

    @property
    def _own(self) -> list[JsonObject]:
        """The functions of the loop; a component of the same name goes before one."""
        return [one for one in FUNCTIONS if one["name"] not in self._known]

    def is_own(self, name: str) -> bool:
        """Tell whether a name is that of a function of the loop."""
        return name in OWN and name not in self._known

    def named(self, name: str) -> str:
        """Return the name that is meant: models write `functions.x` for `x`."""
        last = name.rpartition(".")[2].strip()
        return last if name not in self._known and (last in self._known or last in OWN) else name

    def reads(self, name: str) -> bool:
        """Tell whether a call by that name declares to change nothing."""
        return name in self._known and self._known[name].reads

    def takes_findings(self, name: str) -> bool:
        """Tell whether a call by that name goes to an agent that is given what was found until then."""
        return name in self._known and self._known[name].takes_findings

    def is_agent(self, name: str) -> bool:
        """Tell whether a call by that name goes to an agent."""
        return name in self._known and self._known[name].kind == "agent"

    async def observe(self) -> dict[str, Any]:
        """Return the state of each environment that is not as it was observed last."""
        changed: dict[str, Any] = {}
        for name, place in self._places.items():
            state = _state(await self._ctx.ecp.state(name))
            if state != place.state:
                changed[name] = state
                self._places[name] = StateSource(
                    name=name, description=place.description, rules=place.rules, state=state
                )
        return changed

    async def call(self, call: ToolCall, facts: Sequence[Fact] = (), share: Budget | None = None) -> Observation:
        """Make one call; whatever is wrong with it becomes an outcome that the agent can act on.

        Args:
            call: The call.
            facts: What an agent is told that gets a task.
            share: The most that it may use.
        """
        try:
            one = self._known.get(call.name) or await self._look_up(call.name)
        except (UnknownComponent, BadRef) as error:
            return Observation.refused(call.id, call.name, call.arguments, error)
        if one.kind == "agent":
            return await self._delegate(one, call, facts, share)
        port = self._ctx.tcp if one.kind == "tool" else self._ctx.ecp
        return _outcome(call, await port.invoke(one.ref, call.arguments))

    async def _delegate(
        self, one: Capability, call: ToolCall, facts: Sequence[Fact], share: Budget | None
    ) -> Observation:
        try:
            task = self._part(one, lossless(DELEGATION, call.arguments), facts, share)
        except BadArguments as error:
            return Observation.refused(call.id, one.name, call.arguments, error)
        response = await self._ctx.acp.invoke(one.ref, task)
        outcome, result = _outcome(call, response), response.result
        if outcome.ok and not result.ok:
            fix = "replan, or end with success false."
            fix = "go on with what it found, or give it more." if result.exhausted else fix
            error = CallFailed(result.reason or f"{one.name} did not succeed.", fix=fix)
            return replace(outcome, ok=False, error=error.record())
        return outcome

    def _part(self, one: Capability, arguments: JsonObject, facts: Sequence[Fact], share: Budget | None) -> Task:
        """Return what an agent is asked to do.

        Raises:
            BadArguments: It is not a task.
        """
        fix = "give `task` in words, and `files` as a list of names."
        unknown = sorted(arguments.keys() - {"task"} - _GIVEN)
        if "task" not in arguments or unknown:
            wrong = "`task` is missing" if "task" not in arguments else f"{unknown[0]!r} is not one of its parameters"
            raise BadArguments(f"{one.name!r} got bad arguments: {wrong}.", fix=fix)
        given = {name: value for name, value in arguments.items() if name != "task" and value is not None}
        try:
            task = Task(text=arguments["task"], tools=self._task.tools, facts=tuple(facts), **given)
        except ValidationError as error:
            raise BadArguments(f"{one.name!r} got bad arguments: {reasons(error)}.", fix=fix) from error
        return task if share is None else task.model_copy(update={"budget": _least(task.budget, share)})

    async def _look_up(self, name: str) -> Capability:
        """Return what was too far from the task to be offered, and is there all the same."""
        kind = self._further.get(name, "tool")
        if name not in self._further and EVERY not in self._further:
            raise self._unknown(name)
        check_name(name, "what is called")
        try:
            (facts,) = await (self._ctx.tcp if kind == "tool" else self._ctx.acp).facts([name])
        except UnknownComponent as error:
            raise self._unknown(name) if name not in self._further else error from error
        (one,) = callables(kind, name, facts)
        self._known[name] = one
        return one

    def _unknown(self, name: str) -> UnknownComponent:
        there = [*(one for one in self._known if one in self._offered), *(str(one["name"]) for one in self._own)]
        near = difflib.get_close_matches(name, sorted({*there, *self._known, *self._further} - {EVERY}), n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        return UnknownComponent(f"Nothing to call is named {name[:80]!r}.", fix=f"{hint}there is {', '.join(there)}.")

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def delegated(self, outcome: Observation) -> Result | None:
        """Return the result of a call that went to an agent and gave one."""
        if not self.is_agent(outcome.name) or outcome.value is None or outcome.repeated:
            return None
        return Result.model_validate(outcome.value)


async def _offered(ctx: Context, task: Task, found: Sequence[Capability], *, in_order: bool) -> set[str]:
    """Return the names of what fits into the limits of an offer.

    What a task cannot do without goes first, then agents. Of actions and tools that are too many, those nearest to the
    task take turns, so that neither crowd the others out.

    Args:
        ctx: What the agent may reach.
        task: What it works on.
        found: What it may call.
        in_order: Whether its tools stand in order already, the nearest first.
    """
    bookkeeping = [one for one in found if one.name in BOOKKEEPING]
    agents = [one for one in found if one.kind == "agent"]
    actions = [one for one in found if one.kind == "environment"]
    tools = [one for one in found if one.kind == "tool" and one.name not in BOOKKEEPING]
    chosen = within_limits([*bookkeeping, *agents, *actions, *tools], Capability.words, MOST_OFFERED)
    if len(chosen) < len(found):
        actions = await _in_order(ctx, task, actions)
        tools = tools if in_order else await _in_order(ctx, task, tools)
        turns = [one for pair in zip_longest(actions, tools) for one in pair if one is not None]
        chosen = within_limits([*bookkeeping, *agents, *turns], Capability.words, MOST_OFFERED)
    return {one.name for one in chosen}


async def _in_order(ctx: Context, task: Task, found: Sequence[Capability]) -> list[Capability]:
    """Return those nearest to a task, the nearest first, no more than an offer holds."""
    known = {one.name: one for one in found}
    texts = {name: f"{name.replace('_', ' ')}\n{one.description}" for name, one in known.items()}
    return [known[name] for name in await ranked(ctx.tcp, texts, task.text, MOST_SCHEMAS)]


def allowed(tools: Sequence[str], wanted: Sequence[str] | None, also: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the tools that an agent with `tools` may use where the task names `wanted`.

    A task's own list replaces the agent's, except for what agents need to do their work at all; with `*` it adds to it,
    and so does what the task names with `also`.
    """
    own = tools if wanted is None or EVERY in wanted else [name for name in tools if name in BOOKKEEPING]
    chosen = (*(wanted or ()), *also, *own)
    return tuple(dict.fromkeys((*chosen, DONE)))


def callables(kind: Kind, name: str, facts: JsonObject) -> list[Capability]:
    """Return what an agent may call of a component, by the names it has there; see `tea.runs.services.facts`."""
    if kind == "environment":
        return _actions(name, facts)
    return [_tool(name, facts) if kind == "tool" else _agent(name, facts)]


def _tool(name: str, facts: JsonObject) -> Capability:
    (call,) = facts["operations"]
    return _capability("tool", name, name, call)


def _answering(done: Capability, task: Task) -> Capability:
    """Return `done` with the form of the wanted answer in its schema, so that providers hold models to it."""
    if task.answer is None or "$ref" in json.dumps(task.answer):  # a reference would lead elsewhere in another schema
        return done
    properties = {**done.parameters["properties"], "answer": task.answer}
    return replace(done, parameters={**done.parameters, "properties": properties})


def _agent(name: str, facts: JsonObject) -> Capability:
    metadata = cast("Mapping[str, Any]", facts.get("metadata", {}))
    return Capability(
        kind="agent",
        ref=name,
        name=name,
        description=str(facts.get("description", "")),
        parameters=DELEGATION,
        takes_findings=metadata.get("takes") == "findings",
    )


def _actions(name: str, facts: JsonObject) -> list[Capability]:
    operations = cast("list[dict[str, Any]]", facts["operations"])
    return [
        _capability("environment", f"{name}#{one['name']}", f"{name}_{one['name']}", one)
        for one in operations
        if one["name"] != "state"
    ]


def _rooms(environments: Sequence[str]) -> dict[str, set[str]]:
    """Return the environments that an agent names, each with the only actions it names, none for all."""
    found: dict[str, set[str]] = {}
    for one in environments:
        name, _, action = one.partition("#")
        found.setdefault(name, set()).update({action} - {""})
    return found


def _chosen(actions: list[Capability], name: str, wanted: set[str]) -> list[Capability]:
    """Return the actions of an environment that an agent names.

    Raises:
        UnknownComponent: There is none of a name.
    """
    known = {one.name.removeprefix(f"{name}_"): one for one in actions}
    if unknown := sorted(wanted - known.keys()):
        problem = f"The environment {name!r} has no action {unknown[0]!r}."
        raise UnknownComponent(problem, fix=f"it has {', '.join(known)}.")
    return [one for action, one in known.items() if not wanted or action in wanted]


def _capability(kind: Kind, ref: str, name: str, operation: JsonObject) -> Capability:
    return Capability(
        kind=kind,
        ref=ref,
        name=name,
        description=operation["description"],
        parameters=compact(operation["parameters"]),
        reads=operation["traits"]["effects"] == "reads",
    )


def _place(name: str, facts: JsonObject, state: Response) -> StateSource:
    return StateSource(name=name, description=facts["description"], rules=facts["rules"], state=_state(state))


def _state(response: Response) -> Any:
    """Return an observation, bounded; that there is none is an observation too."""
    return shortened(response.value, MOST_IN_STATE) if response.error is None else {"error": response.error}


def _outcome(call: ToolCall, response: Response) -> Observation:
    return Observation(
        id=call.id,
        name=call.name,
        arguments=call.arguments,
        ok=response.ok,
        value=response.value,
        error=response.error,
    )


def _least(first: Budget | None, second: Budget) -> Budget:
    """Return the smaller of each limit of two budgets."""
    if first is None:
        return second
    limits: dict[str, Any] = {}
    for name in ("steps", "seconds", "tokens", "usd"):
        given = [one for one in (getattr(first, name), getattr(second, name)) if one is not None]
        limits[name] = min(given, default=None)
    return first.model_copy(update=limits)
