"""A platform in a temporary folder, with a list of trusted components of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tea.models.manager import Adapter
from tea.platform import Platform
from tea.runs.human_input import Person
from tea.runs.policy import AllowTrusted, Policy


@asynccontextmanager
async def platform(
    *, model: Adapter | None = None, policy: Policy | None = None, person: Person | None = None
) -> AsyncGenerator[Platform]:
    """Create a temporary platform and yield it.

    Args:
        model: Answers in place of the offline model, for example a `ScriptedModel`.
        policy: Decides about calls; by default whatever is trusted is allowed, so that nobody is asked.
        person: Answers what components ask the person behind a run.
    """
    with TemporaryDirectory(prefix="tea-") as folder:
        home, state = Path(folder) / "home", Path(folder) / "state"
        async with Platform(home, model=model, policy=policy or AllowTrusted(), state=state, person=person) as made:
            yield made
