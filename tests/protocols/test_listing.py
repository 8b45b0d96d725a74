"""Test lists: the same with the catalogue and without, after any change of components, pointers, trust and files."""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from elsewhere import open_platform
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from protocol_kit import CASES

from tea.errors import Damaged, TeaError
from tea.protocols.manager import ContextManager
from tea.protocols.tcp import ToolContextManager
from tea.registry.row import FORM, Row, stored_facts
from tea.store.catalogue import Catalogue
from tea.store.registry import FileRegistry
from tea.store.scratch import Scratch

TOOL = CASES[0]
NAMES = ["greeter", "other"]


class House:
    """Tools in a registry, one of them perhaps shipped too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "shipped" / "tools").mkdir(parents=True)
        self.said = 0

    async def manager(self, least: int = 1, ahead: int = 10**10) -> ContextManager:
        """The tools as a new process sees them; its catalogue is kept from so many rows on."""
        platform = open_platform(self.folder)
        store = cast(FileRegistry, platform.versions.store)
        root = self.folder / "home" / "registry"
        store.catalogue = Catalogue(root, Scratch(root), str, least=least, clock=lambda: time.time_ns() + ahead)
        services = replace(platform.tcp.manager.services, roots=(self.folder / "shipped",))
        made = ToolContextManager(services)
        assert await made.init() == []
        return made

    async def plain(self) -> list[Row]:
        """Read the present tools anew."""
        return await (await self.manager(least=10**9, ahead=0)).list(state=None)

    async def told(self) -> dict[str, tuple[str, str, bool]]:
        """Find each by its name: version, digest and trust; nothing of damaged or absent ones."""
        tools = await self.manager()
        found: dict[str, tuple[str, str, bool]] = {}
        for name in NAMES:
            try:
                one = await tools.info(name)
            except TeaError as error:
                if isinstance(error, Damaged):
                    found[name] = ("", "", False)
            else:
                found[name] = (one.version, one.digest, tools.services.trust(one.digest))
        return found

    def body(self) -> dict[str, str]:
        """Another body each time."""
        self.said += 1
        return {"hello": f"hello {self.said}"}

    def tick(self) -> None:
        """Let the clock of the file system tick, to give a change after a look another time."""
        probe = self.folder / "probe"
        probe.touch()
        before = probe.stat().st_ctime_ns
        while probe.stat().st_ctime_ns == before:
            probe.write_text("now")

    async def change(self, what: str, name: str, tools: ContextManager) -> None:
        """Change something; a refused change leaves all as it is."""
        version = self.folder / "home" / "registry" / "tools" / name / "versions" / "1.0.0.json"
        match what:
            case "register":
                await tools.register(TOOL.source(name, **self.body()))
            case "ship":
                (self.folder / "shipped" / "tools" / f"{name}.py").write_text(TOOL.source(name, **self.body()))
            case "spoil" if version.exists():
                version.write_bytes(version.read_bytes().replace(b"hello", b"HELLO"))
            case "distrust":
                tools.services.trust.path.unlink(missing_ok=True)
            case "pin" | "rollback" | "unregister":
                await getattr(tools, what)(name)
            case "restore" | "deprecate" | "trust":
                await getattr(tools, what)(f"{name}@1.0.0")
            case _:
                pass


CHANGES = [
    "register",
    "register",
    "ship",
    "pin",
    "rollback",
    "restore",
    "deprecate",
    "unregister",
    "spoil",
    "distrust",
    "trust",
]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.sampled_from(CHANGES), st.sampled_from(NAMES)), min_size=2, max_size=10))
@example(changes=[(what, "other") for what in ("ship", "unregister", "spoil")])
@example(changes=[(what, "other") for what in ("ship", "pin", "ship", "pin", "rollback", "register", "ship")])
@example(changes=[(what, "other") for what in ("register", "distrust", "trust", "spoil", "register", "unregister")])
def test_a_list_is_the_same_with_and_without_catalogue(
    changes: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    async def check() -> None:
        house = House(tmp_path_factory.mktemp("house"))
        for what, name in changes:
            tools = await house.manager()
            house.tick()
            await tools.list()
            try:
                await house.change(what, name, tools)
            except TeaError:
                continue
            expected = await house.plain()
            assert {one.name: (one.version, one.digest, one.trusted) for one in expected} == await house.told()
            if what != "ship":
                assert await tools.list(state=None) == expected, "the process that made the change"
            assert await (await house.manager()).list(state=None) == expected, "a new process"

    asyncio.run(check())


async def test_a_list_of_a_stored_component_reads_it_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = House(tmp_path)
    first = await house.manager()
    await first.register(TOOL.source("greeter"))
    listed = await first.list()
    read: list[str] = []
    later = await house.manager()
    store = later.services.versions.store
    real: Callable[..., Any] = store.read

    def reading(kind: str, name: str, version: str) -> Any:
        read.append(name)
        return real(kind, name, version)

    monkeypatch.setattr(store, "read", reading)
    assert await later.list() == listed
    assert read == []


def test_the_fields_of_a_line_are_those_of_this_form(tmp_path: Path) -> None:
    async def made() -> Any:
        return await (await House(tmp_path).manager()).register(TOOL.source("greeter"))

    facts = stored_facts(asyncio.run(made()), "active")._asdict()
    facts.pop("digest")
    assert facts.pop("words").startswith("sha256:")
    assert (FORM, facts) == (
        7,
        {
            "version": "1.0.0",
            "description": "Greet someone.",
            "state": "active",
            "origin": "registry",
            "category": "manners",
            "toolkit": "",
            "text": "greeter\nGreet someone.\ntext: Whom to greet.\nmanners",
        },
    ), "a change of what is kept needs another FORM, or older catalogues would still be used"


async def test_a_registration_lists_the_heads_and_the_versions_of_its_name_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(tmp_path)
    tools = await house.manager()
    for _ in range(3):
        await tools.register(TOOL.source("greeter", **house.body()))
    listed: list[str] = []
    real = os.listdir

    def listing(path: Path) -> list[str]:
        listed.append(Path(path).name)
        return real(path)

    monkeypatch.setattr(os, "listdir", listing)
    assert (await tools.register(TOOL.source("greeter", **house.body()))).version == "1.0.3"
    assert sorted(one for one in listed if one in ("heads", "versions")) == ["heads", "versions"]
