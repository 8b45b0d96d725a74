"""Named files: those named by an end of a task, looked up in the workspace."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import cast

from tea.components.context import Context
from tea.loop.checks import evidence_in
from tea.loop.claims import file_names, looked_up
from tea.loop.observation import Observation
from tea.types import JsonObject, JsonValue, Task, as_text


@dataclass(slots=True)
class NamedFiles:
    """The files named by a proposed end, and not known from the run.

    Args:
        task: What was asked.
        missing: Those not in the workspace.
        made: Those in the workspace, without the given ones.
    """

    task: Task
    missing: set[str] = field(default_factory=set[str])
    made: set[str] = field(default_factory=set[str])

    async def look(
        self, ctx: Context, arguments: JsonValue, words: str, held: str, knows: Callable[[str], bool]
    ) -> None:
        """Look up the files named by a proposed end.

        Args:
            ctx: What the agent may reach.
            arguments: What `done` gave, or words that are to be the answer.
            words: The task in words.
            held: Words refused before.
            knows: Tells whether the run has read or written a file.
        """
        given: JsonObject = {"answer": arguments, "evidence": []}
        value = cast("JsonObject", arguments) if isinstance(arguments, dict) else given
        asked = set(file_names(words))
        stripped = [one.source.strip() for one in evidence_in(value)]
        named = [name for name in stripped if name in file_names(name)]
        named += [name for name in file_names(f"{as_text(value['answer'])}\n{held}") if name in asked]
        there = await looked_up(ctx, [name for name in named if not knows(name)])
        self.missing = {name for name, is_there in there.items() if not is_there}
        self.made = {name for name, is_there in there.items() if is_there and not self._was_given(name)}

    def claimed(self, answer: JsonValue, words: str) -> list[str]:
        """Return the missing files named by the words of the task and by its answer."""
        return sorted(self.missing & set(file_names(as_text(answer))) & set(file_names(words)))

    def unwritten(self, answer: JsonValue, words: str, results: Iterable[Observation]) -> list[str]:
        """Return the missing files claimed by a text; files named by failed calls do not count as claimed."""
        sought = [json.dumps(one.arguments, ensure_ascii=False) for one in results if not one.ok]
        return [name for name in self.claimed(answer, words) if not any(name in one for one in sought)]

    def _was_given(self, name: str) -> bool:
        """Return whether a file of the workspace is one of the task's, or was unpacked from one."""
        return any(name == one or name.startswith(f"{one}.d/") for one in self.task.files)
