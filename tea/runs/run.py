"""Run: one task executed once, with every call an effect or a scope of its gate."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from tea.components.context import Context, Port
from tea.components.definition import Definition
from tea.components.manifest import Manifest, is_recipe
from tea.components.operation import Traits
from tea.errors import BadArguments, BadInput, CallError, CallFailed, NotLocked, RegistryError, words_of
from tea.journal.header import RunConfig
from tea.journal.recorder import Recorder
from tea.kernel.entry import Entry, JsonText, canonical, encode
from tea.kernel.gate import Gate
from tea.models.manager import CallTool
from tea.protocols.instances import Place
from tea.refs import Kind, Ref, with_kind
from tea.runs.authorization import Authorizer
from tea.runs.budget import BudgetAccount, BudgetAccounts
from tea.runs.call import Aim, Call
from tea.runs.deps import RunDeps
from tea.runs.human_input import HumanInput
from tea.runs.memories import Memories
from tea.runs.model_calls import ModelCalls
from tea.runs.pins import Pins, component
from tea.runs.places import Places
from tea.runs.policy import BEYOND
from tea.runs.ports import AgentPort, LeafPort
from tea.runs.services import RunServices
from tea.runs.share import within_limits
from tea.runs.transcriber import Transcriber
from tea.types import AgentResponse, JsonObject, JsonValue, Response, as_object, failure


class Run:
    """A run: its agents' calls with their effects, and the results in the journal.

    Args:
        run_config: What it is given from outside.
        deps: What it shares with other runs.
        gate: Its boundary.
        recorder: Writes what is not the gate's.
        account: Its budget.
        answers: A person's answers to calls that wait, by key.
        intents: Keys of calls that an earlier process may have carried out.
    """

    def __init__(
        self,
        run_config: RunConfig,
        deps: RunDeps,
        gate: Gate,
        recorder: Recorder,
        account: BudgetAccount,
        answers: Mapping[str, str] | None = None,
        intents: frozenset[str] = frozenset(),
    ) -> None:
        self.run_config, self.gate, self.recorder = run_config, gate, recorder
        self.accounts = BudgetAccounts(account)
        self.id, self.session, self.task_id = run_config.run, run_config.session, run_config.task
        self.workspace, self.inputs, self.sandboxes = run_config.workspace, run_config.inputs, deps.sandboxes
        self.servers = deps.servers
        own = weakref.proxy(self)  # nothing of a run holds the run, so all of it goes when it has ended
        self.pins = Pins(gate, deps.libraries, run_config.use, run_config.versions, locked=run_config.locked)
        self.memories, self.places = Memories(self.pins), Places()
        self.services = RunServices(
            own, deps.memory, self.accounts, Transcriber(deps.models, run_config.model), deps.web
        )
        self.human_input = HumanInput(deps.person, recorder, answers or {})
        self.model_calls = ModelCalls(
            gate,
            deps.models,
            deps.prompts,
            self.accounts,
            self.pins.resolve,
            partial(Run._tools, own),
            run_config.model,
            recorder,
        )
        self._permission = Authorizer(
            deps.policy,
            deps.person,
            recorder,
            answers or {},
            intents,
            deps.consents,
            run_config.allow,
        )
        self._aims: dict[tuple[Kind, str], Aim] = {}
        self._inner: Counter[str] = Counter()
        self._lost: set[Place] = set()
        self._told: Mapping[str, JsonObject] = {}
        self._anew = False
        gate.on_fork(partial(Run._change, own))

    def context(
        self, port: Port, agent: str, *, opens_files: bool, branch: str = "", declared: JsonObject | None = None
    ) -> Context:
        """Return the context of a component of this run.

        Args:
            port: Carries its wishes.
            agent: Name of the agent that works.
            opens_files: Whether it may open files itself.
            branch: The branch to which a private environment belongs.
            declared: What an agent declares.
        """
        return Context(
            port=port,
            principal=self.run_config.principal,
            run=self.id,
            session=self.session,
            task=self.task_id,
            agent=agent,
            workspace=self.run_config.workspace,
            locale=self.run_config.locale,
            sandbox=self.run_config.sandbox,
            opens_files=opens_files,
            branch=branch,
            declared=declared or {},
        )

    async def invoke(
        self, kind: Kind, ref: str, arguments: JsonObject, agent: str, depth: int, through: tuple[str, ...] = ()
    ) -> Response:
        """Call an operation for `agent`: an effect, or for a scope a part of this run."""
        server = self.servers[kind]
        try:
            aim = self._aims.get((kind, ref)) or await self._aim(kind, ref)
            call = Call.of(aim, arguments, agent, depth, through)
        except (RegistryError, BadInput, CallError) as error:
            return failure(server.response, with_kind(ref, kind), error)
        return await (self._scope(call) if aim.signature.traits.scope else self._leaf(call))

    async def _aim(self, kind: Kind, ref: str) -> Aim:
        """Return the meaning of a ref in this run, with its version pinned, and the memory named by an agent too."""
        server = self.servers[kind]
        parsed = server.manager.ref(ref)
        config = await self.pins.resolve(parsed)
        if (memory := config.memory) is not None:
            await self.memories.found(memory)
            if await self.pins.resolve(parsed) is not config:  # a fork let go of it while its memory was looked up
                return await self._aim(kind, ref)
        aim = self._aims[kind, ref] = Aim.of(server, config, parsed)
        return aim

    async def within(
        self,
        kind: Kind,
        ref: str,
        arguments: JsonObject,
        key: str,
        agent: str,
        depth: int,
        through: tuple[str, ...] = (),
    ) -> Response:
        """Call an operation from inside an effect; its work is evidence, not an effect of its own."""
        server, inner = self.servers[kind], f"{key}!{self._inner[key]}"
        self._inner[key] += 1  # before it waits for anything: when its effect begins anew, the keys are the same
        try:
            parsed = server.manager.ref(ref)
            call = Call.of(Aim.of(server, await self.pins.pin(parsed), parsed), arguments, agent, depth, through)
            canonical(_begun(call))  # evidence holds no more than the start of a call
        except NotLocked:
            raise
        except (RegistryError, BadInput, CallError) as error:
            return failure(server.response, with_kind(ref, kind), error)
        if (stands := self._stood(call, inner)) is not None:
            return stands
        response = await self._permit(call, inner) or await self._execute(call, inner)
        try:
            self._evidence(call, inner, str(component(parsed)), response)
        except (BadInput, RecursionError) as error:
            response = _not_told(call, f"{words_of(error)}.")
            self._evidence(call, inner, str(component(parsed)), response)
        return response

    def recall(self, told: Mapping[str, JsonObject], *, anew: bool) -> None:
        """Set the earlier responses to tool calls inside effects, from the evidence, by key.

        Args:
            told: The data of each evidence.
            anew: Whether the workspace is another one, so that what they wrote there is to be written again.
        """
        self._told, self._anew = told, anew

    def _stood(self, call: Call, key: str) -> Response | None:
        """Return the earlier response to a call inside a restarted effect, if the call is not to be repeated."""
        told, traits = self._told.get(key), call.aim.signature.traits
        if told is None or traits.scope or traits.effects == "reads" or "?" in key:
            return None
        if self._anew and traits.effects == "writes":
            return None
        begun = _begun(call)
        same = canonical({name: told.get(name) for name in begun}) == canonical(self.recorder.mask.data(begun))
        return call.server.response.model_validate(told["response"]) if same else None

    def _evidence(self, call: Call, key: str, pin: str, response: Response) -> None:
        """Write the evidence of a call inside an effect, with its response."""
        data = {**_begun(call), "response": response.model_dump(mode="json"), "pin": pin}
        self.recorder.write("evidence", key, {"kind": call.config.kind, "target": call.target, "data": data})

    async def repeat(self, entry: Entry, agent: str) -> Response:
        """Repeat a recorded call outside the gate, to restore its effects; nothing is recorded.

        Args:
            entry: Its start.
            agent: Who asked.

        Raises:
            ApprovalNeeded: The policy wants to ask a person.
        """
        ref, data = Ref.parse(entry.target), as_object(entry.data)
        aim = Aim.of(self.servers[ref.kind], self.pins.exact(entry.target, data["digest"]), ref)
        call = Call.of(aim, data["arguments"], agent, 0)
        with self.recorder.silence():
            return await self._permit(call, entry.key) or await self._execute(call, entry.key)

    async def outside(self, config: Manifest, branch: str = "") -> tuple[Definition, Context]:
        """Return the definition of a version held by this run, and the context of work outside any call."""
        definition = await self.pins.definition(config)
        return definition, self.context(LeafPort(self, "", "", 0), "", opens_files=True, branch=branch)

    def lose(self, place: Place) -> None:
        """Make the next call of an environment report the loss of its state."""
        self._lost.add(place)

    def place(self, config: Manifest, key: str) -> Place:
        """Return the place of an environment's call, by its key."""
        branch = self.places.branch(key) if config.sharing == "private" else ""
        return Place(self.session, config.digest, self.id if branch else "", branch)

    def _change(self, data: JsonObject) -> None:
        """Continue with the versions and the model of a fork."""
        self.pins.change(data["use"])
        self._aims.clear()
        self.model_calls.change(data["model"])

    async def _leaf(self, call: Call) -> Response:
        async def perform(key: str) -> JsonValue:
            response = await self._permit(call, key) or await self._execute(call, key)
            try:
                return JsonText(encode(response.model_dump(mode="json")))
            except BadArguments as error:
                return _not_told(call, error.problem).model_dump(mode="json")

        try:
            value = await self.gate.effect(call.config.kind, call.target, _begun(call), perform)
        except BadArguments as error:  # they are not JSON, so there is nothing to record
            return failure(call.server.response, call.target, error)
        return call.server.response.model_validate(value)

    async def _scope(self, call: Call) -> Response:
        traits, principal = await self._traits(call), self.run_config.principal
        stands = self._permission.stands((call.target, *call.through), traits, principal)

        async def perform(key: str) -> JsonValue:
            stands_in = None if stands else await self._permit(call, key)
            return None if stands_in is None else stands_in.model_dump(mode="json")

        data = {"digest": call.config.digest}
        if not call.aim.passes_on:
            stands_in = await self.gate.effect("policy", call.target, data, perform, "looks" if stands else None)
            if stands_in is not None:
                return call.server.response.model_validate(stands_in)
        with self.gate.scope() as key:
            worker = call.config.name if call.config.kind == "agent" else call.agent
            self.recorder.enter(key, worker)
            self.memories.enter(key, call.config)
            self.places.enter(key, call.config)
            self.gate.note("enter", {"ref": call.target, **_begun(call)})
            definition = self.pins.loaded(call.config)
            if model := definition.metadata.get("model"):
                self.model_calls.declared[worker] = model
            port, branch = AgentPort(self, worker, call.depth + 1, call.handed_on), self.place(call.config, key).branch
            context = self.context(port, worker, opens_files=False, branch=branch, declared=definition.declared)
            work = partial(call.server.carry_out, call.config, definition, call.aim.operation, call.arguments, context)
            response = await within_limits(call, key, self.gate, self.accounts, partial(work, None))
            try:
                self.gate.note("exit", {"ref": call.target, "response": response.model_dump(mode="json")})
            except BadArguments as error:
                response = _not_told(call, error.problem)
                self.gate.note("exit", {"ref": call.target, "response": response.model_dump(mode="json")})
            if isinstance(response, AgentResponse) and response.result.ok and response.result.answer != "":
                self.accounts.of(key).so_far(response.result)
            return response

    async def _execute(self, call: Call, key: str) -> Response:
        place = self.place(call.config, key)
        if place in self._lost:
            self._lost.remove(place)
            problem = f"The state of {call.config.ref} was lost when the run was interrupted; it begins anew."
            return failure(call.server.response, call.target, CallFailed(problem, fix="do again what it needs."))
        try:
            definition = await self.pins.definition(call.config)
        except (RegistryError, BadInput) as error:
            return failure(call.server.response, call.target, error)
        port = LeafPort(self, key, call.agent, call.depth + 1, call.handed_on)
        context = self.context(port, call.agent, opens_files=True, branch=place.branch)
        seconds = self.run_config.call_seconds
        operation = call.aim.operation
        return await call.server.carry_out(call.config, definition, operation, call.arguments, context, seconds)

    async def _permit(self, call: Call, key: str) -> Response | None:
        """Return the response in place of a call; for one only passed on, the acting operation is decided instead."""
        if call.aim.passes_on:
            return None
        request = call.request(key, await self._traits(call), self.run_config.principal, self.id, self.session)
        return await self._permission.ask(request, call.server.response, lambda: self._check(call, key))

    async def _traits(self, call: Call) -> Traits:
        """Return the traits of an operation; beyond the workspace those of its source apply, not the stored ones.

        What only passes its calls on to others declares nothing of its own: those are asked about.
        """
        told = call.aim.signature.traits
        if told.effects not in BEYOND:
            return told
        if is_recipe(call.config.source):
            return replace(told, declared=False)
        try:
            definition = await self.pins.definition(call.config)
        except (RegistryError, BadInput):  # it is not called, and carrying it out says why
            return told
        return definition.operations[call.aim.operation].signature.traits

    async def _check(self, call: Call, key: str) -> Response:
        """Check the outcome of a call possibly carried out by an earlier process."""
        name = call.aim.signature.traits.check
        ref = name if call.config.kind == "tool" else f"{call.config.name}@{call.config.version}#{name}"
        return await self.within(call.config.kind, ref, call.arguments, f"{key}?", call.agent, call.depth + 1)

    def _tools(self, key: str) -> CallTool:
        """Return a function for a solver's calls inside the effect of `key`, with only the variables they accept."""

        async def call_tool(ref: str, variables: JsonObject) -> Response:
            server = self.servers["tool"]
            config = await self.pins.pin(server.manager.ref(ref))
            taken = config.operation(server.operation(config.ref)).parameters.get("properties", {})
            given = {name: value for name, value in variables.items() if name in taken}
            return await self.within("tool", ref, given, key, "", 0)

        return call_tool


def _begun(call: Call) -> JsonObject:
    """Return the record of a call at its start."""
    given = {} if call.given is None else {"given": call.given}
    return {"digest": call.config.digest, "arguments": call.arguments, **given}


def _not_told(call: Call, why: str) -> Response:
    """Return the response in place of one not representable in a record."""
    problem = f"{call.target} gave what cannot be recorded. {why}"
    return failure(call.server.response, call.target, CallFailed(problem, fix="give plain data, less deeply nested."))
