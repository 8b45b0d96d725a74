"""The levels of this machine, tried once, and a sandbox of each."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tea.sandbox.levels import Level, probe, terms_of
from tea.sandbox.session import Sandbox, opened
from tea.sandbox.settings import LEVELS, LevelName, Limits
from tea.sandbox.way_out import WayOut

Open = Callable[..., AbstractAsyncContextManager[Sandbox]]
STRONGEST = "bubblewrap"


class Levels(Mapping[LevelName, Level]):
    """This machine's levels, each tried when it is asked for."""

    def __init__(self) -> None:
        self._known = dict[LevelName, Level]()

    def __getitem__(self, name: LevelName) -> Level:
        if name not in self._known:
            with ThreadPoolExecutor() as threads:  # the thread of a test may have a loop of its own
                self._known[name] = threads.submit(lambda: asyncio.run(probe(name))).result()
        return self._known[name]

    def __iter__(self) -> Iterator[LevelName]:
        return iter(LEVELS)

    def __len__(self) -> int:
        return len(LEVELS)


@pytest.fixture(scope="session")
def levels() -> Mapping[LevelName, Level]:
    return Levels()


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
        ways = WayOut(**given.pop("ways", {}))
        terms = terms_of(level, str(workspace), Limits(**given), inputs=inputs)
        return opened({**terms, "wheels": wheels, "packages": packages, "way_out": ways.to_json()})

    return partial(open_)
