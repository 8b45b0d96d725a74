"""The offline model: a prompt's solver tool answers, so tea works on a machine without any key."""

from __future__ import annotations

import json

from tea.errors import Abstained
from tea.models.manager import CallTool, ModelConfig
from tea.types import DataPart, JsonObject, ModelRequest, ModelResponse, ToolCall, Usage, as_object

OFFLINE = ModelConfig(name="offline", provider="offline", prices={"input": 0.0, "output": 0.0})


class OfflineModel:
    """A model answering by a call of the prompt's solver with the request's variables; the rules are in the solver."""

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        """Return the solver's answer.

        Raises:
            Abstained: The prompt names no solver, or the solver cannot tell.
        """
        if request.solver is None:
            problem = f"No model is configured, and {request.prompt or 'this request'} has no offline solver."
            raise Abstained(problem, fix="`tea models add` one, or name one with --base-url.")
        response = await call_tool(request.solver, {**request.variables, "history": observations(request)})
        if response.error is not None:
            problem = f"The offline solver {request.solver} cannot tell: {response.error['problem']}"
            raise Abstained(problem, fix=response.error["fix"])
        text = json.dumps(response.value, ensure_ascii=False)
        answered = f"{response.ref}, no model"
        return ModelResponse(text=text, output=response.value, usage=Usage(usd=0.0), answered_by=answered)


def observations(request: ModelRequest) -> list[JsonObject]:
    """Return a solver's view of a conversation, oldest first: for each step its calls with their results.

    What a user says as data stands between the steps, as it is.
    """
    found: list[JsonObject] = []
    calls, results = dict[str, ToolCall](), list[JsonObject]()
    for message in request.messages:
        data = [as_object(part.data) for part in message.content if isinstance(part, DataPart)]
        if message.role == "assistant" and message.calls:
            calls, results = {one.id: one for one in message.calls}, []
            found.append({"step": 1 + sum("calls" in one for one in found), "calls": results})
        elif message.role == "tool" and (call := calls.get(message.call_id or "")) is not None:
            results += [{"name": call.name, "arguments": call.arguments, **one} for one in data]
        elif message.role == "user":
            found += data
    return found
