"""Written files: texts written by hand by an agent, and results without more than these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Protocol, cast

from tea.loop.checks import standing_in
from tea.loop.observation import Observation
from tea.loop.window import Window
from tea.models.rendering import rendered
from tea.types import JsonObject, JsonValue

_READ_BY_PERSONS = ("", ".csv", ".json", ".md", ".rst", ".tsv", ".txt")  # numbers of code or a page are often its own
_WHOLE = "_write"  # the action that replaces a file


class Functions(Protocol):
    """The functions of an agent, as its end is judged by them."""

    def runs(self) -> tuple[bool, bool]:
        """Return whether open functions run code, and whether they run queries."""
        ...

    def written_by(self, outcome: Observation) -> JsonObject | None:
        """Return the arguments of a call changing a file of the workspace, None for another."""
        ...

    def reads(self, name: str) -> bool:
        """Return whether calls of a name change nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Written:
    """The files written by hand by an agent.

    Args:
        window: The results of its calls.
        functions: Tell which calls wrote a file.
    """

    window: Window
    functions: Functions

    @property
    def silent(self) -> set[str]:
        """Ids of the results showing nothing: of writing calls, and of hand-written texts read back."""
        results = self.window.results
        texts = texts_of(results.values(), self.functions)
        return {*results} - {one.id for one in shown(results.values(), texts, self.functions)}

    def unknown(self, numbers: Callable[[str], list[str]]) -> dict[str, list[str]]:
        """Return the unfounded numbers of files for persons, by the names of the files.

        Args:
            numbers: Returns such numbers of a text.
        """
        texts = texts_of(self.window.results.values(), self.functions)
        found = {name: numbers(text) for name, text in texts.items() if PurePath(name).suffix in _READ_BY_PERSONS}
        return {name: of_it for name, of_it in found.items() if of_it}


def texts_of(results: Iterable[Observation], functions: Functions) -> dict[str, str]:
    """Return the texts written by hand, by the names of their files.

    Args:
        results: What calls gave, in their order.
        functions: Tell which of them wrote a file.
    """
    found = dict[str, str]()
    for one in results:
        given = functions.written_by(one) if one.ok else None
        name, text, old, new = (given.get(each) for each in ("name", "text", "old", "new")) if given else [None] * 4
        if not isinstance(name, str):
            continue
        kept = found.get(name, "")
        if isinstance(text, str):
            found[name] = text if one.name.endswith(_WHOLE) else kept + text
        elif isinstance(old, str) and isinstance(new, str):
            found[name] = kept.replace(old, new) if old in kept else f"{kept}\n{new}"
    return found


def shown(results: Iterable[Observation], texts: Mapping[str, str], functions: Functions) -> list[Observation]:
    """Return the results showing anything, but for writing calls and hand-written texts read back.

    Args:
        results: What calls gave.
        texts: The texts written by hand, by the names of their files.
        functions: Tell which calls wrote a file.
    """
    tests = {name: standing_in(text) for name, text in texts.items()}
    read = [one for one in results if functions.written_by(one) is None]
    return [
        one
        for one in read
        if not any(tests[name](_content(one.value)) for name in tests if _names(one.arguments, name))
    ]


def _content(value: JsonValue) -> str:
    """Return the content of a file in a result, without its size and the like."""
    if not isinstance(value, Mapping):
        return rendered(value)
    members = cast("Mapping[str, Any]", value)
    return rendered(members.get("text", members.get("rows", value)))


def _names(arguments: JsonObject, name: str) -> bool:
    """Return whether arguments name a file, alone or in a list."""
    return any(one == name or (isinstance(one, list) and name in one) for one in arguments.values())
