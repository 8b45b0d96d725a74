"""The connections of a line: the SDK's own client over aiohttp, without the work that no question needs.

An ordinary client of httpx merges addresses, headers and cookies into each request, and looks for redirects, logins and
cookies around each response: a third of what a question costs. A line's requests are whole, and are never redirected.
"""

from __future__ import annotations

from typing import Any

_WHOLE = ("content", "headers", "timeout", "extensions")


def connections(sdk: Any, base_url: str, seconds: float) -> Any:
    """Return a pool of connections for an SDK's clients; where no TLS is spoken no certificates, 90 ms to load, are.

    Args:
        sdk: The package of the SDK.
        base_url: Where to.
        seconds: How long the connection may be silent.
    """
    verify = {} if base_url.startswith("https:") else {"verify": False}
    pool: Any = sdk.DefaultAioHttpClient(follow_redirects=False, timeout=seconds, **verify)
    build, usual = pool.build_request, pool.build_request("POST", base_url)

    def build_request(method: str, url: Any, **given: Any) -> Any:
        if any(value for name, value in given.items() if name not in _WHOLE):
            return build(method, url, **given)
        extensions: dict[str, Any] = {**usual.extensions, **(given.get("extensions") or {})}
        return type(usual)(
            method, url, content=given.get("content"), headers=given.get("headers"), extensions=extensions
        )

    async def send(request: Any, **options: Any) -> Any:
        response = await pool._transport_for_url(request.url).handle_async_request(request)
        response.request = request
        return response

    pool.build_request, pool.send = build_request, send
    return pool
