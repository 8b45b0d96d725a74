"""Programs: untrusted agents, and tools with a scope, led from here while their source runs in a worker.

What the program says after an event is one effect of the run, so the journal holds it; what it starts is carried out
here, in branches of the run, and held to the policy. See design/018.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, cast

from tea.components.context import Context
from tea.components.manifest import Manifest
from tea.components.port import (
    AskPerson,
    Flow,
    Invocation,
    PortMessage,
    Question,
    ServiceRequest,
)
from tea.errors import (
    ApprovalNeeded,
    BadArguments,
    CallFailed,
    Diverged,
    ErrorRecord,
    InternalError,
    NotLocked,
    StorageError,
    TeaError,
    ToolError,
    error_from,
)
from tea.kernel.branch import Inbox
from tea.kernel.defects import as_defects
from tea.kernel.entry import JsonText, encode
from tea.kernel.gate import Gate
from tea.kernel.group import Group, Handle
from tea.types import JsonObject, JsonValue, Result, as_object
from tea.untrusted import PROGRAM
from tea.untrusted.bridge import MOST_HEARD, error_in
from tea.untrusted.parts import Unpacked
from tea.untrusted.rights import FOR_PROGRAMS, refused, served_to_agent
from tea.untrusted.worker import Worker, facts_of
from tea.untrusted.workers import Workers

_MOST_OPEN, _MOST_STARTED, _MOST_SAID = 1_000, 50_000, 16_000_000
_MOST_AFTER_END = 200  # turns that a program gets to clean up after it was cancelled
_FATAL = (ApprovalNeeded, Diverged, NotLocked, StorageError)  # end the run, whoever asked
_KEY = re.compile(r"0(?:/(?:0|[1-9][0-9]{0,5})){0,16}\.(?:0|[1-9][0-9]{0,5})")
_PATH = re.compile(r"0(?:/(?:0|[1-9][0-9]{0,5})){1,16}")


@dataclass(slots=True, kw_only=True)
class Followed:
    """The course of one program: each event given to it, and its words then.

    Args:
        config: The component.
        session: Id of the run's session.
        workers: Where it works.
        turns: Events and answers, in order.
    """

    config: Manifest
    session: str
    workers: Workers
    turns: list[tuple[JsonObject, JsonObject]] = field(default_factory=list[tuple[JsonObject, JsonObject]])

    async def fed(self, worker: Worker) -> None:
        """Replay all of these events in a worker.

        Raises:
            Diverged: The program says something else than it said then.
            CallFailed: It was stopped by a limit, or died.
        """
        await worker.load(anew=True)
        for number, (event, told) in enumerate(self.turns):
            if await worker.ask(event) != told:
                problem = f"{self.config.ref} does something else than recorded, after event {number} of its program."
                raise Diverged(problem, fix="let it depend on nothing but its task and what it is answered.")


class ProgramFlow(Flow, Protocol):
    """The flow of an agent of a run, as its program is led by it."""

    @property
    def gate(self) -> Gate:
        """The run's boundary."""
        ...

    @property
    def followed(self) -> list[Followed]:
        """The programs led so far."""
        ...


class Program:
    """One program at work.

    Args:
        config: The component.
        begin: What its worker is told first.
        context: The context of its scope.
        workers: Where it works.
    """

    def __init__(self, config: Manifest, begin: JsonObject, context: Context, workers: Workers) -> None:
        flow = cast(ProgramFlow, context.flow)
        self._config, self._context, self._workers = config, context, workers
        self._gate: Gate = flow.gate
        self._begin: JsonObject = {**begin, "do": "begin", "context": facts_of(context, str(config.ref))}
        self._course = Followed(config=config, session=context.session, workers=workers)
        flow.followed.append(self._course)
        self._below = self._gate.take_key()
        self._inbox: Inbox[JsonObject | TeaError | _ProgramWords] = self._gate.inbox()
        self._worker: Worker | None = None
        self._parts = Unpacked()
        self._open: dict[str, Handle[None]] = {}
        self._taken: set[str] = set()
        self._given: list[ErrorRecord] = []
        self._size = 0
        self._left_off = False
        self._called_off, self._left = False, _MOST_AFTER_END

    async def run(self) -> JsonValue:
        """Run the program until its end, and return its result as JSON, not yet checked.

        Raises:
            CallFailed: It broke the protocol, died, or was stopped by a limit.
            TeaError: It raises that.
        """
        clean = False
        try:
            async with self._gate.group() as group:
                end = await self._led(group)
                group.cancel()
            clean = not isinstance(end, TeaError) and self._left >= 0
        finally:
            self._left_off = True
            self._release(clean=clean)
        if isinstance(end, TeaError):
            raise end
        return self._result(end)

    def _result(self, end: JsonObject) -> JsonValue:
        match end:
            case {"value": value}:
                return value
            case {"cancelled": True} if self._called_off:
                raise asyncio.CancelledError
            case {"cancelled": True}:
                raise CallFailed(f"{self._config.ref} cancelled itself.", fix="mend its source.")
            case _:
                record = end.get("error")
                known = next((one for one in self._given if one == record), None)
                raise error_in(record, str(self._config.ref)) if known is None else error_from(known)

    async def _led(self, group: Group) -> JsonObject | TeaError:
        """Send the program one event after the other, and perform its requests; return its end."""
        events = deque[JsonObject]([self._begin])
        busy = False
        while True:
            if events and not busy:
                busy = True
                self._left -= self._called_off
                group.spawn(self._turn(events.popleft()))
            try:
                item = await self._inbox.get()
            except asyncio.CancelledError:
                if self._gate.stopped:
                    raise
                self._called_off = True
                reason = CallFailed("It was called off.", fix="clean up, and end.")
                events.append(_event("cancelled", "", reason.record()))
                continue
            if isinstance(item, TeaError):
                return item
            if not isinstance(item, _ProgramWords):
                events.append(item)
                continue
            busy = False
            try:
                end = self._take(item.answer, group)
            except BadArguments as error:
                return CallFailed(f"{self._config.ref} broke its protocol: {error.problem}", fix="mend its source.")
            if end is not None:
                return end
            if self._left < 0:
                return {"cancelled": True}
            if not (self._open or events or self._inbox):
                return CallFailed(f"{self._config.ref} waits for nothing.", fix="mend its source.")

    async def _turn(self, event: JsonObject) -> None:
        """Send one event to the program, as an effect of the run, and put its answer into the inbox."""
        told = {name: event[name] for name in ("event", "key") if name in event}
        try:
            found = await self._gate.effect(PROGRAM, str(self._config.ref), told, partial(self._perform, event))
        except TeaError as error:
            self._inbox.put(error)
            return
        answer = as_object(as_object(found).get("answer"))
        self._course.turns.append((_message(event), answer))
        self._inbox.put(_ProgramWords(answer))

    async def _perform(self, event: JsonObject, key: str) -> JsonValue:
        try:
            return await self._stepped(event)
        except BaseException:
            if self._left_off:  # it was called off while its worker was begun
                self._release(clean=False)
            raise

    def _release(self, *, clean: bool) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            self._workers.release(worker, self._course.session, clean=clean)

    async def _stepped(self, event: JsonObject) -> JsonValue:
        """Return the words of the program after an event, as they are recorded."""
        begun: JsonObject = {}
        if self._worker is None or not self._worker.loaded:
            begun = {"sandbox": (await self._ready()).claims}
        worker = cast(Worker, self._worker)
        answer: object = await worker.ask(_message(event))
        if not isinstance(answer, dict):
            raise CallFailed(f"{self._config.ref} broke its protocol.", fix="mend its source.")
        try:
            return JsonText(encode({"answer": cast(JsonObject, answer), **begun}))
        except BadArguments as error:
            problem = f"{self._config.ref} says what cannot be recorded. {error.problem}"
            raise CallFailed(problem, fix="say plain data, less deeply nested.") from error

    async def _ready(self) -> Worker:
        """Start a worker, and replay the program up to its last position."""
        if self._worker is None:
            self._worker = await self._workers.program(self._config, self._course.session)
        try:
            await self._course.fed(self._worker)
        except Diverged as error:
            self._gate.abandon(error)
            raise
        return self._worker

    def _take(self, answer: JsonObject, group: Group) -> JsonObject | None:
        """Begin all requests of the program, and return its end if it has ended.

        Raises:
            BadArguments: It says what is not a word of the protocol.
        """
        self._size += len(json.dumps(answer))
        said = answer.get("said")
        if not isinstance(said, list) or self._size > _MOST_SAID:
            raise BadArguments("it says too much, or nothing.", fix="say less.")
        for one in cast("list[object]", said):
            if not isinstance(one, dict):
                raise BadArguments("it says something other than a message.", fix="say messages.")
            self._begin_request(as_object(cast(object, one)), group)
        end = answer.get("end")
        if end is not None and not isinstance(end, dict):
            raise BadArguments("its end is not an end.", fix="end with a value or an error.")
        return None if end is None else as_object(cast(object, end))

    def _begin_request(self, request: JsonObject, group: Group) -> None:
        """Begin one request of the program."""
        match request:
            case {"part": value}:
                self._parts.take(value)
            case {"start": str() as key, "message": message} if isinstance(message, dict):
                self._start(group, key, self._carry(key, as_object(cast(object, message))))
            case {"start": str() as key, "wait": "sleep" | "timeout" as what, "seconds": int() | float() as seconds}:
                self._start(group, key, self._time(key, what, seconds))
            case {"start": str() as key, "wait": "receive"}:
                self._start(group, key, self._mail(key))
            case {"stop": str() as key} if key in self._taken:
                if (handle := self._open.pop(key, None)) is not None:
                    group.stop(handle)
            case {"over": str() as path} if _PATH.fullmatch(path):
                self._gate.end_branch(self._place(path))
            case {"note": str() as kind, "data": data} if isinstance(data, dict):
                self._context.note(kind[:64], as_object(cast(object, data)))
            case {"so_far": data}:
                self._context.so_far(_as_result(data))
            case _:
                raise BadArguments(f"it says {_short(request)}.", fix="say what the protocol has.")

    def _start(self, group: Group, key: str, work: Any) -> None:
        """Start work in a branch with the key of the program's wait as its path."""
        fresh = _KEY.fullmatch(key) is not None and key not in self._taken
        if not fresh or len(self._open) >= _MOST_OPEN or len(self._taken) >= _MOST_STARTED:
            work.close()
            why = (
                "more is open or was begun than anybody has to." if fresh else f"{_short(key)} is not a key of its own."
            )
            raise BadArguments(why, fix="wait for what was begun.")
        self._taken.add(key)
        self._open[key] = group.spawn(work, path=self._place(key))

    def _place(self, key: str) -> str:
        """Convert a key or path of the program to one of the run, below the scope."""
        return self._below + key[1:]

    async def _carry(self, key: str, message: JsonObject) -> None:
        """Perform a message of the program, and send it the answer."""
        try:
            with as_defects(f"A message of {self._config.ref}"):
                answer: JsonObject = {"value": await self._answered(self._parts.message(message))}
            if len(json.dumps(answer)) > MOST_HEARD:
                raise ToolError("The answer is too long for a sandbox.", fix="ask for less.")
        except _FATAL as error:
            self._inbox.put(error)
            return
        except InternalError as error:  # whatever it sent, it is its own call that ends by it
            self._inbox.put(CallFailed(error.problem, fix="send what the context sends."))
            return
        except TeaError as error:
            answer = {"error": dict(error.record())}
            self._given.append(error.record())
        self._happened("done", key, answer)

    async def _time(self, key: str, what: str, seconds: float) -> None:
        try:
            await (self._gate.sleep(seconds) if what == "sleep" else self._gate.alarm(seconds))
        except BadArguments as error:
            self._inbox.put(CallFailed(error.problem, fix=error.fix))
            return
        self._happened("fired", key)

    async def _mail(self, key: str) -> None:
        self._happened("message", key, await self._gate.receive())

    def _happened(self, event: str, key: str, data: JsonValue = None) -> None:
        self._open.pop(key, None)
        self._inbox.put(_event(event, key, data))

    async def _answered(self, message: PortMessage) -> JsonValue:
        """Return the answer of the run to a permitted message."""
        port = self._context.port
        match message:
            case Invocation():
                return (await port.call(message)).model_dump(mode="json")
            case Question():
                return (await port.model(message)).model_dump(mode="json")
            case AskPerson():
                asked = f"{self._config.ref}, which is not trusted, asks: {message.question}"
                return await port.serve(message._replace(question=asked))
            case _ if self._may_have(message):
                return await port.serve(message)
            case _:
                raise refused(message, str(self._config.ref), agent=self._config.kind == "agent")

    def _may_have(self, request: ServiceRequest) -> bool:
        """Return whether the run serves a request of this component."""
        if self._config.kind == "agent":
            return served_to_agent(request, self._context.agent)
        return request.service in FOR_PROGRAMS


@dataclass(frozen=True, slots=True)
class _ProgramWords:
    """The words of a program after an event."""

    answer: JsonObject


async def again(courses: Sequence[Followed]) -> tuple[str, ...]:
    """Execute programs again with their recorded events, and return a line for each failure to do so.

    Raises:
        Diverged: A program says something else than it said then.
    """
    remarks: list[str] = []
    for place, course in enumerate(courses):
        later = {(one.config.digest, one.session) for one in courses[place + 1 :]}
        try:
            worker = await course.workers.program(course.config, course.session)
        except (CallFailed, ToolError) as error:
            remarks.append(f"{course.config.ref}: not re-executed, its recorded events were played. {error.problem}")
            continue
        clean = False
        try:
            await course.fed(worker)
            clean = True
        except (CallFailed, ToolError) as error:
            remarks.append(f"{course.config.ref}: not re-executed to its end. {error.problem}")
        finally:
            wanted = (course.config.digest, course.session) in later
            course.workers.release(worker, course.session, clean=clean and wanted)
    return tuple(dict.fromkeys(remarks))


def _event(event: str, key: str, data: JsonValue = None) -> JsonObject:
    return {"event": event, "key": key, "data": data}


def _message(event: JsonObject) -> JsonObject:
    """Return an event as a worker is told of it."""
    return event if "do" in event else {"do": "event", "event": event}


def _as_result(data: JsonValue) -> Result:
    try:
        return Result.model_validate_json(json.dumps(data))
    except ValueError as error:
        raise BadArguments("it gives something other than a result.", fix="give a `Result`.") from error


def _short(value: object) -> str:
    return ascii(value)[:100]
