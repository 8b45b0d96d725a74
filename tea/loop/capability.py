"""Capability: a callable function for an agent, with its description for a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from tea.components.context import Context
from tea.components.lossless import lossless
from tea.components.naming import understood
from tea.errors import TeaError, UnknownComponent
from tea.loop.schemas import compact
from tea.refs import Kind
from tea.types import JsonObject, JsonSchema

DELEGATION: JsonSchema = {
    "type": "object",
    "properties": {
        "task": {"type": "string", "description": "Complete in itself: the agent knows nothing else."},
        "files": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["task"],
}
_DELEGATED: JsonSchema = {  # with what only programs give
    **DELEGATION,
    "properties": {**DELEGATION["properties"], "answer": {}, "budget": {}},
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """A callable function for a model, with its description.

    Args:
        ref: What is invoked.
        reads: Whether it declares to change nothing, so that it may run beside others.
        takes_findings: Whether it is an agent that is given what was found until then.
        files: Endings of the files that it is made for, `*` for any, `-csv` for none of that ending, `http` for an
            address, `web` for a question to the world, `local` for one to documents of the operator, `pages` for work
            on a page, `alone` for a task without files, or any where no code can run; empty where it needs none.
        topics: Words that call for an agent in a large task with files; empty where any such task does.
        exact: Exact refs in place of what its argument `name` may be, so that a fork makes the same call again.
        codes: Whether it runs code that may import packages.
        shows: Whether its results are to be looked at; those of an action that only writes need not be.
        made: Whether a run made it for its own task.
        sandboxed: Whether it is an agent that acts in a sandbox.
        searches: Whether it searches the web or documents.
        trusted: Whether its name may be told before it is offered, as it is not that of a component nobody here trusts.
        whole: JSON Schema of all its arguments, also of those only programs give.
        effects: What it declares to change.
    """

    kind: Kind
    ref: str
    name: str
    description: str
    parameters: JsonObject
    reads: bool = False
    takes_findings: bool = False
    files: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    exact: Mapping[str, str] = field(default_factory=dict[str, str])
    codes: bool = False
    shows: bool = True
    made: bool = False
    sandboxed: bool = False
    searches: bool = False
    trusted: bool = True
    whole: JsonSchema = field(default_factory=dict[str, Any])
    effects: str = ""

    def words(self) -> dict[str, Any]:
        """Return the variables for its display in a prompt."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}

    def exactly(self, arguments: JsonObject) -> JsonObject:
        """Return arguments with the exact ref of the named component."""
        named = arguments.get("name")
        return {**arguments, "name": self.exact[named]} if isinstance(named, str) and named in self.exact else arguments

    def understood(self, arguments: JsonObject) -> JsonObject:
        """Return arguments by the names of its parameters, and in their types."""
        return understood({**self.parameters, "additionalProperties": False}, arguments)

    def meant(self, arguments: JsonObject) -> JsonObject:
        """Return arguments in the types of its parameters, without those equal to their defaults."""
        shown = cast("Mapping[str, Mapping[str, Any]]", self.parameters.get("properties") or {})
        found = lossless(dict(self.parameters), arguments)
        return {name: one for name, one in found.items() if shown.get(name, {}).get("default", ...) != one}

    @property
    def text(self) -> str:
        """Text for retrieving it: its name as words, and its description."""
        return f"{self.name.replace('_', ' ')}\n{self.description}"


def callables(kind: Kind, name: str, facts: JsonObject) -> list[Capability]:
    """Return the callable functions of a component, by their names in it; see `tea.runs.registry_service.facts`."""
    if kind == "environment":
        return actions_of(name, facts)
    return [tool_of(name, facts) if kind == "tool" else agent_of(name, facts)]


def tool_of(name: str, facts: JsonObject) -> Capability:
    """Return a tool as a callable function for an agent."""
    (call,) = facts["operations"]
    found, files = _capability("tool", name, name, call), _listed(facts, "files")
    return replace(found, files=files, made="made" in facts, searches=needs(facts) == "search")


def agent_of(name: str, facts: JsonObject) -> Capability:
    """Return an agent as a callable function for another agent."""
    return Capability(
        kind="agent",
        ref=name,
        name=name,
        description=str(facts.get("description", "")),
        parameters=DELEGATION,
        whole=_DELEGATED,
        effects="writes",
        takes_findings=_metadata(facts).get("takes") == "findings",
        files=_listed(facts, "files"),
        topics=_listed(facts, "topics"),
        sandboxed=needs(facts) == "sandbox",
        searches=needs(facts) == "search",
    )


def needs(facts: JsonObject) -> object:
    """Return a component's needs for acting at all: a `sandbox`, or something to `search`."""
    return _metadata(facts).get("needs")


async def has_searches(ctx: Context, agent: str) -> bool:
    """Return whether an agent has anything to search: engines, a corpus, or no need of them."""
    if ctx.searches:
        return True
    try:
        return needs(await ctx.acp.info(agent)) != "search"
    except TeaError:  # there is none
        return False


def _metadata(facts: JsonObject) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", facts.get("metadata", {}))


def _listed(facts: JsonObject, name: str) -> tuple[str, ...]:
    """Return the words under a name of a component's metadata."""
    words = _metadata(facts).get(name)
    return tuple(words.split()) if isinstance(words, str) else ()


def actions_of(name: str, facts: JsonObject) -> list[Capability]:
    """Return the actions of an environment, but its observation."""
    operations = cast("list[dict[str, Any]]", facts["operations"])
    coding = _metadata(facts).get("imports")
    found = {str(one["name"]): one for one in operations if one["name"] != "state"}
    actions = {
        action: _capability("environment", f"{name}#{action}", f"{name}_{action}", one) for action, one in found.items()
    }
    return [
        replace(one, codes=action == coding, shows=one.reads or coding is not None) for action, one in actions.items()
    ]


def chosen(actions: list[Capability], name: str, wanted: set[str]) -> list[Capability]:
    """Return the actions of an environment named by an agent.

    Raises:
        UnknownComponent: There is none of a name.
    """
    known = {one.name.removeprefix(f"{name}_"): one for one in actions}
    if unknown := sorted(wanted - known.keys()):
        problem = f"The environment {name!r} has no action {unknown[0]!r}."
        raise UnknownComponent(problem, fix=f"it has {', '.join(known)}.")
    return [one for action, one in known.items() if not wanted or action in wanted]


def _capability(kind: Kind, ref: str, name: str, operation: JsonObject) -> Capability:
    return Capability(
        kind=kind,
        ref=ref,
        name=name,
        description=operation["description"],
        parameters=compact(operation["parameters"]),
        reads=operation["traits"]["effects"] == "reads",
        whole=operation["parameters"],
        effects=operation["traits"]["effects"],
    )
