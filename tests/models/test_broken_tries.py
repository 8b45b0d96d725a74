"""Tries that break in the middle of an answer: providers bill them, so they are counted, and a budget ends them."""

from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, said, streamed
from loopback import Loopback, Reply, document, sse
from run_kit import ENDS, home, record, replayed, run

from tea.runtime.outcome import Outcome
from tea.runtime.recorder import Event

PRICES = {"input": 1000, "output": 1000}
LONG = Say(text=record(("done", {"answer": "x" * 3000})))


def broken(dialect: Dialect, *, stream: bool) -> Reply:
    """An answer that breaks off in its middle."""
    if not stream:
        return Reply(headers={"content-type": "application/json"}, chunks=[b"{" + b" " * 3000], then="break")
    events = dialect.events(LONG)
    return sse(events[: len(events) * 2 // 3], then="break")


async def worked(
    folder: Path, server: Loopback, dialect: Dialect, *, stream: bool, tries: int = 4, **more: Any
) -> Outcome:
    """Run the planner; what it did is the same when it is replayed."""
    heard: list[Event] = []
    home(folder, dialect, server.url, prices=PRICES, limits={"attempts": tries}, max_output=2000)
    outcome = await run(folder, watch=heard.append if stream else None, **more)
    assert (await replayed(folder, outcome)).to_json() == outcome.to_json()
    return outcome


@pytest.mark.parametrize("stream", [False, True])
async def test_a_try_that_broke_in_the_middle_is_paid_for_and_one_before_any_answer_is_not(
    dialect: Dialect, tmp_path: Path, *, stream: bool
) -> None:
    say = streamed if stream else said
    down = document({"error": {"message": "down"}}, 500, retry_after_ms="1")
    begun = sse([dialect.error_event()]) if stream else document({"error": {"message": "down"}})
    async with Loopback(broken(dialect, stream=stream), begun, down, say(dialect, ENDS)).open() as server:
        outcome = await worked(tmp_path, server, dialect, stream=stream)
        asked = len(server.asked[0].raw) // 3
    cost = outcome.cost.by["planner fake"]
    assert (outcome.answer, outcome.cost.steps, cost["calls"]) == ("42", 1, 2)
    assert asked + 120 + 500 < cost["tokens"] < asked + 120 + 1500
    assert cost["usd"] == pytest.approx(cost["tokens"] * 1000 / 1e6)


async def test_an_answer_that_fails_in_its_middle_is_paid_for_and_one_that_fails_before_it_is_not(
    tmp_path: Path,
) -> None:
    responses = DIALECTS["openai_responses"]
    events = responses.events(LONG)
    error = {"code": "server_error", "message": "It failed."}
    failed = {**responses.whole(LONG), "status": "failed", "output": [], "usage": None, "error": error}
    ended = ("response.failed", {"type": "response.failed", "response": failed, "sequence_number": 9})
    begun, middle = sse([events[0], ended]), sse([*events[: len(events) // 2], ended])
    async with Loopback(middle, begun, streamed(responses, ENDS)).open() as server:
        outcome = await worked(tmp_path, server, responses, stream=True)
    assert (outcome.answer, outcome.cost.by["planner fake"]["calls"]) == ("42", 2)


async def test_a_whole_answer_that_broke_where_a_stream_was_asked_for_is_paid_for(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with Loopback(broken(dialect, stream=False), streamed(dialect, ENDS)).open() as server:
        outcome = await worked(tmp_path, server, dialect, stream=True)
    assert (outcome.answer, outcome.cost.by["planner fake"]["calls"]) == ("42", 2)


@pytest.mark.parametrize("stream", [False, True])
async def test_tries_that_break_end_a_budget_before_they_overspend_it(
    dialect: Dialect, tmp_path: Path, *, stream: bool
) -> None:
    async with Loopback(*[broken(dialect, stream=stream)] * 5, streamed(dialect, ENDS)).open() as server:
        outcome = await worked(tmp_path, server, dialect, stream=stream, budget={"usd": 18.0})
        tries = len(server.asked)
    assert (outcome.exit_code, "broken tries" in outcome.reason, tries in (2, 3)) == (5, True, True), outcome.reason
    assert outcome.cost.usd is not None
    assert 5 < outcome.cost.usd <= 18
    assert outcome.cost.by["planner fake"]["calls"] == tries


async def test_tries_that_all_broke_are_paid_for_where_no_answer_came(dialect: Dialect, tmp_path: Path) -> None:
    async with Loopback(*[broken(dialect, stream=True)] * 2).open() as server:
        outcome = await worked(tmp_path, server, dialect, stream=True, tries=2)
    assert (outcome.exit_code, "did not answer" in outcome.reason) == (4, True)
    assert outcome.cost.by["planner fake"]["calls"] == 2
    assert outcome.cost.tokens > 2 * 1000
