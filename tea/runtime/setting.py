"""Setting: what a run is given from outside, and the equipment that all runs of a platform share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tea.managers.memory import MemoryManager
from tea.managers.model import ModelManager
from tea.managers.prompt import PromptManager
from tea.managers.trust import Consents
from tea.refs import Kind
from tea.runtime.desk import AnyServer
from tea.runtime.holding import Library
from tea.runtime.mask import Mask
from tea.runtime.people import Person
from tea.runtime.policy import Policy
from tea.runtime.recorder import NO_SECRETS
from tea.types import Principal

CALL_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a run is given from outside, all of it recorded at its start.

    Args:
        run: Its id.
        session: The session it belongs to.
        task: Id of its task.
        workspace: The folder it works in.
        principal: Who it works for.
        locale: Language tag of the person asking.
        model: Name of the model configuration, None for the default.
        use: Selectors of components by `kind:name`, before what is current.
        versions: Which version of those with the same bytes, for what `use` names by its digest: of a fork, that which
            its origin pinned.
        locked: Whether nothing else may be used.
        allow: Components, `name` or `kind:name`, that need no consent once for their version.
        call_seconds: Deadline of one call of a tool or action.
    """

    run: str
    session: str
    task: str
    workspace: str
    principal: Principal = field(default_factory=Principal)
    locale: str = "en"
    model: str | None = None
    use: Mapping[str, str] = field(default_factory=dict[str, str])
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    locked: bool = False
    allow: tuple[str, ...] = ()
    call_seconds: float = CALL_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What every run of a platform shares, and none of them changes.

    Args:
        web: The settings of the way out, as JSON; see `tea.web.WebSettings`.
    """

    servers: Mapping[Kind, AnyServer]
    libraries: Mapping[Kind, Library]
    models: ModelManager
    prompts: PromptManager
    memory: MemoryManager
    policy: Policy
    consents: Consents
    person: Person | None = None
    mask: Mask = NO_SECRETS
    web: Mapping[str, Any] = field(default_factory=dict[str, Any])
