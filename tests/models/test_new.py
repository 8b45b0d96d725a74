"""`tea new` with a model behind the wire: its output, and the counts of `tea tools usage` afterwards."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Say
from loopback import Loopback
from run_kit import home, tea
from wire_kit import NATIVE, Question, Script, call, ends, says

SOURCE = '''
from tea import ToolError, tool


@tool(effects="reads", idempotent=True, network=False)
async def reverse_words(text: str) -> str:
    """Put the words of a text in reverse order.

    Args:
        text: The text.

    Examples:
        >>> await reverse_words("a b")
        'b a'
    """
    if not text.strip():
        raise ToolError("There is no word.", fix="give some.")
    return " ".join(reversed(text.split()))
'''
CASES = [
    {"arguments": {"text": "one two three"}, "returns": "three two one"},
    {"arguments": {"text": "tea"}, "returns": "tea"},
    {"arguments": {"text": "é  ü"}, "returns": "ü é"},
    {"arguments": {"text": " "}, "fails": True},
]
SPEC: dict[str, Any] = {
    "name": "reverse_words",
    "description": "Put the words of a text in reverse order.",
    "parameters": [{"name": "text", "type": "str", "description": "The text."}],
    "returns": "str",
    "refuses": "a text without words",
    "plan": "Split, reverse, join.",
    "input": None,
    "files": [],
}
STAGES = {
    "Say which one tool": SPEC,
    "Say whether one of the candidates": {"use": "", "arguments": None, "why": "none"},
    "Write 4 to 8 tests": {"cases": CASES},
    "Write the described tool": {"source": SOURCE},
}


AGENT_STAGES = {
    "Write 2 to 4 tasks": {"tests": [{"task": "b a", "wanted": "a b"}, {"task": "2 1", "wanted": "1 2"}]},
    "Draft the agent as data": {
        "name": "turner",
        "description": "Put words in reverse order.",
        "instructions": "Put the words of the task in reverse order.",
        "tools": [],
        "agents": [],
        "environments": [],
    },
    "Say whether the answer holds": {"right": True, "why": "yes"},
}


def answer(question: Question) -> Say:
    """A model making the tool, and later calling it once in a run."""
    for words, value in (STAGES | AGENT_STAGES).items():
        if words in question.words:
            return Say(text=json.dumps(value, ensure_ascii=False))
    if "reverse_words" in question.functions and not question.results:
        return says(call("reverse_words", text="b a"))
    return ends("a b")


@pytest.mark.slow
async def test_a_tool_is_made_and_the_lines_to_trust_or_undo_it_are_printed(tmp_path: Path) -> None:
    script = Script(DIALECTS["openai_chat"], answer)
    async with Loopback(answer=script.answer).open() as server:
        home(tmp_path, script.dialect, server.url, capabilities=NATIVE)
        code, out, err = await tea(tmp_path, "new", "tool", "Put the words of a text in reverse order.")
        assert code == 0, err
        lines = out.splitlines()
        assert lines[0].startswith("made tool:reverse_words@1.0.0  sha256:")
        assert lines[1] == "  says of itself: Put the words of a text in reverse order."
        assert '  passed: text="one two three" -> "three two one"' in lines
        assert '  passed: text=" " -> an error' in lines
        assert 'to use it:   tea run "TASK" --tool reverse_words' in lines
        commands = ["tea show tool:reverse_words --source", "tea trust tool:reverse_words"]
        assert lines[-3:] == [
            f"to trust it: {commands[0]}",
            f"  after that: {commands[1]}",
            "to undo it:  tea unregister tool:reverse_words",
        ]
        unread, *printed = [await tea(tmp_path, *one.split()[1:]) for one in (commands[1], *commands)]
        assert unread[0] == 6
        assert "read `tea show tool:reverse_words@1.0.0 --source`" in unread[2]
        assert [code for code, _, _ in printed] == [0, 0]
        code, out, err = await tea(tmp_path, "run", "Put the words b a in reverse order.", "-q")
        assert (code, out) == (0, "a b\n"), err
        code, out, err = await tea(tmp_path, "tools", "usage", "--json")
        (one,) = json.loads(out)["tools"]
        assert (one["name"], one["calls"], one["failed"], one["runs"], one["well"], one["net"]) == (
            "reverse_words", 1, 0, 1, 1, None,
        )  # fmt: skip
        code, out, err = await tea(tmp_path, "tools", "usage")
        assert out.splitlines()[-1] == "1 of 1 used again"


@pytest.mark.slow
async def test_a_tool_made_in_a_run_is_named_at_its_end_with_the_command_that_shows_it(tmp_path: Path) -> None:
    script = Script(DIALECTS["openai_chat"], answer)
    async with Loopback(answer=script.answer).open() as server:
        home(tmp_path, script.dialect, server.url, capabilities=NATIVE)
        code, _, err = await tea(tmp_path, "run", "A tool for words in reverse order.", "--agent", "tool_generator")
        assert code == 0, err
        show = "tea show tool:reverse_words@1.0.0 --source"
        assert f"made: tool:reverse_words@1.0.0 (to trust it: {show})" in err.splitlines()
        assert (await tea(tmp_path, *show.split()[1:]))[0] == 0
        code, out, _ = await tea(tmp_path, "replay", "last", "--json")
        assert json.loads(out)["outcome"]["made"] == ["tool:reverse_words@1.0.0"]


async def test_a_description_of_files_without_any_says_so_before_the_first_question(tmp_path: Path) -> None:
    script = Script(DIALECTS["openai_chat"], lambda question: Say(text="{}"))
    async with Loopback(answer=script.answer).open() as server:
        home(tmp_path, script.dialect, server.url, capabilities=NATIVE)
        words = "Sum the amounts of orders.csv by month, and write them to totals.md."
        code, _, err = await tea(tmp_path, "new", "workflow", words)
    assert code != 0
    assert err.startswith("the description names orders.csv, and no file was given: give a file to try it on with")


@pytest.mark.slow
async def test_an_agent_is_used_by_the_printed_lines_in_their_order(tmp_path: Path) -> None:
    script = Script(DIALECTS["openai_chat"], answer)
    async with Loopback(answer=script.answer).open() as server:
        home(tmp_path, script.dialect, server.url, capabilities=NATIVE)
        code, out, err = await tea(tmp_path, "new", "agent", "Puts words in reverse order.")
        assert code == 0, err
        assert "--file" not in err
        for line in [one for one in out.splitlines() if " tea " in one and not one.startswith("to undo it")]:
            command = line.partition(" tea ")[2]
            code, said, err = await tea(tmp_path, *shlex.split(command.replace("TASK", "b a")))
            assert code == 0, (line, err)
        assert said == "a b\n"
