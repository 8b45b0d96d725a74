"""Several processes over one registry: nothing is lost, nothing is given twice."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

import pytest
from elsewhere import open_platform
from protocol_kit import CASES
from transform_kit import JOIN

from tea.components.manifest import Manifest
from tea.errors import AlreadyRegistered, BadComponent, RegistryError, TeaError
from tea.platform import Platform
from tea.protocols.tcp import ToolContextManager
from tea.recipes.dependents import referring
from tea.recipes.transforms import defined
from tea.refs import Ref
from tea.registry.kind_registry import text_digest
from tea.source.text import SourceText

PROCESSES, COUNT = 4, 6
RACER = Path(__file__).parent / "racer.py"


def raced(home: Path) -> list[dict[str, list[str]]]:
    """Start the processes together and return each one's view."""
    command = [sys.executable, str(RACER), str(home)]
    runners = [
        subprocess.Popen([*command, str(number), str(COUNT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(PROCESSES)
    ]
    for one in runners:
        assert cast(IO[str], one.stdout).readline() == "ready\n"
    for one in runners:
        cast(IO[str], one.stdin).write("go\n")
        cast(IO[str], one.stdin).flush()
    return [json.loads(one.communicate(timeout=60)[0]) for one in runners]


@pytest.mark.slow
async def test_several_processes_register_one_name_and_no_version_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "shipped" / "tools"
    folder.mkdir(parents=True)
    (folder / "shipped.py").write_text(CASES[0].source("shipped"))
    seen = await asyncio.to_thread(raced, tmp_path)
    platform = open_platform(tmp_path)
    made = [version for one in seen for version in one["made"]]
    history = await platform.tcp.history("greeter")
    assert len(set(made)) == len(made) == PROCESSES * COUNT
    assert sorted(one.version for one in history) == sorted(made)
    said = {one.version: one.reason for one in history}
    assert {said[version] for version in made} == {f"{n} {t}" for n in range(PROCESSES) for t in range(COUNT)}
    for number, one in enumerate(seen):
        assert [said[version] for version in one["made"]] == [f"{number} {turn}" for turn in range(COUNT)]
    heads = platform.versions.heads("tool", "greeter")
    assert len(heads) == len(made)
    assert {head.current for head in heads} == set(made)
    assert (await platform.tcp.info("greeter")).version == heads[-1].current
    assert all([(await platform.tcp.invoke(f"greeter@{version}", {"text": "you"})).ok for version in made])
    assert {ref for one in seen for ref in one["pinned"]} == {"tool:shipped@1.0.0"}
    assert [one.version for one in await platform.tcp.history("shipped")] == ["1.0.0"]


async def test_threads_of_one_process_register_one_name_at_once(tmp_path: Path) -> None:
    platform, tool = open_platform(tmp_path), CASES[0]
    made = await asyncio.gather(*(platform.tcp.register(tool.source(hello=str(turn))) for turn in range(12)))
    assert len({one.version for one in made}) == 12
    assert len(await platform.tcp.history("greeter")) == 12


async def test_each_of_many_rollbacks_at_once_goes_one_step_back(tmp_path: Path) -> None:
    platform, tool = open_platform(tmp_path), CASES[0]
    for turn in range(12):
        await platform.tcp.register(tool.source(hello=str(turn)))
    await asyncio.gather(*(platform.tcp.rollback("greeter") for _ in range(8)))
    assert (await platform.tcp.info("greeter")).version == "1.0.3"


async def test_a_name_that_many_copies_want_at_once_is_given_one_version(tmp_path: Path) -> None:
    platform, tool = open_platform(tmp_path), CASES[0]
    await platform.tcp.register(tool.source())
    for name in ("one", "two", "three"):
        await asyncio.gather(*(platform.tcp.copy("greeter", name=name) for _ in range(8)), return_exceptions=True)
        assert [one.version for one in await platform.tcp.history(name)] == ["1.0.0"]


@pytest.mark.parametrize("change", ["restore", "alias", "archive"])
async def test_what_is_purged_meanwhile_is_neither_current_nor_marked(tmp_path: Path, change: str) -> None:
    platform, tool = open_platform(tmp_path), CASES[0]
    options = {"alias": "prod"} if change == "alias" else {}
    for turn in range(12):
        await platform.tcp.register(tool.source(hello=str(turn)))
    for turn in range(11):
        ref = f"greeter@1.0.{turn}"
        changed = (getattr(platform.tcp, change)(ref, **options) for _ in range(4))
        await asyncio.gather(*changed, platform.tcp.purge(ref), return_exceptions=True)
        head = platform.versions.head("tool", "greeter")
        gone = set(head.removed)
        assert gone.isdisjoint({head.current, *head.aliases.values(), *head.states})
        assert await platform.tcp.info("greeter")
        await platform.tcp.restore("greeter@1.0.11")


async def test_what_ships_is_read_anew_while_others_list_register_and_purge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, tool = tmp_path / "shipped" / "tools", CASES[0]
    folder.mkdir(parents=True)
    shipped, ended = [f"shipped_{number}" for number in range(8)], asyncio.Event()
    tools = ToolContextManager(replace(open_platform(tmp_path).tcp.manager.services, roots=(tmp_path / "shipped",)))
    monkeypatch.setattr("tea.registry.kind_registry.text_digest", slowly(text_digest))

    async def edit() -> None:
        for turn in range(6):
            for name in shipped:
                (folder / f"{name}.py").write_text(tool.source(name, hello=str(turn)))
            assert await tools.init() == []
        ended.set()

    async def look() -> None:
        while not ended.is_set():
            assert {one.name for one in await tools.list()} <= {*shipped, "own_0", "own_1"}

    async def live(name: str) -> None:
        for turn in range(3):
            await tools.register(tool.source(name, hello=str(turn)))
            await tools.unregister(name)
            await tools.purge(name)

    await tools.init()
    await asyncio.gather(edit(), *(look() for _ in range(3)), *(live(f"own_{number}") for number in range(2)))
    assert [one.name for one in await tools.list()] == shipped


def slowly(work: Callable[[SourceText], str]) -> Callable[[SourceText], str]:
    """Let other threads go on before it."""

    def done(text: SourceText) -> str:
        time.sleep(0.001)
        return work(text)

    return done


async def furnished(home: Path, *names: str) -> list[Platform]:
    """Two platforms sharing a home as two processes do, with tools in it."""
    platforms = [open_platform(home) for _ in range(2)]
    for name in names:
        await platforms[0].tcp.register(JOIN.replace("def join", f"def {name}"))
    return platforms


async def test_of_different_recipes_that_two_processes_make_of_one_name_one_is_refused(tmp_path: Path) -> None:
    both = await furnished(tmp_path, "a", "b")
    made = await asyncio.gather(
        *(
            one.ecp.transform("T2E", [operand], name=f"place_{number}")
            for number in range(6)
            for one, operand in zip(both, "ab", strict=True)
        ),
        return_exceptions=True,
    )
    assert [type(one) for one in made if not isinstance(one, list)] == [AlreadyRegistered] * 6
    for number in range(6):
        assert len(await both[0].ecp.history(f"place_{number}")) == 1


async def test_the_same_recipe_that_two_processes_make_at_once_is_one_version(tmp_path: Path) -> None:
    both = await furnished(tmp_path, "a")
    for number in range(6):
        made = await asyncio.gather(*(one.ecp.transform("T2E", ["a"], name=f"place_{number}") for one in both))
        assert len({str(one.ref) for [one] in made}) == 1
        assert len(await both[0].ecp.history(f"place_{number}")) == 1


def between(look: Callable[..., Any], turn: int, act: Callable[[], Any]) -> Callable[..., Any]:
    """Return a look with another process acting after its `turn`-th time."""
    turns = iter(range(1000))

    def looked(*given: Any) -> Any:
        found = look(*given)
        if next(turns) == turn:
            act()
        return found

    return looked


@pytest.mark.parametrize("turn", [0, 1])
async def test_what_another_process_transforms_while_it_is_purged_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    here, there = await furnished(tmp_path, "a")
    await here.tcp.update("a", JOIN.replace("def join", "def a").replace("Say", "Tell"))
    await here.tcp.alias("a@1.0.0", "prod")
    seen: list[object] = []

    def transform() -> None:
        try:
            seen.extend(asyncio.run(there.ecp.transform("T2E", ["a@1.0.0"], name="place")))
        except TeaError as error:
            seen.append(error)

    monkeypatch.setattr("tea.recipes.recipes.referring", between(referring, turn, transform))
    purged = await asyncio.gather(here.tcp.purge("a@1.0.0"), return_exceptions=True)
    assert isinstance(purged[0], list) is isinstance(seen[0], TeaError)
    if isinstance(purged[0], RegistryError):
        assert (await here.tcp.info("a@prod")).version == "1.0.0"
        assert await here.ecp.get("place")


async def test_what_another_process_purges_while_it_is_transformed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = await furnished(tmp_path, "a")
    await here.tcp.update("a", JOIN.replace("def join", "def a").replace("Say", "Tell"))
    purge = between(defined, 1, lambda: asyncio.run(there.tcp.purge("a@1.0.0")))
    monkeypatch.setattr("tea.recipes.transforms.defined", purge)
    with pytest.raises(BadComponent, match="was unregistered"):
        await here.ecp.transform("T2E", ["a@1.0.0"], name="place")
    assert await here.ecp.list() == []
    await here.ecp.transform("T2E", ["a"], name="place")
    assert len(await here.ecp.history("place")) == 1


async def test_what_another_process_stores_of_what_ships_is_pinned_as_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = Ref(kind="tool", name="calculator")
    first, second = (Platform(tmp_path / "home", state=tmp_path / "state") for _ in range(2))
    async with first as here, second as there:
        stored: list[Manifest] = []
        pin = between(here.versions.resolve, 0, lambda: stored.append(asyncio.run(there.libraries["tool"].pin(wanted))))
        monkeypatch.setattr(here.versions, "resolve", pin)
        assert await here.libraries["tool"].pin(wanted) == stored[0]
        assert await here.libraries["tool"].exact(stored[0].ref, stored[0].digest) == stored[0]


async def test_what_becomes_current_is_trusted_by_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, other = open_platform(tmp_path), open_platform(tmp_path)
    store, seen = here.versions.store, list[bool]()
    advance = store.advance

    def looked_at(*given: Any) -> int:
        number = advance(*given)
        found = other.versions.resolve(Ref(kind="tool", name="join"))
        seen.append(found is not None and other.tcp.manager.services.trust(found.digest))
        return number

    monkeypatch.setattr(store, "advance", looked_at)
    await here.tcp.register(JOIN)
    await here.tcp.update("join", JOIN.replace("Say a text", "Repeat a text"))
    assert seen == [True, True]
