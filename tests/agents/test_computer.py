"""Test the computer agent with scripted models: on a stand-in for its desktop, and on a real one."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tea.models.manager import ModelConfig
from tea.platform import Platform
from tea.runs.policy import AllowTrusted
from tea.testing import ScriptedModel

pytestmark = pytest.mark.asyncio

DESK = '''
from tea import Context, Environment, ToolError, action, keep_picture, make_film, png_of


class Computer(Environment):
    """Stand in for a desktop: one editor, without a sandbox."""

    name = "computer"
    recovery = "lost"
    sharing = "private"

    def __init__(self) -> None:
        self._text = None

    async def state(self, ctx: Context) -> dict:
        """Return the window, the words and the picture."""
        colour = bytes([len(self._text or "") % 256, 90, 90])
        window = {"id": "0x1", "title": "*letter.txt", "x": 0, "y": 17, "width": 16, "height": 9, "focused": True}
        return {
            "windows": [] if self._text is None else [window],
            "pixels": {"width": 1024, "height": 768},
            "screenshot": keep_picture(ctx, "computer", png_of(colour * 144, 16, 9)),
            "words": [{"text": self._text, "x": 40, "y": 50}] if self._text else [],
        }

    @action(effects="writes", network=False, returns_untrusted=True)
    async def open(self, program: str, arguments: list[str] | None = None) -> str:
        """Open a program."""
        if program != "mousepad":
            raise ToolError("It is not there.", fix="open mousepad.")
        self._text = ""
        return "opened"

    @action(effects="writes", network=False, returns_untrusted=True)
    async def type_text(self, text: str) -> str:
        """Type."""
        self._text += text
        return "typed"

    @action(effects="writes", idempotent=True, network=False)
    async def film(self, ctx: Context, pictures: list[str], name: str, seconds: float = 1.0) -> str:
        """Make a film."""
        make_film(ctx, [ctx.path(one) for one in pictures], name, 500)
        return name
'''


@pytest_asyncio.fixture
async def tea(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    folder = tmp_path_factory.mktemp("home")
    async with Platform(folder, policy=AllowTrusted(), state=folder / "state", trust_home=True) as made:
        yield made


def step(*actions: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    words = dict.fromkeys(("evaluation", "memory", "next_goal"), "w")
    return {**words, "actions": [{"action": name, "arguments": given} for name, given in actions], **more}


OPEN = ("open", {"program": "mousepad", "arguments": ["letter.txt"]})


async def played(tea: Platform, *steps: dict[str, Any], desk: bool = True) -> tuple[Any, ScriptedModel]:
    """Return the outcome of a run with given steps, and its model."""
    if desk:
        await tea.ecp.update("computer", DESK)
    model = ScriptedModel(list(steps))
    tea.models.add(ModelConfig(name="scripted", provider="given"), model)
    return await tea.run("Write hello into letter.txt.", agent="computer", model="scripted"), model


async def test_it_acts_step_by_step_and_keeps_log_film_and_report(tea: Platform) -> None:
    steps = step(OPEN, ("type_text", {"text": "hello"})), step(extracted="hello", final={"success": True})
    outcome, model = await played(tea, *steps)
    assert (outcome.ok, outcome.answer) == (True, "hello")
    first, second = (str(one.variables["state"]) for one in model.requests)
    assert "'windows': []" in first
    assert "'text': 'hello', 'x': 40, 'y': 50" in second
    folder = outcome.report.parent
    assert folder.parent == outcome.trace / "workspace" / "computer"
    assert (folder / "steps.gif").read_bytes().startswith(b"GIF8")
    assert "type_text" in (folder / "log.md").read_text()
    assert "hello" in outcome.report.read_text()
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


async def test_it_gives_up_after_three_failed_steps_with_the_reason(tea: Platform) -> None:
    outcome, model = await played(tea, *[step(("open", {"program": "vi"})) for _ in range(5)])
    assert not outcome.ok
    assert outcome.reason == "The task was not done in 3 steps."
    assert [one.variables["left"] for one in model.requests] == [50, 49, 48, 0]
    assert "It is not there." in str(model.requests[1].variables["steps"])


async def test_a_step_stops_at_its_first_failure_and_does_not_end_the_work(tea: Platform) -> None:
    failing = step(("open", {"program": "vi"}), OPEN, final={"success": True, "answer": "done"})
    outcome, model = await played(tea, failing, step(final={"success": False, "reason": "There is no vi."}))
    assert (outcome.ok, outcome.reason) == (False, "There is no vi.")
    assert model.requests[1].variables["state"]["windows"] == []


async def test_it_works_in_at_most_fifty_steps(tea: Platform) -> None:
    outcome, model = await played(tea, step(OPEN), *[step(("type_text", {"text": "x"})) for _ in range(60)])
    assert (outcome.ok, outcome.reason) == (False, "The task was not done in 50 steps.")
    assert len(model.requests) == 51


@pytest.mark.slow
async def test_it_writes_a_file_with_an_editor_of_debian(tea: Platform) -> None:
    steps = (
        step(OPEN, ("type_text", {"text": "Žluťoučký kůň\n"}), ("keys", {"combination": "ctrl+s"})),
        step(("wait", {"seconds": 1})),
        step(final={"success": True, "answer": "written"}),
    )
    outcome, model = await played(tea, *steps, desk=False)
    assert (outcome.ok, outcome.answer) == (True, "written")
    assert (outcome.trace / "workspace" / "letter.txt").read_text() == "Žluťoučký kůň\n"
    assert "/workspace/letter.txt - Mousepad" in str(model.requests[-1].variables["state"]["windows"])
    assert (outcome.report.parent / "steps.gif").read_bytes().startswith(b"GIF8")
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
