"""The connections of a line: the SDK's own pool over aiohttp, and how a question went, for those behind it.

The SDK puts a request together from its options, keys and platform, which costs more than to send it. Two questions to
one address with one key differ in their bodies only, so the first goes through the SDK, and those behind it are what it
made, with a body of their own, on the same connections.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_OF_ONE = ("content-length", "cookie", "idempotency-key")  # what belongs to one question, and to no other


def connections(sdk: Any, base_url: str, seconds: float) -> Any:
    """Return a pool of connections for an SDK's clients; where no TLS is spoken no certificates, 90 ms to load, are.

    Args:
        sdk: The package of the SDK.
        base_url: Where to.
        seconds: How long the connection may be silent.
    """
    verify = {} if base_url.startswith("https:") else {"verify": False}
    return sdk.DefaultAioHttpClient(follow_redirects=False, timeout=seconds, **verify)


@dataclass(frozen=True, slots=True)
class _Question:
    """A request as the SDKs' transport over aiohttp looks at one."""

    method: str
    url: str
    headers: dict[str, str]
    extensions: dict[str, Any]
    content: bytes


class Way:
    """How the SDK sent a question that was answered; others go the same way.

    Args:
        pool: The connections.
        client: The SDK's client, which knows what an error is.
        request: What it sent.
    """

    def __init__(self, pool: Any, client: Any, request: Any) -> None:
        self._client = client
        self._transport: Any = pool._transport_for_url(request.url)
        self._url, self._extensions = str(request.url), dict(request.extensions)
        self._headers = {name: value for name, value in request.headers.multi_items() if name.lower() not in _OF_ONE}

    async def send(self, body: bytes) -> Any:
        """Return the response to a body, unread.

        Raises:
            Exception: As the SDK's client raises it.
        """
        question = _Question("POST", self._url, self._headers, self._extensions, body)
        response = await self._transport.handle_async_request(question)
        if response.is_success:
            return response
        try:
            await response.aread()
        finally:
            await response.aclose()
        raise self._client._make_status_error_from_response(response)
