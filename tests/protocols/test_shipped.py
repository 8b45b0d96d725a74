"""Test shipped components: listed unexecuted, stored at first use, replaced by their next edition."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from elsewhere import open_platform
from protocol_kit import CASES, Case

from tea.components.manifest import canonical
from tea.errors import AlreadyRegistered, BadComponent, RegistryError, UnknownComponent
from tea.protocols import editor
from tea.protocols.acp import AgentContextManager
from tea.protocols.ecp import EnvironmentContextManager
from tea.protocols.manager import ContextManager
from tea.protocols.prompt import PromptLibrary
from tea.protocols.tcp import ToolContextManager
from tea.source import check as checking
from tea.source.cache import SourceCache
from tea.source.text import SourceText

MANAGERS: dict[str, Any] = {
    "tool": ToolContextManager,
    "environment": EnvironmentContextManager,
    "agent": AgentContextManager,
    "prompt": PromptLibrary,
}
FOLDERS = {"tool": "tools", "environment": "environments", "agent": "agents", "prompt": "agents"}
Opener = Callable[[], ContextManager]


@pytest.fixture(params=CASES, ids=lambda case: case.kind)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture
def folder(case: Case, tmp_path: Path) -> Path:
    found = tmp_path / "shipped" / FOLDERS[case.kind]
    found.mkdir(parents=True)
    return found


@pytest.fixture
def opened(case: Case, tmp_path: Path) -> Opener:
    """Open a library anew, as another process of the same operator would."""

    def open_library() -> ContextManager:
        one = open_platform(tmp_path)
        services = replace(one.tcp.manager.services, roots=(tmp_path / "shipped",))
        return MANAGERS[case.kind](services)

    return open_library


def put(case: Case, folder: Path, name: str = "greeter", **options: Any) -> None:
    (folder / f"{name}.{'md' if case.kind == 'prompt' else 'py'}").write_text(case.source(name, **options))


async def test_what_is_shipped_is_listed_without_being_executed_or_stored(
    case: Case, folder: Path, opened: Opener, tmp_path: Path
) -> None:
    if case.operation:
        put(case, folder, top="CANARY = 1 // 0")
    else:
        put(case, folder)
    library = opened()
    assert await library.init() == []
    (found,) = await library.list(category="manners")
    assert (found.name, found.version, found.origin, found.trusted) == ("greeter", "1.0.0", "bundled", True)
    assert found.description == "Greet someone."
    assert not (tmp_path / "home").exists()
    if case.operation:
        with pytest.raises(BadComponent, match="ZeroDivisionError"):
            await library.info("greeter")
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("case", [one for one in CASES if one.kind == "tool"], indirect=True)
async def test_a_home_holding_a_file_of_a_package_does_not_spare_it_its_check(
    case: Case, folder: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = case.source("greeter", top="print('it ran')")
    with monkeypatch.context() as unchecked:  # as the author of a registry could write it
        unchecked.setattr(
            checking,
            "check_source",
            lambda text, *_: checking.located(SourceText(kind="tool", name="greeter", source=text)),
        )
        await opened().register(source)
    capsys.readouterr()
    (folder / "greeter.py").write_text(source)
    monkeypatch.setattr(SourceCache, "read", lambda *_: None)  # as in the state of another account
    library = opened()
    await library.init()
    with pytest.raises(BadComponent, match="does work at the top level"):
        await library.get("greeter")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("case", [one for one in CASES if one.kind == "tool"], indirect=True)
@pytest.mark.parametrize("own", [False, True])
async def test_a_package_within_the_folder_of_tea_is_checked_as_any_other(
    case: Case,
    folder: Path,
    opened: Opener,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    own: bool,
) -> None:
    monkeypatch.setattr(editor, "bundled_roots", lambda: (tmp_path / "shipped" if own else tmp_path,))
    (folder / "greeter.py").write_text(case.source("greeter", top="print('it ran')"))
    library = opened()
    problems = await library.init()
    assert [str(one) for one in problems if "does work at the top level" in str(one)] == problems
    assert len(problems) == (0 if own else 1)
    assert capsys.readouterr().out == ""


async def test_a_broken_file_is_reported_by_name_and_skipped(case: Case, folder: Path, opened: Opener) -> None:
    put(case, folder, "ant")
    put(case, folder, "zebra")
    ending = "md" if case.kind == "prompt" else "py"
    (folder / f"broken.{ending}").write_text("def broken(:\n")
    (folder / f"latin.{ending}").write_bytes(b"\xff\xfe\xe9")
    (folder / f"twice.{ending}").write_text(case.source("zebra"))
    library = opened()
    problems = await library.init()
    assert [line.partition(":")[0] for line in problems] == [f"{one}.{ending}" for one in ("broken", "latin", "zebra")]
    assert [one.name for one in await library.list()] == ["ant", "zebra"]


async def test_first_use_stores_and_reading_does_not(case: Case, folder: Path, opened: Opener, tmp_path: Path) -> None:
    put(case, folder)
    library = opened()
    await library.init()
    seen = await library.info("greeter")
    assert seen.version == "1.0.0"
    assert [one.version for one in await library.history("greeter")] == ["1.0.0"]
    with pytest.raises(UnknownComponent, match=r"it has 1\.0\.0"):
        await library.info("greeter@2.0.0")
    with pytest.raises(RegistryError, match="not at another version before"):
        await library.rollback("greeter")
    assert not (tmp_path / "home").exists()
    pinned = await library.pin("greeter")
    assert (pinned.version, pinned.digest, pinned.lineage.how) == ("1.0.0", seen.digest, "bundled")
    again = opened()
    await again.init()
    assert await again.pin("greeter@1.0.0") == pinned == await again.info("greeter")


async def test_what_one_process_described_is_described_to_the_next_without_being_executed(
    case: Case, folder: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(case, folder, "described")
    library = opened()
    await library.init()
    seen = await library.info("described")

    def build(*_: object) -> None:
        pytest.fail("it is described once more")

    monkeypatch.setattr(MANAGERS[case.kind], "build", build)
    again = opened()
    await again.init()
    assert await again.info("described") == seen
    assert replace(await again.pin("described"), created=seen.created) == seen


async def test_the_next_edition_takes_the_place_of_the_last_but_never_of_a_persons_own(
    case: Case, folder: Path, opened: Opener
) -> None:
    put(case, folder)
    library = opened()
    await library.init()
    first = await library.pin("greeter")
    put(case, folder, hello="good day")
    library = opened()
    await library.init()
    assert (await library.info("greeter")).version == "1.0.1"
    second = await library.pin("greeter")
    assert (second.version, second.lineage.parent) == ("1.0.1", "1.0.0")
    assert (await library.rollback("greeter")).digest == first.digest
    own = await library.update("greeter", case.source(hello="moin"))
    assert own.version == "1.0.2"
    put(case, folder, hello="ahoy")
    library = opened()
    await library.init()
    assert await library.info("greeter") == own == await library.pin("greeter")
    assert [one.version for one in await library.history("greeter")] == ["1.0.0", "1.0.1", "1.0.2", "1.0.3"]
    assert (await library.restore("greeter@1.0.3")).lineage.how == "bundled"
    assert (await library.info("greeter")).version == "1.0.3"


async def test_rollback_goes_back_from_an_edition_that_was_never_used(case: Case, folder: Path, opened: Opener) -> None:
    put(case, folder)
    library = opened()
    await library.init()
    first = await library.pin("greeter")
    put(case, folder, hello="good day")
    library = opened()
    await library.init()
    assert (await library.rollback("greeter")).digest == first.digest
    assert (await library.info("greeter")).digest == first.digest


async def test_what_ships_is_replaced_by_its_next_edition_though_a_file_brought_it_as_somebodys_own(
    case: Case, folder: Path, opened: Opener, tmp_path: Path
) -> None:
    put(case, folder)
    library = opened()
    await library.init()
    await library.pin("greeter")
    await library.save(file := tmp_path / "saved.json", ["greeter"])
    shutil.rmtree(open_platform(tmp_path).home)
    document = json.loads(file.read_text())
    document["components"][0]["versions"][0]["lineage"] = {"how": "hand"}
    document["check"] = f"sha256:{sha256(canonical(document['components'])).hexdigest()}"
    file.write_text(json.dumps(document))
    library = opened()
    await library.init()
    await library.load(file)
    put(case, folder, hello="good day")
    library = opened()
    await library.init()
    assert (await library.pin("greeter")).version == "1.0.1"


async def test_what_fails_over_a_shipped_name_writes_nothing(
    case: Case, folder: Path, opened: Opener, tmp_path: Path
) -> None:
    put(case, folder)
    library = opened()
    await library.init()
    bad = case.source(top="BAD = 1 // 0") if case.operation else case.source(body="{{ unknown }}")
    with pytest.raises(AlreadyRegistered):
        await library.register(case.source(hello="moin"), version="1.0.0")
    with pytest.raises(BadComponent):
        await library.register(bad)
    with pytest.raises(BadComponent, match="keep the name"):
        await library.update("greeter", case.source("other"))
    assert not (tmp_path / "home").exists()


async def test_what_a_person_unregistered_stays_away(case: Case, folder: Path, opened: Opener) -> None:
    put(case, folder)
    library = opened()
    await library.init()
    first = await library.info("greeter")
    await library.unregister("greeter")
    for _ in range(2):
        assert await library.list() == []
        with pytest.raises(UnknownComponent):
            await library.info("greeter")
        assert (await library.exact(first.ref, first.digest)).version == "1.0.0"
        put(case, folder, hello="good day")
        library = opened()
        await library.init()


async def test_a_death_between_a_version_and_its_head_is_mended_at_the_next_use(
    case: Case, folder: Path, opened: Opener, tmp_path: Path
) -> None:
    put(case, folder)
    library = opened()
    await library.init()
    await library.pin("greeter")
    for path in (tmp_path / "home" / "registry").rglob("heads/*.json"):
        path.unlink()
    library = opened()
    await library.init()
    assert [one.name for one in await library.list()] == ["greeter"]
    assert (await library.info("greeter")).version == "1.0.0"
    assert (await library.pin("greeter")).version == "1.0.0"
    assert [one.version for one in await library.history("greeter")] == ["1.0.0"]
