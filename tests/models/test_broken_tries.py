"""Test tries broken in the middle of an answer: billed, counted, and ended by a budget."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, said, streamed
from loopback import Asked, Loopback, Reply, document, sse
from run_kit import ADDS, ENDS, home, record, replayed, run

from tea.journal.recorder import Event
from tea.platform import Platform
from tea.runs.outcome import Outcome

pytestmark = pytest.mark.slow

PRICES = {"input": 1000, "output": 1000}
LONG = 3000
SHORT = 600  # characters of an answer that takes less than a budget keeps for any


def answering(size: int) -> Say:
    return Say(text=record(("done", {"answer": "x" * size})))


def broken(dialect: Dialect, *, stream: bool, size: int = LONG) -> Reply:
    """An answer broken off in its middle."""
    if not stream:
        return Reply(headers={"content-type": "application/json"}, chunks=[b"{" + b" " * size], then="break")
    events = dialect.events(answering(size))
    return sse(events[: len(events) * 2 // 3], then="break")


async def worked(
    folder: Path, server: Loopback, dialect: Dialect, *, stream: bool, tries: int = 4, budget: Any = None, **more: Any
) -> Outcome:
    """Run the planner; its replay is the same."""
    heard: list[Event] = []
    options: dict[str, Any] = {"prices": PRICES, "limits": {"attempts": tries}, "max_output": 2000, **more}
    home(folder, dialect, server.url, **options)
    given = {"budget": budget} if budget else {}
    outcome = await run(folder, watch=heard.append if stream else None, **given)
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
    say = answering(LONG)
    events = responses.events(say)
    error = {"code": "server_error", "message": "It failed."}
    failed: dict[str, Any] = {**responses.whole(say), "status": "failed", "output": [], "usage": None, "error": error}
    ended: Any = ("response.failed", {"type": "response.failed", "response": failed, "sequence_number": 9})
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


@pytest.mark.slow  # as many tries
@pytest.mark.parametrize("stream", [False, True])
async def test_tries_that_break_end_a_budget_before_they_overspend_it(
    dialect: Dialect, tmp_path: Path, *, stream: bool
) -> None:
    tries_of_it = [broken(dialect, stream=stream, size=SHORT)] * 9
    async with Loopback(*tries_of_it, streamed(dialect, ENDS)).open() as server:
        outcome = await worked(tmp_path, server, dialect, stream=stream, tries=9, budget={"usd": 6.0})
        tries = len(server.asked)
    assert (outcome.exit_code, "broken tries" in outcome.reason, 2 <= tries < 9) == (5, True, True), outcome.reason
    assert outcome.cost.usd is not None
    assert 3 < outcome.cost.usd <= 6
    assert outcome.cost.by["planner fake"]["calls"] == tries


async def test_tries_that_all_broke_are_paid_for_where_no_answer_came(dialect: Dialect, tmp_path: Path) -> None:
    async with Loopback(*[broken(dialect, stream=True)] * 2).open() as server:
        outcome = await worked(tmp_path, server, dialect, stream=True, tries=2)
    assert (outcome.exit_code, "did not answer" in outcome.reason) == (4, True)
    assert outcome.cost.by["planner fake"]["calls"] == 2
    assert outcome.cost.tokens > 2 * 1000


async def test_a_broken_try_is_charged_with_no_more_than_was_held_back_for_it(dialect: Dialect, tmp_path: Path) -> None:
    """Receive more than the longest answer within the budget."""
    async with Loopback(broken(dialect, stream=True, size=2 * LONG)).open() as server:
        outcome = await worked(tmp_path, server, dialect, stream=True, budget={"tokens": 2000}, max_output=30_000)
        (left,) = limits(server)
    assert (outcome.exit_code, 1500 < outcome.cost.tokens <= 2000, left < LONG // 3) == (5, True, True), outcome
    assert outcome.cost.usd == pytest.approx(outcome.cost.tokens * 1000 / 1e6)


def limits(server: Loopback) -> list[int]:
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    return [next(asked.body[name] for name in names if name in asked.body) for asked in server.asked]


async def test_a_broken_stream_leaves_the_rest_of_its_budget_to_a_shorter_try(dialect: Dialect, tmp_path: Path) -> None:
    """Reserve all of the rest for the first answer."""
    async with Loopback(broken(dialect, stream=True), streamed(dialect, ENDS)).open() as server:
        outcome = await worked(tmp_path, server, dialect, stream=True, budget={"tokens": 20_000}, max_output=30_000)
        first, second = limits(server)
    cost = outcome.cost.by["planner fake"]
    assert (outcome.exit_code, outcome.answer, cost["calls"]) == (0, "42", 2), outcome.reason
    assert outcome.cost.tokens <= 20_000
    assert 256 <= second < first < 20_000
    assert first - second == pytest.approx(cost["tokens"] - 120, abs=1)  # what the first has used, and no more


@pytest.mark.parametrize("capabilities", [["schema", "streaming"], ["tools", "schema", "streaming"]])
async def test_a_question_is_reserved_for_with_its_bytes_by_three(
    dialect: Dialect, tmp_path: Path, capabilities: list[str]
) -> None:
    async with Loopback(streamed(dialect, ENDS)).open() as server:
        await worked(
            tmp_path,
            server,
            dialect,
            stream=True,
            budget={"tokens": 12_000},
            max_output=30_000,
            capabilities=capabilities,
        )
        (asked,), (left,) = server.asked, limits(server)
    assert 12_000 - left == pytest.approx(len(asked.raw) // 3, abs=150)


async def test_a_fallback_is_asked_with_what_a_broken_stream_left(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with (
        Loopback(broken(chat, stream=True)).open() as server,
        Loopback(streamed(chat, ENDS)).open() as spare,
    ):
        more = f'[models.spare]\nbase_url = "{spare.url}/v1"\nmodel = "s"\ncapabilities = ["schema", "streaming"]\n'
        more += "prices = {input = 1000, output = 1000}\n"
        outcome = await worked(
            tmp_path,
            server,
            chat,
            stream=True,
            tries=1,
            budget={"usd": 20.0},
            max_output=30_000,
            more=more,
            fallbacks=["spare"],
        )
        (first,), (second,) = limits(server), limits(spare)
    assert (outcome.exit_code, outcome.answer) == (0, "42"), outcome.reason
    assert outcome.cost.usd is not None
    assert outcome.cost.usd <= 20
    assert 256 <= second < first
    assert {name: one["calls"] for name, one in outcome.cost.by.items()} == {"planner fake": 1, "planner spare": 1}


@pytest.mark.slow  # nine tries wait for longer and longer
async def test_where_broken_tries_end_a_budget_the_journal_and_the_error_say_what_broke_them(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with Loopback(*[broken(chat, stream=True)] * 9).open() as server:
        outcome = await worked(
            tmp_path, server, chat, stream=True, tries=9, budget={"tokens": 13_000}, max_output=30_000
        )
        tries = len(server.asked)
    assert (outcome.exit_code, "another one: the connection broke off" in outcome.reason) == (5, True), outcome.reason
    assert outcome.cost.tokens <= 13_000
    journal = [json.loads(line)["data"] for line in (outcome.trace / "journal.jsonl").read_text().splitlines()]
    (found,) = [one["data"]["response"] for one in journal if "lost" in (one.get("data") or {})]
    assert [one["model"] for one in found["attempts"]] == ["fake"] * tries
    assert all("the connection broke off" in one["problem"] for one in found["attempts"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("page", [b"<html>" + b" please log in" * 500, b"null", b" " * 3000])
async def test_what_is_no_object_is_nobodys_answer_and_costs_nothing(
    dialect: Dialect, tmp_path: Path, page: bytes, *, stream: bool
) -> None:
    say = streamed if stream else said
    portal = Reply(headers={"content-type": "text/html"}, chunks=[page])
    torn = Reply(headers={"content-type": "text/html"}, chunks=[page], then="break")
    async with Loopback(portal, torn, say(dialect, ENDS)).open() as server:
        outcome = await worked(tmp_path, server, dialect, stream=stream)
        assert len(server.asked) == 3
    assert (outcome.answer, outcome.cost.by["planner fake"]["calls"], outcome.cost.tokens) == ("42", 1, 120)


@pytest.mark.parametrize(
    ("tokens", "then", "code"),
    [
        (30_000, said(DIALECTS["openai_chat"], ENDS), 0),
        (30_000, document({"error": {"message": "no"}}, 400), 4),
        (3_500, said(DIALECTS["openai_chat"], ENDS), 5),
    ],
)
async def test_what_an_interrupted_process_asked_may_have_been_billed_so_it_stays_held_back(
    tmp_path: Path, tokens: int, then: Reply, code: int
) -> None:
    chat, asked = DIALECTS["openai_chat"], asyncio.Event()

    def hang(question: Asked) -> Reply:
        asked.set()
        return Reply(then="hang")

    async with Loopback(said(chat, ADDS), answer=hang).open() as server:
        home(tmp_path, chat, server.url, prices=PRICES, max_output=2000)
        async with Platform(tmp_path, state=tmp_path / "state") as tea:
            running = asyncio.ensure_future(tea.run("What is 6 * 7?", budget={"tokens": tokens}))
            await asked.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            server.replies = [then]
            outcome = await tea.resume("last")
            assert (await tea.replay("last")).to_json() == outcome.to_json()
    assert (outcome.exit_code, len(server.asked)) == (code, 2 if code == 5 else 3), outcome.reason
    assert outcome.cost.unsettled["calls"] == 1
    assert outcome.cost.tokens + outcome.cost.unsettled["tokens"] <= tokens


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("tokens", "code"), [(60_000, 0), (3_500, 5)])
async def test_a_question_that_nobody_answered_in_time_may_have_been_billed_so_it_stays_held_back(
    dialect: Dialect, tmp_path: Path, tokens: int, code: int, *, stream: bool
) -> None:
    say = streamed if stream else said
    limits = {"attempts": 2, "attempt_seconds": 1}
    late = Reply(headers={"content-type": "application/json"}, then="hang", after=0.0)
    async with Loopback(late, say(dialect, ENDS)).open() as server:
        outcome = await worked(
            tmp_path, server, dialect, stream=stream, budget={"tokens": tokens}, limits=limits, max_output=2000
        )
    assert (outcome.exit_code, len(server.asked)) == (code, 1 if code else 2), outcome.reason
    assert (outcome.cost.unsettled["calls"], outcome.cost.unsettled["usd"] > 2) == (1, True)
    assert outcome.cost.tokens == (0 if code else 120)
    assert outcome.cost.tokens + outcome.cost.unsettled["tokens"] <= tokens


async def test_an_address_where_nobody_listens_costs_nothing(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with Loopback().open() as server:
        pass
    outcome = await worked(tmp_path, server, chat, stream=False, tries=2, budget={"tokens": 20_000})
    assert (outcome.exit_code, outcome.cost.tokens, outcome.cost.unsettled) == (4, 0, {})


async def test_each_process_that_was_interrupted_at_a_question_may_have_been_billed_for_it(tmp_path: Path) -> None:
    """Pay for each kill and resume, up to the budget."""
    chat, asked = DIALECTS["openai_chat"], asyncio.Queue[None]()

    def hang(question: Asked) -> Reply:
        asked.put_nowait(None)
        return Reply(then="hang")

    async with Loopback(answer=hang).open() as server:
        home(tmp_path, chat, server.url, prices=PRICES, max_output=2000)
        for number in range(3):
            async with Platform(tmp_path, state=tmp_path / "state") as tea:
                work = tea.resume("last") if number else tea.run("What is 6 * 7?", budget={"tokens": 60_000})
                running = asyncio.ensure_future(work)
                await asked.get()
                running.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await running
        server.answer = lambda question: said(chat, ENDS)
        async with Platform(tmp_path, state=tmp_path / "state") as tea:
            outcome = await tea.resume("last")
            assert (await tea.replay("last")).to_json() == outcome.to_json()
    assert (outcome.answer, outcome.cost.unsettled["calls"], len(server.asked)) == ("42", 3, 4)
