"""One question to a model inside an agent's loop, and the record that answers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tea.context import Context
from tea.errors import BadOutput
from tea.models.schema import closed
from tea.operation import reasons
from tea.types import JsonObject, JsonSchema, Message, ModelResponse, ReasoningPart, TextPart

T = TypeVar("T")

REPAIR = "Your last answer could not be used: {problem} Answer again, in exactly the form that was asked for."


class Call(BaseModel):
    """One call that a model wants made."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    name: str = Field(min_length=1)
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])


class StepRecord(BaseModel):
    """What a model thinks in one step, and what it wants done (paper, Appendix H)."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    thinking: str = ""
    evaluation: str = ""
    memory: str = ""
    next_goal: str = ""
    calls: tuple[Call, ...] = Field(min_length=1)
    reasoning: tuple[ReasoningPart, ...] = Field(default=(), exclude=True)  # to be given back, never said in words


async def consult(
    ctx: Context,
    prompt: str,
    variables: JsonObject,
    read: Callable[[ModelResponse], T],
    history: tuple[Message, ...] = (),
    *,
    model: str | None = None,
    output: JsonSchema | None = None,
) -> T:
    """Ask a model and read its answer; where it cannot be read, say why and ask once more.

    Args:
        ctx: What the agent may reach.
        prompt: Name of the prompt.
        variables: What its template is rendered with.
        read: Makes the wanted value of the response, or raises BadOutput.
        history: The conversation so far.
        model: Name of a model configuration; the run's own by default.
        output: JSON Schema of the answer, in place of the prompt's.

    Raises:
        BadOutput: The second answer cannot be read either.
    """
    try:
        return read(await ctx.ask(prompt, variables, history, model=model, output=output))
    except BadOutput as error:
        told = said(REPAIR.format(problem=error.problem))
    return read(await ctx.ask(prompt, variables, (*history, told), model=model, output=output))


async def ask_for(
    ctx: Context,
    kind: type[T],
    prompt: str,
    variables: JsonObject,
    history: tuple[Message, ...] = (),
    *,
    model: str | None = None,
) -> T:
    """Ask a model for a value of a type that pydantic knows; where the answer is none, say why and ask once more.

    The type's schema goes to the provider, which enforces it where it can; the answer is validated in any case.

    Args:
        ctx: What the agent may reach.
        kind: The type: a dataclass, a model of pydantic, or for example `list[int]`.
        prompt: Name of the prompt; its own output schema does not count.
        variables: What its template is rendered with.
        history: The conversation so far.
        model: Name of a model configuration; the run's own by default.

    Raises:
        BadOutput: The second answer is no such value either.
    """
    adapter = TypeAdapter(kind)

    def read(response: ModelResponse) -> T:
        try:
            return adapter.validate_python(response.output)
        except ValidationError as error:
            problem = f"The answer is no {getattr(kind, '__name__', kind)}: {reasons(error)}."
            raise BadOutput(problem, fix="ask otherwise, or another model.") from error

    return await consult(ctx, prompt, variables, read, history, model=model, output=closed(adapter.json_schema()))


def step_record(response: ModelResponse) -> StepRecord:
    """Read a step record, whether the model wrote it or called functions.

    Raises:
        BadOutput: The response holds none.
    """
    output: Any = response.output
    if response.calls:
        calls = [{"name": call.name, "arguments": call.arguments} for call in response.calls]
        known = cast("dict[str, Any]", output) if isinstance(output, dict) else {}
        output = {"thinking": response.text, **known, "calls": calls}
    if isinstance(output, dict):
        given = tuple(part for part in response.reasoning if part.data)
        output = {**cast("dict[str, Any]", output), "reasoning": given}
    try:
        return StepRecord.model_validate(output)
    except ValidationError as error:
        fix = "give a JSON object with thinking, evaluation, memory, next_goal and at least one call."
        raise BadOutput(f"It is no step record ({reasons(error)}); {fix}", fix=fix) from error


def said(text: str) -> Message:
    """Return words to a model, as a message of the conversation."""
    return Message(role="user", content=(TextPart(text=text),))
