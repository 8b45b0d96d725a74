"""Visit: a page by the operator's settings, from the cache or its server, with retries of temporary failures."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Literal

from tea.clock import epoch_seconds, to_second, utc_now
from tea.web.address import Target, escaped, read_address
from tea.web.blocked import Wall, wall_of
from tea.web.cache import CachedAnswer, PageCache
from tea.web.fetch import Answer, Fetcher, FetchFailed, Limits
from tea.web.guard import REASONS, UrlGuard, denial, is_denied
from tea.web.robots import MOST_BYTES, may_fetch
from tea.web.settings import WebSettings

CacheUse = Literal["", "fresh", "unchanged"]
# What may pass by itself: a server that is busy, slow or being restarted. 501, 505 and others say the same again.
RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
RETRIED_FAILURES = frozenset({"unreachable", "broken"})
GONE = frozenset({404, 410})
# Walls of a whole host: who puts them up wants fewer visits, or none.
_COOLING: frozenset[Wall] = frozenset({"rate_limit", "captcha"})
_REFUSING: frozenset[Wall] = frozenset({"refused"})

_MOST_PATIENCE = 10.0  # seconds that a server may ask to wait
_SNAPSHOT = re.compile(r"/web/(\d{4})(\d\d)(\d\d)\d*(?:id_)?/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A page, with the way it was obtained.

    Args:
        answer: What its server answered.
        cached: Empty where its server gave it; `fresh` from the cache unasked, `unchanged` after asking.
        asked: When its server was last asked, ISO 8601 in UTC.
        attempts: How many requests for it were made; redirects count as part of one.
        wall: Which wall the answer is in the place of the page, empty for none.
        archived: Date of the copy where a web archive gave it, empty where not.
        plain: Whether it came without TLS though it was wanted with it.
    """

    answer: Answer
    cached: CacheUse
    asked: str
    attempts: int
    wall: Wall = ""
    archived: str = ""
    plain: bool = False


class Visitor:
    """A visitor of pages by the operator's settings.

    Args:
        settings: The operator's settings.
        guard: Decides about every address; by default that of the settings.
        now: The time, in seconds since 1970.
    """

    def __init__(
        self, settings: WebSettings, guard: UrlGuard | None = None, now: Callable[[], float] = epoch_seconds
    ) -> None:
        limits = Limits(seconds=settings.seconds, redirects=settings.redirects, bytes_of=self._byte_limit)
        self._settings, self._now = settings, now
        self._fetcher = Fetcher(
            guard or UrlGuard(settings.allow, deny=settings.deny), agent=settings.agent, limits=limits
        )
        self._canaries = tuple(one.encode() for one in settings.canaries if one)
        folder = Path(settings.cache) if settings.cache else None
        self._cache = PageCache(folder, settings.cache_bytes, _rules(settings))

    async def visit(self, url: str, *, at: str = "") -> Visit:
        """Return a page, with any status.

        Args:
            url: Its address, as people and pages write it.
            at: A date: the archive's copy of then is wanted.

        Raises:
            FetchFailed: There is none, or none that may be had.
        """
        target = read_address(escaped(url))
        if isinstance(target, str):
            problem = f"The guard refuses {url[:200]!r}: {REASONS[target]}."
            raise FetchFailed("refused", problem, url[:2_000], target)
        self._require_open(target)
        if at and self._settings.wayback:
            return self._clean(await self._archived(target, at))
        found = self._clean(await self._obtain(target))
        if (found.wall or found.answer.status in GONE) and self._settings.wayback:
            try:
                copy = await self._archived(target, "")
            except FetchFailed:
                return found
            return self._clean(copy) if copy.answer.status == 200 and not copy.wall else found
        return found

    async def rest_of(self, url: str, *, cooldown: float, blocked: float) -> float:
        """Return the seconds before the next unasked visit to the host of an address; 0 for none.

        Args:
            url: The address.
            cooldown: Seconds after the host wanted fewer requests, or a proof that a person reads.
            blocked: Seconds after it refused this reader.
        """
        target = read_address(escaped(url))
        if isinstance(target, str):
            return 0.0
        last = await asyncio.to_thread(self._cache.read, _key_of_host(target))
        if last is None:
            return 0.0
        return max(0.0, last.asked + (cooldown if last.wall in _COOLING else blocked) - self._now())

    def _require_open(self, target: Target) -> None:
        """Refuse an address leading to a denied host, even if the cache holds the page."""
        if is_denied(target.url, denial(self._settings.deny)):
            raise FetchFailed("refused", f"The guard refuses it: {REASONS['denied']}.", target.url, "denied")

    def _clean(self, found: Visit) -> Visit:
        """Refuse a page holding a canary: a part of a benchmark would give its answers away."""
        if any(one in found.answer.body for one in self._canaries):
            problem = "The page is a part of a benchmark, and is not shown."
            raise FetchFailed("refused", problem, found.answer.url, "denied")
        return found

    async def _obtain(self, target: Target) -> Visit:
        """Get a page from the cache, its server, or its server without TLS."""
        kept = await asyncio.to_thread(self._cache.read, target.url)
        if kept is not None and kept.is_fresh(self._now(), self._settings.fresh):
            return self._visit(kept, "fresh", 0)
        if self._settings.robots:
            await self._check_robots(target)
        try:
            return await self._fetch(target, kept)
        except FetchFailed as error:
            if error.kind != "tls" or target.scheme != "https" or not target.host.endswith(self._settings.plain):
                raise
            port = 80 if target.port == 443 else target.port
            return replace(await self._fetch(replace(target, scheme="http", port=port), None), plain=True)

    async def _fetch(self, target: Target, kept: CachedAnswer | None) -> Visit:
        """Fetch a page from its server, with retries if they may help."""
        validators = kept.validators() if kept is not None else {}
        waits = list(self._settings.retries)
        attempts = 0
        while True:
            attempts += 1
            try:
                answer = await self._fetcher.get(target.url, validators)
                wait = _patience(answer, waits[0] if waits else 0.0)
                if answer.status not in RETRIED_STATUSES or not waits or wait is None:
                    break
            except FetchFailed as error:
                if error.kind not in RETRIED_FAILURES or not waits:
                    raise
                wait = waits[0]
            waits.pop(0)
            await asyncio.sleep(wait)
        if answer.status == 304 and kept is not None:
            headers = {**kept.answer.headers, **answer.headers}
            entry = CachedAnswer(answer=replace(kept.answer, headers=headers), asked=self._now(), wall=kept.wall)
        else:
            entry = CachedAnswer(answer=answer, asked=self._now(), wall=wall_of(answer))
        await asyncio.to_thread(self._cache.write, target.url, entry)
        if entry.wall in _COOLING | _REFUSING:
            told = replace(entry, answer=Answer(url=target.url, status=answer.status, headers={}))
            await asyncio.to_thread(self._cache.write, _key_of_host(target), told)
        return self._visit(entry, "unchanged" if answer.status == 304 else "", attempts)

    async def _archived(self, target: Target, at: str) -> Visit:
        """Return a web archive's copy of a page: the last one, or the one nearest to a date."""
        stamp = at.replace("-", "") or f"{datetime.fromtimestamp(self._now(), UTC):%Y%m%d}"
        address = read_address(escaped(f"{self._settings.wayback.rstrip('/')}/web/{stamp}id_/{target.url}"))
        if isinstance(address, str):
            raise FetchFailed("refused", f"The archive's address is refused: {REASONS[address]}.", target.url, address)
        found = await self._obtain(address)
        when = _archived_at(found.answer)
        return replace(found, archived=when) if when else found

    async def _check_robots(self, target: Target) -> None:
        """Raise FetchFailed if the site's `robots.txt` forbids the page to this agent; without it all is permitted.

        Raises:
            FetchFailed: The file refuses, or its server fails to say (RFC 9309, 2.3.1.4).
        """
        robots = replace(target, path="/robots.txt")
        kept = await asyncio.to_thread(self._cache.read, robots.url)
        if kept is not None and kept.is_fresh(self._now(), self._settings.fresh):
            answer = kept.answer
        else:
            answer = (await self._fetch(robots, kept)).answer
        token, text = self._settings.agent.partition("/")[0], answer.body[:MOST_BYTES].decode("utf-8", "replace")
        if answer.status >= 500 or (answer.status == 200 and not may_fetch(text, token, target.path)):
            problem = f"robots.txt of {target.host!r} does not let this agent fetch the page."
            raise FetchFailed("refused", problem, target.url)

    def _visit(self, entry: CachedAnswer, cached: CacheUse, attempts: int) -> Visit:
        asked = to_second(entry.asked)
        return Visit(answer=entry.answer, cached=cached, asked=asked, attempts=attempts, wall=entry.wall)

    def _byte_limit(self, content_type: str) -> int:
        """Return the most bytes of a body by its type; any other than text may be a PDF or Office file."""
        kind = content_type.partition(";")[0].strip().lower()
        text = kind.startswith("text/") or kind.endswith(("html", "xml", "json", "javascript"))
        return self._settings.html_bytes if text else self._settings.pdf_bytes


def _rules(settings: WebSettings) -> str:
    """Return the operator's rules for places, as a part of keys; empty without any."""
    rules = [sorted(settings.allow), sorted(settings.deny)]
    return f"{json.dumps(rules)} " if any(rules) else ""


def _key_of_host(target: Target) -> str:
    return f"host {target.host}"  # which is not an address, so it is not the key of a page


def _patience(answer: Answer, planned: float) -> float | None:
    """Return the seconds to wait before the next attempt, None if the server asks for too many."""
    asked = answer.headers.get("retry-after", "").strip()
    if asked.isdigit():
        seconds = float(asked[:9])
    else:
        try:
            seconds = (parsedate_to_datetime(asked) - utc_now()).total_seconds()
        except (ValueError, TypeError):
            seconds = 0.0
    return max(planned, seconds) if seconds <= _MOST_PATIENCE else None


def _archived_at(answer: Answer) -> str:
    """Return the date of an archive's copy (RFC 7089), empty if it has none."""
    try:
        return f"{parsedate_to_datetime(answer.headers['memento-datetime']):%Y-%m-%d}"
    except (KeyError, ValueError, TypeError):
        found = _SNAPSHOT.search(answer.url)
        return "-".join(found.groups()) if found else ""
