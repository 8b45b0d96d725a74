"""The toolset of an agent for one task: tools, agents and environments' actions, under one set of names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from tea.components.clients import Caller
from tea.components.context import Context
from tea.components.manifest import canonical
from tea.components.operation import reasons
from tea.errors import BadArguments, BadComponent, CallFailed, ToolError, UnknownComponent
from tea.loop.call_arguments import meant_call
from tea.loop.capability import Capability, actions_of, agent_of, callables, chosen, needs, tool_of
from tea.loop.delegated_files import with_files, with_own_files
from tea.loop.done_arguments import corrected, fault_beside
from tea.loop.fields import Fields
from tea.loop.form import holds_form
from tea.loop.ledger import DRAFT, FIND_TOOLS, FUNCTIONS, NOTE, PLAN
from tea.loop.limits import least
from tea.loop.naming import habitual_name, nearest_name, plain_names
from tea.loop.observation import Observation
from tea.loop.offer import (
    BOOKKEEPING,
    CONFIDENCE,
    DONE,
    FIRST,
    MOST_FURTHER,
    OPEN_SKILL,
    OTHER_ENDS,
    SMALL_TOKENS,
    SURE,
    called_for,
    is_large,
    offered,
)
from tea.loop.shortlist import MOST_SCHEMAS, MOST_TOKENS, Fixed, nearest, ranked, within_limits
from tea.loop.skills import naming_skills, with_skills
from tea.loop.state_source import StateSource, observed, rooms_of, state_source
from tea.refs import Kind, Ref
from tea.retrieval.embedding.wordpiece import words as words_of
from tea.types import EVERY, Budget, Fact, JsonObject, JsonValue, Response, Result, Task, ToolCall, changed

OWN = tuple(str(one["name"]) for one in FUNCTIONS)
MOST_AGENTS = 20
MOST_FOUND = 3
LEAST_FIT = 0.35  # the least score of a function that fits a search
MOST_NEAR = 5  # functions that are named where none fits
LEAST_ROOM = 0.3  # of an environment whose actions are looked at
MOST_ADDED = 24
TOO_MUCH = f"{{}} cannot be added: at most {MOST_ADDED} of {MOST_TOKENS:,} tokens are, {MOST_SCHEMAS} with the first."
MOST_NAMED = 16  # of what can be added, in the words of the function that adds it
_PARAGRAPH = "\n\n"
_WORD = re.compile(r"\w+")
_KINDS: tuple[Kind, ...] = ("tool", "agent", "environment")
_GIVEN = frozenset({"files", "answer", "budget"})


class Toolset:
    """The functions an agent may call in one task; those within the limits are offered to a model.

    Args:
        ctx: What the agent may reach.
        task: What it works on.
        found: What was looked up.
        places: Its environments.
        offered: The names that a model is told at first, of the loop's own functions too.
        further: What was not looked up, by name: it is when it is found.
        vast: Whether the registry may hold more than was looked up.
    """

    def __init__(
        self,
        ctx: Context,
        task: Task,
        found: Iterable[Capability],
        places: Iterable[StateSource],
        offered: Collection[str],
        further: Mapping[str, Kind],
        *,
        vast: bool = False,
    ) -> None:
        self._ctx = ctx
        self._task = task
        self._offered = offered
        self._added: list[str] = []
        self._learned = 0
        self._further = further
        self._vast = vast
        self._places = {place.name: place for place in places}
        self._renewed: dict[str, str] = {}
        self._known: dict[str, Capability] = {}
        for one in found:
            if other := self._known.get(one.name):
                problem = f"{other.kind} {other.ref!r} and {one.kind} {one.ref!r} are both called {one.name!r}."
                raise BadComponent(problem, fix="leave one of them out, or register it under another name.")
            self._known[one.name] = one
        self._granted = {*further, *(one.name for one in self._known.values() if one.kind != "tool")} - {EVERY}

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
        """Look up an agent's declared and permitted functions, the nearest of very many, and observe the environments.

        Args:
            ctx: What the agent may reach.
            task: What it works on.
            tools: Names of its tools; with `*` the best of the registry for the task are offered beside them.
            agents: Names of the agents it may delegate to.
            environments: Names of its environments; `name#action` offers that action alone, without the state.
            reads_texts: Whether who answers reads descriptions; a solver calls what it knows.

        Raises:
            UnknownComponent: Something is not registered.
            BadComponent: Two have the same name.
        """
        found: list[Capability] = []
        names, agents = _on(ctx, "tool", with_skills(ctx, tools, task, reads_texts)), _on(ctx, "agent", agents)
        own = [name for name in names if name != EVERY]
        kept = own if EVERY in names and len(own) < MOST_SCHEMAS else BOOKKEEPING
        asked = task.tools is not None and EVERY in task.tools
        most = MOST_SCHEMAS if asked or EVERY not in names else len(own) + MOST_FURTHER
        names = names if reads_texts or asked else tuple(own)
        nearby = await nearest(ctx.tcp, names, task.text, most, kept)
        further: dict[str, Kind] = {**dict.fromkeys(agents, "agent"), **dict.fromkeys(names, "tool")}
        for name, facts in zip(nearby, await ctx.tcp.facts([*nearby], unseen=True), strict=True):
            if ctx.searches or needs(facts) != "search" or name in (*(task.tools or ()), *task.also):
                found.append(await _completed(ctx, replace(tool_of(name, facts), trusted=nearby[name]), task))
        found += await _agents(ctx, task, agents)
        places: list[StateSource] = []
        rooms, whole = rooms_of(_on(ctx, "environment", environments)), set[str]()
        for name, facts in zip(rooms, await ctx.ecp.facts([*rooms]), strict=True):
            if needs(facts) == "sandbox" and not (ctx.sandbox and (task.tools is None or EVERY in task.tools)):
                continue  # it could only refuse, or the task names the tools that it is to be done with
            actions = chosen(await _actions(ctx, name, facts, with_packages=reads_texts), name, rooms[name])
            found += actions
            if not rooms[name]:
                places.append(state_source(name, facts, await ctx.ecp.state(name)))
                whole |= {one.name for one in actions}
        taken = {one.name for one in found if one.kind != "tool"}
        found = [one for one in found if one.kind != "tool" or one.name in names or one.name not in taken]
        first, tokens, functions = found, MOST_TOKENS, _own_functions(task)
        if EVERY in (*tools, *names) and reads_texts:
            functions.add(FIND_TOOLS)
            if not asked:
                kept = {*(task.tools or ()), *task.also, *FIRST, *whole, *(one.name for one in found if one.codes)}
                first = await called_for(ctx, task, found, {*own}, kept)
                tokens = MOST_TOKENS if task.files or is_large(task) else SMALL_TOKENS
        shown = await offered(ctx, task, first, in_order=[*nearby] != list(names), tokens=tokens)
        await _show(ctx, [one for one in found if one.name in shown])
        return cls(ctx, task, found, places, shown | functions, further, vast=len(nearby) >= most)

    def words(self) -> dict[str, Any]:
        """Return the variables of a prompt: tools (with environments' actions), agents, environments."""
        shown = [one for one in self._known.values() if one.name in self._offered]
        own = [self._own_words(one) for one in FUNCTIONS if one["name"] in self._offered]
        return {
            "tools": Fixed([*(one.words() for one in shown if one.kind != "agent"), *filter(None, own)]),
            "agents": Fixed(one.words() for one in shown if one.kind == "agent"),
            "environments": [place.words() for place in self._places.values()],
        }

    def words_to_end(self, *, writes: bool) -> dict[str, Any]:
        """Return the functions of the last question as variables of a prompt: `done`, and some writing ones.

        Args:
            writes: Whether the task names a file to write, so that actions without a result to look at stay.
        """
        open_ones = [one for name, one in self._known.items() if self.is_open(name)]
        kept = [one.words() for one in open_ones if one.name == DONE or (writes and not one.shows)]
        return {"tools": Fixed(kept), "agents": Fixed(), "further": Fixed()}

    def added(self) -> list[JsonObject]:
        """Return the functions added since the first request, in their order of addition."""
        own = {str(one["name"]): one for one in FUNCTIONS}
        return Fixed(self._known[name].words() if name in self._known else own[name] for name in self._added)

    def add(self, *names: str) -> None:
        """Add functions to the offer."""
        self._added += [name for name in names if name not in (*self._offered, *self._added)]

    async def learn(self) -> list[str]:
        """Take up new components of this run, made or mended since the last step, and return their functions by name.

        A further version of something known is called in its place; its schema takes the same arguments.
        """
        refs = await self._ctx.tcp.new(self._learned)
        self._learned += len(refs)
        takes = self._task.tools is None or EVERY in self._task.tools
        parsed = [Ref.parse(one) for one in refs]
        made = [str(one) for one in parsed if one.kind == "tool" and (takes or one.name in self._known)]
        names: list[str] = []
        for ref, facts in zip(made, await self._ctx.tcp.facts(made), strict=True):
            name = str(facts["name"])
            new, known = tool_of(name, facts), self._known.get(name)
            if known is not None and known.kind != "tool":
                continue
            self._known[name] = replace(new if known is None else known, ref=ref.removeprefix("tool:"))
            names.append(name)
        self.add(*names)
        return [*names, *(name for one in parsed if one.kind != "tool" for name in self._renew(one))]

    def _renew(self, ref: Ref) -> list[str]:
        """Let a version of a known agent or environment be called from now on, and return its functions by name."""
        exact = str(ref).partition(":")[2]
        known = {name: one for name, one in self._known.items() if (one.kind, _bare(one.ref)) == (ref.kind, ref.name)}
        for name, one in known.items():
            _, mark, operation = one.ref.partition("#")
            self._known[name] = replace(one, ref=f"{exact}{mark}{operation}")
        if ref.kind == "environment" and ref.name in self._places:
            self._renewed[ref.name] = exact
        return [*known]

    def _own_words(self, function: JsonObject) -> JsonObject | None:
        """Return a function of the loop in its offered form; a component of the same name takes precedence."""
        if function["name"] in self._known:
            return None
        hidden = [one.name for one in self._known.values() if one.trusted and one.name not in self._offered]
        left = sorted(hidden, key=self._distance)
        if function["name"] != FIND_TOOLS or not left:
            return dict(function)
        more = " and more" if self._vast or len(left) > MOST_NAMED else ""
        return {**function, "description": f"{function['description']} There are {', '.join(left[:MOST_NAMED])}{more}."}

    def _distance(self, name: str) -> int:
        """Return the rank of a function among those to be named: the agent's own, the registry's, then made ones."""
        one = self._known[name]
        return 2 if one.made else 0 if one.kind == "environment" or name in self._further else 1

    def is_open(self, name: str) -> bool:
        """Return whether a function is offered or was added."""
        return name in self._offered or name in self._added

    async def find(self, arguments: JsonObject) -> JsonValue:
        """Add the functions best matching a query text to the offer, and return them.

        Raises:
            BadArguments: The query holds no word.
            ToolError: Nothing more can be added.
        """
        query = arguments.get("query")
        if not isinstance(query, str) or not words_of(query):
            raise BadArguments("A search needs words.", fix='say what is needed: {"query": "write a file"}.')
        kinds, texts = await self._candidates(query)
        there = {name: one.text for name, one in self._known.items() if self.is_open(name)}
        named, said = self.named(query.strip()), set(_WORD.findall(query.casefold()))
        spoken = [named] if named in texts else [name for name in {**texts, **there} if name.casefold() in said]
        fitting = spoken
        if named not in texts:
            most = MOST_FOUND + len(there)
            fitting = await ranked(self._ctx.tcp, {**texts, **there}, query, most, least=LEAST_FIT)
        fitting = list(dict.fromkeys([*spoken, *fitting]))
        names = [name for name in fitting if name not in there][: max(MOST_FOUND, len({*spoken} - {*there}))]
        for name in names:
            if name not in self._known:
                (facts,) = await self._port(kinds[name]).facts([name])
                if self._ctx.searches or needs(facts) != "search":
                    (self._known[name],) = callables(kinds[name], name, facts)
        idle = [one for one in names if one not in self._known or (self.searches(one) and not self._ctx.searches)]
        usable = self._fitting([name for name in names if name not in idle])
        await _show(self._ctx, [self._known[name] for name in usable])
        self.add(*usable)
        long = [name for name in names if name not in (*usable, *idle)]
        lacks = [f"{' and '.join(idle)} cannot be used: no search engine is configured."] * bool(idle)
        lacks += [TOO_MUCH.format(" and ".join(long))] * bool(long)
        near = () if fitting else await ranked(self._ctx.tcp, {**texts, **there}, query, MOST_NEAR)
        near = [name for name in near if name not in self._known or self._known[name].trusted]
        return self._told_found(query, usable, [name for name in fitting if name in there], " ".join(lacks), near)

    def _fitting(self, names: Sequence[str]) -> list[str]:
        """Return the functions still fitting within the limits of number and tokens."""
        added = [name for name in self._added if name in self._known]
        most = min(MOST_ADDED, MOST_SCHEMAS - len(self._offered))
        kept = within_limits([*added, *names], lambda name: self._known[name].words(), most, MOST_TOKENS)
        return [name for name in names if name in kept]

    def _told_found(
        self, query: str, names: Sequence[str], there: Sequence[str], lacks: str, near: Sequence[str]
    ) -> str:
        """Return the functions found by a search: added ones, open ones fitting or running code, and unusable ones.

        Raises:
            ToolError: Nothing fits.
        """
        codes = [name for name, one in self._known.items() if one.codes and self.is_open(name)]
        if not names and not there:
            code = f"write it as a program for {codes[0]}" if codes else "use what is there"
            nearest = f" The nearest are {', '.join(near)}: a search by name adds one." if near else ""
            fix = f"{code}, say it in other words, or end honestly without it.{nearest}"
            said = f"Nothing was added for {query[:100]!r}. {lacks}" if lacks else f"No function fits {query[:100]!r}."
            raise ToolError(said, fix=fix)
        already = ", ".join(dict.fromkeys((*there[:MOST_FOUND], *codes)))
        if not names:
            return f"Nothing else fits; these can be called already: {already}. {lacks}".rstrip()
        lines = [f"{name}: {self._known[name].description.partition(_PARAGRAPH)[0]}" for name in names]
        lines += [f"As before: {already}."] if already else []
        return "\n".join(["These can be called now:", *lines, *([lacks] if lacks else [])])

    async def _candidates(self, query: str) -> tuple[dict[str, Kind], dict[str, str]]:
        """Return the functions available for addition: their kinds, and their texts for retrieval, by name."""
        kinds, found = dict[str, Kind](), dict[str, str]()
        for kind in _KINDS if EVERY in self._further else ():
            known = [one.ref.partition("#")[0] for one in self._known.values() if one.kind == kind]
            besides = [*known, self._ctx.agent] if kind == "agent" else known
            matches = await self._port(kind).retrieve(query, MOST_FOUND, among=[EVERY], besides=besides)
            for match in matches:
                name = str(match["name"])
                if kind == "environment" and name in self._agents():
                    if not self.is_open(name):
                        own = self._known[name].text if name in self._known else name.replace("_", " ")
                        kinds[name], found[name] = "agent", f"{own}\n{match['description']}"
                elif kind == "environment":
                    if float(match["score"]) >= LEAST_ROOM:
                        await self._enter(name)
                elif name not in self._known and name not in found:
                    kinds[name], found[name] = kind, f"{name.replace('_', ' ')}\n{match['description']}"
        hidden = {name: one.text for name, one in self._known.items() if not self.is_open(name)}
        return kinds, {**hidden, **found}

    def _agents(self) -> set[str]:
        """Return the names of the agents to delegate to; one called like an environment acts in it for others."""
        known = {name for name, one in self._known.items() if one.kind == "agent"}
        return known | {name for name, kind in self._further.items() if kind == "agent"}

    async def _enter(self, environment: str) -> None:
        """Look up the actions of a found environment; one in need of a sandbox has none without it."""
        (facts,) = await self._ctx.ecp.facts([environment])
        if needs(facts) == "sandbox" and not self._ctx.sandbox:
            return
        for one in await _actions(self._ctx, environment, facts, with_packages=True):
            self._known.setdefault(one.name, one)

    def _port(self, kind: Kind) -> Caller:
        ports: dict[str, Caller] = {"tool": self._ctx.tcp, "agent": self._ctx.acp, "environment": self._ctx.ecp}
        return ports[kind]

    def component(self, name: str) -> str:
        """Return the ref of the tool, agent or environment called by a name, empty for anything else."""
        one = self._known.get(name)
        if one is None:
            return ""
        return one.ref if one.kind == "tool" else f"{one.kind}:{one.ref.partition('#')[0]}"

    def is_own(self, name: str) -> bool:
        """Return whether a name belongs to a function of the loop."""
        return name in OWN and name not in self._known

    def named(self, name: str) -> str:
        """Return the intended name: models write `functions.x`, `X` for `x`, `python` for `shell_python`, `tool:x`."""
        if name in self._known:
            return name
        for one in plain_names(name):
            if one in self._known or one in self._further:
                return one
            if one in OTHER_ENDS and DONE in self._known:
                return DONE
            if near := nearest_name(one, (*self._known, *OWN), filter(self._is_allowed, self._known)):
                return near
            if meant := habitual_name(one, filter(self._is_allowed, self._known)):
                return meant
        return name

    def meant(self, call: ToolCall) -> tuple[ToolCall, str]:
        """Return a call by the intended name and with its arguments as meant, and a note for the model."""
        call = changed(call, name=self.named(call.name))
        one = self._known.get(call.name)
        return (call, "") if one is None else meant_call(one, call, self._task)

    def runs(self) -> tuple[bool, bool]:
        """Return whether open functions run code, and whether they run queries."""
        there = [one for name, one in self._known.items() if self.is_open(name)]
        return any(one.codes for one in there), any("sql" in one.parameters.get("properties", {}) for one in there)

    def written_by(self, outcome: Observation) -> JsonObject | None:
        """Return the arguments of a call changing a file of the workspace, None for another."""
        one = self._known.get(outcome.name)
        if one is None or one.kind != "environment" or one.reads or _bare(one.ref) != "workspace":
            return None
        return one.understood(outcome.arguments)

    def reads(self, name: str) -> bool:
        """Return whether a call of the given name is allowed, and declares to change nothing."""
        return name in self._known and self._known[name].reads and self._is_allowed(name)

    def shows(self, name: str) -> bool:
        """Return whether a call of the given name is made for its result."""
        return name not in self._known or self._known[name].shows

    def image(self, call: ToolCall) -> str:
        """Return a key of a call: the same text for all calls with the same meaning."""
        one = self._known.get(call.name)
        return f"{call.name} {canonical(call.arguments if one is None else one.meant(call.arguments)).decode()}"

    def takes_findings(self, name: str) -> bool:
        """Return whether a call of the given name goes to an agent accepting findings."""
        return name in self._known and self._known[name].takes_findings

    def searches(self, name: str) -> bool:
        """Return whether a call of the given name searches the web or documents."""
        return name in self._known and self._known[name].searches

    def is_agent(self, name: str) -> bool:
        """Return whether a call of the given name goes to an agent."""
        return name in self._known and self._known[name].kind == "agent"

    async def observe(self) -> dict[str, Any]:
        """Return the state of each environment changed since its last observation."""
        changed: dict[str, Any] = {}
        for name, place in self._places.items():
            state = observed(await self._ctx.ecp.state(self._renewed.get(name, name)))
            if state != place.state:
                changed[name] = state
                self._places[name] = StateSource(
                    name=name, description=place.description, rules=place.rules, state=state
                )
        return changed

    async def call(self, call: ToolCall, facts: Sequence[Fact] = (), share: Budget | None = None) -> Observation:
        """Make one call; any error in it becomes an outcome for the agent to act on.

        Args:
            call: The call.
            facts: What an agent is told that gets a task.
            share: The most that it may use.
        """
        try:
            one = await self._look_up(call.name)
        except UnknownComponent as error:
            return Observation.refused(call.id, call.name, call.arguments, error)
        if one.kind == "agent":
            return await self._delegate(one, call, facts, share)
        port = self._ctx.tcp if one.kind == "tool" else self._ctx.ecp
        call = with_own_files(one, call, self._task.files)
        if one.name == DONE:
            call = changed(call, arguments=corrected(one.parameters, call.arguments, self._task.answer))
            if (error := fault_beside(one.parameters, call.arguments, self._task.answer)) is not None:
                return Observation.refused(call.id, call.name, call.arguments, error)
        return _outcome(call, await port.invoke(one.ref, one.exactly(call.arguments)))

    async def _delegate(
        self, capability: Capability, call: ToolCall, facts: Sequence[Fact], share: Budget | None
    ) -> Observation:
        call = changed(call, arguments=capability.understood(call.arguments))
        call = with_own_files(capability, call, self._task.files)
        try:
            task = self._part(capability, await with_files(self._ctx, call.arguments, self._task.files), facts, share)
        except BadArguments as error:
            return Observation.refused(call.id, capability.name, call.arguments, error)
        response = await self._ctx.acp.invoke(capability.ref, task)
        outcome, result = _outcome(call, response), response.result
        if outcome.ok and not result.ok:
            fix = "replan, or end with success false."
            fix = "go on with what it found, or give it more." if result.exhausted else fix
            error = CallFailed(result.reason or f"{capability.name} did not succeed.", fix=fix)
            return replace(outcome, ok=False, error=error.record())
        return outcome

    def _part(self, capability: Capability, arguments: JsonObject, facts: Sequence[Fact], share: Budget | None) -> Task:
        """Return the task for a called agent.

        Raises:
            BadArguments: It is not a task.
        """
        fix = "give `task` in words, and `files` as a list of names."
        unknown = sorted(arguments.keys() - {"task"} - _GIVEN)
        if "task" not in arguments or unknown:
            wrong = "`task` is missing" if "task" not in arguments else f"{unknown[0]!r} is not one of its parameters"
            raise BadArguments(f"{capability.name!r} got bad arguments: {wrong}.", fix=fix)
        given = {name: value for name, value in arguments.items() if name != "task" and value is not None}
        try:
            task = Task(text=arguments["task"], tools=self._task.tools, facts=tuple(facts), **given)
        except ValidationError as error:
            raise BadArguments(
                f"{capability.name!r} got bad arguments: {reasons(error, given=True)}.", fix=fix
            ) from error
        return task if share is None else task.model_copy(update={"budget": least(task.budget, share)})

    def _is_allowed(self, name: str) -> bool:
        """Return whether a function may be called: granted by agent or task, offered, or found."""
        return name in self._granted or self.is_open(name)

    async def _look_up(self, name: str) -> Capability:
        """Return an allowed function; a granted one may have been too far from the task to be offered.

        Raises:
            UnknownComponent: It is not allowed, or there is none.
        """
        if not self._is_allowed(name) or (name not in self._known and name not in self._further):
            raise self._unknown(name)
        if name not in self._known:
            kind = self._further[name]
            (facts,) = await self._port(kind).facts([name])
            (self._known[name],) = callables(kind, name, facts)
        return self._known[name]

    def _unknown(self, name: str) -> UnknownComponent:
        """Return the error for a function not allowed, with the nearest name and the way to further ones."""
        usable = [one for one in self._granted if one in self._known]  # without a search engine no search is
        there = list(dict.fromkeys((*sorted({*self._offered, *self._added}), *sorted(usable))))[:MOST_SCHEMAS]
        if name in self._known:
            fix = f'call {FIND_TOOLS} with {{"query": "{name}"}} first, or use what is there: {", ".join(there)}.'
            return UnknownComponent(f"{name!r} is not among the functions offered.", fix=fix)
        near = difflib.get_close_matches(name.casefold(), sorted({*there, *usable}), n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        more = f"; {FIND_TOOLS} adds others" if FIND_TOOLS in self._offered else ""
        fix = f"{hint}there is {', '.join(there)}{more}."
        return UnknownComponent(f"Nothing to call is named {name[:80]!r}.", fix=fix)

    def delegated(self, outcome: Observation) -> Result | None:
        """Return the result of a call made to an agent, of a broken one its error; None for any other call."""
        if not self.is_agent(outcome.name) or not outcome.made or outcome.repeated:
            return None
        return outcome.result


def _own_functions(task: Task) -> set[str]:
    """Return the names of the loop's functions useful from a task's first step on."""
    fields = Fields.of(task.answer)
    many = {DRAFT} if fields is not None and fields.are_many else set[str]()
    return {NOTE, PLAN, *many} if is_large(task) else many


async def _completed(ctx: Context, tool: Capability, task: Task) -> Capability:
    """Complete a tool for the task: `done` with the form of the answer, `open_skill` with the skills."""
    if tool.name == DONE:
        return _answering(tool, task, confident=ctx.attempt)
    return await naming_skills(ctx, tool, task) if tool.name == OPEN_SKILL else tool


async def _agents(ctx: Context, task: Task, names: Sequence[str]) -> list[Capability]:
    """Return the agents nearest to a task, without those of no use here."""
    chosen = await nearest(ctx.acp, names, task.text, MOST_AGENTS)
    among = zip(chosen, await ctx.acp.facts([*chosen], unseen=True), strict=True)
    usable = ((name, facts) for name, facts in among if ctx.searches or needs(facts) != "search")
    return [replace(agent_of(name, facts), trusted=chosen[name]) for name, facts in usable]


async def _show(ctx: Context, found: Iterable[Capability]) -> None:
    """Look up the facts of functions about to be shown to a model, so their words count as read."""
    refs = [(one.kind, one.ref) for one in found]
    await ctx.tcp.facts([ref for kind, ref in refs if kind == "tool"])
    await ctx.acp.facts([ref for kind, ref in refs if kind == "agent"])


async def _actions(ctx: Context, name: str, facts: JsonObject, *, with_packages: bool) -> list[Capability]:
    """Return the actions of an environment; with `with_packages`, name the installed packages in those for code."""
    found = actions_of(name, facts)
    if not with_packages or not ctx.sandbox or not any(one.codes for one in found):
        return found
    packages = await ctx.sandbox_packages()
    more = f"Installed: {', '.join(packages)}." if packages else "Only the standard library is installed."
    return [replace(one, description=f"{one.description} {more}") if one.codes else one for one in found]


def _answering(done: Capability, task: Task, *, confident: bool) -> Capability:
    """Return `done` with the form of the answer in its schema, for enforcement by providers.

    In one of several attempts it also asks for the confidence in the answer.
    """
    added = {"answer": task.answer} if holds_form(task) else {}
    added |= {CONFIDENCE: SURE} if confident else {}
    if not added:
        return done
    return replace(done, parameters={**done.parameters, "properties": {**done.parameters["properties"], **added}})


def _bare(ref: str) -> str:
    """Return the name in a ref without its kind."""
    return ref.partition("#")[0].partition("@")[0]


def _on(ctx: Context, kind: Kind, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a kind not switched off for the run; of an action counts its environment."""
    rooms = {name: name.partition("#")[0] for name in names}
    return tuple(name for name, room in rooms.items() if not {room, f"{kind}:{room}"} & {*ctx.without})


def _outcome(call: ToolCall, response: Response) -> Observation:
    return Observation(
        id=call.id,
        name=call.name,
        arguments=call.arguments,
        ok=response.ok,
        value=response.value,
        error=response.error,
    )
