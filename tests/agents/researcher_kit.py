"""A small world for the researcher: loopback pages, an engine to find them, a corpus, and a model by prompts."""

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sites import Asked, Page, Site, html

from tea.models.manager import CallTool, ModelConfig
from tea.models.scripted import response_of
from tea.platform import Platform
from tea.runs.policy import AllowTrusted
from tea.types import ModelRequest, ModelResponse

Reply = Any
QUESTION = "When was the lighthouse of Cape Harrow built?"


class Script:
    """A model with a reply for each prompt; a function is given the request.

    Pages are read by taking each of their lines as a quotation, unless `page_reader` says otherwise.
    """

    def __init__(self, **replies: Reply) -> None:
        self.replies: dict[str, Any] = {"page_reader": read_all, **replies}
        self.requests: dict[str, list[ModelRequest]] = defaultdict(list)

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        name = str(request.prompt).removeprefix("prompt:").partition("@")[0]
        self.requests[name].append(request)
        reply = self.replies[name]
        return response_of(reply(request) if callable(reply) else reply, config.name)

    def asked(self) -> dict[str, int]:
        return {name: len(requests) for name, requests in self.requests.items()}


def read_all(request: ModelRequest) -> dict[str, Any]:
    lines = [one.strip() for one in str(request.variables["text"]).splitlines()]
    return {"quotes": [one for one in lines if one and not one.startswith("[")][:12], "summary": "What it says."}


def plan(*queries: str, **more: Any) -> dict[str, Any]:
    return {
        "kind": "answer",
        "question": QUESTION,
        "queries": list(queries or ["lighthouse built"]),
        "needs": [],
        **more,
    }


def claim(source: int, quote: str, words: str = "", about: str = "year") -> dict[str, Any]:
    return {"about": about, "claim": words or quote, "source": source, "quote": quote}


def verdict(*claims: dict[str, Any], says: str = "complete", **more: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {"conflicts": [], "missing": [], "queries": [], "read": []}
    return {"claims": list(claims), "verdict": says, **usual, **more}


def draft(answer: Any, *evidence: int, **more: Any) -> dict[str, Any]:
    return {"answer": answer, "supported": True, "evidence": list(evidence or (1,)), "reason": "", **more}


def number_of(request: ModelRequest, words: str) -> int:
    """Return the number of the source with some words, as shown to the model."""
    return next(int(one["number"]) for one in request.variables["material"] if words in f"{one['url']} {one['text']}")


def quoting(words: str, says: str = "complete", **more: Any) -> Callable[[ModelRequest], dict[str, Any]]:
    """Return a verdict with one claim, quoting some words of the source."""
    return lambda request: verdict(claim(number_of(request, words), words), says=says, **more)


def turns(*replies: Reply) -> Callable[[ModelRequest], Any]:
    """Return a function giving one reply after the other."""
    left = list(replies)

    def next_one(request: ModelRequest) -> Any:
        reply = left.pop(0)
        return reply(request) if callable(reply) else reply

    return next_one


class World:
    """Pages by path, and the engine's results for a query; `*` for any other."""

    def __init__(self, site: Site, pages: Mapping[str, Any], found: Mapping[str, list[str]]) -> None:
        self.site, self.found = site, found
        self.searches: list[str] = []
        site.pages |= pages
        site.pages["/engine"] = self.search

    def search(self, asked: Asked) -> Page:
        query = parse_qs(urlsplit(asked.path).query)["q"][0]
        self.searches.append(query)
        paths = self.found.get(query, self.found.get("*", []))
        results = [
            {"title": f"lighthouse {path}", "url": f"{self.site.url}{path}", "description": f"lighthouse built {query}"}
            for path in paths
        ]
        body = json.dumps({"web": {"results": results}}).encode()
        return Page(body=body, headers={"content-type": "application/json"})


def text(words: str, date: str = "") -> Page:
    meta = f'<meta property="article:published_time" content="{date}">' if date else ""
    return html(f"<html><head>{meta}</head><body><main><h1>Cape Harrow</h1><p>{words}</p></main></body></html>")


@asynccontextmanager
async def world(
    folder: Path,
    model: Any,
    pages: Mapping[str, Any] | None = None,
    found: Mapping[str, list[str]] | None = None,
    docs: Mapping[str, str] | None = None,
    settings: str = "",
    port: int = 0,
) -> AsyncIterator[tuple[Platform, World]]:
    """Open a platform to search these pages and documents."""
    folder.mkdir(exist_ok=True)
    site = Site({})
    site.port = port
    async with site.open():
        made = World(site, pages or {}, found if found is not None else {"*": list(pages or {})})
        lines = [
            "[web]",
            f'allow = ["{site.place}"]',
            "retries = []",
            "[search]",
            "retries = []",
            "fresh = 0",
            settings.replace("{site}", site.url),
        ]
        lines += ["[search.brave]", f'url = "{site.url}/engine"', "delay = 0"] if pages is not None else []
        (folder / "tea.toml").write_text("\n".join(lines))
        (folder / ".env").write_text("BRAVE_API_KEY=key-of-the-home-0123456789\n" if pages is not None else "")
        options = {"model": model, "policy": AllowTrusted(), "trust_home": True}
        async with Platform(folder, state=folder / "state", **options) as tea:
            if docs:
                place = folder / "docs"
                place.mkdir(exist_ok=True)
                for name, words in docs.items():
                    (place / name).write_text(words)
                await tea.corpus.add(str(place))
            yield tea, made


def notes(tea: Platform, run: str, kind: str) -> list[Any]:
    """The notes of one kind in a run's journal."""
    found = [record.data for record in tea.tracer.records(run) if record.kind == "note"]
    return [note["data"] for note in found if note["kind"] == kind]


BUILT = "The lighthouse of Cape Harrow was built in 1871."
LAMP = "Its lamp burns paraffin oil."
MOLE = "The Mole Light was built in 1902."
FORM: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "year": {"type": ["integer", "null"]}},
        "required": ["name", "year"],
        "additionalProperties": False,
    },
}


@dataclass(frozen=True, kw_only=True)
class Play:
    """Answer each question of a whole research from its words alone."""

    task: str
    answer: Any
    replies: Mapping[str, Reply]
    pages: Mapping[str, Any]
    docs: Mapping[str, str]
    form: Any = None
    found: Mapping[str, list[str]] | None = None


def _two_rounds(request: ModelRequest) -> dict[str, Any]:
    if not request.variables["evidence"]:
        return quoting(LAMP, says="more", queries=["lighthouse year"], missing=["the year"])(request)
    return quoting(BUILT)(request)


def _rows(request: ModelRequest) -> dict[str, Any]:
    known = [(BUILT, "Cape Harrow", 1871), (MOLE, "Mole Light", 1902)]
    shown = [(one["number"], one["text"]) for one in request.variables["material"]]
    rows = [
        {"cells": {"name": name, "year": year}, "source": number, "quote": quote}
        for quote, name, year in known
        for number, words in shown
        if quote in words
    ]
    return {"rows": rows, "queries": ["lighthouse mole"], "read": []}


def _section(request: ModelRequest) -> dict[str, Any]:
    lines = [
        f"{one['claim'].rstrip('.')} [{one['reference']}](<{one['url']}>)." for one in request.variables["evidence"]
    ]
    return {"markdown": "\n".join(lines)}


_PAGES = {"/a": text(f"{BUILT} {LAMP}", "2024-05-06"), "/b": text(MOLE)}
_DOCS = {"bay.md": f"# The bay\n\nThe lighthouse is lit. {LAMP}\n\n## Mole\n\n{MOLE}\n"}
_COLUMNS = [{"name": "name", "meaning": "of the lighthouse"}, {"name": "year", "meaning": "in which it was built"}]
PLAYS: Mapping[str, Play] = {
    "answer": Play(
        task=QUESTION,
        answer="1871",
        replies={
            "researcher": plan("lighthouse lamp"),
            "researcher_verdict": _two_rounds,
            "researcher_answer": draft("1871", 2, 1),
        },
        pages=_PAGES,
        docs={"lamp.md": f"# Lamp of the lighthouse\n\n{LAMP}\n"},
        found={"lighthouse lamp": ["/b"], "*": ["/a"]},
    ),
    "list": Play(
        task="List all lighthouses of the bay with their years.",
        answer=[{"name": "Cape Harrow", "year": 1871}, {"name": "Mole Light", "year": 1902}],
        replies={
            "researcher": plan(
                "lighthouse built", kind="list", entity="a lighthouse", columns=_COLUMNS, key=["name"], target=None
            ),
            "researcher_rows": _rows,
        },
        pages={"/a": _PAGES["/a"]},
        docs=_DOCS,
        form=FORM,
    ),
    "report": Play(
        task="Write a report on the lighthouse of Cape Harrow.",
        answer="It was built in 1871.",
        replies={
            "researcher": plan("lighthouse lamp", kind="report"),
            "researcher_verdict": _two_rounds,
            "researcher_answer": draft(
                "It was built in 1871.",
                2,
                title="Cape Harrow",
                sections=[{"heading": "Tower", "says": "", "evidence": [2]}],
            ),
            "researcher_section": _section,
        },
        pages=_PAGES,
        docs={"lamp.md": f"# Lamp of the lighthouse\n\n{LAMP}\n"},
        found={"lighthouse lamp": ["/b"], "*": ["/a"]},
    ),
}
