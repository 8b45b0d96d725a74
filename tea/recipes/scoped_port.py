"""ScopedPort: the port of an agent made of tools or environments, limited to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tea.components.manifest import Manifest
from tea.components.port import (
    RESPONSES,
    ComponentFacts,
    ComponentInfo,
    Invocation,
    ListComponents,
    Port,
    Question,
    RetrieveComponents,
    ServiceRequest,
)
from tea.errors import Denied, UnknownComponent
from tea.refs import Kind, Ref
from tea.types import (
    JsonObject,
    ModelResponse,
    Response,
    failure,
)

DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopedPort:
    """A port for calls of the agent's own operands, by digest; it refuses all other calls.

    Args:
        port: Carries them on.
        owner: The agent, for errors.
        own: What it may reach, by name.
        guard: Ref of a tool that may refuse, asked before each task and each call but observations; of action,
            arguments and state it is told what it takes.
    """

    port: Port
    owner: str
    own: Mapping[str, Manifest]
    guard: str | None = None

    async def call(self, invocation: Invocation) -> Response:
        """Call one of its operands, unless the guard refuses."""
        kind, ref, arguments = invocation
        wanted = Ref.parse(ref, kind=kind)
        found = self.own.get(wanted.name)
        if found is None or found.kind != kind:
            if kind == "tool" and wanted.name == DONE:
                return await self.port.call(invocation)
            error = Denied(f"{self.owner} reaches no {kind} {wanted.name!r}.", fix=f"use {', '.join(self.own)}.")
            return failure(RESPONSES[kind], ref, error)
        action = wanted.operation or wanted.name
        observes = kind == "environment" and action == "state"
        if not observes and (reason := await self.refusal(action, arguments)):
            return failure(RESPONSES[kind], ref, Denied(reason, fix="do something else."))
        return await self.port.call(invocation._replace(ref=exact_ref(found, wanted.operation)))

    async def refusal(self, action: str, arguments: JsonObject) -> str:
        """Return the guard's reason for refusing an action, or a `task`; empty if it allows it, or there is none."""
        if self.guard is None:
            return ""
        facts = await self.port.serve(ComponentInfo("tool", self.guard))
        takes = facts["operations"][0]["parameters"].get("properties", {})
        told: dict[str, Any] = {"action": action, "arguments": dict(arguments)}
        if "state" in takes:
            told["state"] = await self._states()
        given = {name: told[name] for name in told if name in takes}
        response = await self.port.call(Invocation("tool", self.guard, given))
        if response.error is not None:
            return response.error["problem"]
        if isinstance(response.value, str | None):
            return response.value or ""
        return f"The guard {self.guard} gave no words, so nobody knows whether {action!r} is allowed."

    async def serve(self, request: ServiceRequest) -> Any:
        """Send a request to a service; the registry is limited to its operands."""
        match request:
            case ListComponents(kind=kind):
                found = [one for one in self.own.values() if one.kind == kind]
                listed = [{"name": one.name, "version": one.version, "description": one.description} for one in found]
                return [*listed, *([{"name": DONE}] if kind == "tool" else [])]
            case RetrieveComponents(kind=kind, among=among):
                names = [one.name for one in self.own.values() if one.kind == kind]
                request = request._replace(among=[name for name in names if among is None or name in among])
            case ComponentInfo(kind=kind, ref=ref):
                request = request._replace(ref=self._exact(kind, ref))
            case ComponentFacts(kind=kind, refs=refs):
                request = request._replace(refs=[self._exact(kind, ref) for ref in refs])
            case _:
                pass
        return await self.port.serve(request)

    async def model(self, question: Question) -> ModelResponse:
        """Ask a model."""
        return await self.port.model(question)

    def _exact(self, kind: Kind, ref: str) -> str:
        """Return the exact ref of one of its operands, or `done`."""
        wanted = Ref.parse(ref, kind=kind)
        if wanted.name in self.own:
            return exact_ref(self.own[wanted.name], None)
        if wanted.name == DONE:
            return ref
        raise UnknownComponent(f"{self.owner} does not know {wanted}.", fix=f"use {', '.join(self.own)}.")

    async def _states(self) -> JsonObject:
        places = [one for one in self.own.values() if one.kind == "environment"]
        looks = {one.name: Invocation(one.kind, exact_ref(one, "state"), {}) for one in places}
        return {name: (await self.port.call(look)).value for name, look in looks.items()}


def exact_ref(config: Manifest, operation: str | None) -> str:
    """Return a ref to exactly the given version, by its digest."""
    return f"{config.name}@{config.digest}" + (f"#{operation}" if operation else "")
