"""Test exported runs of models with functions: shapes for trainers, calls with results and definitions."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from dialects import Dialect, Say, said
from loopback import Loopback
from run_kit import home, record, run, started

from tea.runs.outcome import Outcome

SUM, BAD = ("own-1", "calculator", {"expression": "6 * 7"}), ("own-2", "calculator", {"expression": "1/0"})
DONE = ("own-3", "done", {"answer": "42"})
MORE, NOTED = ("own-4", "calculator", {"expression": "6 * 8"}), ("own-5", "note", {"fact": "It is 42."})


def checked_chat(line: dict[str, Any]) -> list[str]:
    """The roles of a training example, once its shape is as OpenAI's fine-tuning wants it."""
    assert {"messages"} <= line.keys() <= {"messages", "tools"}
    waiting: list[str] = []
    for one in line["messages"]:
        assert one.keys() <= {"role", "content", "tool_calls", "tool_call_id"}, one
        if one["role"] == "tool":
            waiting.remove(one["tool_call_id"])
        else:
            assert not waiting, "a call has no result"
            assert one["content"] or one.get("tool_calls"), one
        for call in one.get("tool_calls", ()):
            assert (one["role"], call.keys(), call["type"]) == ("assistant", {"id", "type", "function"}, "function")
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            assert call["function"]["name"] in [tool["function"]["name"] for tool in line["tools"]]
            waiting.append(call["id"])
    for tool in line.get("tools", ()):
        assert (tool["type"], tool["function"]["parameters"]["type"]) == ("function", "object")
    assert line["messages"][-1]["role"] == "assistant"
    return [one["role"] for one in line["messages"]]


def checked_turns(line: dict[str, Any]) -> list[str]:
    """The sides of a conversation, once they take turns as LLaMA-Factory wants it."""
    turns = line["conversations"]
    turns = turns[1:] if turns[0]["from"] == "system" else turns
    sides = [one["from"] for one in turns]
    assert set(sides[::2]) <= {"human", "observation"}
    assert set(sides[1::2]) <= {"gpt", "function_call"}
    assert len(sides) % 2 == 0
    for one in turns:
        assert one["value"]
        if one["from"] == "function_call":
            told = json.loads(re.sub(r"^<think>\n.*?\n</think>\n\n", "", one["value"], flags=re.DOTALL))
            calls = told if isinstance(told, list) else [told]
            assert all(call.keys() == {"name", "arguments"} for call in calls)
            assert {call["name"] for call in calls} <= {tool["name"] for tool in json.loads(line["tools"])}
    return sides


async def exported(folder: Path, outcome: Outcome, form: str) -> list[dict[str, Any]]:
    process = await started(folder, "trace", "export", outcome.run, "--format", form)
    out, err = await process.communicate()
    assert process.returncode == 0, err
    return [json.loads(line) for line in out.decode().splitlines()]


async def test_a_model_with_functions_is_exported_with_calls_results_and_definitions(
    dialect: Dialect, tmp_path: Path
) -> None:
    steps = Say(text="Both.", calls=(SUM, BAD, NOTED)), Say(), Say(text="Again.", calls=(MORE,)), Say(calls=(DONE,))
    async with Loopback(*(said(dialect, one) for one in steps)).open() as server:
        home(tmp_path, dialect, server.url, capabilities=["tools", "schema"])
        outcome = await run(tmp_path)
    assert outcome.answer == "42"
    (whole,) = await exported(tmp_path, outcome, "openai-chat")
    roles = ["system", "user", "assistant", *["tool"] * 3, "user", "assistant", "tool", "user", "assistant"]
    assert checked_chat(whole) == roles
    assert "could not be used" in whole["messages"][6]["content"]
    assert "It is 42." in whole["messages"][9]["content"]
    ends = whole["messages"][-1]["tool_calls"]
    assert [(one["function"]["name"], json.loads(one["function"]["arguments"])) for one in ends] == [DONE[1:]]
    assert [one["function"]["name"] for one in whole["tools"]] == ["calculator", "note", "done"]
    (turns,) = await exported(tmp_path, outcome, "sharegpt")
    assert checked_turns(turns)[-1] == "function_call"


@pytest.mark.parametrize("capabilities", [[], ["schema"]])
async def test_a_model_without_functions_is_exported_in_words(
    dialect: Dialect, capabilities: list[str], tmp_path: Path
) -> None:
    steps = Say(text=record(SUM[1:])), Say(text=record(DONE[1:]))
    async with Loopback(*(said(dialect, one) for one in steps)).open() as server:
        home(tmp_path, dialect, server.url, capabilities=capabilities)
        outcome = await run(tmp_path)
    (chat,) = await exported(tmp_path, outcome, "openai-chat")
    assert checked_chat(chat) == ["system", "user", "assistant", "user", "user", "assistant"]  # the memory comes last
    assert "tools" not in chat
    (talk,) = await exported(tmp_path, outcome, "sharegpt")
    assert checked_turns(talk) == ["human", "gpt", "human", "gpt"]


async def test_several_runs_are_exported_into_a_new_file_and_no_other_is_overwritten(
    dialect: Dialect, tmp_path: Path
) -> None:
    steps = Say(text=record(SUM[1:])), Say(text=record(DONE[1:]))
    async with Loopback(*(said(dialect, one) for one in steps * 2)).open() as server:
        home(tmp_path, dialect, server.url)
        first, second = await run(tmp_path), await run(tmp_path)
    out = tmp_path / "all.jsonl"
    process = await started(tmp_path, "trace", "export", first.run, second.run, "last", "--out", str(out))
    assert (await process.communicate(), process.returncode) == ((b"wrote 2 lines to all.jsonl\n", b""), 0)
    assert len([checked_chat(json.loads(line)) for line in out.read_text().splitlines()]) == 2
    before = out.read_bytes()
    process = await started(tmp_path, "trace", "export", "--out", str(out))
    told = (await process.communicate())[1]
    assert (process.returncode, b"already exists" in told, out.read_bytes()) == (2, True, before)
