"""Run: one task executed once, with every call an effect or a scope of its gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tea.component import Definition
from tea.context import Context, Port
from tea.errors import BadArguments, BadInput, CallError, CallFailed, Damaged, NotLocked, RegistryError
from tea.managers.memory import MemoryManager
from tea.managers.model import CallTool, ModelManager
from tea.managers.pin import RESOLVE, outcome_of, pins_in, target_of
from tea.managers.prompt import PromptManager
from tea.manifest import Manifest
from tea.protocols.lock import not_locked
from tea.protocols.manager import ContextManager
from tea.refs import Kind, Ref, with_kind
from tea.runtime.asking import Asking
from tea.runtime.budget import Purse, Purses
from tea.runtime.call import Aim, Call
from tea.runtime.desk import AnyServer
from tea.runtime.entry import Entry
from tea.runtime.gate import Gate
from tea.runtime.hearing import Hearing
from tea.runtime.mask import Mask
from tea.runtime.people import People, Person
from tea.runtime.permission import Permission
from tea.runtime.policy import Policy
from tea.runtime.port import AgentPort, LeafPort
from tea.runtime.recorder import NO_SECRETS, Recorder
from tea.runtime.services import RunServices
from tea.runtime.share import within_limits
from tea.types import AgentResponse, JsonObject, JsonValue, Principal, Response, as_object, failure

Library = ContextManager[Manifest]
CALL_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a run is given from outside, all of it recorded at its start.

    Args:
        run: Its id.
        session: The session it belongs to.
        task: Id of its task.
        workspace: The folder it works in.
        principal: Who it works for.
        locale: Language tag of the person asking.
        model: Name of the model configuration, None for the default.
        use: Selectors of components by `kind:name`, before what is current.
        locked: Whether nothing else may be used.
        call_seconds: Deadline of one call of a tool or action.
    """

    run: str
    session: str
    task: str
    workspace: str
    principal: Principal = field(default_factory=Principal)
    locale: str = "en"
    model: str | None = None
    use: Mapping[str, str] = field(default_factory=dict[str, str])
    locked: bool = False
    call_seconds: float = CALL_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What every run of a platform shares, and none of them changes."""

    servers: Mapping[Kind, AnyServer]
    libraries: Mapping[Kind, Library]
    models: ModelManager
    prompts: PromptManager
    memory: MemoryManager
    policy: Policy
    person: Person | None = None
    mask: Mask = NO_SECRETS


class Run:
    """Carries an agent's wishes to the outside, and what comes back into the journal.

    Args:
        setting: What it is given from outside.
        equipment: What it shares with other runs.
        gate: Its boundary.
        recorder: Writes what is not the gate's.
        purse: Its budget.
        answers: A person's answers to calls that wait, by key.
        intents: Keys of calls that an earlier process may have carried out.
    """

    def __init__(
        self,
        setting: Setting,
        equipment: Equipment,
        gate: Gate,
        recorder: Recorder,
        purse: Purse,
        answers: Mapping[str, str] | None = None,
        intents: frozenset[str] = frozenset(),
    ) -> None:
        self.setting, self.gate, self.recorder = setting, gate, recorder
        self.purses = Purses(purse)
        self.id, self.session, self.task_id = setting.run, setting.session, setting.task
        self.workspace = setting.workspace
        self.servers = equipment.servers
        self.services = RunServices(self, equipment.memory, self.purses, Hearing(equipment.models, setting.model))
        self.people = People(equipment.person, recorder, answers or {})
        self.asking = Asking(
            gate,
            equipment.models,
            equipment.prompts,
            self.purses,
            self.resolve,
            self._tools,
            setting.model,
            recorder,
        )
        self._libraries = equipment.libraries
        self._permission = Permission(equipment.policy, recorder, answers or {}, intents)
        self._pins: dict[str, Manifest] = {}
        self._held: dict[str, Manifest] = {}
        self._stored: dict[str, Manifest] = {}
        self._definitions: dict[str, Definition] = {}
        self._aims: dict[tuple[Kind, str], Aim] = {}
        self._inner: Counter[str] = Counter()
        self._lost: set[str] = set()
        self._instead: dict[str, str] = {}
        gate.on_fork(self._change)

    def may_use(self, name: str) -> bool:
        """Return whether the run's lock, where it has one, names a component, `kind:name`."""
        return not self.setting.locked or name in self.setting.use

    def context(self, port: Port, agent: str, *, opens_files: bool) -> Context:
        """Return what a component of this run may reach."""
        return Context(
            port=port,
            principal=self.setting.principal,
            run=self.id,
            session=self.session,
            task=self.task_id,
            agent=agent,
            workspace=self.setting.workspace,
            locale=self.setting.locale,
            opens_files=opens_files,
        )

    async def invoke(
        self, kind: Kind, ref: str, arguments: JsonObject, agent: str, depth: int, through: tuple[str, ...] = ()
    ) -> Response:
        """Call an operation for `agent`: an effect, or for a scope a part of this run."""
        server = self.servers[kind]
        try:
            aim = self._aims.get((kind, ref))
            if aim is None:
                parsed = server.manager.ref(ref)
                aim = self._aims[kind, ref] = Aim.of(server, await self.resolve(parsed), parsed)
            call = Call.of(aim, arguments, agent, depth, through)
        except (RegistryError, BadInput, CallError) as error:
            return failure(server.response, with_kind(ref, kind), error)
        return await (self._scope(call) if aim.signature.traits.scope else self._leaf(call))

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
        """Call an operation from inside an effect; what happens is evidence, not an effect of its own."""
        server = self.servers[kind]
        try:
            parsed = server.manager.ref(ref)
            call = Call.of(Aim.of(server, await self._pin(parsed), parsed), arguments, agent, depth, through)
        except NotLocked:
            raise
        except (RegistryError, BadInput, CallError) as error:
            return failure(server.response, with_kind(ref, kind), error)
        inner = f"{key}!{self._inner[key]}"
        self._inner[key] += 1
        response = await self._permit(call, inner) or await self._execute(call, inner)
        data = {
            "arguments": dict(arguments),
            "response": response.model_dump(mode="json"),
            "digest": call.config.digest,
            "pin": str(_component(parsed)),
        }
        self.recorder.write("evidence", inner, {"kind": kind, "target": call.target, "data": data})
        return response

    async def resolve(self, ref: Ref) -> Manifest:
        """Return the version this run has pinned; the first touch decides, and is recorded.

        Raises:
            UnknownComponent: There is none.
        """
        return (await self.resolve_all((ref,)))[0]

    async def resolve_all(self, refs: Sequence[Ref]) -> list[Manifest]:
        """Return the same of several; one effect pins all that the run has not touched yet.

        Raises:
            UnknownComponent: There is none of one of them; then none is pinned.
        """
        names = [str(_component(ref)) for ref in refs]
        new = {name: ref for name, ref in zip(names, refs, strict=True) if name not in self._pins}

        async def perform(key: str) -> JsonValue:
            return outcome_of([await self._pin(ref) for ref in new.values()])

        found = dict[str, Manifest]()
        if new:
            target = target_of(new)
            for one in pins_in(target, await self.gate.effect(RESOLVE, target, {}, perform)):
                if one.digest not in self._stored:
                    problem = f"{one.ref} is not in the registry with the bytes this run pinned."
                    raise Damaged(problem, fix="bring its version file back.")
                config = found[one.asked] = self._stored[one.digest]
                if self._instead.get(one.asked, one.digest) == one.digest:  # else a fork lets go of it again
                    found[one.asked] = self._pins.setdefault(one.asked, config)
        return [found.get(name) or self._pins[name] for name in names]

    async def stock(self, pins: Iterable[tuple[str, str]], instead: Mapping[str, str] | None = None) -> None:
        """Have the versions that a journal pinned at hand, so that a replay waits for nothing.

        Args:
            pins: Each ref and its digest, as recorded.
            instead: Selectors of other versions, by `kind:name`.
        """
        for text, digest in pins:
            ref = Ref.parse(text)
            chosen = (instead or {}).get(str(ref.at(None)))
            library = self._libraries[ref.kind]
            config = await (library.info(ref.at(chosen)) if chosen else library.exact(ref.name, digest))
            self._stored[digest] = self._stored[config.digest] = self._held[text] = config
            await self._load(library, config)

    def pinned(self, digest: str) -> Manifest:
        """Return the version with that digest, which this run holds."""
        return self._stored[digest]

    async def repeat(self, entry: Entry, agent: str) -> Response:
        """Carry out a recorded call once more, outside of the gate, to bring back what it did; nothing is recorded.

        Args:
            entry: Its start.
            agent: Who asked.

        Raises:
            ApprovalNeeded: The policy wants to ask a person.
        """
        ref, data = Ref.parse(entry.target), as_object(entry.data)
        aim = Aim.of(self.servers[ref.kind], self.pinned(data["digest"]), ref)
        call = Call.of(aim, data["arguments"], agent, 0)
        with self.recorder.silence():
            return await self._permit(call, entry.key) or await self._execute(call, entry.key)

    async def outside(self, digest: str) -> tuple[Manifest, Definition, Context]:
        """Return a version that this run holds, what it defines, and the context of work outside of any call."""
        config = self.pinned(digest)
        definition = await self._libraries[config.kind].definition(config)
        return config, definition, self.context(LeafPort(self, "", "", 0), "", opens_files=True)

    def lose(self, digest: str) -> None:
        """Let the next call of an environment, by the digest of its version, say that its state was lost."""
        self._lost.add(digest)

    def _change(self, data: JsonObject) -> None:
        """Let go of what a fork uses in another version; the next touch pins that one."""
        for name, one in data["use"].items():
            self._instead[name] = one["digest"]
            self._pins.pop(name, None)
            self._held.pop(name, None)
        self._aims.clear()
        self.asking.change(data["model"])

    async def _pin(self, ref: Ref) -> Manifest:
        """Return the version that this run holds on to from its first look; only `resolve` tells the program."""
        name = str(_component(ref))
        if name in self._held:
            return self._held[name]
        library = self._libraries[ref.kind]
        selector = ref.selector or self.setting.use.get(name)
        bare = name if ref.selector is None else str(Ref(kind=ref.kind, name=ref.name))
        if not self.may_use(bare):
            raise not_locked(bare)
        config = await library.pin(_component(ref).at(selector))
        if self.setting.locked and config.digest != self.setting.use[bare]:
            raise NotLocked(f"{config.ref} is not what the lock file says.", fix="lock anew with `tea lock`.")
        await self._load(library, config)
        self._stored[config.digest] = config
        return self._held.setdefault(name, config)

    async def _load(self, library: Library, config: Manifest) -> None:
        """Load what runs inside the program's own branches, which wait for nothing but the gate.

        The first of several that load at once counts: what a definition holds, such as a lock, is one for a run.
        """
        if any(one.traits.scope for one in config.operations.values()) and config.digest not in self._definitions:
            self._definitions.setdefault(config.digest, await library.definition(config))

    async def _definition(self, call: Call) -> Definition:
        digest = call.config.digest
        if digest not in self._definitions:
            self._definitions.setdefault(digest, await call.server.manager.definition(call.config))
        return self._definitions[digest]

    async def _leaf(self, call: Call) -> Response:
        async def perform(key: str) -> JsonValue:
            stands_in = await self._permit(call, key)
            return (stands_in or await self._execute(call, key)).model_dump(mode="json")

        data = {"digest": call.config.digest, "arguments": dict(call.arguments)}
        try:
            value = await self.gate.effect(call.config.kind, call.target, data, perform)
        except BadArguments as error:  # they are not JSON, so there is nothing to record
            return failure(call.server.response, call.target, error)
        return call.server.response.model_validate(value)

    async def _scope(self, call: Call) -> Response:
        async def perform(key: str) -> JsonValue:
            stands_in = await self._permit(call, key)
            return None if stands_in is None else stands_in.model_dump(mode="json")

        data = {"digest": call.config.digest}
        stands_in = None if call.aim.passes_on else await self.gate.effect("policy", call.target, data, perform)
        if stands_in is not None:
            return call.server.response.model_validate(stands_in)
        with self.gate.scope() as key:
            worker = call.config.name if call.config.kind == "agent" else call.agent
            self.recorder.enter(key, worker)
            entered = {"ref": call.target, "digest": call.config.digest, "arguments": dict(call.arguments)}
            self.gate.note("enter", entered)
            context = self.context(AgentPort(self, worker, call.depth + 1, call.handed_on), worker, opens_files=False)
            definition = self._definitions[call.config.digest]
            work = partial(call.server.carry_out, call.config, definition, call.aim.operation, call.arguments, context)
            response = await within_limits(call, key, self.gate, self.purses, partial(work, None))
            if isinstance(response, AgentResponse) and response.result.ok and response.result.answer != "":
                self.purses.of(key).so_far(response.result)
            self.gate.note("exit", {"ref": call.target, "response": response.model_dump(mode="json")})
            return response

    async def _execute(self, call: Call, key: str) -> Response:
        if call.config.digest in self._lost:
            self._lost.remove(call.config.digest)
            problem = f"The state of {call.config.ref} was lost when the run was interrupted; it begins anew."
            return failure(call.server.response, call.target, CallFailed(problem, fix="do again what it needs."))
        try:
            definition = await self._definition(call)
        except (RegistryError, BadInput) as error:
            return failure(call.server.response, call.target, error)
        port = LeafPort(self, key, call.agent, call.depth + 1, call.handed_on)
        context = self.context(port, call.agent, opens_files=True)
        seconds = self.setting.call_seconds
        operation = call.aim.operation
        return await call.server.carry_out(call.config, definition, operation, call.arguments, context, seconds)

    async def _permit(self, call: Call, key: str) -> Response | None:
        """Return what stands in the place of a call; of one that is only passed on, what acts is asked about."""
        if call.aim.passes_on:
            return None
        request = call.request(key, self.setting.principal, self.id, self.session)
        return await self._permission.ask(request, call.server.response, lambda: self._check(call, key))

    async def _check(self, call: Call, key: str) -> Response:
        """Ask what became of a call that an earlier process may have carried out."""
        name = call.aim.signature.traits.check
        ref = name if call.config.kind == "tool" else f"{call.config.name}@{call.config.digest}#{name}"
        return await self.within(call.config.kind, ref, call.arguments, f"{key}?", call.agent, call.depth + 1)

    def _tools(self, key: str) -> CallTool:
        """Return what calls a solver inside the effect of `key`, with those of the variables that it takes."""

        async def call_tool(ref: str, variables: JsonObject) -> Response:
            server = self.servers["tool"]
            config = await self._pin(server.manager.ref(ref))
            taken = config.operation(server.operation(config.ref)).parameters.get("properties", {})
            given = {name: value for name, value in variables.items() if name in taken}
            return await self.within("tool", ref, given, key, "", 0)

        return call_tool


def _component(ref: Ref) -> Ref:
    return ref if ref.operation is None else replace(ref, operation=None)
