"""Gathering: search, choose and read pages, side by side; a failure is told, and never ends the work."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tea import Context, addresses_in

from .sources import Source, Sources, Words, normal, unframed
from .together import together

MOST_QUERIES = 5
MOST_WORDS = 400  # characters of a query
OPENS, SCORE = 3, 0.4  # of the profile `balanced`, where a search says nothing of its profile
KEPT = 2  # questions to models that are kept for judging and answering
MOST_PROBLEM = 600
MOST_NAMED = 5  # addresses in the words of a task
MOST_WHOLE = 4_000  # characters of a local document that is taken as it stands

_REFUSALS = re.compile(r"is not shown|status (?:401|403|407|429|451)\b")
FOR_A_MODEL = " A model cannot do this"  # the rest of the remedy of `web_search` is not for the person


@dataclass(slots=True)
class Gathering:
    """The searches and read pages of one task.

    Args:
        ctx: What the agent may reach.
        sources: What was found.
        queries: What was searched for, in order.
        problems: What could not be searched or read, one line each.
        opens: Most pages that are read in a round.
        score: Least score of a result that is read.
        refused: Hosts that refused a page, which are left alone.
    """

    ctx: Context
    sources: Sources = field(default_factory=Sources)
    queries: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])
    opens: int = OPENS
    score: float = SCORE
    refused: list[str] = field(default_factory=list[str])

    def new(self, queries: Sequence[str]) -> list[str]:
        """Return the queries not asked before, at most five."""
        asked = [one.casefold() for one in self.queries]
        cut = dict.fromkeys(" ".join(one.split())[:MOST_WORDS] for one in queries)
        return [one for one in cut if one and one.casefold() not in asked][:MOST_QUERIES]

    def named(self, words: str) -> list[str]:
        """Return the addresses in the words of a task, each of them a source from now on."""
        return [self.sources.page(one).url for one in addresses_in(words)[:MOST_NAMED]]

    async def search(self, queries: Sequence[str], since: str = "") -> list[Source]:
        """Search for several queries at once in all engines and the corpus, and return the new results."""
        if not queries:
            return []
        self.queries += queries
        return self._taken(
            await self.ctx.tcp.invoke("web_search", {"queries": list(queries), "since": since, "full": True})
        )

    async def search_each(self, queries: Sequence[str], since: str = "") -> list[Source]:
        """Search for each query by itself, side by side: more results, and longer passages, than for all of them."""
        self.queries += queries
        wanted: list[dict[str, Any]] = [{"queries": [query], "since": since, "full": True} for query in queries]
        found = await together(self.ctx, [self.ctx.tcp.invoke("web_search", one) for one in wanted])
        return [one for response in found for one in self._taken(response)]

    def _taken(self, response: Any) -> list[Source]:
        if not response.ok:
            self._failed("", response.error, fix=True)
            return []
        found: Mapping[str, Any] = response.value
        profile: Mapping[str, Any] = found.get("profile", {})
        self.opens, self.score = int(profile.get("opens", OPENS)), float(profile.get("score", SCORE))
        self.problems += [one for one in found.get("notes", ()) if one not in self.problems]
        return [one for result in found["results"] if (one := self.sources.found(result)) is not None]

    def chosen(self, wanted: Sequence[str], most: int | None = None) -> list[Source]:
        """Return the pages to read now: the requested ones, then the best results by the profile's score.

        Args:
            wanted: Addresses that the model wants to have read; only such as stand in what was found count.
            most: Most pages; by default as many as the profile opens.
        """
        known = [one for one in self.sources.all() if one.state == "found"]
        named = [one for url in wanted if (one := self._named(url)) is not None]
        unknown = [url.strip() for url in wanted if not self._is_known(url)]
        lines = [f"{url[:200]} was not read: it stands in nothing that was found" for url in unknown]
        self.problems += [one for one in lines if one not in self.problems]
        best = sorted((one for one in known if one.score >= self.score), key=lambda one: -one.score)
        pages = {one.number: one for one in (*named, *best) if one.host not in self.refused}
        return [*pages.values()][: self.opens if most is None else most]

    def _named(self, url: str) -> Source | None:
        """Return the unread page of a found address; a model makes up no addresses."""
        address = url.strip()
        known = [one for one in self.sources.all() if normal(one.url) == normal(address)]
        if known:
            one = known[0]
            return one if one.state == "found" or (one.is_local and not one.opened) else None
        texts = [text for one in self.sources.all() for text in (one.summary, *(words.text for words in one.words))]
        is_there = re.match(r"https?://", address) and any(address in text for text in texts)
        return self.sources.page(address) if is_there else None

    def _is_known(self, url: str) -> bool:
        """Return whether an address is a source's, known or just named."""
        return any(normal(one.url) == normal(url.strip()) for one in self.sources.all())

    async def read(self, pages: Sequence[Source], question: str) -> list[Source]:
        """Read pages with a question, side by side, and return the readable ones."""
        left = await self.questions()
        asks = left is None or left >= len(pages) + KEPT
        more = {"question": question} if asks else {"find": question}
        await together(self.ctx, [self._read(page, more) for page in pages])
        return [one for one in pages if one.state == "read"]

    async def read_text(self, page: Source, start: int) -> int:
        """Read the text of a page from a line on, and return the line after it, 0 at the end."""
        return int((await self._reading(page, {"start": start})).get("next_start", 0))

    async def holds(self, source: Source, quote: str) -> int | None:
        """Return the line of a quote in a source; the page itself is read if no recorded words hold it."""
        line = source.line_of(quote)
        if line is not None or source.is_local or source.state != "read":
            return line
        await self._reading(source, {"find": quote[:MOST_WORDS]})
        return source.line_of(quote)

    async def questions(self) -> int | None:
        """Return how many questions to models are left; None if their number has no limit."""
        left = (await self.ctx.remaining())["steps"]
        return None if left is None else int(left)

    async def affords(self, count: int) -> bool:
        """Return whether so many questions to models are left."""
        left = await self.questions()
        return left is None or left >= count

    async def _read(self, page: Source, more: Mapping[str, Any]) -> None:
        """Read a page for a question; a short local document is taken as it stands, without asking a model."""
        if page.is_local:
            response = await self.ctx.tcp.invoke("fetch_page", {"url": page.url})
            whole: Mapping[str, Any] = response.value if response.ok else {"next_start": 0}
            if "next_start" not in whole and len(whole["text"]) <= MOST_WHOLE:
                page.opened = True
                _take(page, whole)
                return
        await self._reading(page, more)

    async def _reading(self, page: Source, more: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the result of reading a page, empty for an unreadable one."""
        page.opened = True
        response = await self.ctx.tcp.invoke("fetch_page", {"url": page.url, **more})
        if response.ok:
            _take(page, response.value)
            return response.value
        self._failed(page.url, response.error)
        if page.state != "read":
            page.state, page.problem = "failed", str((response.error or {}).get("problem", ""))[:MOST_PROBLEM]
            if _REFUSALS.search(page.problem) and page.host not in self.refused:
                self.refused.append(page.host)
        return {}

    def _failed(self, what: str, error: Mapping[str, Any] | None, *, fix: bool = False) -> None:
        told = error or {}
        remedy = str(told.get("fix", "")).partition(FOR_A_MODEL)[0] if fix else ""
        problem = " ".join([str(told.get("problem", "")), remedy[:1].upper() + remedy[1:]]).strip()
        line = problem if what in problem else f"{what}: {problem}"
        if line not in self.problems:
            self.problems.append(line[:MOST_PROBLEM])


def _take(page: Source, reading: Mapping[str, Any]) -> None:
    """Keep the text read of a page: its own words with their lines, and a model's summary of them."""
    page.state = "read"
    page.title = page.title or str(reading["title"])
    page.date = str(reading.get("published") or reading.get("modified") or page.date)
    told = [Words(text=str(one["text"]), line=int(one["line"])) for one in reading.get("quotes", ())]
    told += [Words(text=unframed(one["text"]), line=int(one["start"])) for one in reading.get("excerpts", ())]
    if "text" in reading:
        if reading["start"] == 1 and "next_start" not in reading:
            page.words = []  # what a search gave of it is a part of the whole page
        told.append(Words(text=unframed(reading["text"]), line=int(reading["start"])))
    page.record(told)
    if "summary" in reading:
        page.summary = unframed(reading["summary"])


async def files(ctx: Context, names: Sequence[str], question: str, sources: Sources) -> list[str]:
    """Add the answers of a task's text files to a question, and return the unreadable ones."""
    problems = list[str]()
    for name in names:
        response = await ctx.tcp.invoke("to_markdown", {"source": name, "question": question})
        if not response.ok:
            problems.append(f"{name}: {(response.error or {}).get('problem', '')}"[:MOST_PROBLEM])
            continue
        passages = response.value.get("passages", ())
        words = [Words(text=str(one["text"]), line=int(one["start"])) for one in passages]
        if words:
            sources.file(name, words, str(response.value.get("title", "")))
    return problems
