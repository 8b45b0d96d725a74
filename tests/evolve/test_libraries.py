"""TextGrad and GEPA: proposals from worker processes, with questions as runs and training tasks alone."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tea import Platform
from tea.errors import MissingExtra, ToolError
from tea.evaluate import evaluate
from tea.evolve import worker
from tea.evolve.campaign import Campaign, Limits
from tea.evolve.proposal import Proposal, StrategyInput, stage, variables_of
from tea.evolve.strategies import strategy
from tea.extras import Extra
from tea.testing import platform
from tea.testing.desk.clerk import ObedientModel
from tea.testing.desk.defects import DEFECTS, Defect, defect

TEXTS = [one.name for one in DEFECTS if one.ref.startswith(("prompt:", "tool:"))]


@asynccontextmanager
async def known(given: Defect, hidden: tuple[str, ...] = ()) -> AsyncIterator[tuple[Platform, StrategyInput]]:
    async with platform(model=ObedientModel(hidden=hidden)) as tea:
        await given.plant(tea)
        train = given.tasks(train=4).part("train")
        runs = await evaluate(tea, train, given.plan)
        variables = await variables_of(tea, [given.ref], {})
        yield tea, StrategyInput(variables=variables, tasks=train, runs=runs, verdicts=(), plan={})


async def proposed(name: str, given: Defect, hidden: tuple[str, ...] = ()) -> tuple[Proposal | None, list[Any]]:
    async with known(given, hidden) as (tea, facts):
        found = await strategy(name).propose(tea, facts)
        journals = [] if found is None else [[*tea.tracer.records(one)] for one in found.diagnosis["runs"]]
        return found, journals


async def test_gepa_proposes_its_best_candidate_and_each_question_is_a_run() -> None:
    given = defect("small letters")
    found, journals = await proposed("gepa", given)
    assert found is not None
    assert "Write words in capitals." in found.changes["prompt:desk"]["rules"]
    assert found.how == "gepa"
    assert journals
    gate = [one.task.task for one in given.tasks(train=4).part("gate").tasks]
    assert not any(one in str(journal) for journal in journals for one in gate)
    assert "gepa" not in sys.modules
    assert (await proposed("gepa", given, (given.cause,)))[0] is None


@pytest.mark.slow
async def test_textgrad_proposes_the_text_after_a_step_and_is_never_imported_here() -> None:
    found, journals = await proposed("textgrad", defect("small letters"))
    assert found is not None
    assert "Write words in capitals." in found.changes["prompt:desk"]["rules"]
    assert (found.how, found.run) == ("textgrad", journals[-1][0].data["setting"]["run"])
    assert "textgrad" not in sys.modules


@pytest.mark.slow
@pytest.mark.parametrize(("name", "library"), [*zip(TEXTS, cycle(["textgrad", "gepa"]), strict=False)])
async def test_defects_of_prompts_and_tools_are_repaired_by_libraries_too(name: str, library: str) -> None:
    given = defect(name)
    async with platform(model=ObedientModel()) as tea:
        await given.plant(tea)
        chosen = strategy(library)
        campaign = Campaign(platform=tea, tasks=given.tasks(), refs=[given.ref], strategy=chosen, plan=given.plan)
        report = await campaign.run(Limits(tests=1))
        assert (report.accepted, report.after) == (1, 1.0)


async def test_a_random_edit_does_not_pass_for_a_reflection() -> None:
    async with known(defect("small letters")) as (tea, facts):
        proposal = await strategy("random").propose(tea, facts)
        assert proposal is not None
        staged = await stage(tea, proposal, {})
        assert (await tea.libraries["prompt"].info(f"desk@{staged.use['prompt:desk']}")).lineage.how == "random"


async def test_a_missing_library_is_one_line_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Extra(name="gepa", purpose="evolution", modules=("no_such_module",))
    monkeypatch.setattr(worker, "EXTRAS", (gone,))
    async with known(defect("small letters")) as (tea, facts):
        with pytest.raises(MissingExtra, match="needs the extra 'gepa'") as found:
            await strategy("gepa").propose(tea, facts)
    assert "-m pip install 'tea-protocol[gepa]' -c" in str(found.value)


async def test_a_worker_that_fails_or_takes_too_long_is_one_error() -> None:
    async def nothing(_: Any) -> Any:
        raise AssertionError

    with pytest.raises(ToolError, match=r"gepa failed: KeyError: 'candidate'"):
        await worker.work("gepa", {}, {"ask": nothing})
    with pytest.raises(ToolError, match=r"gepa took more than 0\.01 s"):
        await worker.work("gepa", {}, {"ask": nothing}, seconds=0.01)


async def test_a_worker_reads_no_file_of_keys_that_lies_above_its_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = 'import json, os, sys\nsys.stdin.readline()\nprint(json.dumps({"done": dict(os.environ)}), flush=True)\n'
    (tmp_path / "gepa_worker.py").write_text(told)
    monkeypatch.setattr(worker, "_INSIDE", tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-environment")
    seen = await worker.work("gepa", {}, {})
    assert seen["PYTHON_DOTENV_DISABLED"] == "1"  # else LiteLLM reads such a file when it is imported
    assert "OPENAI_API_KEY" not in seen
