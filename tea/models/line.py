"""Line: the SDK's client of one provider, its keys, and the bytes that go through."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from tea.errors import ProviderError
from tea.managers.model_config import ModelConfig
from tea.models.accounts import Accounts
from tea.models.connections import connections
from tea.models.fault import Fault, remedy, repeatable, retry_after
from tea.models.format import decoded
from tea.models.sse import MOST_BYTES

Sdk = Literal["openai", "anthropic"]
NO_KEY = "none"
REST = 60.0
_LASTING = ("insufficient_quota",)  # a 429 that no waiting mends
SHORTEST_SECRET = 8  # a shorter one is no secret, and would be found in ordinary words
# The SDKs' own header of `with_streaming_response`: the response comes back unread and unparsed.
_RAW: Mapping[str, str] = {"X-Stainless-Raw-Response": "stream", "Accept-Encoding": "identity"}


class Line:
    """Carries finished bodies to a provider, with the next of its keys that is not resting.

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
        shared = accounts or Accounts()
        self._accounts = {name: shared.of(base_url, keys.get(name, "")) for name in keys or ("",)}
        self._clients: dict[str, Any] = {}
        self._http: Any = None
        self._listed = ""

    async def named(self, config: ModelConfig) -> ModelConfig:
        """Return the configuration with a model id, the first that the server lists if it names none.

        Raises:
            ProviderError: It lists none.
        """
        if config.model:
            return config
        self._listed = self._listed or (await self.models())[0]
        return replace(config, model=self._listed)

    async def models(self) -> Sequence[str]:
        """Return the ids of the models that the server lists.

        Raises:
            ProviderError: It cannot be reached, or lists none.
        """
        path = "/models" if self._sdk == "openai" else "/v1/models"
        try:
            exchange = self._exchange(lambda client: client.get(path, cast_to=object, options=_options()))
            pieces = [piece async for piece in exchange]
            found = [str(one["id"]) for one in decoded(b"".join(pieces)).get("data") or ()]
        except Fault as error:
            problem = f"The server at {self._base_url} does not list its models: {error.problem.rstrip('. ')}."
            raise ProviderError(problem, fix=remedy(error.status, tuple(self._keys))) from error
        if not found:
            raise ProviderError(f"The server at {self._base_url} has no model.", fix="load one there, or name it.")
        return found

    def post(self, path: str, body: bytes) -> AsyncGenerator[bytes]:
        """Send a body and give the response's bytes as they come."""
        where = self._base_url.rstrip("/") + path  # whole, so that the SDK need not put it together each time
        return self._exchange(lambda client: client.post(where, cast_to=object, content=body, options=_options()))

    def upload(self, path: str, fields: Mapping[str, str], file: tuple[str, bytes, str]) -> AsyncGenerator[bytes]:
        """Send a form with a file (its name, content and media type) and give the response's bytes as they come."""
        options = _options({"Content-Type": "multipart/form-data"})
        return self._exchange(
            lambda client: client.post(path, cast_to=object, body=fields, files=[("file", file)], options=options)
        )

    def cleaned(self, data: bytes) -> bytes:
        """Return what came from a provider without keys: some repeat what they were sent."""
        for name, key in self._keys.items():
            if len(secret := key.encode()) >= SHORTEST_SECRET and secret in data:
                data = data.replace(secret, f"<secret:{name}>".encode())
        return data

    async def close(self) -> None:
        """End all connections."""
        self._clients.clear()
        if self._http is not None:
            http, self._http = self._http, None
            await http.aclose()

    async def _exchange(self, send: Callable[[Any], Awaitable[Any]]) -> AsyncGenerator[bytes]:
        name = self._key()
        response: Any = None
        size = 0
        await self._accounts[name].enter()
        try:
            client = await self._client(name)  # the first time it is imported, which is no fault of the provider's
            async with asyncio.timeout(self._seconds):
                response = (await send(client)).http_response
                async for chunk in response.aiter_bytes():
                    if (size := size + len(chunk)) > MOST_BYTES:
                        raise Fault("the answer is larger than 32 MiB", again=False)
                    yield chunk
        except TimeoutError as error:
            raise Fault(f"no answer within {self._seconds:g} seconds", again=True) from error
        except (Fault, ProviderError):
            raise
        except Exception as error:  # the SDK's own, and those of whatever carries it
            raise self._fault(error, name) from None  # its words may hold the key
        finally:
            self._accounts[name].leave()
            if response is not None:
                await response.aclose()

    async def _client(self, name: str) -> Any:
        if name not in self._clients:
            sdk: Any = await asyncio.to_thread(_imported, self._sdk)
            if self._http is None:
                self._http = connections(sdk, self._base_url, self._seconds)
            make = sdk.AsyncOpenAI if self._sdk == "openai" else sdk.AsyncAnthropic
            self._clients[name] = make(
                api_key=self._keys.get(name, NO_KEY),
                base_url=self._base_url,
                max_retries=0,
                timeout=self._seconds,
                http_client=self._http,
            )
        return self._clients[name]

    def _key(self) -> str:
        """Return the name of the first key that neither rests nor is busy, or of the one that rests the shortest."""
        awake = [name for name, one in self._accounts.items() if not one.resting]
        free = (name for name in awake if self._accounts[name].free)
        return next(free, "") or (awake[0] if awake else min(self._accounts, key=lambda one: self._accounts[one].rests))

    def _fault(self, error: Exception, name: str) -> Fault:
        status = getattr(error, "status_code", None)
        if not isinstance(status, int):
            cause = error.__cause__ or error
            if type(cause).__name__.startswith("Connect") and "onnect call failed" in str(cause):
                return Fault(f"nothing answers at {self._base_url}", again=True)
            words = f"the connection failed ({type(cause).__name__}: {self._words(str(cause))[:160]})"
            return Fault(words.replace(": )", ")"), again=True)
        headers = cast("Mapping[str, str]", getattr(getattr(error, "response", None), "headers", {}))
        wait, again = retry_after(headers), repeatable(status) and _code(error) not in _LASTING
        if status in (401, 403, 429) and name:
            self._accounts[name].rest(REST if wait is None else wait)
            if not all(one.resting for one in self._accounts.values()):
                wait, again = 0.0, True
        words = f"status {status}: {self._words(_said(error))[:200]}"
        return Fault(words, again=again, status=status, wait=wait)

    def _words(self, text: str) -> str:
        return " ".join(self.cleaned(text.encode("utf-8", "replace")).decode().split())


def _options(headers: Mapping[str, str] = _RAW) -> dict[str, Any]:
    """Return the SDK's options of a request whose response comes back unread."""
    return {"headers": {**_RAW, **headers}}


def _imported(sdk: Sdk) -> Any:
    """Import an SDK, which takes a second or two: in a thread, and when it is first used."""
    if sdk == "openai":
        import openai

        return openai
    import anthropic

    return anthropic


def _code(error: Exception) -> object:
    """Return the code that a provider gives an error."""
    body = cast("dict[str, Any]", getattr(error, "body", None))
    return body.get("code") if isinstance(body, dict) else None  # pyright: ignore[reportUnnecessaryIsInstance]


def _said(error: Exception) -> str:
    """Return what a provider says of an error."""
    body = getattr(error, "body", None)
    while isinstance(body, dict):
        inner = cast("dict[str, Any]", body)
        body = inner.get("error") or inner.get("message") or inner.get("type") or ""
    return str(body or getattr(error, "message", "") or type(error).__name__)
