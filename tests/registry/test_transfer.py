"""Any life of components survives the way through a file, and no damaged file changes anything."""

import json
import time
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tea.components.manifest import Manifest, canonical
from tea.errors import BadInput, TeaError
from tea.refs import Ref
from tea.registry.transfer import House, Loaded, load, saved
from tea.registry.version import VersionManager
from tea.store.files import read_json_strict
from tea.store.registry import FileRegistry
from tea.store.strict import dumps

NAMES = ("a", "b")
STEP = st.tuples(
    st.sampled_from(["add", "side", "restore", "rollback", "unregister", "alias", "mark", "purge"]),
    st.sampled_from(NAMES),
    st.integers(0, 3),
)


def act(versions: VersionManager, step: tuple[str, str, int]) -> None:
    """Do something to a component; impossible acts are left out."""
    what, name, choice = step
    there = versions.store.versions("prompt", name)
    version = there[choice % len(there)] if there else "1.0.0"
    ref = Ref(kind="prompt", name=name, selector=version)
    made = Manifest(kind="prompt", name=name, version=version, description="", source=f"{len(there)}")
    try:
        match what:
            case "add" | "side":
                build = lambda wanted: Manifest(  # noqa: E731
                    kind="prompt", name=name, version=wanted, description="", source=made.source
                )
                versions.add("prompt", name, build, current=what == "add", author="ada")
            case "restore":
                versions.restore("prompt", name, version)
            case "rollback":
                versions.rollback("prompt", name)
            case "unregister":
                versions.unregister("prompt", name)
            case "alias":
                versions.alias(ref, "prod")
            case "mark":
                versions.mark(ref, "archived")
            case _:
                versions.purge("prompt", name, [version], reason="gone")
    except TeaError:
        pass


def opened(folder: Path) -> VersionManager:
    return VersionManager(FileRegistry(folder))


def refs(versions: VersionManager) -> list[Ref]:
    return [Ref(kind="prompt", name=name) for name in versions.names("prompt")]


def written(versions: VersionManager) -> dict[str, Any]:
    """Return the document of all components, each with its words as stored."""
    return saved(versions, refs(versions), lambda one: one)


def received(versions: VersionManager, document: Any) -> Loaded:
    house = House(
        kinds=frozenset({"prompt"}),
        received=lambda found: found,
        shipped=lambda kind, name: None,
        trusted=lambda digest: False,
        record=lambda _: None,
    )
    return load(versions, document, house)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.json")}


@given(st.lists(STEP, max_size=12), st.lists(STEP, max_size=4))
@settings(max_examples=40, deadline=None)
def test_any_life_is_the_same_after_a_file_and_goes_on(
    tmp_path_factory: pytest.TempPathFactory, before: list[Any], after: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("life")
    mine, yours = opened(folder / "mine"), opened(folder / "yours")
    for step in before:
        act(mine, step)
    document = json.loads(dumps(written(mine)))
    received(yours, document)
    assert files(folder / "yours") == files(folder / "mine")
    received(yours, document)
    assert files(folder / "yours") == files(folder / "mine")
    for step in after:
        act(mine, step)
    received(yours, written(mine))
    assert {k: v for k, v in files(folder / "mine").items() if "purged" not in v.decode()}.items() <= files(
        folder / "yours"
    ).items()
    for step in [*after, *before]:
        act(yours, step)
        received(yours, written(mine)) if "purge" not in step else None
        for name in yours.names("prompt"):
            yours.history("prompt", name)


@pytest.mark.parametrize("there", [False, True])
def test_many_purged_versions_are_told_in_linear_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    mine, yours = opened(tmp_path / "mine"), opened(tmp_path / "yours")
    act(mine, ("add", "a", 0))
    document = json.loads(dumps(written(mine)))
    received(yours, document) if there else None
    [one] = document["components"]
    stone = {"kind": one["kind"], "name": one["name"], "digest": "x"}
    one["versions"] += [{"purged": {**stone, "version": f"2.0.{number}"}} for number in range(30_000)]
    document["check"] = "sha256:" + sha256(canonical(document["components"])).hexdigest()

    def nothing(*given: object) -> None:
        list(cast("Iterable[object]", given[0]))

    monkeypatch.setattr(yours.store, "create_all", nothing)
    monkeypatch.setattr(yours.store, "create", nothing)
    begun = time.process_time()
    assert len(received(yours, document).purged) == 30_000
    assert time.process_time() - begun < 15


def test_versions_that_are_there_are_looked_up_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = opened(tmp_path / "mine")
    for _ in range(30):
        act(mine, ("add", "a", 0))
    document, listed = written(mine), list[str]()
    versions = mine.store.versions

    def counted(kind: str, name: str) -> list[str]:
        listed.append(name)
        return versions(kind, name)

    monkeypatch.setattr(mine.store, "versions", counted)
    assert len(received(mine, document).skipped) == 30
    assert len(listed) < 10


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    versions = opened(tmp_path_factory.mktemp("saved"))
    for step in (("add", "a", 0), ("add", "a", 0), ("alias", "a", 0), ("add", "b", 0)):
        act(versions, step)
    return dumps(written(versions))


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_file_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, document: bytes, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    at = data.draw(st.integers(0, len(document) - 1))
    damage = data.draw(st.sampled_from(["cut", "flip", "drop", "double"]))
    changed = {
        "cut": document[:at],
        "flip": document[:at] + bytes([document[at] ^ 1]) + document[at + 1 :],
        "drop": document[:at] + document[at + 1 :],
        "double": document[:at] + document[at : at + 9] + document[at:],
    }[damage]
    file = folder / "file.json"
    file.write_bytes(changed)
    with pytest.raises(BadInput):
        received(opened(folder / "registry"), read_json_strict(file))
    assert not (folder / "registry").exists()


@pytest.mark.parametrize(
    "text",
    [
        '{}',
        '[]',
        '{"format": "tea components", "version": 2, "check": "", "components": []}',
        '{"format": "tea components", "version": 1, "check": "", "components": [NaN]}',
        '{"format": "tea components", "format": "tea components"}',
        '{"format": "tea components", "version": 1, "check": "", "components": {}}',
        '{"format": "tea components", "version": 1, "check": "", "components": [], "trusted": []}',
        '{"format": "tea components", "version": 1, "check": "", "components": [1e999]}',
        '{"format": "tea components", "version": 1, "check": "", "components": ["\\ud800"]}',
    ],
)  # fmt: skip
def test_what_is_no_file_of_components_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "file.json").write_text(text)
    with pytest.raises(BadInput):
        received(opened(tmp_path / "registry"), read_json_strict(tmp_path / "file.json"))
    assert not (tmp_path / "registry").exists()
