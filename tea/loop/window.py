"""Window: the conversation of one task, folded before it is longer than the model can read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tea.context import Context
from tea.errors import BadArguments, BadOutput, ProviderError, ToolError
from tea.loop.observation import MOST_CHARACTERS, Outcome
from tea.loop.step import said
from tea.models.rendering import rendered, result_text
from tea.types import (
    DataPart,
    JsonObject,
    JsonValue,
    MediaPart,
    Message,
    ModelResponse,
    TextPart,
    Usage,
    changed,
)

FOLD = "fold"
FOLD_AT = 0.75
KEPT_RESULTS = 5
KEPT_SHARE = 0.5
KEPT_EXCHANGES = 4
BYTES_PER_TOKEN = 4
MEDIA_TOKENS = 1_000
LEAST_CONTEXT = 2_000
_GIST = 60
_MOST_WORDS = 400
_GONE = "Earlier steps were folded away; read_result shows their results."
_OPENING_TOKENS = 2_500  # of a prompt and its functions, until a provider has counted them


@dataclass(slots=True)
class Window:
    """The messages of a task after the prompt's own, and how much of the model's context they take.

    Args:
        context: Tokens that the model can read and write.
        fold: How it makes room: `recent`, `restart` or `summary`.
        messages: The conversation, the oldest first.
        counted: Tokens of the last question and its answer, as the provider counted them.
        fresh: Estimated tokens of what was added since.
        results: What calls gave, whole, by id.
    """

    context: int
    fold: str
    messages: tuple[Message, ...] = ()
    counted: int = _OPENING_TOKENS
    fresh: int = 0
    results: dict[str, Outcome] = field(default_factory=dict[str, Outcome])

    def add(self, *new: Message) -> None:
        """Add messages to the conversation."""
        self.messages = (*self.messages, *new)
        self.fresh += sum(map(_tokens, new))

    def asked(self, usage: Usage, tail: Sequence[Message] = ()) -> None:
        """Take note of what a provider counted for the last question, the answer to which is added next.

        Args:
            usage: What it counted.
            tail: What stood at the end of that question only.
        """
        if usage.input_tokens:
            self.counted, self.fresh = max(0, usage.input_tokens - sum(map(_tokens, tail))), 0

    def keep(self, outcome: Outcome) -> None:
        """Keep a result whole, to be read again and to hold evidence against."""
        self.results[outcome.id] = outcome

    def lower(self, limit: int | None) -> None:
        """Take note that a question was longer than the model can read; `limit` is what its provider said."""
        known = min(self.context, limit or self.context, self.counted + self.fresh)
        self.context = max(LEAST_CONTEXT, known if limit else int(known * FOLD_AT))

    @property
    def full(self) -> bool:
        """Whether it is time to fold."""
        return self.counted + self.fresh > FOLD_AT * self.context

    async def make_room(self, ctx: Context, task: str, known: str) -> None:
        """Fold the conversation; where a model cannot say what to carry on, old results become a line each.

        Args:
            ctx: What the agent may reach.
            task: The task in words.
            known: The ledger, which the model need not repeat.
        """
        before = sum(map(_tokens, self.messages))
        keep = KEPT_EXCHANGES if self.fold == "summary" else 0
        carried = await self._carried(ctx, task, known, keep) if self.fold in ("restart", "summary") else None
        if carried is None:
            self._fold_results()
            self._fold_exchanges()
        else:
            shown = tuple(one for one in self.messages if any(isinstance(part, MediaPart) for part in one.content))
            self.messages = (*shown, carried, *_latest(self.messages, keep))
            if self._estimate() > FOLD_AT * self.context:
                self._fold_results()
        after = sum(map(_tokens, self.messages))
        self.counted = max(0, self.counted + self.fresh - before + after)
        self.fresh = 0

    def read(self, arguments: JsonObject) -> JsonValue:
        """Return a result again, from a character on.

        Raises:
            ToolError: There is none of that id, or it is shorter.
            BadArguments: They are not an id and a number.
        """
        id, start = arguments.get("id"), arguments.get("start") or 0
        if not isinstance(id, str) or not isinstance(start, int) or start < 0:
            raise BadArguments("read_result takes an id and a number of characters.", fix='write {"id": "c1_1"}.')
        if id not in self.results:
            known = ", ".join(list(self.results)[-20:]) or "none"
            raise ToolError(f"There is no result {id[:40]!r}.", fix=f"the latest are {known}.")
        text = result_text({"value": self.results[id].value, "error": self.results[id].error})
        if start and start >= len(text):
            raise ToolError(f"The result {id} has {len(text)} characters.", fix="start at one of them.")
        part = text[start : start + MOST_CHARACTERS - 1_000]
        end = start + len(part)
        more = f'; read_result(id="{id}", start={end}) reads on' if end < len(text) else ""
        return f"{part}\n[characters {start:,} to {end:,} of {len(text):,}{more}]" if start or more else part

    async def _carried(self, ctx: Context, task: str, known: str, keep: int) -> Message | None:
        """Return what a model says must be carried on of all but the latest exchanges, None where it cannot."""
        kept = len(_latest(self.messages, keep))
        old = self.messages[: len(self.messages) - kept]
        most = int(self.context * KEPT_SHARE) * BYTES_PER_TOKEN
        variables = {"task": task, "known": known, "form": self.fold, "transcript": transcript(old, most)}
        try:
            response = await ctx.ask(FOLD, variables)
        except (BadOutput, ProviderError):
            return None
        text = _state_text(response)
        return said(f"The conversation until here was folded. What it came to:\n{text}") if text else None

    def _fold_results(self) -> None:
        """Make all but the latest results a line each; those stay as far as half of the window holds them."""
        left, kept = int(self.context * KEPT_SHARE), 0
        new: list[Message] = []
        for one in reversed(self.messages):
            if one.role == "tool":
                size = _tokens(one)
                stays = kept < KEPT_RESULTS and size <= left
                kept, left = kept + stays, left - size if stays else left
                new.append(one if stays else self._line(one))
            else:
                new.append(one)
        self.messages = tuple(reversed(new))

    def _fold_exchanges(self) -> None:
        """Where it is still too long, make the oldest exchanges one message, half of them at a time."""
        while self._estimate() > FOLD_AT * self.context:
            exchanges = _exchanges(self.messages)
            if len(exchanges) < 3:
                return
            first = exchanges[0][0]
            cut = exchanges[len(exchanges) // 2][0]
            gone = self.messages[first:cut]
            before = tuple(one for one in self.messages[:first] if not _is_gist(one))
            self.messages = (*before, said(_gist(gone)), *self.messages[cut:])

    def _estimate(self) -> int:
        return _OPENING_TOKENS + sum(map(_tokens, self.messages))

    def _line(self, one: Message) -> Message:
        """Return the line that stands for a result."""
        outcome = self.results.get(one.call_id or "")
        if outcome is None:
            return one
        text = result_text({"value": outcome.value, "error": outcome.error})
        if len(text) <= 2 * _GIST:
            return one
        gist = " ".join(text[: 2 * _GIST].split())[:_GIST]
        line = f'[folded away: {gist}... {len(text):,} characters; read_result(id="{outcome.id}") shows it again]'
        return changed(one, content=(TextPart(text=line),))


def transcript(messages: Sequence[Message], most: int) -> str:
    """Return a conversation as text for a model to sum up; where it is too long, its middle is left out."""
    blocks: list[str] = []
    for one in messages:
        words = _words(one)
        calls = "".join(f"\ncalls {call.name} {_compact(call.arguments)}" for call in one.calls)
        if words or calls:
            blocks.append(f"[{one.role}{f' {one.call_id}' if one.call_id else ''}] {words}{calls}")
    text = "\n\n".join(blocks)
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}\n[...]\n{text[-half:]}"


def _latest(messages: Sequence[Message], count: int) -> tuple[Message, ...]:
    """Return the messages of the latest exchanges, each an answer with the results of all its calls."""
    exchanges = _exchanges(messages)
    return tuple(messages[exchanges[-count][0] :]) if 0 < count < len(exchanges) else ()


def _exchanges(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Return where each exchange begins and ends: an answer of the model with all that follows it."""
    begins = [position for position, one in enumerate(messages) if one.role == "assistant"]
    return list(zip(begins, [*begins[1:], len(messages)], strict=True))


def _is_gist(one: Message) -> bool:
    return one.role == "user" and _words(one).startswith(_GONE)


def _gist(messages: Sequence[Message]) -> str:
    lines: list[str] = []
    for one in messages:
        lines += [f"- called {call.name} {_compact(call.arguments)[:100]} ({call.id})" for call in one.calls]
        if one.role == "user" and (words := _words(one)) and not _is_gist(one):
            lines.append(f"- told: {words[:_MOST_WORDS]}")
    shown = lines[-40:]
    more = f" ({len(lines) - len(shown)} before them)" if len(lines) > len(shown) else ""
    return f"{_GONE}{more}\n" + "\n".join(shown)


def _state_text(response: ModelResponse) -> str:
    output: Any = response.output
    if isinstance(output, dict):
        filled = {name: one for name, one in cast("dict[str, Any]", output).items() if one not in ("", [], None)}
        return rendered(filled) if filled else ""
    return response.text.strip()


def _words(one: Message) -> str:
    parts = [part for part in one.content if isinstance(part, TextPart | DataPart)]
    return "\n".join(part.text if isinstance(part, TextPart) else _data_text(one, part) for part in parts)


def _data_text(one: Message, part: DataPart) -> str:
    return result_text(part.data) if one.role == "tool" else rendered(part.data)


def _tokens(one: Message) -> int:
    """Return about how many tokens a message takes."""
    media = sum(isinstance(part, MediaPart) for part in one.content)
    thoughts = sum(len(_compact(part.data)) for part in one.content if part.type == "reasoning")
    calls = sum(len(call.name) + len(_compact(call.arguments)) + 60 for call in one.calls)
    return (len(_words(one).encode()) + thoughts + calls + 20) // BYTES_PER_TOKEN + MEDIA_TOKENS * media


def _compact(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
