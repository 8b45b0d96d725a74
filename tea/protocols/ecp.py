"""Environment Context Protocol: an environment has actions, and a state to observe (paper, Definition 7)."""

from tea.components.manifest import EnvironmentConfig
from tea.protocols.manager import ContextManager
from tea.protocols.server import Server
from tea.types import ActionResponse


class EnvironmentContextManager(ContextManager[EnvironmentConfig]):
    """The manager of environments in the registry."""

    kind = "environment"


class ECPServer(Server[EnvironmentConfig, ActionResponse]):
    """The server of environments."""

    response = ActionResponse

    async def state(self, ref: str, *, session: str | None = None) -> ActionResponse:
        """Observe an environment of a session."""
        return await self.invoke(str(self.manager.ref(f"{ref}#state")), session=session)
