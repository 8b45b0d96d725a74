"""RunDeps: the dependencies shared by all runs of a platform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tea.journal.mask import Mask
from tea.journal.recorder import NO_SECRETS
from tea.memory.manager import MemoryManager
from tea.models.manager import ModelManager
from tea.prompts.manager import PromptManager
from tea.refs import Kind
from tea.runs.human_input import Person
from tea.runs.interface import AnyServer
from tea.runs.pins import Library
from tea.runs.policy import Policy
from tea.sandbox.levels import Sandboxes
from tea.source.trust import Consents


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDeps:
    """The dependencies shared by all runs of a platform, changed by none of them.

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
    sandboxes: Sandboxes
    person: Person | None = None
    mask: Mask = NO_SECRETS
    web: Mapping[str, Any] = field(default_factory=dict[str, Any])
