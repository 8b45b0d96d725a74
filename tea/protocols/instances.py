"""Instances: the live environments of a platform, one for each session and version, or for each branch of a run."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from tea.components.component import Environment
from tea.components.context import Context
from tea.components.definition import Definition
from tea.components.manifest import Manifest
from tea.errors import BadComponent, CallFailed, StorageError, TeaError, words_of
from tea.protocols.session_state import Revision, SavedState, SessionState, SessionStates
from tea.types import JsonObject
from tea.untrusted.workers import Workers
from tea.waiting import completed

SNAPSHOT, JOINED = "snapshot", "joined"
_TEARDOWN_SECONDS = 10.0
_log = logging.getLogger(__name__)
_acting: ContextVar[tuple[asyncio.Lock, ...]] = ContextVar("acting", default=())


class Place(NamedTuple):
    """The location of an environment's instance.

    Args:
        session: The session.
        digest: Digest of its version.
        run: The run to which a private one belongs; else empty.
        branch: The branch of that run; else empty.
    """

    session: str
    digest: str
    run: str = ""
    branch: str = ""

    @classmethod
    def of(cls, config: Manifest, context: Context) -> Place:
        """Return the place of a call; a call from outside any agent uses the session's own instance."""
        return cls(context.session, config.digest, context.run if context.branch else "", context.branch)


@dataclass(slots=True)
class _Instance:
    """A place for an environment, empty until a successful setup.

    Args:
        lock: Held by the action at work.
        environment: The live environment.
        run: Its last user.
        revision: That of the session's kept state which it has; None without one.
        recovery: How its state comes back, as its version declares.
    """

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    environment: Environment | None = None
    run: str = ""
    revision: Revision | None = None
    recovery: str = ""


class Instances:
    """The live environments: set up on first use, used by one action at a time, and torn down.

    Args:
        workers: The workers of untrusted tools, which end with their session, too.
        states: What other processes left of environments in a session.
    """

    def __init__(self, workers: Workers, states: SessionStates) -> None:
        self._workers, self._states = workers, states
        self._live: dict[Place, _Instance] = {}
        self._private: dict[tuple[str, str], list[Place]] = {}
        self._ending: dict[asyncio.Task[None], Place] = {}
        self._waits: list[tuple[asyncio.Lock, asyncio.Lock]] = []

    @asynccontextmanager
    async def use(
        self, config: Manifest, definition: Definition, operation: str, context: Context
    ) -> AsyncGenerator[Environment]:
        """Yield the instance of the session, or of the branch; actions wait for each other unless declared concurrent.

        A run that finds what another run of its session left, here or in another process, has that noted, with the
        state where it can be told.

        Raises:
            CallFailed: It cannot be instantiated or set up; the next call tries anew. Or the action before, which this
                one would wait for, is what this one is a part of, or waits for that. Or its version does not accept
                the state that another left in the session; the next call begins anew.
            Conflict: Another process acts in it.
        """
        instance = self._instance(Place.of(config, context))
        kept = definition.recovery == "snapshot"
        if config.operation(operation).traits.concurrent and instance.environment is not None and not kept:
            _join(instance, config, context, {})
            yield instance.environment
            return
        acts = kept and config.operation(operation).traits.effects != "reads"
        saved = self._states.of(config, context) if kept else None
        async with self._alone(instance.lock, config), _turn(saved if acts else None):
            if saved is not None and (found := await saved.read(instance.revision)) is not None:
                await _take_over(instance, config, definition, context, saved, found)
            if instance.environment is None:
                instance.environment = await _set_up(definition, context)
                instance.run, instance.recovery = context.run, definition.recovery
            elif instance.run != context.run:
                _join(instance, config, context, await _snapshot(config, instance.environment) if kept else {})
            try:
                yield instance.environment
            finally:
                if acts:
                    await _leave(instance, config, context, instance.environment, saved)

    @asynccontextmanager
    async def _alone(self, lock: asyncio.Lock, config: Manifest) -> AsyncGenerator[None]:
        """Hold an instance's lock; raise CallFailed if its holder waits for a lock held here."""
        held = _acting.get()
        if lock.locked() and lock in held:
            problem = f"An action of {config.ref} cannot act in it again before it has ended."
            raise CallFailed(problem, fix="let its caller act twice, or declare the inner action concurrent.")
        if lock.locked() and self._in_circle(lock, held):
            problem = f"An action of {config.ref} waits for an environment whose action would wait for it."
            raise CallFailed(problem, fix="try again, or let their caller act in one after the other.")
        waits = [(one, lock) for one in held]
        self._waits += waits
        try:
            await lock.acquire()
        finally:
            for one in waits:
                self._waits.remove(one)
        token = _acting.set((*held, lock))
        try:
            yield
        finally:
            _acting.reset(token)
            lock.release()

    def _in_circle(self, lock: asyncio.Lock, locks: Sequence[asyncio.Lock]) -> bool:
        """Return whether the holder of a lock waits, directly or through others, for a lock held here."""
        seen: set[asyncio.Lock] = set()
        ahead = [lock] if locks else []
        while ahead:
            one = ahead.pop()
            if one in locks:
                return True
            ahead += [wanted for holding, wanted in self._waits if holding is one and wanted not in seen]
            seen.add(one)
        return False

    async def restore(self, config: Manifest, definition: Definition, context: Context, found: JsonObject) -> None:
        """Set up an instance with the state from a snapshot.

        Args:
            config: Its version.
            definition: What its source defines.
            context: What it may reach.
            found: A note of the kind `SNAPSHOT` or `JOINED`, with a state.

        Raises:
            CallFailed: It cannot be set up, or does not take the state.
        """
        environment = await _restored(config, await _set_up(definition, context), found["state"])
        instance = self._instance(Place.of(config, context))
        instance.environment, instance.run = environment, context.run
        revision = found.get("revision")
        instance.revision = None if revision is None else Revision(*revision)

    def alive(self, session: str) -> frozenset[Place]:
        """Return the places of a session's live environments."""
        live = self._live.items()
        return frozenset(place for place, one in live if place.session == session and one.environment is not None)

    def end_branch(self, run: str, branch: str) -> None:
        """Start the teardown of the private environments of an ended branch; `close` waits for it."""
        for place in self._private.pop((run, branch), ()):
            # the branch has ended, so none of its run waits for the teardown; that is left to `close`
            ending = asyncio.get_running_loop().create_task(_end(self._live.pop(place)))
            self._ending[ending] = place
            ending.add_done_callback(self._ending.pop)

    async def close(self, session: str | None = None, run: str | None = None, *, waits: bool = False) -> None:
        """Tear down the environments of a session, or all; bounded, and shielded from cancellation.

        Args:
            session: The session; all by default.
            run: The run whose private environments alone are meant.
            waits: Whether the run may go on here: environments that cannot be brought back are kept for it.
        """

        def meant(place: Place) -> bool:
            return session in (None, place.session) and run in (None, place.run)

        leaving: list[_Instance] = []
        for place in [one for one in self._live if meant(one)]:
            if not (waits and self._live[place].recovery == "lost"):
                leaving.append(self._live.pop(place))
        for key, places in list(self._private.items()):
            self._private[key] = [place for place in places if place in self._live]
            if not self._private[key]:
                del self._private[key]
        ready = [_tear_down(instance.environment) for instance in leaving if instance.environment is not None]
        ready += [one for one, place in self._ending.items() if meant(place)]
        try:
            if ready:
                await completed(asyncio.gather(*ready))
        finally:
            await self._workers.close(session, run)

    def _instance(self, place: Place) -> _Instance:
        """Return the instance at a place, initially empty."""
        found = self._live.get(place)
        if found is None:
            found = self._live[place] = _Instance()
            if place.branch:
                self._private.setdefault((place.run, place.branch), []).append(place)
        return found


def instance_of(definition: Definition) -> object:
    """Return a fresh instance.

    Raises:
        BadComponent: There is nothing to instantiate.
        CallFailed: Its source raises.
    """
    if definition.create is None:
        problem = f"{definition.kind}:{definition.name} cannot be instantiated."
        raise BadComponent(problem, fix="derive from Environment or Agent.")
    try:
        return definition.create()
    except TeaError:
        raise
    except Exception as error:
        raise _failed(f"Instantiating {definition.kind}:{definition.name}", error) from error


async def _set_up(definition: Definition, context: Context) -> Environment:
    environment = cast(Environment, instance_of(definition))
    try:
        await environment.setup(context)
    except (TeaError, TimeoutError):
        raise
    except Exception as error:
        raise _failed(f"The setup of environment:{definition.name}", error) from error
    return environment


async def _restored(config: Manifest, environment: Environment, state: Any) -> Environment:
    """Return a new environment with a state; one refusing the state is torn down."""
    try:
        await environment.restore(state)
    except BaseException as error:
        await completed(_tear_down(environment))
        if isinstance(error, TeaError) or not isinstance(error, Exception):
            raise
        raise _failed(f"The restoring of {config.ref}", error) from error
    return environment


def _turn(saved: SessionState | None) -> AbstractAsyncContextManager[None]:
    return nullcontext() if saved is None else saved.turn()


async def _take_over(
    instance: _Instance,
    config: Manifest,
    definition: Definition,
    context: Context,
    saved: SessionState,
    found: SavedState,
) -> None:
    """Replace an instance by one with the state left in the session by another process, run or version.

    Raises:
        CallFailed: It does not accept the state of another version, said once; or not that of its own.
    """
    old, instance.environment, instance.revision = instance.environment, None, None
    if old is not None:
        await completed(_tear_down(old))
    if saved.refused():
        instance.revision = found.revision
        return
    environment = await _set_up(definition, context)
    try:
        instance.environment = await _restored(config, environment, found.state)
    except TeaError as error:
        if found.digest == config.digest or isinstance(error, StorageError):
            raise
        await saved.refuse()
        instance.revision = found.revision
        problem = f"The state of {config.ref} in the session is lost: another version left it. {error.problem}"
        raise CallFailed(problem, fix="call again, and it begins anew; or call the other version.") from error
    instance.revision, instance.run = found.revision, ""
    _join(instance, config, context, {"state": found.state})


async def _leave(
    instance: _Instance, config: Manifest, context: Context, environment: Environment, saved: SessionState | None
) -> None:
    """Record the state after an action, and keep it for the session."""
    snapshot = await _snapshot(config, environment)
    if saved is None:
        context.note(SNAPSHOT, snapshot)
        return
    revision = saved.next()
    context.note(SNAPSHOT, {**snapshot, "revision": [*revision]})
    await saved.keep(snapshot["state"])
    instance.revision = revision


async def _snapshot(config: Manifest, environment: Environment) -> dict[str, Any]:
    try:
        state = json.loads(json.dumps(await environment.snapshot(), allow_nan=False))
    except Exception as error:
        raise _failed(f"The snapshot of {config.ref}", error) from error
    return {"digest": config.digest, "state": state}


def _join(instance: _Instance, config: Manifest, context: Context, state: dict[str, Any]) -> None:
    if instance.run != context.run:
        instance.run = context.run
        held = {} if instance.revision is None else {"revision": [*instance.revision]}
        context.note(JOINED, {"ref": str(config.ref), "digest": config.digest, **state, **held})


def _failed(what: str, error: Exception) -> CallFailed:
    return CallFailed(f"{what} raised {words_of(error)}.", fix="mend its source.")


async def _end(instance: _Instance) -> None:
    """Tear an instance down after the cleanup of a cancelled action in it, if there is one."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_TEARDOWN_SECONDS):
            await instance.lock.acquire()
    if instance.environment is not None:
        await _tear_down(instance.environment)


async def _tear_down(environment: Environment) -> None:
    """Tear one down; an error is logged, as no caller remains."""
    try:
        async with asyncio.timeout(_TEARDOWN_SECONDS):
            await environment.teardown()
    except Exception as error:
        _log.warning("The teardown of %s raised %r.", type(environment).__name__, error)
