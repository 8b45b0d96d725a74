"""Clients: tools, environments, agents, memory and state, as a component reaches them through its port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from tea.components.port import (
    AdoptAgent,
    AdoptTool,
    ComponentFacts,
    ComponentInfo,
    Invocation,
    ListComponents,
    LoadState,
    MergeState,
    Port,
    ReadInsights,
    RecallEvents,
    RecordEvent,
    RetrieveComponents,
    SaveState,
    SummariseMemory,
    SwapState,
    TakeNewTools,
    TryTool,
)
from tea.components.unseen import UnseenFacts, UnseenMatches
from tea.errors import BadArguments
from tea.refs import Kind
from tea.types import (
    ActionResponse,
    AgentResponse,
    JsonObject,
    JsonValue,
    Task,
    ToolResponse,
)


@dataclass(frozen=True, slots=True)
class Caller:
    """One protocol, as seen from inside a component."""

    port: Port
    kind: Kind

    async def list(self) -> list[JsonObject]:
        """Return the name, version and description of each registered, active and trusted component."""
        return await self.port.serve(ListComponents(self.kind))

    async def info(self, ref: str) -> JsonObject:
        """Return a component's operations with their schemas, its rules and metadata.

        Raises:
            UnknownComponent: There is none; the error names the nearest.
        """
        return await self.port.serve(ComponentInfo(self.kind, ref))

    async def facts(self, refs: Sequence[str], *, unseen: bool = False) -> list[JsonObject]:
        """Return the result of `info` for each of several components, looked up and pinned together.

        Args:
            refs: The components.
            unseen: Whether nobody is shown words of untrusted ones before these are asked for without it.

        Raises:
            UnknownComponent: There is none of one of them; the error names the nearest.
        """
        kind = UnseenFacts if unseen else ComponentFacts
        return await self.port.serve(kind(self.kind, list(refs))) if refs else []

    async def retrieve(
        self,
        query: str,
        k: int = 5,
        *,
        route: bool = False,
        among: Sequence[str] | None = None,
        besides: Sequence[str] = (),
        unseen: bool = False,
    ) -> list[JsonObject]:
        """Return the components matching a query text, best first: name, description, score and reason.

        Args:
            query: What is wished for.
            k: How many at most, from 1 to 1,000.
            route: Prefer the best toolkits of the best categories.
            among: Only these names; `*` stands for all that `list` returns and that is made for models.
            besides: Names that `*` does not stand for.
            unseen: Whether nobody is shown more of what is found than the names of trusted ones.

        Raises:
            BadInput: The query holds no word, or `k` is out of range.
        """
        names = None if among is None else list(among)
        kind = UnseenMatches if unseen else RetrieveComponents
        return await self.port.serve(kind(self.kind, query, k, route, names, list(besides)))


@dataclass(frozen=True, slots=True)
class Tools(Caller):
    """TCP, as seen from inside a component."""

    async def invoke(self, ref: str, arguments: JsonObject | None = None, **named: JsonValue) -> ToolResponse:
        """Call a tool, `name` or `name@selector`.

        Args:
            ref: The tool.
            arguments: JSON arguments by name.
            **named: Further arguments, as keywords: `ctx.tcp.invoke("calculator", expression="2 + 2")`.

        Raises:
            BadArguments: One is given twice.
        """
        given = joined_arguments(ref, arguments, named)
        return cast(ToolResponse, await self.port.call(Invocation("tool", ref, given)))

    async def evaluate(
        self,
        source: str,
        cases: Sequence[JsonObject],
        *,
        given: JsonObject | None = None,
        files: Sequence[str] = (),
    ) -> JsonObject:
        """Test the source of a new tool in a sandbox; nothing is registered.

        Args:
            source: The main file.
            cases: At least three: `arguments` and `returns`, or `arguments` and `fails: true`.
            given: Arguments taken from the task itself.
            files: Names of files of the workspace that it finds there.

        Returns:
            `ok`, the `stages` gone through (`stage`, `ok`, `words`), how many tests it `passed`, `result` on `given`.

        Raises:
            BadArguments: The cases are not usable, or a file is too large.
            ToolError: There is no sandbox, or no agent asks.
        """
        return await self.port.serve(TryTool(source, list(cases), given, list(files)))

    async def adopt(
        self,
        source: str,
        cases: Sequence[JsonObject],
        task: str,
        *,
        given: JsonObject | None = None,
        files: Sequence[str] = (),
    ) -> JsonObject:
        """Register a new tool if it passes its tests, for this run and later ones; it stays in the sandbox.

        A tool that is there and passes the tests too is returned in its place; one that this source improves without
        breaking its contract gets a version.

        Args:
            source: As for `evaluate`.
            cases: As for `evaluate`; they are stored with the version.
            task: What the tool was made for, in words.
            given: As for `evaluate`.
            files: As for `evaluate`.

        Returns:
            The result of `evaluate`, and where that is `ok` also `ref`, `digest` and `how`: `new`, `version` or
            `reused`.

        Raises:
            BadArguments: The cases are not usable, or a file is too large.
            ToolError: There is no sandbox, no agent asks, or the run is locked.
        """
        return await self.port.serve(AdoptTool(source, list(cases), given, list(files), task))

    async def new(self, seen: int) -> list[str]:
        """Return the refs of the tools made in this run after the first `seen`; usually none, without waiting."""
        return await self.port.serve(TakeNewTools(seen))


@dataclass(frozen=True, slots=True)
class Environments(Caller):
    """ECP, as seen from inside a component."""

    async def invoke(
        self,
        ref: str,
        action: str | JsonObject | None = None,
        arguments: JsonObject | None = None,
        **named: JsonValue,
    ) -> ActionResponse:
        """Act in an environment of this session.

        Args:
            ref: `name#action`, or the name alone with `action`.
            action: Name of the action; the arguments where the ref names it already.
            arguments: JSON arguments by name.
            **named: Further arguments, as keywords.

        Raises:
            BadArguments: One is given twice.
        """
        ref, given = action_call(ref, action, arguments)
        given = joined_arguments(ref, given, named)
        return cast(ActionResponse, await self.port.call(Invocation("environment", ref, given)))

    async def state(self, ref: str) -> ActionResponse:
        """Observe an environment of this session."""
        return cast(ActionResponse, await self.port.call(Invocation("environment", f"{ref}#state", {})))


@dataclass(frozen=True, slots=True)
class Agents(Caller):
    """ACP, as seen from inside a component."""

    async def invoke(self, ref: str, task: Task | str | JsonObject) -> AgentResponse:
        """Give an agent a task, and wait for its result.

        Args:
            ref: The agent.
            task: The task, the text of one, or all arguments by name: `{"task": {"text": "Count the cities."}}`.
        """
        if isinstance(task, Mapping):
            return cast(AgentResponse, await self.port.call(Invocation("agent", ref, task)))
        given = Task(text=task) if isinstance(task, str) else task
        unlimited = {"budget"} if given.budget is None else None
        arguments = {"task": given.model_dump(mode="json", exclude=unlimited)}
        return cast(AgentResponse, await self.port.call(Invocation("agent", ref, arguments)))

    async def adopt(
        self, draft: JsonObject, tests: Sequence[JsonObject], task: str, *, check: bool = False
    ) -> JsonObject:
        """Register a new agent from its declaration, or a workflow of fixed steps, as untrusted.

        Args:
            draft: `name` and `description`; of an agent `instructions`, `tools`, `agents` and `environments`; of a
                workflow its `steps`, see `tea.follow`. Neither holds code.
            tests: What it was tried on: of each `task` and `wanted`; they are stored with it.
            task: What it was made for, in words.
            check: Whether to look only if it could be registered.

        Returns:
            `ok`, and why not as `trouble`; where it is registered `refs`, `ref`, `digest` and `how`.

        Raises:
            ToolError: There is no sandbox, no agent asks, or the run is locked.
        """
        return await self.port.serve(AdoptAgent(draft, list(tests), task, check))


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of this session, agent and task; writes are repeated at most once on resume.

    An agent that names a memory component records and sees what that keeps and shows, without an error for the rest.
    """

    port: Port

    async def record(self, kind: str, data: JsonObject) -> None:
        """Add an event."""
        await self.port.serve(RecordEvent(kind, data))

    async def recall(self, query: str = "", limit: int = 20) -> list[JsonObject]:
        """Return the newest events of this session matching `query`, oldest first."""
        return await self.port.serve(RecallEvents(query, limit))

    async def summarise(self, *, earlier: bool = False) -> str:
        """Return a summary of this session's events; with `earlier`, without those of the present task."""
        return await self.port.serve(SummariseMemory(earlier))

    async def insights(self, *, earlier: bool = False) -> list[str]:
        """Return the insights from this session's events; with `earlier`, without those of the present task."""
        return await self.port.serve(ReadInsights(earlier))


@dataclass(frozen=True, slots=True)
class State:
    """A small JSON document kept by an agent: per session, or lasting across sessions; each change counts once.

    Args:
        port: Carries the requests.
        owner: Whose it is, `agent:NAME`.
    """

    port: Port
    owner: str

    async def load(self, *, lasting: bool = False) -> Any:
        """Return the document, None if there is none."""
        return await self.port.serve(LoadState(self.owner, lasting))

    async def save(self, document: Any, *, lasting: bool = False) -> None:
        """Replace the document, at most 64 KiB of JSON."""
        await self.port.serve(SaveState(self.owner, lasting, document))

    async def merge(self, patch: JsonObject, *, lasting: bool = False) -> None:
        """Change some members of the document; a member set to None is removed (RFC 7396)."""
        await self.port.serve(MergeState(self.owner, lasting, patch))

    async def swap(self, old: Any, new: Any, *, lasting: bool = False) -> bool:
        """Replace the document if it is still `old`, and return whether it was; for branches sharing it."""
        return await self.port.serve(SwapState(self.owner, lasting, old, new))


def action_call(
    ref: str, action: str | JsonObject | None, arguments: JsonObject | None
) -> tuple[str, JsonObject | None]:
    """Return the ref with its action and the arguments of a call written in either way."""
    return (f"{ref}#{action}", arguments) if isinstance(action, str) else (ref, arguments if action is None else action)


def joined_arguments(ref: str, arguments: JsonObject | None, named: JsonObject) -> JsonObject:
    """Return the arguments of a call, given as a mapping and as keywords.

    Raises:
        BadArguments: They are not a mapping, or one is given twice.
    """
    if arguments is None or not named:
        return named if arguments is None else arguments
    if not isinstance(cast(object, arguments), Mapping):
        problem = f"The arguments of {ref} are a {type(arguments).__name__}, not a mapping."
        raise BadArguments(problem, fix='give them by name: {"NAME": VALUE}, or as keywords.')
    if twice := sorted(arguments.keys() & named.keys()):
        problem = f"The argument {twice[0]!r} of {ref} is given twice."
        raise BadArguments(problem, fix="give it in the mapping or as a keyword, not both.")
    return {**arguments, **named}
