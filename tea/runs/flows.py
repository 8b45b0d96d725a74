"""Flows: the branches and timers of agents, stepped and recorded by their run, and those of tools, left to asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tea.components.flow import AsyncioFlow, check_note
from tea.components.manifest import Manifest
from tea.errors import BadArguments
from tea.journal.form import note_fault
from tea.journal.recorder import Recorder
from tea.kernel.entry import canonical
from tea.kernel.gate import Gate
from tea.kernel.key import branch_of, innermost
from tea.runs.budget import BudgetAccounts
from tea.types import JsonObject, Result

if TYPE_CHECKING:
    from tea.untrusted.programs import Followed


class AgentFlow:
    """The flow of all agents of a run.

    Args:
        gate: The run's boundary.
        accounts: Who pays, and keeps the best answer so far.

    Attributes:
        followed: The programs of untrusted components led so far.
    """

    def __init__(self, gate: Gate, accounts: BudgetAccounts) -> None:
        self.gate, self._accounts = gate, accounts
        self.followed: list[Followed] = []
        self.group, self.timeout, self.sleep = gate.group, gate.timeout, gate.sleep
        self.race, self.receive = gate.race, gate.receive

    def note(self, kind: str, data: JsonObject) -> None:
        """Write the agent's own record.

        Raises:
            BadArguments: It is not JSON, or of no kind, of one that is the platform's own, or not in its kind's form.
        """
        check_note(kind)
        if fault := note_fault(kind, data):
            raise BadArguments(f"The note {kind!r} has another form: {fault}.", fix="call the note something else.")
        self.gate.note(kind, data)

    def so_far(self, result: Result) -> None:
        """Keep the best answer so far, for the case of a timeout."""
        self._accounts.of(self.gate.path()).so_far(result)


class LeafFlow(AsyncioFlow):
    """The flow of a tool or action.

    Args:
        recorder: Writes its notes, as evidence.
        key: Key of its effect.
    """

    def __init__(self, recorder: Recorder, key: str) -> None:
        self._recorder, self._key = recorder, key

    def note(self, kind: str, data: JsonObject) -> None:
        """Write the tool's own record, as evidence.

        Raises:
            BadArguments: It is not JSON.
        """
        canonical(data)
        self._recorder.write("evidence", self._key, {"kind": kind, "data": data})

    def so_far(self, result: Result) -> None:
        """Ignore an intermediate result: a tool returns its value at its end, or none."""


class Places:
    """The branches of a run's agents, by key.

    An agent works in the branch in which it was called, with all that it does itself, also side by side. An agent that
    it calls there works in that branch too; one that it spawns works in a branch of its own.
    """

    def __init__(self) -> None:
        self._agents: set[str] = set()

    def enter(self, key: str, config: Manifest) -> None:
        """Record the scope of an agent; other components with a scope work in their caller's branch."""
        if config.kind == "agent":
            self._agents.add(key)

    def branch(self, key: str) -> str:
        """Return the branch of the innermost agent around `key`; empty outside any."""
        return branch_of(innermost(key, self._agents))
