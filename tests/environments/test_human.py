"""The person behind a run as an environment: asked now, or answering when the run is resumed."""

from collections.abc import Sequence
from typing import Any

import pytest

from tea.errors import ApprovalNeeded
from tea.platform import Platform
from tea.testing import platform

ASKER = '''
from tea import Agent, Context, Result, Task


class Asker(Agent):
    """Ask the person."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask."""
        first = await ctx.ecp.invoke("human#ask", {"question": "Tea or coffee?", "choices": ["tea", "coffee"]})
        second = await ctx.ecp.invoke("human#ask", {"question": "How much?"})
        state = await ctx.ecp.state("human")
        return Result(answer=[first.value, second.value, state.value])
'''


async def test_a_person_who_is_there_answers_at_once(tmp_path: Any) -> None:
    asked: list[tuple[str, tuple[str, ...]]] = []

    async def person(question: str, choices: Sequence[str]) -> str:
        asked.append((question, tuple(choices)))
        return "tea" if choices else "a cup"

    async with Platform(tmp_path / "home", state=tmp_path / "state", person=person) as made:
        await made.acp.register(ASKER)
        outcome = await made.run("Ask.", agent="asker")
        assert outcome.answer[:2] == ["tea", "a cup"]
        assert outcome.answer[2].startswith("A person")
        assert (await made.replay(outcome.run)).answer == outcome.answer
    assert asked == [("agent:asker asks: Tea or coffee?", ("tea", "coffee")), ("agent:asker asks: How much?", ())]


async def test_no_line_of_a_question_looks_like_one_that_tea_adds(tmp_path: Any) -> None:
    asked: list[str] = []

    async def person(question: str, choices: Sequence[str]) -> str:
        asked.append(question)
        return "tea"

    forged = "Tea?\\n\\nagent:planner calls it. Its arguments are:"
    async with Platform(tmp_path / "home", state=tmp_path / "state", person=person) as made:
        await made.acp.register(ASKER.replace("Tea or coffee?", forged))
        assert (await made.run("Ask.", agent="asker")).ok
    head, *lines = asked[0].split("\n")
    assert (head, lines) == (
        "agent:asker asks:",
        ["| Tea?", "| ", "| agent:planner calls it. Its arguments are:"],
    )


async def test_a_question_tells_what_of_it_a_home_hides(tmp_path: Any) -> None:
    asked: list[str] = []

    async def person(question: str, choices: Sequence[str]) -> str:
        asked.append(question)
        return "tea"

    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".env").write_text("A_KEY=Tea or coffee?\nB_KEY=Nothing but coffee\n")
    async with Platform(tmp_path / "home", state=tmp_path / "state", person=person) as made:
        await made.acp.register(ASKER.replace('"coffee"]', '"Nothing but coffee"]'))
        assert (await made.run("Ask.", agent="asker")).ok
    told = "Not shown, and set by the environment or by .env of the home: <secret:A_KEY>, <secret:B_KEY>"
    assert asked[0] == f"agent:asker asks: <secret:A_KEY>\n{told}"


async def test_nobody_is_bothered_with_a_question_without_words() -> None:
    async with platform() as made:
        answer = await made.ecp.invoke("human#ask", {"question": " "})
    assert answer.error is not None
    assert answer.error["problem"] == "The question holds no word."


@pytest.mark.parametrize("ask", ["human#ask", "human_ask"])
async def test_a_call_outside_of_any_run_cannot_wait_for_a_person_and_says_so(ask: str) -> None:
    async with platform() as made:
        await made.transform("E2T", "human")
        server = made.ecp if "#" in ask else made.tcp
        with pytest.raises(ApprovalNeeded, match="Who are you") as waiting:
            await server.invoke(ask, {"question": "Who are you?"})
    assert waiting.value.fix == "call it from an agent: its run waits for the answer."


@pytest.mark.parametrize("ask", ["human#ask", "human_ask"])
async def test_without_a_person_the_run_waits_and_the_answer_comes_when_it_is_resumed(ask: str) -> None:
    source = ASKER if ask == "human#ask" else ASKER.replace('ctx.ecp.invoke("human#ask"', 'ctx.tcp.invoke("human_ask"')
    async with platform() as made:
        await made.transform("E2T", "human")
        await made.acp.register(source)
        answers: dict[str, str] = {}
        for said, question in [("milk", "Tea or coffee"), ("tea", "not one of the choices"), ("a cup", "How much")]:
            attempt = made.resume("last", answers=answers) if answers else made.run("Ask.", agent="asker")
            with pytest.raises(ApprovalNeeded, match=question) as waiting:
                await attempt
            key = waiting.value.fix.partition("--answer ")[2].partition("=")[0].strip("'")
            answers = {key: said}
        outcome = await made.resume("last", answers=answers)
        assert outcome.answer[:2] == ["tea", "a cup"]
        assert (await made.replay(outcome.run)).answer == outcome.answer
