"""Search service: the searching of a home, with its engines, keys, corpus and the state they share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tea.errors import BadInput, NotConfigured, TeaError, ToolError, UntrustedHome
from tea.home import SETTINGS, HomeKeys
from tea.types import JsonObject
from tea.web.search.apis import APIS, SCRAPED
from tea.web.search.settings import DDGS, LOCAL, PROFILES, WIKIDATA, SearchSettings, usual_delay

if TYPE_CHECKING:  # what searches is loaded with the first search
    from tea.corpus.corpus import Corpus
    from tea.web.fetch import Fetcher
    from tea.web.guard import UrlGuard
    from tea.web.search.engine import Engine, Since
    from tea.web.search.searcher import Findings, Pace, Report
    from tea.web.search.service import ApiEngine
    from tea.web.settings import WebSettings

MOST_PASSAGES = 200
_MEANING = 0.5  # how much nearness in meaning counts beside the words of the query
_REMEDY = (
    f"index folders of your own with `tea corpus add FOLDER`, or set [search.searxng] url in {SETTINGS}, or in .env "
    "the key of an engine: {keys}. A model cannot do this: it answers from the files and from what else was read, or "
    "ends with success false and says what is missing."
)


class Grants(Protocol):
    """A check of the permission to send a key to the address in a home's settings."""

    def of_search(self, name: str, key: str, address: str) -> None:
        """Raise UntrustedHome unless the operator granted an engine's key and address."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchService:
    """The searching of a home.

    Args:
        settings: The operator's settings of searching.
        web: Those of the way out.
        keys: Gives keys by the names of their variables.
        grants: Decides where keys of the environment may go.
        corpus: Gives the corpus of the home, which takes a moment to load.
        place: The file of the corpus.
        state: Where what engines did lately is kept.
    """

    settings: SearchSettings
    web: WebSettings
    keys: HomeKeys
    grants: Grants
    corpus: Callable[[], Corpus]
    place: Path
    state: Path

    def ready(self) -> bool:
        """Return whether something can be searched; blocks."""
        return any(not self._lacking(name) for name in self._wanted)

    def holds_corpus(self) -> bool:
        """Return whether there are documents of the operator to search; blocks."""
        return LOCAL in self._wanted and not self._corpus_fault()

    def holds_entities(self) -> bool:
        """Return whether the members of classes can be asked for; blocks."""
        return WIKIDATA in self.settings.engines and not self._lacking(WIKIDATA)

    @property
    def _wanted(self) -> tuple[str, ...]:
        return self.settings.engines or (*(name for name, one in APIS.items() if not one.by_name), LOCAL)

    async def search(self, run: str, queries: Sequence[str], since: Since) -> JsonObject:
        """Return the results of a search, as JSON.

        Args:
            run: The run that it is for.
            queries: What to search for.
            since: The age of pages.

        Raises:
            NotConfigured: There is no engine.
            UntrustedHome: Those that there are wait for a grant of the home.
            BadInput: A query is not usable.
            ToolError: Every engine failed, or the run's budget is used up.
        """
        from tea.web.search.engine import EngineFailed
        from tea.web.search.health import Health
        from tea.web.search.searcher import Searcher

        health = Health(self.state, PROFILES[self.settings.profile])
        engines, absent = await asyncio.to_thread(self._engines)
        if not engines:
            raise await asyncio.to_thread(self._no_engine, absent)
        try:
            await asyncio.to_thread(health.count, run, len(queries), self.settings.searches)
        except EngineFailed as error:
            raise ToolError(error.problem, fix="answer from what was found, or say what is missing.") from error
        searcher = Searcher(
            engines,
            health,
            seconds=self.settings.seconds,
            grace=self.settings.grace,
            paces={one.name: self._pace(one.name) for one in engines if one.name != LOCAL},
            rerank=self._rerank,
            absent=absent,
        )
        found = await searcher.search(queries, most=self.settings.results, since=since)
        if not found.results and all(one.state == "failed" for one in found.reports):
            raise _failed(found)
        return self._as_json(found, await self._resting(found) if self.settings.open else [])

    async def entities(self, run: str, wanted: Mapping[str, Any]) -> JsonObject:
        """Return the members of a class in Wikidata, as JSON; see `tea.web.search.Wikidata`.

        Args:
            run: The run that it is for.
            wanted: Its `kind`, `conditions` (`property`, `value`), `columns` (`column`, `property`) and `language`.

        Raises:
            NotConfigured: The operator did not name Wikidata.
            ToolError: It gives no answer, or the run's budget is used up.
        """
        from tea.web.search.engine import EngineFailed
        from tea.web.search.health import Health
        from tea.web.search.wikidata import Wanted, Wikidata

        if not await asyncio.to_thread(self.holds_entities):
            lacking = await asyncio.to_thread(self._lacking, WIKIDATA) if WIKIDATA in self.settings.engines else ""
            fix = f'name "{WIKIDATA}" among the engines of [search] in {SETTINGS}.'
            raise NotConfigured(f"Wikidata may not be asked. {lacking}".strip()[:600], fix=fix)
        health, pace = Health(self.state, PROFILES[self.settings.profile]), self._pace(WIKIDATA)
        engine = self._service(WIKIDATA, self._fetcher(self._guard))
        sparql = self.settings.further(WIKIDATA, "sparql")

        async def admitted() -> None:
            admit = partial(health.admit, pace.service, delay=pace.delay, per_day=pace.per_day)
            await asyncio.sleep(await asyncio.to_thread(admit))

        wikidata = Wikidata(engine, address=self.settings.address(WIKIDATA), sparql=sparql, admitted=admitted)
        asked = Wanted(
            kind=str(wanted["kind"]),
            conditions=[(str(one["property"]), str(one["value"])) for one in wanted["conditions"]],
            columns={str(one["column"]): str(one["property"]) for one in wanted["columns"]},
            language=str(wanted["language"]),
        )
        try:
            await asyncio.to_thread(health.count, run, 1, self.settings.searches)
            async with asyncio.timeout(self.settings.seconds):
                found = await wikidata.members(asked)
            await asyncio.to_thread(health.answered, pace.service)
        except (EngineFailed, TimeoutError) as error:
            late = EngineFailed("timeout", f"It gave no answer within {self.settings.seconds:g} seconds.")
            failed = error if isinstance(error, EngineFailed) else late
            await asyncio.to_thread(health.failed, pace.service, failed)
            raise ToolError(failed.problem, fix="go on without it.") from error
        return found

    async def _resting(self, found: Findings) -> list[str]:
        """Return the addresses of results not opened now, as their hosts lately refused or asked for rest."""
        from tea.web.visit import Visitor

        profile, visitor = PROFILES[self.settings.profile], Visitor(self.web)
        urls = [one.hit.url for one in found.results if one.score >= profile.score]
        rests = [await visitor.rest_of(url, cooldown=profile.cooldown, blocked=profile.blocked) for url in urls]
        return [url for url, rest in zip(urls, rests, strict=True) if rest]

    async def document(self, url: str) -> JsonObject | None:
        """Return a document of the corpus as it was indexed, None if it is not there.

        Args:
            url: Its address.
        """
        if await asyncio.to_thread(self._corpus_fault):
            return None
        found = await self.corpus().document(url)
        return None if found is None else asdict(found)

    async def passages(self, query: str, found: int, kept: int) -> list[JsonObject]:
        """Return passages of the corpus, best first; none without a corpus.

        Args:
            query: What they are to tell about.
            found: How many are taken at first, from 1 to 200.
            kept: How many of them are returned, after each was compared with the query.

        Raises:
            BadInput: The query holds no word, or a number is out of range.
        """
        if not query.strip() or not 0 < kept <= found <= MOST_PASSAGES:
            raise BadInput(
                f"{kept} of {found} passages cannot be given.", fix=f"ask in words, for 1 to {MOST_PASSAGES}."
            )
        if await asyncio.to_thread(self._corpus_fault):
            return []
        from tea.corpus.corpus import hit_of

        matches = await self.corpus().find(query, found)
        scores = await asyncio.to_thread(self._rerank, query, [one.passage.text for one in matches])
        ranked = sorted(zip(scores, range(len(matches)), strict=True), key=lambda one: (-one[0], one[1]))
        return [{**asdict(hit_of(matches[place])), "score": round(score, 4)} for score, place in ranked[:kept]]

    def _engines(self) -> tuple[list[Engine], list[Report]]:
        """Return the usable engines, and why other wanted ones are not; blocks."""
        from tea.web.search.searcher import Report

        engines: list[Engine] = []
        absent: list[Report] = []
        guard, named = self._guard, (*self.settings.engines, *self.settings.named)
        fetcher = self._fetcher(guard)
        for name in self._wanted:
            if problem := self._lacking(name):
                tier = 1 if name == LOCAL else APIS[name].tier
                missing = Report(engine=name, tier=tier, query="", state="failed", kind="missing", problem=problem)
                absent += [missing] if name in named else []
            elif name == LOCAL:
                engines.append(self.corpus())
            else:
                engines.append(self._ddgs(guard) if name == DDGS else self._service(name, fetcher))
        return engines, absent

    @property
    def _guard(self) -> UrlGuard:
        from tea.web.guard import UrlGuard

        return UrlGuard(self.web.allow)

    def _fetcher(self, guard: UrlGuard) -> Fetcher:
        from tea.web.fetch import Fetcher, Limits
        from tea.web.search.service import MOST_BYTES

        limits = Limits(seconds=self.settings.seconds, bytes_of=lambda content_type: MOST_BYTES)
        return Fetcher(guard, agent=self.web.agent, limits=limits)

    def _lacking(self, name: str) -> str:
        """Return why an engine cannot be asked, empty if it can; blocks."""
        if name == LOCAL:
            return self._corpus_fault()
        if name == DDGS:
            return ""
        options = self._options(name)
        if lacking := next((option for option in APIS[name].options if not options.get(option)), ""):
            return f"[search.{name}] {lacking} in {SETTINGS} is missing: the {APIS[name].options[lacking]}"
        variable, key = self.settings.key_name(name), self._key(name)
        if variable and not key:
            return f"the variable {variable} is not set"
        ungranted = self._ungranted(name)
        return _reason(ungranted) if ungranted else ""

    def _ungranted(self, name: str) -> TeaError | None:
        """Return the missing grant for sending queries or a key to the address of an engine, if any."""
        if not self.settings.is_official(name):
            try:
                self.grants.of_search(name, self.settings.key_name(name), self.settings.place(name))
            except TeaError as error:
                return error
        return None

    def _no_engine(self, absent: Sequence[Report]) -> NotConfigured | UntrustedHome:
        """Return the error for a search without any engine; blocks."""
        asked = [(one, self._ungranted(one.engine)) for one in absent if one.engine in APIS]
        waiting = [missing for one, missing in asked if missing and one.problem == _reason(missing)]
        if waiting:
            waiting.sort(key=lambda one: " of the environment to " not in one.problem)  # those with keys first
            problem = f"No search engine may be asked: {' '.join(one.problem for one in waiting)}"
            return UntrustedHome(problem, fix=waiting[0].fix)  # key and address are named in full
        why = f" {'; '.join(f'{one.engine}: {one.problem}' for one in absent)}." if absent else ""
        keys = ", ".join(one.key for one in APIS.values() if one.key and not one.options)
        return NotConfigured(f"No search engine is configured.{why}"[:600], fix=_REMEDY.format(keys=keys))

    def _options(self, name: str) -> dict[str, str]:
        own = self.settings.of_engine(name)
        return {**own.options, "url": own.url}

    def _key(self, name: str) -> str:
        variable = self.settings.key_name(name)
        return (self.keys(variable) or "") if variable else ""

    def _corpus_fault(self) -> str:
        """Return why the corpus cannot be searched, empty if it can."""
        try:
            empty = not self.place.is_file() or self.corpus().is_empty()
            return "there is no corpus; `tea corpus add FOLDER` makes one" if empty else ""
        except TeaError as error:
            return error.problem

    def _service(self, name: str, fetcher: Fetcher) -> ApiEngine:
        """Return the engine of an API."""
        from tea.web.search.service import ApiEngine

        api, own = APIS[name], self.settings.of_engine(name)
        return ApiEngine(
            name, api, fetcher, key=self._key(name), address=self.settings.address(name), options=self._options(name),
            tier=own.tier or api.tier, retries=self.settings.retries,
        )  # fmt: skip

    def _ddgs(self, guard: UrlGuard) -> Engine:
        from tea.web.search.ddgs import DdgsEngine

        own = self.settings.of_engine(DDGS)
        seconds = min(10.0, self.settings.seconds)
        return DdgsEngine(
            guard, backends=own.options.get("backends", "auto"), seconds=seconds, tier=own.tier or SCRAPED
        )

    def _pace(self, name: str) -> Pace:
        from tea.web.search.searcher import Pace

        own = self.settings.of_engine(name)
        delay = usual_delay(name) if own.delay < 0 else own.delay
        return Pace(service=self._account(name), delay=delay, per_day=own.per_day, fresh=self.settings.fresh)

    def _account(self, name: str) -> str:
        """Return the identity of an engine's record: its address, with a digest of the key and options used there.

        What a home's own key met, or its own model said, is not said of another one.
        """
        if name not in APIS:
            return name
        used = json.dumps([self._key(name), self._options(name)], sort_keys=True)
        return f"{self.settings.place(name)} {sha256(used.encode()).hexdigest()[:16]}"

    def _rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how well texts fit a query, from 0 to 1: by its words, and by its meaning; blocks."""
        from tea.web.search.hits import covered

        rows = self.corpus().embedder.embed([query, *texts])
        near = rows[1:] @ rows[0]
        pairs = zip(covered(query, texts), near, strict=True)
        return [(1 - _MEANING) * one + _MEANING * max(0.0, float(meaning)) for one, meaning in pairs]

    def _as_json(self, found: Findings, resting: Sequence[str]) -> JsonObject:
        profile = PROFILES[self.settings.profile]
        results = [
            {
                **asdict(one.hit),
                "engines": list(one.engines),
                "tier": one.tier,
                "score": one.score,
                "query": one.query,
            }
            for one in found.results
        ]
        engines = [asdict(one) for one in found.reports]
        opens = profile.opens if self.settings.open else 0
        opened: dict[str, Any] = {"most": opens, "score": profile.score, "parallel": profile.parallel}
        if resting:
            opened["resting"] = list(resting)
        told = {"results": results, "engines": engines, "relaxed": dict(found.relaxed), "open": opened}
        return {**told, "profile": {"name": self.settings.profile, "opens": profile.opens, "score": profile.score}}


def _reason(error: TeaError) -> str:
    """Return an error and its remedy as the reason in a report."""
    return f"{error.problem} {error.fix}"


def _failed(found: Findings) -> ToolError:
    """Return the error for a search with every engine failed."""
    told: Mapping[str, str] = {one.engine: one.problem for one in found.reports}
    words = " ".join(f"{engine}: {problem}" for engine, problem in told.items())
    fix = "try again later, or with other engines in [search]."
    if all(one.kind in ("unreachable", "unresolved") for one in found.reports if one.kind != "missing"):
        fix = "check the network, then try again."
    return ToolError(f"No engine answered. {words}"[:900], fix=fix)
