"""State sources: environments as shown to a model, with their last observed states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tea.loop.observation import shortened
from tea.types import JsonObject, Response

MOST_IN_STATE = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSource:
    """An environment: the way to act in it, and its last observed state."""

    name: str
    description: str
    rules: str
    state: Any

    def words(self) -> dict[str, Any]:
        """Return the variables for its display in a prompt."""
        return {"name": self.name, "description": self.description, "rules": self.rules, "state": self.state}


def state_source(name: str, facts: JsonObject, state: Response) -> StateSource:
    """Return an environment with its facts and an observation of its state."""
    return StateSource(name=name, description=facts["description"], rules=facts["rules"], state=observed(state))


def observed(response: Response) -> Any:
    """Return an observation, bounded; a failed one is an observation too."""
    return shortened(response.value, MOST_IN_STATE) if response.error is None else {"error": response.error}


def rooms_of(environments: Sequence[str]) -> dict[str, set[str]]:
    """Return the environments named by an agent, each with the only actions it names, empty for all."""
    found: dict[str, set[str]] = {}
    for one in environments:
        name, _, action = one.partition("#")
        found.setdefault(name, set()).update({action} - {""})
    return found
