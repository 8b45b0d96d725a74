"""Test spending with several answering models, at their own prices, and its report."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, said
from journals import PROMPT, Asks
from loopback import Loopback, document
from run_kit import ADDS, ENDS, home, run, tea

from tea import Agent, BudgetExceeded, Context, Result, Task
from tea.cli.ending import cost_words
from tea.errors import BadInput, ProviderError
from tea.models.config import ModelConfig
from tea.models.presets import configured
from tea.models.prices import dearest, price, worst_case
from tea.runs.budget import BudgetAccount
from tea.runs.reservation import Estimate
from tea.testing import FunctionModel, platform
from tea.types import Budget, ModelRequest, ModelResponse, Usage

CHEAP, DEAR = {"input": 1.0, "output": 1.0}, {"input": 100.0, "output": 1000.0}
CHAT = DIALECTS["openai_chat"]


def answering(name: str, prices: dict[str, float] | None) -> FunctionModel:
    """A model answering at its greatest length."""

    def answer(request: ModelRequest) -> ModelResponse:
        output = request.max_output or 0
        usd = None if prices is None else (10 * prices["input"] + output * prices["output"]) / 1e6
        usage = Usage(input_tokens=10, output_tokens=output, usd=usd)
        return ModelResponse(text="x", usage=usage, answered_by=name)

    return FunctionModel(answer)


def down(request: ModelRequest) -> ModelResponse:
    raise ProviderError("It is down.", fix="wait.")


async def asked(budget: dict[str, Any], second: dict[str, float] | None, answer: Callable[..., Any] = down) -> Any:
    """Run an agent with a failing first model and a second one with prices of its own."""
    async with platform() as one:
        first = ModelConfig(name="first", provider="test", max_output=1000, prices=CHEAP, fallbacks=("second",))
        one.models.add(first, FunctionModel(answer))
        other = ModelConfig(name="second", provider="test", max_output=1000, prices=second or {})
        one.models.add(other, answering("second", second))
        await one.acp.register(Asks)
        await one.libraries["prompt"].register(PROMPT)
        outcome = await one.run("go", agent="asks", model="first", budget=budget)
        assert (await one.replay(outcome.run)).to_json() == outcome.to_json()
        return outcome


async def test_a_call_reserves_for_the_dearest_model_that_may_answer() -> None:
    for usd, fewest in ((0.01, 0), (0.3, 1), (2.5, 2)):
        outcome = await asked({"usd": usd}, DEAR)
        assert (outcome.exit_code, outcome.cost.usd <= usd, outcome.cost.steps >= fewest) == (5, True, True)
        assert sum(one["usd"] for one in outcome.cost.by.values()) == pytest.approx(outcome.cost.usd)


async def test_a_fallback_without_a_known_price_is_refused_under_a_limit_in_dollars() -> None:
    with pytest.raises(BadInput, match="The price of the model 'second' is not known"):
        await asked({"usd": 1.0}, None)
    outcome = await asked({"usd": 1.0, "unknown_price": True}, None)
    assert (outcome.ok, outcome.cost.usd, outcome.cost.steps) == (True, None, 9)


def test_what_is_known_of_the_money_counts_beside_what_is_not() -> None:
    purse = BudgetAccount(Budget(usd=0.15, unknown_price=True))
    known, unknown = Estimate(input_tokens=10, max_output=100, prices=DEAR), Estimate(input_tokens=10, max_output=100)
    purse.settle(purse.reserve(unknown), Usage(input_tokens=10, usd=None), "a", "m")
    purse.settle(purse.reserve(known), Usage(input_tokens=10, output_tokens=99, usd=0.1), "a", "n")
    assert purse.remaining()["usd"] == pytest.approx(0.05)
    assert purse.spent.usd is None
    with pytest.raises(BudgetExceeded):
        purse.reserve(known)


def test_the_dearest_prices_are_those_of_any_model_whose_price_is_known() -> None:
    assert dearest([CHEAP, {}, {"input": 3.0, "cached": 0.5, "output": 0.5}]) == {
        "input": 3.0,
        "cached": 0.5,
        "output": 1.0,
    }
    assert dearest([{}, {"input": 3.0}]) == {}


@pytest.mark.parametrize("name", ["input", "cached", "written"])
def test_a_question_is_reserved_for_at_the_dearest_price_of_any_of_its_tokens(name: str) -> None:
    assert worst_case({"input": 1.0, "output": 2.0, name: 50.0}, 1000, 100) == pytest.approx(0.0502)


def test_a_model_that_answers_under_another_name_costs_what_was_asked_for() -> None:
    used = Usage(input_tokens=1000, output_tokens=100)
    listed = configured("openai", {"model": "gpt-5"})
    assert price(listed, "gpt-5-2999-01-01", used) == price(listed, "gpt-5", used)
    assert price(configured("openai", {"model": "nobody-knows"}), "nobody-knows-either", used) is None


def test_a_model_that_the_list_lacks_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import genai_prices

    looked: list[str] = []
    listed = genai_prices.calc_price

    def look(used: Any, model: str, **place: Any) -> Any:
        looked.append(model)
        return listed(used, model, **place)

    monkeypatch.setattr(genai_prices, "calc_price", look)
    asked, used = configured("openai", {"model": "gpt-5"}), Usage(input_tokens=1000, output_tokens=100)
    costs = {price(asked, "gpt-5-2998-12-31", used) for _ in range(3)}
    assert len(costs) == 1
    assert looked.count("gpt-5-2998-12-31") == 1
    asked = configured("openai", {"model": "no-such"})
    assert [price(asked, "no-such-either", used) for _ in range(3)] == [None] * 3
    assert (looked.count("no-such-either"), looked.count("no-such")) == (1, 1)


@pytest.mark.parametrize(
    ("provider", "model", "usage", "usd"),
    [  # by hand, from the providers' price lists: a million tokens of each kind at their own price
        ("anthropic_messages", "claude-sonnet-4-5", (150_000, 100_000, 30_000, 10_000), 0.06 + 0.03 + 0.1125 + 0.15),
        ("anthropic_messages", "claude-opus-4-1", (150_000, 100_000, 30_000, 10_000), 0.3 + 0.15 + 0.5625 + 0.75),
        ("openai_chat", "gpt-4o", (150_000, 100_000, 0, 10_000), 0.125 + 0.125 + 0.1),
        ("openai_responses", "gpt-4.1-mini", (150_000, 100_000, 0, 10_000), 0.02 + 0.01 + 0.016),
    ],
)
def test_cached_tokens_are_priced_as_such(
    provider: str, model: str, usage: tuple[int, int, int, int], usd: float
) -> None:
    asked, cached, written, output = usage
    used = Usage(input_tokens=asked, cached_tokens=cached, written_tokens=written, output_tokens=output)
    config = configured("m", {"provider": provider, "model": model, "key_env": "FAKE_KEY"})
    assert price(config, model, used) == pytest.approx(usd)


@pytest.mark.parametrize(
    ("base_url", "free"),
    [
        ("http://127.0.0.1:9/v1", True),
        ("http://127.9.9.9:9/v1", True),
        ("http://[::1]:9/v1", True),
        ("http://localhost:9/v1", True),
        ("https://host.example/v1", False),
        ("https://127.host.example/v1", False),
        ("https://127.0.0.1.host.example/v1", False),
    ],
)
def test_what_is_free_on_ones_own_machine_has_no_known_price_elsewhere(base_url: str, free: bool) -> None:
    used = Usage(input_tokens=1000, output_tokens=100)
    for name in ("ollama", "vllm", "llamacpp"):
        assert price(configured("m", {"preset": name, "base_url": base_url}), "x", used) == (0 if free else None)
        own = configured("m", {"preset": name, "base_url": base_url, "prices": {"input": 1.0, "output": 1.0}})
        assert price(own, "x", used) == pytest.approx(0.0011)


class GivesUp(Agent):
    """Ask, and do not wait for the answer."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask once to pin all it needs, then once more against a clock."""
        await ctx.ask("answers", {})
        await ctx.race(ctx.ask("answers", {}), ctx.sleep(0.001))
        return Result(answer="no time")


async def test_a_call_that_was_called_off_is_said_to_have_cost_what_it_may() -> None:
    asked: list[ModelRequest] = []

    async def answer(request: ModelRequest) -> ModelResponse:
        asked.append(request)
        if len(asked) > 1:
            await asyncio.Event().wait()
        return ModelResponse(text="x", usage=Usage(input_tokens=10, output_tokens=10, usd=0.00002))

    async with platform() as one:
        config = ModelConfig(name="slow", provider="test", max_output=500, prices=DEAR)
        one.models.add(config, FunctionModel(answer))
        await one.acp.register(GivesUp)
        await one.libraries["prompt"].register(PROMPT)
        outcome = await one.run("go", agent="gives_up", model="slow", budget={"usd": 2})
        assert (await one.replay(outcome.run)).to_json() == outcome.to_json()
    cost = outcome.cost
    assert (cost.steps, cost.tokens, cost.usd) == (2, 20, 0.00002)
    assert cost.unsettled["calls"] == 1
    assert cost.unsettled["tokens"] > 500
    assert cost.unsettled["usd"] == pytest.approx(0.5, abs=0.1)
    assert cost_words(cost).startswith("2 steps, 20 tokens, $0.00002; unsettled: 1 call, at most 5")


def test_what_is_known_of_the_money_is_said_beside_what_is_not() -> None:
    purse = BudgetAccount(Budget())
    purse.pay(Usage(input_tokens=5, usd=0.25), "a", "m")
    assert cost_words(purse.spent) == "0 steps, 5 tokens, $0.25"
    purse.pay(Usage(input_tokens=5, usd=None), "a", "n")
    assert cost_words(purse.spent) == "0 steps, 10 tokens, price unknown beside $0.25"


@pytest.mark.parametrize(
    ("limit", "remedy"),
    [
        ("--max-cost=0", "--max-cost"),
        ("--max-tokens=9", "--max-tokens"),
        ("--max-steps=1", "--max-steps"),
        ("--timeout=0.000001", "--timeout"),
    ],
)
async def test_a_budget_that_ended_is_named_in_the_remedy(limit: str, remedy: str, tmp_path: Path) -> None:
    adds = [said(CHAT, ADDS) for _ in range(3)]
    async with Loopback(*adds).open() as server:
        home(tmp_path, CHAT, server.url, prices={"input": 1, "output": 1})
        code, _, err = await tea(tmp_path, "run", "-q", "What is 6 * 7?", limit)
    assert (code, err.endswith(f"for example with {remedy}.\n")) == (5, True)


@pytest.mark.parametrize("wrong", ["--max-cost=nan", "--max-cost=inf", "--timeout=1e400", "--base-url=", "--model="])
async def test_a_limit_or_a_choice_that_says_nothing_is_refused(wrong: str, tmp_path: Path) -> None:
    code, _, err = await tea(tmp_path, "run", "-q", "What is 6 * 7?", wrong)
    assert (code, err.count("\n")) == (2, 1)
    assert wrong.split("=")[0].removeprefix("--max-").removeprefix("--") in err
    assert not (tmp_path / "traces").exists()


async def test_a_model_that_nothing_came_from_is_not_said_to_answer(tmp_path: Path) -> None:
    down = [document({"error": {"message": "boom"}}, 500, retry_after_ms="1") for _ in range(9)]
    async with Loopback(*down).open() as server:
        home(tmp_path, CHAT, server.url, limits={"attempts": 3})
        code, _, err = await tea(tmp_path, "run", "-v", "What is 6 * 7?")
    assert (code, "planner: asks fake" in err, "fake answers" in err) == (4, True, False)


async def test_the_model_of_the_first_agents_role_needs_a_price_too_before_anything_is_written(tmp_path: Path) -> None:
    home(tmp_path, CHAT, "http://127.0.0.1:1", '[roles]\nplanner = "unpriced"', prices={"input": 1, "output": 1})
    with (tmp_path / "tea.toml").open("a") as file:
        file.write('\n[models.unpriced]\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\n')
    with pytest.raises(BadInput, match="The price of the model 'unpriced' is not known"):
        await run(tmp_path, budget={"usd": 1})
    assert not (tmp_path / "traces").exists()


async def test_prices_of_a_home_count_for_keys_of_the_environment_once_they_are_granted(tmp_path: Path) -> None:
    (tmp_path / "tea.toml").write_text(
        'model = "fake"\n[models.fake]\nprovider = "openai_chat"\nmodel = "gpt-5"\nkey_env = "OPENAI_API_KEY"\n'
        "prices = {input = 0, output = 0}\n"
    )
    line = ("run", "What is 6 * 7?", "--max-cost", "0.000001")
    async with Loopback(answer=lambda _: said(CHAT, ENDS)).open() as server:
        given = {"OPENAI_API_KEY": "sk-of-the-operator-0123456789", "OPENAI_BASE_URL": server.url + CHAT.base}
        code, _, err = await tea(tmp_path, *line, **given)
        assert (code, server.asked) == (2, []), err
        assert "The price of the model 'fake' is not known" in err
        assert "counts what is paid with OPENAI_API_KEY at prices of its own" in err
        assert "left out until `tea trust --home` grants it" in err
        digest = re.search(r"sha256:\w+", (await tea(tmp_path, "trust", "--home", **given))[2])
        assert digest
        assert (await tea(tmp_path, "trust", "--home", f"@{digest[0]}", **given))[0] == 0
        code, out, err = await tea(tmp_path, *line, **given)
        assert (code, out.strip(), "prices of its own" in err) == (0, "42", False), err
        (tmp_path / "tea.toml").write_text((tmp_path / "tea.toml").read_text().replace("output = 0", "output = 0.01"))
        assert (await tea(tmp_path, *line, **given))[0] == 2  # the grant was of the others
