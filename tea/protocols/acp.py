"""Agent Context Protocol: an agent has one operation, `run` (paper, Definition 10)."""

from tea.manifest import AgentConfig
from tea.protocols.manager import ContextManager
from tea.protocols.server import Server
from tea.types import AgentResponse


class AgentContextManager(ContextManager[AgentConfig]):
    """The life of every agent."""

    kind = "agent"
    operation = "run"


class ACPServer(Server[AgentConfig, AgentResponse]):
    """The door to every agent."""

    response = AgentResponse
