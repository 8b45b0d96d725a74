"""tea: tools, environments and agents as versioned components, and every run a journal.

`__all__` is what short programs and most components need; `tea.Platform`, the loop of tool-calling agents (`work`,
`consult`), what conversations consist of (`Message`), and the protocols' and managers' classes are there by their names
too. Everything is loaded on first use, so that the command line is soon ready for an interruption.
"""

import typing as _typing

from tea.lazy import lazy_names as _lazy_names

if _typing.TYPE_CHECKING:
    from tea.api import run, stream
    from tea.components.component import Agent, Environment, action, tool
    from tea.components.context import Context
    from tea.components.equality import same as same
    from tea.components.files import copied_name as copied_name
    from tea.components.files import named_file as named_file
    from tea.components.files import nearest as nearest
    from tea.components.line_diff import unified_diff as unified_diff
    from tea.components.pictures import number_elements as number_elements
    from tea.components.pictures import png_of as png_of
    from tea.components.texts import Texts as Texts
    from tea.errors import BadOutput as BadOutput
    from tea.errors import BudgetExceeded as BudgetExceeded
    from tea.errors import TeaError, ToolError
    from tea.extras import require_extra
    from tea.loop.addresses import addresses_in as addresses_in
    from tea.loop.capability import has_searches as has_searches
    from tea.loop.follow import follow as follow
    from tea.loop.follow import steps_fault as steps_fault
    from tea.loop.limits import budget_share as budget_share
    from tea.loop.loop import work as work
    from tea.loop.media import show_files as show_files
    from tea.loop.numbers import numbers_following as numbers_following
    from tea.loop.observation import clipped as clipped
    from tea.loop.opening import conversation as conversation
    from tea.loop.opening import heads as heads
    from tea.loop.operate import Operated as Operated
    from tea.loop.operate import operate as operate
    from tea.loop.step import ask_for as ask_for
    from tea.loop.step import consult as consult
    from tea.retrieval.embedding.builtin import StaticEmbedder as StaticEmbedder
    from tea.sandbox.service import SandboxService as SandboxService
    from tea.sandbox.session import Sandbox as Sandbox
    from tea.store.pictures import keep_picture as keep_picture
    from tea.store.pictures import make_film as make_film
    from tea.store.rooted import RootedFolder as RootedFolder
    from tea.store.rooted import open_resolved as open_resolved
    from tea.types import Attempted as Attempted
    from tea.types import Budget as Budget
    from tea.types import DataPart as DataPart
    from tea.types import Evidence, Result, Task
    from tea.types import Fact as Fact
    from tea.types import Message as Message
    from tea.types import Said as Said
    from tea.types import TextPart as TextPart
    from tea.types import ToolCall as ToolCall
    from tea.types import merge_patch as merge_patch

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

__getattr__, __dir__ = _lazy_names(
    __name__,
    {
        "tea.api": "run stream",
        "tea.components.component": "Agent Environment action tool",
        "tea.components.context": "Context",
        "tea.components.files": "copied_name named_file nearest",
        "tea.components.line_diff": "unified_diff",
        "tea.components.manifest": "AgentConfig EnvironmentConfig ToolConfig",
        "tea.components.equality": "same",
        "tea.components.pictures": "number_elements png_of",
        "tea.components.texts": "Texts",
        "tea.components.variable": "Variable",
        "tea.errors": "BadOutput BudgetExceeded TeaError ToolError",
        "tea.extras": "require_extra",
        "tea.journal.recorder": "Event",
        "tea.journal.tracer": "Tracer",
        "tea.loop.addresses": "addresses_in",
        "tea.loop.capability": "has_searches",
        "tea.loop.follow": "follow steps_fault",
        "tea.loop.limits": "budget_share",
        "tea.loop.loop": "work",
        "tea.loop.media": "show_files",
        "tea.loop.numbers": "numbers_following",
        "tea.loop.observation": "clipped",
        "tea.loop.operate": "Operated operate",
        "tea.loop.opening": "conversation heads",
        "tea.loop.step": "ask_for consult",
        "tea.memory.manager": "MemoryManager",
        "tea.models.manager": "ModelManager",
        "tea.platform": "Platform",
        "tea.prompts.manager": "PromptManager",
        "tea.protocols.acp": "ACPServer AgentContextManager",
        "tea.protocols.ecp": "ECPServer EnvironmentContextManager",
        "tea.protocols.tcp": "TCPServer ToolContextManager",
        "tea.registry.version": "VersionManager",
        "tea.retrieval.embedding.builtin": "StaticEmbedder",
        "tea.runs.outcome": "Outcome",
        "tea.sandbox.service": "SandboxService",
        "tea.sandbox.session": "Sandbox",
        "tea.source.dynamic": "DynamicManager",
        "tea.store.pictures": "keep_picture make_film",
        "tea.store.rooted": "RootedFolder open_resolved",
        "tea.types": "ActionResponse AgentResponse Attempted Budget DataPart Evidence Fact Message "
        "Result Said Task TextPart ToolCall ToolResponse merge_patch",
    },
)
