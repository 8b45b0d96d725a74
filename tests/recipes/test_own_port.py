"""Test the reach of an agent made of tools or environments, with any loop."""

from typing import Any

import pytest
from transform_kit import JOIN, called, chooser, furnish

from tea import Context, Result, Task
from tea.errors import BadComponent, TeaError
from tea.testing import platform


async def tried(ctx: Context, task: Task, **_: Any) -> Result:
    """A loop trying forbidden things, and reporting the results."""
    await ctx.memory.record("tried", {"n": 1})
    calls = {
        "own": await ctx.tcp.invoke("join", {"text": "a"}),
        "pinned": await ctx.tcp.invoke("join@1.0.1", {"text": "a"}),
        "other": await ctx.tcp.invoke("other", {"text": "a"}),
        "agent": await ctx.acp.invoke("echo", Task(text="a")),
        "place": await ctx.ecp.invoke("join#write", {"line": "a"}),
        "done": await ctx.tcp.invoke("done", {"answer": 1}),
    }
    given: dict[str, Any] = {name: one.error and one.error["code"] for name, one in calls.items()}
    given["said"] = [calls["own"].value, calls["pinned"].value]
    given["list"] = [one["name"] for one in await ctx.tcp.list()] + [one["name"] for one in await ctx.ecp.list()]
    given["near"] = [one["name"] for one in await ctx.tcp.retrieve("say a text", 5)]
    given["told"] = [(await ctx.tcp.info(name))["name"] for name in ("join", "done")]
    try:
        await ctx.tcp.info("other")
    except TeaError as error:
        given["info"] = error.problem
    async with ctx.timeout(60), ctx.group() as group:
        group.spawn(ctx.sleep(0))
        given["race"] = (await ctx.race(ctx.sleep(0), ctx.sleep(30)))[0]
    return Result(answer=given)


async def test_an_agent_made_of_tools_reaches_them_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async with platform() as made:
        await furnish(made)
        await made.tcp.register(JOIN.replace("def join", "def other"))
        await made.transform("T2A", "join", name="speaker")
        await made.tcp.update("join", JOIN.replace("text * times", "'new'"))
        monkeypatch.setattr(made.tcp.manager.services.recipes, "_work", tried)
        [given] = await called(made, ("agent", "speaker", {"task": {"text": "Try."}}))
        denied = {"other": "Denied", "agent": "Denied", "place": "Denied"}
        assert given["answer"] == {
            "own": None,
            "pinned": None,
            "done": None,
            **denied,
            "said": ["a", "a"],
            "list": ["join", "done"],
            "near": ["join"],
            "told": ["join", "done"],
            "info": "agent:speaker does not know tool:other.",
            "race": 0,
        }


async def test_a_tool_called_state_is_guarded_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async def observed(ctx: Context, task: Task, **_: Any) -> Result:
        called = await ctx.tcp.invoke("state", {"text": "a"})
        return Result(answer=called.error and called.error["problem"])

    async with platform() as made:
        await furnish(made)
        await made.tcp.register(JOIN.replace("def join", "def state"))
        guard = JOIN.replace("def join(text: str, times: int = 1)", "def wary(action: str)")
        await made.tcp.register(
            guard.partition("    Args:")[0] + '    """\n    return "" if action == "task" else "Not now."\n'
        )
        await made.transform("T2A", "state", name="watcher", guard="wary")
        monkeypatch.setattr(made.tcp.manager.services.recipes, "_work", observed)
        [given] = await called(made, ("agent", "watcher", {"task": {"text": "Look."}}))
        assert given["answer"] == "Not now."


async def test_a_guard_that_gives_no_words_is_refused_and_lets_nothing_pass_where_it_came_to_that() -> None:
    wary = '''
from typing import Any

from tea import tool


@tool(effects="reads", idempotent=True, network=False)
async def wary(action: str) -> RETURNS:
    """Say why not."""
    return GIVEN
'''
    async with platform(model=chooser()) as made:
        await furnish(made)
        for returns in ("str", "str | None", "Any"):
            await made.tcp.register(wary.replace("RETURNS", returns).replace("GIVEN", "''"))
            await made.transform("T2A", "join", name="speaker", guard="wary")
        assert (await made.run("Speak.", agent="speaker")).reason == ""
        for verdict in ("bool", "dict[str, str]"):
            await made.tcp.register(wary.replace("RETURNS", verdict).replace("GIVEN", "False"))
            with pytest.raises(BadComponent, match="does not return text"):
                await made.transform("T2A", "join", name="other", guard="wary")
        await made.tcp.update("wary", wary.replace("RETURNS", "bool").replace("GIVEN", "False"))
        refused = await made.run("Speak.", agent="speaker")
        assert (refused.status, "gave no words" in refused.reason) == ("failed", True)
