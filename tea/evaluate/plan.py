"""Plan: the agent, model and components for the tasks of an evaluation, and the digest of everything relevant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tea.errors import BadInput
from tea.evaluate.task import digest_of
from tea.journal.header import Closed, TaskFile
from tea.journal.revision import REVISION
from tea.refs import Kind, Ref
from tea.runs.task_file import make_task
from tea.types import JsonObject

if TYPE_CHECKING:
    from tea.evaluate.task_set import PlacedTask
    from tea.platform import Platform

_NOT_SNAPPED = ("model",)  # the kind that no task pins


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The way of working on the tasks of a set.

    Args:
        agent: Who works on them.
        model: Which model configuration answers; the home's default without one.
        use: Versions of components by `kind:name`, before what is current.
        without: Names of agents, tools and environments that are switched off.
        also: Tools offered beside the agent's own.
        allow: What may leave the workspace unasked.
        budget: The limits of each run, as in a task file.
        closed: What of the web is closed to the runs.
        label: What it is called in tables; no part of what counts.
    """

    agent: str = "planner"
    model: str | None = None
    use: Mapping[str, str] = field(default_factory=dict[str, str])
    without: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    budget: Mapping[str, Any] = field(default_factory=dict[str, Any])
    closed: Closed = field(default_factory=Closed)
    label: str = ""

    def task_file(self, task: PlacedTask, use: Mapping[str, str], id: str) -> TaskFile:
        """Return the task of one run.

        Args:
            task: What to work on.
            use: The exact versions of all components.
            id: The id of the task within the runs of the home.
        """
        return make_task(
            {
                "task": task.task.task,
                "agent": self.agent,
                "use": dict(use),
                "id": id,
                **({"model": self.model} if self.model else {}),
                **({"budget": dict(self.budget)} if self.budget else {}),
                **({"answer": task.task.answer} if task.task.answer is not None else {}),
                **{name: list(given) for name in ("without", "also", "allow") if (given := getattr(self, name))},
                "closed": self.closed.model_dump(mode="json"),
                "fresh": True,  # else kept solutions and memories would be measured instead of the agent
            }
        )

    def checked(self) -> Plan:
        """Return the plan after checking its values by the rules for any task.

        Raises:
            BadTask: One of them cannot be used.
        """
        given = {"agent": self.agent, "use": dict(self.use), "budget": dict(self.budget), "model": self.model}
        names = {name: list(getattr(self, name)) for name in ("without", "also", "allow")}
        make_task({"task": "check", **{key: one for key, one in given.items() if one}, **names})
        return self

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "agent": self.agent,
            "model": self.model,
            "use": dict(self.use),
            "without": sorted(self.without),
            "also": sorted(self.also),
            "allow": sorted(self.allow),
            "budget": dict(self.budget),
            "closed": self.closed.model_dump(mode="json"),
            "label": self.label,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The exact parts behind a plan, the same for all runs of an evaluation despite any later registration.

    Args:
        use: Digests of all components by `kind:name`.
        model: The configuration of the model, without its name.
        named: Which of them every run is told to use: those that the agent reaches by name, those that the plan
            chooses, and those that changed since; to look up all for each run would cost more than a short run.
    """

    use: Mapping[str, str]
    model: JsonObject
    named: frozenset[str] = frozenset()

    @property
    def pins(self) -> dict[str, str]:
        """The versions to use for every run."""
        return {name: self.use[name] for name in sorted(self.named & self.use.keys())}

    def digest(self, plan: Plan) -> str:
        """Return the digest of everything relevant to a run beside its task: 64 hex digits."""
        words = {name: value for name, value in plan.to_json().items() if name not in ("label", "use", "model")}
        return digest_of({"plan": words, "use": dict(self.use), "model": self.model, "revision": REVISION})

    @classmethod
    async def of(cls, platform: Platform, plan: Plan) -> Snapshot:
        """Return the parts as they stand now.

        Raises:
            UnknownComponent: The agent, a version of the plan, or a name that it switches off is not there.
            Quarantined: The agent is not trusted.
            ProviderError: The model is not configured.
            BadInput: The plan pins what no task can.
        """
        from tea.protocols.lock import lock_current
        from tea.protocols.switched_off import check_switched_off

        plan.checked()
        await check_switched_off(platform.libraries, plan.without)
        agent = Ref.parse(plan.agent, kind="agent")
        use = dict((await lock_current(platform.libraries)).use)
        chosen = {**({str(agent.at(None)): agent.selector} if agent.selector else {}), **plan.use}
        for name, selector in chosen.items():
            ref = Ref.parse(name)
            if ref.kind in _NOT_SNAPPED:
                raise BadInput(f"{name!r} cannot be pinned.", fix="name a model with --model.")
            use[name] = (await _library(platform, ref.kind).usable(ref.at(selector))).digest
        manifest = await platform.libraries["agent"].info(agent.at(use.get(str(agent.at(None)))))
        definition = await platform.libraries["agent"].definition(manifest)
        declared = str(definition.metadata.get("model") or "")
        config = platform.models.config(plan.model, agent.name, declared if plan.model is None else "")
        named = await _reached(platform, [agent.at(use.get(str(agent.at(None)))), *map(Ref.parse, plan.use)], use)
        return cls(use=use, model={"origin": config.origin, **_counting(config.to_json())}, named=named)

    def earlier(self, use: Mapping[str, str], model: JsonObject) -> Snapshot:
        """Return the parts for going on with an earlier evaluation, with those changed since named, too."""
        changed = {name for name, digest in use.items() if self.use.get(name) != digest}
        return Snapshot(use=use, model=model, named=self.named | changed)


async def snapshot_of(platform: Platform, plan: Plan) -> tuple[Plan, Snapshot]:
    """Return the plan without a version in its agent's name, and the parts as they stand now."""
    snapshot = await Snapshot.of(platform, plan)
    agent = Ref.parse(plan.agent, kind="agent")
    return replace(plan, agent=agent.name), snapshot


async def _reached(platform: Platform, refs: list[Ref], use: Mapping[str, str]) -> frozenset[str]:
    """Return the names of components, and of all components reached by them by name."""
    from tea.protocols.lock import lock_refs

    own = frozenset(str(ref.at(None)) for ref in refs)
    try:
        wanted = [ref.at(use[name]) for ref in refs if (name := str(ref.at(None))) in use]
        return own | (await lock_refs(platform.libraries, wanted)).components.keys()
    except BadInput:  # two versions of one name are needed somewhere, so each run finds its own
        return own


def _library(platform: Platform, kind: Kind) -> Any:
    return platform.libraries[kind]


def _counting(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a model's configuration relevant to its answers: all but its name, key and price."""
    return {name: value for name, value in config.items() if name not in ("name", "key_env", "prices")}
