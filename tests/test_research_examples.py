"""The examples for the researcher: a corpus of one public text, and the replies of a model by prompt."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from researcher_kit import Script, turns, world

from tea.platform import Platform
from tea.runs.task_file import find_files, read_task
from tea.types import ModelRequest

EXAMPLES = Path(__file__).parent.parent / "examples"
FOLDER = EXAMPLES / "research"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text())


class Stage:
    """The answering model: another script for each example."""

    model: Any = None

    async def complete(self, *words: Any) -> Any:
        return await self.model.complete(*words)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Platform, Stage]]:
    stage, text = Stage(), (EXAMPLES / "data" / "constitution.txt").read_text()
    async with world(tmp_path_factory.mktemp("home"), stage, docs={"constitution.txt": text}) as (tea, _):
        yield tea, stage


def scripted(replies: Mapping[str, Any]) -> Script:
    """Return a model with these replies, its quotations from the source with their words."""
    given = {name: turns(*map(_sourced, one)) if isinstance(one, list) else one for name, one in replies.items()}
    return Script(**{name: _cited if one == "cited" else one for name, one in given.items()})


def _sourced(reply: Any) -> Any:
    def found(request: ModelRequest) -> Any:
        shown = [(one["number"], " ".join(one["text"].split())) for one in request.variables["material"]]
        for one in (*reply.get("claims", ()), *reply.get("rows", ())):
            one["source"] = next((number for number, text in shown if one["quote"] in text), 0)
        return reply

    return found


def _cited(request: ModelRequest) -> Any:
    evidence = request.variables["evidence"]
    return {"markdown": "\n".join(f"{one['claim'][:-1]} [{one['reference']}](<{one['url']}>)." for one in evidence)}


def test_there_are_examples_for_answers_lists_reports_and_what_is_not_said() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {*EXPECTED, "expected"}
    kinds = [one["replies"]["researcher"]["kind"] for one in EXPECTED.values()]
    assert ({*kinds}, min(one["exit"] for one in EXPECTED.values())) == ({"answer", "list", "report"}, 0)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", sorted(EXPECTED))
async def test_a_piece_of_research_gives_the_expected_answer_and_replays(
    opened: tuple[Platform, Stage], name: str
) -> None:
    (tea, stage), expected = opened, EXPECTED[name]
    stage.model = scripted(json.loads(json.dumps(expected["replies"])))
    task = read_task((FOLDER / f"{name}.json").read_bytes())
    outcome = await tea.execute(task, find_files(task, FOLDER))
    assert (outcome.exit_code, outcome.answer or None) == (expected["exit"], expected["answer"]), outcome
    assert outcome.evidence
    assert [one.doubt for one in outcome.evidence if one.doubt] == []
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    if outcome.report is not None:
        assert "[?]" not in outcome.report.read_text()
        assert "## Ratification" in outcome.report.read_text()
