"""Test the material of a reflection: the first question of the agent is in it, once."""

from pathlib import Path

from speller_kit import AGENT, PROMPT

from tea.evaluate import Plan, TaskSet, evaluate
from tea.evolve.material import material
from tea.evolve.proposal import StrategyInput, variables_of
from tea.journal.steps import call_words
from tea.testing import FunctionModel, platform
from tea.types import ModelRequest, ModelResponse, ToolCall

TABLE = "port,arrived\nRiga,09:10\nTallinn,\nTurku,11:40\n"


def counts_all_rows(request: ModelRequest) -> ModelResponse:
    return ModelResponse(calls=(ToolCall(id="d", name="done", arguments={"answer": "3"}),), finish="calls")


async def test_a_reflection_sees_the_heads_of_files_that_the_agent_saw(tmp_path: Path) -> None:
    (tmp_path / "ships.csv").write_text(TABLE)
    asked = ("How many ships arrived?", "How many ships came in?")
    rows = [{"task": one, "expected": "2", "scorer": "exact", "files": ["ships.csv"], "id": one[-8:]} for one in asked]
    tasks = TaskSet.of([{**one, "split": "train"} for one in rows], name="ships", folder=tmp_path)
    async with platform(model=FunctionModel(counts_all_rows)) as tea:
        runs = await evaluate(tea, tasks, Plan(agent="planner"))
        variables = await variables_of(tea, ["prompt:planner"], {})
        known = StrategyInput(variables=variables, tasks=tasks, runs=runs, verdicts=(), plan={})
        shown = material(tea, known)
    assert shown.count("Tallinn") == 1  # the second run saw the same, so it is named only
    assert shown.count("shown at first: the same as in run") == 1
    assert shown.count("How many ships arrived?") == 1, shown


async def test_a_reflection_sees_what_a_model_answered_once_and_nothing_of_its_accounts(tmp_path: Path) -> None:
    def spelt(request: ModelRequest) -> ModelResponse:
        return ModelResponse(text='{"word": "plumb"}', output={"word": "plumb"})

    rows = [{"task": "plum", "expected": "PLUM", "scorer": "exact", "id": "plum", "split": "train"}]
    tasks = TaskSet.of(rows, name="words", folder=tmp_path)
    async with platform(model=FunctionModel(spelt)) as tea:
        await tea.acp.register(AGENT)
        await tea.libraries["prompt"].register(PROMPT)
        runs = await evaluate(tea, tasks, Plan(agent="speller"))
        variables = await variables_of(tea, ["prompt:speller"], {})
        shown = material(tea, StrategyInput(variables=variables, tasks=tasks, runs=runs, verdicts=(), plan={}))
    (line,) = [one for one in shown.splitlines() if one.startswith("  model:")]
    assert line.endswith(' -> {"word": "plumb"}')


def test_calls_of_a_model_are_shown_with_its_answer() -> None:
    calls = [{"id": "c1", "name": "look", "arguments": {"at": "it"}}]
    response = {"text": "I look.", "output": None, "calls": calls, "usage": {"input_tokens": 1}}
    row = {"name": "model:m", "arguments": {}, "ok": True, "value": {"response": response, "error": None}}
    assert call_words(row).endswith('-> {"answer": "I look.", "calls": [{"name": "look", "arguments": {"at": "it"}}]}')
    broken = {"response": None, "error": {"problem": "down"}}
    assert call_words({**row, "value": broken}).endswith('"down"}}')
