"""Port: the three messages of a component to its run, and the flow of its own work beside them.

`call` a component, `serve` a request to the run, ask a `model`: their data are frozen and JSON, and independent of the
place of the component. A program in another process can have the same port: its keys are allocated there, its events
delivered one at a time, and beside these messages it only has to say that all of its branches wait.
"""

from __future__ import annotations

import json
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, get_args

from pydantic import ConfigDict, TypeAdapter, ValidationError

from tea.errors import BadArguments, words_of
from tea.refs import Kind
from tea.types import (
    ActionResponse,
    AgentResponse,
    JsonObject,
    JsonSchema,
    JsonValue,
    Message,
    ModelResponse,
    Response,
    Result,
    ToolChoice,
    ToolResponse,
)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
M = TypeVar("M")


class Port(Protocol):
    """A carrier of a component's messages: each is an effect or a scope of the run."""

    async def call(self, invocation: Invocation) -> Response:
        """Call another component."""
        ...

    async def serve(self, request: ServiceRequest) -> Any:
        """Send a request to a service of the run.

        Raises:
            BadArguments: It is none of the requests that a run serves.
        """
        ...

    async def model(self, question: Question) -> ModelResponse:
        """Ask a model through a prompt, or for another output than the prompt's."""
        ...


class Handle(Protocol[T_co]):
    """A spawned piece of work."""

    def result(self) -> T_co:
        """Return the result of the work, once the group has ended."""
        ...


class Group(Protocol):
    """A group of concurrent work with a common end; entered with `async with ctx.group()`."""

    def spawn(self, work: Coroutine[Any, Any, T], /) -> Handle[T]:
        """Start `work`; one failure cancels the others in the order they were spawned."""
        ...


class Flow(Protocol):
    """The flow of a component's own work: its branches, its timers, and its words without an answer."""

    def group(self) -> AbstractAsyncContextManager[Group]:
        """Return a group of concurrent work with a common end."""
        ...

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
        """Limit the time of a `with` block."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    async def race(self, *work: Coroutine[Any, Any, Any]) -> tuple[int, Any]:
        """Return the first to end."""
        ...

    async def receive(self) -> Any:
        """Wait for a message."""
        ...

    def note(self, kind: str, data: JsonObject) -> None:
        """Write a record of the component's own."""
        ...

    def so_far(self, result: Result) -> None:
        """Keep the best answer so far."""
        ...


class Invocation(NamedTuple):
    """A call of another component.

    Args:
        kind: The protocol.
        ref: `name`, perhaps with a selector and an operation.
        arguments: By name.
    """

    kind: Kind
    ref: str
    arguments: JsonObject


class Question(NamedTuple):
    """A question to a model; its members are those of `Context.ask`."""

    prompt: str
    variables: JsonObject
    history: tuple[Message, ...] = ()
    model: str | None = None
    output: JsonSchema | None = None
    tool_choice: ToolChoice = "auto"


class ListComponents(NamedTuple):
    """List the registered, active and trusted components."""

    kind: Kind
    service, verb = "registry", "list"


class ComponentInfo(NamedTuple):
    """Look up the facts about a component."""

    kind: Kind
    ref: str
    service, verb = "registry", "info"


class ComponentFacts(NamedTuple):
    """Look up the facts about several components in one go."""

    kind: Kind
    refs: Sequence[str]
    service, verb = "registry", "facts"


class RetrieveComponents(NamedTuple):
    """Find components for a query; see `Caller.retrieve`."""

    kind: Kind
    query: str
    k: int
    route: bool
    among: Sequence[str] | None
    besides: Sequence[str]
    service, verb = "registry", "retrieve"


class SimilarSolutions(NamedTuple):
    """Find the solutions of tasks like one, at most `k`."""

    query: str
    k: int
    service, verb = "registry", "solutions"


class RankTexts(NamedTuple):
    """Find the names of the best texts for a query, at most `k`."""

    kind: Kind
    query: str
    k: int
    texts: dict[str, str]
    least: float = 0.0
    service, verb = "registry", "rank"


class TryTool(NamedTuple):
    """Hold the source of a new tool against its tests; see `Tools.evaluate`."""

    source: str
    cases: Sequence[JsonObject]
    given: JsonObject | None
    files: Sequence[str]
    service, verb = "generated", "try"


class AdoptTool(NamedTuple):
    """Register a new tool if it passes its tests; see `Tools.adopt`."""

    source: str
    cases: Sequence[JsonObject]
    given: JsonObject | None
    files: Sequence[str]
    task: str
    service, verb = "generated", "adopt"


class AdoptAgent(NamedTuple):
    """Register a new agent or workflow, or only check it; see `Agents.adopt`."""

    draft: JsonObject
    tests: Sequence[JsonObject]
    task: str
    check: bool
    service, verb = "generated", "adopt_agent"


class OpenOwn(NamedTuple):
    """Open an own tool, agent or environment for mending once: its exact `ref` and `texts`, or nothing."""

    ref: str
    service, verb = "generated", "open"


class MendOwn(NamedTuple):
    """Store a mended version of an opened component for this run: its `ref`, or the `problem` with it."""

    ref: str
    texts: dict[str, str]
    why: str
    service, verb = "generated", "mend"


class TakeNewTools(NamedTuple):
    """Take the tools made by this run, after the first `seen`."""

    seen: int
    service, verb = "new_tools", "take"


class RecordEvent(NamedTuple):
    """Add an event to the memory."""

    kind: str
    data: JsonObject
    service, verb = "memory", "record"


class RecallEvents(NamedTuple):
    """Recall the newest events matching a query."""

    query: str
    limit: int
    service, verb = "memory", "recall"


class SummariseMemory(NamedTuple):
    """Summarise the events; with `earlier`, without those of the present task."""

    earlier: bool
    service, verb = "memory", "summarise"


class ReadInsights(NamedTuple):
    """Draw insights from the events; with `earlier`, without those of the present task."""

    earlier: bool
    service, verb = "memory", "insights"


class LoadState(NamedTuple):
    """Read the document of an owner, `agent:NAME` or `environment:NAME`; `lasting` for the one of all sessions."""

    owner: str
    lasting: bool
    service, verb = "state", "load"


class SaveState(NamedTuple):
    """Replace the document."""

    owner: str
    lasting: bool
    document: JsonValue
    service, verb = "state", "save"


class MergeState(NamedTuple):
    """Change some members of the document, RFC 7396."""

    owner: str
    lasting: bool
    patch: JsonObject
    service, verb = "state", "merge"


class SwapState(NamedTuple):
    """Replace the document if it is still `old`."""

    owner: str
    lasting: bool
    old: JsonValue
    new: JsonValue
    service, verb = "state", "swap"


class PutState(NamedTuple):
    """Change values by their paths.

    Args:
        changes: Pairs of a path and its new value.
        expected: Pairs of a path and a list of the value required there, empty for none.
    """

    owner: str
    lasting: bool
    changes: Sequence[tuple[Sequence[str], JsonValue]]
    expected: Sequence[tuple[Sequence[str], Sequence[JsonValue]]]
    service, verb = "state", "put"


class PutStateInTurn(NamedTuple):
    """Change values by their paths, in turn with all processes if possible within the given seconds."""

    owner: str
    lasting: bool
    changes: Sequence[tuple[Sequence[str], JsonValue]]
    expected: Sequence[tuple[Sequence[str], Sequence[JsonValue]]]
    seconds: float
    service, verb = "state", "put_in_turn"


class ClaimState(NamedTuple):
    """Hold the turn among all processes, if it is available within the given seconds."""

    owner: str
    lasting: bool
    seconds: float
    service, verb = "state", "claim"


class ReleaseState(NamedTuple):
    """Give the turn back."""

    owner: str
    lasting: bool
    service, verb = "state", "give_back"


class AskPerson(NamedTuple):
    """Ask the person behind the run."""

    question: str
    choices: Sequence[str]
    service, verb = "person", "ask"


class ModelFacts(NamedTuple):
    """Look up the facts about a model."""

    name: str | None
    service, verb = "model", "facts"


class TakeMessages(NamedTuple):
    """Take the messages of persons to the run since the last time."""

    service, verb = "messages", "take"


class LookAtMedia(NamedTuple):
    """Look at the images, sounds and documents of a task, by name."""

    names: Sequence[str]
    service, verb = "media", "look"


class RemainingBudget(NamedTuple):
    """Tell the remaining budget."""

    service, verb = "budget", "remaining"


class TimeNow(NamedTuple):
    """Tell the time."""

    service, verb = "clock", "now"


class DateToday(NamedTuple):
    """Tell the date."""

    service, verb = "clock", "today"


class RandomNumber(NamedTuple):
    """Draw a number in [0, 1)."""

    service, verb = "random", "random"


class RandomId(NamedTuple):
    """Draw a fresh id."""

    service, verb = "random", "id"


class SandboxTerms(NamedTuple):
    """Look up the terms of a sandbox for the workspace, perhaps with the operator's way out."""

    way_out: bool = False
    service, verb = "sandbox", "terms"


class SandboxPackages(NamedTuple):
    """Look up the packages open to imports in the sandbox."""

    service, verb = "sandbox", "packages"


class ParserTerms(NamedTuple):
    """Look up the terms of a sandbox for parsers of our own."""

    service, verb = "sandbox", "parsers"


class CacheFolder(NamedTuple):
    """Look up the account's folder for derived data."""

    service, verb = "sandbox", "cache"


class SessionFolder(NamedTuple):
    """Look up the folder of the session for data beside a workspace outside of any run."""

    name: str
    service, verb = "session", "folder"


class ReadWebSettings(NamedTuple):
    """Read the operator's settings of the way out."""

    service, verb = "web", "settings"


class ReadCodeHost(NamedTuple):
    """Look up the operator's code host of a name or a repository's address, with its key."""

    wanted: str
    service, verb = "hosts", "read"


class ReadCommitIdentity(NamedTuple):
    """Look up the name and e-mail address for commits."""

    service, verb = "hosts", "identity"


class SearchEngines(NamedTuple):
    """Ask the operator's search engines."""

    queries: Sequence[str]
    since: str = ""

    service, verb = "search", "search"


class ListEntities(NamedTuple):
    """List the members of a class, with values of their properties."""

    kind: str
    conditions: Sequence[JsonObject]
    columns: Sequence[JsonObject]
    language: str
    service, verb = "search", "entities"


class ListSkills(NamedTuple):
    """List the imported skills."""

    service, verb = "skills", "list"


class ReadSkill(NamedTuple):
    """Read the instructions and files of an imported skill."""

    name: str
    service, verb = "skills", "read"


class SearchCorpus(NamedTuple):
    """Find passages of the operator's own documents: the best `kept` of the `found` nearest ones."""

    query: str
    found: int
    kept: int
    service, verb = "search", "corpus"


class ReadCorpus(NamedTuple):
    """Read a document of the operator's own, by its address."""

    url: str
    service, verb = "search", "document"


ServiceRequest: TypeAlias = (
    ListComponents | ComponentInfo | ComponentFacts | RetrieveComponents | SimilarSolutions | RankTexts | TryTool
    | AdoptTool | AdoptAgent | OpenOwn | MendOwn | TakeNewTools | RecordEvent | RecallEvents | SummariseMemory
    | ReadInsights | LoadState | SaveState | MergeState | SwapState | PutState | PutStateInTurn | ClaimState
    | ReleaseState | AskPerson | ModelFacts | TakeMessages | LookAtMedia | RemainingBudget | TimeNow | DateToday
    | RandomNumber | RandomId | SandboxPackages | SandboxTerms | ParserTerms | CacheFolder | SessionFolder
    | ReadWebSettings | ReadCodeHost | ReadCommitIdentity | SearchEngines | ListSkills | ReadSkill | SearchCorpus
    | ReadCorpus | ListEntities
)  # fmt: skip
"""All requests to the services of a run."""
PortMessage: TypeAlias = Invocation | ServiceRequest | Question
RESPONSES: Mapping[Kind, type[Response]] = {
    "tool": ToolResponse,
    "environment": ActionResponse,
    "agent": AgentResponse,
}
REQUESTS: Mapping[tuple[str, str], type[ServiceRequest]] = {
    (one.service, one.verb): one for one in get_args(ServiceRequest)
}


def request_of(service: str, verb: str, data: JsonObject) -> ServiceRequest:
    """Return the request for a service, a verb and their data.

    Raises:
        BadArguments: There is no such service or verb, or the data are not what it takes.
    """
    kind = REQUESTS.get((service, verb))
    if kind is None:
        verbs = sorted(known for name, known in REQUESTS if name == service)
        services = sorted({name for name, _ in REQUESTS})
        problem = f"The service {service!r} has no {verb!r}." if verbs else f"A run has no service {service!r}."
        raise BadArguments(problem, fix=f"use one of {', '.join(verbs or services)}.")
    return read(kind, f"{service} {verb}", data)


def read(kind: type[M], what: str, data: JsonObject) -> M:
    """Return a message read from its data.

    Args:
        kind: The type of the message.
        what: What it is, for errors.
        data: Its members, by name.

    Raises:
        BadArguments: They are not what it takes.
    """
    try:
        return _reader(kind).validate_json(json.dumps(data))
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        problem = f"{'.'.join(map(str, wrong['loc'])) or 'data'!r} of {what}: {wrong['msg']}."
        raise BadArguments(problem, fix="give exactly what it takes.") from error
    except (TypeError, ValueError, RecursionError) as error:
        problem = f"The data of {what} are not JSON: {words_of(error)}."
        raise BadArguments(problem, fix="give plain data.") from error


@cache
def _reader(kind: type[M]) -> TypeAdapter[M]:
    return TypeAdapter(kind, config=ConfigDict(strict=True))
