"""Test machine-written source: described by a worker, with its examples executed, before it is stored."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tea.components.manifest import Lineage
from tea.errors import BadComponent, Quarantined
from tea.platform import Platform
from tea.testing import platform

BY_MACHINE = Lineage(how="generator", run="r1")
ADD = '''
import os

from tea import tool


@tool(effects="reads", network=False)
async def add(first: int, second: int = 2) -> int:
    """Add two numbers.

    Examples:
        >>> await add(1)
        3
        >>> await add(1, "x")
        Traceback (most recent call last):
        TypeError: ...
    """
    return first + second
'''
AGENT = '''
from tea import Agent


class Scribe(Agent):
    """Write."""

    tools = ("done",)
    output = {"type": "object"}
'''


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


async def test_it_is_described_by_its_source_and_trusted_by_nobody(tea: Platform) -> None:
    before = set(sys.modules)
    made = await tea.tcp.register(ADD, lineage=BY_MACHINE, reason="generated")
    assert (made.version, made.description, made.lineage, made.reason) == (
        "1.0.0", "Add two numbers.", BY_MACHINE, "generated",
    )  # fmt: skip
    assert made.operations["call"].parameters["properties"]["second"] == {"default": 2, "type": "integer"}
    assert not tea.trust(made.digest)
    assert not [name for name in set(sys.modules) - before if name.startswith("_tea_")]
    assert (await tea.tcp.invoke("add", {"first": 1})).unwrap() == 3
    with pytest.raises(Quarantined):
        await tea.tcp.get("add")


async def test_only_what_people_answer_for_is_described_without_a_sandbox(
    tea: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tea.dynamic, "describe", None)
    made = await tea.tcp.register(ADD.replace("add(", "plus("), lineage=Lineage(how="follow"))
    assert (made.description, tea.trust(made.digest)) == ("Add two numbers.", False)


async def test_its_origin_is_told_by_who_writes_it_and_not_by_the_sandbox(tea: Platform) -> None:
    source = ADD.replace("add(", "rounded(").replace("first + second", "math.floor(first) + second")
    made = await tea.tcp.register(source, lineage=BY_MACHINE, reason="generated")
    assert (made.changes, made.reason, made.lineage) == (("import math",), "generated", BY_MACHINE)


async def test_an_agent_is_described_and_works_in_a_sandbox(tea: Platform) -> None:
    made = await tea.acp.register(AGENT, lineage=BY_MACHINE)
    assert made.metadata["tools"] == ["done"]
    refused = await tea.acp.invoke("scribe", {"task": {"text": "write"}})
    assert refused.error is not None
    assert (refused.error["code"], "No model" in refused.error["problem"]) == ("Abstained", True), refused.error
    assert not [name for name in sys.modules if made.digest.removeprefix("sha256:")[:12] in name]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("        3\n", "        4\n", r"examples say: await sum_up\(1\) gave 3"),
        ("second: int = 2", "second: int = 'a'", "default of 'second' of 'sum_up' does not fit"),
        ("from tea import tool\n", "from tea import tool\nos._exit(3)\n", "line"),
        ("second: int = 2", "second: int = os._exit(3)", "."),
    ],
)
async def test_one_that_cannot_be_described_is_refused_and_nothing_is_written(
    tea: Platform, old: str, new: str, words: str
) -> None:
    with pytest.raises(BadComponent, match=words):
        await tea.tcp.register(ADD.replace(old, new).replace("add(", "sum_up("), lineage=BY_MACHINE)
    assert "sum_up" not in [one.name for one in await tea.tcp.list()]
    assert not [one for one in (tea.home / "registry").rglob("*") if "sum_up" in str(one)]


async def test_examples_are_executed_where_they_can_do_nothing(
    tea: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED", "sesame")
    call = f"[os.getenv('PLANTED'), open({str(tmp_path / 'there')!r}, 'w')]"
    with pytest.raises(BadComponent, match="FileNotFoundError"):
        await tea.tcp.register(
            ADD.replace("await add(1)\n", f"[one for os in [__import__('os')] for one in {call}]\n"), lineage=BY_MACHINE
        )
    assert list(tmp_path.iterdir()) == []
    assert os.getenv("PLANTED") == "sesame"
