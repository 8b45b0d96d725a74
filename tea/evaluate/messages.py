"""Messages: the answer in a file of openai-chat messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tea.components.equality import text_of
from tea.errors import BadInput, TeaError
from tea.store.files import followed, parse_json_strict, read_regular
from tea.store.strict import Refused

_LIMIT = 64 * 2**20
_FORM = 'write a list of {"role": ..., "content": ...}, or an object with `messages`, as `tea trace export` does.'
DONE = "done"


def read_answer(path: Path, question: str = "") -> tuple[str, str]:
    """Return the answer of a conversation, and the task in words.

    The answer is what `done` was called with last, for the agents that end with it; else the last words of the
    assistant. A run that ended without success answers nothing.

    Args:
        path: A JSON file with messages, or JSON lines: a message each, or conversations, of which the last counts.
        question: The task in words; by default the first words of the user.

    Raises:
        BadInput: It cannot be read, or holds no messages.
    """
    try:
        data = read_regular(followed(path), _LIMIT)
    except (OSError, Refused) as error:
        raise BadInput(f"The trace {str(path)[-80:]!r} cannot be read.", fix="name a file of messages.") from error
    messages = _messages(data, path)
    asked = next((_words(one) for one in messages if one.get("role") == "user"), "")
    return answer_of(messages), question or asked


def answer_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the answer of a conversation, empty if it has none."""
    for one in reversed(messages):
        if one.get("role") != "assistant":
            continue
        for name, arguments in reversed(list(_calls(one))):
            if name.rpartition(".")[2] == DONE:
                return text_of(arguments.get("answer")) if arguments.get("success", True) is not False else ""
        if words := _words(one).strip():
            return words
    return ""


def _messages(data: bytes, path: Path) -> list[Mapping[str, Any]]:
    try:
        found = [parse_json_strict(data, "it")]
    except TeaError:
        try:
            found = [parse_json_strict(line, "a line") for line in data.splitlines() if line.strip()]
        except TeaError as error:
            problem = f"The trace {str(path)[-80:]!r} is not JSON: {error.problem}"
            raise BadInput(problem, fix=_FORM) from error
    one = found[-1] if found else None
    if isinstance(one, Mapping) and "messages" in one:
        one = cast("Mapping[str, Any]", one)["messages"]
    messages = cast("list[Any]", one if isinstance(one, list) else found)
    if not messages or not all(isinstance(it, Mapping) and "role" in it for it in messages):
        raise BadInput(f"The trace {str(path)[-80:]!r} does not contain messages.", fix=_FORM)
    return messages


def _words(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = cast("list[Any]", content) if isinstance(content, list) else []
    return "".join(str(cast("Mapping[str, Any]", one).get("text", "")) for one in parts if isinstance(one, Mapping))


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for call in cast("list[Any]", message.get("tool_calls") or ()):
        function = cast("Mapping[str, Any]", call).get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            continue
        named = cast("Mapping[str, Any]", function)
        try:
            arguments = json.loads(str(named.get("arguments") or "{}"))
        except ValueError:
            arguments = None
        yield str(named.get("name")), cast("Mapping[str, Any]", arguments) if isinstance(arguments, Mapping) else {}
