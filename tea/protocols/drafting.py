"""Drafting: agents and workflows made from words; a draft is data, and all of its code is written here."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tea.characters import on_one_line
from tea.components.component import Agent
from tea.components.manifest import Lineage, Manifest
from tea.components.operation import reasons
from tea.errors import BadComponent, BadRef, RegistryError
from tea.loop.follow import steps_fault
from tea.protocols.declared import Parts
from tea.protocols.manager import ContextManager
from tea.refs import Kind, Ref, numbered
from tea.types import JsonObject

_NAME = r"^[a-z][a-z0-9_]{2,47}$"
Libraries = Mapping[Kind, ContextManager]
_WORKFLOW = '''"""A workflow of fixed steps, drafted from words."""

from tea import Agent, Context, Result, Task, follow

STEPS = {steps}


class {class_name}(Agent):
    """{description}"""

    name = "{name}"
    tools = {tools}
    agents = {agents}{environments}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Go through the steps in their order."""
        return await follow(ctx, task, STEPS)
'''


class Draft(BaseModel):
    """An agent or workflow as a model drafts it: one with `steps` is a workflow."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(pattern=_NAME)
    description: str = Field(min_length=10, max_length=400)
    instructions: str = Field(default="", max_length=20_000)
    tools: list[str] = Field(default=[], max_length=20)
    agents: list[str] = Field(default=[], max_length=10)
    environments: list[str] = Field(default=[], max_length=10)
    max_steps: int = Field(default=20, ge=1, le=50)
    steps: list[dict[str, Any]] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A draft with the stored facts about its making.

    Args:
        draft: As the model gave it.
        tests: What it was tried on.
        task: What it was made for.
        run: The run that made it.
    """

    draft: JsonObject
    tests: Sequence[JsonObject]
    task: str
    run: str


async def adopt_agent(libraries: Libraries, proposal: Proposal, *, check: bool) -> JsonObject:
    """Register a drafted agent or workflow with its prompt, or only check the possibility.

    Done twice it has the effect of once.

    Args:
        libraries: Where each kind is registered.
        proposal: The draft.
        check: Whether to register nothing.

    Returns:
        `ok` and `trouble`, and of what was registered `refs`, `ref`, `digest` and `how`.

    Raises:
        RegistryError: It cannot be registered.
        ToolError: There is no sandbox.
    """
    try:
        draft = Draft.model_validate(proposal.draft)
    except ValidationError as error:
        return _refused(f"the draft cannot be used: {reasons(error)}")
    try:
        for name in numbered(draft.name):
            parts = await _parts(libraries, draft.model_copy(update={"name": name}))
            if not check and (found := await _current_parts(libraries, parts)):
                return _done(found)
            if await _free(libraries, parts):
                break
        else:
            return _refused(f"the name {draft.name!r} is taken")
    except (BadComponent, BadRef, RegistryError) as error:
        return _refused(f"{error.problem} {error.fix}")
    return {"ok": True, "trouble": ""} if check else _done(await _registered(libraries, parts, proposal))


async def _parts(libraries: Libraries, draft: Draft) -> list[tuple[Kind, object]]:
    """Return the checked sources of a draft, the agent's last.

    Raises:
        BadComponent: It cannot be used.
        UnknownComponent: It names what is not registered.
    """
    if draft.steps:
        if fault := steps_fault(draft.steps):
            raise BadComponent(f"Its steps cannot be used: {fault}.", fix="correct all of that.")
        for use in (str(one["use"]) for one in draft.steps):
            part = Ref.parse(use)
            found = await libraries[part.kind].info(part.name)
            if part.operation:
                found.operation(part.operation)
        text = await asyncio.to_thread(libraries["agent"].read, workflow_source(draft))
        return [("agent", text)]
    if not draft.instructions.strip():
        raise BadComponent("The draft has no instructions.", fix="give `instructions`.")
    declared = Agent(
        name=draft.name,
        description=draft.description,
        instructions=draft.instructions,
        tools=draft.tools,
        agents=draft.agents,
        environments=draft.environments,
        max_steps=draft.max_steps,
    )
    parts = await Parts.of(declared, cast(Any, libraries), Lineage(how="generator"))
    return [(text.kind, text) for text in parts.texts.values()]


def workflow_source(draft: Draft) -> str:
    """Return the source of a workflow: its steps as data, and the same few lines for each."""
    used = [Ref.parse(str(one["use"])) for one in draft.steps]
    tools, agents, places = (
        list(dict.fromkeys(one.name for one in used if one.kind == kind)) for kind in ("tool", "agent", "environment")
    )
    words = re.sub(r'[\\"]', "", on_one_line(draft.description))
    return _WORKFLOW.format(
        steps=_literal([*draft.steps]),
        class_name="".join(part.title() for part in draft.name.split("_")),
        description=words if words.endswith(".") else f"{words}.",
        name=draft.name,
        tools=_literal(tools),
        agents=_literal(agents),
        environments=f"\n    environments = {_literal(places)}" if places else "",
    )


def _literal(value: Any) -> str:
    """Return JSON data as a literal of Python: lists as tuples, at most one step a line."""
    if isinstance(value, dict):
        inside = ", ".join(f"{key!r}: {_literal(one)}" for key, one in cast("dict[str, Any]", value).items())
        return f"{{{inside}}}"
    if isinstance(value, list):
        items = [_literal(one) for one in cast("list[Any]", value)]
        return "(" + "".join(f"{one}, " for one in items) + ")"
    return repr(value)


async def _free(libraries: Libraries, parts: Sequence[tuple[Kind, object]]) -> bool:
    """Return whether no component has or had the name of any part."""
    for kind, text in parts:
        name = str(getattr(text, "name", ""))
        if not await libraries[kind].missing([name]):
            return False
    return True


async def _current_parts(libraries: Libraries, parts: Sequence[tuple[Kind, object]]) -> list[Manifest]:
    """Return the current versions of the parts if all of them have exactly these sources."""
    found: list[Manifest] = []
    for kind, text in parts:
        name, source = str(getattr(text, "name", "")), getattr(text, "source", "")
        if await libraries[kind].missing([name]):
            return []
        current: Manifest = await libraries[kind].info(name)
        if current.source != source:
            return []
        found.append(current)
    return found


async def _registered(libraries: Libraries, parts: Sequence[tuple[Kind, object]], proposal: Proposal) -> list[Manifest]:
    tests = tuple(proposal.tests)
    lineage = Lineage(how="generator", run=proposal.run, task=proposal.task[:2_000], tests=tests)
    why = f"made for: {proposal.task[:200]}"
    return [await libraries[kind].register(text, reason=why, lineage=lineage, author="tea") for kind, text in parts]


def _done(found: Sequence[Manifest]) -> JsonObject:
    refs = [str(one.ref) for one in found]
    return {"ok": True, "trouble": "", "how": "new", "refs": refs, "ref": refs[-1], "digest": found[-1].digest}


def _refused(trouble: str) -> JsonObject:
    return {"ok": False, "trouble": trouble}
