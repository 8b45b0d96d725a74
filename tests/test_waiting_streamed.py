"""Test streaming: the events of work as they happen, its result last, and its end with the stream."""

import asyncio
from collections.abc import Callable

import pytest

from tea.waiting import streamed


async def test_events_come_before_the_result_and_an_error_after_them() -> None:
    async def work(tell: Callable[[str | None], None]) -> int:
        tell("one")
        await asyncio.sleep(0)
        tell(None)
        return 7

    async def broken(tell: Callable[[str], None]) -> int:
        tell("one")
        raise LookupError("lost")

    assert [one async for one in streamed(work)] == ["one", None, 7]
    seen: list[object] = []
    with pytest.raises(LookupError, match="lost"):
        seen += [seen.append(one) async for one in streamed(broken)]
    assert seen == ["one"]


async def test_work_ends_with_the_stream_and_its_cleanup_is_awaited() -> None:
    ended = list[str]()

    async def work(tell: Callable[[str], None]) -> None:
        try:
            tell("one")
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("cleaned up")

    events = streamed(work)
    assert await anext(events) == "one"
    await events.aclose()
    assert ended == ["cleaned up"]
