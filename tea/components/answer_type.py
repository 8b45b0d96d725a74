"""The type of an agent's answers: its JSON Schema, and answers as values of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from tea.components.annotations import portable
from tea.components.json_schema import closed, schema_fault
from tea.components.operation import adapter, reasons
from tea.errors import BadComponent, BadOutput, words_of
from tea.types import JsonSchema, JsonValue

_ODD = (PydanticUserError, SchemaError, TypeError, NameError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerType:
    """A type of answers.

    Args:
        schema: Their JSON Schema.
        kind: Makes values of them; None where nothing but the schema is known.
    """

    schema: JsonSchema
    kind: TypeAdapter[Any] | None

    @classmethod
    def of(cls, output: Any) -> AnswerType | None:
        """Return the answer type of a pydantic-compatible type or a JSON Schema, None for None.

        Raises:
            BadComponent: It is neither.
        """
        if output is None:
            return None
        kind = None if isinstance(output, Mapping) else _adapter(output)
        try:
            schema = dict(cast("JsonSchema", output)) if kind is None else closed(kind.json_schema())
        except _ODD as error:
            raise _no_type(output, error) from error
        if fault := schema_fault(schema):
            raise BadComponent(f"`output` is not a usable JSON Schema: {fault}.", fix="correct it.")
        return cls(schema=schema, kind=kind)

    def read(self, answer: JsonValue) -> Any:
        """Return an answer as a value of the type.

        Raises:
            BadOutput: It is not a value of the type.
        """
        if self.kind is None:
            return answer
        try:
            return self.kind.validate_json(json.dumps(answer))
        except ValidationError as error:
            problem = f"The answer is not of the type that was declared: {reasons(error)}."
            raise BadOutput(problem, fix="declare what its JSON Schema allows, or ask again.") from error


def _adapter(output: Any) -> TypeAdapter[Any]:
    if isinstance(output, str):
        raise BadComponent(f"`output` is the text {output!r:.60}.", fix="give the type itself, or a JSON Schema.")
    try:
        return adapter(portable(output))
    except _ODD as error:
        raise _no_type(output, error) from error


def _no_type(output: Any, error: Exception) -> BadComponent:
    shown = getattr(output, "__name__", None) or repr(output)
    problem = f"`output` is {shown:.60}, which has no JSON Schema ({words_of(error)[:120]})."
    return BadComponent(problem, fix="give a dataclass, a model of pydantic, a typed dict, or for example list[int].")
