"""APIs: the documented search services, each with its request and its answer as data."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast
from urllib.parse import urlencode

from tea.clock import utc_now
from tea.web.search.engine import Hit, Query, Since

OFFICIAL, SHARED, MODEL, SCRAPED = 1, 2, 3, 4
_DAYS: Mapping[Since, int] = {"day": 1, "week": 7, "month": 31, "year": 366}
ITEM, PROPERTY = re.compile(r"Q[1-9][0-9]{0,15}"), re.compile(r"P[1-9][0-9]{0,15}")
WIKIDATA_PAGES = "https://www.wikidata.org/wiki/"
_MOST_BAIDU = 72  # characters of a query that Baidu reads, one of Chinese counting as two


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to a service.

    Args:
        query: Parameters of its address.
        headers: Further headers.
        body: The JSON object it carries; None for a GET.
    """

    query: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Mapping[str, Any] | None = None

    @property
    def method(self) -> str:
        """Its method."""
        return "GET" if self.body is None else "POST"

    def url(self, address: str) -> str:
        """Return its address."""
        return f"{address}?{urlencode(self.query)}" if self.query else address

    @property
    def content(self) -> bytes | None:
        """Its bytes."""
        return None if self.body is None else json.dumps(self.body, ensure_ascii=False).encode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """A documented search service.

    Args:
        address: Where it is; empty where the operator has to say.
        page: Its documentation.
        key: Name of the variable that holds its key; empty where it takes none.
        tier: Its tier.
        ask: Makes the request of a query, with the key and the operator's options.
        read: Gives the hits in its answer.
        options: Further settings that it needs, with what each is.
        further: Addresses of its further services, by the name of the setting that leads them elsewhere.
        dated: Whether it can be asked for recent pages alone; one that cannot has none to give then.
        by_name: Whether it is asked only where the operator's `engines` name it.
        delay: Seconds between two requests.
    """

    address: str
    page: str
    key: str
    ask: Callable[[Query, str, Mapping[str, str]], Request]
    read: Callable[[Any], Iterator[Hit]]
    tier: int = OFFICIAL
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    further: Mapping[str, str] = field(default_factory=dict[str, str])
    dated: bool = True
    by_name: bool = False
    delay: float = 0.0


def _brave(query: Query, key: str, options: Mapping[str, str]) -> Request:
    asked = {"q": query.text, "count": str(min(query.most, 20)), "text_decorations": "false"}
    if query.since:
        asked["freshness"] = f"p{query.since[0]}"
    return Request(query=asked, headers={"X-Subscription-Token": key})


def _google(query: Query, key: str, options: Mapping[str, str]) -> Request:
    asked = {"cx": options["cx"], "q": query.text, "num": str(min(query.most, 10))}
    if query.since:
        asked["dateRestrict"] = f"{query.since[0]}1"
    return Request(query=asked, headers={"X-Goog-Api-Key": key})


def _firecrawl(query: Query, key: str, options: Mapping[str, str]) -> Request:
    body: dict[str, Any] = {"query": query.text, "limit": query.most, "sources": ["web"]}
    if query.since:
        body["tbs"] = f"qdr:{query.since[0]}"
    return Request(headers=_bearer(key), body=body)


def _tavily(query: Query, key: str, options: Mapping[str, str]) -> Request:
    body: dict[str, Any] = {"query": query.text, "max_results": min(query.most, 20), "search_depth": "basic"}
    if query.since:
        body["time_range"] = query.since
    return Request(headers=_bearer(key), body=body)


def _exa(query: Query, key: str, options: Mapping[str, str]) -> Request:
    body: dict[str, Any] = {
        "query": query.text, "type": "auto", "numResults": query.most, "contents": {"highlights": True}
    }  # fmt: skip
    if query.since:
        first = utc_now() - timedelta(days=_DAYS[query.since])
        body["startPublishedDate"] = f"{first:%Y-%m-%dT00:00:00.000Z}"
    return Request(headers={"x-api-key": key}, body=body)


def _baidu(query: Query, key: str, options: Mapping[str, str]) -> Request:
    body: dict[str, Any] = {
        "messages": [{"role": "user", "content": _short(query.text)}],
        "search_source": "baidu_search_v2",
        "resource_type_filter": [{"type": "web", "top_k": min(query.most, 50)}],
    }
    if query.since:
        body["search_recency_filter"] = "week" if query.since == "day" else query.since
    return Request(headers={**_bearer(key), "X-Appbuilder-Authorization": f"Bearer {key}"}, body=body)


def _searxng(query: Query, key: str, options: Mapping[str, str]) -> Request:
    asked = {"q": query.text, "format": "json"}
    if query.since:
        asked["time_range"] = query.since
    return Request(query=asked)


def _model(query: Query, key: str, options: Mapping[str, str]) -> Request:
    since = f" Only pages of the last {query.since} count." if query.since else ""
    body: dict[str, Any] = {
        "model": options["model"],
        "input": f"Search the web for: {query.text}\nName the pages that answer it best, each with a sentence.{since}",
        "tools": [{"type": "web_search"}],
        "tool_choice": "required",
        "include": ["web_search_call.action.sources"],
        "store": False,
    }
    return Request(headers=_bearer(key), body=body)


def _wikidata(query: Query, key: str, options: Mapping[str, str]) -> Request:
    return named(query.text, "item", "en", query.most)


def named(text: str, kind: str, language: str, most: int) -> Request:
    """Return the request for the items or properties of Wikidata with a name.

    Args:
        text: The name, or an id.
        kind: `item` or `property`.
        language: Code of the language of the name.
        most: Most answers.
    """
    asked = {"action": "wbsearchentities", "format": "json", "type": kind, "language": language, "uselang": language}
    return Request(query={**asked, "limit": str(min(most, 50)), "search": text})


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _short(text: str) -> str:
    """Return the beginning of a query, as long as Baidu reads it."""
    kept, room = "", _MOST_BAIDU
    for one in text:
        room -= 1 if one.isascii() else 2
        if room < 0:
            break
        kept += one
    return kept


def _of_brave(answer: Any) -> Iterator[Hit]:
    for one in _objects(answer, "web", "results"):
        date = text_in(one, "page_age") or text_in(one, "age")
        yield Hit(url=text_in(one, "url"), title=text_in(one, "title"), snippet=text_in(one, "description"), date=date)


def _of_google(answer: Any) -> Iterator[Hit]:
    for one in _objects(answer, "items"):
        tags: dict[str, Any] = next(iter(_objects(one, "pagemap", "metatags")), dict[str, Any]())
        date = text_in(tags, "article:published_time") or text_in(tags, "og:updated_time")
        yield Hit(url=text_in(one, "link"), title=text_in(one, "title"), snippet=text_in(one, "snippet"), date=date)


def _of_firecrawl(answer: Any) -> Iterator[Hit]:
    for one in _objects(answer, "data", "web") or _objects(answer, "data"):
        yield Hit(url=text_in(one, "url"), title=text_in(one, "title"), snippet=text_in(one, "description"))


def _of_tavily(answer: Any) -> Iterator[Hit]:
    for one in _objects(answer, "results"):
        date = text_in(one, "published_date")
        yield Hit(url=text_in(one, "url"), title=text_in(one, "title"), snippet=text_in(one, "content"), date=date)


def _of_exa(answer: Any) -> Iterator[Hit]:
    for one in _objects(answer, "results"):
        lights = one.get("highlights")
        told = cast("list[Any]", lights) if isinstance(lights, list) else []
        snippet = " ... ".join(text for text in told if isinstance(text, str)) or text_in(one, "text")
        yield Hit(
            url=text_in(one, "url"), title=text_in(one, "title"), snippet=snippet, date=text_in(one, "publishedDate")
        )


def _of_baidu(answer: Any) -> Iterator[Hit]:
    for one in _objects(answer, "references"):
        if text_in(one, "type") in ("", "web"):
            date = text_in(one, "date")
            yield Hit(url=text_in(one, "url"), title=text_in(one, "title"), snippet=text_in(one, "content"), date=date)


def _of_searxng(answer: Any) -> Iterator[Hit]:
    for one in _objects(answer, "results"):
        date = text_in(one, "publishedDate")
        yield Hit(url=text_in(one, "url"), title=text_in(one, "title"), snippet=text_in(one, "content"), date=date)


def _of_wikidata(answer: Any) -> Iterator[Hit]:
    for one in _objects(answer, "search"):
        if ITEM.fullmatch(text_in(one, "id")):
            url = f"{WIKIDATA_PAGES}{one['id']}"
            yield Hit(url=url, title=text_in(one, "label"), snippet=text_in(one, "description"))


def _of_model(answer: Any) -> Iterator[Hit]:
    """Yield the pages cited by a model, then those seen by it."""
    for item in _objects(answer, "output"):
        for part in _objects(item, "content"):
            for one in _objects(part, "annotations"):
                if text_in(one, "type") == "url_citation":
                    snippet = _sentence(text_in(part, "text"), one.get("start_index"))
                    yield Hit(url=text_in(one, "url"), title=text_in(one, "title"), snippet=snippet)
    for item in _objects(answer, "output"):
        for one in _objects(item, "action", "sources"):
            yield Hit(url=text_in(one, "url"), title=text_in(one, "title"))


def _sentence(text: str, at: object) -> str:
    """Return the line before a citation."""
    before = text[: at if isinstance(at, int) else 0].rstrip("( [\n")
    return before[before.rfind("\n") + 1 :].strip("-*• ")


def _objects(value: Any, *path: str) -> list[dict[str, Any]]:
    """Return the objects of the list at a path in an answer; empty if there is none."""
    for name in path:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", one) for one in listed if isinstance(one, dict)]


def text_in(value: Mapping[str, Any], name: str) -> str:
    """Return the text of a name in an answer's object; empty if there is none."""
    found = value.get(name)
    return found if isinstance(found, str) else ""


APIS: Mapping[str, Api] = {
    "brave": Api(
        address="https://api.search.brave.com/res/v1/web/search",
        page="https://api-dashboard.search.brave.com/app/documentation/web-search/get-started",
        key="BRAVE_API_KEY", ask=_brave, read=_of_brave, delay=1.0,
    ),
    "google": Api(
        address="https://customsearch.googleapis.com/customsearch/v1",
        page="https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list",
        key="GOOGLE_SEARCH_API_KEY", ask=_google, read=_of_google, options={"cx": "id of the search engine"},
    ),
    "firecrawl": Api(
        address="https://api.firecrawl.dev/v2/search",
        page="https://docs.firecrawl.dev/api-reference/endpoint/search",
        key="FIRECRAWL_API_KEY", ask=_firecrawl, read=_of_firecrawl,
    ),
    "tavily": Api(
        address="https://api.tavily.com/search",
        page="https://docs.tavily.com/documentation/api-reference/endpoint/search",
        key="TAVILY_API_KEY", ask=_tavily, read=_of_tavily,
    ),
    "exa": Api(
        address="https://api.exa.ai/search",
        page="https://docs.exa.ai/reference/search",
        key="EXA_API_KEY", ask=_exa, read=_of_exa,
    ),
    "baidu": Api(
        address="https://qianfan.baidubce.com/v2/ai_search/web_search",
        page="https://cloud.baidu.com/doc/AppBuilder/s/pmaxd1hvy",
        key="BAIDU_API_KEY", ask=_baidu, read=_of_baidu,
    ),
    "searxng": Api(
        address="", page="https://docs.searxng.org/dev/search_api.html", key="", tier=SHARED,
        ask=_searxng, read=_of_searxng, options={"url": "address of the instance"},
    ),
    "wikidata": Api(
        address="https://www.wikidata.org/w/api.php",
        page="https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities",
        key="", ask=_wikidata, read=_of_wikidata, further={"sparql": "https://query.wikidata.org/sparql"},
        dated=False, by_name=True,
    ),
    "model": Api(
        address="https://api.openai.com/v1/responses",
        page="https://platform.openai.com/docs/guides/tools-web-search",
        key="OPENAI_API_KEY", tier=MODEL, ask=_model, read=_of_model, options={"model": "id of a model with search"},
    ),
}  # fmt: skip
