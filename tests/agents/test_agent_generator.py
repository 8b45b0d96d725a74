"""The agent generator: agents and workflows drafted from words, tried on tests, refused or registered, by script."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tea.components.manifest import Manifest
from tea.errors import Quarantined
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.source.dynamic import DynamicManager
from tea.source.text import SourceText
from tea.testing import FunctionModel, platform
from tea.types import ModelRequest, ModelResponse, ToolCall
from tea.untrusted import PROGRAM

pytestmark = pytest.mark.asyncio(loop_scope="module")

TESTS = {"tests": [{"task": "17 * 3", "wanted": "51"}, {"task": "2 + 2", "wanted": "4"}]}
RIGHT = {"right": True, "why": "yes"}
FLOW: dict[str, Any] = {
    "name": "reckon",
    "description": "Reckon an expression.",
    "steps": [{"name": "value", "use": "tool:calculator", "arguments": {"expression": "{task}"}}],
}
AGENT: dict[str, Any] = {
    "name": "reckoner",
    "description": "Reckon an expression.",
    "instructions": "Use the calculator once, then end.",
    "tools": ["calculator"],
    "agents": [],
    "environments": [],
}
WORKFLOW = "A workflow of fixed steps: reckon expressions"


class Play:
    """A home with a model giving the replies of a script."""

    def __init__(self) -> None:
        self.replies: list[Any] = []
        self.requests: list[ModelRequest] = []
        self.tea: Platform

    def answer(self, request: ModelRequest) -> Any:
        self.requests.append(request)
        return self.replies.pop(0)

    async def make(self, task: str, *replies: Any) -> Outcome:
        """Give the agent generator a wish."""
        self.replies, self.requests = list(replies), []
        return await self.tea.run(task, agent="agent_generator")


@pytest_asyncio.fixture(loop_scope="module")
async def play() -> AsyncIterator[Play]:
    made = Play()
    async with platform(model=FunctionModel(made.answer)) as made.tea:
        yield made


def ends(answer: str) -> ModelResponse:
    given: dict[str, Any] = {"answer": answer, "success": True, "evidence": [], "reason": ""}
    return ModelResponse(calls=(ToolCall(id="1", name="done", arguments=given),), finish="calls")


def sandboxed(play: Play, outcome: Outcome) -> bool:
    """Return whether an agent of a run was led step by step from a sandbox."""
    return any(one.kind == "start" and one.data["kind"] == PROGRAM for one in play.tea.tracer.records(outcome.run))


async def test_a_workflow_is_data_in_a_source_written_here_and_runs_in_the_sandbox_until_it_is_trusted(
    play: Play,
) -> None:
    outcome = await play.make(WORKFLOW, TESTS, FLOW, RIGHT, RIGHT)
    assert outcome.answer == "agent:reckon@1.0.0 was made and passed 2 tests; nobody trusts it yet."
    made = await play.tea.acp.info("reckon")
    assert (made.lineage.how, made.lineage.run, list(made.lineage.tests)) == ("generator", outcome.run, TESTS["tests"])
    with pytest.raises(Quarantined):
        await play.tea.acp.get("reckon")
    untrusted = await play.tea.run("6 * 7", agent="reckon")
    await play.tea.acp.trust("reckon")
    trusted = await play.tea.run("6 * 7", agent="reckon")
    assert [(one.answer, sandboxed(play, one)) for one in (untrusted, trusted)] == [(42, True), (42, False)]
    assert (await play.tea.replay(outcome.run)).answer == outcome.answer


async def test_an_agent_is_declared_with_its_prompt_and_runs_once_both_are_trusted(play: Play) -> None:
    tried = [ends("51"), RIGHT, ends("4"), RIGHT]
    outcome = await play.make("reckon expressions", TESTS, AGENT, *tried)
    assert outcome.ok, outcome.reason
    assert (await play.tea.acp.info("reckoner")).metadata["tools"] == ["calculator"]
    prompts = play.tea.libraries["prompt"]
    assert (await prompts.info("reckoner")).lineage.how == "generator"
    await prompts.trust("reckoner")
    await play.tea.acp.trust("reckoner")
    play.replies = [ends("3")]
    assert (await play.tea.run("1 + 2", agent="reckoner")).answer == "3"


async def test_a_draft_is_tried_in_the_words_and_with_the_functions_of_the_agent_it_becomes(play: Play) -> None:
    told = {
        **AGENT,
        "name": "long_reckoner",
        "instructions": "Reckon.\n\n1. Read {{ it }}.\n2. Use the calculator.\n3. End.",
    }
    outcome = await play.make("reckon expressions", TESTS, told, ends("51"), RIGHT, ends("4"), RIGHT)
    assert outcome.ok, outcome.reason
    trial = play.requests[2]
    await play.tea.libraries["prompt"].trust("long_reckoner")
    await play.tea.acp.trust("long_reckoner")
    play.replies, play.requests = [ends("51")], []
    await play.tea.run("17 * 3", agent="long_reckoner")
    (real,) = play.requests
    assert trial.tools == real.tools
    assert trial.messages[0] == real.messages[0]
    assert trial.variables["task"] == "17 * 3"


async def test_a_prefix_that_is_missing_or_too_much_in_a_draft_costs_no_round(play: Play) -> None:
    step = {**FLOW["steps"][0], "use": "calculator"}
    outcome = await play.make(WORKFLOW, TESTS, {**FLOW, "name": "reckon_plain", "steps": [step]}, RIGHT, RIGHT)
    assert outcome.answer.startswith("agent:reckon_plain@1.0.0 was made"), outcome.reason
    draft = {**AGENT, "name": "reckoner_of_tools", "tools": ["tool:calculator"]}
    outcome = await play.make("reckon expressions", TESTS, draft, ends("51"), RIGHT, ends("4"), RIGHT)
    assert outcome.ok, outcome.reason
    assert (await play.tea.acp.info("reckoner_of_tools")).metadata["tools"] == ["calculator"]


REGISTERED = '''
from tea import Agent, Context, Result, Task


class Registered(Agent):
    """Say yes."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Say it."""
        return Result(answer="yes")
'''


async def test_an_agent_that_a_model_drafted_is_described_in_the_sandbox_alone(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    executed: list[str] = []
    describe = DynamicManager.describe

    def recorded(self: DynamicManager, text: SourceText, **facts: Any) -> Manifest:
        executed.append(text.name)
        return describe(self, text, **facts)

    monkeypatch.setattr(DynamicManager, "describe", recorded)
    assert (await play.make("reckon expressions", TESTS, AGENT, ends("51"), RIGHT, ends("4"), RIGHT)).ok
    assert (await play.tea.acp.info("reckoner")).lineage.how == "generator"
    assert "reckoner" not in executed
    await play.tea.acp.register(REGISTERED)
    assert "registered" in executed


async def test_a_draft_that_uses_what_is_not_there_is_drafted_again_with_the_reason(play: Play) -> None:
    wrong = {**FLOW, "steps": [{**FLOW["steps"][0], "use": "tool:nothing"}]}
    outcome = await play.make(WORKFLOW, TESTS, wrong, FLOW, RIGHT, RIGHT)
    assert outcome.ok
    assert "No tool is named 'nothing'" in play.requests[2].variables["trouble"]


async def test_a_wrong_answer_is_a_reason_and_after_three_rounds_nothing_is_registered(play: Play) -> None:
    wrong = {"right": False, "why": "it is 50"}
    outcome = await play.make(WORKFLOW, TESTS, *[FLOW, wrong] * 3)
    assert not outcome.ok
    assert outcome.reason == "No draft passed its tests in 3 rounds: on '17 * 3' it answered 51: it is 50"
    assert "reckon" not in [one.name for one in await play.tea.acp.list()]


async def test_tests_that_all_want_the_same_are_asked_for_again(play: Play) -> None:
    same = {"tests": [{**one, "wanted": "4"} for one in TESTS["tests"]]}
    outcome = await play.make(WORKFLOW, same, TESTS, FLOW, RIGHT, RIGHT)
    assert outcome.ok
    assert play.requests[1].variables["trouble"].startswith("the wanted answers are all the same")


async def test_a_name_that_is_taken_gets_a_number_and_the_same_draft_is_no_second_one(play: Play) -> None:
    await play.make(WORKFLOW, TESTS, FLOW, RIGHT, RIGHT)
    again = await play.make(WORKFLOW, TESTS, FLOW, RIGHT, RIGHT)
    assert "agent:reckon@1.0.0" in str(again.answer)
    other = {**FLOW, "description": "Reckon whatever is asked."}
    assert "agent:reckon_2@1.0.0" in str((await play.make(WORKFLOW, TESTS, other, RIGHT, RIGHT)).answer)


@pytest.mark.parametrize("kind", ["a workflow", "an agent"])
async def test_tests_drafts_and_verdicts_are_made_knowing_the_files_that_were_given(
    play: Play, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "prices.csv").write_text("item,price\nkettle,42\npot,30\n")
    rows = {"files": ["prices.csv"], "sql": "SELECT price FROM prices WHERE item = '{task}'"}
    flow = {**FLOW, "name": "price_of", "steps": [{"name": "price", "use": "tool:table_query", "arguments": rows}]}
    agent = {**AGENT, "name": "pricer", "tools": ["table_query"]}
    tests = {"tests": [{"task": "kettle", "wanted": "42"}, {"task": "pot", "wanted": "30"}]}
    tried = [RIGHT, RIGHT] if kind == "a workflow" else [ends("42"), RIGHT, ends("30"), RIGHT]
    play.replies, play.requests = [tests, flow if kind == "a workflow" else agent, *tried], []
    words = f"{'A workflow of fixed steps: ' if kind == 'a workflow' else ''}tell the price of an item"
    outcome = await play.tea.run(words, files=[tmp_path / "prices.csv"], agent="agent_generator")
    assert outcome.ok, outcome.reason
    asked = [one for one in play.requests if "stage" in one.variables]
    assert [one.variables["stage"] for one in asked] == ["test", "draft", "judge", "judge"]
    assert all("kettle" in str(one.messages) for one in asked)


async def test_small_slips_of_a_draft_cost_no_question(play: Play) -> None:
    slips = {**{name: AGENT[name] for name in ("description", "instructions", "tools")}, "name": "Slip-Reckoner"}
    tests = {"tests": [{"task": "17 * 3", "wanted": ["51", "fifty-one"]}, {"task": "2 + 2", "wanted": 4}]}
    draft = {**slips, "environments": None}
    outcome = await play.make("reckon expressions", tests, draft, ends("51"), {"right": "yes"}, ends("4"), RIGHT)
    assert outcome.ok, outcome.reason
    assert (await play.tea.acp.info("slip_reckoner")).metadata["tools"] == ["calculator"]


async def test_an_environment_is_among_the_parts_of_an_agent_and_an_action_stands_for_it(play: Play) -> None:
    draft = {**AGENT, "name": "coder", "tools": ["calculator", "shell_python"]}
    outcome = await play.make("run python code to reckon", TESTS, draft, ends("51"), RIGHT, ends("4"), RIGHT)
    assert outcome.ok, outcome.reason
    metadata = (await play.tea.acp.info("coder")).metadata
    assert (metadata["tools"], metadata["environments"]) == (["calculator"], ["shell"])
    parts: Any = play.requests[1].variables["parts"]
    (shell,) = [one for one in parts if one["use"] == "environment:shell"]
    assert "Its actions: " in shell["description"]
    assert "python" in shell["description"]


async def test_a_workflow_may_act_in_an_environment(play: Play) -> None:
    written = {"name": "kept.txt", "text": "{value}"}
    steps = [*FLOW["steps"], {"name": "kept", "use": "workspace_write", "arguments": written}]
    outcome = await play.make(
        "A workflow of fixed steps: reckon an expression and write what it is worth to a file of the workspace",
        TESTS, {**FLOW, "name": "reckon_and_keep", "steps": steps}, RIGHT, RIGHT,
    )  # fmt: skip
    assert outcome.ok, outcome.reason
    asked = str(play.requests[1].messages)
    assert 'use="environment:workspace#write"' in asked
    found = await play.tea.acp.info("reckon_and_keep")
    assert "environment:workspace#write" in found.source
    assert list(found.metadata["environments"]) == ["workspace"]
    await play.tea.acp.manager.trust(found.ref.at(found.digest))
    used = await play.tea.run("6 * 7", agent="reckon_and_keep")
    assert used.ok, used.reason
    assert (used.trace / "workspace" / "kept.txt").read_text() == "42"


async def test_the_judge_is_shown_the_files_that_a_draft_wrote(play: Play) -> None:
    draft = {**AGENT, "name": "writer", "tools": [], "environments": ["workspace"]}

    def writes(text: str) -> ModelResponse:
        given = {"name": "totals.md", "text": text}
        return ModelResponse(calls=(ToolCall(id="1", name="workspace_write", arguments=given),), finish="calls")

    replies = [writes("51 " * 600), ends("Done."), RIGHT, writes("4"), ends("Done."), RIGHT]
    outcome = await play.make("reckon, and write the value as totals.md", TESTS, draft, *replies)
    assert outcome.ok, outcome.reason
    first, second = [one for one in play.requests if one.variables.get("stage") == "judge"]
    assert first.variables["written"] == [{"name": "totals.md", "text": f"{'51 ' * 500} [...]"}]
    assert second.variables["written"] == [{"name": "totals.md", "text": "4"}]
    assert "words of others" in str(second.messages)
