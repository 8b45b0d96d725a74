"""Stepping: a program at work in the interpreter of a sandbox, one event at a time, by the kernel's own scheduler.

Its keys are allocated here, and nothing is performed: what it starts is said to the host, in order, once all of its
branches wait. See design/018.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

from tea.components.flow import check_note
from tea.components.wire import WirePort
from tea.errors import InternalError
from tea.kernel.entry import Entry, encode
from tea.kernel.group import Group, race
from tea.kernel.past import Past
from tea.kernel.pending import Launch, Pending
from tea.kernel.scheduler import Scheduler
from tea.kernel.timer import Timeout, timer
from tea.types import JsonObject, JsonValue, Result
from tea.untrusted.parts import Packed

_GRACE = 1.0


class Program:
    """A component's program: it goes on with each event, and names the effects to start.

    Args:
        work: Makes the program's first branch, once its port and flow are there.
        record: Gives an exception of the program as data.
    """

    def __init__(
        self, work: Callable[[Program], Awaitable[JsonValue]], record: Callable[[BaseException], JsonObject]
    ) -> None:
        self._work, self._record = work, record
        self._said: list[JsonObject] = []
        self._parts = Packed()
        self._waits: asyncio.Future[None] | None = None
        self._drive: asyncio.Task[Any] | None = None
        self._ended = False
        self._scheduler = Scheduler(_unwritten, Past((), lenient=False), replay=False, mask=str, flush=self._all_wait)
        self._scheduler.branches.on_end = self._branch_ended
        self.port = WirePort(self._ask)
        self.flow = _Flow(self, self._scheduler)

    async def begin(self) -> JsonObject:
        """Run the first steps, and return the requests."""
        return await self._step(None)

    async def go_on(self, event: JsonObject) -> JsonObject:
        """Deliver an event of the host, and return the requests."""
        if self._drive is None or self._drive.done():
            raise InternalError("The program has ended.", fix="begin it again.")
        kind, key = event["event"], event.get("key", "")
        return await self._step(Entry(event=kind, key=key, text=json.dumps(event.get("data"))))

    async def outcome(self, item: JsonObject) -> Entry:
        """Request the start of something, and wait for its event."""
        key = self._scheduler.branches.here().next_key
        pending = self._scheduler.begin(
            "start", "", None, ("done", "failed", "fired", "message"), _start_nothing, reads=True
        )
        self._said.append({"start": key, **item})
        try:
            return await self._scheduler.outcome(pending)
        except asyncio.CancelledError:
            self._said.append({"stop": key})
            raise

    def say(self, item: JsonObject) -> None:
        """Send a message without an answer."""
        self._said.append(item)

    def alarm(self, seconds: float, _: Callable[[str], float]) -> Launch:
        """Return a launcher of a timer of the host."""
        timer(self._scheduler, seconds)  # raises for what is not a time

        def launch(pending: Pending) -> Callable[[], object]:
            self._said.append({"start": pending.key, "wait": "timeout", "seconds": seconds})
            return lambda: self._said.append({"stop": pending.key})

        return launch

    async def _ask(self, message: JsonObject) -> JsonObject:
        data = json.loads(encode(message))
        event = await self.outcome({"message": self._parts.pack(data, self._said.append)})
        return cast(JsonObject, event.data)

    async def _step(self, event: Entry | None) -> JsonObject:
        """Step until all branches wait or the program has ended, and return their requests."""
        self._waits = asyncio.get_running_loop().create_future()
        if event is None:
            # it lives from message to message, so no call holds it: it ends with its program or its interpreter
            self._drive = asyncio.create_task(self._scheduler.drive(self._whole(), _GRACE))
        else:
            self._scheduler.happen(event)
        drive = cast("asyncio.Task[Any]", self._drive)
        await asyncio.wait((self._waits, drive), return_when=asyncio.FIRST_COMPLETED)
        self._waits = None
        said, self._said = self._said, []
        return {"said": said, **({"end": await self._end(drive)} if drive.done() else {})}

    async def _whole(self) -> JsonValue:
        try:
            return await self._work(self)
        finally:
            self._ended = True

    async def _end(self, drive: asyncio.Task[Any]) -> JsonObject:
        """Return the end of the program as data."""
        try:
            root = await drive
            return {"cancelled": True} if root.cancelled else {"value": root.result()}
        except Exception as error:
            return {"error": self._record(error)}

    def _all_wait(self) -> None:
        over = self._ended or self._scheduler.branches.problem is not None
        if self._waits is not None and not self._waits.done() and not over:
            self._waits.set_result(None)

    def _branch_ended(self, path: str) -> None:
        if "/" in path:
            self._said.append({"over": path})


class _Flow:
    """The flow of a program: its branches here, its time and mail at the host."""

    def __init__(self, program: Program, scheduler: Scheduler) -> None:
        self._program, self._scheduler = program, scheduler

    def group(self) -> Group:
        """Return a group of branches with a common end."""
        return Group(self._scheduler.branches)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[float]:
        """Limit the body."""
        return Timeout(self._scheduler, seconds, {}, self._program.alarm)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        timer(self._scheduler, seconds)  # raises for what is not a time
        await self._program.outcome({"wait": "sleep", "seconds": seconds})

    async def race(self, *work: Coroutine[Any, Any, Any]) -> tuple[int, Any]:
        """Return the first to end; the others are cancelled."""
        return await race(self._scheduler.branches, *work)

    async def receive(self) -> Any:
        """Wait for a message."""
        return (await self._program.outcome({"wait": "receive"})).data

    def note(self, kind: str, data: JsonObject) -> None:
        """Send a record of the program's own.

        Raises:
            BadArguments: It is not JSON, or of no kind, or of one that is the platform's own.
        """
        check_note(kind)
        self._program.say({"note": kind, "data": json.loads(encode(data))})

    def so_far(self, result: Result) -> None:
        """Send the best answer so far."""
        self._program.say({"so_far": result.model_dump(mode="json")})


def _unwritten(_: Entry) -> None:
    """Write no record: the run's journal is written by the host."""


def _start_nothing(_: Pending) -> Callable[[], object]:
    """Start nothing, as the host performs the work."""
    return lambda: None
