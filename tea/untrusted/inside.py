"""Inside: a component at work in the interpreter of a sandbox, reached by the host through messages."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import count
from typing import Any, cast

from tea.components.component import Environment
from tea.components.context import Context
from tea.components.definition import Definition
from tea.components.flow import AsyncioFlow
from tea.components.manifest import Lineage, Manifest
from tea.components.operation import Signature
from tea.components.port import Flow, Port
from tea.components.wire import WirePort
from tea.errors import BadArguments, CallFailed, TeaError, words_of
from tea.sandbox.inside.worker import Line
from tea.source.dynamic import DynamicManager
from tea.types import JsonObject, JsonValue, Principal, Result
from tea.untrusted.examples import trials
from tea.untrusted.stepping import Program
from tea.untrusted.watch import Watch

MOST_ANSWERED = 1_000_000  # bytes of one answer as JSON
_LOOP = "tea.loop.loop"  # stands above this room, and is there for agents alone


def answer(message: JsonObject, line: Line, kept: dict[str, Any]) -> JsonObject:
    """Return the answer to a message of the host: a value, or an error as data.

    Args:
        message: What it wants, under `do`.
        line: The way to the host meanwhile.
        kept: What stays from message to message.
    """
    if not kept:
        kept |= {"runner": asyncio.Runner(loop_factory=line.new_loop), "held": _LoadedComponent()}
    held: _LoadedComponent = kept["held"]
    try:
        value = kept["runner"].run(_process(held, message, line))
        found: JsonObject = {"value": value}
    except (TeaError, TimeoutError) as error:
        found = {"error": _record(error)}
    except (KeyboardInterrupt, asyncio.CancelledError):
        found = {"error": CallFailed("The call was cancelled.", fix="call again.").record()}
    except BaseException as error:  # whatever it raises is its answer
        found = {"error": _record(error)}
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    if len(json.dumps(found)) > MOST_ANSWERED:
        problem = f"It gave more than {MOST_ANSWERED:,} bytes."
        found = {"error": CallFailed(problem, fix="let it write into a file, and give the name.").record()}
    return found


@dataclass(slots=True, kw_only=True)
class _LoadedComponent:
    """The component of this interpreter, and its instance if it is an environment."""

    definition: Definition | None = None
    instance: Environment | None = None
    program: Program | None = None
    dynamic: DynamicManager = field(default_factory=lambda: _manager())
    watch: Watch | None = None


async def _process(state: _LoadedComponent, message: JsonObject, line: Line) -> Any:
    """Process a message."""
    do = message["do"]
    if do == "describe":
        return _described(state, message)
    if do == "load":
        state.program, state.dynamic = None, _manager()  # what a program left in its module is gone with it
        state.definition = state.dynamic.load(Manifest.from_json(message["manifest"]))
        return None
    if do == "event":
        return await _under_way(state).go_on(message["event"])
    if state.definition is None:
        raise CallFailed("Its state is lost: its interpreter ended between two calls.", fix="call again.")
    if do == "examples":
        return await trials(state.definition)
    if do == "begin":
        state.program = Program(partial(_program, state.definition, message), _record)
        return await state.program.begin()
    async with _Asking(line) as asking:
        return await _execute(state, state.definition, message, asking)


def _manager() -> DynamicManager:
    """Return a manager executing any source here: the walls are around it."""
    return DynamicManager(lambda _: True, _loop)


async def _loop(*given: Any, **options: Any) -> Result:
    """Work like an agent without a `run` of its own, loaded with the first of them."""
    return await import_module(_LOOP).work(*given, **options)


def _under_way(state: _LoadedComponent) -> Program:
    if state.program is None:
        raise CallFailed("Its progress is lost: its interpreter ended between two events.", fix="call again.")
    return state.program


async def _program(definition: Definition, message: JsonObject, program: Program) -> JsonValue:
    """Run an operation as a program's first branch."""
    receiver = definition.create() if definition.kind == "agent" and definition.create else None
    context = _context(message["context"], program.port, program.flow)
    return await definition.operations[message["operation"]].executor(receiver, message["arguments"], context)


async def _execute(state: _LoadedComponent, definition: Definition, message: JsonObject, asking: _Asking) -> Any:
    """Execute a call, or one step in the life of an environment."""
    match message["do"]:
        case "try":
            return await _outcome_of(state, definition, message, asking)
        case "call":
            executor = definition.operations[message["operation"]].executor
            context = _context(message["context"], WirePort(asking.send), _Flow(asking))
            return await executor(state.instance, message["arguments"], context)
        case "setup":
            state.instance = cast(Environment, cast(Callable[[], object], definition.create)())
            context = _context(message["context"], WirePort(asking.send), _Flow(asking))
            return await _environment_result("setup", state.instance.setup(context))
        case "teardown":
            return None if state.instance is None else await _environment_result("teardown", state.instance.teardown())
        case "restore":
            return await _environment_result("restore", _instance(state).restore(message["state"]))
        case _:
            return await _environment_result("snapshot", _instance(state).snapshot())


async def _outcome_of(
    state: _LoadedComponent, definition: Definition, message: JsonObject, asking: _Asking
) -> JsonObject:
    """Return the outcome of a call, a value or an error, with its side effects."""
    state.watch = state.watch or Watch()
    executor = definition.operations[message["operation"]].executor
    context = _context(message["context"], WirePort(asking.send), _Flow(asking))
    with state.watch.watching() as seen:
        try:
            found: JsonObject = {"value": await executor(None, message["arguments"], context)}
        except (TeaError, TimeoutError) as error:
            found = {"error": _record(error)}
    return {**found, "did": list(seen)}


async def _environment_result(name: str, work: Awaitable[Any]) -> Any:
    """Await an environment's method, and return its result as JSON; any exception counts as an error of its source."""
    try:
        return json.loads(json.dumps(await work, allow_nan=False))
    except (TeaError, TimeoutError, asyncio.CancelledError):
        raise
    except Exception as error:
        raise CallFailed(f"{name!r} raised {words_of(error)}.", fix="mend its source.") from error


def _instance(state: _LoadedComponent) -> Environment:
    if state.instance is None:
        raise CallFailed("The environment was not set up.", fix="call it through the platform.")
    return state.instance


def _described(state: _LoadedComponent, message: JsonObject) -> JsonObject:
    """Return the manifest of a source: it is checked, and executed to be described."""
    text = state.dynamic.check(message["source"], message["files"], kind=message["kind"], requires=message["requires"])
    version, created, reason = message["version"], message["created"], message["reason"]
    lineage = Lineage(**message["lineage"])
    made = state.dynamic.describe(text, version=version, lineage=lineage, created=created, reason=reason)
    state.definition = state.dynamic.load(made)
    data = made.to_json()
    return json.loads(json.dumps(data, default=_plain))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    if isinstance(value, Signature):
        return value.to_json()
    raise TypeError(f"{type(value).__name__} is not JSON")


def _context(facts: JsonObject, port: Port, flow: Flow) -> Context:
    """Return the context of a call here: its port leads to the host."""
    return Context(
        port=port,
        flow=flow,
        principal=Principal(name=facts["principal"]),
        run=facts["run"],
        session=facts["session"],
        task=facts["task"],
        agent=facts["agent"],
        workspace=os.getcwd(),
        locale=facts["locale"],
        branch=facts["branch"],
        sandbox=facts["sandbox"],
        searches=facts.get("searches", False),
        corpus=facts.get("corpus", False),
        entities=facts.get("entities", False),
        without=tuple(facts.get("without", ())),
        opens_files=facts.get("opens_files", True),
        declared=facts.get("declared", {}),
    )


class _Asking:
    """The questions of one call to the host, answered by it side by side."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}

    async def __aenter__(self) -> _Asking:
        asyncio.get_running_loop().add_reader(self._line.channel, self._take)
        return self

    async def __aexit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._line.channel)

    def tell(self, message: JsonObject) -> None:
        """Send a message without an answer."""
        self._line.say(dict(_sent(message)))

    async def send(self, message: JsonObject) -> JsonObject:
        """Send a message of a port, and return the answer to it."""
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self.tell({"number": number, "message": message})
        try:
            return await answer
        finally:
            del self._waiting[number]

    def _take(self) -> None:
        heard = self._line.heard()
        waiting = self._waiting.get(heard.get("number", 0))
        if waiting is not None and not waiting.done():
            waiting.set_result(heard["answer"])


class _Flow(AsyncioFlow):
    """The flow of a tool or action, with its notes sent to the host."""

    def __init__(self, asking: _Asking) -> None:
        self._asking = asking

    def note(self, kind: str, data: JsonObject) -> None:
        """Write a record of its own."""
        self._asking.tell({"note": {"kind": kind, "data": data}})

    def so_far(self, result: Result) -> None:
        """Ignore an intermediate result: a tool returns its value at its end, or none."""


def _sent(data: JsonObject) -> JsonObject:
    try:
        found = json.loads(json.dumps(data, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadArguments(f"The question is not JSON: {words_of(error)}.", fix="give plain data.") from error
    return found


def _record(error: BaseException) -> JsonObject:
    """Return an error as data: one of a component by its class, any other in words."""
    if isinstance(error, TeaError):
        return dict(error.record())
    if isinstance(error, TimeoutError):
        return {"code": "CallTimeout", "problem": "It did not end in time.", "fix": "ask for less at once."}
    return dict(CallFailed(f"It raised {words_of(error)}.", fix="mend its source.").record())
