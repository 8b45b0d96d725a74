"""Search: engines of the web behind one protocol, asked in parallel, with one list of results.

Everything is loaded on first use.
"""

import typing as _typing

from tea.lazy import lazy_names as _lazy_names

if _typing.TYPE_CHECKING:
    from tea.web.search.apis import APIS, Api, Request
    from tea.web.search.ddgs import DdgsEngine
    from tea.web.search.engine import SINCE, Engine, EngineFailed, Hit, Query, Since
    from tea.web.search.health import Health
    from tea.web.search.hits import Ranked, normal, ranked
    from tea.web.search.searcher import Findings, Pace, Report, Searcher
    from tea.web.search.service import ApiEngine
    from tea.web.search.settings import PROFILES, EngineSettings, Profile, SearchSettings
    from tea.web.search.wikidata import Wanted, Wikidata

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
    "Wanted",
    "Wikidata",
    "normal",
    "ranked",
]

__getattr__, __dir__ = _lazy_names(
    __name__,
    {
        "tea.web.search.apis": "APIS Api Request",
        "tea.web.search.ddgs": "DdgsEngine",
        "tea.web.search.engine": "Engine EngineFailed Hit Query SINCE Since",
        "tea.web.search.health": "Health",
        "tea.web.search.hits": "Ranked normal ranked",
        "tea.web.search.searcher": "Findings Pace Report Searcher",
        "tea.web.search.service": "ApiEngine",
        "tea.web.search.settings": "EngineSettings PROFILES Profile SearchSettings",
        "tea.web.search.wikidata": "Wanted Wikidata",
    },
)
