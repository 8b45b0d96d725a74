"""Engine: execution of a platform's runs and calls; loaded on first use, as a listing needs none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tea.components.port import Invocation
from tea.errors import BadTask, TeaError, error_from
from tea.host_service import HostService
from tea.journal.header import CALL_SECONDS, RunConfig, TaskFile
from tea.journal.mask import Mask, secrets_among
from tea.journal.recorder import Recorder
from tea.journal.tracer import new_run_id
from tea.policy.verdict import Verdict
from tea.prompts.manager import PromptManager
from tea.protocols.instances import Instances
from tea.refs import Kind, with_kind
from tea.runs.authorization import Authorizer
from tea.runs.deps import RunDeps, Surroundings
from tea.runs.direct import Direct, Invoke
from tea.runs.execution import Executions
from tea.runs.human_input import Person
from tea.runs.operator_policy import OperatorPolicy
from tea.runs.policy import CallRequest, Policy
from tea.runs.rules import reasoned
from tea.runs.run import Run
from tea.runs.task_file import make_task
from tea.search_service import SearchService
from tea.store.workspaces import FileWorkspaces
from tea.threads import Look
from tea.types import EVERY, JsonObject, Response
from tea.web.hosts import HostSettings
from tea.web.identity import CommitIdentity
from tea.web.search.apis import APIS
from tea.web.search.settings import SearchSettings

if TYPE_CHECKING:
    from tea.platform import Platform


@dataclass(frozen=True, slots=True)
class Engine:
    """An executor of the runs of one platform, and of calls from outside any run.

    Args:
        executions: Begins and repeats runs.
        invoke: Carries out one call from outside of any run; what it gives holds no secret.
        mask: Knows the operator's secrets.
        judge: Gives what the policy says of a call.
    """

    executions: Executions
    invoke: Invoke
    mask: Mask
    judge: Callable[[CallRequest], Awaitable[Verdict]]

    @classmethod
    def of(cls, tea: Platform, instances: Instances, policy: Policy | None, person: Person | None) -> Engine:
        """Assemble the engine from a platform's parts.

        Args:
            tea: The platform.
            instances: Its live environments.
            policy: Decides about calls; by default the operator's rules, with provenance.
            person: Answers what components ask.
        """
        servers = cast(Any, {"tool": tea.tcp, "environment": tea.ecp, "agent": tea.acp})
        search = SearchService(
            settings=SearchSettings.of(tea.settings.search),
            web=tea.web,
            keys=tea.keys,
            grants=tea.home_trust,
            corpus=lambda: tea.corpus,
            place=tea.corpus_file,
            state=tea.trust.path.parent / "web" / "search.sqlite",
        )
        deps = RunDeps(
            servers=servers,
            libraries=tea.libraries,
            models=tea.models,
            prompts=PromptManager(tea.compiled),  # only runs keep compiled prompts
            memory=tea.memory,
            policy=policy or operator_policy(tea),
            consents=tea.consents,
            seal=tea.seal,
            remember=tea.allowed.grant,
            person=person,
            sandboxes=tea.sandboxes,
            mask=Mask(secrets_among(tea.keys.variables, _keys(tea)), tea.home_trust.told),
            web=tea.web.to_json(),
            search=search,
            surroundings=Look(partial(Surroundings.seen, tea.libraries, search)),
            hosts=HostService(
                settings=HostSettings.of(tea.settings.hosts),
                keys=tea.keys,
                grants=tea.home_trust,
                committer=CommitIdentity.of(tea.settings.git),
            ),
            environments=tea.environments,
        )
        executions = Executions(deps, tea.tracer, FileWorkspaces(tea.home / "traces"), instances)
        in_a_run = _in_a_run(executions, instances, tea.settings.model)
        permission = Authorizer(
            _outside(deps.policy), person, Recorder(None, ""), {}, frozenset(), tea.consents, (EVERY,)
        )  # a call from outside of any run is consent by itself
        direct = Direct(tea.tcp, tea.versions.store, tea.trust, permission, CALL_SECONDS, in_a_run)
        mask = deps.mask
        return cls(
            executions, _masked(direct.invoke, mask) if mask else direct.invoke, mask, partial(reasoned, deps.policy)
        )


def operator_policy(tea: Platform) -> OperatorPolicy:
    """Return the shipped policy with the settings of a platform's home, as far as a person granted them."""
    settings, ungranted = tea.settings.policy, ""
    if settings.widening and not tea.home_trust.granted:
        settings, ungranted = settings.narrowed(), "`tea trust --home` shows it"
    return OperatorPolicy(settings=settings, remembered=tea.allowed, ungranted=ungranted)


def _outside(policy: Policy) -> Policy:
    """Return the policy for calls outside of any run, with no earlier reading to consider."""
    if isinstance(policy, OperatorPolicy):
        return replace(policy, settings=replace(policy.settings, provenance=False))
    return policy


def _in_a_run(executions: Executions, instances: Instances, model: str | None) -> Invoke:
    """Return a function for calls in a run of their own, without a journal."""

    async def invoke(kind: Kind, ref: str, arguments: JsonObject, session: str | None) -> Response:
        id = new_run_id()
        named = with_kind(ref, kind).partition("#")[0].partition("@")[0]
        run_config = RunConfig(
            run=id, session=session or id, task=id, workspace=str(Path.cwd()), model=model, allow=(named,)
        )

        async def call(run: Run) -> Response:
            return await run.call(Invocation(kind, ref, arguments), "", 0)

        try:
            return await executions.once(call, run_config)
        finally:
            await instances.close(run_config.session, None if session is None else id)

    return invoke


def _masked(called: Invoke, mask: Mask) -> Invoke:
    """Return a calling function with secrets masked in its results."""

    async def invoke(kind: Kind, ref: str, arguments: JsonObject, session: str | None) -> Response:
        try:
            response = await called(kind, ref, arguments, session)
        except TeaError as error:
            raise error_from(mask.data(error.record())) from error
        data = response.model_dump(mode="json")
        masked = mask.data(data)
        return response if masked is data else response.model_validate(masked)

    return invoke


def _keys(tea: Platform) -> Iterator[str]:
    """Yield the names of the variables containing the keys of models."""
    for config in tea.models.list():
        yield from config.keys
    yield str(tea.settings.embedder.get("key_env", ""))
    search = SearchSettings.of(tea.settings.search)
    yield from (search.key_name(name) for name in APIS if search.key_name(name))
    yield from (one.key_env for one in HostSettings.of(tea.settings.hosts).hosts.values() if one.key_env)


def made_task(task: object, options: Mapping[str, Any]) -> TaskFile:
    """Return the task given by a program, in any supported form.

    Raises:
        BadTask: It cannot be used.
    """
    if isinstance(task, TaskFile):
        return make_task({**task.model_dump(mode="json", exclude_defaults=True), **options}) if options else task
    if isinstance(task, str):
        return make_task({"task": task, **options})
    if isinstance(task, Mapping):
        return make_task({**cast("Mapping[str, Any]", task), **options})
    raise BadTask(f"A task cannot be of type {type(task).__name__}.", fix="give words, or a mapping as in a task file.")
