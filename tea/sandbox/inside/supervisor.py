"""The first process of a sandbox: starts its programs, watches them, and ends the leftovers of each call."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from time import monotonic, sleep

from tea.sandbox.inside import frames, wasm, worker
from tea.sandbox.inside.capture import Capture, pipe
from tea.sandbox.inside.confine import lock_down
from tea.sandbox.inside.folders import Files, files, room, uncover
from tea.sandbox.inside.watch import Watch, processes, runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TURN = 0.01  # seconds between two looks at what a call uses
_GRACE = 1.0  # seconds that code has to end after it was interrupted
_MOST_ANSWER = 1 << 20
_MOST_LISTED = 50
_MOST_SAID = 64  # messages that are passed on between two looks at what a call uses
_POLITELY = ("seconds", "cpu", "cancelled")
_CHANNEL = 3
Carry = Callable[[dict[str, "Any"], socket.socket], int]


class _Child:
    """A process started for calls: the interpreter, or one command."""

    def __init__(self, number: int, stdout: int, stderr: int) -> None:
        self.number, self.stdout, self.stderr = number, stdout, stderr
        self.channel: socket.socket | None = None
        self.to_send, self.received = b"", bytearray()

    def close(self) -> None:
        """Close the descriptors leading to it."""
        os.close(self.stdout)
        os.close(self.stderr)
        if self.channel is not None:
            self.channel.close()


class _Cancelled(Exception):
    """The end of the host's interest in an answer."""


class Supervisor:
    """Carries out one request of the host after the other.

    Args:
        plan: What the host sent first.
        requests: Where its requests come from.
        answers: Where the answers go.
        carry: Starts a process for the connections of one call, see `tea.sandbox.inside.carrying.start_carrier`.
    """

    def __init__(self, plan: dict[str, Any], requests: int, answers: int, carry: Carry | None = None) -> None:
        self._plan, self._requests, self._answers = plan, requests, answers
        self._workspace: str = plan["workspace"]
        self._folders = (plan["workspace"], plan["tmp"], plan["packages"])
        self._interpreter: _Child | None = None
        self._ended: dict[int, int] = {}
        self._count = 0
        self._conversation: int | None = None
        self._woken, waking = pipe()
        os.set_blocking(waking, False)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, _wake)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        self._way: socket.socket | None = None
        self._carry = carry
        if carry is not None:  # held between calls too, so that no code listens there itself
            self._way = socket.create_server(("127.0.0.1", plan["way"]["port"]))
        uncover(*self._folders)
        self._base = plan["base"] if plan["base"] is not None else room(*self._folders)

    def serve(self) -> None:
        """Serve requests until the host is gone, then end all processes."""
        frames.write(self._answers, {"ready": True, "base": self._base})
        while True:
            try:
                request = frames.read(self._requests)
            except (frames.Broken, OSError):
                break
            if "id" in request and "hear" not in request:
                frames.write(self._answers, {**self._answer(request), "id": request["id"]})
        self._end(set())

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request, and tell its outcome."""
        self._count += 1
        began = monotonic()
        before = files(self._workspace)
        limits = {**self._plan["limits"], **request.get("limits", {})}
        watch = Watch(limits, self._folders, self._base, own_network=self._plan["own_pids"])
        fresh = False
        self._conversation = request["id"] if request["what"] == "converse" else None
        if request["what"] != "command":
            child = self._interpreter
            if child is None or self._gone(child):
                fresh, child = True, self._start_interpreter()
            token = os.urandom(8).hex()
            wanted = {name: request[name] for name in ("code", "module", "message") if name in request}
            child.to_send = frames.encode({**wanted, "token": token})
            os.kill(child.number, signal.SIGCONT)
        else:
            child, token = self._start_command(request), ""
        captures = [self._capture(child.stdout, "stdout"), self._capture(child.stderr, "stderr")]
        for one in captures if token else ():
            with suppress(OSError):
                while os.read(one.handle, 1 << 16):  # printed by what ran on after the call before
                    pass
        carrier = self._start_carrier() if request.get("way") else None
        why, answer = self._follow(child, captures, watch, token)
        if carrier is not None:
            self._stop(carrier)
        if token and why is not None:
            self._interpreter = None
        left = self._end(self._stopped())
        uncover(*self._folders)
        for one in captures:
            one.drain()
        status = self._ended.pop(child.number, None)
        if child is not self._interpreter:
            child.close()
        told = {"stdout": captures[0].told(), "stderr": captures[1].told(), "left": left, "fresh": fresh}
        if status is not None and os.WIFEXITED(status):
            told["exit"] = os.WEXITSTATUS(status)
        elif status is not None:
            told["signal"] = os.WTERMSIG(status)
        lost = bool(token) and self._interpreter is None
        listed = _changes(before, files(self._workspace))
        return {**answer, **told, **listed, "why": why, "lost": lost, "seconds": monotonic() - began}

    def _follow(
        self, child: _Child, captures: list[Capture], watch: Watch, token: str
    ) -> tuple[tuple[str, str] | None, dict[str, Any]]:
        """Wait until a call ends or must end; return the reason for the latter, and the interpreter's answer."""
        why: tuple[str, str] | None = None
        last = 0.0
        while True:
            try:
                self._wait(child, captures, token)
            except _Cancelled:
                why, last = ("cancelled", "It was called off."), self._interrupt(child, token)
            self._reap()
            if token and (answer := self._received(child, token)) is not None:
                if answer:
                    return (None, {**answer, "stopped": why}) if why else (None, answer)
                return ("broken", "Its interpreter answered what is not an answer."), {}
            if child.number in self._ended:
                ended = ("died", "Its interpreter ended.") if token else None
                return why or ended, {}
            if why is not None:
                if monotonic() > last:
                    return why, {}
            elif any(one.floods for one in captures):
                return ("output", "It printed more than anybody reads."), {}
            elif (why := watch.fault()) is not None:
                if why[0] not in _POLITELY or not token:
                    return why, {}
                last = self._interrupt(child, token)

    def _interrupt(self, child: _Child, token: str) -> float:
        """Ask code to end, keeping its definitions; return the end of its time to do so."""
        with suppress(ProcessLookupError):
            os.kill(child.number, signal.SIGINT if token else signal.SIGKILL)
        return monotonic() + _GRACE

    def _wait(self, child: _Child, captures: list[Capture], token: str) -> None:
        """Wait a turn for any event, and take the new data."""
        reading: list[Any] = [self._requests, self._woken, *(one.handle for one in captures)]
        channel = child.channel
        if channel is not None and channel.fileno() >= 0:
            reading.append(channel)
        writing = [channel] if child.to_send and channel is not None else []
        ready, writable, _ = select.select(reading, writing, [], _TURN)
        if writable and channel is not None:
            with suppress(OSError):
                child.to_send = child.to_send[channel.send(child.to_send) :]
        for one in captures:
            if one.handle in ready:
                one.take()
        if self._woken in ready:
            with suppress(BlockingIOError):
                os.read(self._woken, 1 << 12)
        if channel is not None and channel in ready:
            with suppress(OSError):
                child.received += channel.recv(1 << 16)
        if self._requests in ready:
            try:
                message = frames.read(self._requests)
            except (frames.Broken, OSError):
                self._end(set())
                os._exit(0)
            if "hear" not in message:
                raise _Cancelled
            if message["id"] == self._conversation:  # else it is the answer to a call that has ended
                child.to_send += frames.encode({"hear": message["hear"], "token": token})

    def _received(self, child: _Child, token: str) -> dict[str, Any] | None:
        """Return an interpreter's answer: None for nothing yet, empty for anything but an answer.

        What it says in a conversation before it answers is passed on.
        """
        for _ in range(_MOST_SAID):
            found = _message(child)
            if found is None:
                return None
            said: object = found.get("say")
            if self._conversation is None or not isinstance(said, dict) or found.get("token") != token:
                return _answer_in(found, token, more=bool(child.received))
            frames.write(self._answers, {"id": self._conversation, "say": said})  # pyright: ignore[reportUnknownArgumentType]
        return None

    def _reap(self) -> None:
        """Note the ended children; orphans of other processes come here, too."""
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                self._ended[found[0]] = found[1]
        wanted = {self._interpreter.number} if self._interpreter else set[int]()
        if len(self._ended) > 1000:
            self._ended = {one: status for one, status in self._ended.items() if one in wanted}

    def _start_carrier(self) -> int | None:
        """Start carrying connections to the host; return the number of the process, None without a way out."""
        if self._carry is None or self._way is None:
            return None
        return self._carry(self._plan, self._way)

    def _stop(self, number: int) -> None:
        """End a child of this process, unless it has ended before."""
        self._reap()
        if self._ended.pop(number, None) is None:
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)

    def _gone(self, child: _Child) -> bool:
        self._reap()
        if self._ended.pop(child.number, None) is None:
            return False
        child.close()
        return True

    def _end(self, keep: set[int]) -> int:
        """Kill all processes but some; return how many there were."""
        seen: set[int] = set()
        rounds = 0
        while True:
            found = {one for one, fields in processes().items() if runs(fields)} - keep
            if not found:
                self._reap()
                return len(seen)
            seen |= found
            rounds += 1
            if rounds > 100 and self._plan["own_pids"]:  # something goes on making them faster than this
                with suppress(OSError):
                    os.kill(-1, signal.SIGKILL)
            for one in found:
                with suppress(OSError):
                    os.kill(one, signal.SIGKILL)
            self._reap()
            sleep(0.001)

    def _stopped(self) -> set[int]:
        """Stop the interpreter and its threads between calls; return its number."""
        if self._interpreter is None:
            return set()
        with suppress(ProcessLookupError):
            os.kill(self._interpreter.number, signal.SIGSTOP)
        return {self._interpreter.number}

    def _capture(self, handle: int, name: str) -> Capture:
        spill = os.path.join(self._plan["tmp"], f"{name}-{self._count}.txt")
        with suppress(OSError):
            os.unlink(spill)
        return Capture(handle, self._plan["limits"]["output"], spill)

    def _start_interpreter(self) -> _Child:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        child = self._fork()
        if child is None:
            if self._plan["guest"] is not None:
                wasm.serve(_move_channel(theirs.fileno()), self._plan["guest"])
            worker.serve(_move_channel(theirs.fileno()), self._plan["path"])
            os._exit(0)
        theirs.close()
        child.channel = ours
        self._interpreter = child
        return child

    def _start_command(self, request: dict[str, Any]) -> _Child:
        given = self._file_of(request["stdin"])
        child = self._fork(given, self._plan["limits"]["cpu"] + 5)
        if child is None:
            try:
                os.execve(request["command"][0], request["command"], {**os.environ, **request["env"]})
            except OSError as error:
                os.write(2, f"{request['command'][0]}: {error.strerror}\n".encode())
                os._exit(127)
        os.close(given)
        return child

    def _file_of(self, text: str) -> int:
        """Return an open file without a name, holding a text."""
        path = os.path.join(self._plan["tmp"], f".input-{os.urandom(8).hex()}")
        with open(path, "x+b", buffering=0) as file:
            os.unlink(path)
            left = memoryview(text.encode("utf-8", "surrogatepass"))
            while left:
                left = left[file.write(left) :]
            file.seek(0)
            return os.dup(file.fileno())

    def _fork(self, descriptor: int | None = None, seconds: int | None = None) -> Any:
        """Start a process within the walls: a child here, None in it."""
        out, err, closed = pipe(), pipe(), os.pipe()
        self._reap()
        number = os.fork()
        if number:
            for handle in (out[1], err[1], closed[1]):
                os.close(handle)
            os.read(closed[0], 1)  # until the walls stand: before, it is as hidden as this process
            os.close(closed[0])
            self._ended.pop(number, None)
            return _Child(number, out[0], err[0])
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler if descriptor is None else signal.SIG_DFL)
            signal.signal(signal.SIGPIPE, signal.SIG_IGN if descriptor is None else signal.SIG_DFL)
            os.setpgid(0, 0)
            empty = os.open("/dev/null", os.O_RDONLY)
            for at, handle in enumerate((empty if descriptor is None else descriptor, out[1], err[1])):
                os.dup2(handle, at)
            lock_down(self._plan, seconds)
            os.chdir(self._workspace)
            sys.stdin = os.fdopen(0)
            sys.stdout, sys.stderr = (os.fdopen(handle, "w", closefd=False) for handle in (1, 2))
            os.write(closed[1], b"1")
            if descriptor is not None:
                os.closerange(3, 256)
        except BaseException as error:
            os.write(2, f"The sandbox could not be closed: {error}\n".encode())
            os._exit(126)
        return None


def _wake(number: int, frame: object) -> None:
    """Do nothing: the supervisor waits on a descriptor with a record of the signal."""


def _move_channel(channel: int) -> int:
    """Move the channel to its own descriptor, not inherited by programs, and close all others."""
    if channel != _CHANNEL:
        os.dup2(channel, _CHANNEL, inheritable=False)
    os.closerange(_CHANNEL + 1, 256)
    return _CHANNEL


def _message(child: _Child) -> dict[str, Any] | None:
    """Take the next message of an interpreter: None for nothing yet, empty for anything but a message."""
    data = child.received
    if len(data) < frames.HEAD:
        return None
    try:
        end = frames.HEAD + frames.length(bytes(data[: frames.HEAD]), _MOST_ANSWER)
        if len(data) < end:
            return None
        found = frames.decode(bytes(data[frames.HEAD : end]))
    except frames.Broken:
        return {}
    del data[:end]
    return found


def _answer_in(message: dict[str, Any], token: str, *, more: bool) -> dict[str, Any]:
    """Return the answer in a message, empty for any other: an answer must be the last message sent."""
    known = {"result": str, "exit": int, "raised": str, "reply": dict}
    found = {name: message[name] for name, kind in known.items() if isinstance(message.get(name), kind)}
    return {**found, "answered": True} if message.get("token") == token and not more else {}


def _changes(before: Files | None, after: Files | None) -> dict[str, Any]:
    """Return the files made or changed by a call, each with its size; not told if there are very many."""
    if before is None or after is None:
        return {"files": [], "more_files": 0, "listed": False}
    changed = sorted(name for name, facts in after.items() if before.get(name) != facts)
    found = [[name, after[name][0], name in before] for name in changed[:_MOST_LISTED]]
    return {"files": found, "more_files": len(changed) - len(found), "listed": True}
