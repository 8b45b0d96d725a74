"""Run: one task executed once, with every call an effect or a scope of its gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

from tea.characters import on_one_line
from tea.components.context import Context
from tea.components.definition import Definition
from tea.components.manifest import Manifest, is_recipe
from tea.components.port import Flow, Invocation, Port, Question
from tea.errors import BadArguments, BadInput, CallError, CallFailed, NotLocked, RegistryError, StateLost, words_of
from tea.journal.form import ODD, strange
from tea.journal.header import RunConfig
from tea.journal.recorder import Recorder
from tea.kernel.entry import Entry, JsonText, canonical, encode
from tea.kernel.gate import Gate
from tea.kernel.key import branch_of, call_key, change_id, check_key, is_check
from tea.kernel.pending import Inline
from tea.models.manager import CallTool
from tea.policy.rules import BEYOND
from tea.protocols.instances import Place
from tea.refs import Kind, Ref, with_kind
from tea.runs.attempts import Attempts
from tea.runs.authorization import Authorizer
from tea.runs.budget import BudgetAccount, BudgetAccounts
from tea.runs.call import CallRequest
from tea.runs.deps import RunContext, RunDeps
from tea.runs.fitting import misfit
from tea.runs.flows import AgentFlow, LeafFlow, Places
from tea.runs.guarded import refusal
from tea.runs.human_input import HumanInput
from tea.runs.memories import Memories
from tea.runs.model_calls import ModelCalls
from tea.runs.operator_policy import observes, places_in_front
from tea.runs.pins import Pins, component
from tea.runs.ports import AgentPort, LeafPort
from tea.runs.readings import Readings
from tea.runs.rules import run_policy
from tea.runs.services import RunServices
from tea.runs.share import within_limits
from tea.types import (
    AgentResponse,
    JsonObject,
    JsonValue,
    ModelResponse,
    Principal,
    Response,
    Untrusted,
    as_object,
    failure,
)

_MOST_ASKED = 100  # characters of the part of a task in a remark on its answer


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
        self.accounts, self.places, self._servers = BudgetAccounts(account), Places(), deps.servers
        self.pins = Pins(
            gate,
            deps.libraries,
            run_config.use,
            run_config.versions,
            locked=run_config.locked,
            without=run_config.without,
        )
        self.memories = Memories(self.pins)
        self.attempts = Attempts(run_config, deps.memory)
        self._ways = ways = deps.sandboxes.settings.way_out.places
        self.readings = Readings(gate, self.pins, run_config.inputs, shared=run_config.shared, ways=ways)
        context = RunContext(
            run_config=run_config,
            deps=deps,
            gate=gate,
            recorder=recorder,
            accounts=self.accounts,
            pins=self.pins,
            memories=self.memories,
            human_input=HumanInput(deps.person, recorder, answers or {}),
            readings=self.readings,
            attempts=self.attempts,
        )
        self._model_calls = ModelCalls(context)
        self.services = RunServices(context, self._model_calls)
        self.flow = AgentFlow(gate, self.accounts)
        self._authorizer = Authorizer(
            run_policy(deps.policy, run_config),
            deps.person,
            recorder,
            answers or {},
            intents,
            deps.consents,
            run_config.allow,
            deps.remember,
            partial(refusal, context.web),
        )
        self._resolved: dict[tuple[Kind, str], CallRequest] = {}
        self._inner: Counter[str] = Counter()
        self._lost: set[Place] = set()
        self._told: Mapping[str, JsonObject] = {}
        self._anew = False
        self.doubts: dict[str, str] = {}
        self.untrusted = ""  # the first agent, if nobody trusts it
        gate.on_fork(self._change)

    @property
    def id(self) -> str:
        """Its id."""
        return self.run_config.run

    @property
    def session(self) -> str:
        """The id of its session."""
        return self.run_config.session

    def context(
        self,
        port: Port,
        flow: Flow,
        agent: str,
        *,
        opens_files: bool,
        branch: str = "",
        declared: JsonObject | None = None,
        reflect: int = 0,
        attempts: JsonObject | None = None,
        attempt: bool = False,
        change: str = "",
        key: str = "",
    ) -> Context:
        """Return the context of a component of this run.

        Args:
            port: Carries its requests.
            flow: The course of its own work.
            agent: Name of the agent that works.
            opens_files: Whether it may open files itself.
            branch: The branch to which a private environment belongs.
            declared: What an agent declares.
            reflect: How often it looks at its answer once more.
            attempts: What it attempts several times.
            attempt: Whether it works on one of several attempts.
            change: Id of the change made by a tool or action.
            key: Key of its work.
        """
        return Context(
            port=port,
            flow=flow,
            principal=self.run_config.principal,
            run=self.id,
            session=self.session,
            task=self.run_config.task,
            agent=agent,
            workspace=self.attempts.workspace(key),
            locale=self.run_config.locale,
            sandbox=self.run_config.sandbox,
            searches=self.run_config.searches,
            corpus=self.run_config.corpus,
            entities=self.run_config.entities,
            skills=self.run_config.skills,
            without=self.run_config.without,
            solved=self.run_config.solved,
            reflect=reflect,
            evolve=self.run_config.evolve,
            attempts=attempts or {},
            attempt=attempt,
            opens_files=opens_files,
            branch=branch,
            declared=declared or {},
            change=change,
        )

    @contextmanager
    def recorded(self) -> Generator[None]:
        """End the run if its journal holds an outcome in a form written by no run.

        Raises:
            Damaged: It does.
        """
        key = self.gate.next_key()
        try:
            yield
        except ODD as error:
            if not self.gate.repeated(key):
                raise
            problem = strange(self.id, words_of(error))
            self.gate.abandon(problem)
            raise problem from error

    async def call(
        self,
        invocation: Invocation,
        agent: str,
        depth: int,
        through: tuple[str, ...] = (),
        principal: Principal | None = None,
    ) -> Response:
        """Call an operation for `agent`, so many calls deep: an effect, or for a scope a part of this run.

        Args:
            invocation: What is called.
            agent: Who calls it.
            depth: How many calls it is inside of.
            through: What was called in its place.
            principal: Who it is called for, in place of the run's own.
        """
        kind, ref, arguments = invocation
        try:
            resolved = self._resolved.get((kind, ref)) or await self._resolve(kind, ref)
            call = resolved.by(agent, arguments, depth, through, principal)
        except (RegistryError, BadInput, CallError) as error:
            return failure(self._servers[kind].response, with_kind(ref, kind), error)
        return await (self._scope(call) if call.traits.scope else self._leaf(call))

    async def _resolve(self, kind: Kind, ref: str) -> CallRequest:
        """Return the meaning of a ref in this run, with its version pinned, and the memory named by an agent too."""
        parsed = self._servers[kind].manager.ref(ref)
        config = await self.pins.resolve(parsed)
        if (memory := config.memory) is not None:
            await self.memories.found(memory)
            if await self.pins.resolve(parsed) is not config:  # a fork let go of it while its memory was looked up
                return await self._resolve(kind, ref)
        resolved = self._resolved[kind, ref] = self._call_of(config, parsed)
        return resolved

    def _call_of(self, config: Manifest, ref: Ref) -> CallRequest:
        """Return a call of an operation of a version, still without arguments and caller."""
        operation = self._servers[ref.kind].operation(ref)
        call = CallRequest.to(config, operation, self.run_config.principal, self.id, self.session, self._ways)
        definition = self.pins.loaded(config)
        if not call.traits.scope or definition is None:  # trusted source is carried out as its manifest says
            return call
        carried = definition.operations[call.operation].signature.traits
        return call._replace(traits=replace(call.traits, scope=carried.scope))

    async def call_within(
        self,
        invocation: Invocation,
        key: str,
        agent: str,
        depth: int,
        through: tuple[str, ...] = (),
        principal: Principal | None = None,
    ) -> Response:
        """Call an operation from inside the effect of a key; its work is evidence, not an effect of its own."""
        kind, ref, arguments = invocation
        inner = call_key(key, self._inner[key])
        self._inner[key] += 1  # before it waits for anything: when its effect begins anew, the keys are the same
        try:
            parsed = self._servers[kind].manager.ref(ref)
            found = self._call_of(await self.pins.pin(parsed), parsed)
            call = found.by(agent, arguments, depth, through, principal)
            canonical(call.begun)  # evidence holds no more than the start of a call
        except NotLocked:
            raise
        except (RegistryError, BadInput, CallError) as error:
            return failure(self._servers[kind].response, with_kind(ref, kind), error)
        if (stands := self._earlier_response(call, inner)) is not None:
            return stands
        call = call._replace(known=self.readings.known(call.arguments, key))
        response = await self._loss(call, inner) or await self._permit(call, inner) or await self._execute(call, inner)
        self.readings.deliver_inside(inner, call, response.value)
        try:
            self._evidence(call, inner, str(component(parsed)), response)
        except (BadInput, RecursionError) as error:
            response = self._not_recorded(call, f"{words_of(error)}.")
            self._evidence(call, inner, str(component(parsed)), response)
        return response

    async def ask(self, question: Question, agent: str, principal: Principal | None = None) -> ModelResponse:
        """Ask a model for `agent`, as an effect; calls by a solver are made for its principal."""
        return await self._model_calls.ask(question, agent, partial(self._tools, principal))

    def recall(self, evidence: Mapping[str, JsonObject], *, anew: bool) -> None:
        """Set the earlier responses to calls inside effects, from the evidence, by key.

        Args:
            evidence: The data of each record of evidence, by the key of its call.
            anew: Whether the workspace is another one, so that what they wrote there is to be written again.
        """
        self._told, self._anew = evidence, anew

    def _earlier_response(self, call: CallRequest, key: str) -> Response | None:
        """Return the earlier response to a call inside a restarted effect, unless the call may be repeated."""
        told, traits = self._told.get(key), call.traits
        if told is None or traits.scope or traits.effects == "reads" or is_check(key):
            return None
        if self._anew and traits.effects == "writes":
            return None
        begun = call.begun
        same = canonical({name: told.get(name) for name in begun}) == canonical(self.recorder.mask.data(begun))
        return self._response(call).model_validate(told["response"]) if same else None

    def _evidence(self, call: CallRequest, key: str, pin: str, response: Response) -> None:
        """Write the evidence of a call inside an effect, with its response."""
        data = {**call.begun, "response": response.model_dump(mode="json"), "pin": pin}
        self.recorder.write("evidence", key, {"kind": call.config.kind, "target": call.ref, "data": data})

    async def repeat(self, entry: Entry, agent: str, state: JsonValue) -> Response:
        """Repeat a recorded call outside the gate, to restore its effects; nothing is recorded.

        Args:
            entry: Its start.
            agent: Who asked.
            state: The state of its environment when it was decided; None if nothing was looked at.

        Raises:
            ApprovalNeeded: The policy wants to ask a person.
            BadInput: By the state of its environment it would go elsewhere now.
        """
        ref, data = Ref.parse(entry.target), as_object(entry.data)
        call = self._call_of(self.pins.exact(entry.target, data["digest"]), ref).by(agent, data["arguments"], 0)
        with self.recorder.silence():
            await self._check_places(call, entry.key, state)
            return await self._permit(call, entry.key) or await self._execute(call, entry.key)

    async def _check_places(self, call: CallRequest, key: str, state: JsonValue) -> None:
        """Refuse to repeat a call to another destination than before."""
        request = await self._declared(call, key)
        if not observes(request.traits):
            return
        now = self.recorder.mask.data({"state": await self._observed(call, key)})["state"]
        if places_in_front(request._replace(state=now)) != places_in_front(request._replace(state=state)):
            problem = "by the state of its environment it would go elsewhere than it went then."
            raise BadInput(problem, fix="go on before it: `tea fork` with an earlier position.")

    async def outside(self, config: Manifest, branch: str = "") -> tuple[Definition, Context]:
        """Return the definition of a version held by this run, and the context of work outside any call."""
        who = partial(self._principal, config, self.run_config.principal)
        definition, port = await self.pins.definition(config), LeafPort(self, "", "", 0, principal=who)
        return definition, self.context(port, LeafFlow(self.recorder, ""), "", opens_files=True, branch=branch)

    def lose(self, place: Place) -> None:
        """Make the next call of an environment report the loss of its state."""
        self._lost.add(place)

    def place(self, config: Manifest, key: str) -> Place:
        """Return the place of an environment's call, by its key."""
        branch, attempt = self.places.branch(key) if config.sharing == "private" else "", self.attempts.of(key)
        if attempt and (
            not branch or branch == branch_of(attempt)
        ):  # attempts in turn share the branch of their leader
            branch = attempt
        return Place(self.session, config.digest, self.id if branch else "", branch)

    def _change(self, data: JsonObject) -> None:
        """Continue with the versions and the model of a fork."""
        self.pins.change(data["use"])
        self._resolved.clear()
        self._model_calls.change(data["model"])

    async def _leaf(self, call: CallRequest) -> Response:
        call = self.readings.begin(call)

        async def perform(key: str) -> JsonValue:
            response = await self._loss(call, key) or await self._permit(call, key) or await self._execute(call, key)
            try:
                return JsonText(encode(vars(response)))  # all of its fields are JSON already
            except BadArguments as error:
                return self._not_recorded(call, error.problem).model_dump(mode="json")

        try:
            value = await self.gate.effect(call.config.kind, call.ref, call.begun, perform)
        except BadArguments as error:  # they are not JSON, so there is nothing to record
            return failure(self._response(call), call.ref, error)
        self.readings.deliver(call.key, call, value)
        return self._response(call).model_validate(value)

    async def _scope(self, call: CallRequest) -> Response:
        stands = self.pins.loaded(call.config) is not None and await self._stands(call)
        call = call._replace(known=self.readings.known(call.arguments))

        async def perform(key: str) -> JsonValue:
            stands_in = None if stands else await self._opened(call, key)
            return None if stands_in is None else stands_in.model_dump(mode="json")

        data = {"digest": call.config.digest}
        if not call.passes_on:
            stands_in = await self.gate.effect("policy", call.ref, data, perform, Inline.READ if stands else None)
            if stands_in is not None:
                return self._response(call).model_validate(stands_in)
        with self.gate.scope() as key, self.readings.scope(key, call):
            worker = call.config.name if call.config.kind == "agent" else call.agent
            self.recorder.enter(key, worker)
            self.memories.enter(key, call.config)
            self.places.enter(key, call.config)
            self.attempts.enter(key, call.config)
            self.gate.note("enter", {"ref": call.ref, **call.begun})
            definition = self.pins.ready(call.config)
            if model := definition.metadata.get("model"):
                self._model_calls.declared[worker] = model
            principal = self._principal(call.config, call.principal)
            if not call.depth and isinstance(principal, Untrusted):
                self.untrusted = principal.name
            port = AgentPort(self, worker, call.depth + 1, call.handed_on, principal)
            branch = self.place(call.config, key).branch
            context = self.context(
                port, self.flow, worker, opens_files=False, branch=branch,
                declared={**definition.declared, **self._settings(call)},
                reflect=0 if call.depth else self.run_config.reflect,
                attempts=None if call.depth else self._attempts(),
                attempt=self._is_attempt(call), key=key,
            )  # fmt: skip
            carry_out = self._servers[call.config.kind].carry_out
            work = partial(carry_out, call.ref, call.config, definition, call.operation, call.arguments, context, None)
            measured = self._is_attempt(call)
            response = await within_limits(call, key, self.gate, self.accounts, work, measured=measured)
            try:
                self.gate.note("exit", {"ref": call.ref, "response": response.model_dump(mode="json")})
            except BadArguments as error:
                response = self._not_recorded(call, error.problem)
                self.gate.note("exit", {"ref": call.ref, "response": response.model_dump(mode="json")})
            if measured and isinstance(response, AgentResponse):
                self.attempts.end(key, response.result)
                self.gate.end_branch(key)
            if isinstance(response, AgentResponse) and response.result.ok and response.result.answer != "":
                self.accounts.of(key).so_far(response.result)
                if call.depth and not self.attempts.of(key):  # attempts not chosen say nothing about the answer
                    self._doubt(call, response.result.reason)
            return response

    def _doubt(self, call: CallRequest, reason: str) -> None:
        """Keep the remark of an agent on its answer to a part of the task, by the remark, with the part."""
        if reason:
            task: object = call.arguments.get("task")
            asked = on_one_line(task if isinstance(task, str) else str(as_object(task).get("text", "")))
            self.doubts.setdefault(reason, f"{call.config.name}, asked {asked[:_MOST_ASKED]!r}: {reason}")

    async def _stands(self, call: CallRequest) -> bool:
        return self._authorizer.preauthorized(await self._declared(call))

    async def _opened(self, call: CallRequest, key: str) -> Response | None:
        """Load the definition of a call with a scope, and return the response in its place, None if it goes ahead."""
        try:
            await self.pins.definition(call.config)
        except (RegistryError, BadInput) as error:
            return failure(self._response(call), call.ref, error)
        return None if await self._stands(call) else await self._permit(call, key)

    def _settings(self, call: CallRequest) -> JsonObject:
        """Return the settings of the called agent, as part of its declaration; empty without any."""
        given = self.run_config.settings_of(call.config.name) if call.config.kind == "agent" else {}
        return {"settings": given} if given else {}

    def _attempts(self) -> JsonObject:
        """Return the attempts of the first agent of the run; empty for a run of one attempt."""
        given = self.run_config
        return {"agent": given.worker, "count": given.attempts, "successive": given.successive} if given.worker else {}

    def _is_attempt(self, call: CallRequest) -> bool:
        """Return whether a call is one of several attempts at the run's task."""
        return call.depth == 1 and call.config.kind == "agent" and call.config.name == self.attempts.worker

    async def _loss(self, call: CallRequest, key: str) -> Response | None:
        """Return the response in place of the first call of an environment after the loss of its state.

        What a person answered about that call still counts: a no or other words stand for it, and consent holds for
        the same call made anew.
        """
        if not self._lost or (place := self.place(call.config, key)) not in self._lost:
            return None
        allowed, said = await self._authorizer.answered_before(call._replace(key=key), self._response(call))
        if said is not None:
            return said
        self._lost.remove(place)
        when = "is not brought back in a fork" if self._anew else "was lost when the run was interrupted"
        problem = f"The state of {call.config.ref} {when}; it begins anew."
        fix = "do again what it needs; a person has allowed this very call." if allowed else "do again what it needs."
        return failure(self._response(call), call.ref, StateLost(problem, fix=fix))

    async def _execute(self, call: CallRequest, key: str) -> Response:
        await self.attempts.prepare(key)
        place = self.place(call.config, key)
        try:
            definition = await self.pins.definition(call.config)
        except (RegistryError, BadInput) as error:
            return failure(self._response(call), call.ref, error)
        port = LeafPort(
            self,
            key,
            call.agent,
            call.depth + 1,
            call.handed_on,
            principal=partial(self._principal, call.config, call.principal),
        )
        context = self.context(
            port,
            LeafFlow(self.recorder, key),
            call.agent,
            opens_files=True,
            branch=place.branch,
            change="" if self.recorder.repeats else change_id(self.id, key),
            key=key,
        )
        seconds, carry_out = self.run_config.call_seconds, self._servers[call.config.kind].carry_out
        return await carry_out(call.ref, call.config, definition, call.operation, call.arguments, context, seconds)

    def _principal(self, config: Manifest, caller: Principal) -> Principal:
        """Return the principal of the calls of a component: an untrusted one calls for itself.

        What it calls in turn does so, too, however trusted that is: it acts on its word.
        """
        trust = self._servers[config.kind].manager.services.trust
        return caller if trust(config.digest) else Untrusted(name=str(config.ref))

    async def _permit(self, call: CallRequest, key: str) -> Response | None:
        """Return the response in place of a call, None to go ahead; a call only passed on is decided later."""
        if call.passes_on:
            return None
        request = await self._declared(call, key)
        if observes(request.traits):
            request = request._replace(state=await self._observed(call, key))
        check, fault = partial(self._check, call, key), partial(misfit, self.pins, call)
        return await self._authorizer.ask(request, self._response(call), check, fault)

    async def _declared(self, call: CallRequest, key: str = "") -> CallRequest:
        """Return a call with its traits; beyond the workspace those of its source apply, not the stored ones.

        What only passes its calls on to others declares nothing of its own: those are asked about.
        """
        traits = call.traits
        if traits.effects in BEYOND and is_recipe(call.config.source):
            traits = replace(traits, declared=False)
        elif traits.effects in BEYOND:
            with suppress(RegistryError, BadInput):  # it will not be called; its execution reports the reason
                definition = await self.pins.definition(call.config)
                traits = definition.operations[call.operation].signature.traits.opened(self._ways)
        unchanged = call.key == key and traits is call.traits
        return call if unchanged else call._replace(key=key, traits=traits)

    async def _observed(self, call: CallRequest, key: str) -> JsonValue:
        """Return the state of the environment of a call, None if the environment gives none."""
        look = Invocation(call.config.kind, f"{call.config.name}@{call.config.version}#state", {})
        return (await self.call_within(look, check_key(key), call.agent, call.depth + 1)).value

    async def _check(self, call: CallRequest, key: str) -> Response:
        """Check the outcome of a call possibly carried out by an earlier process."""
        name = call.traits.check
        ref = name if call.config.kind == "tool" else f"{call.config.name}@{call.config.version}#{name}"
        look = Invocation(call.config.kind, ref, call.arguments)
        who = self._principal(call.config, call.principal)
        return await self.call_within(look, check_key(key), call.agent, call.depth + 1, principal=who)

    def _response(self, call: CallRequest) -> type[Response]:
        return self._servers[call.config.kind].response

    def _not_recorded(self, call: CallRequest, why: str) -> Response:
        """Return the response in place of one not representable in a record."""
        problem = f"{call.ref} gave what cannot be recorded. {why}"
        error = CallFailed(problem, fix="give plain data, less deeply nested.")
        return failure(self._response(call), call.ref, error)

    def _tools(self, principal: Principal | None, key: str) -> CallTool:
        """Return a function for a solver's calls inside the effect of `key`, with only the variables they accept."""

        async def call_tool(ref: str, variables: JsonObject) -> Response:
            server = self._servers["tool"]
            config = await self.pins.pin(server.manager.ref(ref))
            taken = config.operation(server.operation(config.ref)).parameters.get("properties", {})
            given = {name: value for name, value in variables.items() if name in taken}
            return await self.call_within(Invocation("tool", ref, given), key, "", 0, principal=principal)

        return call_tool
