"""Test the purse: reservations before a call, so no calls, even side by side, overspend."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journals import PROMPT, resumed_late

from tea import Agent, Context, Result, Task, TeaError
from tea.errors import BadInput, BudgetExceeded
from tea.models.config import ModelConfig
from tea.runs.budget import Attempts, BudgetAccount, check_price
from tea.runs.reservation import Estimate, Reservation
from tea.testing import FunctionModel, platform
from tea.types import Attempt, Budget, Evidence, ModelRequest, ModelResponse, Usage

PRICES = {"input": 10.0, "output": 30.0}


def used(tokens_in: int, tokens_out: int) -> Usage:
    usd = (tokens_in * PRICES["input"] + tokens_out * PRICES["output"]) / 1e6
    return Usage(input_tokens=tokens_in, output_tokens=tokens_out, usd=usd)


@given(
    limit=st.integers(300, 20_000),
    calls=st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 4000), st.floats(0, 1), st.booleans()), max_size=30),
)
def test_calls_that_keep_to_their_estimate_never_overspend_however_many_run_at_once(
    limit: int, calls: list[tuple[int, int, float, bool]]
) -> None:
    usd = limit * PRICES["output"] / 1e6
    account = BudgetAccount(Budget(tokens=limit, usd=usd))
    open_calls: list[tuple[Reservation, int, float]] = []
    for tokens_in, most, share, wait in calls:
        try:
            held = account.reserve(Estimate(input_tokens=tokens_in, max_output=most, prices=PRICES))
        except BudgetExceeded:
            continue
        assert held.max_output is not None
        assert held.max_output <= most
        open_calls.append((held, tokens_in, share))
        while open_calls and not wait:
            one, question, part = open_calls.pop()
            account.settle(one, used(question, int((one.max_output or 0) * part)), "a", "m")
    for one, question, part in open_calls:
        account.settle(one, used(question, int((one.max_output or 0) * part)), "a", "m")
    assert account.spent.tokens <= limit
    assert account.spent.usd is not None
    assert account.spent.usd <= usd * (1 + 1e-9)


def test_what_is_held_back_is_missing_from_what_remains_until_it_is_settled() -> None:
    account = BudgetAccount(Budget(tokens=10_000, usd=1.0, steps=5))
    held = account.reserve(Estimate(input_tokens=1000, max_output=2000, prices=PRICES))
    assert account.remaining() == {"steps": 4, "tokens": 7000, "usd": pytest.approx(1 - 0.07), "seconds": None}
    account.settle(held, used(900, 100), "planner", "m")
    assert account.remaining() == {"steps": 4, "tokens": 9000, "usd": pytest.approx(1 - 0.012), "seconds": None}
    assert account.spent.by == {"planner m": {"calls": 1, "tokens": 1000, "cached": 0, "usd": pytest.approx(0.012)}}


def test_the_answers_length_is_cut_to_what_is_left_and_a_call_without_room_is_not_made() -> None:
    account = BudgetAccount(Budget(tokens=1500))
    assert account.reserve(Estimate(input_tokens=1000, max_output=4000)).max_output == 500
    with pytest.raises(BudgetExceeded, match="used up"):
        account.reserve(Estimate(input_tokens=10, max_output=4000))
    account = BudgetAccount(Budget(tokens=1500))
    with pytest.raises(BudgetExceeded, match="not enough for another call"):
        account.reserve(Estimate(input_tokens=1400, max_output=4000))
    account = BudgetAccount(Budget(usd=0.02))
    assert account.reserve(Estimate(input_tokens=500, max_output=4000, prices=PRICES)).max_output in (499, 500)


def test_a_call_that_used_nothing_gives_back_what_was_held() -> None:
    account = BudgetAccount(Budget(tokens=5000))
    account.release(account.reserve(Estimate(input_tokens=1000, max_output=4000)))
    assert account.remaining()["tokens"] == 5000


BROKE = Attempt(model="m", problem="It broke.")


def test_the_next_try_is_cut_to_what_broken_ones_left_and_refused_where_that_is_too_little() -> None:
    whole = BudgetAccount(Budget(tokens=7000))
    part = whole.share(Budget(usd=1))
    held = part.reserve(Estimate(input_tokens=1000, max_output=2000, prices=PRICES))
    other = whole.reserve(Estimate(input_tokens=500, max_output=1000, prices=PRICES))
    first, second = Attempts(part, held), Attempts(whole, other)
    most: list[int | None] = []
    for _ in range(4):
        assert whole.remaining()["tokens"] == 2500  # a replay knows of no try
        most.append(first.ready())
        first.lost(BROKE, used(1000, 100))
    assert most == [2000, 2000, 2000, 2000 + 2500 - 3300]
    with pytest.raises(BudgetExceeded, match="in tokens is not enough for another one: It broke"):
        first.ready()
    assert second.ready() == 1000  # which what is held for it still covers
    first.lost(BROKE, used(1000, 500))
    assert second.ready() == 600
    first.lost(BROKE, used(500, 0))
    with pytest.raises(BudgetExceeded, match="in tokens is not enough"):
        second.ready()
    part.release(held)
    assert second.ready() == 1000


def test_calls_side_by_side_are_held_to_what_the_tries_of_all_of_them_may_use() -> None:
    whole = BudgetAccount(Budget(tokens=6000))
    held = [whole.reserve(Estimate(input_tokens=1000, max_output=2000)) for _ in range(2)]
    first, second = (Attempts(whole, one) for one in held)
    first.lost(BROKE, used(1000, 200))
    assert first.ready() == 800  # nothing is left beside what is held for the second
    assert second.ready() == 2000
    second.lost(BROKE, used(1000, 200))
    first.lost(BROKE, used(1000, 100))
    whole.release(held[1])
    assert first.ready() == 2000
    with pytest.raises(BudgetExceeded, match="in tokens is not enough"):
        Attempts(whole, whole.reserve(Estimate(input_tokens=1000, max_output=2000))).ready()


def test_a_call_beside_tries_that_broke_keeps_all_that_was_held_back_for_it() -> None:
    whole = BudgetAccount(Budget(tokens=6000))
    calls = [whole.reserve(Estimate(input_tokens=500, max_output=1500)) for _ in range(3)]
    first, second, third = (Attempts(whole, one) for one in calls)
    first.lost(BROKE, used(2000, 1000))
    assert calls[0].used[0] == 2000  # its own part, though more was counted
    assert second.ready() == 1500
    with pytest.raises(BudgetExceeded, match="in tokens is not enough"):
        first.ready()
    third.lost(BROKE, used(2000, 1500))
    with pytest.raises(BudgetExceeded, match="in tokens is not enough"):
        third.ready()
    whole.release(calls[0])
    assert third.ready() == 1500


def test_a_call_that_was_let_begin_beside_broken_tries_is_not_made_once_they_have_used_what_was_held_for_it() -> None:
    whole = BudgetAccount(Budget(tokens=6000))
    first = whole.reserve(Estimate(input_tokens=1000, max_output=2000))
    tries = Attempts(whole, first)
    tries.lost(BROKE, used(1000, 1900))
    assert tries.ready() == 2000
    second = whole.reserve(Estimate(input_tokens=1000, max_output=2000))
    whole.pay(first.lost[0].usage, "a", "m")
    whole.settle(first, used(1000, 2000), "a", "m")
    with pytest.raises(BudgetExceeded, match=r"What is left of the budget in tokens is not enough for another try\."):
        Attempts(whole, second).ready()


def test_a_question_that_alone_costs_too_much_is_not_asked() -> None:
    free_answers = {"input": 10.0, "output": 0.0}
    account = BudgetAccount(Budget(usd=0.015))
    held = account.reserve(Estimate(input_tokens=1000, max_output=500, prices=free_answers))
    with pytest.raises(BudgetExceeded, match="in usd is not enough"):
        account.reserve(Estimate(input_tokens=1000, max_output=500, prices=free_answers))
    assert held.max_output == 500


def test_an_unknown_price_is_refused_under_a_limit_in_dollars_unless_allowed() -> None:
    unknown = Estimate(input_tokens=10, max_output=1000)
    with pytest.raises(BudgetExceeded, match="without a known price"):
        BudgetAccount(Budget(usd=1)).reserve(unknown)
    account = BudgetAccount(Budget(usd=1, unknown_price=True))
    account.settle(account.reserve(unknown), Usage(input_tokens=10, usd=None), "a", "m")
    assert account.spent.usd is None
    account.reserve(unknown)
    config = ModelConfig.of("m", {"base_url": "http://127.0.0.1:1/v1"})
    with pytest.raises(BadInput, match="The price of the model 'm' is not known"):
        check_price([config], Budget(usd=1))
    check_price([config], Budget(usd=1, unknown_price=True))
    check_price([config], Budget())


class Asks(Agent):
    """Ask once to pin all it needs, then three times side by side."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask, each in a branch of its own."""

        async def ask() -> str:
            try:
                return (await ctx.ask("answers", {})).text
            except TeaError as error:
                return error.problem

        await ask()
        async with ctx.group() as group:
            asked = [group.spawn(ask()) for _ in range(3)]
        return Result(answer=[one.result() for one in asked])


async def test_several_calls_at_once_each_reserve() -> None:
    seen: list[int | None] = []
    both_asked = asyncio.Event()

    async def answer(request: ModelRequest) -> ModelResponse:
        seen.append(request.max_output)
        if len(seen) == 3:
            both_asked.set()
        if len(seen) > 1:
            await both_asked.wait()
        return ModelResponse(text="x", usage=used(10, 10))

    async with platform() as tea:
        tea.models.add(
            ModelConfig(name="counted", provider="test", max_output=1000, prices=PRICES), FunctionModel(answer)
        )
        await tea.acp.register(Asks)
        await tea.libraries["prompt"].register(PROMPT)
        outcome = await tea.run("go", agent="asks", model="counted", budget={"tokens": 1500})
        assert outcome.answer == ["x", "x", "The budget of 1500 tokens is used up."]
        assert seen[:2] == [1000, 1000]
        assert seen[2] is not None
        assert 256 <= seen[2] < 500
        outcome = await tea.run("go", agent="asks", model="counted", budget={"tokens": 5000, "usd": 1})
        assert outcome.answer == ["x", "x", "x"]
        assert (outcome.cost.tokens, outcome.cost.steps) == (80, 4)
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


class Naps(Agent):
    """Sleep for as long as it takes."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Sleep for an hour."""
        await ctx.sleep(3600)
        return Result(answer="awake")


async def test_a_resumed_run_does_not_get_its_seconds_again() -> None:
    async with platform() as tea:
        await tea.acp.register(Naps)
        run, outcome = await resumed_late(tea, "x", agent="naps", budget={"seconds": 600})
        told = (
            "the run, which this account did not begin, says: The budget of 600 seconds is used up."  # it was rewritten
        )
        assert (outcome.exit_code, outcome.reason) == (5, told)
        assert [record.kind for record in tea.tracer.records(run)].count("resumed") == 1
        assert (await tea.replay(run)).to_json() == outcome.to_json()


class Splits(Agent):
    """Ask side by side, in a group within a group, without looking at errors."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask three times."""

        async def ask() -> None:
            await ctx.ask("answers", {})

        async def both() -> None:
            async with ctx.group() as group:
                group.spawn(ask())
                group.spawn(ask())

        async with ctx.group() as group:
            group.spawn(both())
            group.spawn(ask())
        return Result(answer="never")


async def test_a_budget_that_ends_inside_of_a_group_ends_the_run_as_a_budget_does() -> None:
    async with platform(model=FunctionModel(lambda request: "x")) as tea:
        await tea.acp.register(Splits)
        await tea.libraries["prompt"].register(PROMPT)
        outcome = await tea.run("go", agent="splits", budget={"steps": 2})
        assert (outcome.exit_code, outcome.status) == (5, "exhausted")
        assert "The budget of 2 steps is used up." in outcome.reason
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


class Lingers(Agent):
    """Have another answer, and then take too long."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask the other one, then sleep."""
        await ctx.acp.invoke("answers_at_once", task)
        await ctx.sleep(3600)
        return Result(answer="never")


class AnswersAtOnce(Agent):
    """Answer."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Answer."""
        return Result(answer="so far", evidence=(Evidence(source="a.txt"),))


async def test_when_time_ends_the_best_answer_so_far_is_given() -> None:
    async with platform() as tea:
        await tea.acp.register(Lingers)
        await tea.acp.register(AnswersAtOnce)
        outcome = await tea.run("go", agent="lingers", budget={"seconds": 0.5})
        assert (outcome.exit_code, outcome.answer) == (5, "so far")
        assert (outcome.reason, outcome.evidence[0].source) == ("The budget of 0.5 seconds is used up.", "a.txt")
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
