"""Parts: long values sent once and referred to by number afterwards, such as the messages of a conversation."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from tea.components.port import PortMessage
from tea.components.wire import from_wire
from tea.errors import BadArguments
from tea.types import JsonObject, JsonValue, Message, as_object

_LONG = 200  # characters of a value that is worth a number
_PART = "part"


class Packed:
    """The sender's end: the parts sent already, by their text."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def pack(self, message: JsonObject, say: Callable[[JsonObject], None]) -> JsonObject:
        """Return a message with numbers in place of the messages and long variables of a question to a model.

        Args:
            message: In the form of `to_wire`.
            say: Says a part for the first time.
        """
        if "model" not in message:
            return message
        question = as_object(message["model"])
        history = [self._number(one, say) for one in question["history"]]
        variables = {name: self._shortened(one, say) for name, one in as_object(question["variables"]).items()}
        return {"model": {**question, "history": history, "variables": variables}}

    def _shortened(self, value: JsonValue, say: Callable[[JsonObject], None]) -> JsonValue:
        """Return a variable as a list with itself, or with its number in an object if it is long."""
        long = len(json.dumps(value)) > _LONG
        return [{_PART: self._number(value, say)}] if long else [{"value": value}]

    def _number(self, value: JsonValue, say: Callable[[JsonObject], None]) -> int:
        text = json.dumps(value)
        if text not in self._numbers:
            self._numbers[text] = len(self._numbers)
            say({_PART: value})
        return self._numbers[text]


class Unpacked:
    """The receiver's end: the parts in the order of their coming; a message of a conversation is read once."""

    def __init__(self) -> None:
        self._parts: list[JsonValue] = []
        self._messages: dict[int, Message] = {}

    def take(self, part: JsonValue) -> None:
        """Store a further part."""
        self._parts.append(part)

    def message(self, data: JsonObject) -> PortMessage:
        """Return the message of a port in packed data.

        Raises:
            BadArguments: It is not a message.
        """
        if "model" not in data:
            return from_wire(data)
        try:
            question = dict(as_object(data["model"]))
            history = tuple(self._message(one) for one in cast("list[Any]", question.pop("history")))
            variables = {name: self._value(one) for name, one in as_object(question.pop("variables")).items()}
            found = from_wire({**data, "model": {**question, "variables": variables}})
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise BadArguments("This is not a question to a model.", fix="send what `pack` gives.") from error
        return cast(Any, found)._replace(history=history)

    def _value(self, packed: Any) -> JsonValue:
        (one,) = packed
        return self._parts[_index(one[_PART])] if _PART in one else one["value"]

    def _message(self, number: Any) -> Message:
        index = _index(number)
        if index not in self._messages:
            self._messages[index] = Message.model_validate_json(json.dumps(self._parts[index]), strict=True)
        return self._messages[index]


def _index(number: Any) -> int:
    """Return a number of a part; a negative one would count from the end."""
    if type(number) is not int or number < 0:
        raise IndexError(number)
    return number
