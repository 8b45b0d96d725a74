"""TestModel: a model for tests to drive any agent without a script."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, cast

from tea.models.manager import CallTool, ModelConfig
from tea.testing.samples import sample
from tea.types import DataPart, JsonObject, JsonValue, Message, ModelRequest, ModelResponse, ToolCall

DONE = "done"
_OWN = frozenset({DONE, "note", "plan", "draft", "read_result", "find_tools"})  # what the loop itself offers
_MOST_CALLS = 4
_CALLS = "calls"


class TestModel:
    """A model calling an agent's functions with made-up valid arguments, then ending with a made-up valid answer.

    Each function on offer is called once in a conversation, a few in a step, but for what belongs to the loop; then
    `done` is. A question for anything else is answered with a value that fits its schema. The same questions always get
    the same answers.

    Args:
        call_tools: Names of the functions to call, in that order; all of them by default.
        answer: What `done` is called with; made up by default.
        seed: 0 for the smallest values that fit; any other for others.

    Examples:
        >>> TestModel(call_tools=["calculator"], answer=42).seed
        0
    """

    __test__ = False  # no test, whatever its name begins with

    def __init__(
        self, *, call_tools: Literal["all"] | Sequence[str] = "all", answer: JsonValue = None, seed: int = 0
    ) -> None:
        self.requests: list[ModelRequest] = []
        self.seed = seed
        self._call_tools, self._answer = call_tools, answer
        self._delegated: set[str] = set()

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        """Return the calls of the next step, or the requested value.

        Raises:
            BadInput: No value was found that fits a schema.
        """
        self.requests.append(request)
        offered = {str(one["name"]): one for one in request.tools}
        wanted = self._wanted(request, offered)
        if wanted:
            return self._calling(request, {name: self._arguments(request, offered[name]) for name in wanted}, config)
        if DONE in offered:
            return self._calling(request, {DONE: self._ending(request, offered[DONE])}, config)
        if request.output is None:
            return ModelResponse(text=str(self._sample({"type": "string"}, "text")), answered_by=config.name)
        value = self._sample(request.output, "output")
        return ModelResponse(text=json.dumps(value, ensure_ascii=False), output=value, answered_by=config.name)

    def _wanted(self, request: ModelRequest, offered: Mapping[str, JsonObject]) -> list[str]:
        """Return the functions to call in this step; empty if the next step would be the last."""
        made = Counter(_called(request.messages))
        steps = sum(message.role == "assistant" for message in request.messages)
        most = request.variables.get("max_steps")
        if isinstance(most, int) and steps + 1 >= most:
            return []
        names = [one for one in offered if one not in _OWN] if self._call_tools == "all" else self._call_tools
        left = [name for name in dict.fromkeys(names) if name in offered and not made[name]]
        if request.variables.get("task") in self._delegated:  # agents that offer each other would never end
            left = [name for name in left if name not in _agents(request)]
        return left[: min(_MOST_CALLS, request.variables.get("max_calls") or _MOST_CALLS)]

    def _arguments(self, request: ModelRequest, function: JsonObject) -> dict[str, Any]:
        name = str(function["name"])
        found = cast("dict[str, Any]", self._sample(dict(function["parameters"]), name))
        if name in _agents(request):
            self._delegated.add(str(found.get("task", "")))
        return found

    def _ending(self, request: ModelRequest, done: JsonObject) -> dict[str, Any]:
        """Return the arguments for `done`."""
        parameters = cast("dict[str, Any]", done["parameters"])
        shown = cast("dict[str, Any]", parameters.get("properties", {}))
        good: dict[str, Any] = {"success": True, "reason": "", "evidence": []}
        given = {key: value for key, value in good.items() if key in shown}
        needed = [key for key in parameters.get("required", ()) if key not in (*given, "answer")]
        given |= {key: self._sample(_inside(parameters, shown.get(key, {})), key) for key in needed}
        schema = request.variables.get("answer") or _inside(parameters, shown.get("answer", {}))
        return {"answer": self._sample(schema, "answer") if self._answer is None else self._answer, **given}

    def _calling(
        self, request: ModelRequest, calls: Mapping[str, dict[str, Any]], config: ModelConfig
    ) -> ModelResponse:
        step = len(request.messages)
        made = [
            ToolCall(id=f"call_{step}_{number}", name=name, arguments=calls[name]) for number, name in enumerate(calls)
        ]
        return ModelResponse(calls=tuple(made), finish="calls", answered_by=config.name)

    def _sample(self, schema: Mapping[str, Any], what: str) -> JsonValue:
        return sample(dict(schema), self.seed and f"{self.seed}/{what}")


def _called(messages: Iterable[Message]) -> list[str]:
    """Return the names of all calls in a conversation, made as functions or in records."""
    names: list[str] = []
    for message in messages:
        names += [call.name for call in message.calls]
        data = [part.data for part in message.content if isinstance(part, DataPart) and message.role == "assistant"]
        records = [cast("dict[str, Any]", one) for one in data if isinstance(one, dict)]
        names += [str(call["name"]) for one in records for call in one.get(_CALLS, ())]
    return names


def _agents(request: ModelRequest) -> set[str]:
    return {str(one["name"]) for one in request.variables.get("agents") or ()}


def _inside(parameters: JsonObject, part: Any) -> dict[str, Any]:
    """Return a part of a schema with the definitions it may refer to, usable on its own."""
    held = {key: parameters[key] for key in ("$defs", "definitions") if key in parameters}
    return {**held, **part} if isinstance(part, dict) else held
