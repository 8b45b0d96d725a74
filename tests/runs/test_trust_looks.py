"""Trust in a run: how often a call looks at the operator's list."""

import os
from collections import Counter
from typing import Any

import pytest

from tea.testing import platform

CALLER = '''
from tea import Agent, Context, Result, Task


class Caller(Agent):
    """Call the tool so many times."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        for number in range(int(task.text)):
            await ctx.tcp.invoke("echo", {"text": str(number)})
        return Result(answer=task.text)
'''

ECHO = '''
from tea import tool


@tool(effects="reads", idempotent=True)
async def echo(text: str) -> str:
    """Return a text."""
    return text
'''


async def test_a_call_in_a_run_looks_at_the_trusted_digests_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Counter[str]()
    stat = os.stat

    def counted(path: Any, **more: Any) -> os.stat_result:
        looked[str(path)] += 1
        return stat(path, **more)

    async with platform() as tea:
        await tea.tcp.register(ECHO)
        await tea.acp.register(CALLER)
        await tea.run("1", agent="caller")
        while not all(tea.versions.store.mark(*one) for one in (("tool", "echo"), ("agent", "caller"))):
            await tea.run("1", agent="caller")  # shortly after a change each run looks a component up anew
        monkeypatch.setattr(os, "stat", counted)
        trusted = str(tea.trust.path)

        async def looks(calls: int) -> int:
            """Return the least looks of several equal runs: what else is at work beside one may look too."""
            found = list[int]()
            for _ in range(5):
                await tea.run(str(calls), agent="caller")
                found.append(looked.pop(trusted))
            return min(found)

        assert await looks(11) - await looks(1) == 2 * 10  # as it begins, and as its outcome is delivered
