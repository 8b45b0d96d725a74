"""Test unreadable files: each is one finding among others, and ends no command."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import SHOUT, SLOW, Tea, Warm, make

pytestmark = pytest.mark.slow

ASKS = '''
from tea import Agent, Context, Result, Task


class Asks(Agent):
    """Ask."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Remember, and ask."""
        await ctx.memory.record("note", {"text": "asked"})
        return Result(answer=await ctx.person("Who?"))
'''
LOOKING = (
    ("runs",),
    ("inbox",),
    ("list",),
    ("trace", "--session", "nobody"),
    ("runs", "gc", "--keep", "1", "--dry-run"),
)


def removed(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def garbage(path: Path) -> None:
    path.write_bytes(b"\xff\x00garbage\n" * 40)


def folder(path: Path) -> None:
    removed(path)
    path.mkdir()


def file(path: Path) -> None:
    removed(path)
    path.write_bytes(b"x")


def pipe(path: Path) -> None:
    removed(path)
    os.mkfifo(path)


def nowhere(path: Path) -> None:
    removed(path)
    path.symlink_to("nothing")


def itself(path: Path) -> None:
    removed(path)
    path.symlink_to(path.name)


def endless(path: Path) -> None:
    removed(path)
    path.symlink_to("/dev/zero")


def closed(path: Path) -> None:
    path.chmod(0)


FILES: tuple[Callable[[Path], None], ...] = (garbage, folder, pipe, nowhere, itself, endless, closed)
FOLDERS: tuple[Callable[[Path], None], ...] = (file, pipe, nowhere, itself, closed)
PLACES: dict[str, tuple[str, tuple[Callable[[Path], None], ...]]] = {
    "a journal": ("traces/RUN/journal.jsonl", FILES),
    "a lease": ("traces/RUN/lease", (garbage, folder, pipe)),
    "a run": ("traces/RUN", FOLDERS),
    "what a run remembers": ("traces/memory/RUN.jsonl", (garbage, pipe, nowhere)),
    "all that runs remember": ("traces/memory", (file, pipe)),
    "what half-written files are kept in": ("traces/.tmp", (file, pipe)),
    "the counter of runs": ("traces/.counter", (garbage, folder, pipe)),
    "a head": ("registry/tools/shout/heads/000001.json", FILES),
    "a version": ("registry/tools/shout/versions/1.0.0.json", FILES),
    "all heads": ("registry/tools/shout/heads", FOLDERS),
    "all versions": ("registry/tools/shout/versions", FOLDERS),
    "a component": ("registry/tools/shout", FOLDERS),
    "a kind": ("registry/tools", FOLDERS),
    "all models": ("registry/models", (file, pipe, itself)),
}
CASES = [(what, how) for what, (_, hows) in PLACES.items() for how in hows]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, warm: Warm) -> Tea:
    """A home with two waiting runs, and an ended one."""
    tea = make(tmp_path_factory.mktemp("prepared"), warm)
    tea("register", tea.write("asks.py", ASKS))
    tea("register", tea.write("slow.py", SLOW))
    tea("register", tea.write("shout.py", SHOUT))
    for _ in range(2):
        assert tea("run", "x", "--agent", "asks").code == 6
    assert tea("run", "0", "--agent", "slow").code == 0
    assert tea("doctor").code == 0
    return tea


@pytest.fixture(scope="module")
def waiting(prepared: Tea) -> list[str]:
    """The ids of the waiting runs, the same in each copy of the home."""
    return [one["run"] for one in prepared("runs", "--json").data["runs"] if one["status"] == "waiting"]


@pytest.fixture
def home(prepared: Tea, tmp_path: Path, warm: Warm) -> Iterator[Tea]:
    """A copy of the prepared home."""
    shutil.copytree(prepared.folder.parent, tmp_path, symlinks=True, dirs_exist_ok=True)
    tea = Tea(tmp_path / "work", tmp_path / "state", warm)
    yield tea
    for path in (tea.folder, *tea.folder.rglob("*")):
        if not path.is_symlink() and path.is_dir():
            path.chmod(0o755)


@pytest.mark.parametrize(("what", "how"), CASES, ids=[f"{what}: {how.__name__}" for what, how in CASES])
def test_what_cannot_be_read_is_one_finding_among_the_others(
    home: Tea, waiting: list[str], what: str, how: Callable[[Path], None]
) -> None:
    if how is closed and os.geteuid() == 0:
        return  # nothing is closed to root
    path = home.folder / PLACES[what][0].replace("RUN", waiting[0])
    path.parent.mkdir(exist_ok=True)
    path.exists() or path.mkdir()
    how(path)
    said = {line: home(*line) for line in LOOKING}
    assert {line: one.code for line, one in said.items()} == dict.fromkeys(LOOKING, 0), said
    assert waiting[1] in said["runs",].out
    assert waiting[1] in said["inbox",].out
    assert "agent:slow" in said["list",].out
    assert "tool:shout" in said["list",].out or what in ("a component", "a kind", "all heads")
    checked = home("doctor")
    assert checked.code == 2, checked
    assert path.name.partition(".")[0] in checked.out, checked
    assert "agents" in checked.out
    repaired = home("doctor", "--repair")
    assert repaired.code in (0, 2)


@pytest.mark.parametrize(
    "line",
    [
        *(("import", "loop"), ("corpus", "add", "loop"), ("corpus", "rm", "loop"), ("eval", "loop")),
        *(
            ("eval", "loop", "--benchmark", "hle"),
            ("eval", "score", "--scorer", "exact", "--expected", "1", "--trace", "loop"),
        ),
        *(
            ("run", "x", "--file", "loop"),
            ("load", "loop"),
            ("register", "loop"),
            ("eval", "loop", "--benchmark", "aime"),
        ),
    ],
    ids=" ".join,
)
def test_a_link_to_itself_is_a_file_that_cannot_be_read(tea: Tea, line: tuple[str, ...]) -> None:
    (tea.folder / "loop").symlink_to("loop")
    said = tea(*line)
    assert "internal error" not in said.err
    assert "loop" in said.err
