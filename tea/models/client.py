"""ProviderClient: the SDK's client of one provider, with its keys and its transfer of bytes."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from tea.characters import on_one_line
from tea.errors import ProviderError, exhausted, lacking_descriptors
from tea.models.accounts import Accounts
from tea.models.config import ModelConfig
from tea.models.connections import ConnectionUse, alone, arriving, connections
from tea.models.context_length import exceeds, limit_in
from tea.models.failure import LASTING, CallFailure, remedy, repeatable, retry_after
from tea.models.format import Sdk, decoded, encoded, member, members
from tea.models.secret_forms import SHORTEST, hidden, sent_headers
from tea.models.sse import MOST_BYTES

Take = Callable[[bytes], float | None]
"""Takes the next bytes, and tells in how many seconds the response has to end, once the answer said its end."""
NO_KEY = "none"
REST = 60.0
_MOST_WORDS = 200
ENDING = 1.0  # seconds that a response has to end in once it is whole; then the connection can be used again
SETTLING = 20.0  # the same where the answer is whole, and what it used may still come
_AGAIN: Mapping[str, bool] = {"true": True, "false": False}  # what the SDKs heed before any status
# The SDKs' own header of `with_streaming_response`: the response comes back unread and unparsed.
_RAW: Mapping[str, str] = {"X-Stainless-Raw-Response": "stream", "Accept-Encoding": "identity"}
_FORM: Mapping[str, str] = {**_RAW, "Content-Type": "multipart/form-data"}


class ProviderClient:
    """A client sending encoded bodies to a provider, each with the next key not resting.

    Args:
        sdk: The package whose client carries them.
        base_url: Where to.
        keys: The keys by the names of their variables; none for servers that want none.
        seconds: How long one try may take.
        accounts: What is shared with others that reach the same place with the same keys; its own by default.
    """

    def __init__(
        self, sdk: Sdk, base_url: str, keys: Mapping[str, str], seconds: float, accounts: Accounts | None = None
    ) -> None:
        self._sdk: Sdk = sdk
        self._base_url, self._keys, self._seconds = base_url, dict(keys), seconds
        self._secrets = {**keys, **sent_headers(sdk)}
        shared = accounts or Accounts()
        self._accounts = {name: shared.of(base_url, keys.get(name, "")) for name in keys or ("",)}
        self._clients: dict[str, Any] = {}
        self._ways: dict[tuple[str, str], ConnectionUse] = {}
        self._http: Any = None
        self._listed = ""

    async def named(self, config: ModelConfig) -> ModelConfig:
        """Return the configuration with a model id, the first one listed by the server if it names none.

        Raises:
            Fault: It lists none.
        """
        if config.model:
            return config
        self._listed = self._listed or (await self._models())[0]
        return replace(config, model=self._listed)

    async def models(self) -> Sequence[str]:
        """Return the ids of the models listed by the server.

        Raises:
            ProviderError: It cannot be reached, or lists none.
        """
        try:
            return await self._models()
        except CallFailure as error:
            problem = f"{error.problem[:1].upper()}{error.problem[1:].rstrip('. ')}."
            raise ProviderError(problem, fix=remedy(error.status, tuple(self._keys))) from error

    async def _models(self) -> Sequence[str]:
        path = "/models" if self._sdk == "openai" else "/v1/models"
        pieces: list[bytes] = []
        try:
            await self._exchange(lambda name: self._unread(self._clients[name].get, path), pieces.append)
            found = [str(one["id"]) for one in members(decoded(b"".join(pieces)), "data") if one.get("id")]
        except CallFailure as error:
            problem = f"the server at {self._base_url} does not list its models: {error.problem}"
            raise CallFailure(problem, again=error.again, status=error.status, wait=error.wait) from error
        if not found:
            raise CallFailure(f"the server at {self._base_url} has no model", again=False, status=404)
        return found

    def post(self, path: str, body: bytes, take: Take, seconds: float) -> Coroutine[Any, Any, None]:
        """Send a body and pass the response's bytes to `take` as they come, for at most the given seconds."""
        return self._exchange(partial(self._response, path, body), take, seconds)

    async def upload(
        self, path: str, fields: Mapping[str, str], file: tuple[str, bytes, str], take: Take, seconds: float
    ) -> None:
        """Send a form with a file (its name, content and media type) and pass the response's bytes to `take`."""
        form: dict[str, Any] = {"body": fields, "files": [("file", file)], "headers": _FORM}
        await self._exchange(lambda name: self._unread(self._clients[name].post, path, **form), take, seconds)

    def cleaned(self, data: bytes) -> bytes:
        """Return a provider's response without keys, as some providers repeat the request."""
        for name, key in self._secrets.items():
            if len(secret := key.encode()) >= SHORTEST and secret in data:
                data = data.replace(secret, f"<secret:{name}>".encode())
        return data

    async def close(self) -> None:
        """End all connections."""
        self._clients.clear()
        self._ways.clear()
        if self._http is not None:
            http, self._http = self._http, None
            await http.aclose()

    async def _exchange(self, send: Callable[[str], Awaitable[Any]], take: Take, most: float = math.inf) -> None:
        name, seconds = self._key(), min(most, self._seconds)
        response: Any = None
        size, taking, ending = 0, False, math.inf
        await self._accounts[name].enter()
        try:
            await self._client(name)  # the first time it is imported, which is not a fault of the provider's
            async with asyncio.timeout(seconds) as limit:
                response = await send(name)
                async for chunk in arriving(response, MOST_BYTES + 1):
                    if (size := size + len(chunk)) > MOST_BYTES:
                        raise CallFailure("the answer is larger than 32 MiB", again=False)
                    taking = True
                    if (left := take(chunk)) is not None and left < ending:
                        ending = left
                        limit.reschedule(min(limit.when() or math.inf, asyncio.get_running_loop().time() + left))
                    taking = False
        except Exception as error:
            if ending <= ENDING:
                return  # whatever comes behind an answer, or never comes, takes nothing from it
            if taking or isinstance(error, CallFailure | ProviderError):
                raise
            if isinstance(error, TimeoutError):
                raise CallFailure(f"no answer within {seconds:.3g} seconds", again=True, unheard=True) from error
            if getattr(error, "status_code", None) is None:
                self._check_machine(error)
            raise self._fault(error, name, begun=response is not None) from None  # its words may hold the key
        finally:
            self._accounts[name].leave()
            if response is not None:
                await response.aclose()

    def _check_machine(self, error: Exception) -> None:
        """Tell a fault of this machine from a fault of a provider.

        Raises:
            ResourceExhausted: There is no descriptor left, or no space; looking up a name gives no reason of its own.
        """
        cause = lacking_descriptors() or error
        if (lack := exhausted(cause, f"{self._base_url} cannot be reached")) is not None:
            raise lack from None

    async def _response(self, path: str, body: bytes, name: str) -> Any:
        """Send a request and return the response: the first one by the SDK, later ones through its transport."""
        if way := self._ways.get((name, path)):
            return await way.send(body)
        client = self._clients[name]
        response = await self._unread(client.post, path, content=body)
        self._ways[name, path] = ConnectionUse(self._http, client, response.request)
        return response

    async def _unread(
        self, send: Callable[..., Awaitable[Any]], path: str, *, headers: Mapping[str, str] = _RAW, **given: Any
    ) -> Any:
        """Send through an SDK's client and return the response with its body unread."""
        options = {"headers": headers, "timeout": self._seconds}
        return (await send(path, cast_to=object, options=options, **given)).http_response

    async def _client(self, name: str) -> Any:
        if name not in self._clients:
            sdk: Any = await asyncio.to_thread(_imported, self._sdk)
            if self._http is None:
                self._http = connections(sdk, self._base_url, self._seconds)
            make = sdk.AsyncOpenAI if self._sdk == "openai" else sdk.AsyncAnthropic
            client = make(
                api_key=self._keys.get(name, NO_KEY),
                base_url=self._base_url,
                max_retries=0,
                timeout=self._seconds,
                http_client=self._http,
            )
            self._clients[name] = alone(client, self._sdk, self._base_url)
        return self._clients[name]

    def _key(self) -> str:
        """Return the name of the first key neither resting nor busy, or of the one with the shortest rest."""
        awake = [name for name, one in self._accounts.items() if not one.resting]
        free = (name for name in awake if self._accounts[name].free)
        return next(free, "") or (awake[0] if awake else min(self._accounts, key=lambda one: self._accounts[one].rests))

    def _fault(self, error: Exception, name: str, *, begun: bool) -> CallFailure:
        status = getattr(error, "status_code", None)
        if not isinstance(status, int):
            cause: BaseException = error
            while cause.__cause__ is not None:  # the first cause, before other errors were raised from it
                cause = cause.__cause__
            if "onnect call failed" in str(cause):
                return CallFailure(f"nothing answers at {self._base_url}", again=True)
            if begun:
                return CallFailure(
                    f"the connection broke off before the answer ended ({type(cause).__name__})", again=True
                )
            words = f"the connection failed ({type(cause).__name__}: {self._words(str(cause))[:160]})"
            return CallFailure(words.replace(": )", ")"), again=True)
        headers = cast("Mapping[str, str]", getattr(getattr(error, "response", None), "headers", {}))
        told = _AGAIN.get(headers.get("x-should-retry", ""), repeatable(status))
        wait, again = retry_after(headers), told and _code(error) not in LASTING
        if status in (401, 403, 429) and name:
            self._accounts[name].rest(REST if wait is None else wait)
            if not all(one.resting for one in self._accounts.values()):
                wait, again = 0.0, True
        said, code = self._words(_error_message(error)), _code(error)
        words = f"status {status}: {said[:_MOST_WORDS]}"
        if exceeds(said, code, status) and (most := limit_in(said) or _window(error)) and limit_in(words) is None:
            words += f" (context length {most})"
        return CallFailure(words, again=again, status=status, wait=wait, code=code)

    def _words(self, text: str) -> str:
        """Return the text of an error with keys removed in every form, before it is truncated."""
        for name, key in self._secrets.items():
            text = hidden(text, key, f"<secret:{name}>")
        return on_one_line(text.encode("utf-8", "replace").decode())


def _imported(sdk: Sdk) -> Any:
    """Import an SDK on first use, in a thread, as the import takes a second or two."""
    if sdk == "openai":
        import openai

        return openai
    import anthropic

    return anthropic


def _code(error: Exception) -> str:
    """Return the code or type of a provider's error, empty if it has none."""
    found = (_body(error).get(name) for name in ("code", "type"))
    return next((one for one in found if isinstance(one, str) and one), "")


def _window(error: Exception) -> int | None:
    """Return the number of tokens a model reads, if its server states it beside the text of an error."""
    found = _body(error).get("n_ctx")
    return found if isinstance(found, int) else None


def _body(error: Exception) -> dict[str, Any]:
    """Return a provider's error body without the envelopes around it."""
    body: Any = getattr(error, "body", None)
    while body and isinstance(body, dict | list):
        if isinstance(body, list):  # where Gemini puts its errors
            body = cast("list[Any]", body)[0]
            continue
        found = cast("dict[str, Any]", body)
        if not isinstance(found.get("error"), dict | list):
            return found
        body = found["error"]
    return {"message": body} if isinstance(body, str) else {}


def _error_message(error: Exception) -> str:
    """Return a provider's error message, with the upstream provider's message if it is a router."""
    body = _body(error)
    found: Any = next((body[name] for name in ("error", "message", "detail", "type") if body.get(name)), "")
    if isinstance(found, list | dict):
        found = encoded(found).decode()
    words = str(found or getattr(error, "message", "") or type(error).__name__)
    raw = member(body, "metadata").get("raw")
    return f"{words}: {raw}" if isinstance(raw, str) else words
