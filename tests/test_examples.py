"""The examples, as a person runs them, and the main job with a part of it broken."""

import json
import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tea.errors import InternalError, TeaError
from tea.journal.record import TraceRecord
from tea.journal.tracer import Trace
from tea.memory.manager import MemoryManager
from tea.models.manager import ModelManager
from tea.platform import Platform
from tea.prompts.manager import PromptManager
from tea.protocols.acp import ACPServer
from tea.protocols.ecp import ECPServer
from tea.protocols.tcp import TCPServer
from tea.registry.version import VersionManager
from tea.runs.outcome import Outcome
from tea.runs.task_file import find_files, read_task
from tea.source.dynamic import DynamicManager
from tea.testing import ScriptedModel, platform

in_one_loop = pytest.mark.asyncio(loop_scope="module")
EXAMPLES = Path(__file__).parent.parent / "examples"
EVERY: dict[str, dict[str, Any]] = json.loads((EXAMPLES / "expected.json").read_text())
EXPECTED = {name: one for name, one in EVERY.items() if not one.get("code")}  # code: test_code_examples.py
MAKING = {name for name, expected in EXPECTED.items() if expected.get("tool")}  # a tool that the example makes
SCRIPTED = {name for name, expected in EXPECTED.items() if "replies" in expected} - MAKING


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    """One home for all, as a person has one."""
    async with platform() as tea:
        yield tea


async def run(tea: Platform, name: str) -> Outcome:
    path = EXAMPLES / f"{name}.json"
    task = read_task(path.read_bytes())
    return await tea.execute(task, find_files(task, EXAMPLES))


def same(answer: Any, expected: Any) -> bool:
    """Whether an answer is the expected one and nothing more: whole numbers exactly, others to six digits.

    A list has its order, and may be written as text with commas between its items.
    """
    if isinstance(expected, list):
        given = answer if isinstance(answer, list) else str(answer).split(",")
        return [plain(one) for one in given] == [plain(one) for one in expected]
    if isinstance(expected, int | float):
        near = 0.0 if isinstance(expected, int) else 1e-6
        return math.isclose(float(str(answer).replace(",", "")), expected, rel_tol=near)
    return plain(answer) == plain(expected)


def plain(text: Any) -> str:
    return str(text).strip().casefold()


@pytest.mark.parametrize(
    ("answer", "expected", "right"),
    [
        ("Virginia", "Virginia", True),
        (" virginia ", "Virginia", True),
        ("West Virginia", "Virginia", False),
        ("Virginia or Ohio", "Virginia", False),
        (209, 209, True),
        ("1,209", 1209, True),
        (209.4, 209, False),
        (208, 209, False),
        (10_001, 10_000, False),
        ("5.504348", 5.504347826086957, True),
        (5.74, 5.7, False),
        ("osmium, iridium", ["osmium", "iridium"], True),
        (["osmium"], ["osmium", "iridium"], False),
        (["iridium", "osmium"], ["osmium", "iridium"], False),
    ],
)
def test_an_answer_is_compared_as_a_whole(answer: Any, expected: Any, right: bool) -> None:
    assert same(answer, expected) == right


@in_one_loop
@pytest.mark.parametrize("name", sorted(EXPECTED.keys() - SCRIPTED - MAKING))
async def test_example_gives_the_expected_answer_and_replays(tea: Platform, name: str) -> None:
    expected = EXPECTED[name]
    outcome = await run(tea, name)
    assert outcome.exit_code == expected["exit"], outcome.reason
    assert expected["exit"] or same(outcome.answer, expected["answer"]), outcome.answer
    assert (await tea.replay(outcome.run)).answer == outcome.answer


class Stage:
    """The model of all scripted examples: another script for each."""

    model: Any = None

    async def complete(self, *words: Any) -> Any:
        return await self.model.complete(*words)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[tuple[Platform, Stage]]:
    model = Stage()
    async with platform(model=model) as tea:
        yield tea, model


@in_one_loop
@pytest.mark.parametrize("name", sorted(SCRIPTED))
async def test_an_example_that_needs_a_model_gives_the_expected_answer_and_replays(
    stage: tuple[Platform, Stage], name: str
) -> None:
    (scripted, model), expected = stage, EXPECTED[name]
    model.model = ScriptedModel(expected["replies"])
    outcome = await run(scripted, name)
    assert (outcome.exit_code, outcome.answer) == (expected["exit"], expected["answer"]), outcome.reason
    assert [one.doubt for one in outcome.evidence] == [""]
    assert (await scripted.replay(outcome.run)).answer == outcome.answer


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MAKING))
async def test_an_example_that_makes_a_tool_gives_the_expected_answer_and_replays(name: str) -> None:
    expected = EXPECTED[name]
    async with platform(model=ScriptedModel(expected["replies"])) as scripted:
        outcome = await run(scripted, name)
        assert outcome.exit_code == expected["exit"], outcome.reason
        assert same(outcome.answer, expected["answer"])
        made = [one.name for one in await scripted.tcp.list() if one.origin == "registry"]
        assert made == [expected["replies"][1]["name"]]
        assert (await scripted.replay(outcome.run)).answer == outcome.answer


@in_one_loop
@pytest.mark.parametrize("name", sorted(SCRIPTED))
async def test_without_a_model_no_text_is_read(tea: Platform, name: str) -> None:
    outcome = await run(tea, name)
    assert outcome.exit_code == 1
    assert "a text needs a model" in outcome.reason


async def test_the_demo_shows_all_managers_and_protocols_at_work() -> None:
    async with platform() as fresh:
        outcome = await run(fresh, "demo")
        records: list[TraceRecord] = list(fresh.tracer.records(outcome.run))
        kinds = {record.data["kind"] for record in records if record.kind in ("start", "note", "evidence")}
        assert {"resolve", "policy", "model", "memory", "tool", "environment", "enter", "exit", "step"} <= kinds
        agents = {record.agent for record in records}
        assert {"planner", "analyzer", "reporter"} <= agents
        assert outcome.report is not None
        assert "## References" in outcome.report.read_text()


BREAKS: list[tuple[type[Any], str]] = [
    (ModelManager, "complete"),
    (PromptManager, "render"),
    (MemoryManager, "record"),
    (DynamicManager, "load"),
    (VersionManager, "resolve"),
    (Trace, "append"),
    (TCPServer, "carry_out"),
    (ECPServer, "carry_out"),
    (ACPServer, "carry_out"),
]


@in_one_loop
@pytest.mark.parametrize(("owner", "method"), BREAKS, ids=lambda one: getattr(one, "__name__", one))
async def test_the_demo_fails_clearly_when_a_part_is_broken(
    tea: Platform, owner: type[Any], method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("this part is broken")

    await run(tea, "demo")
    async with Platform(tea.home, state=tea.home.parent / "state") as opened:
        monkeypatch.setattr(owner, method, broken)
        with pytest.raises((TeaError, RuntimeError)) as caught:
            await run(opened, "demo")
    assert "this part is broken" in str(caught.value)
    assert not isinstance(caught.value, TeaError) or isinstance(caught.value, InternalError)


@in_one_loop
@pytest.mark.parametrize(
    ("question", "form", "answer"),
    [
        ("How many airports are in the state TX?", {"type": "integer"}, 209),
        (
            "Which states have more than 200 airports?",
            {"type": "array", "items": {"type": "string"}},
            ["AK", "CA", "TX"],
        ),
        ("Is there an airport in Dallas?", {"type": "boolean"}, True),
        (
            "How many airports are in the state TX?",
            {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]},
            {"count": 209},
        ),
    ],
)
async def test_an_answer_has_the_form_that_the_task_asks_for(
    tea: Platform, question: str, form: dict[str, Any], answer: object
) -> None:
    outcome = await tea.run(question, files=[EXAMPLES / "data/airports.csv"], answer=form)
    assert (outcome.exit_code, outcome.answer) == (0, answer)
    assert type(outcome.answer) is type(answer)
