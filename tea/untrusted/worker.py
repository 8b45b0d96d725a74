"""Worker: one untrusted component in a sandbox of its own, reached over JSON."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tea.components.context import Context
from tea.components.manifest import Manifest
from tea.errors import BadInput, CallFailed, ToolError
from tea.source.requires import distribution_name
from tea.types import JsonObject
from tea.untrusted.bridge import Bridge, error_in

if TYPE_CHECKING:
    from tea.sandbox.session import Sandbox

MODULE = "tea.untrusted.inside"
_NEEDS = ("pydantic", "docstring-parser")  # what describes and calls a component
_PACKAGE = Path(__file__).parent.parent
_held: ContextVar[tuple[Worker, ...]] = ContextVar("held", default=())


class Worker:
    """One component at work: its source is executed here, and its state stays from call to call.

    Args:
        sandbox: Where it works.
        manifest: What it is.
        ref: What it is, for errors.

    Attributes:
        workspace: The folder that it works in; empty for one of its own.
        run: The run that it worked for last.
        digest: That of the component.
    """

    def __init__(self, sandbox: Sandbox, manifest: JsonObject, ref: str) -> None:
        self._sandbox, self._manifest, self.ref = sandbox, manifest, ref
        self.digest = str(manifest.get("digest", ""))
        self._in, self._reads = 0, False
        self.workspace, self.run = "", ""

    @classmethod
    async def begin(cls, terms: JsonObject, config: Manifest) -> Self:
        """Open a sandbox for a component; its source is executed with the first call.

        Args:
            terms: What a sandbox is opened with.
            config: The component.

        Raises:
            ToolError: There is no sandbox.
        """
        from tea.sandbox.session import Sandbox  # loaded with what runs, as a list needs none

        reads = config.kind == "tool" and all(one.traits.effects == "reads" for one in config.operations.values())
        packages = with_runtime(terms, config.requires)
        found = {**terms, "packages": packages, "read_only": reads}
        made = cls(await Sandbox.open(found), plain_manifest(config), str(config.ref))
        made.workspace, made._reads = terms["workspace"], reads
        return made

    @property
    def claims(self) -> JsonObject:
        """The level in force, its enforced claims, and whether a read-only tool may change its workspace."""
        found = self._sandbox.claimed()
        return {**found, "workspace": "read-only" if found.get("fs") else "writable"} if self._reads else found

    @property
    def loaded(self) -> bool:
        """Whether the interpreter with the loaded component is still there."""
        return self._in > 0 and self._in == self._sandbox.interpreter

    async def load(self, *, anew: bool = False) -> None:
        """Execute the source, unless this interpreter has.

        Args:
            anew: Also if it has: whatever it kept is gone.

        Raises:
            TeaError: It cannot be used.
        """
        if anew or not self.loaded:
            await self.ask({"do": "load", "manifest": self._manifest})
            self._in = self._sandbox.interpreter

    async def ask(self, message: JsonObject, context: Context | None = None, *, seconds: float | None = None) -> Any:
        """Return the answer to a message.

        Args:
            message: What is wanted, under `do`; see `tea.untrusted.inside`.
            context: Answers what is asked meanwhile.
            seconds: Time by the clock, where it is not the operator's limit.

        Raises:
            CallFailed: It was stopped by a limit, or died; the next call begins anew.
            TeaError: The component says what is wrong.
        """
        if self in (held := _held.get()):
            problem = f"{self.ref} cannot act in itself before it has ended."
            raise CallFailed(problem, fix="let its caller act twice.")
        told = message if context is None else {**message, "context": facts_of(context, self.ref)}
        token = _held.set((*held, self))
        try:
            hear = silent if context is None else Bridge(context, self.ref).hear
            found = await self._sandbox.converse(MODULE, told, hear, seconds=seconds)
        except ToolError as error:
            raise CallFailed(f"{self.ref} was stopped in its sandbox: {error.problem}", fix=error.fix) from error
        finally:
            _held.reset(token)
        if "value" not in found:
            raise error_in(found.get("error"), self.ref)
        return found["value"]

    async def close(self) -> None:
        """End the worker, with all its running work."""
        await self._sandbox.close()


def nested() -> bool:
    """Return whether a worker waits for the work done here."""
    return bool(_held.get())


def plain_manifest(config: Manifest) -> JsonObject:
    """Return a manifest as JSON data."""
    data = config.to_json()
    return {**data, "files": dict(config.files), "metadata": dict(config.metadata)}


def with_runtime(terms: JsonObject, requires: tuple[str, ...]) -> list[str]:
    """Return a sandbox's packages together with a component's needs: tea, and the requirements of its source.

    Args:
        terms: What the sandbox is opened with.
        requires: The requirements.

    Raises:
        BadInput: What it requires is not installed.
        Unsupported: It has native parts, and the level takes none.
    """
    from tea.sandbox.packages import declared
    from tea.sandbox.wasm import require_portable

    found = dict.fromkeys([*terms["packages"], str(_PACKAGE), *map(str, declared(_NEEDS))])
    for requirement in requires:
        try:
            paths = declared((distribution_name(requirement),))
            require_portable(terms["level"], paths, "The component")
            found |= dict.fromkeys(map(str, paths))
        except BadInput as error:
            problem = f"The component requires {requirement[:60]!r}, which is not installed."
            raise BadInput(problem, fix="install it beside tea.") from error
    return list(found)


async def silent(question: JsonObject) -> JsonObject:
    """Refuse questions outside of any call."""
    error = ToolError("Nothing can be asked here.", fix="ask inside of a call.")
    return {"number": question.get("number"), "answer": {"error": dict(error.record())}}


def facts_of(context: Context, ref: str) -> JsonObject:
    """Return a component's facts about its call, without any about the machine or names of persons."""
    plain = ("run", "session", "task", "agent", "locale", "branch", "sandbox", "searches", "corpus", "entities")
    names = (*plain, "opens_files", "declared")
    return {**{name: getattr(context, name) for name in names}, "without": list(context.without), "principal": ref}
