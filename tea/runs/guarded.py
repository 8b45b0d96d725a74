"""Guarded: addresses that the guard is certain to refuse, so that no person is asked about them."""

from __future__ import annotations

from tea.errors import TeaError, ToolError
from tea.policy.destination import STATE, destinations_of
from tea.policy.rules import BEYOND
from tea.runs.call import CallRequest
from tea.types import JsonObject

GUARDED = "guarded"
"""In the metadata of a component: whether it reaches the network through the guard alone."""
_MOST_SHOWN = 300
_UNREAD = "give the whole address, from https:// or http:// on."


def refusal(web: JsonObject, request: CallRequest) -> TeaError | None:
    """Return the error of a fetching call if the guard is certain to refuse it, else None.

    Args:
        web: The settings of the way out, as JSON.
        request: The call.
    """
    from tea.web.address import escaped
    from tea.web.guard import UrlGuard
    from tea.web.settings import WebSettings

    traits = request.traits
    if not request.config.metadata.get(GUARDED) or not traits.network or traits.effects in BEYOND:
        return None
    names = [one for one in traits.destinations or () if not one.startswith(STATE)]
    settings = WebSettings.of(web)
    guard = UrlGuard(settings.allow, deny=settings.deny)
    for place in destinations_of(names, request.arguments):
        verdict = guard.foresee(escaped(place))
        if verdict is not None and not verdict:
            fix = _UNREAD if verdict.reason == "bad_scheme" else verdict.fix()
            return ToolError(verdict.problem(repr(place[:_MOST_SHOWN])), fix=fix)
    return None
