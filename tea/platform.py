"""Platform: the composition root of stores, managers, protocols and runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias, Unpack, cast

from tea.components.answer_type import AnswerType
from tea.components.component import Agent
from tea.components.manifest import Manifest
from tea.errors import BadInput, BadOutput, ResourceExhausted, StorageError, TeaError
from tea.home import SETTINGS, Settings, find_home, read_keys, read_settings
from tea.home_openings import narrowed
from tea.home_trust import HomeTrust
from tea.journal.tracer import Tracer
from tea.kernel.collector import relaxed
from tea.memory.manager import MemoryManager
from tea.models.connect import offer, offer_presets, withhold
from tea.models.manager import Adapter, ModelConfig, ModelManager
from tea.models.offline import OFFLINE, OfflineModel
from tea.models.presets import configured
from tea.prompts.manager import PromptManager
from tea.protocols.acp import ACPServer, AgentContextManager
from tea.protocols.declared import agent_name
from tea.protocols.document import DocumentLibrary, MemoryLibrary, ModelLibrary, SolutionLibrary
from tea.protocols.ecp import ECPServer, EnvironmentContextManager
from tea.protocols.instances import Instances
from tea.protocols.manager import ContextManager
from tea.protocols.prompt import PromptLibrary
from tea.protocols.reading import Services
from tea.protocols.session_state import SessionStates
from tea.protocols.tcp import TCPServer, ToolContextManager
from tea.recipes.recipe import Direction, transformation
from tea.recipes.recipes import Recipes
from tea.refs import Kind, Ref, check_session
from tea.registry.version import VersionManager
from tea.retrieval.embedding.choice import destination, embedder_of
from tea.retrieval.search import Retrieval
from tea.retrieval.usage import UsageEvidence
from tea.runs.descriptors import raise_limit
from tea.source.bundled import bundled_roots, entry_point_roots
from tea.source.cache import SourceCache
from tea.source.dynamic import DynamicManager
from tea.source.seal import Seal
from tea.source.trust import (
    AllowedDestinations,
    Consents,
    GrantedHomes,
    Trust,
    require_own_state,
    state_folder,
)
from tea.store.environments import FileEnvironments
from tea.store.events import FileEvents
from tea.store.journal import FileJournals
from tea.store.registry import FileRegistry
from tea.store.usage import FileUsage
from tea.store.vectors import FileVectors
from tea.types import JsonObject, JsonValue, Response, Result
from tea.untrusted.workers import Workers
from tea.waiting import streamed

if TYPE_CHECKING:
    from tea.chat.chat import Chat
    from tea.corpus.corpus import Corpus
    from tea.engine import Engine
    from tea.journal.header import TaskFile
    from tea.journal.inbox import Inbox
    from tea.journal.mask import Mask
    from tea.journal.record import TraceRecord
    from tea.journal.recorder import Event, Watcher
    from tea.policy.verdict import Verdict
    from tea.research.research import Research
    from tea.runs.execution import Tell
    from tea.runs.human_input import Person
    from tea.runs.outcome import Outcome
    from tea.runs.policy import CallRequest, Policy
    from tea.runs.task_file import RunOptions
    from tea.sandbox.levels import Sandboxes
    from tea.web import WebSettings

AnyManager = ContextManager
TaskLike: TypeAlias = "str | Mapping[str, Any] | TaskFile"
AgentLike: TypeAlias = "str | Agent | type[Agent]"


class Platform:
    """One registry, its protocols and its runs. Any number can live in one process.

    Args:
        home: Folder of `registry/` and `traces/`; see `tea.home.find_home` for the default.
        model: An adapter to answer in place of the configured models, for example a `ScriptedModel`.
        policy: Decides about calls; by default a person is asked once about each version that declares effects beyond
            the workspace, as far as the settings say nothing else.
        state: Folder of the operator's own state, such as what is trusted.
        person: Answers what components ask the person behind a run; without one such a run waits to be resumed.
        trust_home: Whether the program answers for where the home's settings send keys of the environment; else a
            person grants that with `tea trust --home` (`design/013-trusted-homes.md`).

    Example:
        async with Platform(home="work") as tea:
            await tea.tcp.register(word_count)
            outcome = await tea.run("How many words has notes.txt?", files=["notes.txt"])
    """

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        model: Adapter | None = None,
        policy: Policy | None = None,
        state: str | Path | None = None,
        person: Person | None = None,
        trust_home: bool = False,
    ) -> None:
        if isinstance(model, str):
            problem = f"The model {model[:80]!r} is a name, and a platform is given what answers itself."
            raise BadInput(problem, fix="name it where a task is run: `platform.run(task, model=...)`.")
        for what, given, needed in (("model", model, ("complete", "tell")), ("policy", policy, ("decide",))):
            if given is not None and not any(callable(getattr(given, one, None)) for one in needed):
                problem = f"The {what} given is a {type(given).__name__} without a method `{needed[0]}`."
                raise BadInput(problem, fix=f"give an object with `async def {needed[0]}(...)`.")
        self.home = find_home(home)
        self.settings: Settings = read_settings(self.home)
        folder = Path(state) if state else None
        require_own_state(folder or state_folder())
        self.trust, self.consents = Trust(folder), Consents(folder)
        self.allowed, self.seal = AllowedDestinations(folder), Seal(folder)
        self.versions = VersionManager(FileRegistry(self.home / "registry", self.seal))
        self.compiled = SourceCache(self.trust.path.parent)
        self.dynamic = DynamicManager(self.trust, _work, kept=self.compiled)
        self.prompts = PromptManager()
        self.environments = FileEnvironments(self.home / "traces" / "memory", self.seal)
        self.memory = MemoryManager(FileEvents(self.home / "traces" / "memory"), self.environments)
        self.tracer = Tracer(FileJournals(self.home / "traces", self.settings.durability), self._began)
        self.keys = read_keys(self.home)
        configs, granted = _configs(self.settings), GrantedHomes(folder)
        going = destination(self.settings.embedder)
        self.home_trust = HomeTrust(
            self.home, configs, going, self.keys, granted, trusted=trust_home, settings=self.settings
        )
        if not self.home_trust.granted:
            self.settings = narrowed(self.settings, self.home)
        self.models = _new_models(model, self.settings)
        for config in configs.values():
            offer(self.models, self.home_trust.counted(config), self.keys, self.home_trust.of_settings)
        self.models.add(OFFLINE, OfflineModel())
        installed = entry_point_roots()
        self.problems: list[str] = list(installed.problems)
        self._workers = Workers(self._sandboxes)
        states = SessionStates(self.environments, lambda data: self._engine.mask.data(data))
        self._instances = Instances(self._workers, states)
        roots = (*bundled_roots(), *installed.roots.values())
        embedder = cache(embedder_of(self.settings.embedder, self.keys, self.home_trust.of_embedder))
        self.models.embedder = embedder
        self.retrieval = Retrieval(
            embedder,
            FileVectors(self.home / "registry"),
            UsageEvidence(self.tracer, FileUsage(self.home / "traces")),
        )
        recipes = Recipes(self.versions, self.trust, _work)
        parts = (self.versions, self.dynamic, self.prompts, self.trust, roots, recipes, self.retrieval)
        self._protocols(Services(*parts, self._workers, self._sandboxes))
        self._policy, self._person = policy, person
        self._open = ExitStack()

    async def __aenter__(self) -> Self:
        """Read the shipped and stored parts without executing or writing any; raise the limit on open files."""
        for library in self.libraries.values():
            self.problems += await library.init()
        await self._find_models()
        self._open.enter_context(relaxed())
        raise_limit()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Tear down the environments, and end the connections to models."""
        with self._open:
            try:
                await self._instances.close()
            finally:
                await self.models.close()

    async def run(
        self,
        task: TaskLike,
        *,
        files: Sequence[str | Path] = (),
        agent: AgentLike | None = None,
        watch: Watcher | None = None,
        **options: Unpack[RunOptions],
    ) -> Outcome:
        """Run a task once.

        Args:
            task: Words, the JSON object of a task file, or a task that was read.
            files: Files it may use, beside those the task names relative to the current folder.
            agent: Who works on it: a name, a declared agent, or an agent's class. The latter two are registered, and
                the run uses exactly what they say; a declared agent's answer is of the type that it declares.
            watch: Told of each record as it is written.
            **options: Further keys of the task file, for example `budget={"steps": 5}`.

        Raises:
            BadTask: The task cannot be used; nothing is written.
            BadComponent: The agent cannot be used; nothing is written.
            TeaError: The run could not be carried out; what it did is in its journal.
        """
        from tea.engine import made_task
        from tea.runs.task_file import find_files

        named = options if agent is None or not isinstance(agent, str) else {**options, "agent": agent}
        read, found = made_task(task, named), dict[str, Path]()
        if read.files or files != ():
            found = await asyncio.to_thread(find_files, read, Path.cwd(), files)
        if agent is None or isinstance(agent, str):
            return await self.execute(read, found, watch)
        pins = {name: one.version for name, one in (await self._agents.declare(agent)).items()}
        given = read.model_copy(update={"agent": agent_name(agent), "use": {**pins, **read.use}})
        outcome = await self.execute(given, found, watch)
        return outcome if read.answer is not None else _typed(outcome, agent)

    async def execute(
        self,
        task: TaskFile,
        files: Mapping[str, Path],
        watch: Watcher | None = None,
        *,
        locked: bool = False,
        rules: Sequence[str] = (),
    ) -> Outcome:
        """Run a parsed task with its files resolved.

        Args:
            task: The task.
            files: Its files, by the name they get.
            watch: Told of each record as it is written.
            locked: Whether only the digests named by its `use` may be used.
            rules: The operator's rules for its calls, as the option `--policy` takes them; they come before others.
        """
        named = task.model_copy(update={"files": tuple(files)})
        return await self._engine.executions.begin(named, files, watch, locked=locked, rules=tuple(rules))

    async def explain(self, run: str, key: str) -> tuple[CallRequest, Verdict]:
        """Return a call of a run, and the policy's present verdict on it, with the reason.

        Args:
            run: Its id, a unique beginning of it, or `last`.
            key: Key of the call.
        """
        found = await asyncio.to_thread(self.tracer.find, run)
        return await self._engine.executions.explain(found, key)

    async def judge(self, request: CallRequest) -> Verdict:
        """Return the policy's verdict on a call under its first name, with the reason."""
        return await self._engine.judge(request)

    async def create(self, task: TaskFile, files: Mapping[str, Path], *, locked: bool = False) -> str:
        """Write the header of a run as for `execute`, and return its id; `resume` does the work, here or elsewhere."""
        named = task.model_copy(update={"files": tuple(files)})
        return await self._engine.executions.create(named, files, locked=locked)

    def stream(
        self,
        task: TaskLike,
        *,
        files: Sequence[str | Path] = (),
        agent: AgentLike | None = None,
        **options: Unpack[RunOptions],
    ) -> AsyncGenerator[Event | Outcome]:
        """Run a task and yield its events as they happen, its outcome last; closing it early ends the run.

        Args:
            task: As for `run`.
            files: As for `run`.
            agent: As for `run`.
            **options: As for `run`.
        """
        return streamed(lambda watch: self.run(task, files=files, agent=agent, watch=watch, **options))

    def connect(self, config: ModelConfig) -> None:
        """Make a model available to this platform's runs, for example one returned by `tea.models.presets.local`."""
        offer(self.models, config, self.keys, self.home_trust.of_trusted)

    async def replay(self, run: str, *, lenient: bool = False, use: Mapping[str, str] | None = None) -> Outcome:
        """Run a journal's agents again without a model; raises Diverged at the first difference."""
        found = await asyncio.to_thread(self.tracer.find, run)
        return await self._engine.executions.replay(found, lenient=lenient, use=use)

    async def resume(
        self, run: str, *, answers: Mapping[str, str] | None = None, watch: Watcher | None = None
    ) -> Outcome:
        """Resume a run after an interruption or while it waits for a person.

        Args:
            run: Its id, a unique beginning of it, or `last`.
            answers: By the key of the call that waits: `allow`, `deny`, or text in place of its result.
            watch: Told of each record as it is written.
        """
        found = await asyncio.to_thread(self.tracer.find, run)
        return await self._engine.executions.drive(found, answers, watch)

    async def inbox(self, run: str | None = None) -> Inbox:
        """Return the unanswered questions of runs to a person; `resume` accepts the answers by the questions' keys.

        Args:
            run: The only run to look at: its id, a unique beginning of it, or `last`; all by default.
        """
        from tea.journal.inbox import Inbox

        def read() -> Inbox:
            return Inbox.of(self.tracer, None if run is None else self.tracer.find(run), self.seal.made)

        return await asyncio.to_thread(read)

    async def tell(self, run: str, text: str) -> int:
        """Send a message to a run, durably; its agent reads it at its next step, also after a resume.

        Args:
            run: Its id, a unique beginning of it, or `last`; this or another process may be at it, or none.
            text: What to tell it, at most 64 KiB.

        Returns:
            The message's place among all that the run was told, from 1.

        Raises:
            BadInput: There is no such run, it has ended, or the text is empty or too long.
        """
        from tea.runs.delivery import tell

        found = await asyncio.to_thread(self.tracer.find, run)
        return await asyncio.to_thread(tell, self.tracer, self.mask, self.seal, found, text)

    async def kept(self, agent: str, session: str | None = None) -> JsonValue:
        """Return an agent's state for a session, or its lasting state without one; None if there is none."""
        check_session(session)
        return await self.memory.states.load(f"agent:{(await self.acp.info(agent)).name}", session)

    async def fork(
        self,
        run: str,
        *,
        at: str | int | None = None,
        use: Mapping[str, str] | None = None,
        model: str | None = None,
        watch: Watcher | None = None,
        tell: Tell | None = None,
    ) -> Outcome:
        """Begin a run with the events of another up to a position, and continue live with other versions or model.

        Args:
            run: Its id, a unique beginning of it, or `last`; it is not touched.
            at: Number of a record, or key of an effect; the first touch of what changes if None.
            use: Selectors of other versions, by `kind:name`.
            model: Another model configuration.
            watch: Told of each record.
            tell: Told what a person should know of the fork before it goes on.
        """
        from tea.runs.fork import Change

        found = await asyncio.to_thread(self.tracer.find, run)
        chosen = {name: await self._chosen(name, selector) for name, selector in (use or {}).items()}
        place = None if at is None else str(at)
        return await self._engine.executions.fork(found, place, Change(use=chosen, model=model), watch, tell)

    async def _chosen(self, name: str, selector: str) -> Manifest:
        """Return the manifest of the version selected by a person, stored."""
        ref = Ref.parse(name).at(selector)
        if ref.kind in ("model", "solution"):
            fix = "name a tool, environment, agent, prompt or memory; a model with --model."
            raise BadInput(f"{name!r} cannot be changed in a fork.", fix=fix)
        return await self.libraries[ref.kind].pin(ref)

    def chat(self, session: str | None = None, *, agent: str | None = None, **options: Any) -> Chat:
        """Return a conversation: a new one, or the one of a session in its present state.

        Args:
            session: Its id, an own one by default.
            agent: Who is spoken to first.
            **options: Further keys of the task file for each turn, for example `budget={"steps": 5}`.

        Raises:
            BadInput: The session or an option cannot be used.
        """
        from tea.chat.chat import Chat

        return Chat(self, session, agent, options)

    async def transform(self, how: str, operands: str | Sequence[str], **options: Any) -> list[Manifest]:
        """Create components from others, under the protocol of the result's kind; see `ContextManager.transform`."""
        return await self.libraries[Direction.of(transformation(how)).target].transform(how, operands, **options)

    def invoke(self, kind: Kind, ref: str, arguments: JsonObject, session: str | None) -> Coroutine[Any, Any, Response]:
        """Execute a call from outside any run."""
        check_session(session)
        return self._engine.invoke(kind, ref, arguments, session)

    def _began(self, run: str, first: TraceRecord) -> bool:
        """Return whether this account began a run."""
        from tea.journal.history import is_own

        return is_own(run, first, self.seal.made)

    @property
    def mask(self) -> Mask:
        """The mask of the operator's secrets in texts and data."""
        return self._engine.mask

    @cached_property
    def sandboxes(self) -> Sandboxes:
        """The sandboxes for untrusted code; loaded with the first run, as a list needs none."""
        return self._sandboxes()

    def _sandboxes(self) -> Sandboxes:
        from tea.sandbox.folder import cache_folder
        from tea.sandbox.levels import Sandboxes

        return Sandboxes(self.settings.sandbox, cache_folder())

    @cached_property
    def web(self) -> WebSettings:
        """The settings of the way out, with the folder of its cache."""
        from tea.web import WebSettings

        return replace(WebSettings.of(self.settings.web), cache=str(self.trust.path.parent / "web"))

    @cached_property
    def corpus(self) -> Corpus:
        """The folders and sites searched on this machine; see `tea corpus`."""
        from tea.corpus.converting import sandboxed
        from tea.corpus.corpus import Corpus
        from tea.corpus.index import Index
        from tea.retrieval.embedding.builtin import StaticEmbedder

        readers = sandboxed(lambda: self.sandboxes.parser_terms())
        return Corpus(Index(self.corpus_file, StaticEmbedder()), self.web, readers, seal=self.seal)

    @cached_property
    def research(self) -> Research:
        """Deep Research in conversations; see `tea research`."""
        from tea.research.research import Research

        return Research(self)

    @property
    def corpus_file(self) -> Path:
        """The file of the corpus; there is none before something is added."""
        return self.home / ".corpus" / "corpus.sqlite"

    @cached_property
    def _engine(self) -> Engine:
        """The engine of runs and calls, not needed for a listing."""
        from tea.engine import Engine

        return Engine.of(self, self._instances, self._policy, self._person)

    def _protocols(self, services: Services) -> None:
        self.tcp = TCPServer(ToolContextManager(services), self._instances, self)
        self.ecp = ECPServer(EnvironmentContextManager(services), self._instances, self)
        self._agents = AgentContextManager(services)
        self.acp = ACPServer(self._agents, self._instances, self)
        self.libraries: dict[Kind, AnyManager] = {
            "tool": self.tcp.manager,
            "environment": self.ecp.manager,
            "agent": self._agents,
            "prompt": PromptLibrary(services),
            "model": ModelLibrary(services),
            "memory": MemoryLibrary(services),
            "solution": SolutionLibrary(services),
        }
        services.recipes.join(self.libraries)
        self._agents.join(self.libraries)

    async def _find_models(self) -> None:
        """Make further models available, after those of the settings: the registry's, then presets."""
        library = cast("DocumentLibrary", self.libraries["model"])
        try:
            listed = await library.list()
        except ResourceExhausted:
            raise
        except StorageError as error:
            self.problems.append(error.problem)
            listed = []
        for one in listed:
            if self.models.knows(one.name):
                continue
            try:
                found = await library.info(one.name)
                config = library.documents.parse(found.source)
            except TeaError as error:
                self.problems.append(f"model:{one.name}: {error}")
                continue
            if self.trust(found.digest):
                offer(self.models, config, self.keys, self.home_trust.of_trusted)
            else:
                withhold(self.models, config)
        offer_presets(self.models, self.keys, self.home_trust.of_trusted)


def _configs(settings: Settings) -> dict[str, ModelConfig]:
    """Return the model configurations of the settings, by name."""
    found: dict[str, ModelConfig] = {}
    for name, document in settings.models.items():
        try:
            found[name] = configured(name, document)
        except BadInput as error:
            raise BadInput(f"In {SETTINGS}: {error.problem}", fix=error.fix) from error
    return found


def _new_models(adapter: Adapter | None, settings: Settings) -> ModelManager:
    """Create the manager of models; a given adapter answers in place of the models in the settings."""
    models = ModelManager()
    if adapter is not None:
        models.add(ModelConfig(name="given", provider="given"), adapter)
        models.chosen, models.alone = "given", True
    else:
        models.chosen = settings.model or ""
        models.roles = dict(settings.roles)
    return models


async def _work(*given: Any, **options: Any) -> Result:
    """Work on a task like `tea.work`, loaded with the first task of an agent using it."""
    from tea.loop.loop import work

    return await work(*given, **options)


def _typed(outcome: Outcome, agent: Agent | type[Agent]) -> Outcome:
    """Return an outcome with its answer in a declared agent's type; an answer of another type is a failure."""
    answers = None if agent.declaration is None else AnswerType.of(agent.declaration.output)
    if answers is None or not outcome.ok:
        return outcome
    try:
        return replace(outcome, answer=answers.read(outcome.answer))
    except BadOutput as error:
        return replace(outcome, status="failed", reason=error.problem)
