"""Search: engines of the web behind one protocol, asked in parallel, with one list of results.

Everything is loaded on first use.
"""

import typing as _typing
from importlib import import_module as _import_module

if _typing.TYPE_CHECKING:
    from tea.web.search.apis import APIS, Api, Request
    from tea.web.search.ddgs import DdgsEngine
    from tea.web.search.engine import SINCE, Engine, EngineFailed, Hit, Query, Since
    from tea.web.search.health import Health
    from tea.web.search.hits import Ranked, normal, ranked
    from tea.web.search.searcher import Findings, Pace, Report, Searcher
    from tea.web.search.service import ApiEngine
    from tea.web.search.settings import PROFILES, EngineSettings, Profile, SearchSettings

__all__ = [
    "APIS",
    "Api",
    "ApiEngine",
    "DdgsEngine",
    "Engine",
    "EngineFailed",
    "EngineSettings",
    "Findings",
    "Health",
    "Hit",
    "PROFILES",
    "Pace",
    "Profile",
    "Query",
    "Ranked",
    "Report",
    "Request",
    "SINCE",
    "SearchSettings",
    "Searcher",
    "Since",
    "normal",
    "ranked",
]

_HOMES = {
    "apis": "APIS Api Request",
    "ddgs": "DdgsEngine",
    "engine": "Engine EngineFailed Hit Query SINCE Since",
    "health": "Health",
    "hits": "Ranked normal ranked",
    "searcher": "Findings Pace Report Searcher",
    "service": "ApiEngine",
    "settings": "EngineSettings PROFILES Profile SearchSettings",
}
_LAZY = {name: f"tea.web.search.{module}" for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    if name not in _LAZY:
        raise AttributeError(f"module 'tea.web.search' has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(_LAZY[name]), name)
    return found


def __dir__() -> list[str]:
    """List the lazy names too."""
    return sorted([*globals(), *_LAZY])
