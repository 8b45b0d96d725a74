"""The three kinds of component that run, and the decorators that declare them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Generic, Literal, ParamSpec, TypeVar, Unpack, get_args, overload

from typing_extensions import TypedDict

from tea.context import Context
from tea.errors import BadComponent
from tea.operation import Traits
from tea.types import Effects, Result, Task

P = ParamSpec("P")
R = TypeVar("R")
ActionT = TypeVar("ActionT", bound=Callable[..., Awaitable[Any]])
Recovery = Literal["durable", "snapshot", "rerun", "lost"]
Relation = Literal["hierarchical", "cooperative", "competitive"]
TRAITS = "__tea_traits__"
_WORST, _EFFECTS = Traits(), get_args(Effects)


class Declared(TypedDict, total=False):
    """What an operation may declare of itself; see `tea.operation.Traits`."""

    effects: Effects
    idempotent: bool
    scope: bool
    concurrent: bool
    network: bool
    secrets: tuple[str, ...]
    before: str
    after: str
    check: str


_DECLARED = tuple(Declared.__annotations__)


class DeclaredTool(Declared, total=False):
    """What a tool may declare beside its traits: metadata *m* and evolvable flag *g* (Definition 2)."""

    metadata: Mapping[str, Any]
    evolvable: bool


class Tool(Generic[P, R]):
    """One async function. Still callable as that function, with its own types."""

    def __init__(self, function: Callable[P, Awaitable[R]], declared: DeclaredTool) -> None:
        options: dict[str, Any] = dict(declared)
        self.metadata: Mapping[str, Any] = options.pop("metadata", {})
        self.evolvable: bool = options.pop("evolvable", True)
        self.traits = _traits(options)
        self.function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, without validation or journal."""
        return await self.function(*args, **kwargs)


@overload
def tool(function: Callable[P, Awaitable[R]], /) -> Tool[P, R]: ...
@overload
def tool(**declared: Unpack[DeclaredTool]) -> Callable[[Callable[P, Awaitable[R]]], Tool[P, R]]: ...
def tool(function: Callable[P, Awaitable[R]] | None = None, /, **declared: Unpack[DeclaredTool]) -> Any:
    """Declare an async function as a tool.

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
            problem = f"@action stands on {method!r:.40}, which is no method."
            raise BadComponent(problem, fix="put it on an `async def` with self.")
        method.__dict__[TRAITS] = _traits(dict(declared))
        return method

    return mark if method is None else mark(method)


class Component:
    """What environments and agents share: a name, metadata, and whether they may evolve."""

    name: ClassVar[str] = ""
    metadata: ClassVar[Mapping[str, Any]] = {}
    evolvable: ClassVar[bool] = True
    rules: ClassVar[str] = ""


class Environment(Component):
    """State that outlives a call, changed only through actions (paper, Definition 5)."""

    recovery: ClassVar[Recovery] = "lost"

    async def setup(self, ctx: Context) -> None:
        """Open what the environment needs; called before the first action of a session."""

    async def teardown(self) -> None:
        """Release it; called at the end of the session, bounded and shielded."""

    async def snapshot(self) -> Any:
        """Return all of the state as JSON data; with `recovery = "snapshot"`, recorded after each change."""
        raise NotImplementedError(f"{type(self).__name__} gives no snapshot")

    async def restore(self, state: Any) -> None:
        """Take up a state that `snapshot` gave; called after setup."""
        raise NotImplementedError(f"{type(self).__name__} takes no snapshot")

    async def state(self) -> Any:
        """Return what an agent may observe now."""
        raise NotImplementedError(f"{type(self).__name__} defines no state")


class Agent(Component):
    """Something that is given a task in words and works on it (paper, Definition 8).

    Args:
        role: What it is, in a few words.
        competencies: What it can do.
        objectives: What it strives for.
        relations: Other agents by name: `hierarchical`, `cooperative` or `competitive`.
        tools: Names of the tools it uses unless a task says otherwise.
        agents: Names of the agents it delegates to.
        environments: Names of the environments it acts in.
        memory: The memory component it remembers by, `name` or `name@selector`; without one all of its session.
    """

    role: ClassVar[str] = ""
    competencies: ClassVar[tuple[str, ...]] = ()
    objectives: ClassVar[tuple[str, ...]] = ()
    relations: ClassVar[Mapping[str, Relation]] = {}
    tools: ClassVar[tuple[str, ...]] = ()
    agents: ClassVar[tuple[str, ...]] = ()
    environments: ClassVar[tuple[str, ...]] = ()
    memory: ClassVar[str] = ""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work on a task until it is done."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it works")


def component_name(found: type[Component]) -> str:
    """Return the name a class declares, else its class name in snake case."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", found.__name__)
    return found.name or words.lower().lstrip("_")


def _traits(declared: dict[str, Any]) -> Traits:
    """Return what an operation declares of itself, each value of the type of its default."""
    for key, value in declared.items():
        fits = key in _DECLARED and type(value) is type(getattr(_WORST, key))
        if (
            not fits
            or (key == "effects" and value not in _EFFECTS)
            or (key == "secrets" and not all(isinstance(name, str) for name in value))
        ):
            fix = f"declare {', '.join(_DECLARED)}, each of its type."
            raise BadComponent(f"{key!r} cannot be declared as {value!r:.40}.", fix=fix)
    return Traits(**declared, declared="effects" in declared)
