"""What only environments have: a state, one instance for each session and version, setup and teardown."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from elsewhere import open_platform

from tea.errors import BadComponent
from tea.protocols.ecp import ECPServer
from tea.runtime.platform import Platform

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
