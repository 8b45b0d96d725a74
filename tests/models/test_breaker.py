"""Test the breaker: a failing provider is left alone; then one call tries it for all."""

import asyncio
import os
import resource
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from dialects import DIALECTS
from model_kit import HELLO, Asking

from tea.errors import ProviderError, ResourceExhausted
from tea.models.config import ModelConfig
from tea.models.failure import CallFailure
from tea.models.retrying import FAILURES, Retrying
from tea.types import ModelResponse

CONFIG = ModelConfig(name="fake", provider="test")
FINE = ModelResponse(text="fine")


class Provider:
    """Counts its tries and answers, fails or hangs, as it is told."""

    def __init__(self) -> None:
        self.now = 0.0
        self.tries = self.busy = self.most = 0
        self.answer: Callable[[], Awaitable[ModelResponse]] = down
        self.retrying = Retrying({"attempts": 1}, sleep=self.sleep, clock=lambda: self.now, chance=lambda: 0.5)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    async def attempt(self, seconds: float) -> ModelResponse:
        self.tries += 1
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            return await self.answer()
        finally:
            self.busy -= 1

    async def ask(self) -> str:
        try:
            return (await self.retrying.run(self.attempt, CONFIG, lambda: None))[0].text
        except ProviderError as error:
            return "alone" if "left alone" in error.problem else "down"

    async def opened(self) -> None:
        """Fail until it is left alone, and wait until it may be tried again."""
        self.answer = down
        assert [await self.ask() for _ in range(6)] == ["down"] * 5 + ["alone"]
        self.now += 31
        self.tries = self.most = 0


async def down() -> ModelResponse:
    raise CallFailure("down", again=True, status=500)


def held(reply: Callable[[], Awaitable[ModelResponse]]) -> tuple[asyncio.Event, Callable[[], Awaitable[ModelResponse]]]:
    """A reply held until it is let go."""
    let = asyncio.Event()

    async def answer() -> ModelResponse:
        await let.wait()
        return await reply()

    return let, answer


async def fine() -> ModelResponse:
    return FINE


async def settled(*tasks: asyncio.Task[str]) -> list[str]:
    for _ in range(20):
        await asyncio.sleep(0)
    return [one.result() if one.done() else "waits" for one in tasks]


@pytest.mark.parametrize(("reply", "first", "after"), [(fine, "fine", "fine"), (down, "down", "alone")])
async def test_after_its_pause_one_call_of_fifty_tries_it_and_the_others_are_sent_elsewhere(
    reply: Callable[[], Awaitable[ModelResponse]], first: str, after: str
) -> None:
    one = Provider()
    await one.opened()
    let, one.answer = held(reply)
    asked = [asyncio.create_task(one.ask()) for _ in range(50)]
    assert await settled(*asked) == ["waits"] + ["alone"] * 49
    let.set()
    assert await settled(asked[0]) == [first]
    assert (one.tries, await one.ask()) == (1, after)
    assert one.most == 1


async def test_a_trial_that_is_called_off_leaves_the_next_call_to_try() -> None:
    one = Provider()
    await one.opened()
    _, one.answer = held(fine)
    asked = asyncio.create_task(one.ask())
    assert await settled(asked) == ["waits"]
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    one.answer = fine
    assert [await one.ask(), await one.ask()] == ["fine", "fine"]


async def test_a_trial_that_the_provider_refuses_shows_that_it_is_there() -> None:
    async def refuse() -> ModelResponse:
        raise CallFailure("no", again=False, status=400)

    async def broken() -> ModelResponse:
        raise RuntimeError("a defect")

    one = Provider()
    await one.opened()
    one.answer = broken
    with pytest.raises(RuntimeError):
        await one.ask()
    one.answer = refuse
    assert [await one.ask(), await one.ask()] == ["down", "down"]
    one.answer = down
    assert [await one.ask(), await one.ask()] == ["down", "alone"]


async def test_many_calls_that_are_put_off_at_once_leave_a_provider_in_use() -> None:
    async def busy() -> ModelResponse:
        raise CallFailure("too many requests", again=True, status=429)

    one = Provider()
    one.answer = busy
    assert set(await asyncio.gather(*(one.ask() for _ in range(10)))) == {"down"}
    one.answer = fine
    assert await one.ask() == "fine"


class Outage(Provider):
    """Answers, then is down for some seconds of its clock."""

    def __init__(self, seconds: float, limits: dict[str, float]) -> None:
        super().__init__()
        self.retrying = Retrying(limits, sleep=self.sleep, clock=lambda: self.now, chance=lambda: 0.5)
        self.back, self.answer = seconds, self.reply

    async def reply(self) -> ModelResponse:
        return await (down() if 0 < self.now < self.back else fine())

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:  # side by side with other calls: one clock for all
            await asyncio.sleep(0)
            self.now += 0.05


@pytest.mark.parametrize(
    ("seconds", "limits", "fallbacks", "found"),
    [
        (60, {}, (), "fine"),
        (60, {}, ("spare",), "down"),
        (60, {"attempts": 5}, (), "down"),
        (10_000, {}, (), "down"),
    ],
)
async def test_a_provider_that_has_answered_is_waited_for_where_nobody_else_can_answer(
    seconds: float, limits: dict[str, float], fallbacks: tuple[str, ...], found: str
) -> None:
    one = Outage(seconds, limits)
    assert await one.ask() == "fine"
    one.now, config = 0.01, ModelConfig(name="fake", provider="test", fallbacks=fallbacks)
    try:
        response, failed = await one.retrying.run(one.attempt, config)
        assert (response.text, found) == ("fine", "fine")
        assert sum(each.waited or 0 for each in failed) == pytest.approx(one.now, abs=1)
    except ProviderError:
        assert found == "down"
    assert one.now < 150


async def test_a_provider_that_never_answered_fails_soon() -> None:
    one = Outage(60, {})
    one.now = 0.01
    assert await one.ask() == "down"
    assert one.now < 10


@pytest.mark.parametrize("limits", [{}, {"attempts": 12}])
async def test_an_outage_ends_none_of_the_calls_at_once(limits: dict[str, float]) -> None:
    one = Outage(12, limits)
    assert await one.ask() == "fine"
    one.now = 0.01
    assert await asyncio.gather(*(one.ask() for _ in range(10))) == ["fine"] * 10
    assert one.now < 60


async def test_a_call_waiting_for_the_breaker_may_be_refused_its_next_try() -> None:
    one = Outage(10_000, {})
    assert await one.ask() == "fine"
    one.now = 0.01
    assert await one.ask() == "down"
    with pytest.raises(RuntimeError, match="no budget"):
        await one.retrying.run(one.attempt, CONFIG, lambda: (_ for _ in ()).throw(RuntimeError("no budget")))


async def test_what_this_machine_lacks_never_counts_against_a_provider() -> None:
    provider = Provider()

    async def lacking() -> ModelResponse:
        raise ResourceExhausted("Too many open files.", fix="open fewer.")

    provider.answer = lacking
    for _ in range(20):
        with pytest.raises(ResourceExhausted):
            await provider.ask()
    assert provider.tries == 20
    provider.answer = fine
    assert await provider.ask() == "fine"


@contextmanager
def starved() -> Iterator[None]:
    """Leave this process without a free descriptor in the body."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 1, hard))
    try:
        with suppress(OSError):
            while True:
                opened.append(os.open(os.devnull, os.O_RDONLY))
        yield
    finally:
        for one in opened:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_line_without_descriptors_says_so_and_not_that_nothing_answers() -> None:
    one = Asking(DIALECTS["openai_chat"], "http://127.0.0.1:9", limits={"attempts": 1})
    try:
        with pytest.raises(ProviderError, match="nothing answers"):
            await one.ask(HELLO)
        for _ in range(FAILURES + 1):
            with starved(), pytest.raises(ResourceExhausted, match="cannot be reached: Too many open files"):
                await one.ask(HELLO)
        with pytest.raises(ProviderError, match="nothing answers"):
            await one.ask(HELLO)
    finally:
        await one.model.close()
