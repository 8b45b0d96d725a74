"""Test the ways out of a hostile page: each tried in real Chromium, with traps on the host and beside the browser."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from browser_kit import main_browser
from sites import Asked, Page, Site, html, redirect

from tea.platform import Platform
from tea.runs.policy import AllowTrusted

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

PAGE = """<!doctype html><title>start</title><script>
const place = location.search.slice(1), out = 'http://' + place;
const link = (rel, href) => document.head.append(Object.assign(document.createElement('link'), {rel, href}));
const connect = async servers => {
  const p = new RTCPeerConnection({iceServers: [{urls: servers, username: 'u', credential: 'c'}]});
  p.createDataChannel('x'); await p.setLocalDescription(await p.createOffer())};
const ways = {
  fetch: () => fetch(out + '/fetch', {mode: 'no-cors'}),
  image: () => new Promise((ok, no) => {const i = new Image(); i.onload = ok; i.onerror = no; i.src = out + '/image'}),
  beacon: async () => {navigator.sendBeacon(out + '/beacon')},
  redirect: () => fetch('/away?' + out + '/redirect', {mode: 'no-cors'}),
  socket: () => new Promise((ok, no) => {
    const w = new WebSocket(`ws://${place}/socket`); w.onopen = ok; w.onerror = no}),
  worker: async () => {await navigator.serviceWorker.register('/worker.js');
    (await navigator.serviceWorker.ready).active.postMessage(out + '/worker')},
  prefetch: async () => {link('prefetch', out + '/prefetch')},
  names: async () => {link('dns-prefetch', '//trapped.example'); link('preconnect', 'http://trapped.example')},
  stun: () => connect([`stun:${place}`]),
  turn: () => connect([`turn:${place}`, `turn:${place}?transport=tcp`]),
};
Promise.race([Promise.allSettled(Object.values(ways).map(way => way())), new Promise(ok => setTimeout(ok, 2000))])
  .then(() => setTimeout(() => {document.title = 'tried'}, 1000));
</script>"""
WORKER = "onmessage = e => fetch(e.data, {mode: 'no-cors'}).catch(() => 0)"
DEVICE = (
    "link add lent0 type veth peer lent1",
    "addr add 192.0.2.1/24 dev lent0",
    "link set lent0 up",
    "link set lent1 up",
    "route add default via 192.0.2.2",
)
ASKED = {f"/{way}" for way in ("fetch", "image", "beacon", "redirect", "socket", "worker", "prefetch")}
DNS = 53  # at loopback, where a resolver is looked for that no file names
TRAP = """
import selectors, socket, sys
waiting = selectors.DefaultSelector()
stream = socket.create_server(("127.0.0.1", int(sys.argv[1])))
port = stream.getsockname()[1]
for number in (port, *map(int, sys.argv[2:])):
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", number))
    waiting.register(datagrams, selectors.EVENT_READ)
waiting.register(stream, selectors.EVENT_READ)
print(port, flush=True)
while True:
    for key, _ in waiting.select():
        if key.fileobj is stream:
            with stream.accept()[0] as came:
                came.settimeout(1)
                try:
                    print("stream", came.recv(100).partition(b" HTTP")[0], flush=True)
                except OSError:
                    print("stream", flush=True)
        else:
            print("datagram", key.fileobj.getsockname()[1], key.fileobj.recv(200)[12:40], flush=True)
"""


class Trap:
    """Sockets of loopback in one network: a port for streams and datagrams, and further ones for datagrams."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.port, self._process = port, process

    @classmethod
    @asynccontextmanager
    async def set(cls, port: int, *more: int, beside: int = 0) -> AsyncIterator["Trap"]:
        """Set a trap on the host, or in the network of a process."""
        words = (*(inside(beside) if beside else ()), sys.executable, "-c", TRAP, *map(str, (port, *more)))
        process = await asyncio.create_subprocess_exec(*words, stdout=PIPE)
        assert process.stdout is not None
        try:
            yield cls(process, int(await process.stdout.readline()))
        finally:
            process.kill()
            await process.communicate()

    async def caught(self) -> list[str]:
        """Return the arrivals since the last look."""
        found = list[str]()
        assert self._process.stdout is not None
        try:
            while True:
                async with asyncio.timeout(0.2):
                    line = await self._process.stdout.readline()
                assert line, "the trap has ended"
                found.append(line.decode().strip())
        except TimeoutError:
            return found


def inside(process: int) -> list[str]:
    """Return the beginning of a command to run in the network of a process."""
    user = ["--user", "--preserve-credentials"] if os.geteuid() else []
    return ["nsenter", f"--target={process}", "--net", *user]


async def lend_device(process: int) -> None:
    """Give the network of a process a device: with loopback alone a browser gathers nothing for WebRTC."""
    for words in DEVICE:
        ip = await asyncio.create_subprocess_exec(*inside(process), "ip", *words.split())
        assert await ip.wait() == 0, words


class World:
    """A browser with one open site, and traps on the host and in the browser's own network."""

    def __init__(self, tea: Platform, site: Site, traps: tuple[Trap, Trap]) -> None:
        self.tea, self.site, self.traps = tea, site, traps

    async def attempt(self, place: str) -> None:
        """Let a page try all ways to a place, and wait until it has."""
        title = (await self.act("navigate", url=f"{self.site.url}/ways?{place}"))["title"]
        async with asyncio.timeout(20):
            while title != "tried":
                title = (await self.act("scroll", pages=0.1))["title"]

    async def act(self, action: str, **arguments: Any) -> Any:
        return (await self.tea.ecp.invoke(f"browser#{action}", arguments, session="s")).unwrap()

    async def caught(self) -> set[str]:
        """Return the arrivals in the traps since the last look."""
        return {one for trap in self.traps for one in await trap.caught()}


def script(text: str) -> Page:
    return Page(body=text.encode(), headers={"content-type": "text/javascript"})


def away(asked: Asked) -> Page:
    return redirect(asked.path.partition("?")[2])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    home = tmp_path_factory.mktemp("home")
    pages = {"/ways": html(PAGE), "/worker.js": script(WORKER), "/away": away}
    async with AsyncExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).chdir(home)  # where the browser puts pictures
        site = await stack.enter_async_context(Site(pages).open())
        (home / "tea.toml").write_text(f'[web]\nallow = ["{site.place}"]\n')
        tea = Platform(home, policy=AllowTrusted(), state=home / "state", trust_home=True)
        await stack.enter_async_context(tea)
        (await tea.ecp.invoke("browser#navigate", {"url": "about:blank"}, session="s")).unwrap()
        await lend_device(main_browser())
        host = await stack.enter_async_context(Trap.set(0))
        beside = await stack.enter_async_context(Trap.set(host.port, DNS, beside=main_browser()))
        yield World(tea, site, (host, beside))


async def test_no_page_reaches_a_place_that_is_not_opened(world: World) -> None:
    await world.attempt(world.site.place)  # which is opened
    async with asyncio.timeout(20):
        while not set(world.site.paths()) >= ASKED:
            await world.act("scroll", pages=0.1)
    await world.caught()
    await world.attempt(f"localhost:{world.traps[0].port}")
    assert await world.caught() == set()


async def test_no_address_leads_to_a_place_that_is_not_opened(world: World) -> None:
    port = world.traps[0].port
    for url in (
        f"http://127.0.0.1:{port}/",
        f"http://localhost:{port}/",
        f"{world.site.url}/away?http://127.0.0.1:{port}/",
    ):
        await world.tea.ecp.invoke("browser#navigate", {"url": url}, session="s")
        assert await world.caught() == set()
