"""Definitions: a component's declaration as one definition of its kind, or an error for a bad declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, cast, get_args

from tea.components.annotations import read_hints
from tea.components.component import (
    LOOP,
    TRAITS,
    Agent,
    Component,
    Environment,
    Loop,
    Recovery,
    Relation,
    Sharing,
    Tool,
    component_name,
)
from tea.components.docstring import cleaned
from tea.components.manifest import MAX_STEPS, canonical
from tea.components.operation import Operation, Signature, Traits
from tea.errors import BadComponent, BadRef
from tea.refs import NAME, Kind, Ref
from tea.threads import Threads
from tea.types import EVERY, JsonObject, Task

_RELATIONS: tuple[Relation, ...] = get_args(Relation)
_FACTS = (
    "role", "competencies", "objectives", "relations", "tools", "agents", "environments", "memory", "prompt", "model",
    "max_steps", "output",
)  # fmt: skip
_RUN = "write `async def run(self, ctx: Context, task: Task) -> Result`."
_HOOKS = {"setup": ("ctx",), "teardown": (), "snapshot": (), "restore": ("state",)}


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Definition:
    """The definition of a component in its source.

    Args:
        create: Makes a fresh instance: of an environment or agent the one whose operations are called, of a tool the
            function; None where there is none.
        rules: How to act in an environment (R_E), or how an agent decides.
        recovery: How an environment comes back after a crash.
        sharing: Whether everybody in a session acts in one instance of an environment, or each branch in its own.
    """

    kind: Kind
    name: str
    description: str
    operations: Mapping[str, Operation]
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    evolvable: bool = True
    rules: str = ""
    recovery: Recovery = "lost"
    sharing: Sharing = "shared"
    create: Callable[[], object] | None = None

    @property
    def declared(self) -> JsonObject:
        """The components declared by an agent for its work, as a copy; empty for another kind."""
        if self.kind != "agent":
            return {}
        listed = {key: list(self.metadata.get(key, ())) for key in ("tools", "agents", "environments")}
        prompt, most = self.metadata.get("prompt", ""), self.metadata.get("max_steps", MAX_STEPS)
        return {**listed, "prompt": prompt, "max_steps": most, "output": deepcopy(self.metadata.get("output"))}


def define(
    found: object,
    loop: Loop | None = None,
    threads: Threads | None = None,
    signatures: Mapping[str, Signature] | None = None,
) -> Definition:
    """Return the definition of a tool, or of an environment's or agent's class.

    Args:
        found: The tool or the class.
        loop: What an agent works in that writes no `run`.
        threads: Where a tool runs that is not async; threads of its own by default.
        signatures: What was read of its operations before, by their names.

    Raises:
        BadComponent: It is none of them, or declares itself badly.
    """
    signatures = signatures or {}
    if isinstance(found, Tool):
        return _define_tool(cast("Tool[..., Any]", found), threads, signatures)
    if isinstance(found, type) and issubclass(found, Environment) and found is not Environment:
        return _define_environment(found, signatures)
    if isinstance(found, type) and issubclass(found, Agent) and found is not Agent:
        return _define_agent(found, loop, signatures)
    raise BadComponent(f"{found!r:.80} is not a component.", fix="use @tool, or derive from Environment or Agent.")


def _define_tool(found: Tool[..., Any], threads: Threads | None, signatures: Mapping[str, Signature]) -> Definition:
    _check_facts(found)
    operation = Operation.of(found.function, found.traits, threads=threads, known=signatures.get("call"))
    return Definition(
        kind="tool",
        name=_checked(found.__name__),
        description=operation.signature.description,
        operations={"call": operation},
        metadata=found.metadata,
        evolvable=found.evolvable,
        create=lambda: copy(found),
    )


def _define_environment(found: type[Environment], signatures: Mapping[str, Signature]) -> Definition:
    _check_facts(found)
    _check_init(found, "take it in an action, or make it in `setup`")
    if found.state is Environment.state:
        raise BadComponent(f"{found.__name__} has no state.", fix="write `async def state(self) -> ...`.")
    if found.recovery not in get_args(Recovery):
        problem = f"{found.__name__} declares an unknown recovery {found.recovery!r:.40}."
        raise BadComponent(problem, fix=f"declare one of {', '.join(get_args(Recovery))}.")
    if found.sharing not in get_args(Sharing):
        problem = f"{found.__name__} declares an unknown sharing {found.sharing!r:.40}."
        raise BadComponent(problem, fix=f"declare one of {', '.join(get_args(Sharing))}.")
    if found.recovery == "snapshot" and (
        found.snapshot is Environment.snapshot or found.restore is Environment.restore
    ):
        problem = f"{found.__name__} recovers by snapshot and does not write `snapshot` and `restore`."
        raise BadComponent(problem, fix="write both, or declare another recovery.")
    _check_hooks(found)
    declared = {name: inspect.getattr_static(_inner(found, name), TRAITS, None) for name in dir(found)}
    operations = {
        _checked(name, "an action"): _operation(found, name, traits, signatures)
        for name, traits in declared.items()
        if traits
    }
    operations["state"] = _operation(
        found, "state", Traits(effects="reads", idempotent=True, network=False), signatures
    )
    return Definition(
        kind="environment",
        name=_checked(component_name(found)),
        description=_words(found),
        operations=operations,
        metadata=found.metadata,
        evolvable=found.evolvable,
        rules=cleaned(found.rules),
        recovery=found.recovery,
        sharing=found.sharing,
        create=found,
    )


def _define_agent(found: type[Agent], loop: Loop | None, signatures: Mapping[str, Signature]) -> Definition:
    _check_facts(found)
    check_told(found)
    _check_init(found, "take it from the task")
    if twice := sorted(set(found.metadata) & set(_FACTS)):
        raise BadComponent(f"The metadata of {found.__name__} repeats {twice[0]!r}.", fix="declare it in the class.")
    run = _operation(found, "run", Traits(scope=True, concurrent=True), signatures)
    if read_hints(found.run).get("task") is not Task:
        raise BadComponent(f"`run` of {found.__name__} does not take a task.", fix=_RUN)
    facts: dict[str, Any] = {
        "role": _words_of(found, "role", found.role),
        "competencies": [_words_of(found, "competencies", one) for one in _sequence(found, "competencies")],
        "objectives": [_words_of(found, "objectives", one) for one in _sequence(found, "objectives")],
        "relations": _relations(found),
        **{key: _names(found, key) for key in ("tools", "agents", "environments")},
        **({"memory": _named(found, "memory")} if found.memory != "" else {}),
        **({"prompt": _named(found, "prompt")} if found.prompt != "" else {}),
        **({"model": _words_of(found, "model", found.model)} if found.model != "" else {}),
        "max_steps": _max_steps(found),
        **({"output": _output(found)} if found.output is not None else {}),
    }
    return Definition(
        kind="agent",
        name=_checked(component_name(found)),
        description=_words(found),
        operations={"run": run},
        metadata={**facts, **found.metadata},
        evolvable=found.evolvable,
        rules=cleaned(found.rules),
        create=partial(_agent, found, loop),
    )


def _agent(found: type[Agent], loop: Loop | None) -> Agent:
    """Return an instance able to work in the loop."""
    made = found()
    object.__setattr__(made, LOOP, loop)  # also where the class is a frozen dataclass
    return made


def _check_facts(found: Tool[..., Any] | type[Component]) -> None:
    """Refuse common declarations of the wrong type."""
    for key, wanted in (("metadata", Mapping), ("evolvable", bool), ("rules", str)):
        value = getattr(found, key, "")
        if not isinstance(value, wanted):
            problem = f"{key} of {found.__name__} is {value!r:.40}, no {wanted.__name__.lower()}."
            raise BadComponent(problem, fix="mend its declaration.")


def check_told(found: type[Agent]) -> None:
    """Refuse instructions in the class of an agent without a `run` of its own, where nothing would read them.

    Raises:
        BadComponent: It has some.
    """
    if found.run is Agent.run and hasattr(found, "instructions"):
        problem = f"Nothing reads the `instructions` in the class {found.__name__}."
        fix = 'write Agent(name="...", instructions="..."), or name the prompt that holds them: prompt = "...".'
        raise BadComponent(problem, fix=fix)


def _check_init(found: type[Component], instead: str) -> None:
    """Refuse a class with required arguments of `__init__`: the platform makes instances without any."""
    if (found.__new__, found.__init__) == (object.__new__, object.__init__):
        return  # its signature would be parsed from the words of a docstring
    try:
        inspect.signature(found).bind()
    except TypeError as error:
        problem = f"`__init__` of {found.__name__} needs what the platform does not give: {error}."
        raise BadComponent(problem, fix=f"give it a default, or {instead}.") from error
    except ValueError:  # a signature that Python cannot tell
        return


def _check_hooks(found: type[Environment]) -> None:
    """Refuse an environment without usable setup, teardown, or restore methods."""
    for name, given in _HOOKS.items():
        method = getattr(found, name)
        try:
            inspect.signature(method).bind(found, *given)
        except (TypeError, ValueError):
            method = None
        if not inspect.iscoroutinefunction(method):
            problem = f"{name!r} of {found.__name__} cannot be called as the platform calls it."
            raise BadComponent(problem, fix=f"write `async def {name}({', '.join(('self', *given))})`.")


def _operation(found: type[Component], name: str, traits: Traits, signatures: Mapping[str, Signature]) -> Operation:
    """Return a method as an operation.

    Raises:
        BadComponent: It is not a method that an instance could be given to, or not one that `Operation.of` takes.
    """
    method = inspect.getattr_static(found, name)
    if not inspect.isfunction(method) or not inspect.signature(method).parameters:
        problem = f"{name!r} of {found.__name__} is not an instance method."
        raise BadComponent(problem, fix=f"write `async def {name}(self, ...)`.")
    return Operation.of(method, traits, method=True, known=signatures.get(name))


def _inner(found: type[Component], name: str) -> object:
    """Return an attribute of a class; for a property its inner function, not a method."""
    static = inspect.getattr_static(found, name)  # nothing of the class runs
    match static:
        case property():
            return static.fget
        case cached_property():
            return cast("cached_property[object]", static).func
        case classmethod() | staticmethod():
            return cast("staticmethod[..., object]", static).__func__
        case _:
            return static


def _relations(found: type[Agent]) -> dict[str, Relation]:
    """Return an agent's relations, each to the name of another agent."""
    relations = cast(object, found.relations)
    if not isinstance(relations, Mapping):
        raise BadComponent(
            f"The relations of {found.__name__} are not a mapping.", fix='write {"analyzer": "cooperative"}.'
        )
    for name, relation in cast("Mapping[object, object]", relations).items():
        _checked(str(name), "an agent")
        if relation not in _RELATIONS:
            problem = f"{found.__name__} is {str(relation)[:40]!r} to {name!r}, which is not a relation."
            raise BadComponent(problem, fix=f"use one of {', '.join(_RELATIONS)}.")
    return dict(found.relations)


def _names(found: type[Agent], key: str) -> list[str]:
    listed = [_words_of(found, key, one) for one in _sequence(found, key)]
    for one in listed:
        for part in one.split("#", 1) if key == "environments" else () if (key, one) == ("tools", EVERY) else (one,):
            _checked(part, f"one of {key}")
    return listed


def _named(found: type[Agent], kind: Kind) -> str:
    """Return the name of an agent's memory component or prompt, after checking it."""
    text = _words_of(found, kind, getattr(found, kind))
    try:
        ref = Ref.parse(text, kind=kind)
    except BadRef as error:
        raise BadComponent(f"The {kind} of {found.__name__} is not a ref: {error.problem}", fix=error.fix) from error
    if ref.kind != kind or ref.operation is not None:
        problem = f"{found.__name__} names {text!r:.80} as its {kind}, but that is not a name."
        raise BadComponent(problem, fix=f'write {kind} = "NAME", perhaps with @version.')
    return text


def _max_steps(found: type[Agent]) -> int:
    most = cast(object, found.max_steps)
    if type(most) is not int or most < 1:
        raise BadComponent(
            f"max_steps of {found.__name__} is {most!r:.40}, not a number of steps.",
            fix="write a number of at least 1.",
        )
    return most


def _output(found: type[Agent]) -> dict[str, Any]:
    """Return the schema of an agent's answers; its usability is checked on storing."""
    output = cast(object, found.output)
    try:
        usable = isinstance(output, Mapping) and bool(canonical(output))
    except (TypeError, ValueError, RecursionError):
        usable = False
    if not usable:
        raise BadComponent(
            f"output of {found.__name__} is {output!r:.40}, not a JSON Schema.", fix="write a JSON Schema, as a dict."
        )
    return dict(cast("Mapping[str, Any]", output))


def _sequence(found: type[Agent], key: str) -> Sequence[object]:
    """Return a sequence listed by an agent, kept as a tuple, since its class is shared by all runs.

    A single text is refused, as it would be split into letters.
    """
    given: object = getattr(found, key)
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise BadComponent(f"{key} of {found.__name__} is not a list of text.", fix=f'write {key} = ["..."].')
    listed = tuple(cast("Sequence[object]", given))
    setattr(found, key, listed)
    return listed


def _words_of(found: type[Agent], key: str, text: object) -> str:
    if not isinstance(text, str):
        raise BadComponent(f"{key} of {found.__name__} holds {text!r:.40}, which is not a text.", fix="write text.")
    return text


def _words(found: type[Component]) -> str:
    words = cleaned(found.__dict__.get("__doc__") or "")
    if not words:
        raise BadComponent(f"{found.__name__} has no docstring.", fix="say in one sentence what it is for.")
    return words


def _checked(name: str, what: str = "a component") -> str:
    if not NAME.fullmatch(name):
        fix = "use lower-case letters, digits and _, starting with a letter, at most 64."
        raise BadComponent(f"{name[:80]!r} is not a name for {what}.", fix=fix)
    return name
