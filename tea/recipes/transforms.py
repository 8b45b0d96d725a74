"""The six transformations: the definition of a recipe, given its exact operands.

Source: paper, Definition 1 and Appendix C.4.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

from tea.components.component import Environment
from tea.components.context import Context
from tea.components.definition import Definition
from tea.components.json_schema import schema_fault, value_faults, without_patterns
from tea.components.manifest import Manifest
from tea.components.operation import Executor, Operation, Signature, Traits
from tea.errors import BadComponent
from tea.recipes.executors import (
    AgentState,
    NamedAction,
    RecipeExecutor,
    Serialized,
    SharedCall,
    SharedState,
    room_of_last,
)
from tea.recipes.recipe import (
    AgentToEnvironment,
    AgentToTool,
    AnyRecipe,
    Chooser,
    EnvironmentToAgent,
    EnvironmentToTool,
    Recipe,
    ToolsToAgent,
    ToolsToEnvironment,
)
from tea.recipes.scoped_port import ScopedPort
from tea.refs import Kind
from tea.types import EVERY, JsonObject, JsonSchema, Result, Task

Work: TypeAlias = Callable[..., Coroutine[Any, Any, Result]]
TICK = "tick"
_OBSERVES = Traits(effects="reads", idempotent=True, network=False)


class Derived(Environment):
    """The instance of an environment made of something else, with its state kept elsewhere."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe


def defined(recipe: AnyRecipe, operands: Sequence[Manifest], work: Work) -> Definition:
    """Return the definition of a recipe; nothing is executed.

    Args:
        recipe: The recipe.
        operands: The exact versions it names, in its order.
        work: The loop of agents that choose.

    Raises:
        BadComponent: The operands do not fit it.
    """
    match recipe:
        case AgentToTool():
            return _agent_to_tool(recipe, operands[0])
        case EnvironmentToTool():
            return _environment_to_tool(recipe, operands[0])
        case ToolsToEnvironment():
            return _tools_to_environment(recipe, operands)
        case AgentToEnvironment():
            return _agent_to_environment(recipe, operands[0])
        case ToolsToAgent() | EnvironmentToAgent():
            return _chooser(recipe, operands, work)


def _agent_to_tool(recipe: AgentToTool, agent: Manifest) -> Definition:
    words = recipe.description or agent.description
    run = _relayed(agent, "run", name=recipe.name, description=words, scope=True)
    facts = {key: agent.metadata[key] for key in ("role", "competencies", "objectives") if agent.metadata.get(key)}
    return _definition(recipe, "tool", words, {"call": run}, rules=agent.rules, metadata=facts | _category([agent]))


def _environment_to_tool(recipe: EnvironmentToTool, environment: Manifest) -> Definition:
    operation = recipe.operands[0].parsed.operation or ""
    action = environment.operations.get(operation)
    if action is None:
        fix = f"it has {', '.join(sorted(environment.operations))}."
        raise BadComponent(f"{environment.ref} has no action {operation!r}.", fix=fix)
    conditions = [("Before", action.traits.before), ("After", action.traits.after)]
    lines = [recipe.description or action.description, *(f"{when}: {what}" for when, what in conditions if what)]
    words = "\n".join(lines)
    call = _relayed(environment, operation, name=recipe.name, description=words)
    metadata = {**_category([environment]), "toolkit": recipe.toolkit}
    return _definition(recipe, "tool", words, {"call": call}, rules=environment.rules, metadata=metadata)


def _tools_to_environment(recipe: ToolsToEnvironment, tools: Sequence[Manifest]) -> Definition:
    turn, owner = asyncio.Lock(), f"environment:{recipe.name}"
    calls = {one.name: _shared_call(recipe, one, turn) for one in tools}
    if "state" in calls:
        raise BadComponent("A tool called 'state' cannot be an action.", fix="copy it under another name first.")
    if unknown := set(recipe.shared) - {name for call in calls.values() for name in call.takes}:
        problem = f"No tool has a parameter {min(unknown)!r} to share."
        raise BadComponent(problem, fix="share names that parameters have.")
    for one in tools if recipe.shared else ():
        _check_first(recipe.shared, one)
    observe = _observer(recipe, tools, calls)
    operations = {one.name: _shared_operation(recipe, one, calls[one.name]) for one in tools}
    scope = any(one.name == recipe.state and one.operation("call").traits.scope for one in tools)
    state = SharedState(owner=owner, first=recipe.shared, observe=observe)
    operations["state"] = _state("The shared variables, and what the last actions gave.", state, scope)
    words = recipe.description or "An environment in which one may: " + "; ".join(
        f"{one.name}: {_first_line(one.description)}" for one in tools
    )
    return _definition(
        recipe, "environment", words, operations, rules=recipe.rules, recovery="durable", metadata=_category(tools)
    )


def _agent_to_environment(recipe: AgentToEnvironment, agent: Manifest) -> Definition:
    run = _relayed(agent, "run", name="run", description=agent.operation("run").description, scope=True)
    actions = {name: _named_action(agent, name, recipe) for name in recipe.actions} or {"run": run}
    turns = {True: asyncio.Lock(), False: asyncio.Lock()}
    operations = {name: replace(one, executor=Serialized(turns, one.executor)) for name, one in actions.items()}
    if "state" in recipe.actions:
        raise BadComponent("An action cannot be called 'state'.", fix="name the action otherwise.")
    state = AgentState(agent=agent)
    operations["state"] = _state(f"The rules of {agent.name}, and what it keeps.", state, scope=False)
    words, metadata = recipe.description or agent.description, _category([agent])
    return _definition(
        recipe, "environment", words, operations, rules=agent.rules, recovery="durable", metadata=metadata
    )


def _chooser(recipe: ToolsToAgent | EnvironmentToAgent, operands: Sequence[Manifest], work: Work) -> Definition:
    own = {one.name: one for one in operands}
    places = [one for one in operands if one.kind == "environment"]
    calls = [f"{one.name}_{action}" for one in places for action in one.operations if action != "state"]
    if len(set(calls)) < len(calls):
        twice = next(one for one in calls if calls.count(one) > 1)
        fix = "copy one of the environments under another name first."
        raise BadComponent(f"Two of its actions would be called {twice!r}.", fix=fix)
    rules = recipe.rules or "\n".join(one.rules for one in operands if one.rules)

    async def run(ctx: Context, task: Task) -> Result:
        """Work on a task with nothing but the recipe's operands."""
        port = ScopedPort(port=ctx.port, owner=f"agent:{recipe.name}", own=own, guard=recipe.guard)
        if reason := await port.refusal("task", {"text": task.text}):
            return Result(ok=False, reason=reason)
        tools = [one.name for one in operands if one.kind == "tool"]
        return await work(
            replace(ctx, port=port),
            task.model_copy(update={"text": _task_text(recipe, task.text), "tools": None}),
            prompt=recipe.prompt,
            tools=[name for name in tools if task.tools is None or {name, EVERY} & {*task.tools}],
            environments=[one.name for one in places],
            max_steps=recipe.max_steps,
            insights=[text for text in (rules, *recipe.objectives) if text],
        )

    words = recipe.description or f"Works on a task with {', '.join(own)}, choosing what to do."
    operation = Operation.of(run, Traits(scope=True, concurrent=True))
    metadata = {**_category(operands), **_facts(recipe, operands)}
    return _definition(recipe, "agent", words, {"run": operation}, rules=rules, metadata=metadata)


def _task_text(recipe: Chooser, text: str) -> str:
    told = recipe.initiative if isinstance(recipe, EnvironmentToAgent) else ""
    return told if told and text.strip().lower() == TICK else text


def _facts(recipe: Chooser, operands: Sequence[Manifest]) -> JsonObject:
    facts: dict[str, Any] = {
        "role": recipe.role,
        "competencies": [_first_line(one.description) for one in operands],
        "objectives": list(recipe.objectives),
        "relations": {},
        "tools": [one.name for one in operands if one.kind == "tool"],
        "agents": [],
        "environments": [one.name for one in operands if one.kind == "environment"],
        **({} if recipe.memory is None else {"memory": recipe.memory}),
    }
    return facts


def _shared_call(recipe: ToolsToEnvironment, tool: Manifest, turn: asyncio.Lock) -> SharedCall:
    call = tool.operation("call")
    return SharedCall(
        relay=RecipeExecutor.to(tool, "call"),
        action=tool.name,
        owner=f"environment:{recipe.name}",
        first=recipe.shared,
        takes=frozenset(cast("Mapping[str, Any]", call.parameters.get("properties", {}))),
        learns=frozenset(recipe.shared),
        reads=call.traits.effects == "reads",
        room=room_of_last(len(recipe.operands)),
        turn=turn,
    )


def _check_first(shared: JsonObject, tool: Manifest) -> None:
    """Raise BadComponent for initial values invalid in every call of a tool; None means no value yet."""
    schema = {key: value for key, value in tool.operation("call").parameters.items() if key != "required"}
    given = {name: value for name, value in shared.items() if value is not None and name in schema["properties"]}
    if faults := value_faults(without_patterns(schema), given):
        problem = f"What is shared does not fit {tool.name!r}: {faults[0]}."[:300]
        raise BadComponent(problem, fix="share a value that its parameter takes, or null.")


def _shared_operation(recipe: ToolsToEnvironment, tool: Manifest, call: SharedCall) -> Operation:
    """Return an action with the shared variables as optional parameters."""
    signature = tool.operation("call")
    needed = [name for name in cast("list[str]", signature.parameters.get("required", [])) if name not in recipe.shared]
    rest = {key: value for key, value in signature.parameters.items() if key != "required"}
    parameters: JsonSchema = {**rest, "required": needed} if needed else rest
    return Operation(signature=replace(signature, parameters=parameters, examples=()), executor=call)


def _observer(
    recipe: ToolsToEnvironment, tools: Sequence[Manifest], calls: Mapping[str, SharedCall]
) -> SharedCall | None:
    if recipe.state is None:
        return None
    found = next((one for one in tools if one.name == recipe.state), None)
    if found is None:
        raise BadComponent(
            f"The state's tool {recipe.state!r} is not an operand.", fix=f"name one of {', '.join(calls)}."
        )
    needed = set(cast("list[str]", found.operation("call").parameters.get("required", []))) - set(recipe.shared)
    if needed:
        raise BadComponent(f"The state's tool {recipe.state!r} needs {min(needed)!r}.", fix="share it.")
    return replace(calls[recipe.state], learns=frozenset(), reads=True)


def _named_action(agent: Manifest, name: str, recipe: AgentToEnvironment) -> Operation:
    form = recipe.actions[name]
    if form.parameters.get("type", "object") != "object":
        problem = f"The parameters of action {name!r} are not an object: their type is {form.parameters['type']!r}."
        raise BadComponent(problem[:300], fix="describe an object, with one property for each parameter.")
    parameters: JsonSchema = {"additionalProperties": False, "properties": {}, **form.parameters, "type": "object"}
    if fault := schema_fault(parameters):
        raise BadComponent(f"The schema of action {name!r} cannot be used: {fault}."[:300], fix="correct it.")
    if bare := [key for key, one in parameters["properties"].items() if not isinstance(one, dict)]:
        problem = f"The parameter {bare[0]!r} of action {name!r} is not described by an object."
        raise BadComponent(problem[:300], fix="write an object; {} stands for anything.")
    closed = parameters["additionalProperties"] is False and "patternProperties" not in parameters
    if lost := [key for key in parameters.get("required", ()) if closed and key not in parameters["properties"]]:
        problem = f"Action {name!r} needs {lost[0]!r}, which is not one of its parameters, so it could never be called."
        raise BadComponent(problem[:300], fix="describe it among the properties.")
    traits = replace(agent.operation("run").traits, scope=True)
    signature = Signature(name=name, description=form.description, parameters=parameters, returns={}, traits=traits)
    relay, owner = RecipeExecutor.to(agent, "run"), f"environment:{recipe.name}"
    executor = NamedAction(relay=relay, action=name, owner=owner, parameters=parameters)
    return Operation(signature=signature, executor=executor)


def _state(words: str, executor: Executor, scope: bool) -> Operation:
    parameters: JsonSchema = {"additionalProperties": False, "properties": {}, "type": "object"}
    traits = replace(_OBSERVES, scope=scope)
    signature = Signature(name="state", description=words, parameters=parameters, returns={}, traits=traits)
    return Operation(signature=signature, executor=executor)


def _relayed(config: Manifest, operation: str, *, name: str, description: str, scope: bool = False) -> Operation:
    """Return an operation equal to another one except in its name and description."""
    one = config.operation(operation)
    traits = replace(one.traits, scope=one.traits.scope or scope, check="")
    signature = replace(one, name=name, description=description, examples=(), traits=traits)
    return Operation(signature=signature, executor=RecipeExecutor.to(config, operation))


def _definition(
    recipe: AnyRecipe,
    kind: Kind,
    words: str,
    operations: Mapping[str, Operation],
    *,
    rules: str,
    metadata: Mapping[str, Any],
    recovery: Any = "lost",
) -> Definition:
    made_of = {"transform": recipe.transform, "operands": [one.ref for one in recipe.operands]}
    return Definition(
        kind=kind,
        name=recipe.name,
        description=words,
        operations=operations,
        metadata={**metadata, "recipe": made_of},
        rules=rules,
        recovery=recovery,
        create=lambda: Derived(recipe) if kind == "environment" else recipe,
    )


def _category(operands: Sequence[Manifest]) -> dict[str, Any]:
    """Return the category declared by all operands."""
    found = {str(one.metadata.get("category", "")) for one in operands}
    return {"category": min(found)} if len(found) == 1 and found != {""} else {}


def _first_line(text: str) -> str:
    return text.partition("\n")[0]
