"""Web: guarded access to the network: the permitted addresses, their fetching, and the operator's settings.

Everything is loaded on first use.
"""

import typing as _typing

from tea.lazy import lazy_names as _lazy_names

if _typing.TYPE_CHECKING:
    from tea.web.address import escaped
    from tea.web.blocked import WALLS
    from tea.web.fetch import Answer, Fetcher, FetchFailed, Hop, Limits
    from tea.web.guard import REASONS, UrlGuard, Verdict
    from tea.web.hosts import CodeHost, HostAccess, code_host
    from tea.web.identity import CommitIdentity, commit_identity
    from tea.web.proxy import GuardProxy
    from tea.web.settings import WebSettings
    from tea.web.visit import Visit, Visitor

__all__ = [
    "Answer",
    "CodeHost",
    "CommitIdentity",
    "FetchFailed",
    "Fetcher",
    "GuardProxy",
    "Hop",
    "HostAccess",
    "Limits",
    "REASONS",
    "UrlGuard",
    "Verdict",
    "Visit",
    "Visitor",
    "WALLS",
    "WebSettings",
    "code_host",
    "commit_identity",
    "escaped",
]

__getattr__, __dir__ = _lazy_names(
    __name__,
    {
        "tea.web.address": "escaped",
        "tea.web.blocked": "WALLS",
        "tea.web.fetch": "Answer Fetcher FetchFailed Hop Limits",
        "tea.web.guard": "REASONS UrlGuard Verdict",
        "tea.web.hosts": "CodeHost HostAccess code_host",
        "tea.web.identity": "CommitIdentity commit_identity",
        "tea.web.proxy": "GuardProxy",
        "tea.web.settings": "WebSettings",
        "tea.web.visit": "Visit Visitor",
    },
)
