"""RunServices: the dispatch of requests to the services of a run."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Mapping, Sequence
from typing import cast

from tea.clock import timestamp
from tea.components.port import (
    REQUESTS,
    AskPerson,
    CacheFolder,
    DateToday,
    ListEntities,
    ModelFacts,
    ParserTerms,
    RandomId,
    RandomNumber,
    ReadCodeHost,
    ReadCommitIdentity,
    ReadCorpus,
    ReadWebSettings,
    RemainingBudget,
    SandboxPackages,
    SandboxTerms,
    SearchCorpus,
    SearchEngines,
    ServiceRequest,
    SessionFolder,
    TimeNow,
)
from tea.components.unseen import UNSEEN
from tea.errors import BadArguments, InternalError, ToolError
from tea.kernel.pending import Inline
from tea.runs.delivery import Delivery
from tea.runs.deps import RunContext, Search
from tea.runs.generated_service import NEW_TOOLS, GeneratedService
from tea.runs.media import MediaService
from tea.runs.memory_service import MemoryService, StateService
from tea.runs.model_calls import ModelCalls
from tea.runs.registry_service import RegistryService
from tea.runs.service import Service, owned
from tea.runs.skill_service import SkillService
from tea.types import JsonObject, JsonValue
from tea.web.search.engine import SINCE

_KNOWN = frozenset((*REQUESTS.values(), *UNSEEN))


class RunServices:
    """The services of a run for its agents and tools.

    Args:
        run: The run's context.
        model_calls: Its questions to models.
    """

    def __init__(self, run: RunContext, model_calls: ModelCalls) -> None:
        self.delivery = Delivery(run)
        self.generated = GeneratedService(run)
        self._readings, self._gate = run.readings, run.gate
        self._services: Mapping[str, Service] = {
            "registry": RegistryService(run),
            "generated": self.generated,
            NEW_TOOLS: self.generated,
            "memory": MemoryService(run),
            "state": StateService(run),
            "person": _Person(run),
            "hosts": _Hosts(run),
            "model": _Models(run, model_calls),
            "messages": self.delivery,
            "media": MediaService(run),
            "budget": _Budget(run),
            "clock": _Clock(run),
            "random": _Random(run),
            "sandbox": _Sandbox(run),
            "search": _Search(run),
            "session": _Session(run),
            "skills": SkillService(run),
            "web": _Web(run),
        }

    async def serve(self, request: ServiceRequest, agent: str) -> JsonValue:
        """Answer a request of an agent, as an effect of the run.

        Raises:
            BadArguments: It is not a request that a run serves, or not JSON.
        """
        service, key = self._service(request), self._gate.next_key()
        value = await service.serve(request, agent)
        self._readings.served(request, value, key)
        return value

    async def answer(self, request: ServiceRequest, agent: str, key: str) -> JsonValue:
        """Answer a request now, inside an effect; the stored data contains no secret.

        Args:
            request: The question.
            agent: Who asks.
            key: Key of the effect, for a further question inside of one with its number.

        Raises:
            BadArguments: It is not a request that a run serves, or not JSON.
        """
        service = self._service(request)
        return await service.answer(service.masked(owned(request)), agent, key)

    def _service(self, request: ServiceRequest) -> Service:
        """Return the service for a request.

        Raises:
            BadArguments: Nothing does.
        """
        if type(request) not in _KNOWN:
            problem = f"A run cannot serve a {type(request).__name__}."
            raise BadArguments(problem, fix="use the methods of the context.")
        return self._services[request.service]


class _Person(Service):
    async def answer(self, request: AskPerson, agent: str, key: str) -> JsonValue:
        answer = await self._run.human_input.ask(request.question, request.choices, key, agent)
        self._run.readings.answered(key, answer, request.choices)
        return answer


class _Models(Service):
    def __init__(self, run: RunContext, model_calls: ModelCalls) -> None:
        super().__init__(run)
        self._model_calls = model_calls

    async def serve(self, request: ModelFacts, agent: str) -> JsonValue:
        return await self._model_calls.facts(request.name, agent)

    async def answer(self, request: ModelFacts, agent: str, key: str) -> JsonValue:
        raise InternalError("A tool cannot ask a model.", fix="let an agent ask.")


class _Budget(Service):
    async def serve(self, request: RemainingBudget, agent: str) -> JsonValue:
        return await self.effect(request, agent, Inline.READ)

    async def answer(self, request: RemainingBudget, agent: str, key: str) -> JsonValue:
        return self._run.accounts.of(key).remaining()


class _Clock(Service):
    async def answer(self, request: TimeNow | DateToday, agent: str, key: str) -> JsonValue:
        return timestamp() if isinstance(request, TimeNow) else timestamp()[:10]


class _Random(Service):
    async def answer(self, request: RandomNumber | RandomId, agent: str, key: str) -> JsonValue:
        return random.random() if isinstance(request, RandomNumber) else secrets.token_hex(8)


class _Sandbox(Service):
    async def answer(
        self, request: SandboxTerms | SandboxPackages | ParserTerms | CacheFolder, agent: str, key: str
    ) -> JsonValue:
        if isinstance(request, SandboxPackages):
            return await self._run.deps.sandboxes.importable()
        if isinstance(request, CacheFolder):
            return self._run.deps.sandboxes.cache
        if isinstance(request, ParserTerms):
            return await self._run.deps.sandboxes.parser_terms()
        workspace = self._run.attempts.workspace(key)
        journaled = self._run.recorder.trace is not None  # else it is the caller's folder, which holds anything
        inputs = self._run.run_config.inputs if journaled else ()
        deny = self._run.web.get("deny", ())
        where = workspace if journaled else ""
        return await self._run.deps.sandboxes.terms(where, inputs, way_out=request.way_out, deny=deny)


class _Search(Service):
    async def answer(
        self, request: SearchEngines | SearchCorpus | ReadCorpus | ListEntities, agent: str, key: str
    ) -> JsonValue:
        search = self._run.deps.search
        if isinstance(request, ReadCorpus):
            return None if search is None else await search.document(request.url)
        if search is None:
            raise ToolError("Nothing can be searched here.", fix="search in a run of a platform.")
        if isinstance(request, SearchCorpus):
            return await search.passages(request.query, request.found, request.kept)
        if isinstance(request, ListEntities):
            return await self._entities(search, request)
        if request.since not in SINCE:
            raise BadArguments(
                f"{request.since[:40]!r} is not an age of pages.", fix=f"use one of {', '.join(SINCE[1:])}."
            )
        return self._open(await search.search(self._run.id, request.queries, request.since))

    async def _entities(self, search: Search, request: ListEntities) -> JsonObject:
        """Return the members of a class, unless their pages are closed: their words give as much away as the pages."""
        from tea.web.guard import denial, is_denied
        from tea.web.search.apis import WIKIDATA_PAGES

        web = self._run.web
        if is_denied(WIKIDATA_PAGES, denial(web.get("deny", ()))):
            raise ToolError("Wikidata is closed to this run.", fix="go on without it.")
        found = await search.entities(self._run.id, request._asdict())
        marks = [one for one in web.get("canaries", ()) if one]
        rows = cast("Sequence[JsonObject]", found["rows"])
        return {**found, "rows": [one for one in rows if not any(mark in str(one) for mark in marks)]}

    def _open(self, found: JsonObject) -> JsonObject:
        """Return findings without the results on hosts that are closed: their words give as much away as the pages."""
        from tea.web.guard import denial, is_denied

        web = self._run.web
        denied, canaries = denial(web.get("deny", ())), web.get("canaries", ())
        if denied is None and not canaries:
            return found
        results = cast("Sequence[JsonObject]", found["results"])
        kept = [
            one
            for one in results
            if not is_denied(str(one["url"]), denied)
            and not any(mark in f"{one['title']}\n{one['snippet']}" for mark in canaries if mark)
        ]
        return {**found, "results": kept}


class _Hosts(Service):
    async def serve(self, request: ReadCodeHost | ReadCommitIdentity, agent: str) -> JsonValue:
        raise ToolError("A recorded component cannot get a key.", fix="ask inside a tool, or an environment's action.")

    async def answer(self, request: ReadCodeHost | ReadCommitIdentity, agent: str, key: str) -> JsonValue:
        hosts = self._run.deps.hosts
        if hosts is None:
            return {}
        if isinstance(request, ReadCommitIdentity):
            return await asyncio.to_thread(hosts.identity)
        return hosts.of(request.wanted)


class _Session(Service):
    async def answer(self, request: SessionFolder, agent: str, key: str) -> JsonValue:
        config, store = self._run.run_config, self._run.deps.environments
        journaled = self._run.recorder.trace is not None
        if store is None or journaled or config.session == config.run:
            return None
        return str(await asyncio.to_thread(store.folder, config.session, request.name, config.workspace))


class _Web(Service):
    async def answer(self, request: ReadWebSettings, agent: str, key: str) -> JsonValue:
        return self._run.web
