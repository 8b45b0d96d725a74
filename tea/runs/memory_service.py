"""MemoryService and StateService: events and documents of a run's session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tea.components.port import (
    ClaimState,
    LoadState,
    MergeState,
    PutState,
    PutStateInTurn,
    ReadInsights,
    RecallEvents,
    RecordEvent,
    ReleaseState,
    SaveState,
    SummariseMemory,
    SwapState,
)
from tea.errors import ToolError
from tea.kernel.key import change_id, effect_key
from tea.kernel.pending import Inline
from tea.memory.manager import Scope
from tea.runs.deps import RunContext
from tea.runs.service import Service, owned
from tea.types import JsonValue

MemoryRequest: TypeAlias = RecordEvent | RecallEvents | SummariseMemory | ReadInsights
StateRequest: TypeAlias = (
    LoadState | SaveState | MergeState | SwapState | PutState | PutStateInTurn | ClaimState | ReleaseState
)


class MemoryService(Service):
    """The service `memory`: the events of a session, through the memory component of the agent."""

    async def serve(self, request: MemoryRequest, agent: str) -> JsonValue:
        """Answer an agent; the memory component is pinned before the effect."""
        scope, found = await self._scope(agent), owned(request)
        unknown = self._run.recorder.trace is None  # else the journal holds all of the effect

        async def perform(key: str) -> JsonValue:
            await self._run.attempts.prepare(key)
            return await self._remember(self.masked(found), scope, key, synced=unknown)

        inline = Inline.WRITE if isinstance(request, RecordEvent) else Inline.READ
        return await self._run.gate.effect(request.service, request.verb, found._asdict(), perform, inline)

    async def answer(self, request: MemoryRequest, agent: str, key: str) -> JsonValue:
        """Answer a request inside an effect."""
        await self._run.attempts.prepare(key)
        return await self._remember(request, await self._scope(agent, key), key, synced=True)

    async def _remember(self, request: MemoryRequest, scope: Scope, key: str, *, synced: bool) -> JsonValue:
        memory = self._run.deps.memory
        match request:
            case RecordEvent():
                by = change_id(self._run.id, key)
                return await memory.record(scope, request.kind, request.data, by, synced=synced)
            case RecallEvents():
                return [dict(event) for event in await memory.recall(scope, request.query, request.limit)]
            case SummariseMemory():
                return await memory.summarise(scope, earlier=request.earlier)
            case ReadInsights():
                return list(await memory.insights(scope, earlier=request.earlier))

    async def _scope(self, agent: str, key: str = "") -> Scope:
        """Return the scope of memory: inside the effect `key` with the run's held version, else with a lookup."""
        memories, memory = self._run.memories, None
        if memories.used and (named := memories.named(key or self._run.gate.path())) is not None:
            memory = await (memories.held(named) if key else memories.found(named))
        session = self._run.attempts.session(key or self._run.gate.path())
        return Scope(session=session, agent=agent, task=self._run.task, memory=memory)


class StateService(Service):
    """The service `state`: the documents of agents and environments.

    Args:
        run: The run's context.
    """

    def __init__(self, run: RunContext) -> None:
        super().__init__(run)
        self._turns: dict[str, Callable[[], None]] = {}

    async def answer(self, request: StateRequest, agent: str, key: str) -> JsonValue:
        """Answer a request inside an effect.

        Raises:
            ToolError: The document is that of an agent, and none is at work.
        """
        states, owner, by = self._run.deps.memory.states, request.owner, change_id(self._run.id, key)
        if owner == "agent:":
            raise ToolError("State is kept for agents only.", fix="call it inside of one.")
        await self._run.attempts.prepare(key)
        session = None if request.lasting else self._run.attempts.session(key)
        match request:
            case LoadState():
                again = self._run.gate.repeated(effect_key(key))
                return await states.load(owner, session, by if again else "")
            case SaveState():
                return await states.save(owner, session, request.document, by)
            case MergeState():
                return await states.merge(owner, session, request.patch, by)
            case SwapState():
                return await states.swap(owner, session, request.old, request.new, by)
            case PutState():
                return await states.put(owner, session, request.changes, by, request.expected)
            case PutStateInTurn():
                turn = await states.claim(owner, session, request.seconds)
                try:
                    return await states.put(owner, session, request.changes, by, request.expected)
                finally:
                    if turn is not None:
                        turn()
            case ClaimState():
                if (turn := await states.claim(owner, session, request.seconds)) is not None:
                    self._turns[owner] = turn
                return turn is not None
            case ReleaseState():
                return self._turns.pop(owner)()
