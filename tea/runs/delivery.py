"""Delivery: a person's messages to a running run, each delivered exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import asdict

from tea.clock import timestamp
from tea.components.port import TakeMessages
from tea.errors import BadInput, InternalError
from tea.journal.mask import Mask
from tea.journal.record import TraceRecord, as_mapping
from tea.journal.tracer import Tracer
from tea.kernel.pending import Inline
from tea.runs.deps import RunContext
from tea.runs.service import Service
from tea.source.seal import MARK
from tea.store.messages import StoredMessage
from tea.types import JsonObject, JsonValue, is_text

MESSAGES = "messages"
TEXT_LIMIT = 64 * 1024


class Delivery(Service):
    """The service `messages`: a delivery of messages to a run, each once.

    A call that finds nothing leaves no record. One that finds something is an effect: what its outcome holds was
    delivered, and what no outcome holds still waits. A fork has an inbox of its own, so the run is recorded with each.

    Args:
        run: What the run holds.
    """

    def __init__(self, run: RunContext) -> None:
        super().__init__(run)
        self._last = 0
        self._taking = False

    @property
    def last(self) -> int:
        """The number of the last message taken by the run, 0 for none."""
        return self._last

    async def answer(self, request: TakeMessages, agent: str, key: str) -> JsonValue:
        """Raise InternalError: a tool cannot take messages."""
        raise InternalError("A tool cannot take messages.", fix="take them in an agent.")

    async def serve(self, request: TakeMessages, agent: str) -> JsonValue:
        """Return the messages not yet taken by the run, in their order."""
        gate = self._run.gate
        if not gate.due(MESSAGES, self._waits):
            return []
        self._taking = True
        try:
            found = await gate.effect(MESSAGES, "take", {}, self._read, Inline.READ)
        finally:
            self._taking = False
        self._last = max([self._last, *(one["number"] for one in found if one["run"] == self._run.id)])
        for one in found:
            ours = self._run.deps.seal.made(one.get(MARK), sent(one["run"], one["text"]))
            self._run.readings.told(one["text"], typed=ours, here=one["run"] == self._run.id)
        return [one["text"] for one in found]

    def _waits(self) -> bool:
        trace = self._run.recorder.trace
        return trace is not None and not self._taking and trace.messages.waits(self._last)

    async def _read(self, key: str) -> JsonValue:
        return await asyncio.to_thread(self._read_all)

    def _read_all(self) -> JsonValue:
        trace = self._run.recorder.trace
        if trace is None:
            return []
        found = trace.messages.read(self._last)
        trace.messages.sync()  # a number that the journal holds stays taken, also after a loss of power
        return [{"run": self._run.id, **asdict(one)} for one in found]


def sent(run: str, text: str) -> JsonObject:
    """Return the content of the mark of a message."""
    return {"told": run, "text": text}


def tell(tracer: Tracer, mask: Mask, seal: Callable[[JsonValue], str], run: str, text: str) -> int:
    """Add a message to a run not yet ended, and return its number; it blocks.

    Args:
        tracer: Knows the runs.
        mask: Takes the operator's secrets out of the text.
        seal: Makes the mark of this account.
        run: Id of the run.
        text: At most `TEXT_LIMIT` bytes in UTF-8.

    Raises:
        BadInput: The text is empty, too long or not text, or the run is unknown or ended; nothing is written. Or the
            run ended meanwhile, before it took the message.
        StorageError: The message cannot be written.
    """
    _check(text)
    if tracer.ended(run):
        raise BadInput(f"The run {run} has ended.", fix=f"look at it with `tea trace {run}`, or start another.")
    words = mask.plain(text)
    number = tracer.store.messages(run).add(timestamp(), words, seal(sent(run, words)))
    if tracer.ended(run) and number > last_taken(run, tracer.records(run)):
        problem = f"The run {run} ended before it took the message."
        raise BadInput(problem, fix=f"look at it with `tea trace {run}`, or start another.")
    return number


def untaken(tracer: Tracer, run: str, records: Iterable[TraceRecord]) -> list[StoredMessage]:
    """Return the messages not taken by a run; it blocks.

    Args:
        tracer: Knows the messages.
        run: Id of the run.
        records: All of its records.
    """
    return tracer.store.messages(run).read(last_taken(run, records))


def last_taken(run: str, records: Iterable[TraceRecord]) -> int:
    """Return the number of the last message taken by a run, 0 for none."""
    keys: set[str] = set()
    last = 0
    for one in records:
        data = as_mapping(one.data)
        if one.kind == "start" and data.get("kind") == MESSAGES:
            keys.add(one.key)
        elif one.kind == "done" and one.key in keys:
            last = max([last, *(message["number"] for message in data["data"] if message["run"] == run)])
    return last


def _check(text: str) -> None:
    """Raise BadInput if the text is not a valid message to a run."""
    if not is_text(text):
        raise BadInput("The message is not text.", fix="give text, in UTF-8 on a command line.")
    if not text.strip():
        raise BadInput("The message is empty.", fix="give the words that the run shall be told.")
    if (size := len(text.encode())) > TEXT_LIMIT:
        problem = f"The message has {size:,} bytes, and {TEXT_LIMIT:,} are allowed."
        raise BadInput(problem, fix="write a file, and tell the run its name.")
