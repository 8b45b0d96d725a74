"""The gate of a run: each external event is recorded on its delivery.

A program starts calls and timers and waits for messages. Their outcomes queue up outside. When all branches of the
program wait, the gate takes one event, records it, delivers it, and lets the program run until all wait again. What
the program does between two events depends on nothing else, so the order of the journal is the order of delivery,
and a replay that delivers in that order does the same. Live, replay and resume are the same code.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Literal, TypeVar, cast

from tea.errors import CallFailed, ErrorRecord, InternalError, NotLocked, TeaError, error_from
from tea.kernel.branch import Inbox
from tea.kernel.entry import Entry, canonical, encode, spoken
from tea.kernel.group import Group, race
from tea.kernel.past import Past
from tea.kernel.pending import Called, Inline, Pending, Perform
from tea.kernel.scheduler import Scheduler
from tea.kernel.timer import Timeout, timer
from tea.types import JsonObject, JsonValue

T = TypeVar("T")


class Gate:
    """The boundary of one run: external events pass it to the program one at a time.

    Args:
        write: Appends an entry to the journal; when it raises, the run ends with that error. A replay never calls it.
        flush: Makes what was appended survive the death of the process. It is called before anything that the program
            wants is set going, and before the event loop goes on, so that all records of one turn share a write; when
            it raises, the run ends with that error, and nothing of what it did not confirm has left the program.
        past: What the journal already holds, in its order.
        mode: `live`; `replay` walks the past and performs nothing; `resume` walks the past and goes on live, where
            what was under way at its end is performed again, under the same key.
        lenient: Let calls and notes differ in their data from the past, though not in key, kind or target.
        grace: Seconds to wait, at the end, for the cleanup of calls that were called off.
        mask: Takes out of JSON text what a run must not learn, before it is recorded and delivered.
        elapsed: Seconds that timeouts of the past were under way, by key.
        again: Keys of calls of the past to be performed again in their turn: without the same outcome, nothing goes on.
    """

    def __init__(
        self,
        *,
        write: Callable[[Entry], None],
        past: Sequence[Entry] = (),
        mode: Literal["live", "replay", "resume"] = "live",
        lenient: bool = False,
        grace: float = 5.0,
        mask: Callable[[str], str] = str,
        flush: Callable[[], None] = lambda: None,
        elapsed: Mapping[str, float] | None = None,
        again: Collection[str] = (),
    ) -> None:
        if past and mode == "live":
            raise InternalError("A live run has no past.", fix="use mode `resume` or `replay`.")
        self._past = Past(past, lenient)
        self._scheduler = Scheduler(write, self._past, replay=mode == "replay", mask=mask, flush=flush, again=again)
        self._grace = grace
        self._elapsed = elapsed or {}

    @property
    def exhausted(self) -> bool:
        """Whether a replay stopped at the end of its journal, before its program ended."""
        return self._scheduler.exhausted

    async def run(self, program: Callable[[], Awaitable[T]]) -> T:
        """Run the program to its end, once, on the current event loop.

        Cancelling the task that awaits this abandons the run: calls under way are called off and waited for, nothing
        more is written, and the journal can be resumed.

        Raises:
            Diverged: The program does not do what its journal holds, or waits for what no gate records.
            ApprovalNeeded: A call waits for a person, and so does all that is left to do, or for a timer or message.
            ResourceExhausted: The same of a call that found this machine without open files or disk space.
            TeaError: The reason of a cancellation from outside that the program did not answer with a result.
            Exception: What the program raised.
        """

        async def work() -> T:
            return await program()

        root = await self._scheduler.drive(work(), self._grace)
        if root.cancelled and self._scheduler.cancellation is not None:
            raise self._scheduler.cancellation
        if root.cancelled:
            raise CallFailed("The program cancelled itself.", fix="return a result, or raise an error that says why.")
        return root.result()

    async def effect(
        self, kind: str, target: str, data: JsonValue, perform: Perform, inline: Inline | None = None
    ) -> JsonValue:
        """Make one call across the boundary and return its result, as JSON decoded from its record.

        Args:
            kind: What sort of call, for example `tool`.
            target: What is called, usually a ref.
            data: Its input, as JSON or its canonical text; recorded whole.
            perform: Does the work, outside of the program's branches, when the outcome is not in the journal. It
                gets the key. A call that the program gave up on is cancelled, and cleans up while the program goes
                on. Raising `ApprovalNeeded` or `ResourceExhausted` records no outcome and ends the run, to be resumed.
            inline: What it does, where it is the platform's own work that seldom waits.

        Raises:
            TeaError: What `perform` raised; any other exception is an `InternalError`. `NotLocked` ends the run.
            BadArguments: `data` is not JSON.
        """
        call = Called(self._scheduler.performs, f"{kind} {target}".rstrip(), perform, inline=inline is not None)
        pending = self._scheduler.begin(kind, target, data, ("done", "failed"), call, reads=inline is Inline.READ)
        del data  # it is recorded, and would be in the garbage collector's way while the call lasts
        outcome = await self._scheduler.outcome(pending)
        if outcome.event == "failed":
            error = error_from(cast(ErrorRecord, outcome.data))
            if isinstance(error, NotLocked):
                self._scheduler.branches.stop(error)
            try:
                raise error
            finally:
                del error  # its traceback holds this frame, which would hold it
        return outcome.data

    def due(self, kind: str, there: Callable[[], bool]) -> bool:
        """Return whether to make a call, without a record if it would have no result.

        Either the next call of this branch is an `effect` of that kind, or nothing is called and nothing recorded.

        Args:
            kind: As for `effect`.
            there: Looks, without waiting, whether the call brings something; a replay does not look.
        """
        return self._scheduler.due(kind, there)

    def note(self, kind: str, data: JsonValue) -> str:
        """Record a note of the program's own and return its key; a replay compares it.

        Raises:
            BadArguments: `data` is not JSON.
        """
        branch, text = self._scheduler.branches.here(), canonical(data)
        key = branch.key()
        self._scheduler.say(spoken("note", key, kind, "", text))
        return key

    def scope(self) -> AbstractContextManager[str]:
        """Number the keys in the body below a key of its own, and return its key: `with gate.scope() as key`."""
        return self._scheduler.branches.here().scope()

    def group(self) -> Group:
        """Return a group of branches with a common end: `async with gate.group() as group`."""
        return Group(self._scheduler.branches)

    async def race(self, *work: Coroutine[Any, Any, Any]) -> tuple[int, Any]:
        """Return index and result of the first work to end; the others are cancelled and waited for.

        Raises:
            Exception: The first to end failed with it.
            ExceptionGroup: Others failed while they were cancelled.
        """
        return await race(self._scheduler.branches, *work)

    async def sleep(self, seconds: float) -> None:
        """Wait; a replay does not."""
        launch = timer(self._scheduler, seconds)
        await self._scheduler.outcome(self._scheduler.begin("sleep", "", seconds, ("fired",), launch))

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[float]:
        """Cancel the body after so many seconds, and raise TimeoutError after it; the moment is recorded.

        It gives how many of them earlier processes took; a resumed run does not get those again.
        """
        return Timeout(self._scheduler, seconds, self._elapsed)

    async def alarm(self, seconds: float) -> None:
        """Wait as long as a timeout; a resumed run waits only for the rest of it."""
        launch = timer(self._scheduler, seconds, lambda key: self._elapsed.get(key, 0.0))
        await self._scheduler.outcome(self._scheduler.begin("timeout", "", seconds, ("fired",), launch))

    def inbox(self) -> Inbox[Any]:
        """Return a queue between branches of the program; waiting for it is not an event."""
        return Inbox(self._scheduler.branches)

    @property
    def stopped(self) -> bool:
        """Whether the run ends now, so its branches only have to leave."""
        return self._scheduler.branches.problem is not None

    def abandon(self, problem: TeaError) -> None:
        """End the run with a problem found outside of its branches; nothing more is recorded."""
        self._scheduler.branches.stop(problem)
        self._scheduler.arm()

    def take_key(self) -> str:
        """Take the next key of the branch being stepped, for work to be numbered below it."""
        return self._scheduler.branches.here().key()

    def end_branch(self, path: str) -> None:
        """Report the end of a branch stepped elsewhere."""
        self._scheduler.branches.on_end(path)

    def next_key(self) -> str:
        """Return the key for the next effect, note or scope of the branch being stepped."""
        return self._scheduler.branches.here().next_key

    def path(self) -> str:
        """Return the path of the branch being stepped."""
        return self._scheduler.branches.here().path

    async def receive(self) -> JsonValue:
        """Wait for the next message to this run."""
        receivers = self._scheduler.receivers

        def launch(pending: Pending) -> Callable[[], object]:
            receivers[pending.key] = pending
            return lambda: receivers.pop(pending.key, None)

        return (await self._scheduler.outcome(self._scheduler.begin("receive", "", None, ("message",), launch))).data

    def post(self, message: JsonValue) -> None:
        """Send the run a message; it is recorded when a branch receives it.

        Raises:
            BadArguments: It is not JSON.
        """
        self._scheduler.mail.append(encode(message))
        self._scheduler.arm()

    def cancel(self, reason: TeaError) -> None:
        """Cancel the run's first branch, as a recorded event; unless it returns nonetheless, `run` raises `reason`."""
        self._scheduler.happen(Entry(event="cancelled", key="", text=encode(reason.record())))

    def on_fork(self, change: Callable[[JsonObject], None]) -> None:
        """Call `change` with the changes of a fork, if the journal records one."""
        self._scheduler.change = change

    def on_branch_end(self, callback: Callable[[str], None]) -> None:
        """Call `callback` with the path of each branch ended before the run."""
        self._scheduler.branches.on_end = callback

    def open_keys(self) -> tuple[str, ...]:
        """Return the keys of all open calls, timers and messages of the program, also after the end of the run."""
        return tuple(self._scheduler.open)

    def repeated(self, key: str) -> bool:
        """Return whether the past contains this call's start, so it may have been performed, in part or whole."""
        return self._past.started(key)
