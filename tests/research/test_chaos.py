"""The author of papers with a misbehaving model: every job ends, and is replayed the same."""

import asyncio
from typing import Any

import pytest
from research_kit import literature

from tea.models.manager import ModelConfig
from tea.testing import ChaosModel

pytestmark = pytest.mark.asyncio(loop_scope="module")

RUNS = 100
ENDS = {0, 1, 4, 5}  # done, failed, an error of the model, a spent budget


@pytest.mark.slow
async def test_a_model_that_misbehaves_breaks_no_paper(lab: Any) -> None:
    lab.plays(plan_initial={"objective": "", "tasks": [literature("a")]})
    status = await lab.run()
    codes = list[int]()
    for seed in range(RUNS):
        name = f"chaos-{seed}"
        lab.tea.models.add(ModelConfig(name=name, provider="given", capabilities=("schema",)), ChaosModel(seed))
        budget = {"steps": 4 + seed % 12}
        begun = await lab.tea.research.paper(status.conversation, model=name, budget=budget)
        async with asyncio.timeout(120):
            await lab.tea.research.drive(begun.run)
            outcome = await lab.tea.replay(begun.run)
            again = await lab.tea.replay(begun.run)
        assert again.to_json() == outcome.to_json()
        records = list(lab.tea.tracer.records(begun.run))
        assert [one.seq for one in records] == list(range(len(records)))
        codes.append(outcome.exit_code)
    assert {*codes} <= ENDS
    assert 0 in codes
