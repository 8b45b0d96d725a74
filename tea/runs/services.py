"""Services: the run's services for its agents: listings, memory, clock, randomness and budget."""

from __future__ import annotations

import asyncio
import random
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import fields
from typing import Any

from tea.components.manifest import Manifest
from tea.components.operation import Traits
from tea.errors import InternalError, ToolError, UnknownComponent
from tea.kernel.entry import own
from tea.kernel.pending import Light
from tea.memory.manager import MemoryManager, Scope
from tea.refs import KINDS, Ref
from tea.registry.version import timestamp
from tea.runs.budget import BudgetAccounts
from tea.runs.delivery import MESSAGES, Delivery
from tea.runs.interface import AnyServer, RunInterface
from tea.runs.media import look
from tea.runs.transcriber import Transcriber
from tea.types import EVERY, JsonObject, JsonValue, Usage

_TRAITS = tuple(one.name for one in fields(Traits))
_NOT_FOR_MODELS = ("solver", "bookkeeping", "part", "person")  # categories; who asks a person, must say so beforehand
_LOOKUPS = (("registry", "info"), ("registry", "facts"))
_LIGHT: Mapping[tuple[str, str], Light] = {
    ("memory", "record"): "acts",
    ("memory", "recall"): "looks",
    ("memory", "summarise"): "looks",
    ("memory", "insights"): "looks",
    ("budget", "remaining"): "looks",
}
_EFFECT = re.compile("[!~?]")  # what follows in a key tells apart what is asked inside of one effect
Answer = Callable[[str, JsonObject, str, str], Awaitable[JsonValue]]


class RunServices:
    """The services of a run for its agents; each answer is an effect of the run, repeated in a replay."""

    def __init__(
        self, run: RunInterface, memory: MemoryManager, accounts: BudgetAccounts, hearing: Transcriber, web: JsonObject
    ) -> None:
        self._run = run
        self._web_settings = web
        self._memory = memory
        self._accounts = accounts
        self._hearing = hearing
        self.delivery = Delivery(run)
        self._turns: dict[str, Callable[[], None]] = {}

    async def serve(self, service: str, verb: str, data: JsonObject, agent: str) -> JsonValue:
        """Answer as an effect of the run."""
        if service == MESSAGES:
            return await self.delivery.take()
        if (service, verb) in _LOOKUPS:
            manager = self._run.servers[data["kind"]].manager
            refs = [manager.ref(ref) for ref in _refs(verb, data)]
            found = list(map(facts, await self._run.pins.resolve_all(refs)))
            return found if verb == "facts" else found[0]

        if (service, verb) == ("model", "facts"):
            return await self._run.model_calls.facts(data.get("name"), agent)

        data = own(data)
        scope = await self._scope(agent) if service == "memory" else None
        known = self._run.recorder.trace is not None  # then the journal holds all of the effect

        async def perform(key: str) -> JsonValue:
            if scope is None:
                return await self.answer(service, verb, data, agent, key)
            return await self._remember(verb, self._run.recorder.mask.data(data), scope, key, synced=not known)

        value = await self._run.gate.effect(service, verb, data, perform, _LIGHT.get((service, verb)))
        if service == "media":
            account = self._accounts.of(self._run.gate.path())
            for one in value:
                if "used" in one:
                    account.pay(Usage.model_validate(one["used"]), agent, one["by"])
        return value

    async def answer(self, service: str, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        """Answer now, inside an effect; the stored data contains no secret.

        Args:
            service: Who answers.
            verb: What is wanted.
            data: The question.
            agent: Who asks.
            key: Key of the effect, for a further question inside of one with its number.
        """
        data = self._run.recorder.mask.data(data)
        if service == "memory":
            return await self._remember(verb, data, await self._scope(agent, key), key, synced=True)
        answers: Mapping[str, Answer] = {
            "registry": self._registry,
            "state": self._state,
            "person": self._person,
            "clock": self._clock,
            "random": self._chance,
            "budget": self._budget,
            "media": self._media,
            "web": self._web,
            "sandbox": self._sandbox,
            MESSAGES: self._messages,
        }
        if service == "model":
            raise InternalError("A tool cannot ask a model.", fix="let an agent ask.")
        if service not in answers:
            raise InternalError(f"A run has no service {service!r}.", fix="use the methods of the context.")
        return await answers[service](verb, data, agent, key)

    async def _registry(self, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        if data.get("kind") not in KINDS or data["kind"] not in self._run.servers:
            problem = f"There is no protocol for {data.get('kind')!r}."
            raise UnknownComponent(problem, fix="ask for tool, environment or agent.")
        server = self._run.servers[data["kind"]]
        if ("registry", verb) in _LOOKUPS:
            refs = [Ref.parse(ref, kind=data["kind"]) for ref in _refs(verb, data)]
            found = [facts(await server.info(str(ref))) for ref in refs]
            return found if verb == "facts" else found[0]
        if verb == "retrieve":
            asked = {name: data[name] for name in ("query", "k", "route", "among")}
            if EVERY in (data["among"] or ()):
                named = [name for name in data["among"] if name != EVERY]
                every = [one["name"] for one in await self._listed(server, for_models=True)]
                asked["among"] = [name for name in dict.fromkeys((*named, *every)) if name not in data["besides"]]
                if not asked["among"]:
                    return []
            matches = [match.to_json() for match in await server.retrieve(**asked)]
            return [one for one in matches if self._run.pins.may_use(f"{data['kind']}:{one['name']}")]
        if verb == "rank":
            ranked = server.manager.services.retrieval.ranked
            return await asyncio.to_thread(ranked, data["texts"], data["query"], data["k"])
        return await self._listed(server)

    async def _listed(self, server: AnyServer, *, for_models: bool = False) -> list[dict[str, str]]:
        """Return the active and trusted components, limited by the run's lock; on demand only those for models."""
        hidden = _NOT_FOR_MODELS if for_models else ()
        listed = [one for one in await server.list() if one.trusted and one.category not in hidden]
        found = [one for one in listed if self._run.pins.may_use(f"{one.kind}:{one.name}")]
        return [{"name": one.name, "version": one.version, "description": one.description} for one in found]

    async def _remember(self, verb: str, data: JsonObject, scope: Scope, key: str, *, synced: bool) -> JsonValue:
        match verb:
            case "record":
                by = f"{self._run.id}/{key}"
                return await self._memory.record(scope, data["kind"], data["data"], by, synced=synced)
            case "recall":
                return [dict(event) for event in await self._memory.recall(scope, data["query"], data["limit"])]
            case "summarise":
                return await self._memory.summarise(scope, earlier=data["earlier"])
            case _:
                return list(await self._memory.insights(scope, earlier=data["earlier"]))

    async def _scope(self, agent: str, key: str = "") -> Scope:
        """Return the scope of memory: inside the effect `key` with the run's held version, else with a lookup."""
        memories, memory = self._run.memories, None
        if memories.used and (named := memories.named(key or self._run.gate.path())) is not None:
            memory = await (memories.held(named) if key else memories.found(named))
        return Scope(session=self._run.session, agent=agent, task=self._run.task_id, memory=memory)

    async def _state(self, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        states, owner, by = self._memory.states, str(data["owner"]), f"{self._run.id}/{key}"
        if owner == "agent:":
            raise ToolError("Outside of an agent nothing is kept.", fix="call it inside of one.")
        session = None if data["lasting"] else self._run.session
        match verb:
            case "load":
                again = self._run.gate.repeated(_EFFECT.split(key, maxsplit=1)[0])
                return await states.load(owner, session, by if again else "")
            case "save":
                return await states.save(owner, session, data["document"], by)
            case "merge":
                return await states.merge(owner, session, data["patch"], by)
            case "put":
                return await states.put(owner, session, data["changes"], by, data["expected"])
            case "put_in_turn":
                turn = await states.claim(owner, session, data["seconds"])
                try:
                    return await states.put(owner, session, data["changes"], by, data["expected"])
                finally:
                    if turn is not None:
                        turn()
            case "claim":
                if (turn := await states.claim(owner, session, data["seconds"])) is not None:
                    self._turns[owner] = turn
                return turn is not None
            case "give_back":
                return self._turns.pop(owner)()
            case _:
                return await states.swap(owner, session, data["old"], data["new"], by)

    async def _person(self, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        return await self._run.human_input.ask(data["question"], data["choices"], key)

    async def _clock(self, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        return timestamp()[:10] if verb == "today" else timestamp()

    async def _chance(self, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        return secrets.token_hex(8) if verb == "id" else random.random()

    async def _media(self, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        trace = self._run.recorder.trace
        if trace is None:
            return []
        found = await asyncio.to_thread(look, self._run.workspace, data["names"], trace.blobs.put)
        account = self._accounts.of(key)
        left = account.remaining()
        priced = left["usd"] is not None and not account.budget.unknown_price
        await self._hearing.hear(found, agent, trace.blobs.get, left, priced=priced)
        return found

    async def _web(self, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        return dict(self._web_settings)

    async def _sandbox(self, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        own = self._run.recorder.trace is not None  # else it is the caller's folder, which holds anything
        return await self._run.sandboxes.terms(self._run.workspace if own else "", self._run.inputs if own else ())

    async def _messages(self, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        raise InternalError("A tool cannot take messages.", fix="take them in an agent.")

    async def _budget(self, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        return self._accounts.of(key).remaining()


def _refs(verb: str, data: JsonObject) -> list[str]:
    return data["refs"] if verb == "facts" else [data["ref"]]


def facts(config: Manifest) -> dict[str, Any]:
    """Return the facts about a component for an agent."""
    return {
        "ref": str(config.ref),
        "name": config.name,
        "version": config.version,
        "description": config.description,
        "operations": [
            {
                "name": name,
                "description": one.description,
                "parameters": one.parameters,
                "returns": one.returns,
                "traits": {
                    **{trait: getattr(one.traits, trait) for trait in _TRAITS},
                    "secrets": list(one.traits.secrets),
                },
            }
            for name, one in sorted(config.operations.items())
        ],
        "rules": config.rules,
        "metadata": dict(config.metadata),
    }
