"""Session: one sandbox living on from call to call, with its interpreter and its files."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tea.characters import on_one_line
from tea.errors import ToolError
from tea.sandbox.folder import Folder, hand_over, in_memory, remove, sweep
from tea.sandbox.groups import ControlGroup, made, usable
from tea.sandbox.inside import frames
from tea.sandbox.inside.folders import uncover
from tea.sandbox.installs import check_sources, download_options, require_network
from tea.sandbox.launch import FLAGS, SOCKET, account, command, plan, proxied
from tea.sandbox.layout import INSTALLED, INSTALLER, PYTHON, TEMPORARY, WHEELS, WORKSPACE, Layout
from tea.sandbox.process import SandboxProcess
from tea.sandbox.relay import Hear, Relay, first_of
from tea.sandbox.settings import MOVED, WASM, LevelName, Limits
from tea.sandbox.wasm import compiled, unsupported
from tea.sandbox.way_out import HOSTS, INDEX, WayOut
from tea.threads import Threads
from tea.types import JsonObject

if TYPE_CHECKING:
    from tea.web.guard import Verdict

GROUP, LOOKS = "a control group", "looks every 10 ms"  # what holds the limits of memory and processes
_GROUP_MEGABYTES, _GROUP_PROCESSES = 96, 8  # for `/dev/shm`, and the processes around the code
CLAIMS = ("fs", "net", "pids", "memory", "syscalls")
_MOST_CODE = 1 << 20
_START_SECONDS, _CANCEL_SECONDS = 20.0, 5.0
_PACKAGE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?:==[A-Za-z0-9][A-Za-z0-9.!+_-]{0,60})?")
_MOST_PACKAGES = 20
_MOST_REFUSED = 5
_INSTALLING = ".installing"
_STOPPED = {
    "seconds": "do less at once.",
    "cpu": "do less at once.",
    "processes": "start fewer.",
    "memory": "take the data in parts.",
    "disk": "delete files, or write less.",
    "output": "print less, or write it into a file.",
    "cancelled": "call again.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """The output on one stream.

    Args:
        text: The beginning, as UTF-8.
        size: How many bytes there were in all.
        cut: Whether `text` is not all.
        file: Where all of it is, for the next calls, if it is long or was cut.
    """

    text: str = ""
    size: int = 0
    cut: bool = False
    file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """The outcome of one call.

    Args:
        stdout: What it printed.
        stderr: What it printed beside that, tracebacks too.
        result: The value of the last expression in words, empty for none.
        exit: The exit code of a command, or of code that left.
        raised: Class of the exception that ended Python code; its words are in `stderr`.
        files: Files that it made or changed, with their sizes.
        notes: What else has to be known: what was cut, ended, or not told.
        seconds: How long it took.
        killed: How many of its processes the kernel ended, as their memory was full.
    """

    stdout: Printed
    stderr: Printed
    result: str = ""
    exit: int | None = None
    raised: str = ""
    files: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    killed: int = 0


class Sandbox(SandboxProcess):
    """One sandbox: calls run one after the other, in one interpreter, on the same files.

    Args:
        terms: What the host decided; see `Sandboxes.terms`.

    Example:
        sandbox = await Sandbox.open(await ctx.sandbox_terms())
        print((await sandbox.python("1 + 1")).result)
        await sandbox.close()
    """

    def __init__(self, terms: JsonObject) -> None:
        self.level: LevelName = terms["level"]
        self.claims: dict[str, bool] = dict(terms["claims"])
        self._limits = Limits(**terms["limits"])
        self._way_out = WayOut.from_json(terms.get("way_out", {}))
        if self._way_out.hosts:
            require_network(self.level, HOSTS)
        self._folder = Folder()
        given = terms["workspace"] or str(self._folder.path / "workspace")
        os.makedirs(given, exist_ok=True)
        self._layout = Layout(
            folder=self._folder.path,
            workspace=os.path.abspath(given),
            inputs=tuple(terms["inputs"]),
            read_only=bool(terms.get("read_only")),
            packages=tuple(map(Path, terms["packages"])),
            wheels=terms["wheels"],
            python=str(terms.get("python", "")),
            way_out=self._way_out,
        )
        self._user = account(self._layout, self.level)
        self._base: int | None = None
        super().__init__()
        self._lock = asyncio.Lock()
        self._count = 0
        self._threads = Threads(1)
        self._lost = False
        self._interpreters = 0
        self._group: ControlGroup | None = None
        self._killed = 0

    @classmethod
    async def open(cls, terms: JsonObject) -> Self:
        """Start a sandbox.

        Raises:
            ToolError: It cannot be started.
        """
        made = cls(terms)
        try:
            await made._threads.run(sweep)
            await made._begin()
        except BaseException:
            await made.close()
            raise
        return made

    @classmethod
    async def around(
        cls, terms: JsonObject, folder: Path, *, packages: Sequence[Path] = (), limits: Mapping[str, int]
    ) -> Self:
        """Start a sandbox for a program of our own around a folder, the only files of this machine it sees.

        Args:
            terms: What `ctx.parser_terms()` gives.
            folder: The program, what it reads, and what it writes.
            packages: Folders of packages that it may import.
            limits: Its resources, by the names of `tea.sandbox.settings.Limits`.

        Raises:
            ToolError: It cannot be started.
        """
        given: dict[str, Any] = {"workspace": str(folder), "inputs": [], "limits": dict(limits), "wheels": None}
        shown = [str(one) for one in packages]
        return await cls.open({"level": terms["level"], "claims": terms["claims"], **given, "packages": shown})

    @property
    def workspace(self) -> str:
        """The folder of its files, on this machine."""
        return self._layout.workspace

    @property
    def interpreter(self) -> int:
        """Number of the last interpreter to answer, from 1; 0 if none is left to answer."""
        return 0 if self._lost or self.process is None else self._interpreters

    @property
    def process(self) -> int | None:
        """Number of the process above all of its processes, None before it was started or after it has ended."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts within reach of code, empty for no network."""
        return self._way_out.hosts

    @property
    def limits(self) -> Mapping[str, int]:
        """The resources open to code, by the names of `tea.sandbox.settings.Limits`."""
        return self._limits.to_json()

    @property
    def index(self) -> str:
        """Address of the index to install from, empty for none."""
        return self._way_out.index

    def claimed(self) -> JsonObject:
        """Return the level in force, its enforced claims, the hosts in reach, and the means of limiting memory."""
        hosts = {"hosts": list(self.hosts)} if self.hosts else {}
        return {"level": self.level, **self.claims, **hosts, "limits": LOOKS if self._group is None else GROUP}

    async def python(self, code: str) -> Ran:
        """Run Python in the interpreter of this session, keeping earlier definitions.

        Raises:
            ToolError: It was stopped by a limit, or its interpreter died.
        """
        return await self._call({"what": "python", "code": _bounded(code)}, HOSTS)

    async def bash(self, line: str) -> Ran:
        """Run a command line of bash.

        Raises:
            ToolError: It was stopped by a limit.
        """
        return await self._call(_command(["/bin/bash", "-c", _bounded(line)]), HOSTS)

    async def program(self, name: str, data: str = "", arguments: Sequence[str] = ()) -> Ran:
        """Run a file of the workspace as a Python program of its own.

        Args:
            name: The file's name.
            data: What it reads from its standard input, for example JSON.
            arguments: Its arguments.

        Raises:
            ToolError: It was stopped by a limit.
        """
        line = [self._layout.interpreter, "-s", "-P", f"./{name}", *arguments]
        return await self._call(_command(line, _bounded(data)))

    async def converse(
        self, module: str, message: JsonObject, hear: Hear, *, seconds: float | None = None
    ) -> JsonObject:
        """Pass a message to a module of tea in the interpreter of this session, and return its answer.

        Args:
            module: Its name; its function `answer` is given the message.
            message: What it is to answer.
            hear: Answers what it asks the host before it has answered; what this raises ends the call.
            seconds: Time of the call by the clock, where it is another one than the operator's limit.

        Raises:
            ToolError: It was stopped by a limit, or its interpreter died.
        """
        wanted: dict[str, Any] = {"what": "converse", "module": module, "message": message}
        limit = self._limits.call_seconds if seconds is None else seconds
        try:
            async with asyncio.TaskGroup() as tasks:
                relay = Relay(hear, self._send, tasks)
                answer, _ = await self._called({**wanted, "limits": {"seconds": limit}}, limit, relay)
                relay.end()
        except BaseExceptionGroup as group:
            raise first_of(group) from None
        self._ran(answer, [])
        if not isinstance(answer.get("reply"), dict):
            raise ToolError("The code did not answer.", fix="mend its source.")
        return answer["reply"]

    async def install(self, packages: Sequence[str]) -> Ran:
        """Install packages for this session, from the operator's folder of wheels and index alone.

        Args:
            packages: Each a name, or a name and version as in `attrs==25.1.0`.

        Raises:
            ToolError: There is neither of them, a name is not valid, or it cannot be installed.
        """
        await self._threads.run(lambda: check_sources(self.level, self._way_out, self._layout.wheels))
        wrong = next((one for one in packages if not _PACKAGE.fullmatch(one)), None)
        if wrong is not None or not 0 < len(packages) <= _MOST_PACKAGES:
            problem = "Nothing was named." if wrong is None else f"{wrong[:60]!r} is not a package's name and version."
            raise ToolError(problem, fix=f"name up to {_MOST_PACKAGES}, each as NAME or NAME==VERSION.")
        work, there = f"{self._place(TEMPORARY)}/{_INSTALLING}", self._folder.path / "tmp" / _INSTALLING
        await self._threads.run(lambda: remove(there))  # code may have left one
        line = [self._layout.interpreter, *FLAGS, f"{self._place(PYTHON)}/tea/sandbox/inside/installing.py"]
        wheels = self._place(WHEELS) if self._layout.wheels is not None else ""
        line += [wheels, self._place(INSTALLED), work, download_options(self._way_out), *packages]
        env = {"PYTHONPATH": self._place(INSTALLER), **(proxied() if self._way_out.index else {})}
        try:
            ran = await self._call(_command(line, env=env), INDEX)
        finally:
            await self._threads.run(lambda: remove(there))
        if ran.exit != 0:
            words = on_one_line(ran.stderr.text)[-600:] or f"exit code {ran.exit}"
            fix = "name what the operator's folder of wheels or index holds."
            if self._way_out.index and ran.notes:
                words, fix = " ".join(ran.notes), "ask the operator to list the place in `index_hosts` of [sandbox]."
            raise ToolError(f"It was not installed: {words}", fix=fix)
        return ran

    async def end(self) -> None:
        """End all running processes, and keep the files; the next call begins anew."""
        async with self._lock:
            await self._stop()

    async def close(self) -> None:
        """End the session, and remove its files beside the workspace."""
        await self._stop()
        await self._threads.run(self._remove)

    # -- one call -----------------------------------------------------------------------------------------------------

    async def _call(self, request: dict[str, Any], way: str = "") -> Ran:
        refused = list[str]()
        answer, lost = await self._called(request, self._limits.call_seconds, way=(way, refused))
        notes = ["The interpreter began anew; what was defined before is gone."] if lost and _is_python(request) else []
        if not _is_python(request):
            self._lost = self._lost or lost
        return self._ran(answer, [*notes, *refused])

    async def _called(
        self, request: dict[str, Any], seconds: float, relay: Relay | None = None, way: tuple[str, list[str]] = ("", [])
    ) -> tuple[dict[str, Any], bool]:
        """Send a request once it is its turn; return its answer, and whether earlier definitions are gone."""
        unsupported(self.level, request["what"])
        async with self._lock:
            lost = self._lost
            self._lost = False
            if self.process is None:
                lost = lost or self._count > 0
                await self._stop()
                await self._begin()
            self._count += 1
            async with self._opened(*way) as open_:
                answer = await self._answered({**request, "id": self._count, "way": open_}, seconds, relay)
            self._interpreters += bool(answer.get("fresh"))
            answer["killed"] = await self._threads.run(self._ended_by_kernel)
            return answer, lost

    @asynccontextmanager
    async def _opened(self, way: str, refused: list[str]) -> AsyncGenerator[bool]:
        """Open a way out for the time of one call, and yield whether there is one.

        Args:
            way: Its name.
            refused: Is given a sentence for each refused place.
        """
        if way not in self._way_out.places:
            yield False
            return
        from tea.web.guard import REASONS
        from tea.web.proxy import GuardProxy

        def tell(place: str, verdict: Verdict) -> None:
            begun = "Not found on the way out" if verdict.unresolved else "Refused on the way out"
            said = f"{begun}: {place}, {REASONS[verdict.reason]}."
            if said not in refused and len(refused) < _MOST_REFUSED:
                refused.append(said)

        proxy = GuardProxy(self._way_out.guard(way), refused=tell)
        async with proxy.on_socket(self._folder.path / "way" / SOCKET) as path:
            if self._user is not None:
                os.chown(path, self._user, self._user)
            yield True

    async def _answered(self, request: dict[str, Any], seconds: float, relay: Relay | None) -> dict[str, Any]:
        """Send a request and return its answer; on cancellation, stop the running call."""
        try:
            async with asyncio.timeout(seconds + _START_SECONDS):
                await self._threads.run(self._own)
                self._send(request)
                while (answer := await self._receive()).get("id") != request["id"] or "say" in answer:
                    if relay is not None and answer.get("id") == request["id"]:
                        relay.pass_on(answer["say"], request["id"])
                return answer
        except asyncio.CancelledError:
            await self._call_off(request["id"])
            raise
        except (TimeoutError, frames.Broken, OSError) as error:
            words = await self._last_words()
            await self._stop()
            problem = "The sandbox ended in the middle of the call; its files are kept, what was defined is gone."
            raise ToolError(f"{problem} {words}".rstrip(" "), fix="call again, with less at once.") from error

    async def _call_off(self, id: int) -> None:
        """Interrupt the running call; failing this, end the whole sandbox."""
        try:
            async with asyncio.timeout(_CANCEL_SECONDS):
                self._send({"cancel": True})
                while (answer := await self._receive()).get("id") != id:
                    pass
                self._lost = self._lost or bool(answer["lost"])
        except (TimeoutError, frames.Broken, OSError, asyncio.CancelledError):
            await self._stop()

    def _ran(self, answer: dict[str, Any], notes: list[str]) -> Ran:
        """Return the outcome of a call.

        Raises:
            ToolError: It did not come to its end.
        """
        why = answer["why"] or answer.get("stopped")
        for one in (answer["stdout"], answer["stderr"]) if self.level == WASM else ():
            if "file" in one:
                one["file"] = one["file"].replace(self._place(TEMPORARY), TEMPORARY)
        ran = Ran(
            stdout=_printed(answer["stdout"]),
            stderr=_printed(answer["stderr"]),
            result=_words(answer.get("result", "")),
            exit=answer.get("exit"),
            raised=_words(answer.get("raised", ""))[:200],
            files=tuple((_words(name), size) for name, size, _ in answer["files"]),
            notes=(*notes, *_notes(answer)),
            seconds=answer["seconds"],
            killed=answer["killed"],
        )
        if why is not None:
            self._lost = self._lost or bool(answer["lost"])
            raise _stopped(why, answer, ran)
        if "signal" in answer and ran.exit is None:
            ran = replace(ran, notes=(*ran.notes, f"It was ended by {_signal(answer['signal'])}."))
        return ran

    # -- the process --------------------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        """Start the process above all others of the sandbox.

        Raises:
            ToolError: It does not start.
        """
        await self._threads.run(lambda: self._layout.prepare(self._user))
        await self._threads.run(self._own)
        await self._threads.run(self._grouped)
        line = command(self._layout, self.level)
        line = line if self._group is None else self._group.around(line)
        runtime = await self._threads.run(compiled) if self.level == WASM else None
        told = await self._threads.run(
            lambda: plan(self._layout, self.level, self._limits, self._user, self._base, runtime)
        )
        try:
            await self._start(line, self._folder.path)
            async with asyncio.timeout(_START_SECONDS):
                self._send(told)
                self._base = (await self._receive())["base"]
        except (OSError, TimeoutError, frames.Broken) as error:
            words = await self._last_words() or str(error) or type(error).__name__
            await self._stop()
            fix = "see `tea doctor --sandbox`: what it needs may be gone since it was looked at."
            raise ToolError(f"The sandbox ({self.level}) does not start: {words}.", fix=fix) from error

    def _grouped(self) -> None:
        """Make a control group for all processes if this machine allows it; none at `rlimits`, as code could leave."""
        if self.level == "rlimits" or (self._group is not None and self._group.is_there):
            return
        beside = self._limits.disk_mb if in_memory(self._layout.workspace, str(self._folder.path)) else 0
        most = self._limits.memory_mb + _GROUP_MEGABYTES + beside
        self._group = made(memory=most << 20, processes=self._limits.processes + _GROUP_PROCESSES)
        self._killed = 0

    def _ended_by_kernel(self) -> int:
        """Return how many processes the kernel has ended during a call for want of memory."""
        before, self._killed = self._killed, 0 if self._group is None else self._group.killed()
        return self._killed - before

    def _send(self, message: object) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdin.is_closing():
            raise frames.Broken("the end")
        process.stdin.write(frames.encode(message))

    async def _receive(self) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdout is None:
            raise frames.Broken("the end")
        try:
            head = await process.stdout.readexactly(frames.HEAD)
            return frames.decode(await process.stdout.readexactly(frames.length(head)))
        except asyncio.IncompleteReadError as error:
            raise frames.Broken("the end") from error

    # -- the files ----------------------------------------------------------------------------------------------------

    @property
    def _moved(self) -> bool:
        return self.level in MOVED

    def _place(self, target: str) -> str:
        """Return the place of a part of the layout, as seen by code."""
        return target if self._moved else self._layout.place(target)

    def _own(self) -> None:
        """Give the workspace's files to the account of the code, if this process is root."""
        if self._user is not None:
            hand_over(self._layout.workspace, self._user)

    def _remove(self) -> None:
        """Remove the session's folder, and from the workspace everything out of anybody's reach."""
        if self._group is not None:
            self._group.remove()
        uncover(self._layout.workspace)
        self._folder.remove()


def limited_by() -> str:
    """Return in words the means to limit memory and processes for a whole session."""
    return LOOKS if usable() is None else GROUP


@asynccontextmanager
async def opened(terms: JsonObject) -> AsyncGenerator[Sandbox]:
    """Yield a sandbox ended with the block."""
    sandbox = await Sandbox.open(terms)
    try:
        yield sandbox
    finally:
        await sandbox.close()


def _command(line: list[str], data: str = "", env: Mapping[str, str] | None = None) -> dict[str, Any]:
    return {"what": "command", "command": line, "stdin": data, "env": dict(env or {})}


def _is_python(request: Mapping[str, Any]) -> bool:
    return request["what"] == "python"


def _bounded(text: str) -> str:
    if len(text) > _MOST_CODE or "\0" in text:
        raise ToolError("The text is too long, or holds a zero byte.", fix="write it into a file, and run that.")
    return text


def _printed(stream: Mapping[str, Any]) -> Printed:
    return Printed(
        text=str(stream["text"]),
        size=int(stream["bytes"]),
        cut=stream["bytes"] > stream["kept"],
        file=str(stream.get("file", "")),
    )


def _notes(answer: Mapping[str, Any]) -> list[str]:
    """Return the cuts, ended processes and untold changes of an answer, each in a sentence."""
    found: list[str] = []
    for name in ("stdout", "stderr"):
        told = answer[name]
        if told["bytes"] > told["kept"]:
            whole = "All of it" if told.get("whole") else f"The first part of its {told['bytes']} bytes"
            where = f"{whole} is in {told['file']}." if "file" in told else "The rest was not kept."
            found.append(f"{name.upper()} was cut after {told['kept']} of {told['bytes']} bytes. {where}")
    if answer["killed"] and not answer["why"]:
        found.append(f"The kernel ended {answer['killed']} process(es) of it, as their memory was full.")
    if answer["left"] and not answer["why"]:
        found.append(f"{answer['left']} process(es) still ran at the end of the call, and were ended.")
    if answer["more_files"]:
        found.append(f"{answer['more_files']} more files were made or changed.")
    if not answer["listed"]:
        found.append("There are too many files to tell which of them changed.")
    return found


def _stopped(why: Sequence[str], answer: Mapping[str, Any], ran: Ran) -> ToolError:
    """Return the error about a call stopped before its end."""
    name, words = why
    if name == "died":
        how = f"exit code {answer['exit']}" if "exit" in answer else _signal(answer.get("signal", 0))
        words = f"The interpreter died ({how}{', as its memory was full' if answer['killed'] else ''})."
    kept = "Files are kept; what was defined is gone." if answer["lost"] else "Files and what was defined are kept."
    said = (ran.stdout.text + ran.stderr.text)[-500:].strip(" \t\n")
    last = f" It had printed: {said}" if said and name != "output" else ""
    return ToolError(f"{words} {kept}{last}", fix=_STOPPED.get(name, "change the code, and call again."))


def _words(text: str) -> str:
    """Return a text without halves of characters, refused by any journal."""
    return text.encode("utf-8", "replace").decode()


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


__all__ = ["CLAIMS", "INSTALLED", "TEMPORARY", "WORKSPACE", "Printed", "Ran", "Sandbox", "opened"]
