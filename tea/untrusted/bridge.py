"""Bridge: requests of an untrusted component to its run, answered by the port of its call within its rights."""

from __future__ import annotations

import json
from typing import cast

from tea.components.context import Context
from tea.components.port import AskPerson, Invocation, PortMessage, Question
from tea.components.wire import from_wire
from tea.errors import BadArguments, CallError, CallFailed, CallTimeout, Denied, RegistryError, TeaError, ToolError
from tea.types import JsonObject, JsonValue, as_object
from tea.untrusted.rights import FOR_ALL, refused

MOST_HEARD = 4_000_000  # characters of one answer
_MOST_NOTED = 50_000  # characters of all notes of one call
_NOTE = "said"
_GIVEN: dict[str, type[TeaError]] = {one.__name__: one for one in (BadArguments, CallFailed, CallTimeout, ToolError)}


class Bridge:
    """The answers to one call's questions.

    Args:
        context: The context of the call; its port holds each question to the policy.
        ref: What asks, in words for a person.
    """

    def __init__(self, context: Context, ref: str) -> None:
        self._context, self._ref = context, ref
        self._noted = 0

    async def hear(self, question: JsonObject) -> JsonObject:
        """Return the answer to a question, or why there is none.

        Raises:
            TeaError: The run cannot go on, for example since a person has to decide.
        """
        if "note" in question:
            self._note(_members(question["note"]))
            return {}
        try:
            value = await self._answered(from_wire(_members(question.get("message"))))
            if len(json.dumps(value)) > MOST_HEARD:
                raise ToolError("The answer is too long for a sandbox.", fix="ask for less.")
            answer: JsonObject = {"value": value}
        except (BadArguments, CallError, RegistryError) as error:
            answer = {"error": dict(error.record())}
        return {"number": question.get("number"), "answer": answer}

    async def _answered(self, message: PortMessage) -> JsonValue:
        """Return the answer of the port to a permitted message of an untrusted component."""
        match message:
            case Invocation():
                return (await self._context.port.call(message)).model_dump(mode="json")
            case Question():
                raise Denied(f"{self._ref} is not trusted, so it cannot ask a model.", fix="let an agent ask.")
            case AskPerson():
                asked = f"{self._ref}, which is not trusted, asks: {message.question}"
                return await self._context.port.serve(message._replace(question=asked))
            case _ if message.service in FOR_ALL:
                return await self._context.port.serve(message)
            case _:
                raise refused(message, self._ref)

    def _note(self, note: JsonObject) -> None:
        """Write a note under a kind of its own, to keep it apart from all notes of the platform."""
        said = {"kind": str(note.get("kind"))[:64], "data": note.get("data")}
        self._noted += len(json.dumps(said))
        if self._noted <= _MOST_NOTED:
            self._context.note(_NOTE, said)


def error_in(record: object, ref: str) -> TeaError:
    """Return the error given by a component, of a class allowed to components, told as its words.

    Args:
        record: What came: anything.
        ref: What gave it.
    """
    data = _members(record)
    made = _GIVEN.get(str(data.get("code")), CallFailed)
    problem, fix = (_line(data.get(name), most) for name, most in (("problem", 2_000), ("fix", 500)))
    told = f"{ref} says: {problem}" if problem else f"{ref} failed, and does not say why."
    return made(told, fix=f"{ref} says: {fix}" if fix else "look at its source.")


def _members(data: object) -> JsonObject:
    """Return the members of an object of any origin; none if it is not an object."""
    return as_object(cast(object, data)) if isinstance(data, dict) else {}


def _line(text: object, most: int) -> str:
    """Return a text as the line of an error, without characters refused by journals."""
    words = text if isinstance(text, str) else ""
    return words.encode("utf-8", "replace").decode()[:most]
