"""Test control groups: their places, their limits, and the sessions in them on machines with groups."""

import asyncio
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tea.errors import ToolError
from tea.sandbox import groups, session
from tea.sandbox.groups import CACHE, Parents, made, parents, usable
from tea.sandbox.session import GROUP, LOOKS, Sandbox, limited_by

Open = Callable[..., AbstractAsyncContextManager[Sandbox]]
V1 = "31 23 0:28 / {0}/memory rw - cgroup cgroup rw,memory\n32 23 0:29 / {0}/pids rw,relatime - cgroup cgroup rw,pids\n"
V2 = "33 23 0:30 / {0}/unified rw - cgroup2 cgroup2 rw,nsdelegate\n"
MEGABYTE = 1 << 20


@pytest.fixture
def group_or_none(tmp_path: Path) -> Parents | None:
    """The place for groups on this machine, None without one; each case is tested on machines of its kind."""
    return usable()


def test_with_version_1_each_controller_has_its_own_place_below_that_of_this_process() -> None:
    found = list(parents("4:memory:/a/b\n2:cpu,pids:/c\n0::/\n", V1.format("/sys")))
    assert found == [Parents(version=1, mark="1 /sys/memory /sys/pids", memory="/sys/memory/a/b", pids="/sys/pids/c")]


def test_a_mount_of_a_part_shows_paths_below_it() -> None:
    mounts = V1.format("/sys").replace("0:28 / ", "0:28 /docker/1 ").replace("0:29 / ", "0:29 /docker/1 ")
    (found,) = parents("4:memory:/docker/1/x\n2:pids:/docker/1\n", mounts)
    assert (found.memory, found.pids) == ("/sys/memory/x", "/sys/pids")
    assert list(parents("4:memory:/elsewhere\n2:pids:/docker/1\n", mounts)) == []


def test_with_version_2_places_go_up_to_the_first_group_with_a_limit(tmp_path: Path) -> None:
    own = tmp_path / "unified" / "user" / "app" / "scope"
    own.mkdir(parents=True)
    (own / "memory.max").write_text("max\n")
    (own.parent / "memory.max").write_text("1000000\n")
    found = [Path(one.memory) for one in parents("0::/user/app/scope\n", V2.format(tmp_path))]
    assert found == [own, own.parent]


def test_folders_without_the_files_of_the_kernel_are_no_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = Parents(version=2, mark="2", memory=str(tmp_path), pids=str(tmp_path))
    with pytest.raises(FileNotFoundError):
        groups.ControlGroup(where, memory=MEGABYTE, processes=1)
    assert list(tmp_path.iterdir()) == []


def test_what_was_found_is_kept_until_the_next_boot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    where = Parents(version=2, mark="2 here", memory=str(tmp_path), pids=str(tmp_path))

    def holds(one: Parents) -> bool:
        asked.append(one.mark)
        return True

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(groups, "parents", lambda *_: iter([where]))
    monkeypatch.setattr(groups, "_holds", holds)
    for text in (None, "[]", "{"):
        if text is not None:
            (tmp_path / "tea" / CACHE).write_text(text)
        for _ in range(2):
            assert usable.__wrapped__() == where
    assert asked == ["2 here"] * 3


def test_groups_are_looked_for_again_after_a_want_of_open_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    where = Parents(version=2, mark="2 here", memory=str(tmp_path), pids=str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(groups, "parents", lambda *_: iter([where]))
    monkeypatch.setattr(groups, "ControlGroup", full)
    assert usable.__wrapped__() is None
    monkeypatch.setattr(groups, "_holds", lambda _: True)
    assert usable.__wrapped__() == where


def test_a_process_in_a_group_can_neither_take_more_memory_nor_start_more_processes(
    group_or_none: Parents | None,
) -> None:
    group = made(memory=64 * MEGABYTE, processes=4)
    assert (group is None) == (group_or_none is None)
    if group is None:
        return
    folders = group._folders
    storm = """
import os
try:
    for _ in range(9):
        if not os.fork():
            os.read(0, 1)
            os._exit(0)
except OSError:
    print("refused", flush=True)
held = b"x" * (300 << 20)
"""
    try:
        line = group.around([os.path.realpath(sys.executable), "-I", "-S", "-c", storm])
        with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ran:
            assert ran.stdout is not None
            assert ran.stdout.readline() == "refused\n"
            assert ran.wait() == -9
        assert group.killed() >= 1
    finally:
        group.remove()
    assert not any(map(os.path.exists, folders))


def test_the_group_of_a_killed_host_is_removed_by_the_next(group_or_none: Parents | None) -> None:
    if group_or_none is None:
        assert made(memory=MEGABYTE, processes=1) is None
        return
    code = "import os; from tea.sandbox.groups import made; made(memory=1 << 26, processes=4); os.kill(os.getpid(), 9)"
    host = subprocess.Popen([sys.executable, "-c", code])
    host.wait()
    left = Path(group_or_none.pids).glob(f"tea-sandbox-{host.pid}-*")
    assert list(left)
    group = made(memory=64 * MEGABYTE, processes=4)
    assert group is not None
    group.remove()
    assert not list(Path(group_or_none.pids).glob(f"tea-sandbox-{host.pid}-*"))


async def test_a_session_lives_in_a_group_that_ends_with_it(sandbox: Open, group_or_none: Parents | None) -> None:
    async with sandbox() as opened:
        assert opened.claimed()["limits"] == limited_by() == (LOOKS if group_or_none is None else GROUP)
        if group_or_none is None:
            return
        mine = list(Path(group_or_none.pids).glob(f"tea-sandbox-{os.getpid()}-*"))
        (folder,) = [one for one in mine if str(opened.process) in (one / "cgroup.procs").read_text().split()]
        await opened.end()
        folder.rmdir()  # the operator's right: the next call makes another
        assert (await opened.python("40 + 2")).result == "42"
        assert opened.claimed()["limits"] == GROUP
    assert not list(Path(group_or_none.pids).glob(f"tea-sandbox-{os.getpid()}-*"))


async def test_limits_alone_are_in_no_group(sandbox: Open) -> None:
    async with sandbox("rlimits") as opened:
        assert opened.claimed()["limits"] == LOOKS


async def test_what_the_kernel_ended_for_want_of_memory_is_told(
    sandbox: Open, group_or_none: Parents | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_GROUP_MEGABYTES", -64)
    async with sandbox(memory_mb=160) as opened:
        if opened.claimed()["limits"] == LOOKS:
            assert group_or_none is None
            return
        ran = await opened.bash("python3 -S -c 'b = b\"x\" * (120 << 20)'; echo on")
        assert ran.stdout.text == "on\n"
        assert any("ended 1 process(es) of it, as their memory was full" in note for note in ran.notes)
        with pytest.raises(ToolError, match=r"died \(SIGKILL, as its memory was full\)"):
            await opened.python("held = b'x' * (120 << 20)")
        assert (await opened.python("40 + 2")).result == "42"


async def test_sessions_at_once_have_a_group_each(sandbox: Open, group_or_none: Parents | None) -> None:
    async with sandbox() as one, sandbox() as other:
        await asyncio.gather(one.python("1"), other.python("1"))
        if group_or_none is not None:
            assert len(list(Path(group_or_none.pids).glob(f"tea-sandbox-{os.getpid()}-*"))) == 2
