"""Test `tea transform`, and an agent's memory, through the command line."""

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tea.cli.person import AtTerminal

from .conftest import Tea

KEEPER = '''
from tea import Agent, Context, Result, Task


class Keeper(Agent):
    """Keep the last task."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Keep."""
        await ctx.state.save(task.text, lasting=True)
        return Result(answer=task.text)
'''


def test_components_become_others_and_are_used_from_the_line(tea: Tea) -> None:
    made = tea("transform", "A2T", "agent:analyzer", "--name", "ask_files", "--description", "Ask files.")
    assert made.out == "tool:ask_files@1.0.0  Ask files.\n"
    assert tea("list", "tools").out.count("tool:ask_files") == 1
    shared = tea("transform", "t2e", "calculator", "--name", "desk", "-o", 'shared={"expression": "1 + 1"}', "--json")
    assert [one["ref"] for one in shared.data["made"]] == ["environment:desk@1.0.0"]
    assert json.loads(shared.data["made"][0]["recipe"])["transform"] == "T2E"
    assert tea("call", "desk#calculator").out == "2\n"
    tea("transform", "T2A", "calculator", "--name", "sums", "--prompt", "planner", "--follow")
    assert tea("run", "-q", "What is 17 * 3?", "--agent", "sums").out == "51\n"
    assert tea("replay", "last").code == 0


def test_a_trace_shows_a_call_that_was_refused_before_anything_was_called(tea: Tea) -> None:
    tea("transform", "T2A", "todo", "--name", "sums", "--prompt", "planner")
    assert tea("run", "-q", "What is 17 * 3?", "--agent", "sums").code == 1
    why = "UnknownComponent: Nothing to call is named 'calculator'."
    refused = f'refused calculator({{"expression": "17 * 3"}}) -> {why}'
    assert [line.strip() for line in tea("trace", "last").out.splitlines()].count(refused) == 1


def test_calls_of_one_session_find_what_the_earlier_ones_kept(tea: Tea) -> None:
    tea("transform", "T2E", "calculator", "--name", "desk", "-o", 'shared={"expression": "1 + 1"}')
    assert tea("call", "desk#calculator", "expression=3 + 4", "--session", "monday").out == "7\n"
    assert tea("call", "desk#calculator", "--session", "monday").out == "7\n"
    assert tea("state", "desk", "--session", "monday", "--json").data["value"]["variables"] == {"expression": "3 + 4"}
    assert tea("call", "desk#calculator").out == "2\n"
    assert tea("call", "desk#calculator", "--session", "tuesday").out == "2\n"


def test_a_toolkit_with_the_names_of_another_is_refused_with_what_has_them(tea: Tea) -> None:
    tea("transform", "E2T", "environment:workspace")
    refused = tea("transform", "E2T", "environment:git", "--name", "workspace")
    assert refused.code == 2
    assert refused.err == (
        "tea: tool:workspace_diff is something else already, made by E2T of environment:workspace@1.0.0#diff. "
        "Fix: give `name`, or unregister tool:workspace_diff first.\n"
    )
    assert tea("list", "tools").out.count("tool:workspace_clone") == 0


def test_saving_a_recipe_says_what_it_is_made_of_and_the_file_lacks(tea: Tea, tmp_path: Path) -> None:
    tea("transform", "T2E", "calculator", "--name", "desk")
    tea("transform", "E2T", "desk")
    saved = tea("save", "some.json", "tool:desk_calculator")
    assert (saved.code, saved.out) == (0, "saved 1 component to some.json\n")
    (line,) = saved.err.splitlines()
    assert line.endswith("save these refs too: environment:desk tool:calculator")
    data = tea("save", "some.json", "environment:desk", "--json").data
    assert (data["components"], data["missing"]) == (["environment:desk"], ["tool:calculator"])
    whole = tea("save", "whole.json", "tool:desk_calculator", *line.rpartition(": ")[2].split())
    assert (whole.out, whole.err) == ("saved 3 components to whole.json\n", "")
    assert tea("save", "all.json", "--json").data["missing"] == []
    home = ("--home", tmp_path / "elsewhere")
    tea("load", "whole.json", *home)
    for ref in ("tool:desk_calculator", "environment:desk", "tool:calculator"):
        tea("show", ref, "--source", *home)
        tea("trust", ref, *home)
    assert tea("call", "desk_calculator", "expression=17 * 3", *home).out == "51\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["A2B", "planner"], "not a transformation"),
        (["A2T", "nobody"], "nobody"),
        (["A2T", "planner", "-o", "follow"], "NAME=JSON"),
        (["A2T", "planner", "-o", "name=x", "--name", "y"], "twice"),
        (["T2E", "calculator", "-o", "shared={"], "shared"),
        (["T2E", "calculator", "todo"], "needs a name"),
        (["A2T", "planner", "--name", "calculator"], "something else"),
        (["A2T", "planner", "-o", "speed=3"], "speed"),
    ],
)
def test_a_transformation_that_cannot_be_says_so_and_writes_nothing(tea: Tea, arguments: list[str], words: str) -> None:
    before = tea.files()
    tea("transform", *arguments).refused(2, words)
    assert tea.files() == before


def test_the_state_of_an_agent_can_be_looked_at(tea: Tea) -> None:
    tea("register", tea.write("keeper.py", KEEPER))
    assert tea("state", "keeper").out == "null\n"
    tea("run", "-q", "Remember me.", "--agent", "keeper")
    assert tea("state", "agent:keeper").out == "Remember me.\n"
    assert tea("state", "keeper", "--session", "other", "--json").data["state"] is None


async def answered(typed: bytes, choices: Sequence[str]) -> Any:
    source, sink = os.pipe()
    try:
        os.write(sink, typed)
        os.close(sink)
        return await asyncio.wait_for(AtTerminal(source)("Which?", choices), 5)
    finally:
        os.close(source)


@pytest.mark.parametrize(
    ("typed", "choices", "answer"),
    [
        (b"some tea\n", (), "some tea"),
        ("Grün\n".encode(), (), "Grün"),
        (b"b\n", ("a", "b"), "b"),
        (b"", (), None),
        (b"cut", (), "cut"),
    ],
)
async def test_the_person_at_the_terminal_is_asked(
    typed: bytes, choices: Sequence[str], answer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await answered(typed, choices) == answer
    assert "Which?" in capsys.readouterr().err


async def test_a_person_is_asked_again_until_they_choose(capsys: pytest.CaptureFixture[str]) -> None:
    assert await answered(b"c\nb\n", ("a", "b")) == "b"
    assert capsys.readouterr().err.count("[a / b]") == 2
