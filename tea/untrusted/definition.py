"""Definitions of untrusted components: the content of their manifests, carried out in workers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from tea.components.component import Environment
from tea.components.context import Context
from tea.components.definition import Definition
from tea.components.manifest import Manifest
from tea.components.operation import Operation, Signature
from tea.errors import CallFailed, InternalError
from tea.source.trust import untrusted
from tea.types import JsonObject, JsonValue
from tea.untrusted import SANDBOXED
from tea.untrusted.programs import Program
from tea.untrusted.schemas import check_arguments, check_outcome, check_result
from tea.untrusted.worker import Worker
from tea.untrusted.workers import Workers

NOTE = "sandbox"


def sandboxed(config: Manifest, workers: Workers) -> Definition:
    """Return the definition of an untrusted version: nothing of its source is looked at here.

    Args:
        config: The version; what it says of itself is its sender's word.
        workers: Where it works.

    Raises:
        Quarantined: It is of a kind for which a person has to trust it.
    """
    if config.kind not in SANDBOXED:
        raise untrusted(config.ref)
    scopes = any(one.traits.scope for one in config.operations.values())
    creates = {"environment": partial(SandboxedEnvironment, config, workers), "agent": object}
    make = _Action if config.kind == "environment" else _Scope if scopes else _ToolCall
    return Definition(
        kind=config.kind,
        name=config.name,
        description=config.description,
        operations={
            name: Operation(
                signature=_carried(config.kind, one), executor=make(config=config, name=name, workers=workers)
            )
            for name, one in config.operations.items()
        },
        metadata=config.metadata,
        evolvable=config.evolvable,
        rules=config.rules,
        recovery=config.recovery,
        sharing=config.sharing,
        create=creates.get(config.kind),
    )


def _carried(kind: str, signature: Signature) -> Signature:
    """Return the signature of an operation as it is carried out here.

    An action with a scope is one effect with a recorded outcome: its instance lives in a worker, whose state a replay
    could not bring about by executing some of its actions again.
    """
    scope = signature.traits.scope and kind != "environment"
    return replace(signature, traits=replace(signature.traits, scope=scope))


@dataclass(frozen=True, slots=True, kw_only=True)
class _ToolCall:
    """An executor of a tool's calls in a warm worker.

    Args:
        config: The tool.
        name: Its operation.
        workers: Where it works.
    """

    config: Manifest
    name: str
    workers: Workers

    async def __call__(self, receiver: object, arguments: JsonObject, context: Context | None) -> JsonValue:
        """Check the arguments, let a worker do the work, and check its result."""
        given = _given(context)
        check_arguments(self.config.operations[self.name], arguments, str(self.config.ref))
        async with self.workers.use(self.config, given) as worker:
            await worker.load()
            return await _called(worker, self.config, self.name, arguments, given)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Action:
    """An executor of an environment's actions in the worker with its instance.

    Args:
        config: The environment.
        name: The action.
        workers: Where it works.
    """

    config: Manifest
    name: str
    workers: Workers

    async def __call__(self, receiver: object, arguments: JsonObject, context: Context | None) -> JsonValue:
        """Check the arguments, let the worker do the work, and check its result."""
        given = _given(context)
        check_arguments(self.config.operations[self.name], arguments, str(self.config.ref))
        worker = await cast(SandboxedEnvironment, receiver).ready(given)
        return await _called(worker, self.config, self.name, arguments, given)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """An executor of a program: an agent, or a tool with a scope.

    Args:
        config: The component.
        name: Its operation.
        workers: Where it works.
    """

    config: Manifest
    name: str
    workers: Workers

    async def __call__(self, receiver: object, arguments: JsonObject, context: Context | None) -> JsonValue:
        """Check the arguments, lead the program to its end, and check its result."""
        given, ref = _given(context), str(self.config.ref)
        check_arguments(self.config.operations[self.name], arguments, ref)
        begin: JsonObject = {"operation": self.name, "arguments": dict(arguments)}
        found = await Program(self.config, begin, given, self.workers).run()
        check_result(self.config.operations[self.name], found, ref)
        if self.config.kind == "agent":
            check_outcome(found, ref)
        return found


class SandboxedEnvironment(Environment):
    """An environment with its instance in a worker, for as long as its session.

    A worker that died is replaced by the next call; the state is that of the last snapshot, or begins anew.

    Args:
        config: What it is.
        workers: Where it works.
    """

    name = "sandboxed"

    def __init__(self, config: Manifest, workers: Workers) -> None:
        self._config, self._workers = config, workers
        self._worker: Worker | None = None
        self._snapshots: list[Any] = []

    async def ready(self, ctx: Context) -> Worker:
        """Return the worker, with an instance after its setup."""
        if self._worker is None:
            self._worker = await self._workers.environment(self._config, ctx)
        if not self._worker.loaded:
            await self._worker.load()
            await self._worker.ask({"do": "setup"}, ctx)
            for state in self._snapshots:
                await self._worker.ask({"do": "restore", "state": state})
            if self._config.recovery == "snapshot" and not self._snapshots:
                await self.snapshot()
        return self._worker

    async def setup(self, ctx: Context) -> None:
        """Open the worker, and set the instance up in it."""
        try:
            await self.ready(ctx)
        except BaseException:
            await self.teardown()
            raise

    async def teardown(self) -> None:
        """Tear down the instance, and end the worker."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        try:
            if worker.loaded:
                await worker.ask({"do": "teardown"})
        finally:
            await self._workers.leave(worker)

    async def snapshot(self) -> Any:
        """Return the instance's snapshot, the last one if its worker died since."""
        if self._worker is not None and self._worker.loaded:
            self._snapshots = [await self._worker.ask({"do": "snapshot"})]
        if not self._snapshots:
            raise CallFailed(f"The state of {self._config.ref} is lost.", fix="call again: it begins anew.")
        return self._snapshots[0]

    async def restore(self, state: Any) -> None:
        """Restore a snapshot in the instance."""
        if self._worker is not None:
            await self._worker.ask({"do": "restore", "state": state})
        self._snapshots = [state]


async def _called(worker: Worker, config: Manifest, name: str, arguments: JsonObject, context: Context) -> JsonValue:
    """Return the result of an operation in a worker, checked; its level is in the journal with the call."""
    context.note(NOTE, worker.claims)
    found = await worker.ask({"do": "call", "operation": name, "arguments": dict(arguments)}, context)
    check_result(config.operations[name], found, str(config.ref))
    return found


def _given(context: Context | None) -> Context:
    if context is None:
        raise InternalError("An untrusted component is called without a context.", fix="call it through its protocol.")
    return context
