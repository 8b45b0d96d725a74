"""A platform with a scripted model for every role of a research."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from research_kit import CITIES, RESEARCHER, Roles

from tea.platform import Platform
from tea.research.status import Status
from tea.testing import platform


class Lab:
    """A platform, its model, and short ways to research on it."""

    def __init__(self) -> None:
        self.roles = Roles()
        self.tea: Platform

    def plays(self, **plays: Any) -> None:
        """Let the model play these roles otherwise, from the beginning."""
        self.roles.plays = plays
        self.roles.counts.clear()
        self.roles.requests.clear()

    async def run(self, mode: str = "steering", text: str = "Why do cities grow?", **options: Any) -> Status:
        """Research to the end, and see an identical replay."""
        status = await self.tea.research.run(text, mode=mode, **options)
        assert (await self.tea.replay(status.run)).ok == (status.status == "completed")
        return status

    def events(self, run: str) -> list[dict[str, Any]]:
        """The notes of a research on its phases, in order."""
        notes = [one.data for one in self.tea.tracer.records(run) if one.kind == "note"]
        return [one["data"] for one in notes if one["kind"] == "research"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lab() -> AsyncIterator[Lab]:
    lab = Lab()
    async with platform(model=lab.roles) as lab.tea:
        await lab.tea.acp.register(RESEARCHER)
        yield lab


@pytest.fixture
def cities(tmp_path: Path) -> Path:
    path = tmp_path / "cities.csv"
    path.write_text(CITIES)
    return path
