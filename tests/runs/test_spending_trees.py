"""Test spending in random trees of agents over failing models: budgets hold
to what was allowed, is the sum of its parts, and is the same when the run is replayed."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from journals import PROMPT

from tea import Agent, Budget, BudgetExceeded, Context, Result, Task, TeaError
from tea.errors import BadInput, ProviderError
from tea.journal.recorder import Event
from tea.models.config import ModelConfig
from tea.models.manager import Listen, Payer
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.testing import FunctionModel
from tea.types import Attempt, ModelRequest, ModelResponse, TextPart, Usage

NAMES = ("cheap", "dear", "other")


class Node(Agent):
    """Follow a plan."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Do the plan, side by side or in a row; return the result of each part."""
        import json

        async def act(part: Any) -> str:
            try:
                if part["do"] == "ask":
                    return (await ctx.ask("answers", {}, model=part["model"])).text
                if part["do"] == "race":
                    await ctx.race(ctx.ask("answers", {}, model=part["model"]), ctx.sleep(part["seconds"]))
                    return "raced"
                if part["do"] == "tool":
                    return str((await ctx.tcp.invoke("node_tool", {"task": json.dumps(part["plan"])})).ok)
                budget = Budget.model_validate(part["budget"]) if part["budget"] else None
                return str((await ctx.acp.invoke("node", Task(text=json.dumps(part["plan"]), budget=budget))).ok)
            except BudgetExceeded as error:
                return f"ended: {error.problem}"
            except TeaError as error:
                return f"failed: {error.problem}"

        plan: Any = json.loads(task.text)
        said: list[str] = []
        if plan["together"]:
            async with ctx.group() as group:
                parts = [group.spawn(act(part)) for part in plan["parts"]]
            said = [one.result() for one in parts]
        else:
            for part in plan["parts"]:
                said.append(await act(part))
                ctx.so_far(Result(answer=len(said)))
        ended = [one for one in said if one.startswith("ended")]
        return Result(answer=said, ok=not ended, reason=ended[0] if ended else "", exhausted=bool(ended))


def plan_of(chance: random.Random, depth: int = 0) -> dict[str, Any]:
    def part() -> dict[str, Any]:
        roll = chance.random()
        if roll < 0.5 or depth == 3:
            return {"do": "ask", "model": chance.choice(["cheap", *NAMES])}
        if roll < 0.6:
            return {"do": "race", "model": chance.choice(["cheap", *NAMES]), "seconds": chance.choice([0.0, 0.001])}
        some = {"tokens": chance.choice([500, 1500, 5000]), "usd": chance.choice([0.001, 0.02, 0.1]), "steps": 2}
        budget = {name: value for name, value in some.items() if chance.random() < 0.4}
        return {"do": chance.choice(["tool", "give", "give"]), "budget": budget, "plan": plan_of(chance, depth + 1)}

    return {"together": chance.random() < 0.5, "parts": [part() for _ in range(chance.randint(2, 4))]}


class Breaking(FunctionModel):
    """Answers, broken off now and then, and billed."""

    def __init__(self, answer: Callable[[ModelRequest], Awaitable[ModelResponse]], providers: "Providers") -> None:
        super().__init__(answer)
        self._answer, self._chance = answer, providers.chance

    async def tell(
        self, request: ModelRequest, config: ModelConfig, listen: Listen | None, payer: Payer | None
    ) -> ModelResponse:
        assert payer is not None
        while self._chance.random() < 0.75:
            await asyncio.sleep(0)
            asked, output = asked_of(request), self._chance.randint(0, request.max_output or 0)
            prices = config.prices
            usd = (asked * prices["input"] + output * prices["output"]) / 1e6 if prices else None
            used = Usage(input_tokens=asked, output_tokens=output, usd=usd)
            payer.lost(Attempt(model=config.name, problem="It broke."), used)
            await asyncio.sleep(0)
            request = request.model_copy(update={"max_output": payer.ready()})
        return await self._answer(request)


def asked_of(request: ModelRequest) -> int:
    words = (part.text for one in request.messages for part in one.content if isinstance(part, TextPart))
    return max(1, sum(map(len, words)) // 4)


class Providers:
    """Models failing now and then, never using more than their question and greatest answer."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.calls = 0

    def offer(self, tea: Platform) -> None:
        for name in NAMES:
            others = [one for one in NAMES if one != name]
            scale = 1 if name == "cheap" else 100
            prices = {"input": scale * self.chance.uniform(0.1, 1), "output": scale * self.chance.uniform(0.5, 5)}
            if name == "other" and self.chance.random() < 0.15:
                prices = {}
            config = ModelConfig(
                name=name,
                provider="test",
                max_output=self.chance.choice([100, 400, 1000]),
                prices=prices,
                fallbacks=tuple(self.chance.sample(others, self.chance.randint(1, 2))),
            )
            tea.models.add(config, Breaking(self.answering(name, prices), self))

    def answering(self, name: str, prices: dict[str, float]) -> Callable[[ModelRequest], Awaitable[ModelResponse]]:
        async def answer(request: ModelRequest) -> ModelResponse:
            self.calls += 1
            await asyncio.sleep(0)
            if self.chance.random() < 0.4:
                raise ProviderError(f"{name} is down.", fix="wait.")
            asked, most = asked_of(request), request.max_output or 0
            output, cached = self.chance.choice([0, most // 2, most]), self.chance.choice([0, asked // 2])
            usd = None
            if prices:
                usd = ((asked - cached * 0.9) * prices["input"] + output * prices["output"]) / 1e6
            used = Usage(input_tokens=asked, cached_tokens=cached, output_tokens=output, usd=usd)
            return ModelResponse(text="x", usage=used, answered_by=name)

        return answer


async def carried_out(tea: Platform, task: dict[str, Any], stop_after: int | None) -> Outcome:
    """Run a task, and go on with it after each stop."""
    reached, seen = asyncio.Event(), list[Event]()

    def watch(event: Event) -> None:
        seen.append(event)
        if len(seen) == stop_after:
            reached.set()

    running = asyncio.ensure_future(tea.run(task, watch=watch))
    waiting = asyncio.ensure_future(reached.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if not running.done():
        running.cancel()
    try:
        return await running
    except asyncio.CancelledError:
        ended = any(one.kind == "end" for one in tea.tracer.records(tea.tracer.find("last")))
        return await (tea.replay("last") if ended else tea.resume("last"))


def unpriced(tea: Platform) -> bool:
    """Whether a model of unknown price may answer the first agent."""
    return not all(one.prices for one in tea.models.chain(tea.models.config("cheap")))


@pytest.mark.parametrize("seed", [*range(16), 82, 174, 278])
async def test_no_tree_of_agents_and_models_overspends(seed: int, tmp_path: Path) -> None:
    chance, providers = random.Random(seed), Providers(seed)
    some = {"usd": (chance.choice([0.002, 0.01, 0.05]), 0.8), "tokens": (chance.choice([400, 1300, 2600, 4000]), 0.5)}
    some |= {"steps": (8, 0.3)}
    budget: dict[str, Any] = {name: value for name, (value, often) in some.items() if chance.random() < often}
    budget |= {"unknown_price": True} if chance.random() < 0.5 else {}
    task = {"task": json.dumps(plan_of(chance)), "agent": "node", "model": "cheap", "budget": budget}
    async with Platform(tmp_path, state=tmp_path / "state") as tea:
        providers.offer(tea)
        await tea.acp.register(Node)
        await tea.libraries["prompt"].register(PROMPT)
        await tea.transform("A2T", ["agent:node"], name="node_tool")
        stop_after = chance.choice([None, None, chance.randint(3, 40)])
        if "usd" in budget and "unknown_price" not in budget and unpriced(tea):
            with pytest.raises(BadInput, match="is not known, so it cannot be held"):
                await carried_out(tea, task, stop_after)
            assert providers.calls == 0
            return
        outcome = await carried_out(tea, task, stop_after)
        calls, cost = providers.calls, outcome.cost
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    assert providers.calls == calls
    parts = cost.by.values()
    known = sum(one["usd"] or 0.0 for one in parts)
    assert (cost.tokens, cost.cached) == (sum(one["tokens"] for one in parts), sum(one["cached"] for one in parts))
    assert cost.usd == (None if any(one["usd"] is None for one in parts) else pytest.approx(known))
    assert cost.tokens <= budget.get("tokens", cost.tokens)
    assert known <= budget.get("usd", known) + 1e-9
    assert cost.steps <= budget.get("steps", cost.steps)
