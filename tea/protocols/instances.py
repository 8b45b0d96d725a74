"""Instances: the live environments of a platform, one for each session and version."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

from tea.component import Definition, Environment
from tea.context import Context
from tea.errors import BadComponent
from tea.manifest import Manifest

_TEARDOWN_SECONDS = 10.0
Key = tuple[str, str]


@dataclass(slots=True)
class _Instance:
    environment: Environment
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    ready: bool = False


class Instances:
    """Sets environments up on first use, lets one action at a time act, and tears them down."""

    def __init__(self) -> None:
        self._live: dict[Key, _Instance] = {}

    @asynccontextmanager
    async def use(
        self, config: Manifest, definition: Definition, operation: str, context: Context
    ) -> AsyncGenerator[Environment]:
        """Give the session's instance; actions wait for each other unless declared concurrent."""
        instance = self._instance(config, definition, context.session)
        traits = config.operation(operation).traits
        if traits.concurrent and instance.ready:
            yield instance.environment
            return
        async with instance.lock:
            if not instance.ready:
                await instance.environment.setup(context)
                instance.ready = True
            yield instance.environment

    async def close(self, session: str | None = None) -> None:
        """Tear down the environments of a session, or all; bounded, and shielded from cancellation."""
        keys = [key for key in self._live if session in (None, key[0])]
        leaving = [self._live.pop(key) for key in keys]
        for instance in leaving:
            if instance.ready:
                await _bounded_teardown(instance.environment)

    def _instance(self, config: Manifest, definition: Definition, session: str) -> _Instance:
        key = (session, config.digest)
        if key not in self._live:
            if definition.create is None:
                raise BadComponent(f"{config.ref} cannot be instantiated.", fix="derive from Environment.")
            self._live[key] = _Instance(cast(Environment, definition.create()))
        return self._live[key]


async def _bounded_teardown(environment: Environment) -> None:
    async def teardown() -> None:
        async with asyncio.timeout(_TEARDOWN_SECONDS):
            await environment.teardown()

    try:
        await asyncio.shield(teardown())
    except TimeoutError:
        return
