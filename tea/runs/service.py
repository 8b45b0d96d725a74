"""Service: the base of the run's services for its agents and tools."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeVar

from tea.components.port import ServiceRequest
from tea.kernel.entry import own
from tea.kernel.pending import Inline
from tea.runs.deps import RunContext
from tea.types import JsonValue

R = TypeVar("R", bound=ServiceRequest)


class Service(ABC):
    """A service of a run; each of its answers to an agent is an effect, repeated in a replay.

    Args:
        run: The run's context.
    """

    def __init__(self, run: RunContext) -> None:
        self._run = run

    @abstractmethod
    async def answer(self, request: Any, agent: str, key: str) -> JsonValue:
        """Answer a request now, inside an effect.

        Args:
            request: One of the requests to this service, owned by it and without secrets.
            agent: Who asks.
            key: Key of the effect, for a further question inside of one with its number.
        """

    async def serve(self, request: Any, agent: str) -> JsonValue:
        """Answer an agent: one effect, unless the service has no need of it."""
        return await self.effect(request, agent)

    async def effect(self, request: ServiceRequest, agent: str, inline: Inline | None = None) -> Any:
        """Answer a request in an effect; it is recorded unmasked.

        Args:
            request: The request.
            agent: Who asks.
            inline: The effect's way of working, where it seldom waits.
        """
        found = owned(request)

        async def perform(key: str) -> JsonValue:
            return await self.answer(self.masked(found), agent, key)

        return await self._run.gate.effect(request.service, request.verb, found._asdict(), perform, inline)

    def masked(self, request: R) -> R:
        """Return a request without the operator's secrets."""
        data = request._asdict()
        masked = self._run.recorder.mask.data(data)
        return request if masked is data else request._replace(**masked)


def owned(request: R) -> R:
    """Return a copy of a request, safe from later changes by its sender.

    Raises:
        BadArguments: It is not JSON.
    """
    return request._replace(**own(request._asdict()))
