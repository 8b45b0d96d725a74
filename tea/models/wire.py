"""The one adapter to real models: sending encoded bodies through the provider's SDK, and reading the responses.

The SDKs walk and transform every message on every call; a body that was encoded piece by piece, once, passes through
them untouched, and their own retries are off, since a try that failed belongs into the journal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from operator import is_
from types import CoroutineType
from typing import Any, TypeAlias

from tea.models.client import ENDING, SETTLING, ProviderClient
from tea.models.config import ModelConfig
from tea.models.context_length import limit_in
from tea.models.failure import CallFailure
from tea.models.format import Format, begins, chooses, counted, decoded, encoded, functions_of, paired, whole
from tea.models.manager import CallTool, Delta, Listen, Payer
from tea.models.media import transcribe
from tea.models.memo import IncrementalMemo, Memo
from tea.models.prices import price
from tea.models.retrying import Retrying
from tea.models.schema import wanted
from tea.models.sse import Events, Sent
from tea.models.step_calls import by_record, callable_by_name, called, usable_name
from tea.models.text_calls import StepWords, as_text, formed, from_text
from tea.types import (
    Attempt,
    MediaPart,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    ReasoningPart,
    TextPart,
    Usage,
    changed,
)

Tools = tuple[dict[str, Any], ...]
_REFUSED = (400, 422)
_CHOICE = re.compile("tool[_ -]choice")
_ANSWER = re.compile("max_(?:completion_|new_|output_)?tokens|completion")  # the limit of the answer was refused
_LONGEST = re.compile(  # the limit of the answer was refused with the one that the model has
    r"max_(?:completion_|new_|output_)?tokens\b.{0,160}?"
    r"(?:at most|no more than|less than or equal to|maximum (?:value )?(?:is|of)|\[1, ?)\D{0,3}(\d{2,7})(?!\d)",
    re.DOTALL,
)
_SENSES = {"image": "vision", "audio": "audio", "file": "files"}
_MOST_LIKE, _LONGEST_LIKE = 1_000, 100  # listed models compared with one that is not, and characters of each
Read = Callable[[ModelResponse], ModelResponse]
Answer: TypeAlias = "CoroutineType[Any, Any, ModelResponse]"


class WireModel:
    """An adapter to models over one wire format, through one connection pool.

    Args:
        format: How questions are written and answers read.
        line: The SDK's client and its keys.
        retrying: How tries follow each other.
    """

    def __init__(self, format: Format, line: ProviderClient, retrying: Retrying) -> None:
        self._format, self._line, self._retrying = format, line, retrying
        self._told: dict[str, _EncodedMessages] = {}
        self._relented: dict[str, ModelConfig] = {}
        self._steps = StepWords()
        self._offers: Memo[tuple[Tools, list[bytes]]] = Memo()

    def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> Answer:
        """Return one complete answer.

        Raises:
            ProviderError: The provider cannot be reached or refuses, after all tries.
        """
        return self._answer(request, config, None, None)

    def tell(
        self, request: ModelRequest, config: ModelConfig, listen: Listen | None, payer: Payer | None = None
    ) -> Answer:
        """Return one complete answer, after reporting each piece of it and the usage of failed attempts.

        Raises:
            BudgetExceeded: The payer lets no further try begin.
            ProviderError: The provider cannot be reached or refuses, after all tries.
        """
        return self._answer(request, config, listen if "streaming" in config.capabilities else None, payer)

    async def probe(self, config: ModelConfig) -> str:
        """Return the server's report on its models.

        Raises:
            ProviderError: It cannot be reached, or refuses.
        """
        known = await self._line.models()
        if config.model and config.model not in known:
            likely = [one for one in known[:_MOST_LIKE] if len(one) <= _LONGEST_LIKE]
            near = get_close_matches(config.model[:_LONGEST_LIKE], likely, n=3, cutoff=0.3)
            near = ", ".join(near or (one[:_LONGEST_LIKE] for one in known[:3]))
            return f"answers, and does not list {config.model!r} among {len(known)} models, but {near}"
        return f"answers, with {config.model or known[0]!r}"

    async def hear(self, config: ModelConfig, sound: bytes, media_type: str) -> ModelResponse:
        """Return the transcription of a sound.

        Raises:
            ProviderError: It cannot be transcribed, after all tries.
        """
        return await transcribe(self._line, self._retrying, config, sound, media_type)

    async def close(self) -> None:
        """End the connections."""
        await self._line.close()

    async def _answer(
        self, request: ModelRequest, config: ModelConfig, listen: Listen | None, payer: Payer | None
    ) -> ModelResponse:
        asked, read = self._translated(request, config)
        told = self._told.setdefault(f"{config.origin} {','.join(config.capabilities)}", _EncodedMessages())
        config = self._relented.get(config.name, config)
        one = _RequestInProgress(
            request=asked, config=config, told=told, tools=self._tools(asked), listen=listen, payer=payer
        )
        again = partial(self._again, one)
        response, attempts = await self._retrying.run(partial(self._attempt, one), config, again)
        usage = counted(response, one.body, asked.media)
        usage = changed(usage, usd=price(config, response.model, usage))
        return changed(read(response), usage=usage, attempts=attempts, answered_by=config.name)

    async def _write(self, asked: _RequestInProgress) -> None:
        """Encode a request's body for a model as configured; if it names no model, ask its server for one."""
        named, encode = await self._line.named(asked.config), partial(self._encode, asked.told, asked.config)
        if (most := named.limited(asked.request.max_output)) != asked.request.max_output:
            asked.request = changed(asked.request, max_output=most)
        asked.body = self._format.body(asked.request, named, encode, asked.tools, stream=asked.listen is not None)

    def _again(self, asked: _RequestInProgress) -> None:
        """Begin another paid attempt, with an answer no longer than the budget left by failed ones."""
        limit = asked.request.max_output if asked.payer is None else asked.config.limited(asked.payer.ready())
        if limit != asked.request.max_output:
            asked.request, asked.body = asked.request.model_copy(update={"max_output": limit}), b""
        if asked.listen is not None:
            asked.listen(Delta(type="again"))

    async def _attempt(self, asked: _RequestInProgress, seconds: float) -> ModelResponse:
        asked.came.clear()
        if not asked.body:
            await self._write(asked)
        try:
            return await self._read(asked, seconds)
        except CallFailure as fault:
            if asked.payer is not None and (asked.came or fault.unheard):
                attempt = Attempt(model=asked.config.name, problem=fault.problem, status=fault.status)
                asked.payer.lost(attempt, asked.used() if asked.came else None)
            raise

    async def _read(self, asked: _RequestInProgress, seconds: float) -> ModelResponse:
        try:
            return whole(self._format.response(await self._send(asked, seconds), asked.config))
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise CallFailure("what came back has another shape than the format's", again=True) from error
        except CallFailure as fault:
            if (less := self._without_refused(fault, asked)) is None:
                raise
            asked.config, asked.body = less, b""
            fault.again, fault.wait = True, 0.0
            raise

    def _without_refused(self, fault: CallFailure, asked: _RequestInProgress) -> ModelConfig | None:
        """Return an adjusted configuration for a model refusing a usual member of its format."""
        config, words = asked.config, fault.problem.lower()
        if fault.status not in _REFUSED:
            return None
        most = config.limited(asked.request.max_output) or config.max_output or 0
        if (found := _LONGEST.search(words)) and 0 < int(found[1]) < most:
            less = replace(config, max_output=int(found[1]))
        elif fault.too_long and _ANSWER.search(words):
            shorter = (limit_in(words) or 0) // 4
            if not 0 < shorter < most:
                return None
            less = replace(config, max_output=shorter)
        elif chooses(asked.request, config) and _CHOICE.search(words):
            abilities = tuple(name for name in config.capabilities if name != "tool_choice")
            less = replace(config, capabilities=abilities)
        else:
            options = next((given for said, given in self._format.relents.items() if said in words), None)
            if options is None or options.keys() & config.options.keys():
                return None
            less = replace(config, options={**config.options, **options})
        self._relented[config.name] = less
        return less

    def _translated(self, request: ModelRequest, config: ModelConfig) -> tuple[ModelRequest, Read]:
        """Return a request in a form the model can process, and the reader of its answer."""
        functions = "tools" in config.capabilities
        if by_record(request):
            if functions and callable_by_name(request.tools):
                names = [str(one["name"]) for one in request.tools]
                return changed(request, output=None), lambda response: called(response, names)
            return self._steps.asked(request), lambda response: response
        if request.output is not None and wanted(request, config, self._format.reach) is None:
            request = formed(request)
        if request.tools and not functions:
            return as_text(request), lambda response: from_text(response, request)
        return request, lambda response: response

    def _tools(self, request: ModelRequest) -> list[bytes]:
        """Return the encoded functions on offer; those of a continued conversation are cached."""
        tools, first = request.tools, request.messages[:1]
        found = self._offers.get(first[0]) if first else None
        if found is not None and found[0] is tools:
            return found[1]
        made = [self._format.tool(one) for one in functions_of(tools)]
        return self._offers.put(first[0], (tools, made))[1] if first else made

    async def _send(self, asked: _RequestInProgress, seconds: float) -> Mapping[str, Any]:
        listen = asked.listen
        if listen is None:
            try:
                await self._line.post(self._format.path, asked.body, asked.came.append, seconds)
                return self._document(asked, asked.came)
            except CallFailure:
                asked.forgive(whole=not begins(asked.came))
                raise
        events, assembly, errors = Events(), self._format.assembly(), list[CallFailure]()

        def take(chunk: bytes) -> float | None:
            if not events.begun:
                chunk = chunk if asked.came else chunk.lstrip()  # blanks keep a connection open until somebody answers
                if asked.came or chunk.startswith(b"{"):
                    asked.came.append(chunk)  # a server that knows no streams answers as a whole
                    return None
            for sent in events.feed(chunk):
                try:
                    told = assembly.take(Sent(event=sent.event, data=self._line.cleaned(sent.data)))
                except CallFailure as fault:
                    asked.forgive()
                    errors.append(fault)
                    raise
                asked.came.append("".join(delta.text for delta in told).encode("utf-8", "replace"))
                for delta in told:
                    listen(delta if delta.text.isascii() else replace(delta, text=paired(delta.text)))
            return ENDING if assembly.done else SETTLING if assembly.ended else None

        try:
            await self._line.post(self._format.path, asked.body, take, seconds)
        except CallFailure:
            if errors or not assembly.ended:
                raise  # else it is an answer, whatever becomes of its connection
        if asked.came and not events.begun:
            return self._document(asked, asked.came)
        if not events.sent:
            raise CallFailure("what came back is not an answer" if events.begun else "nothing came back", again=True)
        return self._document(asked, [encoded(assembly.document())])

    def _document(self, asked: _RequestInProgress, pieces: Sequence[bytes]) -> Mapping[str, Any]:
        """Return the whole document decoded from the received bytes."""
        found = decoded(self._line.cleaned(b"".join(pieces)))
        if found.get("error"):
            asked.forgive(whole=pieces is asked.came)
        return found

    def _encode(
        self, cache: _EncodedMessages, config: ModelConfig, messages: tuple[Message, ...], media: Mapping[str, bytes]
    ) -> list[bytes]:
        """Return the encoded messages of a body; those sent before are cached."""

        def piece(position: int, before: bytes | None = None) -> bytes:
            message = messages[position]
            found = cache.pieces.get(message)
            if found is None:
                found = cache.pieces.put(message, self._format.message(understood(message, config), media))
            return found

        return [piece(0), *cache.grown.parts(messages, piece)] if messages else []


@dataclass(frozen=True, slots=True)
class _EncodedMessages:
    """A cache of encoded messages for models of the same origin and capabilities."""

    pieces: Memo[bytes] = field(default_factory=Memo[bytes])
    grown: IncrementalMemo[bytes] = field(default_factory=IncrementalMemo[bytes])


@dataclass(slots=True, kw_only=True)
class _RequestInProgress:
    """A request in progress: its form for the model, its body, and the bytes received by the present attempt.

    The body is written by the try that finds none.
    """

    request: ModelRequest
    config: ModelConfig
    told: _EncodedMessages
    tools: list[bytes]
    listen: Listen | None
    payer: Payer | None
    body: bytes = b""
    came: list[bytes] = field(default_factory=list[bytes])

    def forgive(self, *, whole: bool = False) -> None:
        """Discard the bytes of an error received in place of an answer, so the attempt costs nothing."""
        if whole or not any(self.came):
            self.came.clear()

    def used(self) -> Usage:
        """Return the estimated usage of an interrupted attempt: its request, and the received part of an answer."""
        words = b"".join(self.came).decode("utf-8", "replace")
        found = counted(ModelResponse(text=words), self.body, self.request.media)
        most = self.request.max_output or self.config.max_output or found.output_tokens
        found = changed(found, output_tokens=min(most, found.output_tokens))
        return changed(found, usd=price(self.config, self.config.model, found))


def understood(message: Message, config: ModelConfig) -> Message:
    """Return a message in a form the model accepts.

    It has no reasoning of others, words where the model lacks a sense, and names of calls as they are taken back.
    """
    parts = [one for part in message.content if (one := _understood(part, config)) is not None]
    names = [usable_name(call.name) for call in message.calls]
    if len(parts) != len(message.content) or not all(map(is_, parts, message.content)):
        message = changed(message, content=tuple(parts))
    if any(call.name != name for call, name in zip(message.calls, names, strict=True)):
        calls = tuple(changed(call, name=name) for call, name in zip(message.calls, names, strict=True))
        message = changed(message, calls=calls)
    return message


def _understood(part: Part, config: ModelConfig) -> Part | None:
    if isinstance(part, ReasoningPart):
        return part if part.origin == config.origin else None
    if isinstance(part, MediaPart) and _SENSES[part.type] not in config.capabilities:
        sense = _SENSES[part.type]
        problem = f"({part.media_type} is left out here, as this model has no {sense!r}. A function may read it."
        return TextPart(text=f"{problem} Where none does and the task needs it, say so.)")
    return part
