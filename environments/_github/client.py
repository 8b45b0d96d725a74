"""The client: GitHub's REST API by `gidgethub`, its requests through the guard, its errors as one line each."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import urljoin

from tea import Context, ToolError, require_extra
from tea.web import Answer, Fetcher, FetchFailed, HostAccess, Limits, UrlGuard, WebSettings, code_host

EXTRA, HOST = "github", "github"
MOST_BYTES = 8_000_000
_PER_PAGE = 100
_MOVES = 3
_MOST_LOOKED = 1_000  # items of a list, those left out among them
_PASSING = frozenset({500, 502, 503, 504})
_MOVED = frozenset({301, 302, 307, 308})
_OF_THE_WAY = frozenset({"content-length", "user-agent", "host", "connection", "accept-encoding"})
_TOOLS = "call a tool with less, or clone the repository with the environment `git`."


class GitHub:
    """The REST API of the operator's GitHub.

    Paths are templates of RFC 6570, as GitHub's documentation has them: `/repos/{owner}/{name}`. See
    https://docs.github.com/en/rest.

    Args:
        found: The code host, with its key.
        fetcher: Sends requests through the guard.
        retries: Seconds to wait before each further attempt at a read.
    """

    def __init__(self, found: HostAccess, fetcher: Fetcher, retries: Sequence[float]) -> None:
        self.url, self.variable, self.signed_in = found.host.url, found.host.key_env, bool(found.key)
        self._api, self._fetcher, self._retries = found.host.api, fetcher, tuple(retries)
        base: Any = require_extra("gidgethub.abc", EXTRA).GitHubAPI
        self._kinds: Any = require_extra("gidgethub", EXTRA)

        async def request(
            client: Any, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
        ) -> tuple[int, Mapping[str, str], bytes]:
            return await self._sent(method, url, headers, body)

        async def sleep(client: Any, seconds: float) -> None:
            await asyncio.sleep(seconds)

        kind: Any = type("Client", (base,), {"_request": request, "sleep": sleep})
        self._client = kind("tea", oauth_token=found.key or None, base_url=self._api)

    async def item(self, path: str, values: Mapping[str, Any], accept: str = "") -> Any:
        """Return the answer to a GET.

        Args:
            path: Its template.
            values: The values of the template.
            accept: Media type of the answer; JSON by default.

        Raises:
            ToolError: There is none, and why.
        """
        options = {"accept": accept} if accept else {}
        async with self._explained(path, values):
            return await self._client.getitem(path, _present(values), **options)

    async def find(self, path: str, values: Mapping[str, Any]) -> Any:
        """Return the answer to a GET, None for a missing object.

        Raises:
            ToolError: It was refused, and why.
        """
        async with self._explained(path, values):
            try:
                return await self._client.getitem(path, _present(values))
            except self._kinds.HTTPException as error:
                if int(error.status_code) == 404:
                    return None
                raise

    async def items(
        self, path: str, values: Mapping[str, Any], limit: int, member: str = "items", besides: str = ""
    ) -> list[dict[str, Any]]:
        """Return the first items of a list, page by page.

        Args:
            path: Its template, with `per_page` among the parameters.
            values: The values of the template.
            limit: Most items.
            member: The member of the answer that holds the list, where it is not the answer itself.
            besides: Items with this member are left out.

        Raises:
            ToolError: There is none, and why.
        """
        found = list[dict[str, Any]]()
        parameters = {**_present(values), "per_page": _PER_PAGE if besides else min(limit, _PER_PAGE)}
        async with (
            self._explained(path, values),
            aclosing(self._client.getiter(path, parameters, iterable_key=member)) as pages,
        ):
            looked = 0
            async for one in pages:
                looked += 1
                if not isinstance(one, dict):
                    raise TypeError("an item of a list is not an object")
                if besides not in one:
                    found.append(cast("dict[str, Any]", one))
                if len(found) >= limit or looked >= _MOST_LOOKED:
                    break
        return found

    async def send(self, method: str, path: str, values: Mapping[str, Any], data: Mapping[str, Any]) -> Any:
        """Return the answer to a changing request; members of `data` equal to None are left out.

        Raises:
            ToolError: It was refused, and why.
        """
        async with self._explained(path, values):
            work: Any = getattr(self._client, method.lower())
            return await work(path, _present(values), data=_present(data))

    async def _sent(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Send a request to the API and nowhere else, again if a read may succeed, and follow moved repositories."""
        sent = {name.title(): one for name, one in headers.items() if name not in _OF_THE_WAY}
        content = body if body or method != "GET" else None
        answer = await self._answered(method, url, sent, content)
        for _ in range(_MOVES):
            location = answer.headers.get("location", "")
            if method == "GET" and answer.status in _MOVED and location:
                answer = await self._answered(method, urljoin(answer.url, location), sent, content)
        if answer.truncated:
            raise ToolError("GitHub's answer is too long.", fix=_TOOLS)
        return answer.status, answer.headers, answer.body

    async def _answered(self, method: str, url: str, headers: Mapping[str, str], content: bytes | None) -> Answer:
        """Return the answer to one request to the API; a read with a passing failure is repeated."""
        if not url.startswith(f"{self._api}/"):  # it would be given the key
            problem = f"GitHub redirects to {url[:100]!r}, which is not its API."
            raise ToolError(problem, fix="name the repository as it is called now.")
        for wait in (*self._retries, None) if method == "GET" else (None,):
            try:
                answer = await self._fetcher.send(method, url, headers, content)
            except FetchFailed as error:
                if wait is None or error.kind not in ("unreachable", "timeout", "broken"):
                    raise _unreachable(error, changes=method != "GET") from error
            else:
                if wait is None or answer.status not in _PASSING:
                    return answer
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    @asynccontextmanager
    async def _explained(self, path: str, values: Mapping[str, Any]) -> AsyncGenerator[None]:
        """Turn an exception of the library into an error of one line."""
        try:
            yield
        except self._kinds.HTTPException as error:
            raise self._error(error, _named(path, values)) from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            problem = "GitHub's answer cannot be read; it is not of the documented form."
            raise ToolError(problem, fix="look if [hosts.github] api in tea.toml is the address of the API.") from error

    def _error(self, error: Any, what: str) -> ToolError:
        """Return the error for an answer's status."""
        status, headers, said = int(error.status_code), error.headers, _line(error)
        if (status in (403, 429)) and (wait := _waiting(headers)):
            more = "" if self.signed_in else f", or set {self.variable}, with which more is allowed"
            return ToolError(f"GitHub's limit of requests is used up {wait}.", fix=f"wait until then{more}.")
        known = f"the key in {self.variable}" if self.signed_in else "a key"
        absent = (
            "or it may not be seen by that key" if self.signed_in else f"or it is private and {self.variable} unset"
        )
        problem, fix = {
            401: (
                f"GitHub does not accept {known}." if self.signed_in else "GitHub asks for a key.",
                f"set a valid token in {self.variable}.",
            ),
            403: (f"GitHub does not allow this: {said}.", f"give {known} the right to do it in {self.variable}."),
            404: (f"GitHub has no {what}, {absent}.", "look at its spelling, or at the rights of the key."),
            405: (f"GitHub does not do this: {said}.", "look at the present state first."),
            409: (f"GitHub tells of a conflict: {said}.", "look at the present state, then try again."),
            410: (f"GitHub has this no more: {said}.", "it is deleted or switched off in the repository."),
            422: (f"GitHub does not take this: {said}.", "mend what it names."),
            429: (f"GitHub wants fewer requests: {said}.", "wait a minute, then try again."),
        }.get(status, ("", ""))
        if problem:
            return ToolError(problem, fix=fix)
        if status >= 500:
            return ToolError(f"GitHub failed ({status}): {said}.", fix="try again later.")
        if status >= 300 and status < 400:
            return ToolError(f"GitHub has moved {what}.", fix="name it as it is called now.")
        return ToolError(f"GitHub refused this ({status}): {said}.", fix="look at the arguments.")


async def access(ctx: Context) -> HostAccess:
    """Return the operator's GitHub and their key for it.

    Raises:
        ToolError: It has no address of an API.
    """
    found = await code_host(ctx, HOST)
    if found is None or not found.host.api:
        raise ToolError("GitHub has no API here.", fix="set [hosts.github] api in tea.toml, or leave both out.")
    return found


async def connected(ctx: Context) -> GitHub:
    """Return the operator's GitHub.

    Raises:
        MissingExtra: The library is not installed.
    """
    found, settings = await access(ctx), WebSettings.of(await ctx.web())
    limits = Limits(seconds=settings.seconds, bytes_of=lambda content_type: MOST_BYTES)
    fetcher = Fetcher(UrlGuard(settings.allow, deny=settings.deny), agent=settings.agent, limits=limits)
    await asyncio.to_thread(require_extra, "gidgethub.abc", EXTRA)
    return GitHub(found, fetcher, settings.retries)


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _named(path: str, values: Mapping[str, Any]) -> str:
    """Return the words for a request's object: the repository, or the object searched in it."""
    names = [str(values[name]) for name in ("owner", "name") if values.get(name)]
    parts = [str(values[name]) for name in ("number", "branch", "revision") if values.get(name)]
    if isinstance(values.get("path"), list):
        parts.append("/".join(values["path"]))
    kind = "pull request " if "/pulls/" in path else "issue " if "/issues/" in path else ""
    return " ".join(filter(None, ("/".join(names)[:150], f"{kind}{' '.join(parts)}"[:200].strip()))) or "such thing"


def _line(error: Any) -> str:
    """Return GitHub's words of an error on one line."""
    words = str(error.args[-1]) if error.args else ""
    if type(error).__name__ == "BadRequestUnknownError":
        words = str(error.response)
    errors = getattr(error, "errors", None)
    said = [_entry_words(one) for one in cast("list[object]", errors)] if isinstance(errors, list) else []
    if any(said):  # the library's words hold some of it, without the fields
        words = "; ".join(filter(None, (re.split(r"(?: for|:) '", words)[0], *said)))
    return re.sub(r"\s+", " ", words).strip().rstrip(".")[:300] or "it gives no reason"


def _entry_words(error: object) -> str:
    """Return the words of an entry of an answer's errors: its field with its message, or its code."""
    if not isinstance(error, Mapping):
        return error if isinstance(error, str) else ""
    given = {name: one for name, one in cast("Mapping[str, object]", error).items() if isinstance(one, str)}
    field = given.get("field", given.get("resource", ""))
    return ": ".join(filter(None, (field, given.get("message") or given.get("code", "").replace("_", " "))))


def _waiting(headers: Mapping[str, str]) -> str:
    """Return the end of a refusal of requests, empty if unknown."""
    if (after := headers.get("retry-after", "")).isdigit():
        return f"for {int(after)} s"
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdigit() and len(reset) < 12:
        return f"until {datetime.fromtimestamp(int(reset), UTC):%Y-%m-%d %H:%M:%S} UTC"
    return ""


def _unreachable(error: FetchFailed, *, changes: bool) -> ToolError:
    if error.kind == "refused":
        fix = "have the operator open its host and port in [web] allow, if it is a server of their own."
        return ToolError(f"GitHub cannot be asked: {error.problem}", fix=fix)
    if error.kind == "unresolved":
        problem = f"GitHub cannot be asked: {error.problem}"
        return ToolError(problem, fix="check the network, and [hosts.github] api in tea.toml if it is set.")
    fix = "look whether it was done before you try again." if changes else "try again later."
    return ToolError(f"GitHub gave no answer: {error.problem}", fix=fix)
