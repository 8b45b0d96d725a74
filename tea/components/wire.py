"""Wire: the messages of a port and their answers as JSON, for a program in another process; see design/017."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

from tea.components.port import (
    REQUESTS,
    RESPONSES,
    Invocation,
    Port,
    PortMessage,
    Question,
    ServiceRequest,
    read,
    request_of,
)
from tea.components.unseen import UNSEEN
from tea.errors import BadArguments, ErrorRecord, TeaError, error_from
from tea.types import JsonObject, ModelResponse, Response

_KNOWN = frozenset((*REQUESTS.values(), *UNSEEN))
Send: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]


class WirePort:
    """The port of a program in another process than its run.

    Args:
        send: Sends a message to the run, and returns the answer to it.
    """

    def __init__(self, send: Send) -> None:
        self._send = send

    async def call(self, invocation: Invocation) -> Response:
        """Call another component."""
        return RESPONSES[invocation.kind].model_validate(await self._answer(invocation))

    async def serve(self, request: ServiceRequest) -> Any:
        """Send a request to a service of the run."""
        return await self._answer(request)

    async def model(self, question: Question) -> ModelResponse:
        """Ask a model."""
        return ModelResponse.model_validate(await self._answer(question))

    async def _answer(self, message: PortMessage) -> Any:
        """Return the value of the answer, or raise its error."""
        answer = await self._send(to_wire(message))
        if (error := answer.get("error")) is not None:
            raise error_from(cast(ErrorRecord, error))
        return answer["value"]


async def deliver(port: Port, data: JsonObject) -> JsonObject:
    """Deliver a message from another process to a port, and return the answer: a `value`, or an `error` as its record.

    Args:
        port: The port in the process of the run.
        data: The message, in the form of `to_wire`; it may be anything.
    """
    try:
        message = from_wire(data)
        match message:
            case Invocation():
                return {"value": (await port.call(message)).model_dump(mode="json")}
            case Question():
                return {"value": (await port.model(message)).model_dump(mode="json")}
            case _:
                return {"value": await port.serve(message)}
    except TeaError as error:
        return {"error": error.record()}


def to_wire(message: PortMessage) -> JsonObject:
    """Return a message as JSON: an object with the member `call`, `serve` or `model`.

    Raises:
        BadArguments: It is not a message of a port.
    """
    match message:
        case Invocation():
            return {"call": message._asdict()}
        case Question():
            history = [one.model_dump(mode="json") for one in message.history]
            return {"model": {**message._asdict(), "history": history}}
        case _ if type(message) in _KNOWN:
            return {"serve": {"service": message.service, "verb": message.verb, "data": message._asdict()}}
        case _:
            raise BadArguments(f"A run cannot serve a {type(message).__name__}.", fix="use the methods of the context.")


def from_wire(data: JsonObject) -> PortMessage:
    """Return the message for JSON in the form of `to_wire`.

    Raises:
        BadArguments: It is not a message; the error has one line.
    """
    match data:
        case {"call": fields, **others} if not others:
            return read(Invocation, "call", fields)
        case {"model": fields, **others} if not others:
            return read(Question, "model", fields)
        case {"serve": {"service": str() as service, "verb": str() as verb, "data": fields}, **others} if not others:
            return request_of(service, verb, fields)
        case _:
            raise BadArguments("This is not a message of a port.", fix="send one of `call`, `serve` and `model`.")
