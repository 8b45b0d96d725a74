"""The levels of this machine, tried once, and a sandbox of each."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tea.sandbox.levels import Level, probe, terms_of
from tea.sandbox.session import Sandbox, opened
from tea.sandbox.settings import LEVELS, LevelName, Limits

Open = Callable[..., AbstractAsyncContextManager[Sandbox]]
STRONGEST = "bubblewrap"


@pytest.fixture(scope="session")
def levels() -> Mapping[LevelName, Level]:
    """This machine's levels."""
    return {name: asyncio.run(probe(name)) for name in LEVELS}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def sandbox(workspace: Path) -> Open:
    """Open a sandbox of the strongest level, or with the named limits or level."""

    def open_(level: LevelName = STRONGEST, *, inputs: tuple[str, ...] = (), **given: Any) -> Any:
        wheels, packages = given.pop("wheels", None), given.pop("packages", [])
        terms = terms_of(level, str(workspace), Limits(**given), inputs=inputs)
        return opened({**terms, "wheels": wheels, "packages": packages})

    return partial(open_)
