"""Test budgets inside of budgets: a delegated share never exceeds the rest."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journals import PROMPT, Asks, resumed_late
from loop_kit import Stage, done, observations, step, sum_of, told

from tea import Agent, Budget, BudgetExceeded, Context, Result, Task
from tea.models.config import ModelConfig
from tea.runs.budget import Attempts, BudgetAccount, BudgetAccounts
from tea.runs.reservation import Estimate
from tea.testing import FunctionModel, platform
from tea.types import Attempt, ModelRequest, ModelResponse, Usage

PRICES = {"input": 10.0, "output": 30.0}


def used(tokens_in: int, tokens_out: int) -> Usage:
    usd = (tokens_in * PRICES["input"] + tokens_out * PRICES["output"]) / 1e6
    return Usage(input_tokens=tokens_in, output_tokens=tokens_out, usd=usd)


_limits = st.one_of(st.none(), st.integers(300, 9000))
_acts = st.tuples(
    st.sampled_from(["ask", "break", "break", "break", "end"]),
    st.integers(0, 3),
    st.integers(1, 500),
    st.one_of(st.floats(0, 1), st.just(1.0)),
)


class Asked:
    """A call with now and then breaking tries; it uses its full allowance."""

    def __init__(self, account: BudgetAccount, question: int) -> None:
        self.account, self.question = account, question
        self.held = account.reserve(Estimate(input_tokens=question, max_output=2000, prices=PRICES))
        self.tries = Attempts(account, self.held)
        self.most: int | None = None  # while no try goes on

    def act(self, kind: str, share: float) -> bool:
        """Begin the next try, or break or end the present one; tell whether the call ended."""
        if self.most is None:
            try:
                self.most = self.tries.ready()
            except BudgetExceeded:
                return self.end()
        elif kind == "break":
            problem = Attempt(model="m", problem="It broke.")
            self.tries.lost(problem, used(self.question, int(self.most * share)))
            self.most = None
        elif kind == "end":
            return self.end(share)
        return False

    def end(self, share: float = 1.0) -> bool:
        """Pay for all tries; with none going on, no answer came."""
        for one in self.held.lost:
            self.account.pay(one.usage, "a", "m")
        if self.most is None:
            self.account.release(self.held)
        else:
            self.account.settle(self.held, used(self.question, int(self.most * share)), "a", "m")
        return True


@given(
    limits=st.lists(st.tuples(st.integers(0, 3), _limits, _limits), max_size=3),
    acts=st.lists(_acts, min_size=10, max_size=60),
)
def test_no_purse_of_a_tree_overspends_whatever_its_shares_do_side_by_side_and_whatever_breaks(
    limits: list[tuple[int, int | None, int | None]], acts: list[tuple[str, int, int, float]]
) -> None:
    tree = [BudgetAccount(Budget(tokens=9000, usd=0.25))]
    for parent, tokens, cents in limits:
        usd = None if cents is None else cents * PRICES["output"] / 1e6
        tree.append(tree[parent % len(tree)].share(Budget(tokens=tokens, usd=usd)))
    calls: list[Asked] = []
    for kind, which, question, share in acts:
        if kind == "ask":
            with suppress(BudgetExceeded):
                calls.append(Asked(tree[which % len(tree)], question))
        elif calls and (one := calls[which % len(calls)]).act(kind, share):
            calls.remove(one)
    for one in calls:
        one.end()
    for one in tree:
        assert one.budget.tokens is None or one.spent.tokens <= one.budget.tokens
        assert one.budget.usd is None or (one.spent.usd or 0.0) <= one.budget.usd * (1 + 1e-9)
    assert tree[0].spent.steps == max(one.spent.steps for one in tree)


def test_what_is_left_is_the_least_that_any_of_them_leaves() -> None:
    now = [0.0]
    root = BudgetAccount(Budget(steps=9, tokens=5000, seconds=60), clock=lambda: now[0])
    accounts = BudgetAccounts(root)
    with accounts.share("0.3", Budget(steps=2, tokens=90_000, usd=1, seconds=10)) as share:
        now[0] = 4
        assert share.remaining() == {"steps": 2, "tokens": 5000, "usd": 1, "seconds": 6}
        assert [accounts.of(key) is share for key in ("0.3", "0.3.1", "0.3/0.2!1", "0.30", "0.4", "0")] == [
            True, True, True, False, False, False,
        ]  # fmt: skip
    assert accounts.of("0.3.1") is root


class Gives(Agent):
    """Give a task away with limits, and go on with any result."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Give it away, then ask once."""
        response = await ctx.acp.invoke("asks", Task(text=task.text, budget=Budget(steps=2)))
        last = (await ctx.ask("answers", {})).text
        left = await ctx.remaining()
        return Result(answer=[response.result.answer, response.result.reason, last, left["steps"]])


async def test_a_delegation_ends_with_its_own_budget_and_the_rest_goes_on() -> None:
    async with platform(model=FunctionModel(lambda request: "x")) as tea:
        await tea.acp.register(Gives)
        await tea.acp.register(Asks)
        await tea.libraries["prompt"].register(PROMPT)
        outcome = await tea.run("go", agent="gives", budget={"steps": 7})
        ended = "The delegation's budget of 2 steps is used up."
        assert (outcome.answer, outcome.cost.steps) == (["2 answers", ended, "x", 4], 3)
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
        outcome = await tea.run("go", agent="gives", budget={"steps": 1})
        assert (outcome.exit_code, outcome.cost.steps) == (5, 1)
        assert "The budget of 1 steps is used up." in outcome.reason


class Divides(Agent):
    """Give parts away side by side."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask once to pin all it needs, then give three parts away at once."""
        await ctx.ask("answers", {})
        async with ctx.group() as group:
            parts = [
                group.spawn(ctx.acp.invoke("asks", Task(text="part", budget=Budget(tokens=1500)))) for _ in range(3)
            ]
        return Result(answer=[one.result().result.answer for one in parts])


async def test_delegations_side_by_side_overspend_neither_their_own_nor_the_whole() -> None:
    async def answer(request: ModelRequest) -> ModelResponse:
        await asyncio.sleep(0)
        return ModelResponse(text="x", usage=used(10, request.max_output or 0))

    async with platform() as tea:
        config = ModelConfig(name="counted", provider="test", max_output=500, prices=PRICES)
        tea.models.add(config, FunctionModel(answer))
        for one in (Divides, Asks):
            await tea.acp.register(one)
        await tea.libraries["prompt"].register(PROMPT)
        outcome = await tea.run("go", agent="divides", model="counted", budget={"tokens": 3600})
        assert 3000 <= outcome.cost.tokens <= 3600
        outcome = await tea.run("go", agent="divides", model="counted", budget={"tokens": 100_000})
        assert 510 + 3 * 1000 <= outcome.cost.tokens <= 510 + 3 * 1500
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


class Waits(Agent):
    """Give away a task of too long a duration."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Give it so many seconds."""
        response = await ctx.acp.invoke("dozes", Task(text="x", budget=Budget(seconds=float(task.text))))
        return Result(answer=[response.result.answer, response.result.reason, response.result.exhausted])


class Dozes(Agent):
    """Know something, and sleep over it."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Sleep for an hour."""
        ctx.so_far(Result(answer="so far"))
        await ctx.sleep(3600)
        return Result(answer="never")


async def test_when_the_seconds_of_a_delegation_end_its_best_answer_is_taken() -> None:
    async with platform() as tea:
        for one in (Waits, Dozes):
            await tea.acp.register(one)
        outcome = await tea.run("0.1", agent="waits", budget={"seconds": 60})
        assert outcome.ok
        assert outcome.answer == ["so far", "The delegation's budget of 0.1 seconds is used up.", True]
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


async def test_a_resumed_delegation_does_not_get_its_seconds_again() -> None:
    async with platform() as tea:
        for one in (Waits, Dozes):
            await tea.acp.register(one)
        run, outcome = await resumed_late(tea, "600", agent="waits")
        assert outcome.answer == ["so far", "The delegation's budget of 600 seconds is used up.", True]
        assert (await tea.replay(run)).to_json() == outcome.to_json()


def analyzer(**arguments: Any) -> tuple[str, dict[str, Any]]:
    return "analyzer", {"task": "part", **arguments}


async def test_the_planner_gives_limits_along_and_goes_on_with_what_came() -> None:
    async with Stage.open() as stage:
        outcome, model = await stage.play(
            step(analyzer(budget={"steps": 2}, answer={"type": "string"})),
            step(sum_of("1 + 1")),
            step(done({"sum": 6})),
            step(done("7")),
            step(done("7")),
            "The answer holds.",
        )
        seen = observations(model.requests[3])[-1]["calls"][0]
        assert (outcome.answer, seen["ok"], seen["value"]["exhausted"]) == ("7", False, True)
        assert seen["value"]["answer"] == ""
        assert seen["error"]["fix"] == "go on with what it found, or give it more."
        assert "This is the last question." in told(model.requests[2])
        assert (await stage.tea.replay(outcome.run)).to_json() == outcome.to_json()


@pytest.mark.parametrize("budget", [{"steps": 0}, {"usd": -1}, {"hours": 1}, "much", {"seconds": float("1e99")}])
async def test_limits_that_make_no_sense_are_refused_and_said(budget: Any) -> None:
    async with Stage.open() as stage:
        outcome, model = await stage.play(step(analyzer(budget=budget)), step(done("x")))
        seen = observations(model.requests[-1])[-1]["calls"][0]
        assert (outcome.answer, seen["ok"], seen["error"]["code"]) == ("x", False, "BadArguments")
        assert "budget" in seen["error"]["problem"]


async def test_a_step_that_the_budget_will_not_pay_twice_more_is_called_the_last() -> None:
    dear = ModelResponse(text="", usage=Usage(input_tokens=4000, output_tokens=100))

    def spoken(record: Any) -> ModelResponse:
        return dear.model_copy(update={"output": record})

    async with Stage.open() as stage:
        replies = [spoken(step(sum_of(f"{n} + 1"))) for n in range(2)]
        outcome, model = await stage.play(*replies, spoken(step(done("best"))), budget={"tokens": 13_500})
        assert outcome.answer == "best"
        assert ["This is the last question." in told(one) for one in model.requests] == [False, False, True]
