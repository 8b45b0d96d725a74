"""HTML engines: asked only through the package `ddgs`, with its own transport going through the guard's proxy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tea.errors import MissingExtra
from tea.extras import require_extra
from tea.threads import Threads
from tea.web.guard import UrlGuard, Verdict
from tea.web.proxy import GuardProxy
from tea.web.search.apis import SCRAPED
from tea.web.search.engine import EngineFailed, Hit, Query
from tea.web.search.hits import relaxed

_MOST_BYTES = 20_000_000
_CAPTCHA_WORDS = ("captcha", "anomaly", "challenge", "unusual traffic")


class DdgsEngine:
    """The HTML engines of `ddgs`, as one engine.

    Args:
        guard: Decides about every place that it connects to.
        backends: Names of its engines, divided by commas.
        seconds: Most time for one request.
        tier: Its tier.
        threads: Where its blocking calls run.
    """

    name = "ddgs"

    def __init__(
        self, guard: UrlGuard, *, backends: str = "auto", seconds: float = 10.0, tier: int = SCRAPED,
        threads: Threads | None = None,
    ) -> None:  # fmt: skip
        self.tier = tier
        self._guard = guard
        self._backends, self._seconds = backends, seconds
        self._threads = threads or Threads(4)

    async def search(self, query: Query) -> Sequence[Hit]:
        """Return the hits of a query; see `Engine.search`."""
        closed = list[tuple[str, Verdict]]()
        way = GuardProxy(
            self._guard, most_bytes=_MOST_BYTES, refused=lambda place, verdict: closed.append((place, verdict))
        )
        async with way.on_loopback() as proxy:
            return await self._threads.run(lambda: self._hits(query, proxy, closed))

    def _hits(self, query: Query, proxy: str, closed: Sequence[tuple[str, Verdict]]) -> list[Hit]:
        """Return the hits of a query; blocks.

        Args:
            query: The query.
            proxy: The address of the way out.
            closed: The places that it did not open until then.
        """
        try:
            module: Any = require_extra("ddgs", "search")
        except MissingExtra as error:
            raise EngineFailed("missing", f"{error.problem} Install it: {error.fix}") from error
        kinds: Any = require_extra("ddgs.exceptions", "search")
        try:
            with module.DDGS(proxy=proxy, timeout=max(1, round(self._seconds))) as client:
                found = client.text(
                    query.text, max_results=query.most, timelimit=query.since[:1] or None, backend=self._backends
                )
        except kinds.RatelimitException as error:
            raise EngineFailed("rate_limit", "It wants fewer requests.") from error
        except kinds.TimeoutException as error:
            raise EngineFailed("timeout", "It did not answer in time.") from error
        except Exception as error:  # foreign code, which may raise anything; it does not tell a refusal from no result
            said = str(error).casefold()
            if "no results" in said and relaxed(query.text) != query.text:
                return []
            raise _failure(said, closed) from error
        return [_hit(cast("Mapping[str, Any]", one)) for one in found]


def _failure(text: str, closed: Sequence[tuple[str, Verdict]]) -> EngineFailed:
    """Return the failure for an error of `ddgs`, in words of our own."""
    if closed:
        place, verdict = next((one for one in closed if not one[1].unresolved), closed[0])
        kind = "unresolved" if verdict.unresolved else "refused"
        return EngineFailed(kind, f"None of its engines could be reached. {verdict.problem(place)}")
    if any(word in text for word in _CAPTCHA_WORDS):
        return EngineFailed("captcha", "Its engines want proof that a person asks.")
    if "no results" in text:
        return EngineFailed("broken", "Its engines found nothing, or gave an answer that it could not read.")
    if "proxy" in text or "connect" in text:
        return EngineFailed("unreachable", "None of its engines could be reached.")
    return EngineFailed("broken", "None of its engines gave an answer that it could read.")


def _hit(one: Mapping[str, Any]) -> Hit:
    return Hit(url=str(one.get("href", "")), title=str(one.get("title", "")), snippet=str(one.get("body", "")))
