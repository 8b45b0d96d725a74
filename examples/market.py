"""An agent becomes an environment (A2E): a market in which traders act, and its actions become a toolkit (E2T)."""

import asyncio
import json

from tea import Agent, Context, Platform, Result, Task


class Market(Agent):
    """Run a market with one good, whose price follows demand."""

    role = "Market"
    rules = "Each sale raises the price by one. Nobody buys what is not in stock."

    async def run(self, ctx: Context, task: Task) -> Result:
        """Answer one order, and keep the books."""
        amount = json.loads(task.text)["arguments"]["amount"]
        books = await ctx.state.load() or {"price": 10, "stock": 5}
        if amount > books["stock"]:
            return Result(ok=False, reason=f"Only {books['stock']} left.")
        await ctx.state.save({"price": books["price"] + amount, "stock": books["stock"] - amount})
        return Result(answer=f"{amount} at {books['price']}")


class Traders(Agent):
    """Let three traders buy, side by side."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Trade, and look at the market."""
        async with ctx.group() as group:
            orders = [group.spawn(ctx.ecp.invoke("exchange#buy", {"amount": amount})) for amount in (2, 2, 2)]
        given = [order.result() for order in orders]
        bought = sorted(one.value if one.error is None else one.error["problem"] for one in given)
        return Result(answer={"bought": bought, "market": (await ctx.ecp.state("exchange")).value["state"]})


BUY = {
    "description": "Buy at the price of the moment.",
    "parameters": {"properties": {"amount": {"type": "integer", "minimum": 1}}, "required": ["amount"]},
}


async def main() -> None:
    """Register the agents, transform the market, and trade."""
    async with Platform() as tea:
        await tea.acp.register(Market)
        await tea.acp.register(Traders)
        [exchange] = await tea.transform("A2E", "market", name="exchange", actions={"buy": BUY})
        print(exchange.ref, exchange.rules)
        outcome = await tea.run("Trade.", agent="traders")
        print(json.dumps(outcome.answer, indent=2))
        print("replayed:", (await tea.replay(outcome.run)).answer == outcome.answer)
        for tool in await tea.transform("E2T", "exchange"):
            print(tool.ref, tool.description)


if __name__ == "__main__":
    asyncio.run(main())
