"""The context of a running component: other components by name, and the run's own services.

Everything here is JSON and plain values, so that a component can also run in another process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tea.components.clients import Agents, Environments, Memory, State, Tools
from tea.components.files import existing_file, files_in, path_in
from tea.components.port import (
    AskPerson,
    CacheFolder,
    DateToday,
    Flow,
    Group,
    ListEntities,
    ListSkills,
    LookAtMedia,
    ModelFacts,
    ParserTerms,
    Port,
    Question,
    RandomId,
    RandomNumber,
    ReadCorpus,
    ReadSkill,
    ReadWebSettings,
    RemainingBudget,
    SandboxPackages,
    SandboxTerms,
    SearchCorpus,
    SearchEngines,
    SessionFolder,
    SimilarSolutions,
    TakeMessages,
    TimeNow,
)
from tea.errors import ToolError
from tea.types import (
    JsonObject,
    JsonSchema,
    Message,
    ModelResponse,
    Principal,
    Result,
    ToolChoice,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The context of a running component.

    Args:
        port: Carries every request.
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
        entities: Whether the members of classes could be asked for then.
        skills: Whether skills were imported then.
        without: Names of components switched off for the run, `name` or `kind:name`.
        solved: Which solutions of earlier tasks are offered: `all`, the `named` ones of the task, or none if empty.
        reflect: How often an answer is looked at once more before it counts; 0 for what works below the run's agent.
        evolve: Whether an own tool that fails is mended, once and for the run alone.
        attempts: What it leads several attempts at: `agent`, `count` and `successive`; else empty.
        attempt: Whether it works on one of these attempts, so that its result says how it ended.
        change: Id of the change that a tool or action makes, the same after a crash; empty in agents. That of a look
            at the state by which an action is decided is the id of the action, and what follows a `?`.
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
    entities: bool = False
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
            NotConfigured: There is no engine.
            BadInput: A query is not usable.
            ToolError: Every engine failed; or an agent asks.
        """
        self.path("")
        return await self.port.serve(SearchEngines(list(queries), since))

    async def list_entities(
        self,
        kind: str,
        conditions: Sequence[JsonObject],
        columns: Sequence[JsonObject],
        language: str = "en",
    ) -> JsonObject:
        """Return the members of a class in Wikidata: see `tea.web.search.Wikidata`.

        Args:
            kind: The class, by its name or id.
            conditions: Each a `property` and the `value` that members have of it.
            columns: Each a `column` and the `property` whose values it takes.
            language: Language tag of the words.

        Raises:
            NotConfigured: The operator did not name Wikidata.
            ToolError: There is no answer; or an agent asks.
        """
        self.path("")
        return await self.port.serve(ListEntities(kind, list(conditions), list(columns), language))

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

    async def sandbox_terms(self, way_out: bool = False) -> JsonObject:
        """Return the argument of `tea.Sandbox.open`: the level, the workspace, the limits, perhaps a `sandbox_network`.

        Raises:
            ToolError: No sandbox is present that the operator accepts; or an agent asks.
        """
        self.path("")
        return await self.port.serve(SandboxTerms(way_out))

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

    async def session_folder(self, name: str) -> Path | None:
        """Return a folder kept with the session, for data about the current folder and not inside it.

        Args:
            name: What it is for, usually the name of the environment.

        Returns:
            The folder; None within a run, whose workspace is its own, and in a session that ends with its call.

        Raises:
            StorageError: It cannot be made.
            ToolError: An agent asks.
        """
        self.path("")
        return Path(str(found)) if (found := await self.port.serve(SessionFolder(name))) else None

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
            raise ToolError("An agent cannot open files itself.", fix="use a tool, or an action of an environment.")
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
