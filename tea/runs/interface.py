"""RunInterface: the operations of a run for its ports and services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tea.journal.recorder import Recorder
from tea.kernel.gate import Gate
from tea.protocols.server import Server
from tea.refs import Kind
from tea.runs.budget import BudgetAccounts
from tea.runs.human_input import HumanInput
from tea.runs.memories import Memories
from tea.runs.pins import Pins
from tea.sandbox.levels import Sandboxes
from tea.types import JsonObject, JsonSchema, JsonValue, Message, ModelResponse, Response, ToolChoice

AnyServer = Server[Any, Any]


class Questions(Protocol):
    """The interface for requests to models."""

    async def ask(
        self,
        name: str,
        variables: JsonObject,
        history: tuple[Message, ...],
        model: str | None,
        agent: str,
        output: JsonSchema | None = None,
        tool_choice: ToolChoice = "auto",
    ) -> ModelResponse:
        """Ask a model through a prompt for `agent`, as one effect."""
        ...

    async def facts(self, name: str | None, agent: str) -> JsonObject:
        """Return the facts about the model of `agent`."""
        ...


class ServiceCalls(Protocol):
    """The interface for an agent's requests to the run."""

    async def serve(self, service: str, verb: str, data: JsonObject, agent: str) -> JsonValue:
        """Answer as an effect of the run."""
        ...

    async def answer(self, service: str, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        """Answer now, inside an effect."""
        ...


class RunInterface(Protocol):
    """The interface of a run for its ports and services."""

    id: str
    session: str
    task_id: str
    workspace: str
    inputs: tuple[str, ...]
    sandboxes: Sandboxes
    gate: Gate
    recorder: Recorder
    servers: Mapping[Kind, AnyServer]
    human_input: HumanInput
    pins: Pins
    memories: Memories

    @property
    def model_calls(self) -> Questions:
        """The interface for requests to models."""
        ...

    @property
    def services(self) -> ServiceCalls:
        """The services of the run."""
        ...

    async def invoke(
        self, kind: Kind, ref: str, arguments: JsonObject, agent: str, depth: int, through: tuple[str, ...]
    ) -> Response:
        """Call an operation for an agent, at the given depth of calls; `through` was called in its place."""
        ...

    async def within(
        self, kind: Kind, ref: str, arguments: JsonObject, key: str, agent: str, depth: int, through: tuple[str, ...]
    ) -> Response:
        """Call an operation from inside an effect, at the given depth of calls; `through` was called in its place."""
        ...

    @property
    def accounts(self) -> BudgetAccounts:
        """The accounts paying for the work."""
        ...
