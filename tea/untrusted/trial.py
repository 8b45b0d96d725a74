"""Trial: one tool called in a sandbox of its own, to see its value and its side effects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

from tea.components.manifest import Lineage, Manifest
from tea.errors import BadArguments, CallError, CallFailed, InternalError, TeaError, ToolError
from tea.source.text import SourceText
from tea.types import JsonObject, JsonValue, as_object
from tea.untrusted.bridge import error_in
from tea.untrusted.describing import description_of, manifest_of
from tea.untrusted.schemas import check_arguments, check_result
from tea.untrusted.worker import MODULE, silent, with_runtime

if TYPE_CHECKING:
    from tea.sandbox.levels import Sandboxes
    from tea.sandbox.session import Sandbox

SECONDS = 10.0  # of one call
_LOAD_SECONDS = 30.0
_REFUSALS = frozenset((ToolError.__name__, BadArguments.__name__))
_CONTEXT = {"run": "", "session": "", "task": "", "agent": "", "locale": "en", "branch": "", "sandbox": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """The outcome of a call.

    Args:
        value: What it gave.
        error: Its error as data, None where it gave a value.
        did: What it did beside giving a value, in words.
        stopped: Whether a limit of the sandbox ended it.
    """

    value: JsonValue = None
    error: JsonObject | None = None
    did: tuple[str, ...] = ()
    stopped: bool = False

    @property
    def ok(self) -> bool:
        """Whether it gave a value."""
        return self.error is None

    @property
    def refused(self) -> bool:
        """Whether it or its schema refused the arguments in words; any other error is a crash."""
        return self.error is not None and self.error.get("code") in _REFUSALS


class Trial:
    """One tool in one sandbox.

    Args:
        sandbox: Where it runs.
        text: Its checked source.
    """

    def __init__(self, sandbox: Sandbox, text: SourceText) -> None:
        self._sandbox, self._text, self._ref = sandbox, text, f"{text.kind}:{text.name}"
        self._manifest: Manifest | None = None
        self._message: JsonObject = {}

    async def describe(self, *, version: str, lineage: Lineage) -> Manifest:
        """Execute the source, and return its own description.

        Raises:
            TeaError: It cannot be loaded or described.
        """
        self._message = {**description_of(self._text, version=version, lineage=lineage), "do": "describe"}
        data = await self._asked(self._message, _LOAD_SECONDS)
        self._manifest = manifest_of(data, self._text)
        return self._manifest

    async def examples(self) -> list[JsonObject]:
        """Return the outcomes of the examples in its docstring.

        Raises:
            TeaError: They cannot be executed, or do not end.
        """
        found: object = await self._asked({"do": "examples"}, SECONDS)
        listed = cast("list[object]", found) if isinstance(found, list) else []
        return [as_object(cast(object, one)) for one in listed if isinstance(one, dict)]

    async def call(self, arguments: JsonObject, *, seconds: float = SECONDS) -> Tried:
        """Return the outcome of a call, on the way of each call of an untrusted tool.

        Args:
            arguments: By name.
            seconds: Its time by the clock.
        """
        if self._manifest is None:
            raise InternalError("A trial calls what it has not described.", fix="describe it first.")
        signature = self._manifest.operation("call")
        message = {"do": "try", "operation": "call", "arguments": arguments, "context": {**_CONTEXT, "principal": ""}}
        did: tuple[str, ...] = ()
        try:
            check_arguments(signature, arguments, self._ref)
            try:
                answer = await self._sandbox.converse(MODULE, message, silent, seconds=seconds)
            except ToolError as error:
                await self._again()
                return Tried(error=dict(self._stopped(error).record()), stopped=True)
            found = as_object(self._value(answer))
            did = tuple(str(one)[:200] for one in cast("list[object]", found.get("did") or []))
            if "error" in found:
                raise error_in(found["error"], self._ref)
            check_result(signature, found.get("value"), self._ref)
        except CallError as error:
            return Tried(error=dict(error.record()), did=did)
        return Tried(value=found.get("value"), did=did)

    async def _again(self) -> None:
        """Execute the source anew, after a limit ended its interpreter."""
        try:
            await self._asked(self._message, _LOAD_SECONDS)
        except TeaError as error:
            raise CallFailed(f"{self._ref} cannot be called again: {error.problem}", fix=error.fix) from error

    async def _asked(self, message: JsonObject, seconds: float) -> Any:
        try:
            answer = await self._sandbox.converse(MODULE, message, silent, seconds=seconds)
        except ToolError as error:
            raise self._stopped(error) from error
        return self._value(answer)

    def _value(self, answer: JsonObject) -> Any:
        if "value" not in answer:
            raise error_in(answer.get("error"), self._ref)
        return answer["value"]

    def _stopped(self, error: ToolError) -> CallFailed:
        return CallFailed(f"{self._ref} was stopped in its sandbox: {error.problem}", fix=error.fix)


@asynccontextmanager
async def opened_trial(text: SourceText, sandboxes: Sandboxes, files: Mapping[str, bytes]) -> AsyncGenerator[Trial]:
    """Yield a trial of a tool in a sandbox with copies of some files.

    Args:
        text: Its checked source.
        sandboxes: Gives the sandbox.
        files: By name.

    Raises:
        ToolError: There is no sandbox.
    """
    from tea.sandbox.session import opened

    with TemporaryDirectory(prefix="tea-trial-", ignore_cleanup_errors=True) as folder:
        await asyncio.to_thread(_placed, Path(folder), files)
        terms = await sandboxes.terms(folder)
        async with opened({**terms, "packages": with_runtime(terms, text.requires)}) as sandbox:
            yield Trial(sandbox, text)


def _placed(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise BadArguments(f"{name[:100]!r} is outside of the workspace.", fix="name a file inside it.")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
