"""Line: the SDK's client of one provider, its keys, and the bytes that go through."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from tea.errors import ProviderError
from tea.managers.model_config import ModelConfig
from tea.models.fault import Fault, repeatable, retry_after
from tea.models.format import decoded
from tea.models.sse import MOST_BYTES

Sdk = Literal["openai", "anthropic"]
Clock = Callable[[], float]

NO_KEY = "none"
REST = 60.0
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
        clock: Gives seconds, for keys that rest after they were refused.
    """

    def __init__(
        self, sdk: Sdk, base_url: str, keys: Mapping[str, str], seconds: float, clock: Clock = time.monotonic
    ) -> None:
        self._sdk: Sdk = sdk
        self._base_url, self._keys, self._seconds = base_url, dict(keys), seconds
        self._clock = clock
        self._rests: dict[str, float] = {}
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
            problem = f"The server at {self._base_url} does not list its models: {error.problem}."
            raise ProviderError(problem, fix="check its address, or name the model.") from error
        if not found:
            raise ProviderError(f"The server at {self._base_url} has no model.", fix="load one there, or name it.")
        return found

    def post(self, path: str, body: bytes) -> AsyncGenerator[bytes]:
        """Send a body and give the response's bytes as they come."""
        return self._exchange(lambda client: client.post(path, cast_to=object, content=body, options=_options()))

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
        try:
            async with asyncio.timeout(self._seconds):
                response = (await send(await self._client(name))).http_response
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
            if response is not None:
                await response.aclose()

    async def _client(self, name: str) -> Any:
        if name not in self._clients:
            sdk: Any = await asyncio.to_thread(_imported, self._sdk)
            if self._http is None:
                self._http = self._connections(sdk)
            make = sdk.AsyncOpenAI if self._sdk == "openai" else sdk.AsyncAnthropic
            self._clients[name] = make(
                api_key=self._keys.get(name, NO_KEY),
                base_url=self._base_url,
                max_retries=0,
                timeout=self._seconds,
                http_client=self._http,
            )
        return self._clients[name]

    def _connections(self, sdk: Any) -> Any:
        """Return the pool of connections; where no TLS is spoken the certificates, 90 ms to load, are left alone."""
        verify = {} if self._base_url.startswith("https:") else {"verify": False}
        return sdk.DefaultAioHttpClient(follow_redirects=False, timeout=self._seconds, **verify)

    def _key(self) -> str:
        """Return the name of a key that does not rest, or of the one that rests the shortest."""
        if not self._keys:
            return ""
        now = self._clock()
        awake = [name for name in self._keys if self._rests.get(name, 0.0) <= now]
        return awake[0] if awake else min(self._keys, key=lambda name: self._rests[name])

    def _fault(self, error: Exception, name: str) -> Fault:
        status = getattr(error, "status_code", None)
        if not isinstance(status, int):
            cause = error.__cause__ or error
            words = f"the connection failed ({type(cause).__name__}: {self._words(str(cause))[:160]})"
            return Fault(words.replace(": )", ")"), again=True)
        headers = cast("Mapping[str, str]", getattr(getattr(error, "response", None), "headers", {}))
        wait, again = retry_after(headers), repeatable(status)
        if status in (401, 403, 429) and name:
            self._rests[name] = self._clock() + (REST if wait is None else wait)
            if any(self._rests.get(one, 0.0) <= self._clock() for one in self._keys):
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


def _said(error: Exception) -> str:
    """Return what a provider says of an error."""
    body = getattr(error, "body", None)
    while isinstance(body, dict):
        inner = cast("dict[str, Any]", body)
        body = inner.get("error") or inner.get("message") or inner.get("type") or ""
    return str(body or getattr(error, "message", "") or type(error).__name__)
