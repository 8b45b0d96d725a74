"""The examples with code: a scripted model writes it, and the shell's sandbox runs it on the attached files."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image

from tea.platform import Platform
from tea.runs.task_file import find_files, read_task
from tea.testing import ScriptedModel, platform
from tea.types import ModelRequest

EXAMPLES = Path(__file__).parent.parent / "examples"
EXPECTED: dict[str, dict[str, Any]] = {
    name: one for name, one in json.loads((EXAMPLES / "expected.json").read_text()).items() if one.get("code")
}
in_one_loop = pytest.mark.asyncio(loop_scope="module")


class Stage:
    """The model: another script for each example."""

    model: Any = None

    async def complete(self, *words: Any) -> Any:
        return await self.model.complete(*words)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened() -> AsyncIterator[tuple[Platform, Stage]]:
    stage: Any = Stage()
    async with platform(model=stage) as tea:
        yield tea, stage


def picture(folder: Path) -> None:
    with Image.open(folder / "wheat.png") as image:
        assert image.size == (320, 200)
        assert len(image.convert("L").getcolors() or []) > 1


def years(folder: Path) -> None:
    assert json.loads((folder / "years.json").read_text()) == {"1854": 7885, "1855": 12355, "1856": 735}


MADE: dict[str, Callable[[Path], None]] = {"wheat_chart": picture, "deaths_by_year": years}


def test_there_are_fifteen_and_each_has_its_task_and_its_code() -> None:
    assert len(EXPECTED) == 15
    for name, expected in EXPECTED.items():
        called = [call["name"] for reply in expected["replies"] for call in reply["calls"]]
        assert (EXAMPLES / f"{name}.json").is_file()
        assert {"shell_python", "shell_bash"} & set(called[:-1])
        assert called[-1] == "done"


@in_one_loop
@pytest.mark.parametrize("name", sorted(EXPECTED))
async def test_code_gives_the_expected_answer_and_replays(opened: tuple[Platform, Stage], name: str) -> None:
    tea, stage = opened
    expected = EXPECTED[name]
    stage.model = model = ScriptedModel(expected["replies"])
    task = read_task((EXAMPLES / f"{name}.json").read_bytes())
    outcome = await tea.execute(task, find_files(task, EXAMPLES))
    assert (outcome.exit_code, outcome.answer) == (0, expected["answer"]), outcome.reason
    shown = printed(model.requests[-1])
    answer: Any = expected["answer"]
    wanted: list[Any] = answer if isinstance(answer, list) else [answer]
    assert [one for one in wanted if str(one) not in shown] == []
    assert outcome.trace is not None
    MADE.get(name, lambda folder: None)(outcome.trace / "workspace")
    assert (await tea.replay(outcome.run)).answer == outcome.answer


def printed(request: ModelRequest) -> str:
    """Return the answers of the sandbox, as shown to the model."""
    return " ".join(one.model_dump_json() for one in request.messages if one.role == "tool")
