"""Test shared accounts of one provider: calls at once, calls a minute, and resting keys."""

import asyncio
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, said
from loopback import Asked, Loopback, Reply, document
from model_kit import HELLO, KEYS, no_tool

from tea.models.accounts import Account, Accounts
from tea.models.config import ModelConfig
from tea.models.connect import offer
from tea.models.manager import ModelManager


def offered(models: ModelManager, dialect: Dialect, url: str, name: str, **more: Any) -> None:
    given = {"provider": dialect.name, "base_url": url + dialect.base, "model": name, "key_env": "FAKE_KEY", **more}
    offer(models, ModelConfig.of(name, given), KEYS.get)


async def ask(models: ModelManager, name: str) -> str:
    return (await models.complete(HELLO.model_copy(update={"model": name}), no_tool)).text


async def test_configurations_of_one_key_share_the_strictest_limit(dialect: Dialect) -> None:
    """Each has a limit of its own, and one states none; another key has its own turns."""
    models = ModelManager()

    def answer(asked: Asked) -> Reply:
        return said(dialect, Say(text="x"))

    async with Loopback(answer=answer).open() as server:
        offered(models, dialect, server.url, "small", limits={"concurrency": 3})
        slow = {"base_url": f"{server.url}{dialect.base}/", "limits": {"concurrency": 2}}
        offered(models, dialect, server.url, "slow", **slow)
        offered(models, dialect, server.url, "free")
        offered(models, dialect, server.url, "other", key_env="SPARE_KEY", limits={"concurrency": 9})
        account = models.accounts.of(server.url + dialect.base, KEYS["FAKE_KEY"])
        await account.enter()
        await account.enter()
        async with asyncio.TaskGroup() as tasks:
            for name in ("small", "slow", "free"):
                tasks.create_task(ask(models, name))
            for _ in range(3):
                await ask(models, "other")
            assert [KEYS["SPARE_KEY"] in str(asked.headers) for asked in server.asked] == [True] * 3
            account.leave()
            account.leave()
        assert len(server.asked) == 6
        assert account.free
        await models.close()


async def test_a_key_that_one_configuration_saw_refused_rests_for_all() -> None:
    chat, models = DIALECTS["openai_chat"], ModelManager()
    replies = document({"error": {"message": "slow down"}}, 429, retry_after="50"), *[said(chat, Say(text="x"))] * 3
    async with Loopback(*replies).open() as server:
        for name in ("first", "second"):
            offered(models, chat, server.url, name, key_env="FAKE_KEY, SPARE_KEY")
        assert [await ask(models, name) for name in ("first", "first", "second")] == ["x"] * 3
        spare = [KEYS["SPARE_KEY"] in asked.headers["authorization"] for asked in server.asked]
        assert spare == [False, True, True, True]
        await models.close()


async def test_calls_a_minute_are_counted_together() -> None:
    now = [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    accounts = Accounts(sleep=sleep, clock=lambda: now[0])
    accounts.state("http://a/v1", ["k"], "one", {"requests_per_minute": 60})
    accounts.state("http://a/v1/", ["k"], "two", {"requests_per_minute": 30})
    accounts.state("http://a/v1", ["k"], "three", {})
    began: list[float] = []
    for _ in range(4):
        account = accounts.of("http://a/v1", "k")
        await account.enter()
        began.append(now[0])
        account.leave()
    assert began == [0, 2, 4, 6]
    accounts.state("http://a/v1", ["k"], "two", {})  # a new version of that configuration
    await accounts.of("http://a/v1", "k").enter()
    assert now[0] == 8
    await accounts.of("http://a/v1", "k").enter()
    assert now[0] == 9


async def test_turns_come_in_order_and_a_call_that_is_given_up_passes_its_turn_on() -> None:
    account = Account(asyncio.sleep, lambda: 0.0)
    account.state("a", {"concurrency": 1})
    order: list[int] = []

    async def call(number: int) -> None:
        await account.enter()
        order.append(number)
        await asyncio.sleep(0)
        account.leave()

    await account.enter()
    calls = [asyncio.ensure_future(call(number)) for number in range(5)]
    await asyncio.sleep(0)
    calls[1].cancel()
    account.leave()  # hands its place to call 0, which is then given up too
    calls[0].cancel()
    for one in calls[:2]:
        with pytest.raises(asyncio.CancelledError):
            await one
    await asyncio.gather(*calls[2:])
    assert order == [2, 3, 4]
    assert account.free
