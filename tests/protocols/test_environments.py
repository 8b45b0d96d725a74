"""Test environments alone: a state, one instance for each session and version, setup and teardown."""

import asyncio
import logging
import os
from pathlib import Path
from typing import Any

import pytest
from elsewhere import open_platform

from tea.errors import BadComponent
from tea.platform import Platform
from tea.protocols.ecp import ECPServer

COUNTER = '''
import asyncio

from tea import Context, Environment, action


class Counter(Environment):
    """Counts."""

    name = "counter"
    count = 0
    inside = 0
    most = 0

    async def setup(self, ctx: Context) -> None:
        """Begin."""
        {setup}

    async def teardown(self) -> None:
        """End."""
        {teardown}

    async def state(self) -> int:
        """Return the count."""
        return self.count

    @action({traits})
    async def add(self, by: int = 1) -> int:
        """Count on, slowly enough for others to come between."""
        self.inside += 1
        self.most = max(self.most, self.inside)
        found = self.count
        await asyncio.sleep(0)
        self.count = found + by
        self.inside -= 1
        return self.count

    @action
    async def crowd(self) -> int:
        """Return how many were inside at once."""
        return self.most

    @action
    async def fail(self) -> None:
        """Fail."""
        raise ValueError("boom")
'''

LINKED = '''
import asyncio
import os

from tea import Context, Environment, action


class Linked(Environment):
    """Acts in another."""

    name = "{name}"

    async def setup(self, ctx: Context) -> None:
        """Begin."""
        {setup}

    async def state(self) -> str:
        """Return nothing of interest."""
        return ""

    @action
    async def act(self, ctx: Context) -> str:
        """Act in the other, when told to."""
        {meet}
        return (await ctx.ecp.state("{other}")).unwrap()
'''

CALLER = '''
from tea import Agent, Context, Result, Task


class Caller(Agent):
    """Counts in both ways of naming an action."""

    name = "caller"

    async def run(self, task: Task, ctx: Context) -> Result:
        """Count four times."""
        ways = (("counter#add", {"by": 2}), ("counter", "add", {"by": 2}), ("counter#add", {}), ("counter", "add"))
        return Result(answer=[(await ctx.ecp.invoke(*way)).unwrap() for way in ways])
'''


def counter(*, setup: str = "pass", teardown: str = "pass", traits: str = "", more: str = "") -> str:
    return COUNTER.format(setup=setup, teardown=teardown, traits=traits).lstrip() + more


@pytest.fixture
async def platform(tmp_path: Path) -> Any:
    platform = open_platform(tmp_path)
    yield platform
    await platform.__aexit__(None, None, None)


@pytest.fixture
def ecp(platform: Platform) -> ECPServer:
    return platform.ecp


async def value(ecp: ECPServer, ref: str, session: str | None = "s", **arguments: Any) -> Any:
    return (await ecp.invoke(ref, arguments, session=session)).unwrap()


async def test_state_is_kept_within_a_session_and_apart_between_sessions(ecp: ECPServer) -> None:
    await ecp.register(counter())
    assert [await value(ecp, "counter#add", by=2) for _ in range(2)] == [2, 4]
    assert await value(ecp, "counter#add", "other") == 1
    assert (await ecp.state("counter", session="s")).value == 4
    assert (await ecp.state("counter", session="other")).unwrap() == 1
    assert (await ecp.state("counter")).value == 0
    assert (await ecp.state("missing")).ok is False


async def test_an_agent_names_an_action_in_the_ref_or_beside_it(platform: Platform) -> None:
    await platform.ecp.register(counter())
    await platform.acp.register(CALLER)
    async with platform:
        assert (await platform.run("count", agent="caller")).answer == [2, 4, 5, 6]


async def test_without_a_session_each_call_begins_anew(ecp: ECPServer) -> None:
    await ecp.register(counter())
    assert [await value(ecp, "counter#add", None) for _ in range(2)] == [1, 1]


async def test_actions_of_one_session_wait_for_each_other(ecp: ECPServer) -> None:
    await ecp.register(counter())
    await asyncio.gather(*(value(ecp, "counter#add") for _ in range(8)))
    assert await value(ecp, "counter#state") == 8
    assert await value(ecp, "counter#crowd") == 1


async def test_actions_declared_concurrent_do_not(ecp: ECPServer) -> None:
    await ecp.register(counter(traits="concurrent=True"))
    await value(ecp, "counter#state")
    await asyncio.gather(*(value(ecp, "counter#add") for _ in range(8)))
    assert await value(ecp, "counter#crowd") > 1


async def test_an_action_that_fails_leaves_the_environment_usable(ecp: ECPServer) -> None:
    await ecp.register(counter())
    await value(ecp, "counter#add")
    found = await ecp.invoke("counter#fail", session="s")
    assert found.error is not None
    assert found.error["code"] == "CallFailed"
    assert await value(ecp, "counter#add") == 2


async def test_a_setup_that_fails_is_an_answer_and_is_tried_anew(ecp: ECPServer, tmp_path: Path) -> None:
    flag = tmp_path / "ready"
    setup = f"if not pathlib.Path({str(flag)!r}).exists(): raise ValueError('not yet')"
    await ecp.register("import pathlib\n" + counter(setup=setup))
    found = await asyncio.gather(*(ecp.invoke("counter#add", {}, session="s") for _ in range(2)))
    assert [one.error["code"] for one in found if one.error is not None] == ["CallFailed", "CallFailed"]
    assert "not yet" in str(found[0].error)
    flag.touch()
    assert await value(ecp, "counter#add") == 1


async def test_the_end_of_a_session_tears_down_and_one_that_raises_does_not_stop_the_others(
    platform: Platform, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ended = tmp_path / "ended"
    ended.mkdir()
    teardown = f"(pathlib.Path({str(ended)!r}) / str(self.count)).touch(); 1 // (self.count - 1)"
    await platform.ecp.register("import pathlib\n" + counter(teardown=teardown))
    for session in ("a", "b", "c"):
        for _ in range("abc".index(session) + 1):
            await value(platform.ecp, "counter#add", session)
    with caplog.at_level(logging.WARNING):
        await platform.__aexit__(None, None, None)
    assert sorted(path.name for path in ended.iterdir()) == ["1", "2", "3"]
    assert "ZeroDivisionError" in caplog.text
    assert await value(platform.ecp, "counter#add", "a") == 1


async def test_a_cancelled_end_still_tears_down(platform: Platform, tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    teardown = f"await asyncio.sleep(0); await asyncio.sleep(0); pathlib.Path({str(ended)!r}).touch()"
    await platform.ecp.register("import pathlib\n" + counter(teardown=teardown))
    await value(platform.ecp, "counter#add")
    ending = asyncio.ensure_future(platform.__aexit__(None, None, None))
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert ended.exists()


@pytest.mark.parametrize("name", ["Add", "_add", "été", "a" * 65])
async def test_an_action_that_no_ref_can_name_is_refused(ecp: ECPServer, name: str) -> None:
    more = f'\n    @action\n    async def {name}(self) -> int:\n        """Count."""\n        return 1\n'
    with pytest.raises(BadComponent, match="not a name for an action"):
        await ecp.register(counter(more=more))


async def test_of_actions_that_would_wait_for_each_other_in_a_circle_one_is_told_so(ecp: ECPServer) -> None:
    (ended, begun), (told, tell) = os.pipe(), os.pipe()
    meet = f'os.write({begun}, b"."); await asyncio.to_thread(os.read, {told}, 1)'
    for name, other in ("ann", "bob"), ("bob", "cem"), ("cem", "ann"):
        await ecp.register(LINKED.format(name=name, other=other, meet=meet, setup="pass"))
    acting = [asyncio.create_task(ecp.invoke(f"{name}#act", {}, session="s")) for name in ("ann", "bob", "cem")]
    for _ in acting:
        await asyncio.to_thread(os.read, ended, 1)
    os.write(tell, b"...")
    async with asyncio.timeout(30):
        given = await asyncio.gather(*acting)
    assert [str(one.error).count("whose action would wait for it") for one in given if not one.ok] == [1]
    assert all(one.ok for one in await asyncio.gather(*[ecp.state(f"{name}", session="s") for name in ("ann", "bob")]))
    for descriptor in (ended, begun, told, tell):
        os.close(descriptor)


async def test_a_setup_that_acts_in_what_it_sets_up_is_told_so(ecp: ECPServer) -> None:
    setup = 'await ctx.sleep(0); (await ctx.ecp.state("ann")).unwrap()'
    await ecp.register(LINKED.format(name="ann", other="bob", meet="pass", setup=setup))
    async with asyncio.timeout(30):
        given = await ecp.invoke("ann#act", {}, session="s")
    assert "cannot act in it again before it has ended" in str(given.error)
