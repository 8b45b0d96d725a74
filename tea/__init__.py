"""tea: tools, environments and agents as versioned components, and every run a journal.

`__all__` is what components and short programs need. The platform and its parts are loaded on first use:
`tea.Platform`, and the protocols' and managers' classes by their names.
"""

from importlib import import_module as _import_module

from tea.api import run, stream
from tea.component import Agent, Environment, action, tool
from tea.context import Context
from tea.errors import TeaError, ToolError
from tea.extras import require_extra
from tea.runtime.loop import consult, work
from tea.types import Evidence, Result, Task

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
    "consult",
    "require_extra",
    "run",
    "stream",
    "tool",
    "work",
]

_LAZY = {
    "ACPServer": "tea.protocols.acp",
    "ActionResponse": "tea.types",
    "AgentConfig": "tea.manifest",
    "AgentContextManager": "tea.protocols.acp",
    "AgentResponse": "tea.types",
    "DynamicManager": "tea.managers.dynamic",
    "ECPServer": "tea.protocols.ecp",
    "EnvironmentConfig": "tea.manifest",
    "EnvironmentContextManager": "tea.protocols.ecp",
    "Event": "tea.runtime.recorder",
    "MemoryManager": "tea.managers.memory",
    "ModelManager": "tea.managers.model",
    "Outcome": "tea.runtime.outcome",
    "Platform": "tea.runtime.platform",
    "PromptManager": "tea.managers.prompt",
    "TCPServer": "tea.protocols.tcp",
    "ToolConfig": "tea.manifest",
    "ToolContextManager": "tea.protocols.tcp",
    "ToolResponse": "tea.types",
    "Tracer": "tea.managers.tracer",
    "Variable": "tea.managers.variable",
    "VersionManager": "tea.managers.version",
}


def __getattr__(name: str) -> object:
    """Load a part of the platform on first use."""
    if name not in _LAZY:
        raise AttributeError(f"module 'tea' has no attribute {name!r}")
    return getattr(_import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    """List the lazy names too."""
    return sorted([*globals(), *_LAZY])
