"""Test a home after a refused system call, or a dead process, at any point of a write."""

import contextlib
import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tea.errors import AlreadyRegistered, Conflict, StorageError
from tea.store.journal import FileJournals
from tea.store.registry import FileRegistry
from tea.store.scratch import Scratch

from .crash_kit import Act, Fault, die, refuse

pytestmark = pytest.mark.slow


class World:
    """A home on disk, the acts on it, and its invariants."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.registry = FileRegistry(home / "registry")
        self.journals = FileJournals(home / "traces")

    def files(self) -> dict[str, bytes]:
        every = (path for path in self.home.rglob("*") if path.is_file() and path.name != ".counter")
        return {str(path): path.read_bytes() for path in every}

    def leftovers(self) -> list[Path]:
        return [path for folder in self.home.glob("*/.tmp") for path in folder.iterdir()]


def first_version(world: World) -> None:
    world.registry.create("tool", "a", "1.0.0", {"text": "x" * 100})


def next_version(world: World) -> None:
    world.registry.create("tool", "old", "1.0.1", {"text": "x" * 100})


def next_head(world: World) -> None:
    world.registry.advance("tool", "old", {"current": "1.0.1"}, 1)


def first_head(world: World) -> None:
    world.registry.advance("tool", "new", {"current": "1.0.0"}, 0)


def new_run(world: World) -> None:
    world.journals.create("fresh").close()


def resumed_run(world: World) -> None:
    with world.journals.resume("run") as writer:
        writer.append([{"n": writer.position}, {"n": writer.position + 1}])


def synced_run(world: World) -> None:
    with FileJournals(world.home / "traces", "synced").resume("run") as writer:
        writer.append([{"n": writer.position}, {"n": writer.position + 1}])


def new_blob(world: World) -> None:
    world.journals.blobs("run").put(b"y" * 100, "text/plain")


def new_message(world: World) -> None:
    world.journals.messages("run").add("2026-01-01T00:00:00.000Z", "z" * 100)


DEEDS = (first_version, next_version, first_head, next_head, new_run, resumed_run, synced_run, new_blob, new_message)
ATOMIC = (first_version, next_version, first_head, next_head, new_run)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], World]]:
    for name in ("fsync", "fdatasync"):  # only a loss of power could tell, and it takes most of the time
        monkeypatch.setattr(os, name, os.fstat)
    worlds: list[World] = []

    def make() -> World:
        world = World(tmp_path / str(len(worlds)))
        for name in ("old", "new"):
            world.registry.create("tool", name, "1.0.0", {"name": name})
        world.registry.advance("tool", "old", {"current": "1.0.0"}, 0)
        with world.journals.create("run") as writer:
            writer.append([{"n": 0}, {"n": 1}])
        worlds.append(world)
        return world

    return make


def check_readable(world: World) -> None:
    for name in world.registry.names("tool"):
        versions = world.registry.versions("tool", name)
        assert versions
        for version in versions:
            assert world.registry.read("tool", name, version)
        world.registry.head("tool", name)
    for run in world.journals.runs():
        numbers = [record["n"] for record in world.journals.read(run)]
        assert numbers == list(range(len(numbers)))
    assert [record["n"] for record in world.journals.read("run")][:2] == [0, 1]
    messages = world.journals.messages("run").read(0)
    assert [(one.number, one.text) for one in messages] == [(n, "z" * 100) for n in range(1, len(messages) + 1)]


def check_swept(world: World) -> None:
    world.registry.create("tool", "later", "1.0.0", {})
    world.journals.create("later").close()
    assert world.leftovers() == []


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.EMFILE], ids=errno.errorcode.get
)
def test_a_refused_call_leaves_nothing_and_says_so(
    home: Callable[[], World], deed: Callable[[World], None], number: int
) -> None:
    for step in range(1, 200):
        world = home()
        before = world.files()
        error: StorageError | None = None
        with pytest.MonkeyPatch.context() as patch:
            fault = Fault(patch, step, refuse(number))
            try:
                deed(world)
            except StorageError as problem:
                error = problem
        if not fault.hit:
            break
        check_readable(world)
        if error is None:
            # Sweeping, cleaning up, and what a holder notes when it leaves do no harm.
            left = deed is synced_run and fault.hit == "write"
            assert left or fault.hit in ("open", "scandir", "stat", "fstat", "unlink", "flock")
            assert deed not in (resumed_run, synced_run) or len(list(world.journals.read("run"))) == 4
        else:
            assert world.leftovers() == []
            assert "\n" not in str(error)
            assert os.strerror(number) in str(error)
            assert str(world.home)[-20:] in str(error) or "lobs/56/" in str(error)
            if deed in ATOMIC:
                assert world.files() == before
            deed(world)
        check_swept(world)
    assert 5 < step < 199


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_death_at_any_call_leaves_the_old_or_the_new(
    home: Callable[[], World], deed: Callable[[World], None], after: bool
) -> None:
    for step in range(1, 200):
        world = home()
        died = in_child(lambda world=world, step=step: with_fault(step, die(after=after), lambda: deed(world)))
        check_readable(world)
        with contextlib.suppress(AlreadyRegistered, Conflict):
            deed(world)
        check_readable(world)
        check_swept(world)
        world.journals.resume("run").close()
        if not died:
            break
    assert 5 < step < 199


def with_fault(step: int, act: Act, deed: Callable[[], None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        Fault(patch, step, act)
        deed()


def in_child(deed: Callable[[], None]) -> bool:
    """Do it in a child process; tell whether the child was killed."""
    child = os.fork()
    if child == 0:
        try:
            deed()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


HOLDER = """
import os, sys
from pathlib import Path
from tea.store.journal import FileJournals
writer = FileJournals(Path(sys.argv[1])).resume("run")
number = writer.position
while True:
    writer.append([{"n": number + i, "text": "x" * 1000} for i in range(3)])
    number += 3
    if number > 50:
        os.write(1, b".")
"""


def test_after_a_kill_the_journal_is_whole_and_the_lease_free(home: Callable[[], World]) -> None:
    world = home()
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(world.home / "traces")], stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout is not None
        holder.stdout.read(1)
        with pytest.raises(Conflict, match=f"held by process {holder.pid}"):
            world.journals.resume("run")
        reading = world.journals.read("run")
        assert [next(reading)["n"] for _ in range(50)] == list(range(50))
        holder.kill()
        holder.stdout.read()
    check_readable(world)
    with world.journals.resume("run") as writer:
        assert writer.epoch == 3
        assert writer.position > 50


RACER = """
import sys
from pathlib import Path
from tea.errors import AlreadyRegistered, Conflict
from tea.store.journal import FileJournals
from tea.store.registry import FileRegistry
home, me = Path(sys.argv[1]), sys.argv[2]
registry, journals = FileRegistry(home / "registry"), FileJournals(home / "traces")
print("ready", flush=True)
sys.stdin.readline()
won = {"version": 0, "head": 0, "run": 0}
for number in range(60):
    name = f"tool_{number // 3}"
    try:
        registry.create("tool", name, f"1.0.{number % 3}", {"by": me, "text": "x" * 20000})
        won["version"] += 1
    except AlreadyRegistered:
        pass
    try:
        registry.advance("tool", name, {"by": me}, number % 3)
        won["head"] += 1
    except Conflict:
        pass
    try:
        journals.create(f"run-{number}").close()
        won["run"] += 1
    except Conflict:
        pass
print(won["version"], won["head"], won["run"])
"""


def test_of_racing_processes_exactly_one_wins_each_version_head_and_run(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    results = [list(map(int, racer.communicate()[0].split())) for racer in racers]
    versions, heads, runs = (sum(column) for column in zip(*results, strict=True))
    registry, journals = FileRegistry(tmp_path / "registry"), FileJournals(tmp_path / "traces")
    assert versions == 60
    assert heads == sum(registry.head("tool", name)[0] for name in registry.names("tool"))
    assert runs == len(journals.runs()) == 60
    assert [registry.versions("tool", f"tool_{number}") for number in range(20)] == [["1.0.0", "1.0.1", "1.0.2"]] * 20
    assert all(registry.read("tool", f"tool_{number}", "1.0.1")["by"] in "012" for number in range(20))
    assert not [path for folder in tmp_path.glob("*/.tmp") for path in folder.iterdir()]


def test_what_becomes_visible_is_on_disk_before_and_its_name_after(
    home: Callable[[], World], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = home()
    for deed, visible in (
        (first_version, "rename"),
        (next_version, "link"),
        (first_head, "link"),
        (new_blob, "replace"),
        (new_message, "link"),
    ):
        calls: list[str] = []
        with monkeypatch.context() as patch:
            for name in ("write", "fsync", visible):
                patch.setattr(os, name, noted(calls, name, getattr(os, name)))
            deed(world)
        at = len(calls) - 1 - calls[::-1].index(visible)
        assert "fsync" in calls[calls.index("write") : at]
        assert calls[at + 1 :] == ["fsync"]


def noted(calls: list[str], name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments, **options: calls.append(name) or call(*arguments, **options)


def test_what_a_living_writer_is_writing_is_not_swept_away(home: Callable[[], World]) -> None:
    world = home()
    scratch = Scratch(world.home / "registry")
    with scratch.file() as (file, _), scratch.folder() as folder:
        (folder / "inside").write_text("kept")
        first_version(world)
        assert file.exists()
        assert (folder / "inside").exists()
    assert world.leftovers() == []
