"""Answers of search services in their documented shapes; each names its page."""

import json
from typing import Any

# https://api-dashboard.search.brave.com/app/documentation/web-search/responses
BRAVE: Any = {
    "type": "search",
    "query": {"original": "lighthouse", "more_results_available": True},
    "web": {
        "type": "search",
        "results": [
            {
                "title": "The <strong>lighthouse</strong> of the cape",
                "url": "https://www.cape.example/tower?utm_source=brave",
                "description": "It was built in <strong>1871</strong> &amp; still stands.",
                "page_age": "2024-05-06T10:00:00",
                "age": "May 6, 2024",
                "meta_url": {"scheme": "https", "netloc": "cape.example", "hostname": "www.cape.example"},
            },
            {"title": "Ships", "url": "https://ships.example/", "description": "Ships that pass."},
        ],
    },
}
# https://developers.google.com/custom-search/v1/reference/rest/v1/Search
GOOGLE: Any = {
    "kind": "customsearch#search",
    "searchInformation": {"totalResults": "2"},
    "items": [
        {
            "kind": "customsearch#result",
            "title": "Tower of the cape",
            "link": "http://cape.example/tower",
            "snippet": "The lighthouse, built in 1871.",
            "pagemap": {"metatags": [{"article:published_time": "2023-01-02T00:00:00Z"}]},
        },
        {"kind": "customsearch#result", "title": "Lamps", "link": "https://lamps.example/a", "snippet": "Lamps."},
    ],
}
# https://docs.firecrawl.dev/api-reference/endpoint/search
FIRECRAWL: Any = {
    "success": True,
    "data": {"web": [{"title": "Tower", "description": "A tower.", "url": "https://fire.example/t", "position": 1}]},
    "creditsUsed": 2,
}
# https://docs.tavily.com/documentation/api-reference/endpoint/search
TAVILY: Any = {
    "query": "lighthouse",
    "answer": None,
    "results": [
        {
            "title": "Tower",
            "url": "https://tavily.example/t",
            "content": "A lighthouse.",
            "score": 0.9,
            "published_date": "Mon, 06 May 2024 10:00:00 GMT",
        }
    ],
    "response_time": 1.2,
}
# https://docs.exa.ai/reference/search
EXA: Any = {
    "requestId": "b5",
    "results": [
        {
            "title": "Tower",
            "url": "https://exa.example/t",
            "publishedDate": "2023-11-16T01:36:32.547Z",
            "author": "A person",
            "highlights": ["It was built in 1871.", "It stands."],
        }
    ],
}
# https://cloud.baidu.com/doc/AppBuilder/s/pmaxd1hvy
BAIDU: Any = {
    "request_id": "ea",
    "references": [
        {
            "id": 1,
            "title": "灯塔",
            "url": "https://baidu.example/t",
            "content": "灯塔建于1871年。",
            "date": "2025-04-27 18:02:00",
            "type": "web",
        },
        {"id": 2, "title": "a picture", "url": "https://baidu.example/p", "type": "image"},
    ],
}
# https://docs.searxng.org/dev/search_api.html
SEARXNG: Any = {
    "query": "lighthouse",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://cape.example/tower/",
            "title": "The lighthouse",
            "content": "Built in 1871, says the long history of the tower at the cape.",
            "engine": "duckduckgo",
            "engines": ["duckduckgo", "mojeek"],
            "publishedDate": None,
            "score": 4.0,
            "category": "general",
        }
    ],
    "answers": [],
    "unresponsive_engines": [],
}
# https://platform.openai.com/docs/guides/tools-web-search
MODEL: Any = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "output": [
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {
                "type": "search",
                "query": "lighthouse",
                "sources": [{"type": "url", "url": "https://seen.example/"}],
            },
        },
        {
            "type": "message",
            "role": "assistant",
            "content": [
                {
                    "type": "output_text",
                    "text": "- The tower was built in 1871. ([cape](https://cape.example/tower))",
                    "annotations": [
                        {
                            "type": "url_citation",
                            "start_index": 31,
                            "end_index": 70,
                            "url": "https://cape.example/tower?utm_source=openai",
                            "title": "The lighthouse",
                        }
                    ],
                }
            ],
        },
    ],
}
# https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities
WIKIDATA: Any = {
    "searchinfo": {"search": "lighthouse"},
    "search": [
        {
            "id": "Q39715",
            "title": "Q39715",
            "pageid": 42119,
            "concepturi": "http://www.wikidata.org/entity/Q39715",
            "repository": "wikidata",
            "url": "//www.wikidata.org/wiki/Q39715",
            "display": {
                "label": {"value": "lighthouse", "language": "en"},
                "description": {"value": "tower with a light", "language": "en"},
            },
            "label": "lighthouse",
            "description": "tower with a light",
            "match": {"type": "label", "language": "en", "text": "lighthouse"},
        },
        {
            "id": "Q1", "title": "Q1", "concepturi": "http://www.wikidata.org/entity/Q1", "label": "Lighthouse keeper",
            "match": {"type": "alias", "language": "en", "text": "lighthouse keeper"}, "aliases": ["lighthouse keeper"],
        },
    ],
    "search-continue": 7,
    "success": 1,
}  # fmt: skip
SHAPES: dict[str, Any] = {
    "brave": BRAVE, "google": GOOGLE, "firecrawl": FIRECRAWL, "tavily": TAVILY, "exa": EXA, "baidu": BAIDU,
    "searxng": SEARXNG, "model": MODEL, "wikidata": WIKIDATA,
}  # fmt: skip
PAGES = {
    "brave": "https://api-dashboard.search.brave.com/", "google": "https://developers.google.com/custom-search/",
    "firecrawl": "https://docs.firecrawl.dev/", "tavily": "https://docs.tavily.com/", "exa": "https://docs.exa.ai/",
    "baidu": "https://cloud.baidu.com/doc/", "searxng": "https://docs.searxng.org/",
    "model": "https://platform.openai.com/docs/", "wikidata": "https://www.wikidata.org/w/api.php?action=help&modules=",
}  # fmt: skip


def packed(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
