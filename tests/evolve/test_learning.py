"""Learning within and between runs: revised answers, components mended for one run, and kept solutions."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tea.errors import BadInput
from tea.evolve.mending import mend
from tea.evolve.solutions import Checked, keep
from tea.loop.revision import NOTE
from tea.testing import FunctionModel, platform
from tea.testing.desk.clerk import ObedientModel
from tea.testing.desk.defects import defect
from tea.types import ModelRequest, ModelResponse, ToolCall


def texts(request: ModelRequest) -> str:
    return "\n".join(getattr(part, "text", "") for message in request.messages for part in message.content)


def done(answer: object) -> ModelResponse:
    return ModelResponse(calls=(ToolCall(id="d", name="done", arguments={"answer": answer}),), finish="calls")


def revising(second: str) -> FunctionModel:
    """Answer `41`, and something else once asked to look again."""
    return FunctionModel(lambda request: done(second if "Before your answer is delivered" in texts(request) else "41"))


def revisions(tea: Any, run: str) -> list[Any]:
    return [one.data["data"] for one in tea.tracer.records(run) if one.data.get("kind") == NOTE]


@pytest.mark.parametrize(("second", "changed"), [("42", True), ("41", False)])
async def test_an_answer_is_looked_at_once_more_and_what_changed_is_recorded(second: str, changed: bool) -> None:
    async with platform(model=revising(second)) as tea:
        outcome = await tea.run("What is 6 * 7?", reflect=2)
        assert (outcome.answer, outcome.ok) == (second, True)
        [found] = revisions(tea, outcome.run)
        assert (found["before"], found["after"], found["changed"]) == ("41", second, changed)
        assert (await tea.replay(outcome.run)).answer == second
        assert revisions(tea, (await tea.run("What is 6 * 7?")).run) == []


async def test_a_look_that_ends_nowhere_leaves_the_answer_as_it_was() -> None:
    def model(request: ModelRequest) -> ModelResponse:
        return ModelResponse(text="") if "Before your answer is delivered" in texts(request) else done("41")

    async with platform(model=FunctionModel(model)) as tea:
        outcome = await tea.run("What is 6 * 7?", reflect=1, budget={"steps": 5})
        assert (outcome.answer, outcome.ok) == ("41", True)


async def test_a_failing_tool_is_mended_once_in_a_sandbox_for_this_run_alone() -> None:
    given = defect("names of one word")
    task, expected = given.row(1)
    async with platform(model=ObedientModel()) as tea:
        await given.plant(tea)
        outcome = await tea.run(task, agent="clerk")
        assert not outcome.ok
        mended = await mend(tea, outcome)
        assert mended is not None
        assert (mended.outcome.ok, mended.outcome.answer, str(mended.ref)) == (True, expected, "tool:warehouse@1.0.1")
        assert (await tea.tcp.info("warehouse")).version == "1.0.0"
        assert not (await tea.run(task, agent="clerk")).ok
        assert await mend(tea, mended.outcome) is None


async def test_without_a_failing_component_of_ones_own_nothing_is_mended() -> None:
    async with platform(model=FunctionModel(lambda _: ModelResponse(text=""))) as tea:
        outcome = await tea.run("What is 6 * 7?", budget={"steps": 2})
        assert not outcome.ok
        assert await mend(tea, outcome) is None


def solving(rate: str) -> Callable[[ModelRequest], ModelResponse]:
    def answer(request: ModelRequest) -> ModelResponse:
        told = re.search(r"\(solution:\S+\): .*? -> (\w+)", texts(request))
        return done(told[1] if told else rate)

    return answer


async def test_a_verified_answer_is_offered_to_tasks_like_it_and_a_wrong_one_is_never_kept() -> None:
    async with platform(model=FunctionModel(solving("seven"))) as tea:
        task = "What is the present rate of crowns?"
        run = (await tea.run(task)).run
        with pytest.raises(BadInput, match="is wrong"):
            await keep(tea, run, Checked(scorer="exact", expected="eight"))
        assert await tea.libraries["solution"].list() == []
        kept = await keep(tea, run, Checked(scorer="exact", expected="seven"))
        assert kept.metadata["checked_by"] == "the scorer exact"
    async with platform(model=FunctionModel(solving("no idea"))) as tea:
        await tea.libraries["solution"].register({"name": "rate", "task": task, "content": "seven"})
        alike = await tea.run("What is the present rate of crowns today?")
        assert alike.answer == "seven"
        assert (await tea.replay(alike.run)).answer == "seven"
        assert (await tea.run("Who wrote the oldest letter in the archive?")).answer == "no idea"
        assert (await tea.run(task, fresh=True)).answer == "no idea"
        await tea.libraries["solution"].deprecate("rate")
        assert (await tea.run(task)).answer == "no idea"


async def test_a_solution_that_nobody_trusts_is_not_offered_even_where_a_task_names_it(tmp_path: Path) -> None:
    task, bundle = "What is the present rate of crowns?", tmp_path / "bundle.json"
    async with platform(model=FunctionModel(solving("no idea"))) as sender:
        await sender.libraries["solution"].register({"name": "rate", "task": task, "content": "nine"})
        await sender.libraries["solution"].save(bundle)
    async with platform(model=FunctionModel(solving("no idea"))) as tea:
        await tea.libraries["solution"].load(bundle)
        assert (await tea.run(task, use={"solution:rate": "1.0.0"})).answer == "no idea"
        await tea.libraries["solution"].trust("rate")
        assert (await tea.run(task, use={"solution:rate": "1.0.0"})).answer == "nine"


async def test_a_failed_run_is_no_solution() -> None:
    async with platform(model=FunctionModel(lambda _: ModelResponse(text=""))) as tea:
        outcome = await tea.run("What is 6 * 7?", budget={"steps": 2})
        with pytest.raises(BadInput, match="no successful answer"):
            await keep(tea, outcome.run, Checked())
