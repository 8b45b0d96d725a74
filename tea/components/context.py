"""The context of a running component: other components by name, and the run's own services.

Everything here is JSON and plain values, so that a component can also run in another process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from tea.components.files import existing_file, files_in, path_in
from tea.components.port import (
    AdoptAgent,
    AdoptTool,
    AskPerson,
    CacheFolder,
    ComponentFacts,
    ComponentInfo,
    DateToday,
    Flow,
    Group,
    Invocation,
    ListComponents,
    ListSkills,
    LoadState,
    LookAtMedia,
    MergeState,
    ModelFacts,
    ParserTerms,
    Port,
    Question,
    RandomId,
    RandomNumber,
    ReadCorpus,
    ReadInsights,
    ReadSkill,
    ReadWebSettings,
    RecallEvents,
    RecordEvent,
    RemainingBudget,
    RetrieveComponents,
    SandboxPackages,
    SandboxTerms,
    SaveState,
    SearchCorpus,
    SearchEngines,
    SimilarSolutions,
    SummariseMemory,
    SwapState,
    TakeMessages,
    TakeNewTools,
    TimeNow,
    TryTool,
)
from tea.errors import ToolError
from tea.refs import Kind
from tea.types import (
    ActionResponse,
    AgentResponse,
    JsonObject,
    JsonSchema,
    Message,
    ModelResponse,
    Principal,
    Result,
    Task,
    ToolChoice,
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

    async def facts(self, refs: Sequence[str]) -> list[JsonObject]:
        """Return the result of `info` for each of several components, looked up and pinned together.

        Raises:
            UnknownComponent: There is none of one of them; the error names the nearest.
        """
        return await self.port.serve(ComponentFacts(self.kind, list(refs))) if refs else []

    async def retrieve(
        self,
        query: str,
        k: int = 5,
        *,
        route: bool = False,
        among: Sequence[str] | None = None,
        besides: Sequence[str] = (),
    ) -> list[JsonObject]:
        """Return the components matching a query text, best first: name, description, score and reason.

        Args:
            query: What is wished for.
            k: How many at most, from 1 to 1,000.
            route: Prefer the best toolkits of the best categories.
            among: Only these names; `*` stands for all that `list` returns and that is made for models.
            besides: Names that `*` does not stand for.

        Raises:
            BadInput: The query holds no word, or `k` is out of range.
        """
        names = None if among is None else list(among)
        return await self.port.serve(RetrieveComponents(self.kind, query, k, route, names, list(besides)))


@dataclass(frozen=True, slots=True)
class Tools(Caller):
    """TCP, as seen from inside a component."""

    async def invoke(self, ref: str, arguments: JsonObject) -> ToolResponse:
        """Call a tool, `name` or `name@selector`."""
        return cast(ToolResponse, await self.port.call(Invocation("tool", ref, arguments)))

    async def evaluate(
        self,
        source: str,
        cases: Sequence[JsonObject],
        *,
        given: JsonObject | None = None,
        files: Sequence[str] = (),
    ) -> JsonObject:
        """Hold the source of a new tool against tests in a sandbox; nothing is registered.

        Args:
            source: The main file.
            cases: At least three: `arguments` and `returns`, or `arguments` and `fails: true`.
            given: Arguments taken from the task itself.
            files: Names of files of the workspace that it finds there.

        Returns:
            `ok`, the `stages` gone through (`stage`, `ok`, `words`), how many tests it `passed`, `result` on `given`.

        Raises:
            BadArguments: The cases are none, or a file is too large.
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
            BadArguments: The cases are none, or a file is too large.
            ToolError: There is no sandbox, no agent asks, or the run is locked.
        """
        return await self.port.serve(AdoptTool(source, list(cases), given, list(files), task))

    async def new(self, seen: int) -> list[str]:
        """Return the refs of the tools made in this run after the first `seen`; usually none, without waiting."""
        return await self.port.serve(TakeNewTools(seen))


@dataclass(frozen=True, slots=True)
class Environments(Caller):
    """ECP, as seen from inside a component."""

    async def invoke(self, ref: str, arguments: JsonObject) -> ActionResponse:
        """Act in an environment of this session, `name#action`."""
        return cast(ActionResponse, await self.port.call(Invocation("environment", ref, arguments)))

    async def state(self, ref: str) -> ActionResponse:
        """Observe an environment of this session."""
        return cast(ActionResponse, await self.port.call(Invocation("environment", f"{ref}#state", {})))


@dataclass(frozen=True, slots=True)
class Agents(Caller):
    """ACP, as seen from inside a component."""

    async def invoke(self, ref: str, task: Task) -> AgentResponse:
        """Give an agent a task and wait for its result."""
        unlimited = {"budget"} if task.budget is None else None
        arguments = {"task": task.model_dump(mode="json", exclude=unlimited)}
        return cast(AgentResponse, await self.port.call(Invocation("agent", ref, arguments)))

    async def adopt(
        self, draft: JsonObject, tests: Sequence[JsonObject], task: str, *, check: bool = False
    ) -> JsonObject:
        """Register a new agent by its declaration, or a workflow of fixed steps; nobody trusts it yet.

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
        port: Carries the wishes.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The context of a running component.

    Args:
        port: Carries every wish.
        flow: The course of its own work: branches, time, notes.
        principal: Who the work is done for.
        run: Id of the run.
        session: Id of the session.
        task: Id of the task within the run.
        agent: Name of the agent that works, empty outside of one.
        workspace: Folder whose files the work may touch.
        locale: Language tag of the person asking, for example `en`.
        opens_files: Whether it may open files itself; an agent may not, or a replay would open them again.
        declared: What an agent declares: tools, agents, environments, prompt, max_steps, output, and its `settings`.
        branch: The branch of the run to which the private environment that acts belongs; else empty.
        sandbox: Level of the sandbox that was in force when the run began, empty where code is not run.
        searches: Whether something could be searched when the run began.
        corpus: Whether documents of the operator were among that.
        skills: Whether skills were imported then.
        without: Names of components switched off for the run, `name` or `kind:name`.
        solved: Which solutions of earlier tasks are offered: `all`, the `named` ones of the task, or none if empty.
        reflect: How often an answer is looked at once more before it counts; 0 for what works below the run's agent.
        evolve: Whether an own tool that fails is mended, once and for the run alone.
        attempts: What it leads several attempts at: `agent`, `count` and `successive`; else empty.
        attempt: Whether it works on one of these attempts, so that its result says how it ended.
        change: Id of the change that a tool or action makes, the same after a crash; empty in agents.
    """

    port: Port
    flow: Flow
    principal: Principal
    run: str
    session: str
    task: str
    agent: str
    workspace: str
    locale: str = "en"
    opens_files: bool = True
    declared: JsonObject = field(default_factory=dict[str, Any])
    branch: str = ""
    sandbox: str = ""
    searches: bool = False
    corpus: bool = False
    skills: bool = False
    without: tuple[str, ...] = ()
    solved: str = ""
    reflect: int = 0
    evolve: bool = False
    attempts: JsonObject = field(default_factory=dict[str, Any])
    attempt: bool = False
    change: str = ""

    @property
    def tcp(self) -> Tools:
        """Tools."""
        return Tools(self.port, "tool")

    @property
    def ecp(self) -> Environments:
        """Environments."""
        return Environments(self.port, "environment")

    @property
    def acp(self) -> Agents:
        """Agents."""
        return Agents(self.port, "agent")

    @property
    def memory(self) -> Memory:
        """Memory."""
        return Memory(self.port)

    @property
    def state(self) -> State:
        """The working agent's state for later tasks."""
        return State(self.port, f"agent:{self.agent}")

    async def ask(
        self,
        prompt: str,
        variables: JsonObject,
        history: tuple[Message, ...] = (),
        *,
        model: str | None = None,
        output: JsonSchema | None = None,
        tool_choice: ToolChoice = "auto",
    ) -> ModelResponse:
        """Ask a model, through a prompt; its output is validated against the prompt's schema.

        Where that has a member `calls`, whatever came is returned; `unusable` says why nothing of it can be used.

        Args:
            prompt: The prompt's name or `name@selector`.
            variables: What the prompt's template is rendered with.
            history: The conversation after the prompt's own messages, oldest first: `tea.Message`, or what
                `answer.message()` gives.
            model: Name of a model configuration; the run's own by default.
            output: JSON Schema of the answer, in place of the prompt's; `tea.ask_for` takes a type.
            tool_choice: Whether a call is left to the model, wanted, or ruled out; for models that can be told.

        Raises:
            Abstained: No model is configured and the prompt's solver cannot tell.
            BadOutput: The answer does not fit the schema, which has no `calls`.
            ContextLengthExceeded: The question is longer than the model reads.
            ProviderError: The model cannot be reached.
        """
        return await self.port.model(Question(prompt, variables, history, model, output, tool_choice))

    async def model(self, name: str | None = None) -> JsonObject:
        """Return the facts of the model used by `ask`: see `ModelConfig.facts`.

        Args:
            name: Name of a model configuration; the run's own by default.

        Raises:
            ProviderError: There is no such model, or it cannot be used.
        """
        return await self.port.serve(ModelFacts(name))

    async def solutions(self, query: str, k: int = 3) -> list[JsonObject]:
        """Return the kept solutions of tasks like one, best first: ref, task and content; usually none.

        Args:
            query: The task in words.
            k: How many at most, from 1 to 1,000.
        """
        return await self.port.serve(SimilarSolutions(query, k)) if self.solved else []

    def note(self, kind: str, data: JsonObject) -> None:
        """Write a record of the agent's own into the journal, for example a step."""
        self.flow.note(kind, data)

    def so_far(self, result: Result) -> None:
        """Set the answer so far: it becomes the agent's result if its time runs out."""
        self.flow.so_far(result)

    def group(self) -> AbstractAsyncContextManager[Group]:
        """Run work side by side: `async with ctx.group() as group: group.spawn(...)`."""
        return self.flow.group()

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
        """Raise TimeoutError in the body after so many seconds; the moment is recorded."""
        return self.flow.timeout(seconds)

    async def sleep(self, seconds: float) -> None:
        """Wait; a replay does not."""
        await self.flow.sleep(seconds)

    async def race(self, *work: Coroutine[Any, Any, Any]) -> tuple[int, Any]:
        """Return index and result of the first to end; the others are cancelled."""
        return await self.flow.race(*work)

    async def receive(self) -> Any:
        """Wait for the next message to this run."""
        return await self.flow.receive()

    async def messages(self) -> list[str]:
        """Return the messages from persons since the last call, in order; usually none, without waiting.

        A message is for the whole run and is given once, to the call that finds it: the agent that was given the run's
        task calls this at each of its steps, the agents that it calls do not.
        """
        return await self.port.serve(TakeMessages())

    async def now(self) -> str:
        """Return the time, ISO 8601 in UTC, as recorded."""
        return await self.port.serve(TimeNow())

    async def today(self) -> str:
        """Return the date, ISO 8601 in UTC, as recorded."""
        return await self.port.serve(DateToday())

    async def random(self) -> float:
        """Return a number in [0, 1), as recorded."""
        return await self.port.serve(RandomNumber())

    async def new_id(self) -> str:
        """Return a fresh id of 16 hex digits, as recorded."""
        return await self.port.serve(RandomId())

    async def person(self, question: str, choices: Sequence[str] = ()) -> str:
        """Ask the person behind the run; without one at a terminal the run waits, and `tea resume` brings the answer.

        Args:
            question: What to ask.
            choices: The only answers that count; any text by default.
        """
        return await self.port.serve(AskPerson(question, list(choices)))

    async def remaining(self) -> JsonObject:
        """Return the remaining budget: steps, seconds, tokens, usd; None means unlimited."""
        return await self.port.serve(RemainingBudget())

    async def web(self) -> JsonObject:
        """Return the operator's settings of the way out: see `tea.web.WebSettings`."""
        return await self.port.serve(ReadWebSettings())

    async def search(self, queries: Sequence[str], since: str = "") -> JsonObject:
        """Return the results of the operator's engines for some queries: see `tea.web.search.Findings`.

        Args:
            queries: What to search for.
            since: The age of pages: only those of the last `day`, `week`, `month` or `year`; empty for any.

        Raises:
            BadInput: No engine is configured, or a query is not usable.
            ToolError: Every engine failed; or an agent asks.
        """
        self.path("")
        return await self.port.serve(SearchEngines(list(queries), since))

    async def list_skills(self) -> list[JsonObject]:
        """Return the active imported skills: name, version, description, and whether each is trusted."""
        return await self.port.serve(ListSkills())

    async def skill(self, name: str) -> JsonObject:
        """Return an imported skill: name, version, trusted, instructions, `texts` by path, `assets` in base64.

        Args:
            name: Its name, perhaps with `@version`; hyphens of a name count as underscores.

        Raises:
            UnknownComponent: There is no such skill.
        """
        return await self.port.serve(ReadSkill(name))

    async def passages(self, query: str, found: int = 20, kept: int = 5) -> list[JsonObject]:
        """Return passages of the operator's corpus, best first; none without a corpus.

        Args:
            query: What they are to tell about.
            found: How many are taken by words and by meaning at first, from 1 to 200.
            kept: How many of them are returned, after comparing each with the query.

        Raises:
            ToolError: An agent asks.
        """
        self.path("")
        return await self.port.serve(SearchCorpus(query, found, kept))

    async def corpus_document(self, url: str) -> JsonObject | None:
        """Return a document of the operator's corpus by its address: url, title, date, lines; None without one."""
        self.path("")
        return await self.port.serve(ReadCorpus(url))

    async def sandbox_terms(self) -> JsonObject:
        """Return the argument of `tea.Sandbox.open`: the level, the workspace, and the operator's limits.

        Raises:
            ToolError: No sandbox is present that the operator accepts; or an agent asks.
        """
        self.path("")
        return await self.port.serve(SandboxTerms())

    async def sandbox_packages(self) -> list[str]:
        """Return the names of the packages open to imports in the sandbox beside the standard library, as recorded."""
        return await self.port.serve(SandboxPackages())

    async def media(self, names: Sequence[str]) -> list[JsonObject]:
        """Return named images, sounds and PDF files of the workspace as models take them, sounds with their words."""
        return await self.port.serve(LookAtMedia(list(names)))

    async def cache(self) -> Path | None:
        """Return the account's folder for reproducible data, None if nothing is kept.

        Raises:
            ToolError: An agent asks.
        """
        self.path("")
        return Path(str(found)) if (found := await self.port.serve(CacheFolder())) else None

    async def parser_terms(self) -> JsonObject:
        """Return the terms of `tea.reading.Reader`: the strongest sandbox of this machine, for parsers of our own.

        Raises:
            ToolError: No sandbox is present; or an agent asks.
        """
        self.path("")
        return await self.port.serve(ParserTerms())

    def path(self, name: str) -> Path:
        """Return the absolute path of a file inside the workspace.

        Raises:
            ToolError: The name leads out of the workspace, or an agent asks.
        """
        if not self.opens_files:
            raise ToolError("An agent opens no files itself.", fix="use a tool, or an action of an environment.")
        return path_in(self.workspace, name)

    async def files(self) -> dict[str, Path]:
        """Return the paths of the workspace's files by name, without hidden ones and links leading out of it."""
        self.path("")
        return await asyncio.to_thread(lambda: dict(files_in(self.workspace)))

    async def file(self, name: str) -> Path:
        """Return the absolute path of an existing file of the workspace.

        Raises:
            ToolError: There is none of that name, and the nearest is told; or an agent asks.
        """
        self.path("")
        return await asyncio.to_thread(existing_file, self.path, self.workspace, name, corpus=self.corpus)
