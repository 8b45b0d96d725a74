"""Admission: the checks of a task before its run is written, and the header written for it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Self, cast

from tea.characters import in_sentence
from tea.clock import timestamp
from tea.components.json_schema import value_faults
from tea.errors import BadInput
from tea.journal.header import CALL_SECONDS, CALLED, RunConfig, TaskFile
from tea.journal.history import History, begun, head_of
from tea.journal.record import TraceRecord, first_record
from tea.loop.shortlist import MOST_SCHEMAS
from tea.policy.rules import read_option
from tea.refs import Kind, Ref
from tea.runs.budget import check_price
from tea.runs.deps import RunDeps, Surroundings
from tea.runs.pins import not_locked
from tea.runs.solutions import offered
from tea.source.seal import MARK
from tea.types import EVERY, JsonObject

ATTEMPTS, JUDGE = "attempts", "judge"  # the agents that lead several attempts, and compare their answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A checked task, with the facts about this machine for its run's configuration.

    Args:
        task: The task, its secrets masked.
        level: The sandbox in force.
        locked: Whether nothing but what the task's `use` names may be used.
        rules: Rules of the operator for its calls.
        around: What the run finds here.
        solved: Which solutions of earlier tasks are offered: see `Context.solved`.
    """

    task: TaskFile
    level: str
    locked: bool
    rules: tuple[str, ...]
    around: Surroundings
    solved: str

    @classmethod
    async def of(cls, deps: RunDeps, task: TaskFile, *, locked: bool, rules: tuple[str, ...]) -> Self:
        """Check a task and the operator's rules, and look at this machine.

        Raises:
            BadInput: A rule is not valid.
            TeaError: See `admit`.
        """
        await admit(deps, task, locked=locked)
        if deps.mask:
            task = TaskFile.model_validate(deps.mask.data(task.model_dump(mode="json")))
        for rule in rules:
            read_option(rule)
        around = await deps.surroundings()
        return cls(
            task=task,
            level=await deps.sandboxes.name(around.machine),
            locked=locked,
            rules=rules,
            around=around,
            solved=offered(task, around.solutions),
        )

    def run_config(self, run: str, workspace: str) -> RunConfig:
        """Return the configuration of the task's run.

        Args:
            run: Id of the run.
            workspace: Its folder.
        """
        task = self.task
        return RunConfig(
            run=run,
            session=task.session or run,
            task=task.id or run,
            workspace=workspace,
            model=task.model,
            use=task.use,
            locked=self.locked,
            allow=task.allow,
            call_seconds=task.call_seconds or CALL_SECONDS,
            inputs=task.files,
            sandbox=self.level,
            rules=self.rules,
            narrowing=task.policy,
            shared=task.session is not None,
            searches=self.around.searches,
            corpus=self.around.corpus,
            entities=self.around.entities,
            skills=self.around.skills,
            without=task.without,
            closed=task.closed.model_dump(exclude_defaults=True),
            solved=self.solved,
            reflect=task.reflect,
            evolve=task.evolve,
            worker=task.agent if task.attempts > 1 else "",
            attempts=task.attempts,
            successive=task.successive,
            settings=task.settings,
        )


def header_record(
    deps: RunDeps,
    task: TaskFile,
    run_config: RunConfig,
    inputs: list[dict[str, Any]],
    origin: History | None = None,
    fork: JsonObject | None = None,
) -> TraceRecord:
    """Return the first record of a journal, with the configuration of its model, possibly stored nowhere else.

    It has the mark of this account, unless it is that of a `fork` whose `origin` has none: the words stay those of
    others.
    """
    about = {"model": deps.models.config(run_config.model).to_json(), **({} if fork is None else {"fork": fork})}
    data = deps.mask.data({**head_of(task, run_config, inputs), **about})
    mark = {MARK: deps.seal(begun(run_config.run, data))} if origin is None or origin.own else {}
    return first_record("run", timestamp(), {**data, **mark})


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
        await _check_exists(deps, name)
    for name, value in task.settings.items():
        await _check_setting(deps, name, value)


async def _check_setting(deps: RunDeps, name: str, value: Any) -> None:
    """Check a setting of an agent, `agent.setting`, against the schema in the agent's `metadata["settings"]`.

    Raises:
        BadInput: It has no such setting, or the value does not fit.
        UnknownComponent: There is no such agent.
    """
    agent, _, setting = name.partition(".")
    schemas = (await deps.libraries["agent"].info(agent)).metadata.get("settings", {})
    if setting not in schemas:
        fix = f"its settings are {', '.join(map(repr, schemas))}." if schemas else "leave it out."
        raise BadInput(f"agent:{agent} has no setting {setting[:60]!r}.", fix=fix)
    if faults := value_faults(schemas[setting], value, limit=1):
        raise BadInput(f"The setting {in_sentence(name)} is not usable: {faults[0]}.", fix="give another value.")


async def _check_exists(deps: RunDeps, name: str) -> None:
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
