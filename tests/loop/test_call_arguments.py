"""Test arguments of calls as they were meant, and the notes on changes in them."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, observations, step

from tea import tool
from tea.loop.call_arguments import as_meant
from tea.types import JsonObject

PAGE: JsonObject = {"url": "http://127.0.0.1/a"}
TEXT: JsonObject = {"type": "string"}


def schema(*needed: str, **others: Any) -> JsonObject:
    properties = {**dict.fromkeys(needed, TEXT), **others}
    return {"type": "object", "properties": properties, "required": [*needed], "additionalProperties": False}


FETCH = schema("url", find=TEXT, offset={"type": "integer"})
QUERY = schema("sql", files={"type": "array", "items": TEXT})
MAIL = schema("to", "subject", "body")
WRITE = schema("name", "text", replace={"type": "boolean"})
RUN = schema("code", timeout={"type": "number"})


@pytest.mark.parametrize(
    "given",
    [
        {"arguments": PAGE},
        {"arguments": json.dumps(PAGE)},
        {"input": PAGE},
        {"parameters": PAGE},
        {"name": "fetch_page", "parameters": PAGE},
        {"type": "object", "properties": PAGE},
        {"type": "object", "properties": PAGE, "required": ["url"]},
    ],
)
@pytest.mark.parametrize("effects", ["reads", "writes", "external", "irreversible", ""])
def test_arguments_are_taken_out_of_a_wrapper(given: JsonObject, effects: str) -> None:
    assert as_meant("fetch_page", FETCH, given, effects=effects) == (PAGE, "")


def test_arguments_beside_a_wrapper_stay_with_those_inside() -> None:
    found, note = as_meant("table_query", QUERY, {"files": ["a.csv"], "arguments": {"sql": "SELECT 1"}})
    assert (found, note) == ({"files": ["a.csv"], "sql": "SELECT 1"}, "")


@pytest.mark.parametrize(
    "given",
    [
        {"type": "object", "properties": {"url": {"type": "string"}}},
        {"arguments": PAGE, "input": PAGE},
        {"arguments": PAGE, "url": "http://127.0.0.1/b"},
        {"arguments": {"expression": 1}},
        {"arguments": '{"url": '},
        {"timeout": 30},
        {"explanation": "I need the page"},
        {"language": "en"},
        {"address": "http://127.0.0.1/a", "page": "http://127.0.0.1/b"},
        {},
    ],
)
def test_arguments_without_one_clear_meaning_stay(given: JsonObject) -> None:
    assert as_meant("fetch_page", FETCH, given, effects="reads") == (given, "")


def test_a_parameter_called_like_a_wrapper_is_none() -> None:
    form = schema("input", options={"type": "object"})
    given = {"input": '{"input": "x"}'}
    assert as_meant("echo", form, given, effects="reads")[0] is given
    open_ = {"type": "object", "properties": {"url": TEXT}}
    given = {"arguments": PAGE}
    assert as_meant("fetch_page", open_, given, effects="reads")[0] is given


def test_what_no_parameter_takes_is_left_out_of_a_reading_call_with_a_note() -> None:
    found, note = as_meant("fetch_page", FETCH, {**PAGE, "retries": 30, "explanation": "why"}, effects="reads")
    assert (found, note) == (PAGE, "left out, as fetch_page has no such parameter: `retries`, `explanation`")
    found, note = as_meant("fetch_page", FETCH, {"arguments": {**PAGE, "retries": 30}}, effects="reads")
    assert (found, note) == (PAGE, "left out, as fetch_page has no such parameter: `retries`")


def test_a_writing_call_loses_only_what_says_nothing_of_it() -> None:
    write = {"name": "a.txt", "text": "x"}
    found, note = as_meant("workspace_write", WRITE, {**write, "explanation": "why", "mode": "write"}, effects="writes")
    assert (found, note) == (write, "left out, as workspace_write has no such parameter: `explanation`, `mode`")
    for more in ({"mode": "append"}, {"overwrite": False}, {"at": 3}):
        given = {**write, **more}
        assert as_meant("workspace_write", WRITE, given, effects="writes") == (given, "")


def test_a_call_with_effects_elsewhere_loses_nothing() -> None:
    mail = {"to": "a@example.org", "subject": "Hi", "body": "x"}
    for more in ({"explanation": "why"}, {"cc": "b@example.org"}, {"mail": "x"}):
        for effects in ("external", "irreversible", ""):
            given = {**mail, **more}
            assert as_meant("mail_send", MAIL, given, effects=effects) == (given, "")
    given = {"to": "a@example.org", "subject": "Hi", "cc": "b@example.org"}
    for effects in ("external", "writes"):
        assert as_meant("mail_send", MAIL, given, effects=effects) == (given, "")


def test_the_only_unknown_text_stands_for_the_only_needed_parameter() -> None:
    found, note = as_meant("fetch_page", FETCH, {"address": PAGE["url"], "offset": 5}, effects="reads")
    assert (found, note) == ({**PAGE, "offset": 5}, "`address` was read as `url`")
    found, note = as_meant("shell_python", RUN, {"input": "print(1)", "language": "python"}, effects="writes")
    assert found == {"code": "print(1)"}
    assert note == "`input` was read as `code`; left out, as shell_python has no such parameter: `language`"
    given = {"input": "print(1)"}
    assert as_meant("shell_python", RUN, given, effects="external") == (given, "")


def test_a_text_said_twice_is_none_too_many() -> None:
    def complete(given: JsonObject) -> JsonObject:
        return {"files": ["big.csv"], **given}

    given = {"q": "SELECT 1", "table": "big.csv"}
    form = {**QUERY, "required": ["files", "sql"]}
    found, note = as_meant("table_query", form, given, effects="reads", complete=complete)
    assert found == {"files": ["big.csv"], "sql": "SELECT 1"}
    assert note == "`q` was read as `sql`; left out, as table_query has no such parameter: `table`"


@tool(effects="reads", idempotent=True, network=False)
async def shout(word: str) -> str:
    """Return a word in capitals."""
    return word.upper()


in_loop = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open(shout) as stage:
        yield stage


@in_loop
async def test_the_model_is_told_what_was_left_out_of_its_call(stage: Stage) -> None:
    wished = ("shout", {"arguments": {"word": "oslo", "timeout": 3}})
    outcome, model = await stage.play(step(wished), step(wished), step(done("OSLO")), tools=["shout"])
    first, second = (one["calls"][0] for one in observations(model.requests[2]))
    assert first["value"] == second["value"] == "OSLO"
    note = "left out, as shout has no such parameter: `timeout`"
    assert first["note"] == f"[{note}]"
    assert second["note"].startswith(f"[{note}; you made this call before")
    assert outcome.answer == "OSLO"


@in_loop
async def test_an_end_in_a_wrapper_is_taken_out_unless_it_is_the_answer(stage: Stage) -> None:
    wrapped = ("done", {"arguments": {"answer": "Oslo."}})
    outcome, _ = await stage.play(step(wrapped))
    assert (outcome.status, outcome.answer) == ("done", "Oslo.")
    form = {"type": "object", "properties": {"arguments": {"type": "object"}}, "required": ["arguments"]}
    outcome, _ = await stage.play(step(wrapped), answer=form)
    assert outcome.answer == {"arguments": {"answer": "Oslo."}}
