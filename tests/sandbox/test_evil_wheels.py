"""Installing from a folder with hostile wheels: none of them does more than be imported."""

import io
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from importlib import metadata
from pathlib import Path

import pytest

from tea.errors import ToolError
from tea.sandbox.inside.installing import Refused, _module, _needed, reached
from tea.sandbox.levels import Level
from tea.sandbox.session import Sandbox

Open = Callable[..., AbstractAsyncContextManager[Sandbox]]
MARK = "open('/workspace/ran', 'w').close()\n"
BACKEND = '[build-system]\nrequires = []\nbuild-backend = "back"\nbackend-path = ["."]\n'


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    return folder


def wheel(
    folder: Path,
    files: Mapping[str, str | bytes] = {},
    *,
    name: str = "evil",
    version: str = "1.0",
    told: str = "",
    needs: str = "",
    record: str = "",
) -> Path:
    """Write a wheel; `told` is its name by its own words."""
    info = f"{name}-{version}.dist-info"
    head = f"Metadata-Version: 2.1\nName: {told or name}\nVersion: {version}\n"
    usual = {
        f"{info}/METADATA": head + (f"Requires-Dist: {needs}\n" if needs else ""),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": record,
    }
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for one, text in {**files, **usual}.items():
            made.writestr(one, text)
    return path


def refused(wheels: Path, words: str, package: str = "evil") -> None:
    """Expect a refusal by the look at wheels in the sandbox, before pip is given any."""
    with pytest.raises(Refused, match=re.escape(words)):
        list(reached(str(wheels), [package]))


@pytest.mark.parametrize(
    "name",
    [
        "../../../workspace/ran",
        "/workspace/ran",
        "evil/../../../workspace/ran",
        "evil\\..\\..\\ran",
        "evil-1.0.data/data//workspace/ran",
        "evil-1.0.data/data/../../../workspace/ran",
        "evil-1.0.data/scripts/../../../../workspace/ran",
    ],
)
def test_no_file_is_put_elsewhere(wheels: Path, name: str) -> None:
    wheel(wheels, {"evil.py": "", name: "there"})
    refused(wheels, "has a file with a name that leads elsewhere")


@pytest.mark.parametrize(
    "name",
    ["sitecustomize.py", "usercustomize.py", "json/__init__.py", "evil-1.0.data/purelib/os.py", "_json.cpython-311.so"],
)
def test_no_module_is_executed_in_place_of_pythons_own(wheels: Path, name: str) -> None:
    wheel(wheels, {name: MARK})
    refused(wheels, "has a module in place of Python's own")


def test_no_link_is_left(wheels: Path) -> None:
    link = zipfile.ZipInfo("evil")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(wheel(wheels, {"evil.py": ""}), "a") as made:
        made.writestr(link, "/workspace")
        made.writestr("evil/ran", "there")
    refused(wheels, "has a link: 'evil'")


@pytest.mark.parametrize(
    "needs",
    [
        "inner @ file:///workspace/inner",
        "inner @ http://127.0.0.1/inner-1.0-py3-none-any.whl",
        "--index-url http://127.0.0.1/",
        "file:///workspace/inner",
        "inner>=1 --pre",
        "../workspace/inner",
    ],
)
def test_nothing_is_needed_from_elsewhere(wheels: Path, needs: str) -> None:
    wheel(wheels, {"evil.py": ""}, needs=needs)
    refused(wheels, "which is not the name and version of a package")


def test_what_a_needed_package_needs_is_looked_at_too(wheels: Path) -> None:
    wheel(wheels, {"good.py": ""}, name="good", needs="EVIL[x] (>=0.5,!=0.7) ; python_version > '3'")
    wheel(wheels, {"evil.py": ""}, needs="inner @ file:///workspace/inner")
    refused(wheels, "evil-1.0-py3-none-any.whl needs 'inner @", "good")
    wheel(wheels, {"good.py": ""}, name="good", needs="Evil_")
    refused(wheels, "good-1.0-py3-none-any.whl needs 'Evil_'", "good")


@pytest.mark.parametrize("told", ["good", "evil\nName: good", "evil.", "good evil"])
def test_a_wheel_is_the_package_of_its_name(wheels: Path, told: str) -> None:
    wheel(wheels, {"evil.py": ""}, told=told)
    refused(wheels, "holds another package")


def test_sources_in_the_clothes_of_a_wheel_are_not_built(wheels: Path) -> None:
    with tarfile.open(wheels / "evil-1.0-py3-none-any.whl", "w:gz") as made:
        facts = tarfile.TarInfo("evil-1.0/setup.py")
        facts.size = len(MARK)
        made.addfile(facts, io.BytesIO(MARK.encode()))
    refused(wheels, "is not a wheel")


async def test_each_refusal_is_one_clear_error_and_the_next_call_works(
    sandbox: Open, wheels: Path, workspace: Path
) -> None:
    """Beside evil wheels lie a page of links, and a source named by a need through its address."""
    (workspace / "inner").mkdir()
    (workspace / "inner" / "pyproject.toml").write_text(f'{BACKEND}[project]\nname = "inner"\nversion = "1"\n')
    (workspace / "inner" / "back.py").write_text(MARK)
    linked = wheel(workspace / "inner", {"linked.py": MARK}, name="linked")
    (wheels / "index.html").write_text(f"<a href='file:///workspace/inner/{linked.name}'>{linked.name}</a>")
    wheel(wheels, {"evil.py": "", "../../../workspace/ran": "there"})
    wheel(wheels, {"sitecustomize.py": MARK}, name="early")
    wheel(wheels, {"needy.py": ""}, name="needy", needs="inner @ file:///workspace/inner")
    (wheels / "source-1.0-py3-none-any.whl").write_text(MARK)
    words = {"evil": "leads elsewhere", "early": "Python's own", "needy": "needs", "source": "is not a wheel"}
    async with sandbox(wheels=str(wheels)) as made:
        await made.bash(
            f"mkdir -p /tmp/.installing/wheels; ln -s /workspace/inner/{linked.name} /tmp/.installing/wheels"
        )
        for name, told in {**words, "linked": "No matching distribution", "evil.": "is not a package's"}.items():
            with pytest.raises(ToolError, match=told) as error:
                await made.install([name])
            assert "Traceback" not in error.value.problem
        seen = await made.python("import os; sorted(os.listdir('/opt/tea/installed')), os.listdir('/tmp')")
        assert seen.result == "([], [])"
        assert not Path(made.workspace, "ran").exists()


def test_metadata_is_said_one_time_and_is_short(wheels: Path) -> None:
    wheel(wheels, {"evil.py": "", "other-1.0.dist-info/METADATA": "Name: other\n"})
    refused(wheels, "does not say one time what it is")
    wheel(wheels, {"evil.py": ""}, needs=f"x\n{'X-Y: z' * 1_000_000}")
    refused(wheels, "does not say one time what it is")


async def test_code_that_would_run_at_pythons_start_does_not(sandbox: Open, wheels: Path) -> None:
    files = {"evil.py": "", "evil.pth": f"import sys; {MARK}", "evil-1.0.data/purelib/more.pth": f"import os; {MARK}"}
    files |= {"setup.py": MARK, "pyproject.toml": BACKEND, "back.py": MARK, "conftest.py": MARK, "evil.egg-link": "/"}
    wheel(wheels, {**files, "evil-1.0.dist-info/direct_url.json": '{"url": "file:///workspace"}'})
    async with sandbox(wheels=str(wheels)) as made:
        await made.install(["evil"])
        await made.bash("python3 -c 'import evil'; cd /opt/tea/installed && python3 -c 'import evil'")
        await made.end()
        assert (await made.python("import evil; evil.__file__")).result == "'/opt/tea/installed/evil.py'"
        assert not Path(made.workspace, "ran").exists()


async def test_programs_of_a_wheel_stand_in_nobodys_place(sandbox: Open, wheels: Path) -> None:
    points = "[console_scripts]\npython3 = evil:main\nls = evil:main\n../../../workspace/ran = evil:main\n"
    scripts = {"evil-1.0.data/scripts/bash": f"#!python\n{MARK}", "evil-1.0.dist-info/entry_points.txt": points}
    wheel(wheels, {"evil.py": f"def main():\n    {MARK}", **scripts})
    async with sandbox(wheels=str(wheels)) as made:
        await made.install(["evil"])
        where = (await made.bash("command -v python3 ls bash; ls; python3 -c 1")).stdout.text.split()
        assert not any("installed" in one for one in where)
        assert list(Path(made.workspace).iterdir()) == []


@pytest.mark.slow
async def test_a_list_of_files_removes_none_at_the_next_version(sandbox: Open, wheels: Path) -> None:
    wheel(
        wheels, {"evil.py": "VERSION = 1"}, record="../../../workspace/kept.txt,,\n/workspace/kept.txt,,\nevil.py,,\n"
    )
    wheel(wheels, {"evil.py": "VERSION = 2"}, version="2.0")
    async with sandbox(wheels=str(wheels)) as made:
        await made.python("open('kept.txt', 'w').write('kept')")
        for version in (1, 2):
            await made.install([f"evil=={version}.0"])
            assert (await made.bash("python3 -c 'import evil; print(evil.VERSION)'")).stdout.text == f"{version}\n"
        assert Path(made.workspace, "kept.txt").read_text() == "kept"


@pytest.mark.slow
@pytest.mark.parametrize("files", [{"evil.py": 400 << 20}, {f"evil/{n}.py": 4 << 20 for n in range(60)}])
async def test_a_wheel_that_unfolds_into_very_much_costs_its_call_alone(
    sandbox: Open, wheels: Path, files: Mapping[str, int]
) -> None:
    wheel(wheels, {name: bytes(size) for name, size in files.items()})
    assert sum(one.stat().st_size for one in wheels.iterdir()) < 1 << 20
    async with sandbox(wheels=str(wheels), disk_mb=48) as made:
        with pytest.raises(ToolError, match=r"File too large|Its files take more than 48 MB|No space left"):
            await made.install(["evil"])
        ran = await made.python("open('room', 'wb').write(bytes(30 << 20))")
        assert ran.result == str(30 << 20)


async def test_the_operators_folder_stays_as_it_is(sandbox: Open, wheels: Path, levels: Mapping[str, Level]) -> None:
    wheel(wheels, {"evil.py": ""})
    before = {one.name: one.read_bytes() for one in wheels.iterdir()}
    for level in ("bubblewrap", "landlock"):
        if levels[level].present:
            async with sandbox(level, wheels=str(wheels)) as made:
                await made.install(["evil"])
                where = repr(made._place("/opt/tea/wheels"))
                ran = await made.python(f"open({where} + '/more-1.0-py3-none-any.whl', 'w')")
                assert ran.raised in ("OSError", "PermissionError")
    assert {one.name: one.read_bytes() for one in wheels.iterdir()} == before


def test_the_needs_of_well_known_packages_are_understood() -> None:
    """Those of everything installed beside tea: each is the name and version of a package, but for direct addresses."""
    lines = [line for one in metadata.distributions() for line in one.requires or ()]
    assert len(lines) > 100
    for line in lines:
        assert _needed(line, "x").isascii()


def test_the_files_of_well_known_packages_stand_in_no_modules_place() -> None:
    names = [f for one in metadata.distributions() for f in one.files or () if ".." not in f.parts and len(f.parts) < 3]
    wrong = {str(one) for one in names if _module(list(one.parts)) in sys.stdlib_module_names}
    assert wrong == set()
