"""Answers of a wanted type: the type's schema goes to the provider, the answer is validated, and mended once."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from tea.errors import BadOutput
from tea.managers.model import CallTool, ModelManager
from tea.operation import reasons
from tea.types import Message, ModelRequest, ModelResponse, TextPart

T = TypeVar("T")
REPAIRS = 1
_REPAIR = "Your last answer could not be used: {problem} Answer again, with JSON that fits the schema and nothing else."


async def ask_for(
    models: ModelManager, kind: type[T], request: ModelRequest, call_tool: CallTool
) -> tuple[T, tuple[ModelResponse, ...]]:
    """Ask for a value of a type that pydantic knows, and return it with every answer that was paid for.

    Args:
        models: Who is asked.
        kind: The type.
        request: The question; its `output` is replaced by the type's schema.
        call_tool: Reaches a tool of the run.

    Raises:
        BadOutput: The mended answer does not fit either, or was refused.
        ProviderError: The model cannot be reached.
    """
    adapter = TypeAdapter(kind)
    asked = request.model_copy(update={"output": closed(adapter.json_schema())})
    answers: list[ModelResponse] = []
    while True:
        answer = await models.complete(asked, call_tool)
        answers.append(answer)
        try:
            return adapter.validate_json(answer.text), tuple(answers)
        except ValidationError as error:
            problem = answer.unusable or f"{reasons(error)}."
        if len(answers) > REPAIRS or answer.finish == "refusal":
            raise BadOutput(f"The answer is no {kind.__name__}: {problem}", fix="ask otherwise, or another model.")
        told = Message(role="user", content=(TextPart(text=_REPAIR.format(problem=problem)),))
        asked = asked.model_copy(update={"messages": (*asked.messages, answer.message(), told)})


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose objects have exactly the members they name, as providers want it to enforce it."""
    found = {name: _closed(value) for name, value in schema.items() if name != "default"}
    if "properties" in found:
        found |= {"additionalProperties": False, "required": list(found["properties"])}
    return found


def _closed(value: Any) -> Any:
    if isinstance(value, dict):
        return closed(cast("dict[str, Any]", value))
    return [_closed(one) for one in cast("list[Any]", value)] if isinstance(value, list) else value
