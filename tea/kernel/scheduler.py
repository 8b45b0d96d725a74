"""The scheduler of one run: takes external events one by one, records each and delivers it.

The next event is taken only when all branches of the program wait. From a journal's past the events come in its
order; afterwards in the order they happen.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Coroutine
from typing import Any, cast

from tea.errors import ErrorRecord, TeaError, error_from
from tea.kernel.branch import Branch, Branches
from tea.kernel.entry import Entry, Event, canonical, spoken
from tea.kernel.past import Past
from tea.kernel.pending import SUSPENDING, Launch, Pending, Performs
from tea.types import JsonObject, JsonValue, as_object

_SLICE = 64
_FOR_ALL = ("cancelled", "forked")


class Scheduler:
    """The scheduler of one run.

    Args:
        write: Appends an entry to the journal.
        past: What the journal already holds.
        replay: Stop at the journal's end, and perform nothing.
        mask: Takes out of an event's text what a run must not learn.
        flush: Makes what was appended survive the death of the process.
        again: Keys of calls of the past to be performed again in their turn.
    """

    def __init__(
        self,
        write: Callable[[Entry], None],
        past: Past,
        replay: bool,
        mask: Callable[[str], str],
        flush: Callable[[], None],
        again: Collection[str] = (),
    ) -> None:
        self._write, self._flush = write, flush
        self._mask = mask
        self._past = past
        self._replay, self._again = replay, again
        self._over: asyncio.Future[None] | None = None
        self._root: Branch | None = None
        self._armed = False
        self._launches: dict[str, Pending] = {}
        self._events: deque[Entry] = deque()
        self._suspending: dict[str, TeaError] = {}
        self.branches = Branches(self.arm)
        self.performs = Performs(self._settled, self._events.append, self._failed)
        self.open: dict[str, Pending] = {}
        self.receivers: dict[str, Pending] = {}
        self.mail: deque[str] = deque()
        self.cancellation: TeaError | None = None
        self.exhausted = False
        self.change: Callable[[JsonObject], None] | None = None

    async def drive(self, work: Coroutine[Any, Any, Any], grace: float) -> Branch:
        """Run the program to its end, however it ends, and return its first branch."""
        self._over = asyncio.get_running_loop().create_future()
        root = self._root = self.branches.spawn(work, path="0")
        self.arm()
        try:
            await self._over
        finally:
            problem = self.branches.problem
            self.change = None  # it is the run's, which holds its gate
            self.branches.close()
            await self.performs.close(grace)
        if problem is not None:
            raise problem
        return root

    def say(self, entry: Entry) -> None:
        """Record an entry of the program, or compare it with the recorded one."""
        if self.branches.problem is not None:
            return
        if self._past.next is None and not self._replay:
            self._record(entry)
            return
        problem, self.exhausted = self._past.compare(entry), self._past.next is None
        if problem is None:
            self._past.advance()
        else:
            self.branches.stop(problem)

    def begin(
        self,
        kind: str,
        target: str,
        data: JsonValue,
        events: tuple[Event, ...],
        launch: Launch,
        deliver: Callable[[Entry], None] | None = None,
        *,
        reads: bool = False,
    ) -> Pending:
        """Register the program's wait for one of `events`, to be brought about by `launch`."""
        branch, text = self.branches.here(), canonical(data)
        pending = Pending(branch.key(), events, launch, deliver, reads=reads)
        self.say(spoken("start", pending.key, kind, target, text))
        if self.branches.problem is None:
            self.open[pending.key] = self._launches[pending.key] = pending
        return pending

    def finish(self, pending: Pending) -> None:
        """Cancel a wait no longer needed by the program; open waits stay open when the run stops."""
        if self.branches.problem is not None:
            return
        self.open.pop(pending.key, None)
        self._launches.pop(pending.key, None)
        self._suspending.pop(pending.key, None)
        if pending.stop is not None:
            pending.stop()

    def due(self, kind: str, there: Callable[[], bool]) -> bool:
        """Return whether the program makes a call now; if not, the key of the call is used up.

        A journal that is walked again tells it by what it holds at this place: a call that was not made has no record.
        """
        branch, recorded = self.branches.here(), self._past.next
        if recorded is not None:
            due = (recorded.event, recorded.key, recorded.kind) == ("start", branch.next_key, kind)
        else:
            due = not self._replay and there()
        if not due:
            branch.key()
        return due

    async def outcome(self, pending: Pending) -> Entry:
        """Wait for the end of a pending effect, and return its event."""
        try:
            return await pending
        finally:
            self.finish(pending)

    def happen(self, event: Entry) -> None:
        """Add an external event to the queue."""
        self._events.append(event)
        self.arm()

    def arm(self) -> None:
        """Schedule a turn on the event loop itself: inside a task, `asyncio.timeout` would find and cancel the task."""
        if self._over is not None and not self._armed:
            self._armed = True
            self._over.get_loop().call_soon(self._scheduler)

    def _settled(self, outcome: Entry | None) -> None:
        if outcome is not None:
            self._events.append(outcome)
        self._scheduler()

    def _failed(self, key: str, error: BaseException) -> None:
        if not isinstance(error, SUSPENDING):
            self.branches.stop(error)
        elif key in self.open:
            self._suspending[key] = error
        self._scheduler()

    def _record(self, entry: Entry) -> None:
        try:
            self._write(entry)
        except Exception as error:  # whatever it is, without its journal the run cannot go on
            self.branches.stop(error)

    def _keep(self) -> None:
        """Flush the records of this turn; the calls they announce start only afterwards."""
        try:
            self._flush()
        except Exception as error:
            self.branches.stop(error)

    def _scheduler(self) -> None:
        self._armed = False
        over, root = self._over, self._root
        if over is None or root is None or over.done():
            return
        try:
            self._turn(over, root)
        except Exception as error:  # a defect ends the run, which would wait for ever
            self.branches.stop(error)
        self._keep()
        if self.branches.problem is not None and not over.done():
            over.set_result(None)

    def _turn(self, over: asyncio.Future[None], root: Branch) -> None:
        """Step the program and deliver events until it can only wait."""
        intrusion = self.branches.intrusion()
        if intrusion is not None:
            self.branches.stop(intrusion)
        for _ in range(_SLICE):
            self.branches.drain()
            if root.ended and self._past.next is not None:
                self.branches.stop(self._past.unmet(f"the program ends with {root.error or 'a result'!r}"[:200]))
            if root.ended or self.branches.problem is not None:
                over.set_result(None)
                return
            if not self._advance(root):
                return
        self.arm()  # a long replay lets others on the event loop have their turns

    def _advance(self, root: Branch) -> bool:
        """Deliver the next event or stop the run; return False if the run can only wait."""
        recorded = self._past.next
        if recorded is not None:
            return self._repeat(recorded, root)
        if self._replay:
            waits, self.exhausted = f"it waits for {', '.join(self.open)}"[:200], True
            self.branches.stop(self._past.diverged("", "no more, as the run was interrupted", waits))
            return True
        return self._live(root)

    def _repeat(self, recorded: Entry, root: Branch) -> bool:
        """Deliver the next event of the past; return False while its call is performed again."""
        pending = self.open.get(recorded.key)
        if recorded.event in ("start", "note"):
            self.branches.stop(self._past.unmet("the program waits without it"))
        elif recorded.event not in _FOR_ALL and (pending is None or recorded.event not in pending.events):
            self.branches.stop(self._past.unmet("the program does not wait for that"))
        elif recorded.key in self._again and recorded.event not in _FOR_ALL:
            return self._confirm(recorded, root)
        else:
            self._past.advance()
            self._deliver(recorded, root)
        return True

    def _confirm(self, recorded: Entry, root: Branch) -> bool:
        """Perform a call of the past again, and deliver its outcome if it is the recorded one."""
        pending = self._launches.pop(recorded.key, None)
        if pending is not None:
            pending.stop = pending.launch(pending)
        event = next((one for one in self._events if one.key == recorded.key), None)
        if event is None and recorded.key not in self._suspending:
            return False
        if event is None:
            self.branches.stop(self._suspending[recorded.key])
        elif (event.event, event.text) != (recorded.event, recorded.text):
            self.branches.stop(self._past.unmet(f"performed again it is {event.event} with {event.text[:120]}"))
        else:
            self._events.remove(event)
            self._past.advance()
            self._deliver(recorded, root)
        return True

    def _live(self, root: Branch) -> bool:
        self._launch()
        if self.branches.problem is not None:
            return True
        event = self._next_event()
        stranger = self.branches.stranger()
        if event is not None:
            if (text := self._mask(event.text)) is not event.text:
                event = event._replace(text=text)
            self._record(event)
            self._deliver(event, root)
        elif stranger is not None and not self.open:
            self.branches.stop(stranger)
        elif self._suspending and not self.performs:
            self.branches.stop(next(iter(self._suspending.values())))
        else:
            return False
        return True

    def _launch(self) -> None:
        if not self._launches:
            return
        if not all(one.reads for one in self._launches.values()):
            self._keep()
        if self.branches.problem is not None:
            return
        launches, self._launches = self._launches, {}
        for pending in launches.values():
            pending.stop = pending.launch(pending)

    def _next_event(self) -> Entry | None:
        while self._events:
            event = self._events.popleft()
            if event.event == "cancelled" or event.key in self.open:
                return event
        if self.mail and self.receivers:
            return Entry(event="message", key=next(iter(self.receivers)), text=self.mail.popleft())
        return None

    def _deliver(self, event: Entry, root: Branch) -> None:
        if self.branches.problem is not None:
            return
        if event.event == "cancelled":
            self.cancellation = error_from(cast(ErrorRecord, event.data))
            self.branches.cancel(root, self)
            return
        if event.event == "forked":
            if self.change is not None:
                self.change(as_object(event.data))
            return
        pending = self.open.pop(event.key)
        if pending.deliver is not None:
            pending.deliver(event)
        else:
            self.branches.resolve(pending, event)
