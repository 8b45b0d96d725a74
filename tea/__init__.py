"""tea: tools, environments and agents as versioned components, and every run a journal.

`__all__` is what short programs and most components need; `tea.Platform`, the loop of tool-calling agents (`work`,
`consult`), what conversations consist of (`Message`), and the protocols' and managers' classes are there by their names
too. Everything is loaded on first use, so that the command line is soon ready for an interruption.
"""

import typing as _typing
from importlib import import_module as _import_module

if _typing.TYPE_CHECKING:
    from tea.api import run, stream
    from tea.components.component import Agent, Environment, action, tool
    from tea.components.context import Context
    from tea.components.files import copied_name as copied_name
    from tea.components.files import nearest as nearest
    from tea.errors import BadOutput as BadOutput
    from tea.errors import BudgetExceeded as BudgetExceeded
    from tea.errors import TeaError, ToolError
    from tea.extras import require_extra
    from tea.loop.follow import follow as follow
    from tea.loop.follow import steps_fault as steps_fault
    from tea.loop.loop import work as work
    from tea.loop.step import ask_for as ask_for
    from tea.loop.step import consult as consult
    from tea.retrieval.embedding.builtin import StaticEmbedder as StaticEmbedder
    from tea.sandbox.service import SandboxService as SandboxService
    from tea.sandbox.session import Sandbox as Sandbox
    from tea.store.rooted import RootedFolder as RootedFolder
    from tea.types import Budget as Budget
    from tea.types import DataPart as DataPart
    from tea.types import Evidence, Result, Task
    from tea.types import Message as Message
    from tea.types import TextPart as TextPart
    from tea.types import ToolCall as ToolCall

__all__ = [
    "Agent",
    "Context",
    "Environment",
    "Evidence",
    "Result",
    "Task",
    "TeaError",
    "ToolError",
    "action",
    "require_extra",
    "run",
    "stream",
    "tool",
]

_LAZY = {
    "ACPServer": "tea.protocols.acp",
    "ActionResponse": "tea.types",
    "Agent": "tea.components.component",
    "AgentConfig": "tea.components.manifest",
    "AgentContextManager": "tea.protocols.acp",
    "AgentResponse": "tea.types",
    "BadOutput": "tea.errors",
    "Budget": "tea.types",
    "BudgetExceeded": "tea.errors",
    "Context": "tea.components.context",
    "DataPart": "tea.types",
    "DynamicManager": "tea.source.dynamic",
    "ECPServer": "tea.protocols.ecp",
    "Environment": "tea.components.component",
    "EnvironmentConfig": "tea.components.manifest",
    "EnvironmentContextManager": "tea.protocols.ecp",
    "Event": "tea.journal.recorder",
    "Evidence": "tea.types",
    "MemoryManager": "tea.memory.manager",
    "Message": "tea.types",
    "ModelManager": "tea.models.manager",
    "Outcome": "tea.runs.outcome",
    "Platform": "tea.platform",
    "PromptManager": "tea.prompts.manager",
    "Result": "tea.types",
    "RootedFolder": "tea.store.rooted",
    "Sandbox": "tea.sandbox.session",
    "SandboxService": "tea.sandbox.service",
    "StaticEmbedder": "tea.retrieval.embedding.builtin",
    "TCPServer": "tea.protocols.tcp",
    "Task": "tea.types",
    "TeaError": "tea.errors",
    "TextPart": "tea.types",
    "ToolCall": "tea.types",
    "ToolConfig": "tea.components.manifest",
    "ToolContextManager": "tea.protocols.tcp",
    "ToolError": "tea.errors",
    "ToolResponse": "tea.types",
    "Tracer": "tea.journal.tracer",
    "Variable": "tea.components.variable",
    "VersionManager": "tea.registry.version",
    "action": "tea.components.component",
    "ask_for": "tea.loop.step",
    "consult": "tea.loop.step",
    "copied_name": "tea.components.files",
    "follow": "tea.loop.follow",
    "nearest": "tea.components.files",
    "require_extra": "tea.extras",
    "run": "tea.api",
    "steps_fault": "tea.loop.follow",
    "stream": "tea.api",
    "tool": "tea.components.component",
    "work": "tea.loop.loop",
}


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    if name not in _LAZY:
        raise AttributeError(f"module 'tea' has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(_LAZY[name]), name)
    return found


def __dir__() -> list[str]:
    """List the lazy names too."""
    return sorted([*globals(), *_LAZY])
