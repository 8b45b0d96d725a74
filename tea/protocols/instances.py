"""Instances: the live environments of a platform, one for each session and version."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, cast

from tea.component import Environment
from tea.context import Context
from tea.definition import Definition
from tea.errors import BadComponent, CallFailed, TeaError, words_of
from tea.manifest import Manifest
from tea.protocols.completion import completed

SNAPSHOT, JOINED = "snapshot", "joined"
_TEARDOWN_SECONDS = 10.0
_log = logging.getLogger(__name__)
Key = tuple[str, str]
_acting: ContextVar[tuple[asyncio.Lock, ...]] = ContextVar("acting", default=())


@dataclass(slots=True)
class _Instance:
    """One place for an environment, empty until its setup has succeeded; `run` is the last that used it."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    environment: Environment | None = None
    run: str = ""


class Instances:
    """Sets environments up on first use, lets one action at a time act, and tears them down."""

    def __init__(self) -> None:
        self._live: dict[Key, _Instance] = {}
        self._waits: list[tuple[asyncio.Lock, asyncio.Lock]] = []

    @asynccontextmanager
    async def use(
        self, config: Manifest, definition: Definition, operation: str, context: Context
    ) -> AsyncGenerator[Environment]:
        """Give the session's instance; actions wait for each other unless declared concurrent.

        A run that finds what another run of its session left has that noted, with the state where it can be told.

        Raises:
            CallFailed: It cannot be instantiated or set up; the next call tries anew. Or the action before, which this
                one would wait for, is what this one is a part of, or waits for that.
        """
        instance = self._live.setdefault((context.session, config.digest), _Instance())
        kept = definition.recovery == "snapshot"
        if config.operation(operation).traits.concurrent and instance.environment is not None and not kept:
            _join(instance, config, context, {})
            yield instance.environment
            return
        async with self._alone(instance.lock, config):
            if instance.environment is None:
                instance.environment = await _set_up(definition, context)
                instance.run = context.run
            elif instance.run != context.run:
                _join(instance, config, context, await _snapshot(config, instance.environment) if kept else {})
            try:
                yield instance.environment
            finally:
                if kept and config.operation(operation).traits.effects != "reads":
                    context.note(SNAPSHOT, await _snapshot(config, instance.environment))

    @asynccontextmanager
    async def _alone(self, lock: asyncio.Lock, config: Manifest) -> AsyncGenerator[None]:
        """Hold an instance's lock; who holds others is told where its holder waits for one of them."""
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

    def _in_circle(self, lock: asyncio.Lock, held: Sequence[asyncio.Lock]) -> bool:
        """Tell whether who holds a lock waits, perhaps by way of others, for one that is held here."""
        seen: set[asyncio.Lock] = set()
        ahead = [lock] if held else []
        while ahead:
            one = ahead.pop()
            if one in held:
                return True
            ahead += [wanted for holding, wanted in self._waits if holding is one and wanted not in seen]
            seen.add(one)
        return False

    async def restore(self, config: Manifest, definition: Definition, context: Context, state: Any) -> None:
        """Set up the session's instance with a state that a snapshot recorded.

        Raises:
            CallFailed: It cannot be set up, or does not take the state.
        """
        environment = await _set_up(definition, context)
        try:
            await environment.restore(state)
        except TeaError:
            raise
        except Exception as error:
            raise _failed(f"The restoring of {config.ref}", error) from error
        self._live[context.session, config.digest] = _Instance(environment=environment, run=context.run)

    def alive(self, session: str, digest: str) -> bool:
        """Tell whether a session's instance of a version is set up."""
        instance = self._live.get((session, digest))
        return instance is not None and instance.environment is not None

    async def close(self, session: str | None = None) -> None:
        """Tear down the environments of a session, or all; bounded, and shielded from cancellation."""
        leaving = [self._live.pop(key) for key in list(self._live) if session in (None, key[0])]
        ready = [_tear_down(instance.environment) for instance in leaving if instance.environment is not None]
        if ready:
            await completed(asyncio.gather(*ready))


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


async def _snapshot(config: Manifest, environment: Environment) -> dict[str, Any]:
    try:
        state = json.loads(json.dumps(await environment.snapshot(), allow_nan=False))
    except Exception as error:
        raise _failed(f"The snapshot of {config.ref}", error) from error
    return {"digest": config.digest, "state": state}


def _join(instance: _Instance, config: Manifest, context: Context, state: dict[str, Any]) -> None:
    if instance.run != context.run:
        instance.run = context.run
        context.note(JOINED, {"ref": str(config.ref), "digest": config.digest, **state})


def _failed(what: str, error: Exception) -> CallFailed:
    return CallFailed(f"{what} raised {words_of(error)}.", fix="mend its source.")


async def _tear_down(environment: Environment) -> None:
    """Tear one down; nobody is left to answer an error, so it is logged."""
    try:
        async with asyncio.timeout(_TEARDOWN_SECONDS):
            await environment.teardown()
    except Exception as error:
        _log.warning("The teardown of %s raised %r.", type(environment).__name__, error)
