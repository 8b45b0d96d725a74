"""Test what a source says of other components, and that it is read from the source once."""

from pathlib import Path

import pytest

from tea.source.cache import SourceCache
from tea.source.mentions import Mentions
from tea.source.text import ParsedFile

SOURCE = '''
from tea import Agent, Context, Result, Task, work


class Many(Agent):
    """The planner is only told of here."""

    tools = ("calculator", "tool:first@1.0.0")

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        return await work(ctx, task, prompt="analyzer")
'''


def test_names_are_told_by_their_place_and_words_are_not() -> None:
    found = Mentions.of(SOURCE, SourceCache())
    assert (found.has_context, found.works) == (True, True)
    assert [str(one.ref) for one in found.texts] == ["tool:calculator", "tool:first@1.0.0", "prompt:analyzer"]


def test_a_source_is_parsed_once_in_the_life_of_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Mentions.of(SOURCE, SourceCache(tmp_path))
    monkeypatch.setattr(ParsedFile, "outline", None)  # nothing is parsed any more
    assert Mentions.of(SOURCE, SourceCache(tmp_path)) == first
