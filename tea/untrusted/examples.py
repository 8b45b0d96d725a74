"""Examples: those in a component's docstrings, executed in the place of the component."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from tea.components.definition import Definition
from tea.components.operation import Example
from tea.errors import TeaError, words_of
from tea.types import JsonObject

_MOST_SHOWN = 500


async def trials(definition: Definition) -> list[JsonObject]:
    """Execute a component's examples, each operation's in a fresh instance under the component's name.

    Args:
        definition: A tool or an environment; an agent has none.

    Returns:
        Of each its `call`, what was `wanted`, what was `found` and whether that is `ok`.
    """
    found: list[JsonObject] = []
    for _, operation in sorted(definition.operations.items()):
        names = {} if definition.create is None else {definition.name: definition.create()}
        found += [await _tried(example, names) for example in operation.signature.examples]
    return found


async def _tried(example: Example, names: dict[str, Any]) -> JsonObject:
    from doctest import ELLIPSIS, OutputChecker

    said = await _outcome(example.call, names)
    fits = OutputChecker().check_output(f"{example.result}\n", f"{said}\n", ELLIPSIS)
    return {
        "call": example.call[:_MOST_SHOWN],
        "wanted": example.result[:_MOST_SHOWN],
        "found": said[:_MOST_SHOWN],
        "ok": fits,
    }


async def _outcome(call: str, names: dict[str, Any]) -> str:
    """Return the value of a call as a prompt would show it, or its error."""
    try:
        code = compile(call, "<example>", "eval", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        value = eval(code, names)  # within the walls of a sandbox
        value = await value if inspect.isawaitable(value) else value
        return "" if value is None else repr(value)
    except TeaError as error:
        return f"Traceback (most recent call last):\n{type(error).__module__}.{type(error).__name__}: {error}"
    except Exception as error:
        return f"Traceback (most recent call last):\n{words_of(error)}"
