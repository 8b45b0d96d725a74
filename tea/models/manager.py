"""ModelManager: named model configurations, and one way to ask any of them."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal, Protocol, cast, runtime_checkable

from tea.errors import BadInput, ContextLengthExceeded, InternalError, ProviderError, TeaError, words_of
from tea.models.accounts import Accounts
from tea.models.config import AT_AN_ADDRESS, NAMED, OFFLINE, ModelConfig, holds_key
from tea.types import (
    Attempt,
    JsonObject,
    Message,
    ModelRequest,
    ModelResponse,
    ReasoningPart,
    Response,
    Usage,
    changed,
)

_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
CallTool = Callable[[str, JsonObject], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """A piece of an answer on its way, the same for all providers.

    Args:
        type: Words of the answer, of its reasoning, a call being written; `again`: what came so far does not count.
        text: The piece; for a call the tool's name or a piece of its arguments; for `again` the name of the model that
            is asked instead, empty where it is the same.
    """

    type: Literal["text", "reasoning", "call", "again"]
    text: str = ""


Listen = Callable[[Delta], None]


class Payer(Protocol):
    """A payer for the attempts of one request, including failed ones."""

    def ready(self) -> int | None:
        """Permit another attempt and return the maximum tokens of its answer; raises BudgetExceeded."""
        ...

    def lost(self, attempt: Attempt, usage: Usage | None) -> None:
        """Record a failed attempt and its estimated usage, as providers bill it; None if it is unknown."""
        ...


class Adapter(Protocol):
    """An adapter to one kind of model.

    `call_tool` reaches a registered tool of the run, for adapters that answer through one.
    """

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        """Return one complete answer."""
        ...


class StreamingAdapter(Protocol):
    """An adapter able to report an answer while it streams, and failed attempts."""

    async def tell(
        self, request: ModelRequest, config: ModelConfig, listen: Listen | None, payer: Payer | None
    ) -> ModelResponse:
        """Return one complete answer, and pass each piece of it to `listen` before."""
        ...


class Embedding(Protocol):
    """A converter of texts into vectors; it blocks, so it works in a thread."""

    def embed(self, texts: Sequence[str]) -> Iterable[Iterable[float]]:
        """Return one row for each text."""
        ...


@runtime_checkable
class ProbingAdapter(Protocol):
    """An adapter able to check if its model is available."""

    async def probe(self, config: ModelConfig) -> str:
        """Return the result of the check as text; raises ProviderError."""
        ...


@runtime_checkable
class TranscribingAdapter(Protocol):
    """An adapter able to transcribe sound."""

    async def hear(self, config: ModelConfig, sound: bytes, media_type: str) -> ModelResponse:
        """Return the transcription of a sound; raises ProviderError."""
        ...


@runtime_checkable
class ClosingAdapter(Protocol):
    """An adapter holding connections."""

    async def close(self) -> None:
        """End all connections."""
        ...


class ModelManager:
    """A manager of the configurations, roles and adapters of one platform, and of their shared accounts."""

    def __init__(self) -> None:
        self._configs: dict[str, ModelConfig] = {}
        self._connect: dict[str, Callable[[], Adapter]] = {}
        self._adapters: dict[str, Adapter] = {}
        self._hidden: set[str] = set()
        self.chosen = ""
        self.alone = False  # whether the chosen one answers in place of those that agents declare
        self.roles: dict[str, str] = {}
        self.accounts = Accounts()
        self.embedder: Callable[[], Embedding] | None = None  # of the platform's settings

    @property
    def default(self) -> str:
        """Name of the default configuration: the chosen one, else the first other than offline."""
        listed = [name for name in self._connect if name not in self._hidden]
        return self.chosen or next((one for one in listed if self._configs[one].provider != OFFLINE), (*listed, "")[0])

    def add(self, config: ModelConfig, adapter: Adapter) -> None:
        """Make a configuration available."""
        self.offer(config, lambda: adapter)

    def offer(self, config: ModelConfig, connect: Callable[[], Adapter], *, listed: bool = True) -> None:
        """Make a configuration available, with its adapter made on first use.

        Args:
            config: The configuration.
            connect: Makes its adapter; raises ProviderError where something is missing.
            listed: Whether it counts as configured: it is shown, and may be the default.
        """
        self._configs[config.name] = config
        self._connect[config.name] = connect
        self._adapters.pop(config.name, None)
        (self._hidden.discard if listed else self._hidden.add)(config.name)

    def knows(self, name: str) -> bool:
        """Return whether there is a configuration with the given name."""
        return name in self._configs

    def list(self) -> list[ModelConfig]:
        """Return every listed configuration, sorted by name."""
        return [self._configs[name] for name in sorted(self._connect) if name not in self._hidden]

    def config(self, name: str | None = None, role: str = "", declared: str = "") -> ModelConfig:
        """Return a usable configuration.

        Args:
            name: Its name, perhaps with another model of the same provider (`openai/gpt-5.4-mini`), or that of a
                role; without one the role's, else the default one.
            role: Who asks.
            declared: The name that who asks declares itself; it comes before the default one, unless that is `alone`.

        Raises:
            ProviderError: There is none of that name, or its key is missing; another never stands in silently.
            BadInput: One of its fallbacks leads nowhere, or to the offline model.
        """
        wanted = name or self.roles.get(role) or ("" if self.alone else declared) or self.default
        wanted = wanted if wanted in self._configs else self.roles.get(wanted, wanted)
        base, _, model = wanted.partition("/")
        if base in self._configs:
            adapter, config = self._adapter(base), self._configs[base]
            self._check_fallbacks(config)
            if not model:
                return config
            self._adapters[wanted] = adapter
            other = {"prices": dict[str, float](), "context": None} if config.model else {}  # what is known of that one
            return self._configs.setdefault(wanted, replace(config, name=wanted, model=model, **other))
        if holds_key(wanted):
            raise ProviderError("A text that looks like a key does not name a model.", fix=NAMED)
        if wanted.startswith(("http://", "https://")):
            raise ProviderError("An address does not name a model.", fix=AT_AN_ADDRESS)
        near = difflib.get_close_matches(wanted, self._configs, n=1)
        known = ", ".join(one.name for one in self.list()) or "none"
        choice = f"configured: {known}; a model of a provider is written with it, as in openai/NAME."
        fix = f"did you mean {near[0]!r}?" if near else choice
        raise ProviderError(f"No model is configured as {wanted[:80]!r}.", fix=fix)

    def chain(self, config: ModelConfig) -> tuple[ModelConfig, ...]:
        """Return the possible answerers of a request: a configuration and its usable fallbacks."""
        found = [config]
        for name in config.fallbacks:
            with suppress(ProviderError):
                found.append(self.config(name))
        return tuple(found)

    async def complete(
        self,
        request: ModelRequest,
        call_tool: CallTool,
        listen: Listen | None = None,
        payer: Payer | None = None,
    ) -> ModelResponse:
        """Ask the request's model and return its complete answer; if it cannot answer, ask its fallbacks in order.

        Args:
            request: The question.
            call_tool: Reaches a tool of the run.
            listen: Told of the answer while it comes, by adapters that can.
            payer: Asked before each try, and told what broken ones used.

        Raises:
            Abstained: The offline solver cannot tell.
            BudgetExceeded: The payer lets no further try begin.
            ContextLengthExceeded: The question is longer than a model of the chain reads, and no other answers.
            ProviderError: No model of the chain can be reached, or one refuses, or is not configured.
        """
        first = self.config(request.model)
        before: list[Attempt] = []
        fix, kind = "", ProviderError
        for name in (first.name, *first.fallbacks):
            limit = request.max_output if payer is None else payer.ready()
            try:
                config = self.config(name)
                asked, words = (request, "") if config is first else carried(request, config.origin)
                before += [Attempt(model=name, problem=words)] if words else []
                most = config.limited(limit)
                asked = asked if most == asked.max_output else asked.model_copy(update={"max_output": most})
                if listen is not None and config is not first:
                    listen(Delta(type="again", text=name))
                response = await self._answer(asked, config, call_tool, listen, payer)
            except ProviderError as error:
                before.append(Attempt(model=name, problem=error.problem))
                fix = fix or error.fix
                kind = ContextLengthExceeded if isinstance(error, ContextLengthExceeded) else kind
            else:
                return response.model_copy(update={"attempts": (*before, *response.attempts)}) if before else response
        raise kind(" ".join(one.problem for one in before), fix=fix)

    async def probe(self, name: str) -> str:
        """Return as text whether a configured model can be reached, without asking it anything.

        Raises:
            ProviderError: It cannot.
        """
        config = self.config(name)
        adapter = self._adapter(name)
        return await adapter.probe(config) if isinstance(adapter, ProbingAdapter) else "ready"

    async def transcribe(self, name: str, sound: bytes, media_type: str) -> ModelResponse:
        """Return the transcription of a sound, with its cost.

        Args:
            name: Name of a configuration or a role.
            sound: All of it.
            media_type: What it is, for example `audio/wav`.

        Raises:
            ProviderError: The model cannot be reached, or hears nothing.
        """
        config = self.config(name)
        adapter = self._adapter(config.name)
        if not isinstance(adapter, TranscribingAdapter):
            raise ProviderError(f"The model {config.name!r} does not transcribe.", fix="name another one.")
        return await adapter.hear(config, sound, media_type)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text, of length 1, or of zeros if the text has no meaning for the embedder.

        The embedder is that of the settings (`[embedder]` in tea.toml), else the built-in one; it is made with the
        first call, and works in a thread.

        Raises:
            MissingExtra: What it needs is not installed.
            ProviderError: It cannot be reached, or there is none.
        """
        if self.embedder is None:
            raise ProviderError("There is no embedder.", fix="use the models of a platform.")
        made = await asyncio.to_thread(self.embedder)
        rows = await asyncio.to_thread(made.embed, list(texts))
        return [[float(one) for one in row] for row in rows]

    async def close(self) -> None:
        """End the connections of all adapters."""
        for adapter in self._adapters.values():
            if isinstance(adapter, ClosingAdapter):
                await adapter.close()

    async def _answer(
        self,
        request: ModelRequest,
        config: ModelConfig,
        call_tool: CallTool,
        listen: Listen | None,
        payer: Payer | None,
    ) -> ModelResponse:
        """Return an adapter's answer; name a user's adapter in the error if it fails.

        Raises:
            InternalError: The adapter of a user raised, or gave something else than an answer.
        """
        adapter = type(self._adapter(config.name))
        try:
            said = cast(object, await self._ask(request, config, call_tool, listen, payer))
        except (TeaError, TimeoutError):
            raise
        except Exception as error:
            if adapter.__module__.startswith("tea."):
                raise
            problem = f"The model adapter {adapter.__qualname__} raised {words_of(error)}."
            raise InternalError(problem, fix="mend that adapter; it is not part of tea.") from error
        if not isinstance(said, ModelResponse):
            problem = f"The model adapter {adapter.__qualname__} answered with a {type(said).__name__}."
            raise InternalError(problem, fix="return a ModelResponse from it.")
        return said

    def _ask(
        self,
        request: ModelRequest,
        config: ModelConfig,
        call_tool: CallTool,
        listen: Listen | None,
        payer: Payer | None,
    ) -> Coroutine[Any, Any, ModelResponse]:
        adapter = self._adapter(config.name)
        if hasattr(adapter, "tell"):  # asked for each answer, and isinstance of a protocol is slow in Python 3.11
            return cast(StreamingAdapter, adapter).tell(request, config, listen, payer)
        return adapter.complete(request, config, call_tool)

    def _check_fallbacks(self, config: ModelConfig) -> None:
        for name in config.fallbacks:
            found = self._configs.get(name.partition("/")[0])
            if found is None or found.provider == OFFLINE:
                problem = f"The model {config.name!r} cannot fall back to {name[:80]!r}."
                raise BadInput(problem, fix="name another provider's configuration; see `tea models ls`.")

    def _adapter(self, name: str) -> Adapter:
        if name not in self._adapters:
            self._adapters[name] = self._connect[name]()
        return self._adapters[name]


def carried(request: ModelRequest, origin: str) -> tuple[ModelRequest, str]:
    """Return a conversation adapted to another model, and a description of the changes.

    Reasoning of others is dropped with its signatures, and ids of calls that not all providers take are numbered anew.
    """
    dropped, numbers = 0, _numbers(request)
    messages: list[Message] = []
    for message in request.messages:
        kept = tuple(part for part in message.content if not isinstance(part, ReasoningPart) or part.origin == origin)
        dropped += len(message.content) - len(kept)
        if len(kept) != len(message.content):
            message = changed(message, content=kept)
        if message.call_id in numbers:
            message = changed(message, call_id=numbers[message.call_id])
        if any(call.id in numbers for call in message.calls):
            calls = (changed(call, id=numbers.get(call.id, call.id)) for call in message.calls)
            message = changed(message, calls=tuple(calls))
        messages.append(message)
    if not dropped and not numbers:
        return request, ""
    words = (
        f"The conversation goes on here: {dropped} pieces of foreign reasoning dropped, {len(numbers)} ids rewritten."
    )
    return request.model_copy(update={"messages": tuple(messages)}), words


def _numbers(request: ModelRequest) -> dict[str | None, str]:
    """Return new ids for calls with ids not accepted by all providers."""
    known = dict.fromkeys(call.id for message in request.messages for call in message.calls)
    free = (name for number in count(1) if (name := f"call_{number}") not in known)
    return {id: next(free) for id in known if not _ID.fullmatch(id)}
