"""Recipe: a transformation as stored data, the only source besides Python and prompts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import Field, TypeAdapter, ValidationError

from tea.components.manifest import canonical, is_recipe
from tea.components.operation import reasons_in_document
from tea.errors import BadComponent, BadRef, TeaError
from tea.refs import Kind, Ref, check_name, is_digest, is_version
from tea.store.files import parse_json_strict
from tea.types import Record

Transform = Literal["A2T", "E2T", "T2E", "T2A", "A2E", "E2A"]
TRANSFORMS: tuple[Transform, ...] = get_args(Transform)
LOOP_PROMPT = "prompt:tool_calling"
_KINDS: Mapping[str, Kind] = {"A": "agent", "E": "environment", "T": "tool"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """The source kind and the target kind of a transformation."""

    source: Kind
    target: Kind

    @classmethod
    def of(cls, transform: Transform) -> "Direction":
        """Read a transformation's name."""
        return cls(source=_KINDS[transform[0]], target=_KINDS[transform[2]])


class Operand(Record):
    """The operand of a recipe: an exact version, and for E2T one of its operations.

    Args:
        ref: `kind:name@version`, for E2T with `#operation`.
        digest: Of that version; the version alone is for people.
    """

    ref: str
    digest: str

    @property
    def parsed(self) -> Ref:
        """The ref, read."""
        return Ref.parse(self.ref)


class ActionForm(Record):
    """An action offered by an agent as an environment, with a schema of its own."""

    description: str = Field(min_length=1)
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})


class Recipe(Record):
    """The common fields of every recipe.

    Args:
        name: Of the component it makes.
        description: What that is for; from the operands by default.
        operands: What it is made of.
        follow: Whether it becomes a new version when an operand does.
    """

    name: str
    description: str = ""
    operands: tuple[Operand, ...] = Field(min_length=1)
    follow: bool = False


class AgentToTool(Recipe):
    """An agent as a tool."""

    transform: Literal["A2T"]


class EnvironmentToTool(Recipe):
    """One action of an environment as a tool.

    Args:
        toolkit: The set of tools that the environment's actions make together.
    """

    transform: Literal["E2T"]
    toolkit: str


class ToolsToEnvironment(Recipe):
    """Tools as the actions of one environment.

    Args:
        shared: Shared variables and their first values. A tool that has a parameter of that name gets the value where
            the caller gives none; an argument or a member of a result of that name becomes the value.
        state: Name of the tool that observes, beside the shared variables.
        rules: How to act in it.
    """

    transform: Literal["T2E"]
    shared: dict[str, Any] = Field(default_factory=dict[str, Any])
    state: str | None = None
    rules: str = ""


class Chooser(Recipe):
    """The common base of T2A and E2A: an agent choosing among its operands.

    Args:
        prompt: Ref of the prompt it chooses through.
        guard: Ref of a tool that may refuse a task or a call: of `action`, `arguments` and `state` it takes what it
            declares, and returns why not, empty where nothing is wrong.
        memory: Ref of the memory component it remembers by; without one all of its session.
        max_steps: Most steps for one task.
        rules: How it decides; for E2A the environment's by default.
        role: What it is, in a few words.
        objectives: What it strives for.
    """

    prompt: str = LOOP_PROMPT
    guard: str | None = None
    memory: str | None = None
    max_steps: int = Field(default=20, ge=1, le=1_000)
    rules: str = ""
    role: str = ""
    objectives: tuple[str, ...] = ()


class ToolsToAgent(Chooser):
    """Tools as the actuators of an agent."""

    transform: Literal["T2A"]


class AgentToEnvironment(Recipe):
    """An agent as an environment for others to act in.

    Args:
        actions: Actions by name, each a task for the agent in JSON; the agent's own `run` where there are none.
    """

    transform: Literal["A2E"]
    actions: dict[str, ActionForm] = Field(default_factory=dict[str, ActionForm])


class EnvironmentToAgent(Chooser):
    """An environment as an agent acting in it.

    It wakes only when it is given a task: by a person, another agent, or a program that keeps time. The task `tick`,
    that word alone in any case, is its turn: it follows its initiative then; without one `tick` is a task like others.
    It may start nothing but observations and actions of its own environments, and `done`, for `max_steps` steps. The
    guard is asked before each task, `tick` too, and before each action.

    Args:
        initiative: What it does in its turn, of its own accord.
    """

    transform: Literal["E2A"]
    initiative: str = ""


AnyRecipe: TypeAlias = (
    AgentToTool | EnvironmentToTool | ToolsToEnvironment | ToolsToAgent | AgentToEnvironment | EnvironmentToAgent
)
_MANY = frozenset({"T2E", "T2A", "E2A"})


def transformation(how: str) -> Transform:
    """Read a transformation from a person's input.

    Raises:
        BadComponent: It is none of the six.
    """
    found: Transform | None = next((one for one in TRANSFORMS if one == how.strip().upper()), None)
    if found is None:
        raise BadComponent(f"{how[:40]!r} is not a transformation.", fix=f"use one of {', '.join(TRANSFORMS)}.")
    return found


def a_kind(kind: Kind) -> str:
    """Return a kind with its article."""
    return f"an {kind}" if kind[0] in "ae" else f"a {kind}"


def read_recipe(source: str) -> AnyRecipe:
    """Read a recipe.

    Raises:
        BadComponent: It is not a recipe, or says what cannot be.
    """
    try:
        return _checked(_adapter().validate_python(parse_json_strict(source.encode(), "The recipe")))
    except ValidationError as error:
        fix = "see `tea transform --help` for what a recipe says."
        raise BadComponent(f"This is not a recipe: {reasons_in_document(error)}."[:300], fix=fix) from error
    except BadRef as error:
        raise BadComponent(error.problem, fix=error.fix) from error
    except UnicodeEncodeError as error:
        raise BadComponent(f"This is not a recipe: {error}"[:300], fix="correct the name.") from error
    except TeaError as error:
        raise BadComponent(error.problem, fix=error.fix) from error


def passes_on(source: str, operation: str) -> bool:
    """Return whether an operation of a source only calls another operation.

    Raises:
        BadComponent: It is a recipe that says what cannot be.
    """
    match read_recipe(source) if is_recipe(source) else None:
        case AgentToTool() | EnvironmentToTool():
            return True
        case ToolsToEnvironment(state=observer):
            return operation != "state" or observer is not None
        case AgentToEnvironment():
            return operation != "state"
        case _:
            return False


def write_recipe(recipe: AnyRecipe) -> str:
    """Return the canonical text of a recipe; default values are left out."""
    return canonical(recipe.model_dump(mode="json", exclude_defaults=True)).decode()


def make_recipe(fields: Mapping[str, Any]) -> AnyRecipe:
    """Return a recipe from a person's input.

    Raises:
        BadComponent: It says what cannot be.
    """
    try:
        return read_recipe(canonical(fields).decode())
    except (ValueError, TypeError) as error:
        raise BadComponent(f"The options are not JSON: {error}."[:300], fix="give plain data.") from error


@cache
def _adapter() -> TypeAdapter[AnyRecipe]:
    return TypeAdapter(Annotated[AnyRecipe, Field(discriminator="transform")])


def _checked(recipe: AnyRecipe) -> AnyRecipe:
    """Return a recipe after checking its names and refs against the grammar."""
    check_name(recipe.name)
    direction = Direction.of(recipe.transform)
    for operand in recipe.operands:
        _check_operand(recipe, operand, direction)
    names = [operand.parsed.name for operand in recipe.operands]
    if len(set(names)) < len(names):
        raise BadComponent(f"{recipe.transform} got {names[0]!r} twice.", fix="name each operand once.")
    if len(names) > 1 and recipe.transform not in _MANY:
        raise BadComponent(f"{recipe.transform} takes one operand, not {len(names)}.", fix="transform each by itself.")
    if isinstance(recipe, Chooser):
        Ref.parse(recipe.prompt, kind="prompt")
    if isinstance(recipe, Chooser) and recipe.guard is not None:
        Ref.parse(recipe.guard, kind="tool")
    if isinstance(recipe, Chooser) and recipe.memory is not None:
        Ref.parse(recipe.memory, kind="memory")
    for name in [*(recipe.actions if isinstance(recipe, AgentToEnvironment) else ())]:
        check_name(name, "an action")
    return recipe


def _check_operand(recipe: AnyRecipe, operand: Operand, direction: Direction) -> None:
    ref = operand.parsed
    if ref.kind != direction.source:
        fix = f"name {a_kind(direction.source)}."
        raise BadComponent(f"{recipe.transform} cannot transform {a_kind(ref.kind)}: {operand.ref}.", fix=fix)
    if ref.selector is None or not is_version(ref.selector) or not is_digest(operand.digest):
        raise BadComponent(f"The operand {operand.ref} is not an exact version.", fix="write @VERSION and its digest.")
    if (ref.operation is not None) != (recipe.transform == "E2T"):
        problem = f"The operand {operand.ref} of {recipe.transform} names {'an' if ref.operation else 'no'} operation."
        raise BadComponent(problem, fix="only an operand of E2T names one.")
