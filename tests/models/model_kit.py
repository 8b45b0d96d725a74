"""A model behind a loopback provider, for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from dialects import Dialect, Say, said, streamed
from loopback import Loopback, Reply

from tea.models.accounts import Accounts
from tea.models.adapters import FORMATS
from tea.models.client import ProviderClient
from tea.models.config import ModelConfig
from tea.models.manager import Delta
from tea.models.retrying import Retrying
from tea.models.wire import WireModel
from tea.types import JsonObject, Message, ModelRequest, ModelResponse, Response, TextPart

KEYS = {"FAKE_KEY": "key-that-nobody-may-see", "SPARE_KEY": "another-that-nobody-may-see"}
ALL = ["tools", "tool_choice", "schema", "vision", "audio", "files", "streaming"]


async def no_tool(ref: str, arguments: JsonObject) -> Response:
    raise AssertionError(f"{ref} was called")


def user(*parts: Any) -> Message:
    return Message(role="user", content=tuple(TextPart(text=one) if isinstance(one, str) else one for one in parts))


def system(text: str) -> Message:
    return Message(role="system", content=(TextPart(text=text),))


class Asking:
    """One model with recorded waits of no length."""

    def __init__(self, dialect: Dialect, url: str, **options: Any) -> None:
        self.dialect = dialect
        self.heard: list[Delta] = []
        self.waited: list[float] = []
        self.now = 0.0
        document = {"provider": dialect.name, "base_url": url + dialect.base, "model": "fake-1", "key_env": "FAKE_KEY"}
        self.config = ModelConfig.of("fake", {**document, "capabilities": ALL, **options})
        keys = {name: KEYS[name] for name in self.config.keys}
        seconds = self.config.limits.get("attempt_seconds", 60)
        accounts = Accounts(sleep=self.sleep, clock=self.clock)
        accounts.state(str(self.config.base_url), keys.values(), self.config.name, self.config.limits)
        line = ProviderClient(FORMATS[dialect.name].sdk, str(self.config.base_url), keys, seconds, accounts)
        retrying = Retrying(self.config.limits, sleep=self.sleep, clock=self.clock, chance=lambda: 0.5)
        self.model = WireModel(FORMATS[dialect.name], line, retrying)

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds

    async def ask(self, request: ModelRequest, *, stream: bool = False) -> ModelResponse:
        if stream:
            return await self.model.tell(request, self.config, self.heard.append)
        return await self.model.complete(request, self.config, no_tool)


@asynccontextmanager
async def asking(dialect: Dialect, *replies: Reply, **options: Any) -> AsyncIterator[tuple[Asking, Loopback]]:
    """A model and its provider."""
    async with Loopback(*replies).open() as server:
        one = Asking(dialect, server.url, **options)
        try:
            yield one, server
        finally:
            await one.model.close()


async def both(
    dialect: Dialect, say: Say, request: ModelRequest, **options: Any
) -> tuple[ModelResponse, Asking, Loopback]:
    """Ask for an answer whole and streamed in pieces of five bytes, and return it, as both are the same."""
    async with asking(dialect, said(dialect, say), streamed(dialect, say, size=5), **options) as (one, server):
        whole = await one.ask(request)
        assert await one.ask(request, stream=True) == whole
    return whole, one, server


HELLO = ModelRequest(messages=(system("Be brief."), user("Say hello.")))
