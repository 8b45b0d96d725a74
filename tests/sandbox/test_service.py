"""Test a program serving from inside the sandbox: its network, its account, and its end."""

import asyncio
import json
import os
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio

from tea.errors import ToolError
from tea.sandbox.service import SandboxService

PROGRAM = """
import json, os, socket, sys
def reach(*place):
    try:
        socket.create_connection(place, 1).close()
        return True
    except OSError:
        return False
way = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
way.sendall(b"ping")
told = {"way": way.recv(4).decode(), "host": reach("127.0.0.1", int(sys.argv[2])), "uid": os.getuid(),
        "files": os.path.exists(sys.argv[3]), "far": reach("192.0.2.1", 80)}
served = socket.create_server(("127.0.0.1", 0))
with open("part", "w") as file:
    file.write(f"{served.getsockname()[1]}\\n{json.dumps(told)}\\n")
os.rename("part", "port")
while True:
    near, _ = served.accept()
    near.sendall(b"served " + near.recv(9))
    near.close()
"""


@pytest_asyncio.fixture
async def service() -> AsyncIterator[SandboxService]:
    made = SandboxService({"level": "bubblewrap"})
    yield made
    await made.close()


def words(*more: str) -> list[str]:
    return [os.path.realpath(sys.executable), "-c", PROGRAM, "{proxy}", *more]


async def test_it_reaches_one_socket_of_the_host_and_is_reached_by_one(service: SandboxService) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"pong" if await reader.read(4) == b"ping" else b"what")
        await writer.drain()
        writer.close()

    with socket.create_server(("127.0.0.1", 0)) as host, tempfile.NamedTemporaryFile() as outside:
        way = await asyncio.start_unix_server(answer, service.way_out)
        ready = await service.start(words(str(host.getsockname()[1]), outside.name), ready="port")
        told = json.loads(ready.split("\n")[1])
        assert (told["way"], told["host"], told["files"], told["far"]) == ("pong", False, False, False)
        assert told["uid"] != 0
        reader, writer = await asyncio.open_unix_connection(service.socket)
        writer.write(b"me")
        assert await reader.read() == b"served me"
        writer.close()
        way.close()
    process = service.process
    assert process is not None
    await service.close()
    assert service.process is None
    assert not Path(f"/proc/{process}").exists()
    assert not service.files.exists()


async def test_a_program_that_does_not_start_is_told_with_its_last_words(service: SandboxService) -> None:
    line = [os.path.realpath(sys.executable), "-c", "exit('no\\x1csuch\\n word\\u2028')"]
    async with await asyncio.start_unix_server(lambda *_: None, service.way_out):
        with pytest.raises(ToolError, match="no\x1csuch word\u2028"):
            await service.start(line, ready="port")


def test_a_level_that_moves_nothing_gives_no_network_of_its_own() -> None:
    with pytest.raises(ToolError, match="no network of its own") as caught:
        SandboxService({"level": "rlimits"})
    assert "bubblewrap" in caught.value.fix


AT_WORK = """
import os, socket
held = open("given.txt").read()
try:
    open("given.txt", "w").write("spoilt")
except OSError:
    held += " kept"
open("made.txt", "w").write(held)
served = socket.socket(socket.AF_UNIX)
served.bind("/tmp/own.sock")
served.listen()
listening = [row for row in open("/proc/net/tcp").read().splitlines()[1:] if row.split()[3] == "0A"]
open("/tmp/part", "w").write(f"/tmp/own.sock\\n{len(listening)}\\n")
os.rename("/tmp/part", "/tmp/ready")
while True:
    near, _ = served.accept()
    near.sendall(b"served " + near.recv(9))
    near.close()
"""


@pytest.mark.parametrize("level", ["bubblewrap", "namespaces"])
async def test_it_works_in_the_workspace_and_listens_on_a_socket_alone(level: str, tmp_path: Path) -> None:
    (tmp_path / "given.txt").write_text("given")
    (tmp_path / "changed.txt").write_text("before")
    terms = {"level": level, "workspace": str(tmp_path), "inputs": ["given.txt"]}
    service = SandboxService(terms, workspace=True)
    try:
        told = await service.start([os.path.realpath(sys.executable), "-c", AT_WORK], ready="ready")
        assert told.splitlines()[1] == "0"  # without a way out nothing listens for it
        assert (tmp_path / "given.txt").read_text() == "given"
        assert (tmp_path / "made.txt").read_text() == "given kept"
        reader, writer = await asyncio.open_unix_connection(str(service.socket))
        writer.write(b"request")
        assert await reader.read(99) == b"served request"
        writer.close()
        assert not service.files.is_relative_to(tmp_path)
    finally:
        await service.close()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["changed.txt", "given.txt", "made.txt"]


CROWD = """
import os, sys, time
for _ in range(40):
    if not os.fork():
        os.closerange(0, 3)
        os.setsid()
        held = bytearray(os.urandom(1 << 20) * 16)
        time.sleep(600)
with open("part", "w") as file:
    file.write("up\\n")
os.rename("part", "port")
time.sleep(600)
"""


async def test_what_has_to_be_killed_has_ended_with_its_sandbox(service: SandboxService, tmp_path: Path) -> None:
    async with await asyncio.start_unix_server(lambda *_: None, service.way_out):
        await service.start([os.path.realpath(sys.executable), "-c", CROWD, str(tmp_path)], ready="port")
        crowd = named(str(tmp_path))
        assert len(crowd) > 40
        for one in above(crowd[0], service.process):
            os.kill(one, signal.SIGSTOP)  # so that the end of its input does not end it
        await service.close()
        assert [one for one in crowd if Path(f"/proc/{one}").exists()] == []


def above(process: str, top: int | None) -> list[int]:
    """Return a process's ancestors below another one."""
    found = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return [] if found == top else [found, *above(str(found), top)]


def named(mark: str) -> list[str]:
    """Return the processes with a mark among their words."""
    found: list[str] = []
    for one in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found += [one.name] * (f"\0{mark}\0" in (one / "cmdline").read_text())
    return found
