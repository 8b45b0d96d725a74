"""The desk: each planted defect is repaired from traces through campaign and gate, and dishonest proposers fail."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tea import Platform
from tea.evolve.campaign import Campaign, Limits, Report
from tea.evolve.proposal import Strategy
from tea.evolve.strategies import Reflection
from tea.store.evaluations import read_ledger
from tea.testing import FunctionModel, platform
from tea.testing.desk.adversaries import WAYS, Adversary
from tea.testing.desk.clerk import ObedientModel
from tea.testing.desk.defects import DEFECTS, Defect, defect
from tea.types import ModelRequest, ModelResponse

QUICK = ("small letters", "facts are not kept", "two steps for three things", "old rate")
OTHERS = [one.name for one in DEFECTS if one.name not in QUICK][::2]  # of each kind; the benchmark repairs all
BLIND = ("small letters", "facts are not kept")


@asynccontextmanager
async def planted(given: Defect, hidden: tuple[str, ...] = ()) -> AsyncIterator[Platform]:
    async with platform(model=ObedientModel(hidden=hidden)) as tea:
        await given.plant(tea)
        yield tea


async def evolved(tea: Platform, given: Defect, strategy: Strategy | None = None, tests: int = 1, **how: int) -> Report:
    chosen = strategy or Reflection()
    campaign = Campaign(platform=tea, tasks=given.tasks(**how), refs=[given.ref], strategy=chosen, plan=given.plan)
    return await campaign.run(Limits(tests=tests))


def decisions(tea: Platform) -> list[Mapping[str, Any]]:
    [path] = (tea.home / "traces" / "evolution" / "ledgers").glob("*.jsonl")
    verdicts = [one["verdict"] for one in read_ledger(path) if one["what"] == "verdict"]
    return [{name: one[name] for name in one if name != "evaluations"} for one in verdicts]


def diagnosed(tea: Platform) -> Mapping[str, Any]:
    """The diagnosis of the one tested proposal, as kept in the lineage."""
    [path] = (tea.home / "traces" / "evolution" / "ledgers").glob("*.jsonl")
    [tested] = [one["proposal"]["diagnosis"] for one in read_ledger(path) if one["what"] == "test"]
    return tested


def test_there_are_at_least_twelve_defects_of_six_kinds() -> None:
    assert len({one.name for one in DEFECTS}) >= 12
    assert len({one.kind for one in DEFECTS}) == 6


async def test_a_model_that_reads_words_alone_is_told_form_tools_and_results() -> None:
    asked: list[str] = []

    def answer(request: ModelRequest) -> ModelResponse:
        text = "\n".join(getattr(part, "text", "") for message in request.messages for part in message.content)
        asked.append(text)
        price = re.search(r'<result tool="catalogue">.*?([\d.]+)', text, re.DOTALL)
        tool, arguments = ("", {}) if price else ("catalogue", {"item": "bafiku"})
        output = {"thinking": "", "tool": tool, "arguments": arguments, "answer": price[1] if price else ""}
        return ModelResponse(text=json.dumps(output), output=output, answered_by="words")

    async with platform(model=FunctionModel(answer)) as tea:
        await defect("small letters").plant(tea)
        outcome = await tea.run("What is the price of bafiku?", agent="clerk")
    assert outcome.ok, outcome.reason
    first, second = asked
    assert '{"thinking": "...", "tool": "...", "arguments": {...}, "answer": "..."}' in first
    assert '<tool name="catalogue">\nTell the price of an item.' in first
    assert '"item"' in first
    assert "<result" not in first
    assert str(outcome.answer) in second


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
async def test_a_planted_defect_is_repaired_through_campaign_and_gate(name: str) -> None:
    given = defect(name)
    async with planted(given) as tea:
        report = await evolved(tea, given, train=3)
        assert (report.accepted, report.after) == (1, 1.0)
        assert report.before is not None
        assert report.before < 1
        assert any(one["right"] for one in diagnosed(tea)["counterfactuals"])


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
async def test_other_defects_are_repaired_too(name: str) -> None:
    await test_a_planted_defect_is_repaired_through_campaign_and_gate(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", BLIND)
async def test_without_the_line_that_holds_the_cause_reflection_fails(name: str) -> None:
    given = defect(name)
    async with planted(given, (given.cause,)) as tea:
        report = await evolved(tea, given, train=2)
        assert (report.accepted, report.use) == (0, {})


@pytest.mark.slow
@pytest.mark.parametrize("name", [one.name for one in DEFECTS if one.name not in BLIND][::2])
async def test_without_that_line_the_others_are_not_repaired_either(name: str) -> None:
    await test_without_the_line_that_holds_the_cause_reflection_fails(name)


@pytest.mark.slow
async def test_the_source_of_an_agent_is_evaluated_in_a_sandbox_and_never_made_current() -> None:
    given = defect("class with one question")
    async with planted(given) as tea:
        tasks = given.tasks(train=2)
        options: Any = {"refs": [given.ref], "strategy": Reflection(), "plan": given.plan, "promote": True}
        report = await Campaign(platform=tea, tasks=tasks, **options).run(Limits(tests=1))
        assert report.accepted == 1
        assert (await tea.acp.info("clerk")).version == "1.0.0"
        task, answer = given.row(3)
        outcome = await tea.run(task, agent="clerk", use={"agent:clerk": "candidate"})
        assert outcome.answer == answer
        begun = [one.data for one in tea.tracer.records(outcome.run) if one.kind == "start"]
        assert any("'program'" in str(one) for one in begun)  # a sandboxed agent is led from the host


@pytest.mark.slow
@pytest.mark.parametrize(
    "ways", [("delete a rule", "copy answers", "break the schema"), pytest.param((*WAYS,), marks=pytest.mark.slow)]
)
async def test_dishonest_proposers_do_not_pass_the_gate(ways: tuple[str, ...]) -> None:
    given = defect("small letters")
    async with planted(given) as tea:  # one campaign, so that all share its baseline
        for way in ways:
            report = await evolved(tea, given, Adversary(way), train=3, gate=32, every=4)
            assert report.accepted == 0, way
        assert any("worse in part: works" in one["reason"] for one in decisions(tea))


@pytest.mark.slow
async def test_decisions_are_the_same_when_all_is_done_again() -> None:
    found: list[str] = []
    for _ in range(2):
        given = defect("facts are not kept")
        async with planted(given) as tea:
            await evolved(tea, given, train=2)
            found.append(json.dumps(decisions(tea), sort_keys=True))
    assert found[0] == found[1]
    assert '"accepted": true' in found[0]
