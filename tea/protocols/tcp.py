"""Tool Context Protocol: a tool has one operation, `call` (paper, Definition 4)."""

from tea.protocols.manager import ContextManager
from tea.protocols.server import Server
from tea.types import ToolResponse


class ToolContextManager(ContextManager):
    """The manager of tools in the registry."""

    kind = "tool"
    operation = "call"


class TCPServer(Server[ToolResponse]):
    """The server of tools."""

    response = ToolResponse
