"""Admission: the checks of a task before its run is written."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from tea.components.json_schema import value_faults
from tea.errors import BadInput
from tea.journal.header import CALLED, TaskFile
from tea.loop.shortlist import MOST_SCHEMAS
from tea.protocols.lock import not_locked
from tea.refs import Kind, Ref
from tea.runs.budget import check_price
from tea.runs.deps import RunDeps
from tea.types import EVERY

ATTEMPTS, JUDGE = "attempts", "judge"  # the agents that lead several attempts, and compare their answers


async def admit(deps: RunDeps, task: TaskFile, *, locked: bool) -> None:
    """Check for the existence of a task's model, agent, tools and versions.

    Args:
        deps: What the run would share.
        task: The task.
        locked: Whether only what its `use` names may be used.

    Raises:
        ProviderError: Its model is not configured.
        BadInput: Its `use` names a model; or an agent has no such setting.
        UnknownComponent: Its agent, or what it uses or allows, is not there.
        Quarantined: Its agent is not trusted.
        NotLocked: It is locked, and its agent or a tool that it names is not.
    """
    await admit_model(deps, task.model, task)
    agents, agent = deps.libraries["agent"], Ref.parse(task.agent, kind="agent")
    named = list(dict.fromkeys(name for name in (*(task.tools or ()), *task.also) if name != EVERY))
    leading = (ATTEMPTS, JUDGE) if task.attempts > 1 else ()
    reached = (str(agent.at(None)), *(f"agent:{one}" for one in leading), *(f"tool:{one}" for one in named))
    for name in reached if locked else ():
        if name not in task.use:
            raise not_locked(name)
    selector = agent.selector or task.use.get(str(agent.at(None)))
    definition = await agents.definition(await agents.info(agent.at(selector)))
    if declared := definition.metadata.get("model"):
        await admit_model(deps, task.model, task, declared)
    for ref, chosen in task.use.items():
        kind = cast(Any, ref.partition(":")[0])
        if kind == "model":
            raise BadInput(
                f"A task pins no model, so {ref} in its `use` would change nothing.", fix="name it as `model`."
            )
        await deps.libraries[kind].info(f"{ref}@{chosen}")
    if named:
        tools = deps.libraries["tool"]
        for name in named if len(named) <= MOST_SCHEMAS else await tools.missing(named):
            await tools.info(name)
    for name in task.allow:
        await _there(deps, name)
    for name, value in task.settings.items():
        await _can_be_set(deps, name, value)


async def _can_be_set(deps: RunDeps, name: str, value: Any) -> None:
    """Check a setting of an agent, `agent.setting`, against the schema in the agent's `metadata["settings"]`.

    Raises:
        BadInput: It has no such setting, or the value does not fit.
        UnknownComponent: There is no such agent.
    """
    agent, _, setting = name.partition(".")
    schemas = (await deps.libraries["agent"].info(agent)).metadata.get("settings", {})
    if setting not in schemas:
        fix = f"its settings are {', '.join(schemas)}." if schemas else "leave it out."
        raise BadInput(f"agent:{agent} has no setting {setting[:60]!r}.", fix=fix)
    if faults := value_faults(schemas[setting], value):
        raise BadInput(f"The setting {name} is not usable: {faults[0]}.", fix="give another value.")


async def _there(deps: RunDeps, name: str) -> None:
    """Check for the existence of a component allowed by a task, of either kind if the name has none.

    Raises:
        UnknownComponent: It is not there.
    """
    kind, _, bare = name.rpartition(":")
    kinds: list[Kind] = [one for one in CALLED if kind in ("", one)]
    if all([await deps.libraries[one].missing([bare]) for one in kinds]):
        await deps.libraries[kinds[0]].info(bare)


async def admit_model(deps: RunDeps, model: str | None, task: TaskFile, declared: str = "") -> None:
    """Check the configuration of a run's and its agent's models, and their prices if the budget needs them.

    `declared` is the model that the agent itself names.

    Raises:
        ProviderError: It is not configured.
        BadInput: Nothing says what it costs.
    """
    models, agent = deps.models, Ref.parse(task.agent, kind="agent").name
    chain = [one for role in ("", agent) for one in models.chain(models.config(model, role, role and declared))]
    if task.budget.usd is not None:
        await asyncio.to_thread(check_price, chain, task.budget)
