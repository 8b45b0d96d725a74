"""Installing: by name and version, from the operator's folder of wheels, and in no other way."""

from pathlib import Path
from typing import Any

import pytest
from wheel_kit import make_wheels

from tea.errors import ToolError


@pytest.fixture
def wheels(tmp_path: Path) -> str:
    """Two versions of one package, and another depending on it."""
    return str(make_wheels(tmp_path / "wheels"))


async def test_a_package_is_installed_with_what_it_needs_and_stays(sandbox: Any, wheels: str, workspace: Path) -> None:
    async with sandbox(wheels=wheels) as made:
        await made.install(["teaneeds"])
        assert (await made.python("import teaneeds, teatest; teatest.VERSION")).result == "'2.0'"
        assert (await made.bash("python3 -c 'import teatest; print(teatest.VERSION)'")).stdout.text == "2.0\n"
    assert list(workspace.iterdir()) == []


async def test_a_version_can_be_named(sandbox: Any, wheels: str) -> None:
    async with sandbox(wheels=wheels) as made:
        await made.install(["teatest==1.0"])
        assert (await made.python("import teatest; teatest.VERSION")).result == "'1.0'"


async def test_what_is_not_there_is_told(sandbox: Any, wheels: str) -> None:
    async with sandbox(wheels=wheels) as made:
        with pytest.raises(ToolError, match="No matching distribution"):
            await made.install(["nothing_of_that_name"])


@pytest.mark.parametrize(
    "package",
    [
        "--index-url=http://127.0.0.1/",
        "-r/etc/passwd",
        "teatest; rm -rf .",
        "teatest @ file:///etc",
        "./teatest",
        "teatest>=1",
        "teatest==1.0 --pre",
        "$(id)",
        "te\nst",
        "",
        "teatest[extra]",
        "x" * 200,
    ],
)
async def test_only_names_and_versions_are_taken(sandbox: Any, wheels: str, package: str) -> None:
    async with sandbox(wheels=wheels) as made:
        with pytest.raises(ToolError, match="is not a package's name"):
            await made.install(["teatest", package])


async def test_without_a_folder_of_wheels_nothing_is_installed(sandbox: Any) -> None:
    async with sandbox() as made:
        with pytest.raises(ToolError, match="names no folder of wheels") as told:
            await made.install(["teatest"])
    assert "[sandbox]" in told.value.fix


async def test_a_folder_of_wheels_that_is_gone_is_told_and_code_still_runs(sandbox: Any, tmp_path: Path) -> None:
    async with sandbox(wheels=str(tmp_path / "gone")) as made:
        with pytest.raises(ToolError, match="is not there"):
            await made.install(["teatest"])
        assert (await made.python("1")).result == "1"


async def test_sources_are_not_built(sandbox: Any, wheels: str) -> None:
    (Path(wheels) / "teasource-1.0.tar.gz").write_bytes(b"no wheel")
    async with sandbox(wheels=wheels) as made:
        with pytest.raises(ToolError, match="No matching distribution"):
            await made.install(["teasource"])
