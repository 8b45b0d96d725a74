"""The header of a run: its task, and its configuration from outside."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from tea.components.json_schema import schema_fault
from tea.errors import BadInput, BadRef
from tea.policy.rules import read_task_rules
from tea.refs import Ref, check_name, check_selector, check_session
from tea.types import EVERY, Budget, Principal, Record, Said, without_empty

CALL_SECONDS = 300.0
PERSON = "person"
ANOTHER = "another person"  # whose words were typed on another account: material, as those of agents are
OFFERED = ("agent", "tool", "environment")  # kinds that a task may switch off
CALLED = ("tool", "environment")  # kinds that a task may allow to leave the workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """The configuration of a run from outside, all of it recorded at its start.

    Args:
        run: Its id.
        session: The session it belongs to.
        task: Id of its task.
        workspace: The folder it works in.
        principal: Who it works for.
        locale: Language tag of the person asking.
        model: Name of the model configuration, None for the default.
        use: Selectors of components by `kind:name`, before what is current.
        versions: Which version of those with the same bytes, for what `use` names by its digest: of a fork, that which
            its origin pinned.
        locked: Whether nothing else may be used.
        allow: Components, `name` or `kind:name`, that need no consent once for their version.
        call_seconds: Deadline of one call of a tool or action.
        inputs: Names of the files that its task gave.
        sandbox: Level of the sandbox that was in force at its start, empty for none.
        rules: Rules for its calls from its options, as written there.
        narrowing: Rules for its calls from its task, which only narrow.
        shared: Whether its session may hold content of earlier runs.
        searches: Whether something could be searched at its start.
        corpus: Whether documents of the operator were among that.
        entities: Whether the members of classes could be asked for at its start.
        skills: Whether skills were imported at its start.
        without: Names of components that are not offered, and may not be used.
        closed: What is closed to its ways to the web, beside what the operator closes; see `Closed`.
        solved: Which solutions of earlier tasks are offered: `all`, the `named` ones of its task, or none if empty.
        reflect: How often an agent looks at its answer once more before it counts.
        evolve: Whether an own tool that fails is mended, once and for this run alone.
        worker: The agent that attempts the task several times, empty for once.
        attempts: How often it does.
        successive: Whether each attempt begins from the state in which the one before ended.
        settings: Settings of agents, by `agent.setting`.
    """

    run: str
    session: str
    task: str
    workspace: str
    principal: Principal = field(default_factory=Principal)
    locale: str = "en"
    model: str | None = None
    use: Mapping[str, str] = field(default_factory=dict[str, str])
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    locked: bool = False
    allow: tuple[str, ...] = ()
    call_seconds: Annotated[float, Field(gt=0, le=CALL_SECONDS, allow_inf_nan=False)] = CALL_SECONDS
    inputs: tuple[str, ...] = ()
    sandbox: str = ""
    rules: tuple[str, ...] = ()
    narrowing: Any = None
    shared: bool = False
    searches: bool = False
    corpus: bool = False
    entities: bool = False
    skills: bool = False
    without: tuple[str, ...] = ()
    closed: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    solved: str = ""
    reflect: Annotated[int, Field(ge=0, le=10)] = 0
    evolve: bool = False
    worker: str = ""
    attempts: Annotated[int, Field(ge=1, le=16)] = 1
    successive: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def settings_of(self, agent: str) -> dict[str, Any]:
        """Return the settings of an agent, by name."""
        return {name.partition(".")[2]: one for name, one in self.settings.items() if name.partition(".")[0] == agent}


class Closed(Record):
    """The parts of the web closed to a run.

    Args:
        deny: Hosts, closed with all below them.
        canaries: Texts; a page that holds one of them is not shown.
    """

    deny: tuple[str, ...] = ()
    canaries: tuple[str, ...] = ()


class Talk(Record):
    """The place of a run in a conversation.

    Args:
        turn: Number of the turn, from 1.
        hop: Number of the agents that worked on the turn before, each handing over to the next.
        line: The words of the person that began the turn, where the task is that of a handoff.
        elsewhere: Whether that line was typed on another account.
        note: A remark on the turn before, for example whether a call in flight was carried out; no words of a person.
        history: The conversation before the run, folded.
        forked: `session@turn` that the conversation goes on from, in the runs of its first turn.
    """

    turn: int = Field(ge=1)
    hop: int = Field(default=0, ge=0)
    line: str = ""
    elsewhere: bool = False
    note: str = ""
    history: tuple[Said, ...] = ()
    forked: str = ""

    def said(self) -> tuple[Said, ...]:
        """Return the conversation before the run, with the remark on its last turn."""
        return (*self.history, Said(text=self.note)) if self.note else self.history

    def typed(self, task: str) -> tuple[str, ...]:
        """Return the words of the conversation typed by the person: of a handoff not its task, written by an agent."""
        begun = (self.line if self.hop else task,) if not self.elsewhere else ()
        return (*(one.text for one in self.said() if one.who == PERSON), *begun)

    @property
    def retold(self) -> bool:
        """Whether words of agents come with the task."""
        return self.hop > 0 or any(one.who != PERSON for one in self.history)


class TaskFile(Record):
    """The fields of a task file; only `task` is required.

    Args:
        task: What to do, in words.
        files: Files it may use, relative to the folder of the task file.
        agent: Which agent works on it.
        model: Which model configuration answers, the home's default without one.
        use: Exact versions of components, by `kind:name`.
        budget: What it may use.
        tools: The only tools the agent may use; with `*`, all that are active and trusted, beside these and its own.
        also: Tools that are offered for certain, beside the agent's own or those.
        allow: Components, `name` or `kind:name`, that may leave the workspace although nobody consented to them yet;
            for programs and options, as a file may not say it.
        policy: Rules for its calls, as in `[policy]` of `tea.toml`; they ask or deny, as a task narrows the policy.
        without: Agents, tools and environments, `name` or `kind:name`, that no agent of the run is offered or may use.
        closed: What of the web is closed to it, beside what the operator closes.
        fresh: Whether no solution of an earlier task is offered, but those that `use` names.
        reflect: How often an agent in the tool-calling loop looks at its answer once more before it counts.
        evolve: Whether a failing own tool is mended in the tool-calling loop, once and for the run alone.
        attempts: How often its agent attempts it, under one budget; then a judge compares the answers.
        successive: Whether each attempt begins from the state in which the one before ended, in place of side by side.
        settings: Settings of agents, by `agent.setting`, of those that they list in `metadata["settings"]`.
        answer: JSON Schema of the wanted answer.
        id: The task's own id.
        session: The session it belongs to.
        talk: Its place in a conversation, set by `tea chat`.
        call_seconds: Deadline of one call of a tool or action, 300 seconds by default.
    """

    task: str = Field(min_length=1, max_length=200_000)
    files: tuple[str, ...] = Field(default=(), max_length=1000)
    agent: str = "planner"
    model: str | None = Field(default=None, min_length=1)
    use: dict[str, str] = Field(default_factory=dict[str, str])
    budget: Budget = Budget()
    tools: tuple[str, ...] | None = None
    also: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    policy: dict[str, Any] | list[Any] | None = None
    without: tuple[str, ...] = ()
    closed: Closed = Closed()
    fresh: bool = False
    reflect: int = Field(default=0, ge=0, le=10)
    evolve: bool = False
    attempts: int = Field(default=1, ge=1, le=16)
    successive: bool = False
    settings: dict[str, Any] = Field(default_factory=dict[str, Any])
    answer: dict[str, Any] | None = None
    id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$")
    session: str | None = None
    talk: Talk | None = None
    call_seconds: float | None = Field(default=None, gt=0, le=CALL_SECONDS, allow_inf_nan=False)

    @model_serializer(mode="wrap")
    def _sparse(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        left_out = ("talk", "fresh", "reflect", "evolve", "call_seconds", "successive", "settings")
        data = without_empty(whole(self), *left_out)
        return data if self.attempts > 1 else {name: value for name, value in data.items() if name != "attempts"}

    @model_validator(mode="after")
    def _are_attempts(self) -> Self:
        if self.successive and self.attempts == 1:
            raise BadInput("`successive` needs several attempts.", fix="set attempts, or --attempts, from 2 to 16.")
        if self.reflect and self.attempts > 1:
            problem = "A task with several attempts has no `reflect`: the judge looks at their answers."
            raise BadInput(problem, fix="leave one of the two out.")
        return self

    @field_validator("task")
    @classmethod
    def _has_words(cls, value: str) -> str:
        if not value.strip() or "\x00" in value:
            raise ValueError("is empty, or holds a NUL character")
        return value

    @field_validator("agent")
    @classmethod
    def _is_agent(cls, value: str) -> str:
        ref = Ref.parse(value, kind="agent")
        if ref.kind != "agent" or ref.operation is not None:
            raise BadRef(f"{value[:80]!r} is not an agent.", fix="write its name, perhaps with @version.")
        return value

    @field_validator("session")
    @classmethod
    def _is_session(cls, value: str | None) -> str | None:
        return check_session(value)

    @field_validator("tools")
    @classmethod
    def _are_names(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for name in value or ():
            if name != EVERY:
                check_name(name, "a tool")
        return value

    @field_validator("also")
    @classmethod
    def _are_tools(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(check_name(name, "a tool") for name in value)

    @field_validator("allow")
    @classmethod
    def _are_components(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            kind, _, rest = name.rpartition(":")
            if kind not in ("", *CALLED):
                raise BadRef(f"{name[:80]!r} is not called by an agent.", fix=f"name one of {', '.join(CALLED)}.")
            check_name(rest)
        return value

    @field_validator("policy")
    @classmethod
    def _narrows(cls, value: dict[str, Any] | list[Any] | None) -> dict[str, Any] | list[Any] | None:
        read_task_rules(value)
        return value

    @field_validator("without")
    @classmethod
    def _are_offered(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            kind, _, rest = name.rpartition(":")
            if kind not in ("", *OFFERED):
                raise BadRef(f"{name[:80]!r} is not offered to agents.", fix=f"name one of {', '.join(OFFERED)}.")
            check_name(rest)
        return value

    @field_validator("use")
    @classmethod
    def _are_versions(cls, value: dict[str, str]) -> dict[str, str]:
        for ref, selector in value.items():
            if str(Ref.parse(ref).at(None)) != ref:
                raise BadRef(
                    f"{ref[:80]!r} is not of the form kind:name.", fix="write kind:name, and the version as value."
                )
            check_selector(selector)
        return value

    @field_validator("answer")
    @classmethod
    def _is_schema(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        fault = schema_fault(value) if value is not None else None
        if fault:
            raise ValueError(fault)
        return value
