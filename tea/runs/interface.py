"""RunInterface: what a run offers to the ports and services that work for it."""

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
    """Asks models."""

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
        """Return what `agent` may know of the model that it would ask."""
        ...


class ServiceCalls(Protocol):
    """Answers an agent's questions to the run."""

    async def serve(self, service: str, verb: str, data: JsonObject, agent: str) -> JsonValue:
        """Answer as an effect of the run."""
        ...

    async def answer(self, service: str, verb: str, data: JsonObject, agent: str, key: str) -> JsonValue:
        """Answer now, inside an effect."""
        ...


class RunInterface(Protocol):
    """A run, as its ports and services see it."""

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
        """Asks models."""
        ...

    @property
    def services(self) -> ServiceCalls:
        """What answers questions to the run."""
        ...

    async def invoke(
        self, kind: Kind, ref: str, arguments: JsonObject, agent: str, depth: int, through: tuple[str, ...]
    ) -> Response:
        """Call an operation for an agent, so many calls deep; `through` was called in its place."""
        ...

    async def within(
        self, kind: Kind, ref: str, arguments: JsonObject, key: str, agent: str, depth: int, through: tuple[str, ...]
    ) -> Response:
        """Call an operation from inside an effect, so many calls deep; `through` was called in its place."""
        ...

    @property
    def accounts(self) -> BudgetAccounts:
        """What knows who pays."""
        ...
