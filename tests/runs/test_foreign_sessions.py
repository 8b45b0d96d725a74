"""Test foreign sessions: no run from elsewhere works in the session of others."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from journals import rewrite

from tea.errors import ApprovalNeeded
from tea.platform import Platform

REMEMBERER = '''
from tea import Agent, Context, Result, Task


class Rememberer(Agent):
    """Remember the task, ask, and tell what is remembered."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        await ctx.memory.record("note", {"text": task.text})
        await ctx.person("Go on?")
        return Result(answer=await ctx.memory.summarise())
'''


@pytest.fixture
async def tea(tmp_path: Path) -> AsyncIterator[Platform]:
    async with Platform(tmp_path / "home", state=tmp_path / "state") as made:
        await made.acp.register(REMEMBERER)
        yield made


async def remembering(tea: Platform, task: str, **options: Any) -> str:
    """Return a waiting run with its task in memory."""
    with pytest.raises(ApprovalNeeded) as asked:
        await tea.run(task, agent="rememberer", **options)
    assert asked.value.run
    return asked.value.run


def in_session(tea: Platform, session: str, run: str) -> str:
    """Return a run from elsewhere, made of a run of this account, in a session."""

    def change(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        records[0]["data"]["setting"]["session"] = session
        return records

    other = rewrite(tea.home, run, change)
    (tea.home / "traces" / other / "workspace").mkdir()
    return other


@pytest.mark.parametrize("named", ["", "work"])
async def test_no_run_from_elsewhere_is_told_what_another_session_remembers(tea: Platform, named: str) -> None:
    ours = await remembering(tea, "PRIVATE", **({"session": named} if named else {}))
    other = in_session(tea, named or ours, await remembering(tea, "theirs"))
    (question,) = (await tea.inbox(other)).questions
    assert "PRIVATE" not in str((await tea.resume(other, answers={question.key: "yes"})).answer)


async def test_no_run_from_elsewhere_is_remembered_in_another_session(tea: Platform) -> None:
    ours = await remembering(tea, "ours")
    other = in_session(tea, ours, await remembering(tea, "THEIRS"))
    (question,) = (await tea.inbox(other)).questions
    await tea.resume(other, answers={question.key: "yes"})
    (question,) = (await tea.inbox(ours)).questions
    assert "THEIRS" not in str((await tea.resume(ours, answers={question.key: "yes"})).answer)


async def test_no_fork_of_a_run_from_elsewhere_is_told_what_another_session_remembers(tea: Platform) -> None:
    ours = await remembering(tea, "PRIVATE")
    other = in_session(tea, ours, await remembering(tea, "theirs"))
    with pytest.raises(ApprovalNeeded) as asked:
        await tea.fork(other, at=3)
    (question,) = (await tea.inbox(fork := str(asked.value.run))).questions
    assert "PRIVATE" not in str((await tea.resume(fork, answers={question.key: "yes"})).answer)
