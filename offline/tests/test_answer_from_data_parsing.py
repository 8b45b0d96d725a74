"""Test the solver's parsing: it never fails, and leaves unknown text unchanged."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tea.protocols.tcp import TCPServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

DESCRIBED = {
    "tables": [
        {
            "name": "pets",
            "file": "pets.csv",
            "rows": 2,
            "columns": [
                {"name": "name", "type": "text", "form": "", "distinct": 2, "nulls": 0, "min": "Rex", "max": "Tom",
                 "examples": ["Rex", "Tom"]},
                {"name": "age", "type": "integer", "form": "", "distinct": 2, "nulls": 0, "min": 3, "max": 5,
                 "examples": [3, 5]},
            ],
        }
    ],
    "links": [],
}  # fmt: skip
VOCABULARY = """
what which how many is the of age pets pet name Rex Tom oldest average most more than 3 5 or and in with not , ?
"""
WORDS = st.sampled_from(VOCABULARY.split())


async def next_calls(tools: TCPServer, task: str) -> list[dict[str, Any]]:
    """Return the solver's calls after a look at tables without a matching cell."""
    history: list[dict[str, Any]] = []
    for number in range(2):
        arguments = {"task": task, "files": ["pets.csv"], "history": history}
        calls = (await tools.invoke("answer_from_data", arguments)).unwrap()["calls"]
        if calls[0]["name"] != "table_query" or "sql" in calls[0]["arguments"]:
            break
        seen = calls[0] | {"ok": True, "value": {**DESCRIBED, "found": []}, "error": None}
        history.append({"step": number, "calls": [seen]})
    return calls


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@example("A$#")
@given(st.lists(WORDS, min_size=1, max_size=14).map(" ".join) | st.text(min_size=1, max_size=60))
async def test_any_task_leads_to_calls_or_to_an_honest_end(tools: TCPServer, task: str) -> None:
    calls = await next_calls(tools, task)
    assert calls
    for call in calls:
        assert call["name"] in ("table_query", "done")
        if call["name"] == "done":
            assert call["arguments"]["success"] is False
            assert call["arguments"]["reason"]


@pytest.mark.parametrize(
    ("task", "sql"),
    [
        ("How far apart are the highest and lowest age?", r'SELECT max\("pets"."age"\) - min\("pets"."age"\)'),
        ("Which pet comes last in age?", r'"pets"."name" AS shown_0, "pets"."age" AS amount .*'),
        ("How many of the pets are above 3 in age?", r'count\(\*\).*"pets"."age" > 3'),
    ],
)
async def test_a_roundabout_question_is_asked_plainly(tools: TCPServer, task: str, sql: str) -> None:
    call, *_ = await next_calls(tools, task)
    assert re.search(sql, call["arguments"]["sql"])
