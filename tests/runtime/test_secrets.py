"""Secrets of the operator, planted wherever a run could meet them, are nowhere in what is written or told."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.errors import ApprovalNeeded
from tea.runtime.entry import encode
from tea.runtime.mask import Mask, secrets_among
from tea.runtime.platform import Platform
from tea.runtime.recorder import Event

ENVIRONMENT, FILE = 'env-"quoted"\\slash-planted', "file-planted-0123456789"

LEAK = '''
import os

from tea import Context, ToolError, tool


@tool(effects="writes", idempotent=True)
async def leak(ctx: Context, how: str, word: str = "") -> str:
    """Give away what it finds."""
    found = os.environ["CLOUD_TOKEN"]
    ctx.note("seen", {"found": found})
    await ctx.memory.record("found", {"found": found})
    if how == "inside":
        await ctx.tcp.invoke("leak", {"how": "result", "word": found})
    if how == "error":
        raise ToolError(f"It is {found}.", fix=f"forget {found}.")
    if how == "crash":
        raise RuntimeError(found)
    if how == "ask":
        return await ctx.person(f"Is it {found}?")
    return found + word
'''

LEAKER = '''
from tea import Agent, Context, Result, Task


class Leaker(Agent):
    """Ask for every leak, and tell all."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Tell."""
        said = [task.text]
        for how in ("result", "inside", "error", "crash", "ask"):
            response = await ctx.tcp.invoke("leak", {"how": how, "word": task.text})
            said.append(str(response.value) + str(response.error))
        ctx.note("told", {"all": said})
        await ctx.memory.record("told", {"all": said})
        return Result(answer="; ".join(said), reason=said[1])
'''


async def test_no_secret_is_written_told_or_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".env").write_text(f"DB_PASSWORD={FILE}\nLOG_LEVEL=information\n")
    monkeypatch.setenv("CLOUD_TOKEN", ENVIRONMENT)
    heard: list[Event] = []
    async with Platform(home, state=tmp_path / "state") as tea:
        await tea.tcp.register(LEAK)
        await tea.acp.register(LEAKER)
        with pytest.raises(ApprovalNeeded) as waiting:
            await tea.run(f"use {FILE} for information", agent="leaker", watch=heard.append)
        key = waiting.value.fix.split("--answer ")[1].split("=")[0]
        outcome = await tea.resume("last", answers={key: f"yes, {FILE}"}, watch=heard.append)
        assert (await tea.replay(outcome.run)).answer == outcome.answer
        with pytest.raises(ApprovalNeeded):
            await tea.fork(outcome.run, at=key, watch=heard.append)
        records = list(tea.tracer.records(outcome.run))
    assert "<secret:DB_PASSWORD> for information" in outcome.answer
    assert outcome.answer.count("<secret:CLOUD_TOKEN>") >= 5
    told = json.dumps([str(waiting.value), outcome.to_json(), [str(one) for one in heard]], default=str)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".env"]
    written = {str(path): path.read_bytes().decode("utf-8", "replace") for path in files}
    assert any("memory" in path and "<secret:" in text for path, text in written.items())
    assert {"evidence", "waiting", "answer"} <= {one.kind for one in records}
    for secret in (ENVIRONMENT, FILE, encode(ENVIRONMENT)[1:-1]):
        assert secret not in told
        assert [path for path, text in written.items() if secret in text] == []


def test_what_is_named_like_a_secret_is_one() -> None:
    named = {"OPENAI_API_KEY": "a", "token": "b", "DB_PASSWORD": "c", "MONKEY": "d", "KEYBOARD": "e", "PATH": "f"}
    assert set(secrets_among(named)) == {"OPENAI_API_KEY", "token", "DB_PASSWORD"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(json_values, st.text(min_size=8, max_size=20), st.booleans())
def test_masked_data_is_json_without_the_secret(value: Any, secret: str, planted: bool) -> None:
    mask = Mask({"IT": secret})
    given_value = [value, {"before " + secret: f"a {secret} b"}] if planted else value
    masked = mask.data(given_value)
    if planted:
        assert encode(secret)[1:-1] not in encode(masked).replace("<secret:IT>", "")
    assert encode(mask.data(masked)) == encode(masked) or secret in "<secret:IT>"
    assert mask.text(encode(given_value)) == encode(masked)
