"""A request to a model inside an agent's work, and its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from tea.components.context import Context
from tea.components.json_schema import closed
from tea.components.operation import reasons
from tea.errors import BadOutput
from tea.loop.claims import announces, without_label
from tea.loop.exchanges import cut
from tea.models.written_calls import answered
from tea.types import (
    JsonObject,
    JsonSchema,
    Message,
    ModelResponse,
    ReasoningPart,
    TextPart,
    ToolCall,
    Usage,
    message,
)

T = TypeVar("T")

REPAIR = "Your last answer could not be used: {problem} Answer again, in exactly the form that was asked for."
MOST_SHOWN = 4_000  # tokens of an unreadable answer
WORDS = ("thinking", "evaluation", "memory", "next_goal")
_MOST_THOUGHT = 4_000
_FORM = re.compile(r"\A(?:\{|\[(?!\d{1,3}\]))|\"\w{1,60}\"\s{0,9}:")  # JSON, though broken


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer of a model in one step.

    Args:
        text: Its words.
        calls: The calls it wants made, with ids of the loop's own.
        record: What it wrote as `thinking`, `evaluation`, `memory` and `next_goal`, where it writes records.
        reasoning: What it thought, to be given back unchanged.
        problem: Why nothing of it can be used, in one line.
        finish: Why it stopped.
        usage: What it used.
        recorded: Whether its text is a record, and no words.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    record: JsonObject = field(default_factory=dict[str, Any])
    reasoning: tuple[ReasoningPart, ...] = ()
    problem: str = ""
    finish: Literal["stop", "length", "calls", "refusal"] = "stop"
    usage: Usage = field(default_factory=Usage)
    recorded: bool = False

    @classmethod
    def of(cls, response: ModelResponse, step: int) -> Reply:
        """Read a response, whether the model called functions or wrote a record.

        Args:
            response: What came.
            step: Number of the step, for the ids of its calls.
        """
        output: Any = response.output
        written = cast("dict[str, Any]", output) if isinstance(output, dict) else {}
        wanted = response.calls or _written_calls(written.get("calls"))
        calls = tuple(
            ToolCall(id=f"c{step}_{number}", name=one.name, arguments=one.arguments, unreadable=one.unreadable)
            for number, one in enumerate(wanted, 1)
        )
        problem = response.unusable
        if not problem and not calls and written:
            problem = "It is not a step: it holds no call."
        if not problem and not calls and not answered(response.text).strip():
            problem = "It is empty."
        return cls(
            text=response.text,
            calls=calls,
            record={name: said for name in WORDS if isinstance(said := written.get(name), str)},
            reasoning=tuple(part for part in response.reasoning if part.data),
            problem="" if calls else problem,
            finish=response.finish,
            usage=response.usage,
            recorded=bool(written),
        )

    def message(self) -> Message:
        """Return it unchanged as a message of the conversation."""
        said = (TextPart(text=self.text),) if self.text.strip() else ()
        return message("assistant", (*self.reasoning, *said), self.calls)

    @property
    def said(self) -> str:
        """Its words, without thinking written before them."""
        return answered(self.text).strip()

    @property
    def beside(self) -> str:
        """Its words beside its calls; a record has none."""
        return "" if self.recorded else self.said

    @property
    def thought(self) -> str:
        """The text beside its calls, or its visible reasoning."""
        shown = self.text or "\n\n".join(part.text for part in self.reasoning if part.text)
        return str(self.record.get("thinking", "")) if self.record else shown[:_MOST_THOUGHT]


async def consult(
    ctx: Context,
    prompt: str,
    variables: JsonObject,
    read: Callable[[ModelResponse], T],
    history: tuple[Message, ...] = (),
    *,
    model: str | None = None,
    output: JsonSchema | None = None,
    shown: int = MOST_SHOWN,
    plain: Callable[[str], T | None] = lambda text: None,
    plain_at_last: Callable[[str], T] | None = None,
) -> T:
    """Ask a model and read its answer; if it is unreadable, show it with the problem and ask once more.

    It is asked once more for an answer without the form of the prompt, and once for one refused by `read`. A second
    answer in plain words, which neither begins the form nor announces a step, is given to `plain`.

    Args:
        ctx: What the agent may reach.
        prompt: Name of the prompt.
        variables: What its template is rendered with.
        read: Makes the wanted value of the response, or raises BadOutput.
        history: The conversation so far.
        model: Name of a model configuration; the run's own by default.
        output: JSON Schema of the answer, in place of the prompt's.
        shown: Most tokens of an unreadable answer in the next question.
        plain: Makes the wanted value of the text of a complete answer without form, or None to ask once more.
        plain_at_last: Makes the wanted value of a second complete answer without form.

    Raises:
        BadOutput: A second answer has the same kind of fault.
    """
    repaired: list[bool] = []
    while True:
        response: ModelResponse | None = None
        try:
            response = await ctx.ask(prompt, variables, history, model=model, output=output)
            return read(response)
        except BadOutput as error:
            text = _unreadable_text(response, error)
            is_whole = error.whole if response is None else response.finish == "stop"
            if is_whole and (value := plain(text)) is not None:
                return value
            if (response is None) in repaired:
                if plain_at_last is not None and is_whole and (words := _plain_words(text)):
                    return plain_at_last(words)
                raise _without_form(ctx.agent, error) from error
            repaired.append(response is None)
            own = (message("assistant", (TextPart(text=cut(text, shown)),)),) if text.strip() else ()
            history = (*history, *own, said(REPAIR.format(problem=error.problem)))


async def ask_for(
    ctx: Context,
    kind: type[T],
    prompt: str,
    variables: JsonObject,
    history: tuple[Message, ...] = (),
    *,
    model: str | None = None,
) -> T:
    """Ask a model for a value of a pydantic-compatible type; if the answer is invalid, say so and ask once more.

    The type's schema goes to the provider, which enforces it where it can; the answer is validated in any case.

    Args:
        ctx: What the agent may reach.
        kind: The type: a dataclass, a model of pydantic, or for example `list[int]`.
        prompt: Name of the prompt; its own output schema does not count.
        variables: What its template is rendered with.
        history: The conversation so far.
        model: Name of a model configuration; the run's own by default.

    Raises:
        BadOutput: The second answer does not fit either.
    """
    adapter = TypeAdapter(kind)

    def read(response: ModelResponse) -> T:
        try:
            return adapter.validate_python(response.output)
        except ValidationError as error:
            problem = f"The answer is not a {getattr(kind, '__name__', kind)}: {reasons(error)}."
            raise BadOutput(problem, fix="ask otherwise, or another model.") from error

    return await consult(ctx, prompt, variables, read, history, model=model, output=closed(adapter.json_schema()))


def said(text: str) -> Message:
    """Return text for a model, as a message of the conversation."""
    return Message(role="user", content=(TextPart(text=text),))


def _without_form(agent: str, error: BadOutput) -> BadOutput:
    """Return the error of an agent without an answer in its form, for its caller."""
    who = f"The agent {agent!r}" if agent else "The caller"
    problem = f"{who} asked its model twice, and got no answer in the form asked for. {error.problem}"
    found = BadOutput(problem, fix="try again in other words or with another model, or do its part in another way.")
    found.said, found.whole = error.said, error.whole
    return found


def _unreadable_text(response: ModelResponse | None, error: BadOutput) -> str:
    """Return the text of an unreadable answer, empty if nothing of it is known."""
    if response is None:
        return error.said
    return response.text or ("" if response.output is None else json.dumps(response.output, ensure_ascii=False))


def _plain_words(text: str) -> str:
    """Return an answer in plain words; empty for the beginning of a form, or an announcement."""
    words = without_label(answered(text).strip())
    return "" if _FORM.search(words) or announces(words) else words


def _written_calls(calls: object) -> tuple[ToolCall, ...]:
    """Return the calls of a record, each readable or with its problem."""
    if not isinstance(calls, list):
        return ()
    return tuple(_written_call(one) for one in cast("list[object]", calls))


def _written_call(value: object) -> ToolCall:
    one: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
    name, arguments = one.get("name"), one.get("arguments", {})
    if isinstance(name, str) and name and isinstance(arguments, dict):
        return ToolCall(id="", name=name, arguments=cast("dict[str, Any]", arguments))
    shown = json.dumps(value, ensure_ascii=False, default=str)[:200]
    named = name if isinstance(name, str) and name else "unknown"
    return ToolCall(id="", name=named, arguments={}, unreadable=f"the call is not a name with arguments: {shown}")
