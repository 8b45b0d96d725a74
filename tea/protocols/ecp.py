"""Environment Context Protocol: an environment has actions, and a state to observe (paper, Definition 7)."""

from tea.components.clients import action_call
from tea.protocols.manager import ContextManager
from tea.protocols.server import Server
from tea.types import ActionResponse, JsonObject, JsonValue


class EnvironmentContextManager(ContextManager):
    """The manager of environments in the registry."""

    kind = "environment"


class ECPServer(Server[ActionResponse]):
    """The server of environments."""

    response = ActionResponse

    async def invoke(  # pyright: ignore[reportIncompatibleMethodOverride]  # an action stands before its arguments
        self,
        ref: str,
        action: str | JsonObject | None = None,
        arguments: JsonObject | None = None,
        *,
        session: str | None = None,
        **named: JsonValue,
    ) -> ActionResponse:
        """Call an action from outside any run; see `Server.invoke`.

        Args:
            ref: `name#action`, or the name alone with `action`; optionally with `@selector`.
            action: Name of the action; the arguments where the ref names it already.
            arguments: JSON arguments by name.
            session: Whose environments it acts in; a fresh one by default.
            **named: Further arguments, as keywords.

        Returns:
            The value, or a structured error.
        """
        ref, given = action_call(ref, action, arguments)
        return await super().invoke(ref, given, session=session, **named)

    async def state(self, ref: str, *, session: str | None = None) -> ActionResponse:
        """Observe an environment of a session."""
        return await self.invoke(str(self.manager.ref(f"{ref}#state")), session=session)
