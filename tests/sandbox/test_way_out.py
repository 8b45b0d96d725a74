"""The way out: code reaches the operator's hosts through the guard, and nothing else."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from serving import serving
from wheel_kit import make_wheels

from tea.errors import ToolError
from tea.sandbox.levels import terms_of
from tea.sandbox.session import Sandbox, opened
from tea.sandbox.settings import MOVED, LevelName, Limits
from tea.sandbox.way_out import WayOut

OPEN = "import urllib.request as web\nweb.urlopen({url!r}, timeout=20).read().decode()"
Answer = Callable[[str], tuple[int, Mapping[str, str], bytes]]


class Server:
    """A loopback server with a record of the requested paths."""

    def __init__(self, answer: Answer) -> None:
        self.answer, self.asked, self.port = answer, list[str](), 0

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        path = head.split(b" ")[1].decode()
        self.asked.append(path)
        status, headers, body = self.answer(path)
        lines = [f"HTTP/1.1 {status} Told", f"Content-Length: {len(body)}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()


@asynccontextmanager
async def server(answer: Answer) -> AsyncIterator[Server]:
    made = Server(answer)
    async with serving(made.serve) as made.port:
        yield made


def hello(path: str) -> tuple[int, Mapping[str, str], bytes]:
    return 200, {}, b"hello"


@pytest.fixture
async def host() -> AsyncIterator[Server]:
    async with server(hello) as made:
        yield made


@pytest.fixture
async def other() -> AsyncIterator[Server]:
    async with server(hello) as made:
        yield made


@pytest.mark.parametrize("level", MOVED)
async def test_code_reaches_a_declared_host_and_no_other_place(
    sandbox: Any, levels: Any, host: Server, other: Server, level: LevelName
) -> None:
    if not levels[level].present:
        pytest.skip(levels[level].problem)
    async with sandbox(level, ways={"hosts": (host.place,)}) as made:
        assert (await made.python(OPEN.format(url=f"http://{host.place}/a"))).result == "'hello'"
        line = f"curl -sS http://{host.place}/b && curl -sS http://{other.place}/c; curl -sS https://example.com/"
        shell = await made.bash(line)
        assert shell.stdout.text.startswith("hello")
        assert any(f"{other.place}, its host is not one of those declared" in one for one in shell.notes)
        assert any("example.com:443, its host is not one of those declared" in one for one in shell.notes)
        refused = await made.python(OPEN.format(url=f"http://{other.place}/"))
        assert refused.raised == "HTTPError"
        (note,) = refused.notes
        assert note == f"Refused on the way out: {other.place}, its host is not one of those declared by the operator."
        assert made.claimed()["hosts"] == [host.place]
    assert (host.asked, other.asked) == (["/a", "/b"], [])


async def test_a_redirect_is_another_place(sandbox: Any, other: Server) -> None:
    def away(path: str) -> tuple[int, Mapping[str, str], bytes]:
        return 302, {"Location": f"http://{other.place}/secret"}, b""

    async with server(away) as host, sandbox(ways={"hosts": (host.place,)}) as made:
        ran = await made.python(OPEN.format(url=f"http://{host.place}/"))
    assert ran.raised == "HTTPError"
    assert other.place in ran.notes[0]
    assert (host.asked, other.asked) == (["/"], [])


@pytest.mark.parametrize("level", MOVED)
async def test_nothing_else_of_the_network_opens(sandbox: Any, levels: Any, host: Server, level: LevelName) -> None:
    if not levels[level].present:
        pytest.skip(levels[level].problem)
    code = f"""
import json, socket
def tried(act):
    try:
        return str(act())
    except OSError as error:
        return type(error).__name__
def datagram():
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.sendto(b"x", ("192.0.2.1", 53))
def raw():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
print(json.dumps([
    tried(lambda: socket.create_connection(("127.0.0.1", {host.port}), 5)),
    tried(lambda: socket.create_connection(("192.0.2.1", 80), 5)),
    tried(lambda: socket.getaddrinfo("example.com", 80)),
    tried(datagram),
    tried(raw),
]))
"""
    async with sandbox(level, ways={"hosts": (host.place,)}) as made:
        ran = await made.python(code)
    found = json.loads(ran.stdout.text)
    assert all(one.endswith("Error") or one == "gaierror" for one in found), found
    assert host.asked == []


async def test_a_socket_belongs_to_one_session_and_one_call(sandbox: Any, tmp_path: Path, host: Server) -> None:
    listed = "import glob; glob.glob('/tmp/tea-sandbox-*') + glob.glob('/opt/tea/way/*')"
    neighbour = {**terms_of("bubblewrap", str(tmp_path / "else"), Limits()), "way_out": {}}
    async with sandbox(ways={"hosts": (host.place,)}) as made, opened(neighbour) as beside:
        assert (await made.python(listed)).result == "['/opt/tea/way/out.sock']"
        assert (await beside.python(listed)).result == "[]"
        away = await beside.python(OPEN.format(url=f"http://{host.place}/"))
        assert away.raised == "URLError"
        way = made._folder.path / "way"
        assert list(way.iterdir()) == []
        assert (await made.python(OPEN.format(url=f"http://{host.place}/"))).result == "'hello'"
    assert host.asked == ["/"]


async def test_a_thread_of_an_earlier_call_has_no_way_out_of_its_own(sandbox: Any, host: Server) -> None:
    code = (
        "import os; [os.kill(int(one), 9) for one in os.listdir('/proc') if one.isdigit() and int(one) != os.getpid()]"
    )
    async with sandbox(ways={"hosts": (host.place,)}) as made:
        await made.python(f"try:\n    {code}\nexcept OSError:\n    pass")
        assert (await made.python(OPEN.format(url=f"http://{host.place}/"))).result == "'hello'"


@pytest.mark.parametrize("level", ["landlock", "rlimits", "wasm"])
async def test_a_level_without_a_network_of_its_own_refuses_with_the_remedy(
    sandbox: Any, workspace: Path, level: LevelName
) -> None:
    with pytest.raises(ToolError, match="has no guarded way out") as told:
        async with sandbox(level, ways={"hosts": ("api.example.org",)}):
            raise AssertionError
    assert "bubblewrap" in told.value.fix
    assert "`hosts`" in told.value.fix
    made = Sandbox({**terms_of(level, str(workspace), Limits()), "way_out": {"index": "https://pypi.org/simple"}})
    with pytest.raises(ToolError, match="has no guarded way out") as told:
        await made.install(["attrs"])
    assert "`index`" in told.value.fix
    await made.close()


async def test_a_host_closed_by_the_run_stays_closed(sandbox: Any, host: Server) -> None:
    async with sandbox(ways={"hosts": (host.place,), "deny": ("127.0.0.1",)}) as made:
        ran = await made.python(OPEN.format(url=f"http://{host.place}/"))
    assert "on the list of denied ones" in ran.notes[0]
    assert host.asked == []


@asynccontextmanager
async def index(folder: Path, files: str = "") -> AsyncIterator[Server]:
    """An index by PEP 503 of a folder's wheels; `files` is another place for these."""

    def answer(path: str) -> tuple[int, Mapping[str, str], bytes]:
        parts = path.strip("/").split("/")
        if parts[0] == "files":
            return 200, {"Content-Type": "application/octet-stream"}, (folder / parts[1]).read_bytes()
        links = [
            f'<a href="{files}/files/{one.name}#sha256={hashlib.sha256(one.read_bytes()).hexdigest()}">{one.name}</a>'
            for one in sorted(folder.iterdir())
            if one.name.startswith(f"{parts[-1]}-")
        ]
        if not links:
            return 404, {}, b""
        page = f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>"
        return 200, {"Content-Type": "text/html"}, page.encode()

    async with server(answer) as made:
        yield made


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = make_wheels(tmp_path / "published")
    (folder / "teasource-1.0.tar.gz").write_bytes(b"no wheel")
    return folder


async def test_packages_come_from_the_index_with_what_they_need(sandbox: Any, wheels: Path, other: Server) -> None:
    async with index(wheels) as site, sandbox(ways={"index": f"http://{site.place}/simple"}) as made:
        await made.install(["teaneeds"])
        assert (await made.python("import teaneeds, teatest; teatest.VERSION")).result == "'2.0'"
        await made.install(["teatest==1.0"])
        assert (await made.bash("python3 -c 'import teatest; print(teatest.VERSION)'")).stdout.text == "1.0\n"
        with pytest.raises(ToolError, match="No matching distribution"):
            await made.install(["teasource"])
        before = len(site.asked)
        away = await made.python(OPEN.format(url=f"http://{site.place}/simple/teatest/"))
        assert away.raised == "URLError"
        assert made.claimed().get("hosts") is None
        assert len(site.asked) == before


async def test_files_of_an_index_come_from_its_declared_hosts_alone(sandbox: Any, wheels: Path) -> None:
    async with index(wheels) as files, index(wheels, f"http://{files.place}") as site:
        address = f"http://{site.place}/simple"
        async with sandbox(ways={"index": address}) as made:
            with pytest.raises(ToolError, match="Refused on the way out") as told:
                await made.install(["teatest"])
        assert files.place in told.value.problem
        assert "`index_hosts`" in told.value.fix
        assert files.asked == []
        async with sandbox(ways={"index": address, "index_hosts": (files.place,)}) as made:
            await made.install(["teatest"])
            assert (await made.python("import teatest; teatest.VERSION")).result == "'2.0'"


def test_the_index_of_python_packages_brings_the_host_of_its_files() -> None:
    found = WayOut.read({"index": "https://pypi.org/simple"})
    assert found.places == {"index": ("pypi.org", "files.pythonhosted.org")}
    assert WayOut.read({}).places == {}
