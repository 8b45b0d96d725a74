"""Service: an engine behind a documented API, asked through the guard."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tea.web.blocked import WALLS, Wall, wall_of
from tea.web.fetch import Answer, Fetcher, FetchFailed
from tea.web.search.apis import Api, Request
from tea.web.search.engine import EngineFailed, FailureKind, Hit, Query

MOST_BYTES = 2_000_000
RETRIED = frozenset({408, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524})
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_OF_WALLS: Mapping[Wall, FailureKind] = {
    "login": "key", "payment": "key", "refused": "refused", "rate_limit": "rate_limit", "captcha": "captcha",
    "legal": "refused",
}  # fmt: skip
_OF_FAILURES: Mapping[str, FailureKind] = {
    "timeout": "timeout",
    "unreachable": "unreachable",
    "unresolved": "unresolved",
    "refused": "refused",
}


class ApiEngine:
    """An engine behind a documented API.

    Args:
        name: Its name.
        api: Its requests and answers.
        fetcher: Sends requests through the guard.
        key: Its key; empty where it takes none.
        address: Where it is.
        options: The operator's options.
        tier: Its tier.
        retries: Seconds to wait before each further attempt at what may pass by itself.
    """

    def __init__(
        self,
        name: str,
        api: Api,
        fetcher: Fetcher,
        *,
        key: str,
        address: str,
        options: Mapping[str, str],
        tier: int,
        retries: Sequence[float] = (),
    ) -> None:
        self.name, self.tier = name, tier
        self._api, self._fetcher, self._key = api, fetcher, key
        self._address, self._options, self._retries = address, options, tuple(retries)

    async def search(self, query: Query) -> Sequence[Hit]:
        """Return the hits of a query; see `Engine.search`."""
        if query.since and not self._api.dated:
            return []
        request = self._api.ask(query, self._key, self._options)
        return list(self._api.read(await self.ask(request, self._address)))[: query.most]

    async def ask(self, request: Request, address: str) -> Any:
        """Return the JSON data answering a request.

        Args:
            request: The request.
            address: Where it goes.

        Raises:
            EngineFailed: There is no answer to it.
        """
        return await asyncio.to_thread(self._json, await self._answer(request, address))

    async def _answer(self, request: Request, address: str) -> Answer:
        headers = {"Accept": "application/json", **request.headers}
        if request.content is not None:
            headers["Content-Type"] = "application/json"
        waits = [*self._retries]
        while True:
            try:
                answer = await self._fetcher.send(request.method, request.url(address), headers, request.content)
                if answer.status not in RETRIED or not waits:
                    return answer
            except FetchFailed as error:
                if error.kind not in ("unreachable", "broken") or not waits:
                    raise EngineFailed(_OF_FAILURES.get(error.kind, "broken"), error.problem) from error
            await asyncio.sleep(waits.pop(0))

    def _json(self, answer: Answer) -> Any:
        """Return the JSON data of an answer.

        Raises:
            EngineFailed: It is not an answer to the question.
        """
        wall = wall_of(answer)
        if 300 <= answer.status < 400:
            told = answer.headers.get("location", "")[:200]
            raise EngineFailed("refused", f"It redirects to {told!r}, which is not followed with a key and a query.")
        if wall:
            problem = f"{WALLS[wall].capitalize()} (status {answer.status})."
            raise EngineFailed(_OF_WALLS[wall], problem, _seconds(answer))
        if answer.status != 200:
            raise EngineFailed("broken", f"It answered with status {answer.status}.", _seconds(answer))
        if answer.truncated:
            raise EngineFailed("broken", f"Its answer has more than {MOST_BYTES:,} bytes.")
        try:
            return json.loads(_text(answer))
        except (ValueError, RecursionError) as error:
            raise EngineFailed("broken", "Its answer is not JSON.") from error


def _text(answer: Answer) -> str:
    """Return the text of an answer: in JSON's own encoding, else in the one of its header, else in the usual other."""
    found = _CHARSET.search(answer.headers.get("content-type", ""))
    for encoding in (json.detect_encoding(answer.body), found[1] if found else ""):
        try:
            if encoding:
                return answer.body.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            continue
    return answer.body.decode("latin-1")


def _seconds(answer: Answer) -> float:
    told = answer.headers.get("retry-after", "").strip()
    return float(told[:6]) if told.isascii() and told.isdigit() else 0.0
