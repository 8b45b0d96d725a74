"""What all runs of a platform share."""

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
