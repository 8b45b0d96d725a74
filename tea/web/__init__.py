"""Web: guarded access to the network: the permitted addresses, their fetching, and the operator's settings.

Everything is loaded on first use.
"""

import typing as _typing
from importlib import import_module as _import_module

if _typing.TYPE_CHECKING:
    from tea.web.address import escaped
    from tea.web.blocked import WALLS
    from tea.web.fetch import Answer, Fetcher, FetchFailed, Hop, Limits
    from tea.web.guard import REASONS, UrlGuard, Verdict
    from tea.web.proxy import GuardProxy
    from tea.web.settings import WebSettings
    from tea.web.visit import Visit, Visitor

__all__ = [
    "Answer",
    "FetchFailed",
    "Fetcher",
    "GuardProxy",
    "Hop",
    "Limits",
    "REASONS",
    "UrlGuard",
    "Verdict",
    "Visit",
    "Visitor",
    "WALLS",
    "WebSettings",
    "escaped",
]

_HOMES = {
    "address": "escaped",
    "blocked": "WALLS",
    "fetch": "Answer Fetcher FetchFailed Hop Limits",
    "guard": "REASONS UrlGuard Verdict",
    "proxy": "GuardProxy",
    "settings": "WebSettings",
    "visit": "Visit Visitor",
}
_LAZY = {name: f"tea.web.{module}" for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    if name not in _LAZY:
        raise AttributeError(f"module 'tea.web' has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(_LAZY[name]), name)
    return found


def __dir__() -> list[str]:
    """List the lazy names too."""
    return sorted([*globals(), *_LAZY])
