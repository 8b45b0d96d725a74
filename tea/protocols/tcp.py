"""Tool Context Protocol: a tool has one operation, `call` (paper, Definition 4)."""

from tea.components.manifest import ToolConfig
from tea.protocols.manager import ContextManager
from tea.protocols.server import Server
from tea.types import ToolResponse


class ToolContextManager(ContextManager[ToolConfig]):
    """The life of every tool."""

    kind = "tool"
    operation = "call"


class TCPServer(Server[ToolConfig, ToolResponse]):
    """The door to every tool."""

    response = ToolResponse
