"""Driver: the browser through browser-use's session and registry of actions, with our own dialogs and downloads."""

import asyncio
import atexit
import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tea import ToolError, require_extra

from .numbers import Numbers, numbered

EXTRA = "browser"
WIDTH, HEIGHT = 1280, 900  # of the window: models that see are shown it without scaling, so their pixels are the page's
# Read when the library is imported: it sends nothing, asks nobody, and keeps its hands off files of the account.
QUIET = {
    "ANONYMIZED_TELEMETRY": "false",
    "BROWSER_USE_CLOUD_SYNC": "false",
    "BROWSER_USE_CLOUD_HINTS": "false",
    "BROWSER_USE_VERSION_CHECK": "false",
    "BROWSER_USE_DISABLE_EXTENSIONS": "1",
    "BROWSER_USE_SETUP_LOGGING": "false",
    "SKIP_LLM_API_KEY_VERIFICATION": "true",
    "PYTHON_DOTENV_DISABLED": "1",
}
WATCHED = (
    ("default_action_watchdog", "DefaultActionWatchdog", "_default_action_watchdog"),
    ("screenshot_watchdog", "ScreenshotWatchdog", "_screenshot_watchdog"),
    ("dom_watchdog", "DOMWatchdog", "_dom_watchdog"),
)
CONFIG = "BROWSER_USE_CONFIG_DIR"  # where the library keeps settings, else in the folder of the account
MOST_DIALOGS = 20
MOST_WORDS = 500


@dataclass(slots=True, kw_only=True)
class Download:
    """A file given by a page.

    Args:
        guid: The browser's name for it.
        name: The page's name for it.
        url: Where it came from.
        state: `inProgress`, `completed` or `canceled`.
    """

    guid: str
    name: str
    url: str
    state: str = "inProgress"


@dataclass(slots=True, kw_only=True)
class Events:
    """The events in the browser since the last report.

    Args:
        accept: Whether the present action allows dialogs to be accepted.
        text: What a prompt is answered.
        dialogs: Type, words and answer of each dialog.
        downloads: Downloads by guid.
    """

    accept: bool = False
    text: str = ""
    dialogs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    downloads: dict[str, Download] = field(default_factory=dict[str, Download])


class Driver:
    """One connected browser.

    Args:
        session: The library's session.
        tools: Its registry of actions.
        events: What happens in it.
    """

    def __init__(self, session: Any, tools: Any, events: Events) -> None:
        self.session, self._tools, self.events = session, tools, events
        self._answering = set[asyncio.Task[None]]()

    @classmethod
    async def connect(cls, address: str, downloads: str) -> "Driver":
        """Connect to a browser.

        Args:
            address: Address of its protocol.
            downloads: Folder that it writes downloads into, as it names it.

        Raises:
            MissingExtra: The extra `browser` is not installed.
            ToolError: It does not answer.
        """
        session, tools = await asyncio.to_thread(_made, address)
        driver = cls(session, tools, Events())
        try:
            await session.start()
            await driver._listen(downloads)
        except Exception as error:  # foreign code, which may raise anything
            raise ToolError(f"The browser does not answer: {_line(error)}", fix="call again.") from error
        return driver

    @property
    def connected(self) -> bool:
        """Whether the browser is still at the other end."""
        return bool(self.session.is_cdp_connected)

    async def close(self) -> None:
        """Leave the browser."""
        try:
            await self.session.stop()
            await self.session.event_bus.stop(clear=True, timeout=1)
        except Exception as error:  # foreign code; the browser itself ends with its sandbox
            logging.getLogger(__name__).debug("leaving the browser: %r", error)

    async def act(self, name: str, parameters: dict[str, Any], files: list[str] | None = None) -> str:
        """Do one action of the library, and return its words.

        Raises:
            ToolError: It failed.
        """
        result = await self._tools.registry.execute_action(
            name, parameters, browser_session=self.session, available_file_paths=files or [], file_system=_NoFiles()
        )
        if result.error:
            raise ToolError(_line(result.error), fix="look at the state, and choose another element or action.")
        if name == "select_dropdown" and not result.include_in_memory:  # how it tells that nothing was chosen
            words = _line(str(result.extracted_content))
            raise ToolError(f"Nothing was chosen. {words}", fix="give the words of an option of the list.")
        return str(result.extracted_content or "")

    async def send(self, domain: str, method: str, parameters: dict[str, Any] | None = None) -> Any:
        """Send a command of the browser's protocol to the page in front."""
        page = await self.session.get_or_create_cdp_session()
        command: Callable[..., Any] = getattr(getattr(page.cdp_client.send, domain), method)
        return await command(params=parameters or {}, session_id=page.session_id)

    async def _listen(self, downloads: str) -> None:
        root = self.session.cdp_client
        root.register.Page.javascriptDialogOpening(self._dialog)
        root.register.Browser.downloadWillBegin(self._begun)
        root.register.Browser.downloadProgress(self._progress)
        await root.send.Browser.setDownloadBehavior(
            params={"behavior": "allowAndName", "downloadPath": downloads, "eventsEnabled": True}
        )

    def _dialog(self, event: Any, session_id: str | None = None) -> None:
        """Answer a dialog: a notice is closed, a question is refused unless the present action allows it."""
        kind = str(event.get("type", "alert"))
        accept = kind == "alert" or self.events.accept
        parameters: dict[str, Any] = {"accept": accept}
        if kind == "prompt" and accept:
            parameters["promptText"] = self.events.text
        message = str(event.get("message", ""))[:MOST_WORDS]
        answered = self._answer_dialog({"type": kind, "message": message, "accepted": accept}, parameters, session_id)
        # an event is not awaited; an answer still on its way fails with the connection, and ends
        task = asyncio.get_running_loop().create_task(answered)
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer_dialog(self, event: dict[str, Any], parameters: dict[str, Any], session_id: str | None) -> None:
        """Answer a dialog reported by several sessions of the protocol, and note the answer once."""
        with suppress(Exception):  # the dialog was answered already, or is gone with its page
            send = self.session.cdp_client.send.Page
            await send.handleJavaScriptDialog(params=parameters, session_id=session_id)
            self.events.dialogs = [*self.events.dialogs, event][-MOST_DIALOGS:]

    def _begun(self, event: Any, session_id: str | None = None) -> None:
        guid = str(event["guid"])
        name, url = str(event.get("suggestedFilename", "")), str(event.get("url", ""))
        self.events.downloads[guid] = Download(guid=guid, name=name, url=url)

    def _progress(self, event: Any, session_id: str | None = None) -> None:
        if (found := self.events.downloads.get(str(event["guid"]))) is not None:
            found.state = str(event.get("state", found.state))


class _NoFiles:
    """Stands for the library's own folder of files, unused here."""


def check_extra() -> None:
    """Import the library; it takes seconds.

    Raises:
        MissingExtra: It is not installed; the fix is the command that installs it.
    """
    os.environ.update(QUIET)
    if CONFIG not in os.environ:
        folder = tempfile.mkdtemp(prefix="tea-browser-use-")
        if os.environ.setdefault(CONFIG, folder) == folder:
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
        else:
            os.rmdir(folder)
    library: Any = require_extra("browser_use.browser.session", EXTRA)
    with suppress(OSError):  # made by the import for a profile that nobody uses
        Path(library.DEFAULT_BROWSER_PROFILE.downloads_path).rmdir()
    for name in ("browser_use", "bubus", "cdp_use", "websockets"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is told as an observation


def _made(address: str) -> tuple[Any, Any]:
    """Return a session without actions of its own accord, and the registry of actions."""
    check_extra()
    base: Any = require_extra("browser_use.browser.session", EXTRA).BrowserSession
    profile: Any = require_extra("browser_use.browser.profile", EXTRA).BrowserProfile
    service: Any = require_extra("browser_use.tools.service", EXTRA)

    numbers, unused = Numbers(), Path(os.environ[CONFIG]) / "unused"

    async def attach(self: Any) -> None:
        for module, name, place in WATCHED:
            watchdog: Any = getattr(require_extra(f"browser_use.browser.watchdogs.{module}", EXTRA), name)
            watchdog.model_rebuild()
            kind = numbered(watchdog, numbers) if name == "DOMWatchdog" else watchdog
            made = kind(event_bus=self.event_bus, browser_session=self)
            setattr(self, place, made)
            made.attach_to_session()

    # Others of its helpers accept every dialog, write downloads and cookies, and put pictures into blank pages.
    kind: Any = type("Session", (base,), {"attach_all_watchdogs": attach, "__module__": base.__module__})
    session = kind(
        browser_profile=profile(
            cdp_url=address,
            user_data_dir=unused,  # else it makes folders that stay
            downloads_path=unused,
            headless=True,
            keep_alive=True,
            accept_downloads=False,
            auto_download_pdfs=False,
            enable_default_extensions=False,
            highlight_elements=False,
            dom_highlight_elements=False,
            viewport={"width": WIDTH, "height": HEIGHT},
            cross_origin_iframes=True,
            captcha_solver=False,
        )
    )
    session.browser_profile.is_local = False  # whatever it takes an address of loopback for: its files are elsewhere
    tools = service.Tools()
    tools.set_coordinate_clicking(True)
    return session, tools


def _line(words: object) -> str:
    return " ".join(str(words).split())[:MOST_WORDS]
