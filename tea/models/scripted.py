"""Models for tests: one answering from a list, one answering from a function."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, cast

from tea.errors import InternalError, ProviderError, TeaError, words_of
from tea.models.manager import CallTool, ModelConfig
from tea.types import ModelRequest, ModelResponse

Reply = ModelResponse | Mapping[str, Any] | str


class ScriptedModel:
    """A model giving the replies it was made with, in order.

    Args:
        replies: Complete responses, structured outputs, or plain texts.
    """

    def __init__(self, replies: Iterable[Reply]) -> None:
        self._replies = list(replies)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        """Return the next reply.

        Raises:
            ProviderError: There is none left.
        """
        position = len(self.requests)
        self.requests.append(request)
        if position >= len(self._replies):
            problem = f"The scripted model has {len(self._replies)} replies and was asked once more."
            raise ProviderError(problem, fix="add a reply to the script.")
        return response_of(self._replies[position], config.name)


class FunctionModel:
    """A model answering each request with the result of a function.

    Args:
        function: Plain or async; returns a response, a structured output, or a text.
    """

    def __init__(self, function: Callable[[ModelRequest], Reply | Awaitable[Reply]]) -> None:
        self._function = function

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        """Return the function's result as a response.

        Raises:
            InternalError: The function raised anything but an error of tea, or returned something else than a reply.
        """
        name = getattr(self._function, "__qualname__", type(self._function).__name__)
        try:
            given = self._function(request)
            reply = cast(object, await given if isinstance(given, Awaitable) else given)
        except (TeaError, TimeoutError):
            raise
        except Exception as error:
            problem = f"The function {name} of the FunctionModel raised {words_of(error)}."
            raise InternalError(problem, fix="correct that function; it is not part of tea.") from error
        if not isinstance(reply, ModelResponse | Mapping | str):
            problem = f"The function {name} of the FunctionModel returned an object of type {type(reply).__name__}."
            raise InternalError(problem, fix="return a response, a mapping or a text.")
        return response_of(cast(Reply, reply), config.name)


def response_of(reply: Reply, name: str) -> ModelResponse:
    """Return a reply as a complete response."""
    if isinstance(reply, ModelResponse):
        return reply
    if isinstance(reply, str):
        return ModelResponse(text=reply, answered_by=name)
    return ModelResponse(text=json.dumps(reply, ensure_ascii=False), output=dict(reply), answered_by=name)
