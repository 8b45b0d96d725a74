"""The connections of a client: the SDK's pool over aiohttp, and the captured settings of its first request.

The SDK puts a request together from its options, keys and platform, which costs more than to send it. Two questions to
one address with one key differ in their bodies only, so the first goes through the SDK, and those behind it are what it
made, with a body of their own, on the same connections.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tea.models.presets import BASE_URLS, bare_address
from tea.web.decoding import Decoder

_MOST_OF_AN_ERROR = 2**16  # bytes of its body
_OF_THE_PROVIDER = ("organization", "project", "admin_api_key", "auth_token")  # set by SDKs from the environment
_OF_ONE = ("content-length", "cookie", "idempotency-key")  # headers of one request that must not be repeated


def connections(sdk: Any, base_url: str, seconds: float) -> Any:
    """Return a connection pool for an SDK's clients; without TLS it skips the 90 ms of loading certificates.

    Args:
        sdk: The package of the SDK.
        base_url: Where to.
        seconds: How long the connection may be silent.
    """
    verify = {"verify": False} if urlsplit(base_url).scheme == "http" else {}
    hooks = {"response": [_read_error]}
    return sdk.DefaultAioHttpClient(follow_redirects=False, timeout=seconds, event_hooks=hooks, **verify)


def alone(client: Any, sdk: str, base_url: str | None) -> Any:
    """Return an SDK's client without the environment's settings for its provider, if it reaches another server.

    Args:
        client: The client.
        sdk: The package that it is of.
        base_url: Where it goes to; None for where the SDK says.
    """
    if base_url is not None and not _at_home(sdk, base_url):
        client._custom_headers = {}
        for name in _OF_THE_PROVIDER:
            if hasattr(client, name):
                setattr(client, name, None)
    return client


def _at_home(sdk: str, base_url: str) -> bool:
    """Return whether an address is the SDK's own provider, or its replacement named in the environment."""
    own = (address for provider, address in BASE_URLS.items() if provider.startswith(sdk))
    named = os.environ.get(f"{sdk.upper()}_BASE_URL", "")
    return bare_address(base_url) in map(bare_address, filter(None, (*own, named)))


def arriving(response: Any, most: int) -> AsyncIterable[bytes]:
    """Return the bytes of a response as they arrive, those that the server packed unasked up to a limit."""
    encoding = response.headers.get("content-encoding", "")
    return _unpacked(response.stream, encoding, most) if encoding else response.stream


async def _unpacked(stream: AsyncIterable[bytes], encoding: str, most: int) -> AsyncIterator[bytes]:
    decoder = Decoder(encoding, most)
    async for chunk in stream:
        yield decoder.feed(chunk)


async def _read_error(response: Any) -> None:
    """Read the body of an error response, at most a maximum number of bytes."""
    if response.is_success:
        return
    told, encoding = bytearray(), response.headers.get("content-encoding", "")
    try:
        async for chunk in _unpacked(response.aiter_raw(), encoding, _MOST_OF_AN_ERROR):
            told += chunk
            if len(told) >= _MOST_OF_AN_ERROR:
                break
    finally:
        await response.aclose()
    response._content = bytes(told[:_MOST_OF_AN_ERROR])


@dataclass(frozen=True, slots=True)
class _Question:
    """A request as the SDKs' transport over aiohttp looks at one."""

    method: str
    url: str
    headers: dict[str, str]
    extensions: dict[str, Any]
    content: bytes


class ConnectionUse:
    """A sender of requests with the URL, headers and transport of an earlier one sent by the SDK.

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
        await _read_error(response)
        if response.is_success:
            return response
        raise self._client._make_status_error_from_response(response)
