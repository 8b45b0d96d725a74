"""ScopedPort: the port of an agent made of tools or environments, limited to them."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from tea.components.context import Group, Port
from tea.components.manifest import Manifest
from tea.errors import Denied, UnknownComponent
from tea.refs import Kind, Ref
from tea.types import (
    ActionResponse,
    AgentResponse,
    JsonObject,
    JsonSchema,
    Message,
    ModelResponse,
    Response,
    Result,
    ToolChoice,
    ToolResponse,
    failure,
)

DONE = "done"
_RESPONSES: Mapping[str, type[Response]] = {
    "tool": ToolResponse,
    "environment": ActionResponse,
    "agent": AgentResponse,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopedPort:
    """A port for calls of the agent's own operands, by digest; it refuses all other calls.

    Args:
        port: Carries them on.
        owner: The agent, for errors.
        own: What it may reach, by name.
        guard: Ref of a tool that may refuse, asked before each task and each call that is no observation; of action,
            arguments and state it is told what it takes.
    """

    port: Port
    owner: str
    own: Mapping[str, Manifest]
    guard: str | None = None

    async def invoke(self, kind: Kind, ref: str, arguments: JsonObject) -> Response:
        """Call one of its operands, unless the guard refuses."""
        wanted = Ref.parse(ref, kind=kind)
        found = self.own.get(wanted.name)
        if found is None or found.kind != kind:
            if kind == "tool" and wanted.name == DONE:
                return await self.port.invoke(kind, ref, arguments)
            error = Denied(f"{self.owner} reaches no {kind} {wanted.name!r}.", fix=f"use {', '.join(self.own)}.")
            return failure(_RESPONSES[kind], ref, error)
        action = wanted.operation or wanted.name
        observes = kind == "environment" and action == "state"
        if not observes and (reason := await self.refusal(action, arguments)):
            return failure(_RESPONSES[kind], ref, Denied(reason, fix="do something else."))
        return await self.port.invoke(kind, exact_ref(found, wanted.operation), arguments)

    async def refusal(self, action: str, arguments: JsonObject) -> str:
        """Return the guard's reason for refusing an action, or a `task`; empty if it allows it, or there is none."""
        if self.guard is None:
            return ""
        facts = await self.port.serve("registry", "info", {"kind": "tool", "ref": self.guard})
        takes = facts["operations"][0]["parameters"].get("properties", {})
        told: dict[str, Any] = {"action": action, "arguments": dict(arguments)}
        if "state" in takes:
            told["state"] = await self._states()
        given = {name: told[name] for name in told if name in takes}
        response = await self.port.invoke("tool", self.guard, given)
        if response.error is not None:
            return response.error["problem"]
        if isinstance(response.value, str | None):
            return response.value or ""
        return f"The guard {self.guard} gave no words, so nobody knows whether {action!r} is allowed."

    async def serve(self, service: str, verb: str, data: JsonObject) -> Any:
        """Send a request to a service; the registry is limited to its operands."""
        if service != "registry" or verb == "rank":
            return await self.port.serve(service, verb, data)
        found = [one for one in self.own.values() if one.kind == data["kind"]]
        if verb == "retrieve":
            among = [one.name for one in found if data["among"] is None or one.name in data["among"]]
            return await self.port.serve(service, verb, {**data, "among": among})
        if verb == "list":
            listed = [{"name": one.name, "version": one.version, "description": one.description} for one in found]
            return [*listed, *([{"name": DONE}] if data["kind"] == "tool" else [])]
        if verb == "facts":
            return await self.port.serve(
                service, verb, {**data, "refs": [self._exact(data["kind"], ref) for ref in data["refs"]]}
            )
        return await self.port.serve(service, verb, {**data, "ref": self._exact(data["kind"], data["ref"])})

    async def model(
        self,
        prompt: str,
        variables: JsonObject,
        history: tuple[Message, ...],
        model: str | None,
        output: JsonSchema | None,
        tool_choice: ToolChoice = "auto",
    ) -> ModelResponse:
        """Ask a model."""
        return await self.port.model(prompt, variables, history, model, output, tool_choice)

    def note(self, kind: str, data: JsonObject) -> None:
        """Write a record."""
        self.port.note(kind, data)

    def so_far(self, result: Result) -> None:
        """Keep the best answer so far."""
        self.port.so_far(result)

    def group(self) -> AbstractAsyncContextManager[Group]:
        """Return concurrent work."""
        return self.port.group()

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
        """Limit the body's time."""
        return self.port.timeout(seconds)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self.port.sleep(seconds)

    async def race(self, *work: Coroutine[Any, Any, Any]) -> tuple[int, Any]:
        """Return the result of the first to end."""
        return await self.port.race(*work)

    async def receive(self) -> Any:
        """Wait for a message."""
        return await self.port.receive()

    def _exact(self, kind: Kind, ref: str) -> str:
        """Return the exact ref of one of its operands, or `done`."""
        wanted = Ref.parse(ref, kind=kind)
        if wanted.name in self.own:
            return exact_ref(self.own[wanted.name], None)
        if wanted.name == DONE:
            return ref
        raise UnknownComponent(f"{self.owner} knows no {wanted}.", fix=f"use {', '.join(self.own)}.")

    async def _states(self) -> JsonObject:
        places = [one for one in self.own.values() if one.kind == "environment"]
        return {one.name: (await self.port.invoke(one.kind, exact_ref(one, "state"), {})).value for one in places}


def exact_ref(config: Manifest, operation: str | None) -> str:
    """Return a ref to exactly the given version, by its digest."""
    return f"{config.name}@{config.digest}" + (f"#{operation}" if operation else "")
