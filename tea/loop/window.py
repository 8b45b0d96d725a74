"""Window: the conversation of one task, folded before it exceeds the model's context."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from tea.components.context import Context
from tea.errors import BadArguments, BadOutput, BudgetExceeded, ProviderError, TeaError, ToolError
from tea.loop.exchanges import (
    BYTES_PER_TOKEN,
    briefer,
    call_line,
    cut,
    exchanges,
    last_exchange,
    tokens,
    transcript,
    unanswered,
    words,
)
from tea.loop.ledger import READ_RESULT
from tea.loop.observation import LEAST_CHARACTERS, MOST_CHARACTERS, Observation, is_cut, limit_of
from tea.loop.passages import once
from tea.loop.step import consult, said
from tea.models.rendering import content, rendered, result_text
from tea.types import DataPart, JsonObject, JsonValue, Message, ModelResponse, TextPart, Usage, changed

FOLD = "fold"
ASKING = ("restart", "summary")
FOLD_AT = 0.75
FULL_AT = 0.9
WORKED = 133_000  # tokens of steps of which shares are taken at most, as answers get worse beyond some 100,000
KEPT_SHARE = 0.5
CARRIED_SHARE = 0.25
GONE_SHARE = 0.0625
LEDGER_SHARE = 0.125
LEAST_COUNTED = 0.25  # of the tokens that messages are estimated to have
KEPT_RESULTS = 5
KEPT_EXCHANGES = 4
LEAST_CONTEXT = 2_000
LEAST_REPEATED = 200  # characters of a result that is not given twice
_GIST = 60
_NOTES = 80  # tokens of what stands beside a result that is cut
_MOST_WORDS = 150
_BRIEF = 500  # tokens that words of the model keep where nothing else can go
_CARRIED = "The conversation until here was folded. What it came to:\n"
_GONE = "Earlier steps were folded away; read_result shows the results of their calls:"


@dataclass(slots=True)
class Window:
    """The messages of a task after the prompt's own, with their share of the model's context.

    Args:
        context: Tokens that the model can read and write.
        fold: How it makes room: `recent`, `restart` or `summary`.
        before: Tokens of a question beside these messages: estimated, until a provider has counted one.
        results: What calls gave, whole, by id.
        rereads: Whether something was cut or folded that can be read again.
    """

    context: int
    fold: str
    before: int = 0
    results: dict[str, Observation] = field(default_factory=dict[str, Observation])
    rereads: bool = False
    _first: tuple[Message, ...] = ()
    _carried: tuple[Message, ...] = ()
    _gone: tuple[Message, ...] = ()
    _latest: tuple[Message, ...] = ()
    _lasting: list[Message] = field(default_factory=list[Message])
    _lines: list[str] = field(default_factory=list[str])
    _shown: dict[str, Observation] = field(default_factory=dict[str, Observation])
    _counted: int = 0
    _failed: int = 0
    _waits: int = 0
    _lefts: set[str] = field(default_factory=set[str])
    _uncounted: list[Message] = field(default_factory=list[Message])

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, the oldest first."""
        return (*self._first, *self._carried, *self._gone, *self._latest)

    @property
    def room(self) -> int:
        """Maximum bytes of facts and plan, as they are part of every request."""
        return int(LEDGER_SHARE * self.context) * BYTES_PER_TOKEN

    def add(self, *new: Message, lasting: bool = False) -> None:
        """Add messages to the conversation.

        Args:
            new: The messages.
            lasting: Whether no fold may take them away.
        """
        self._latest = (*self._latest, *new)
        self._uncounted += new
        self._lasting += new if lasting else ()

    def show(self, outcomes: Sequence[Observation], left: str, *, whole: bool, most: float = math.inf) -> None:
        """Add the results of a step, each cut to its share of the free space of window and budget.

        Args:
            outcomes: The results.
            left: What is left of the budget, in words, for the last of them.
            whole: Whether whoever reads them has no window.
            most: Most tokens of the next request that the budget allows.
        """
        limit = limit_of(len(outcomes))
        self._lefts |= {left} if left else set()
        words = ["" for _ in outcomes[1:]] + [left]
        for one in outcomes:
            self._shown[one.id] = one
            if one.name == READ_RESULT and one.ok:  # so that what is cut of it can be read on
                self.keep(one)
        if whole:
            self.add(*(one.message(10 * limit, left) for one, left in zip(outcomes, words, strict=False)))
            return
        room = FULL_AT * self.context - self.before - tokens(*last_exchange(self._latest))
        room = min(KEPT_SHARE * self.context, max(GONE_SHARE * self.context, room), most - self.size())
        share = max(0, room) / max(1, len(outcomes))
        briefly = [
            replace(one, value=None if self._needs_no_value(one) else once(one.value, self._whole_values))
            for one in outcomes
        ]
        made = [_within(one, limit, left, share) for one, left in zip(briefly, words, strict=False)]
        self.rereads = self.rereads or any(map(is_cut, made))
        self.add(*made)

    def _whole_values(self) -> Iterator[JsonValue]:
        """Return the values of the results shown whole."""
        return (value for one in self._latest if not is_cut(one) for value in _values(one))

    def leave_out_left(self) -> None:
        """Leave the remaining budget out of all results."""
        told = [TextPart(text=one) for one in self._lefts]
        self._latest = tuple(
            changed(one, content=tuple(part for part in one.content if part not in told)) if one.role == "tool" else one
            for one in self._latest
        )
        self._lefts.clear()
        self._count()

    def refuse(self, id: str, error: TeaError) -> None:
        """Replace a shown result by an error once it is no longer valid."""
        old = self._shown[id]
        self._replace(Observation.refused(id, old.name, old.arguments, error))

    def hold(self, id: str, text: str) -> None:
        """Replace the shown result of a `done` held for revision by text; a call without an id stays."""
        if id:
            self._replace(replace(self._shown[id], value=text))

    def _replace(self, new: Observation) -> None:
        """Replace a shown result."""
        id = new.id
        self._shown[id] = new
        told = new.message(LEAST_CHARACTERS, "").content
        self._latest = tuple(
            changed(one, content=(*told, *(part for part in one.content if isinstance(part, TextPart))))
            if one.call_id == id
            else one
            for one in self._latest
        )
        self._count()

    def _needs_no_value(self, one: Observation) -> bool:
        """Return whether a long result repeats one still in the conversation."""
        return bool(one.first) and len(one.text) > LEAST_REPEATED and self._shows(one.first)

    def _shows(self, id: str) -> bool:
        """Return whether the whole result of a call is still in the conversation."""
        made = [one for one in self._latest if one.role == "tool" and one.call_id == id]
        return id in self.results and any(value == self.results[id].value for one in made for value in _values(one))

    def keep(self, outcome: Observation) -> None:
        """Keep a whole result, to be read again and to check evidence against."""
        self.results[outcome.id] = outcome

    def size(self, tail: Sequence[Message] = ()) -> int:
        """Return the approximate number of tokens in the next request; `tail` is only at its end."""
        self._counted += tokens(*self._uncounted)
        self._uncounted = []
        return self.before + self._counted + tokens(*tail)

    def asked(self, usage: Usage, tail: Sequence[Message] = ()) -> None:
        """Record the provider's token count for the last request, before its answer is added.

        One far below the estimate is not of all that was sent, but of what was not cached, for example.
        """
        estimated = self.size(tail)
        if usage.input_tokens > LEAST_COUNTED * (estimated - self.before):
            self.before += usage.input_tokens - estimated

    def full(self, tail: Sequence[Message] = (), share: float = FOLD_AT) -> bool:
        """Return whether it is time to fold, or whether another given share of the context is taken."""
        return self.size(tail) > self._mark(share)

    def foreseen(self) -> int:
        """Return the approximate number of tokens in the next request, folded if it would be too long."""
        return min(self.size(), int(self._mark(FOLD_AT)))

    def _mark(self, share: float) -> float:
        """Return the tokens of a request with a share of the context taken, of a large one by its steps alone."""
        return min(share * self.context, self.before + tokens(*self._lasting) + share * WORKED)

    def _share(self, share: float) -> float:
        """Return the tokens of a share of the context, of a large one as of a usual one."""
        return share * min(self.context, WORKED)

    def lower(self, limit: int | None, tail: Sequence[Message] = ()) -> None:
        """Lower the known context after a request too long for the model; `limit` is the provider's stated limit."""
        known = min(self.context, limit or self.context, self.size(tail))
        self.context = max(LEAST_CONTEXT, known if limit else int(known * FOLD_AT))

    async def make_room(self, ctx: Context, task: str, tail: Sequence[Message], *, may_ask: bool) -> bool:
        """Fold the conversation, and return whether a model was asked for a summary.

        Where none can say so, old results become a line each.

        Args:
            ctx: What the agent may reach.
            task: The task in words.
            tail: The ledger, which stands at the end of every question.
            may_ask: Whether a question may be spent on it.
        """
        self.rereads = True
        kept = self._latest_exchanges() if self.fold == "summary" else ()
        old = self.messages[: len(self.messages) - len(kept)]
        goes = tokens(*(one for one in self._latest if not self._lasts(one))) - tokens(*kept)
        wanted = may_ask and self.fold in ASKING and goes > self._share(CARRIED_SHARE)
        asks = wanted and self._waits == 0
        self._waits -= int(wanted and not asks)
        if asks and (state := await self._state(ctx, task, "".join(map(words, tail)), old)):
            self._carry_on(state, kept)
            self._failed = 0
        elif asks:  # a failed summary is tried again, each time after more folds
            self._failed += 1
            self._waits = 2**self._failed
        self._make_room(tail, asked=asks)
        return asks

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
        one = self.results[id]
        text = one.text if one.value is not None else _text(one)
        if start and start >= len(text):
            raise ToolError(f"The result {id} has {len(text)} characters.", fix="start at one of them.")
        part = self._fitting(text[start : start + MOST_CHARACTERS - 1_000])
        end = start + len(part)
        more = f'; read_result(id="{id}", start={end}) reads on' if end < len(text) else ""
        return f"{part}\n[characters {start:,} to {end:,} of {len(text):,}{more}]" if start or more else part

    def _fitting(self, text: str) -> str:
        """Return the longest beginning of a text allowed for one result."""
        most, size = int(CARRIED_SHARE * self.context) * BYTES_PER_TOKEN, len(text.encode())
        return text if size <= most else text[: max(1, len(text) * most // size)]

    def _latest_exchanges(self) -> tuple[Message, ...]:
        """Return the latest exchanges within a share of the window, never all of them."""
        kept: tuple[Message, ...] = ()
        for one in reversed(exchanges(self._latest)[1:][-KEPT_EXCHANGES:]):
            if tokens(*one, *kept) > self._share(KEPT_SHARE):
                break
            kept = (*one, *kept)
        return kept

    async def _state(self, ctx: Context, task: str, ledger: str, old: Sequence[Message]) -> str:
        """Return a model's summary of the state to carry on, empty if it fails."""
        carried = int(self._share(CARRIED_SHARE))
        shown = transcript(old, int(KEPT_SHARE * self.context))
        variables: JsonObject = {"task": task, "known": ledger, "form": self.fold, "transcript": shown}
        try:
            state = await consult(ctx, FOLD, variables, _state_text, shown=carried)
        except (BadOutput, BudgetExceeded, ProviderError):
            return ""
        return cut(state, carried)

    def _carry_on(self, state: str, kept: tuple[Message, ...]) -> None:
        """Replace all but the latest exchanges with a state."""
        gone = self._latest[: len(self._latest) - len(kept)]
        self._latest = kept or tuple(one for one in unanswered(self._latest) if not self._lasts(one))
        self._leave(gone)
        self._carried = (said(f"{_CARRIED}{state}"),)

    def _make_room(self, tail: Sequence[Message], *, asked: bool) -> None:
        """Fold the remaining excess: results, then the oldest exchanges, then text."""
        self._count()
        if asked and not self.full(tail):
            return
        self._latest = self._without_results(KEPT_SHARE)
        self._count()
        if self.full(tail):
            self._fold_exchanges(tail)
        if self.size(tail) > FULL_AT * self.context:
            self._first = tuple(briefer(one, _BRIEF) for one in self._first)
            self._latest = tuple(one if self._lasts(one) else briefer(one, _BRIEF) for one in self._latest)
            self._count()
        if self.size(tail) > FULL_AT * self.context:
            self._latest = self._without_results(CARRIED_SHARE)
            self._count()

    def _without_results(self, share: float) -> tuple[Message, ...]:
        """Return the latest messages with a line for each result but the last; those stay within a share of the window.

        The results of the last step stay first, since nobody has seen them.
        """
        left, kept = self._share(share), 0
        unseen = len(exchanges(self._latest)[-1]) if exchanges(self._latest) else 0
        new: list[Message] = []
        for distance, one in enumerate(reversed(self._latest)):
            outcome = self._shown.get(one.call_id or "") if one.role == "tool" else None
            if outcome is not None and outcome.id in self.results:
                size = tokens(one)
                stays = size <= left and (kept < KEPT_RESULTS or distance < unseen)
                kept, left = kept + 1, left - size if stays else left
                new.append(one if stays else _line(one, outcome))
            else:
                new.append(one)
        return tuple(reversed(new))

    def _fold_exchanges(self, tail: Sequence[Message]) -> None:
        """Remove the oldest exchanges until the rest fits half of the window, to delay the next fold."""
        all_of_them = exchanges(self._latest)
        left = self.size(tail) - self._mark(KEPT_SHARE)
        gone = 0
        while left > 0 and gone < len(all_of_them) - 1:
            left -= tokens(*all_of_them[gone])
            gone += 1
        leaves = tuple(one for some in all_of_them[:gone] for one in some)
        self._latest = self._latest[len(leaves) :]
        self._leave(leaves)
        self._count()

    def _leave(self, gone: Sequence[Message]) -> None:
        """List the actions of removed messages in a note, and keep the messages meant to last."""
        self._first += tuple(one for one in gone if self._lasts(one))
        for one in gone:
            if one.role == "assistant" and (text := " ".join(words(one).split())):
                self._lines.append(f"- {text[:_MOST_WORDS]}")
            made = [call for call in one.calls if call.id in self.results and call.name != READ_RESULT]
            self._lines += [f"- {call.id}: {call_line(call)}" for call in made]
        shown: list[str] = []
        most = GONE_SHARE * self.context * BYTES_PER_TOKEN
        for line in reversed(self._lines):
            most -= len(line.encode()) + 1
            if most < 0:
                break
            shown.append(line)
        left_out = len(self._lines) - len(shown)
        more = [f"({left_out} lines before these are left out)"] if left_out else []
        self._gone = (said("\n".join([_GONE, *more, *reversed(shown)])),) if self._lines else ()

    def _lasts(self, one: Message) -> bool:
        return any(one is other for other in self._lasting)

    def _count(self) -> None:
        self._counted, self._uncounted = tokens(*self.messages), []
        self.before = max(0, self.before)


def _values(message: Message) -> list[JsonValue]:
    """Return the part of a call's value shown by a message."""
    return [cast("dict[str, Any]", part.data).get("value") for part in message.content if isinstance(part, DataPart)]


def _within(message: Observation, limit: int, left: str, most: float) -> Message:
    """Return a result as a message of at most the given tokens, with a minimum of characters shown."""
    made = message.message(limit, left)
    if (size := tokens(made)) <= most:
        return made
    characters = min(limit, len(words(made))) * (most - _NOTES) / size
    return message.message(max(LEAST_CHARACTERS, int(characters)), left)


def _line(message: Message, outcome: Observation) -> Message:
    """Return the line in place of a result."""
    text = _text(outcome)
    if len(text) <= 3 * _GIST:
        return message
    shown = text if outcome.error is not None else content(outcome.value)
    gist = " ".join(shown[: 2 * _GIST].split())[:_GIST]
    start = outcome.arguments.get("start") if outcome.name == READ_RESULT else None
    id = outcome.arguments.get("id") if outcome.name == READ_RESULT else outcome.id
    again = f'read_result(id="{id}"{f", start={start}" if start else ""})'
    line = f"[folded away: {gist}... {len(text):,} characters; {again} shows it again]"
    return changed(message, content=(TextPart(text=line),))


def _text(message: Observation) -> str:
    return result_text({"value": message.value, "error": message.error})


def _state_text(response: ModelResponse) -> str:
    output: Any = response.output
    if isinstance(output, dict):
        filled = {name: one for name, one in cast("dict[str, Any]", output).items() if one not in ("", [], None)}
        return rendered(filled) if filled else ""
    return response.text.strip()
