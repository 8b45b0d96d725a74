"""The three executable kinds of component, and their decorators."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, ParamSpec, TypeAlias, TypeVar, Unpack, cast, get_args, overload

from typing_extensions import TypedDict

from tea.components.context import Context
from tea.components.docstring import cleaned
from tea.components.manifest import MAX_STEPS, Recovery, Sharing
from tea.components.operation import Traits
from tea.errors import BadComponent, BadRef
from tea.refs import check_name
from tea.types import Effects, JsonSchema, Result, Task

P = ParamSpec("P")
R = TypeVar("R")
ActionT = TypeVar("ActionT", bound=Callable[..., Awaitable[Any]])
Relation = Literal["hierarchical", "cooperative", "competitive"]
Loop: TypeAlias = Callable[[Context, Task], Coroutine[Any, Any, Result]]
TRAITS, LOOP = "__tea_traits__", "__tea_loop__"
_WORST, _EFFECTS = Traits(), get_args(Effects)
_UNTOLD: dict[str, type] = {"returns_untrusted": bool, "destinations": tuple}  # without a default of their type


class Declared(TypedDict, total=False):
    """Declarable fields of an operation; see `tea.components.operation.Traits`."""

    effects: Effects
    idempotent: bool
    scope: bool
    concurrent: bool
    network: bool
    secrets: tuple[str, ...]
    before: str
    after: str
    check: str
    returns_untrusted: bool
    destinations: tuple[str, ...]
    sandbox_network: Literal["", "hosts", "index"]


_DECLARED = tuple(Declared.__annotations__)


class DeclaredTool(Declared, total=False):
    """Declarable fields of a tool beside its traits: metadata *m* and evolvable flag *g* (Definition 2)."""

    metadata: Mapping[str, Any]
    evolvable: bool


class Tool(Generic[P, R]):
    """A function, async or not, still callable directly, with its own types."""

    def __init__(self, function: Callable[P, R], declared: DeclaredTool) -> None:
        options: dict[str, Any] = dict(declared)
        self.metadata: Mapping[str, Any] = options.pop("metadata", {})
        self.evolvable: bool = options.pop("evolvable", True)
        self.traits = _traits(options)
        self.function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, without validation or journal."""
        return self.function(*args, **kwargs)


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(**declared: Unpack[DeclaredTool]) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(function: Callable[P, R] | None = None, /, **declared: Unpack[DeclaredTool]) -> Any:
    """Declare a function as a tool; a non-async function runs in a thread.

    Args:
        function: The function, with a type hint on each parameter and a Google docstring.
        **declared: Its traits, metadata and whether it may evolve; each default is the worst case.
    """
    if function is not None:
        return Tool(function, {})
    return lambda function: Tool(function, declared)  # pyright: ignore[reportUnknownLambdaType, reportUnknownVariableType, reportUnknownArgumentType]


@overload
def action(method: ActionT, /) -> ActionT: ...
@overload
def action(**declared: Unpack[Declared]) -> Callable[[ActionT], ActionT]: ...
def action(method: Any = None, /, **declared: Unpack[Declared]) -> Any:
    """Declare an environment's async method as an action."""

    def mark(method: ActionT) -> ActionT:
        if not callable(method) or isinstance(method, staticmethod | classmethod):
            problem = f"@action stands on {method!r:.40}, which is not a method."
            raise BadComponent(problem, fix="put it on an `async def` with self.")
        method.__dict__[TRAITS] = _traits(dict(declared))
        return method

    return mark if method is None else mark(method)


class Component:
    """The common base of environments and agents: a name, metadata, and whether they may evolve."""

    name: ClassVar[str] = ""
    metadata: ClassVar[Mapping[str, Any]] = {}
    evolvable: ClassVar[bool] = True
    rules: ClassVar[str] = ""


class Environment(Component):
    """Persistent state between calls, changed only through actions (paper, Definition 5).

    Args:
        recovery: How it comes back after a crash: `durable`, it lies outside; `snapshot`, with what `snapshot`
            returned, also in other processes of a session with a name; `rerun`, by repeating its calls; `lost`, not at
            all.
        sharing: Who acts in one instance: `shared`, everybody in the session; `private`, the agents that work in one
            branch of a run, so that agents side by side do not meet in it.
    """

    recovery: ClassVar[Recovery] = "lost"
    sharing: ClassVar[Sharing] = "shared"

    async def setup(self, ctx: Context) -> None:
        """Open the environment's resources; called before the first action in an instance."""

    async def teardown(self) -> None:
        """Release the resources at the end of the session, or of a private instance's branch; bounded, shielded."""

    async def snapshot(self) -> Any:
        """Return all of the state as JSON data; with `recovery = "snapshot"`, recorded after each change."""
        raise NotImplementedError(f"{type(self).__name__} gives no snapshot")

    async def restore(self, state: Any) -> None:
        """Restore a state returned by `snapshot`; called after setup."""
        raise NotImplementedError(f"{type(self).__name__} takes no snapshot")

    async def state(self) -> Any:
        """Return the state observable by an agent now."""
        raise NotImplementedError(f"{type(self).__name__} defines no state")


class Agent(Component):
    """A worker on tasks given as text (paper, Definition 8).

    A class that derives from it declares what it is in the class, and writes `run` where it works in a way of its own.
    Without a class one is declared by a call; it is registered, run and named as the agent of others like every other.

    Class attributes:
        role: What it is, in a few words.
        competencies: What it can do.
        objectives: What it strives for.
        relations: Other agents by name: `hierarchical`, `cooperative` or `competitive`; for people and retrieval,
            and in a debate of both it says how they meet.
        tools: Names of the tools it uses unless a task says otherwise.
        agents: Names of the agents it delegates to.
        environments: Names of the environments it acts in; `name#action` offers that action alone.
        memory: The memory component it remembers by, `name` or `name@selector`; without one all of its session.
        prompt: The prompt it works through, `name` or `name@selector`; the one of all tool-calling agents by default.
        model: The model configuration that answers it where neither the run nor the operator names another.
        max_steps: Most steps for one task.
        output: JSON Schema of the answer where the task names none.

    Args:
        name: Its name, as others call it.
        instructions: What it is told to be and to do, as plain text; they become the prompt of its name.
        tools: The tools it uses: names, what `@tool` made, and functions, which are registered under their own names.
        agents: The agents it delegates to: names, and declared agents, which are registered with it.
        environments: Names of the environments it acts in; `name#action` offers that action alone.
        memory: As above.
        model: As above.
        output: The type of its answers, as pydantic knows types, or a JSON Schema. Who runs the agent as a value gets
            its answer as a value of the type.
        description: What it is for, as others read it; by default how its instructions begin.
        max_steps: As above.

    Raises:
        BadComponent: The declaration cannot be an agent's.

    Examples:
        >>> Agent(name="capitals", instructions="Answer questions about capitals.", tools=["calculator"])
        Agent(name='capitals')
    """

    role: ClassVar[str] = ""
    competencies: ClassVar[Sequence[str]] = ()
    objectives: ClassVar[Sequence[str]] = ()
    relations: ClassVar[Mapping[str, Relation]] = {}
    tools: ClassVar[Sequence[str]] = ()
    agents: ClassVar[Sequence[str]] = ()
    environments: ClassVar[Sequence[str]] = ()
    memory: ClassVar[str] = ""
    prompt: ClassVar[str] = ""
    model: ClassVar[str] = ""
    max_steps: ClassVar[int] = MAX_STEPS
    output: ClassVar[JsonSchema | None] = None

    declaration: Declaration | None = None

    def __init__(
        self,
        *,
        name: str = "",
        instructions: str = "",
        tools: Iterable[str | Callable[..., Any]] = (),
        agents: Iterable[str | Agent] = (),
        environments: Iterable[str] = (),
        memory: str = "",
        model: str = "",
        output: Any = None,
        description: str = "",
        max_steps: int = MAX_STEPS,
    ) -> None:
        if type(self) is Agent:
            self.declaration = Declaration(
                name=name,
                instructions=_cleaned("instructions", instructions),
                tools=_listed(
                    "tools",
                    tools,
                    _is_tool,
                    "the name of a tool, a function with a name of its own, or what @tool made",
                ),
                agents=_listed("agents", agents, _is_agent, "the name of an agent, or an agent declared by a call"),
                environments=_listed("environments", environments, _is_text, "the name of an environment"),
                memory=memory,
                model=model,
                output=output,
                description=_cleaned("description", description),
                max_steps=max_steps,
            )

    def __repr__(self) -> str:
        """Return its class, with its name if it was declared by a call."""
        named = "" if self.declaration is None else f"name={self.declaration.name!r}"
        return f"{type(self).__name__}({named})"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work on a task step by step, with the declared components, until it is done."""
        loop: Loop | None = getattr(self, LOOP, None)
        if loop is None:
            problem = f"{self!r} was not made by a platform, so it has no loop to work in."
            raise BadComponent(problem, fix="register it, and call it by its name.")
        return await loop(ctx, task)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The declaration of an agent without a class of its own; see `Agent` for each field."""

    name: str
    instructions: str
    tools: tuple[str | Callable[..., Any], ...]
    agents: tuple[str | Agent, ...]
    environments: tuple[str, ...]
    memory: str
    model: str
    output: Any
    description: str
    max_steps: int

    def __post_init__(self) -> None:
        """Check if an agent can be made of the declaration.

        Raises:
            BadComponent: Its name is not valid, or it has neither instructions nor a description.
        """
        try:
            check_name(cast(Any, self.name) if isinstance(cast(object, self.name), str) else "", "an agent")
        except BadRef as error:
            raise BadComponent(error.problem, fix=error.fix) from error
        if not self.instructions and not self.description:
            problem = f"The agent {self.name!r} has neither instructions nor a description."
            raise BadComponent(problem, fix="give `instructions`, `description`, or both.")


def component_name(found: type[Component]) -> str:
    """Return the name declared by a class, else its class name in snake case."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", found.__name__)
    return found.name or words.lower().lstrip("_")


def _traits(declared: dict[str, Any]) -> Traits:
    """Return the traits declared by an operation, with each value's type checked against its default."""
    for key, value in declared.items():
        fits = key in _DECLARED and type(value) is (_UNTOLD.get(key) or type(getattr(_WORST, key)))
        if (
            not fits
            or (key == "effects" and value not in _EFFECTS)
            or (key == "sandbox_network" and value not in ("", "hosts", "index"))
            or (key in ("secrets", "destinations") and not all(isinstance(name, str) for name in value))
        ):
            known = f'"{key}" is one of: {", ".join(_EFFECTS)}.' if key == "effects" else ""
            fix = known or f"declare {', '.join(_DECLARED)}, each of its type."
            raise BadComponent(f"{key!r} cannot be declared as {value!r:.40}.", fix=fix)
    return Traits(**declared, declared="effects" in declared)


def _cleaned(key: str, text: object) -> str:
    if not isinstance(text, str):
        raise BadComponent(f"`{key}` is {text!r:.40}, not text.", fix="write text.")
    if re.search("\r(?!\n)", text):
        raise BadComponent(f"`{key}` holds the character U+000D outside of a line end.", fix="remove it.")
    return cleaned(text.replace("\r\n", "\n"))  # nothing else goes: characters are checked later


def _listed(key: str, value: object, fits: Callable[[object], bool], wanted: str) -> tuple[Any, ...]:
    """Return the items listed in an agent's declaration, each once."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise BadComponent(f"`{key}` is {value!r:.40}, not a list.", fix=f"write {key}=[...].")
    listed = list(cast("Iterable[object]", value))
    for one in listed:
        if not fits(one):
            raise BadComponent(f"`{key}` holds {getattr(one, '__name__', one)!r:.60}.", fix=f"give {wanted}.")
    return tuple({one if isinstance(one, str) else id(one): one for one in listed}.values())


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_tool(value: object) -> bool:
    named = inspect.isfunction(value) and value.__name__.isidentifier()  # a lambda is not
    return isinstance(value, str | Tool) or named


def _is_agent(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, Agent) and value.declaration is not None)
