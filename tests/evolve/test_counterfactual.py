"""Counterfactuals: the cause of a failure, seen in failed runs carried out with one variable changed."""

import json
from typing import Any

import pytest
from journals import rewrite_in_place

from tea import Platform
from tea.evaluate.runner import evaluate
from tea.evolve.counterfactual import counterfactual
from tea.evolve.proposal import Proposal, StrategyInput, stage, variables_of
from tea.evolve.strategies import Reflection
from tea.models.manager import ModelConfig
from tea.testing import platform
from tea.testing.desk.clerk import RULES, ObedientModel
from tea.testing.desk.defects import Defect, defect
from tea.testing.desk.reflecting import Diagnosis
from tea.types import ModelResponse, Usage

FORK, WHOLE = "fork", "whole run"


async def known_of(tea: Platform, given: Defect, *more: str) -> StrategyInput:
    tasks = given.tasks(train=2).part("train")
    runs = await evaluate(tea, tasks, given.plan)
    return StrategyInput(
        variables=await variables_of(tea, [given.ref, *more], given.plan.use),
        tasks=tasks,
        runs=runs,
        verdicts=(),
        plan=dict(given.plan.use),
    )


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("small letters", FORK),
        ("names of one word", FORK),
        ("facts are not kept", FORK),
        ("two steps for three things", FORK),
        ("old rate", WHOLE),
    ],
)
async def test_a_planted_cause_is_confirmed_by_a_run_without_it(name: str, how: str) -> None:
    given = defect(name)
    async with platform(model=ObedientModel()) as tea:
        await given.plant(tea)
        proposal = await Reflection().propose(tea, await known_of(tea, given))
        assert proposal is not None
        found = proposal.diagnosis["counterfactuals"]
        assert {(one["how"], one["right"]) for one in found} == {(how, True)}
        for one in found:
            assert one["run"] != one["origin"]
            assert (await tea.replay(one["run"])).ok
        assert json.loads(json.dumps(dict(proposal.diagnosis))) == proposal.diagnosis  # it goes into the lineage


class Misled(ObedientModel):
    """A reflection blaming something else first, until a counterfactual shows otherwise."""

    def _reflected(self, text: str, config: ModelConfig, used: Usage) -> ModelResponse:
        if "It is not the cause" in text:
            return super()._reflected(text, config, used)
        careful = "\n".join((*RULES, "Work with care."))
        found = Diagnosis(component="prompt:desk", variable="rules", text=careful, why="Care is missing.")
        output = found.to_json()
        return ModelResponse(text=json.dumps(output), output=output, answered_by=config.name, usage=used)


async def test_a_wrong_cause_is_disproved_and_another_one_is_looked_for() -> None:
    given = defect("small letters")
    model = Misled()
    async with platform(model=model) as tea:
        await given.plant(tea)
        known = await known_of(tea, given)
        proposal = await Reflection().propose(tea, known)
        assert proposal is not None
        assert proposal.why == "The letters have the wrong form."
        assert any(one["right"] for one in proposal.diagnosis["counterfactuals"])
        blamed = await Reflection(attempts=1).propose(tea, known)
        assert blamed is not None
        assert blamed.why == "Care is missing."
        assert not any(one["right"] for one in blamed.diagnosis["counterfactuals"])


BELL = '''
from tea import Context, Environment, action


class Bell(Environment):
    """A bell."""

    recovery = "{recovery}"

    async def state(self, ctx: Context) -> dict[str, str]:
        """Say that it hangs there."""
        return {{"bell": "hangs"}}

    @action(effects="writes", network=False)
    async def ring(self, ctx: Context) -> str:
        """Ring it."""
        return "rung"
'''
RINGER = '''
from tea import Agent, Context, Result, Task


class Ringer(Agent):
    """Ring, and look something up."""

    environments = ("bell", "lamp")
    tools = ("warehouse",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ring first."""
        await ctx.ecp.facts(["bell", "lamp"])
        await ctx.ecp.invoke("bell#ring", {})
        item = task.text.partition(" of ")[2].rstrip("?")
        response = await ctx.tcp.invoke("warehouse", {"item": item})
        return Result(ok=response.ok, answer=str(response.value), reason="" if response.ok else "It cannot be told.")
'''


@pytest.mark.parametrize(("recovery", "how"), [("lost", WHOLE), ("rerun", FORK)])
async def test_a_run_is_forked_only_where_the_environments_before_come_back(recovery: str, how: str) -> None:
    given = defect("names of one word")
    async with platform(model=ObedientModel()) as tea:
        await given.plant(tea)
        await tea.ecp.register(BELL.format(recovery=recovery))
        await tea.ecp.register(BELL.format(recovery="lost").replace("class Bell", "class Lamp"))  # never used
        await tea.acp.register(RINGER)
        placed = given.tasks(train=2).tasks[0]
        outcome = await tea.run(placed.task.task, agent="ringer")
        [source] = (await variables_of(tea, [given.ref], {}))[given.ref]
        calm = source.value.replace("Tell the stock", "Tell, calmly, the stock")
        staged = await stage(tea, Proposal(changes={given.ref: {"source": calm}}), {})
        found = await counterfactual(tea, outcome.run, placed, staged)
        assert found is not None
        assert found.how == how
        assert ("'lost'" in found.why) == (recovery == "lost")
        records = list(tea.tracer.records(found.run))
        rung = [one for one in records if one.kind == "intent" and "bell" in str(one.data)]
        assert any(one.kind == "forked" for one in records) == (how == FORK)
        assert rung or how == FORK


async def test_no_run_with_a_head_from_elsewhere_is_carried_out_anew() -> None:
    given = defect("old rate")
    async with platform(model=ObedientModel()) as tea:
        await given.plant(tea)
        known = await known_of(tea, given)
        failed = next(one for one in known.runs.runs if one.run and not one.score)

        def allowing(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
            head = records[0]["data"]
            return [{**records[0], "data": {**head, "task": {**head["task"], "allow": ["shell"]}}}, *records[1:]]

        rewrite_in_place(tea.home, failed.run, allowing)
        proposal = await Reflection().propose(tea, known)
        assert proposal is not None
        assert failed.run not in [one["origin"] for one in proposal.diagnosis["counterfactuals"]]
