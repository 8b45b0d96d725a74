"""RegistryService: listings, facts and retrieval of components, limited by the run's lock."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from typing import Any, TypeAlias

from tea.components.manifest import Manifest
from tea.components.operation import Traits
from tea.components.port import (
    ComponentFacts,
    ComponentInfo,
    ListComponents,
    RankTexts,
    RetrieveComponents,
    SimilarSolutions,
)
from tea.components.unseen import UnseenFacts
from tea.errors import UnknownComponent
from tea.refs import KINDS, Kind, Ref
from tea.registry.row import INTERNAL
from tea.runs.deps import AnyServer
from tea.runs.service import Service
from tea.runs.solutions import similar
from tea.types import EVERY, JsonValue

_TRAITS = tuple(one.name for one in fields(Traits))

RegistryRequest: TypeAlias = (
    ListComponents | ComponentInfo | ComponentFacts | RetrieveComponents | SimilarSolutions | RankTexts
)


class RegistryService(Service):
    """The service `registry`: for an agent, looking up a component pins it."""

    async def serve(self, request: RegistryRequest, agent: str) -> JsonValue:
        """Answer an agent; the facts are those of the pinned versions."""
        match request:
            case ComponentInfo():
                ref = self._server(request.kind).manager.ref(request.ref)
                config = await self._run.pins.resolve(ref)
                self._run.readings.described((config,))
                return facts(config)
            case ComponentFacts():
                manager = self._server(request.kind).manager
                found = await self._run.pins.resolve_all([manager.ref(ref) for ref in request.refs])
                if not isinstance(request, UnseenFacts):
                    self._run.readings.described(found)
                return list(map(facts, found))
            case ListComponents() | RetrieveComponents() | SimilarSolutions() | RankTexts():
                return await self.effect(request, agent)

    async def answer(self, request: RegistryRequest, agent: str, key: str) -> JsonValue:
        """Answer a request inside an effect."""
        if isinstance(request, SimilarSolutions):
            return await similar(self._run, request.query, request.k)
        server = self._server(request.kind)
        match request:
            case ListComponents():
                return await self._listed(server)
            case ComponentInfo():
                return await _info(server, request.kind, request.ref)
            case ComponentFacts():
                return [await _info(server, request.kind, ref) for ref in request.refs]
            case RetrieveComponents():
                return await self._retrieve(server, request)
            case RankTexts():
                ranked = server.manager.services.retrieval.ranked
                return await asyncio.to_thread(ranked, request.texts, request.query, request.k, request.least)

    async def _retrieve(self, server: AnyServer, request: RetrieveComponents) -> JsonValue:
        among = request.among
        if among is not None and EVERY in among:
            named = [name for name in among if name != EVERY]
            every = [one["name"] for one in await self._listed(server, for_models=True)]
            among = [name for name in dict.fromkeys((*named, *every)) if name not in request.besides]
            if not among:
                return []
        matches = await server.retrieve(query=request.query, k=request.k, route=request.route, among=among)
        found = [match.to_json() for match in matches]
        return [one for one in found if self._run.pins.may_use(f"{request.kind}:{one['name']}")]

    async def _listed(self, server: AnyServer, *, for_models: bool = False) -> list[dict[str, Any]]:
        """Return the active components, trusted or adopted, limited by the run's lock; on demand those for models."""
        hidden = INTERNAL if for_models else ()
        adopted = server.manager.services.trust.adopted.digests()
        listed = [one for one in await server.list() if one.category not in hidden]
        listed = [one for one in listed if one.trusted or one.digest in adopted]
        found = [one for one in listed if self._run.pins.may_use(f"{one.kind}:{one.name}")]
        return [
            {
                "name": one.name,
                "version": one.version,
                "description": one.description,
                **({} if one.trusted else {"trusted": False}),
            }
            for one in found
        ]

    def _server(self, kind: Kind) -> AnyServer:
        """Return the protocol of a kind.

        Raises:
            UnknownComponent: There is none.
        """
        if kind not in KINDS or kind not in self._run.deps.servers:
            raise UnknownComponent(f"There is no protocol for {kind!r}.", fix="ask for tool, environment or agent.")
        return self._run.deps.servers[kind]


async def _info(server: AnyServer, kind: Kind, ref: str) -> dict[str, Any]:
    return facts(await server.info(str(Ref.parse(ref, kind=kind))))


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
        **({"made": config.lineage.how} if config.lineage.how == "generator" else {}),
    }
