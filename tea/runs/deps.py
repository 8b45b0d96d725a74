"""RunDeps and RunContext: the dependencies shared by all runs of a platform, and by the parts of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from tea.journal.header import RunConfig
from tea.journal.mask import Mask
from tea.journal.recorder import NO_SECRETS, Recorder
from tea.kernel.gate import Gate
from tea.memory.manager import MemoryManager
from tea.models.manager import ModelManager
from tea.prompts.manager import PromptManager
from tea.protocols.server import Server
from tea.refs import Kind
from tea.registry.row import SKILL
from tea.runs.attempts import Attempts
from tea.runs.budget import BudgetAccounts
from tea.runs.human_input import HumanInput, Person
from tea.runs.memories import Memories
from tea.runs.pins import Library, Pins
from tea.runs.policy import Policy, Remember
from tea.runs.readings import Readings
from tea.sandbox.levels import Sandboxes, machine
from tea.source.seal import Seal
from tea.source.trust import Consents
from tea.store.environments import FileEnvironments
from tea.threads import Look
from tea.types import JsonObject
from tea.web.search.engine import Since


class Search(Protocol):
    """A search for a run; see `tea.search_service`."""

    def ready(self) -> bool:
        """Return whether something can be searched; blocks."""
        ...

    def holds_corpus(self) -> bool:
        """Return whether there are documents of the operator to search; blocks."""
        ...

    def holds_entities(self) -> bool:
        """Return whether the members of classes can be asked for; blocks."""
        ...

    async def entities(self, run: str, wanted: JsonObject) -> JsonObject:
        """Return the members of a class."""
        ...

    async def search(self, run: str, queries: Sequence[str], since: Since) -> JsonObject:
        """Return the findings of a search."""
        ...

    async def document(self, url: str) -> JsonObject | None:
        """Return a document of the corpus, None if it is not there."""
        ...

    async def passages(self, query: str, found: int, kept: int) -> list[JsonObject]:
        """Return passages of the corpus."""
        ...


class Hosts(Protocol):
    """The operator's code hosts; see `tea.host_service`."""

    def of(self, wanted: str) -> JsonObject:
        """Return the host of a name or address with its key; empty for an unknown one."""
        ...

    def identity(self) -> JsonObject:
        """Return the name and e-mail address for commits; blocks."""
        ...


AnyServer = Server[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The facts about a machine and a home at the beginning of a run, as one look saw them.

    Args:
        machine: The mark of the prerequisites of sandboxes; see `Sandboxes.level`.
        searches: Whether any engine can be searched.
        corpus: Whether there are documents of the operator to search.
        entities: Whether the members of classes can be asked for.
        skills: Whether skills are imported.
        solutions: Whether there are solutions of earlier tasks.
    """

    machine: str
    searches: bool
    corpus: bool
    entities: bool
    skills: bool
    solutions: bool

    @classmethod
    def seen(cls, libraries: Mapping[Kind, Library], search: Search | None) -> Self:
        """Look; blocks."""
        return cls(
            machine=machine(),
            searches=search is not None and search.ready(),
            corpus=search is not None and search.holds_corpus(),
            entities=search is not None and search.holds_entities(),
            skills=libraries["prompt"].holds(category=SKILL),
            solutions=libraries["solution"].holds(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDeps:
    """The dependencies shared by all runs of a platform, changed by none of them.

    Args:
        remember: Keeps the destinations that a person allows for good; not offered without it.
        web: The settings of the way out, as JSON; see `tea.web.WebSettings`.
        search: What searches; None where nothing does.
        surroundings: Looks at what a run begins with now.
        hosts: The code hosts; None where there are none.
        environments: Keeps what environments leave in sessions; nothing is kept without it.
    """

    servers: Mapping[Kind, AnyServer]
    libraries: Mapping[Kind, Library]
    models: ModelManager
    prompts: PromptManager
    memory: MemoryManager
    policy: Policy
    consents: Consents
    seal: Seal
    sandboxes: Sandboxes
    surroundings: Look[Surroundings]
    person: Person | None = None
    remember: Remember | None = None
    mask: Mask = NO_SECRETS
    web: Mapping[str, Any] = field(default_factory=dict[str, Any])
    search: Search | None = None
    hosts: Hosts | None = None
    environments: FileEnvironments | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """The context of one run, shared by its parts.

    Nothing in here refers back to the run or to those parts, so all of it is freed at the end of the run.

    Args:
        run_config: The configuration of the run.
        deps: The dependencies shared with other runs.
        gate: Its boundary.
        recorder: The writer of its other records.
        accounts: Its budget.
        pins: The versions in use.
        memories: The memory components of its agents.
        human_input: The person behind it.
        readings: What its branches have read.
        attempts: Its attempts at the task.
    """

    run_config: RunConfig
    deps: RunDeps
    gate: Gate
    recorder: Recorder
    accounts: BudgetAccounts
    pins: Pins
    memories: Memories
    human_input: HumanInput
    readings: Readings
    attempts: Attempts

    @property
    def web(self) -> dict[str, Any]:
        """The operator's settings of the way out, with further places closed by the run; a run never opens any."""
        web = self.deps.web
        return {**web, **{name: [*web.get(name, ()), *more] for name, more in self.run_config.closed.items()}}

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.run_config.run

    @property
    def task(self) -> str:
        """The id of its task."""
        return self.run_config.task
