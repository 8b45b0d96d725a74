"""Test stored versions: nothing is executed or granted but the bytes of their digests."""

from pathlib import Path

import pytest

from tea.components.manifest import Lineage, Manifest
from tea.errors import BadComponent, TeaError
from tea.platform import Platform
from tea.protocols.bundle import received
from tea.source.dynamic import DynamicManager
from tea.source.module import PrivateModule
from tea.source.text import SourceText

PLAIN = '''from tea import tool


@tool
def sums(x: int) -> int:
    """Say."""
    return x
'''
FORMS = {
    "imports": PLAIN.replace("return x", "return math.floor(x)"),
    "line ends": PLAIN.replace("\n", "\r\n"),
    "byte order mark": f"\ufeff{PLAIN}",
    "requirements": f'# /// script\n# dependencies = ["openpyxl"]\n# ///\n{PLAIN}',
}


def stored(stage: Platform, source: str) -> Manifest:
    """Write a version as its sender made it."""
    found = Manifest(kind="tool", name="sums", version="1.0.0", description="Say.", source=source, lineage=Lineage())
    return stage.versions.add("tool", "sums", lambda _: found, version="1.0.0")


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources executed during a test, in their order."""
    found = list[str]()
    make = PrivateModule.__init__

    def spy(module: PrivateModule, digest: str, source: str, *others: object, bodies: bool) -> None:
        found.append(source)
        make(module, digest, source, *others, bodies=bodies)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(PrivateModule, "__init__", spy)
    return found


@pytest.mark.parametrize("source", FORMS.values(), ids=FORMS)
async def test_a_version_that_tea_would_write_otherwise_is_not_granted(
    tmp_path: Path, executed: list[str], source: str
) -> None:
    async with Platform(tmp_path / "home", state=tmp_path / "state") as stage:
        found = stored(stage, source)
        with pytest.raises(BadComponent, match="form other than tea's own") as told:
            await stage.tcp.manager.trust(found.ref.at(found.digest))
        assert "register that file" in told.value.fix
        assert not stage.trust(found.digest)
        assert executed == []


@pytest.mark.parametrize("source", FORMS.values(), ids=FORMS)
async def test_nothing_but_the_bytes_of_a_granted_digest_is_executed(
    tmp_path: Path, executed: list[str], source: str
) -> None:
    async with Platform(tmp_path / "home", state=tmp_path / "state") as stage:
        found = stored(stage, source)
        stage.trust.grant(found.digest, "as an earlier tea did")
        assert (await stage.tcp.info("sums")).operations == {}
        assert "cannot be compared with its source" in stage.libraries["tool"].misdescribed(found)
        with pytest.raises(TeaError):
            (await stage.tcp.invoke("sums", {"x": 1})).unwrap()
        assert received(stage.libraries["tool"], found) == found
        with pytest.raises(BadComponent, match="form other than tea's own"):
            await stage.tcp.manager.copy("sums", name="other")
        assert executed == []


def test_a_source_is_executed_under_its_own_digest_alone(executed: list[str]) -> None:
    unchecked = SourceText(kind="tool", name="sums", source=FORMS["imports"])
    with pytest.raises(BadComponent, match="not complete"):
        DynamicManager(lambda _: True).describe(unchecked, version="1.0.0")
    assert executed == []


async def test_a_version_in_the_form_of_tea_is_granted(tmp_path: Path, executed: list[str]) -> None:
    async with Platform(tmp_path / "home", state=tmp_path / "state") as stage:
        found = stored(stage, PLAIN)
        await stage.tcp.manager.trust(found.ref.at(found.digest))
        assert (await stage.tcp.invoke("sums", {"x": 1})).unwrap() == 1
        assert set(executed) == {PLAIN}
