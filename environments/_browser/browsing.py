"""Browsing: a browser in its sandbox behind the guard, from its start to its end."""

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from tea import SandboxService, ToolError
from tea.web import GuardProxy, UrlGuard, WebSettings, escaped

from .driver import HEIGHT, WIDTH, Driver, check_extra
from .exchange import lent, plain, received
from .gate import gate

PROGRAMS = ("/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome")
INSTALL = "apt-get update && apt-get install -y chromium"
MEMORY_MB = 3_000
DOWNLOADS, UPLOADS = "downloads", "uploads"
READY = "profile/DevToolsActivePort"
FLAGS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--proxy-server=http://127.0.0.1:{proxy}",
    "--proxy-bypass-list=<-loopback>",  # also what is on loopback goes through the guard
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-field-trial-config",
    "--disable-sync",
    "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,AsyncDns",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--password-store=basic",
    "--use-mock-keychain",
    f"--window-size={WIDTH},{HEIGHT}",
)


class Browsing:
    """A browser alive until it is closed.

    Args:
        terms: What the sandbox is opened with.
        settings: The operator's settings of the way out.
    """

    def __init__(self, terms: dict[str, Any], settings: dict[str, Any]) -> None:
        self._terms, web = terms, WebSettings.of(settings)
        self._guard = UrlGuard(web.allow, deny=web.deny)
        self._leave, self._ready = asyncio.Event(), asyncio.get_running_loop().create_future()
        self._life: asyncio.Task[None] | None = None
        self._driver: Driver | None = None
        self._service: SandboxService | None = None

    @classmethod
    async def open(cls, terms: dict[str, Any], settings: dict[str, Any]) -> "Browsing":
        """Start a browser.

        Raises:
            MissingExtra: The extra `browser` is not installed.
            ToolError: Chromium is missing, or does not start.
        """
        await asyncio.to_thread(check_extra)
        if program() is None:
            raise ToolError("Chromium is not installed.", fix=f"install it: {INSTALL}")
        made = cls(terms, settings)
        # What it consists of has to be left in the task that entered it, and setup and teardown are two.
        made._life = asyncio.get_running_loop().create_task(made._live())
        try:
            await asyncio.shield(made._ready)
        except BaseException:
            await made.close()
            raise
        return made

    @property
    def alive(self) -> bool:
        """Whether the browser runs."""
        return (
            self._service is not None
            and self._service.process is not None
            and self._driver is not None
            and self._driver.connected
        )

    @property
    def driver(self) -> Driver:
        """The connected browser.

        Raises:
            ToolError: It has ended.
        """
        if self._driver is None or not self.alive:
            problem = "The browser has crashed; its pages, tabs and cookies are gone."
            raise ToolError(problem, fix="call again: a new one begins with a blank page.")
        return self._driver

    async def close(self) -> None:
        """End the browser with all of its processes and files."""
        self._leave.set()
        if self._life is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.shield(self._life)

    async def _live(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                self._driver = await stack.enter_async_context(self._connected(stack))
                self._ready.set_result(None)
                await self._leave.wait()
        except Exception as error:
            if not self._ready.done():
                self._ready.set_exception(error)
        finally:
            self._driver = None

    @asynccontextmanager
    async def _connected(self, stack: AsyncExitStack) -> AsyncGenerator[Driver]:
        service = self._service = SandboxService(self._terms, memory_mb=MEMORY_MB)
        stack.push_async_callback(service.close)
        for name in ("profile", DOWNLOADS, UPLOADS):
            (service.files / name).mkdir()
        service.own(service.files / "profile")
        service.own(service.files / DOWNLOADS)
        (service.files / UPLOADS).chmod(0o755)  # to be read alone, so nothing in it becomes a link meanwhile
        proxy = GuardProxy(self._guard, connections=256)
        async with proxy.on_socket(service.way_out):
            profile = f"--user-data-dir={service.inside(service.files / 'profile')}"
            told = await service.start([str(program()), *FLAGS, profile, "about:blank"], ready=READY)
            async with gate(service.socket, told.split("\n")[1]) as address:
                driver = await Driver.connect(address, service.inside(service.files / DOWNLOADS))
                try:
                    yield driver
                finally:
                    await driver.close()
                    await service.close()  # before the proxy, which its connections would keep waiting

    async def require_open(self, url: str) -> None:
        """Refuse an address that the guard refuses to every page.

        Raises:
            ToolError: It says why.
        """
        verdict = await self._guard.check(escaped(url))
        if not verdict:
            raise ToolError(verdict.problem(repr(url[:300])), fix=verdict.fix())

    def lend(self, path: Path) -> str:
        """Copy a file into the browser's reach, and return its name there.

        Args:
            path: It is absolute, and has no links.

        Raises:
            ToolError: It cannot be read.
        """
        service = self._of()
        copied = lent(path, service.files / UPLOADS)
        service.own(copied.parent)
        service.own(copied)
        return service.inside(copied)

    def receive(self, workspace: str, folder: str) -> list[dict[str, Any]]:
        """Move finished downloads into a folder of a workspace, each under a free name, and return them.

        Args:
            workspace: The workspace.
            folder: Where they go.
        """
        downloads, came = self._of().files / DOWNLOADS, list[dict[str, Any]]()
        for one in list(self.driver.events.downloads.values()):
            if one.state != "inProgress":
                del self.driver.events.downloads[one.guid]
                whole = one.state == "completed"
                kept = received(downloads / Path(one.guid).name, workspace, f"{folder}/{plain(one.name)}", whole=whole)
                came.append({"url": one.url, **kept})
        return came

    def _of(self) -> SandboxService:
        if self._service is None:
            raise ToolError("The browser has ended.", fix="call again.")
        return self._service


def program() -> str | None:
    """Return the path of Chromium, None if it is not installed."""
    return next((found for one in PROGRAMS if (found := shutil.which(one)) is not None), None)
