"""Form: an answer read in the form wanted by its task."""

from __future__ import annotations

import json
import re
from typing import Any

from tea.components.json_schema import schema_fault, value_faults
from tea.components.lossless import lossless
from tea.errors import BadTask
from tea.models.format import braced
from tea.types import JsonObject, JsonSchema, JsonValue, Task

_FENCED = re.compile(r"```\w{0,10}[^\S\n]*\n(.*?)```", re.DOTALL)


def read_as(schema: JsonSchema, answer: JsonValue) -> JsonValue:
    """Return an answer in the types of its schema, if the conversion is lossless."""
    inner = {name: one for name, one in schema.items() if name != "$defs"}
    whole: JsonSchema = {"type": "object", "properties": {"answer": inner}, "required": ["answer"]}
    if "$defs" in schema:
        whole["$defs"] = schema["$defs"]
    return lossless(whole, {"answer": answer})["answer"]


def formed(text: str, schema: JsonObject) -> JsonValue:
    """Return text as a value of the expected form, if it contains one; else its fenced value, or the text."""
    fenced = _FENCED.search(text)
    given: JsonValue = text
    for candidate in (braced(text), *([fenced[1]] if fenced else ()), text):
        try:
            value: Any = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        given = value if candidate != text or not isinstance(value, str) else text
        if not value_faults(dict(schema), read_as(dict(schema), value)):
            return value
    return given


def holds_form(task: Task) -> bool:
    """Return whether `done` is offered with the form of the answer; a reference would lead elsewhere in its schema."""
    return task.answer is not None and "$ref" not in json.dumps(task.answer)


def with_declared_form(task: Task, declared: JsonObject) -> Task:
    """Return a task with the answer form declared by its agent, if it has none of its own.

    Raises:
        BadTask: The form cannot be used.
    """
    if task.answer is None and declared.get("output"):
        task = task.model_copy(update={"answer": declared["output"]})
    if task.answer is not None and (fault := schema_fault(task.answer)):
        raise BadTask(f"The schema of the wanted answer cannot be used: {fault}.", fix="correct `answer`.")
    return task
