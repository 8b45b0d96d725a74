"""Test the display of a call's tries: the failed, the answering, and parts lost between models."""

from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, streamed
from loopback import Loopback, Reply, document
from run_kit import home, tea

NATIVE: dict[str, Any] = {"capabilities": ["tools", "schema", "streaming"]}
CHAT = DIALECTS["openai_chat"]
ADDS = Say(reasoning="I add.", calls=(("own-1", "calculator", {"expression": "6 * 7"}),))
ENDS = Say(calls=(("end", "done", {"answer": "42"}),))
DOWN = document({"error": {"message": "down"}}, 500)


def half(say: Say) -> Reply:
    """An answer broken off after its first words."""
    return Reply(headers=streamed(CHAT, say).headers, chunks=streamed(CHAT, say, size=900).chunks[:1], then="break")


def two(folder: Path, first: str, second: str, other: Dialect = CHAT) -> None:
    """A home with model `fake`, fallback `others`, and a name ending as a secret begins."""
    home(folder, CHAT, first, **NATIVE, fallbacks=["others"], limits={"attempts": 1})
    lines = f'provider = "{other.name}"\nmodel = "m"\nbase_url = "{second}{other.base}"\nlimits = {{attempts = 1}}'
    with (folder / "tea.toml").open("a") as file:
        file.write(f"\n[models.others]\n{lines}")


@pytest.mark.slow
async def test_a_trace_tells_of_failed_tries_and_of_what_another_model_could_not_take_over(tmp_path: Path) -> None:
    other = DIALECTS["anthropic_messages"]
    async with Loopback(streamed(CHAT, ADDS), DOWN).open() as first, Loopback(streamed(other, ENDS)).open() as second:
        two(tmp_path, first.url, second.url, other)
        assert (await tea(tmp_path, "run", "6 * 7?"))[0] == 0
    plain = (await tea(tmp_path, "trace", "last"))[1]
    whole = (await tea(tmp_path, "trace", "last", "-v", "--positions"))[1].splitlines()
    assert "(by others)" in plain
    assert "status 500" not in plain
    answered = next(place for place, line in enumerate(whole) if "(by others)" in line)
    margin = len(whole[answered]) - len(whole[answered][20:].lstrip())
    assert whole[answered + 1][margin:] == "  tried fake: The model 'fake' did not answer: status 500: down."
    assert whole[answered + 2][margin:] == (
        "  tried others: The conversation goes on here: 1 pieces of foreign reasoning dropped, 0 ids rewritten."
    )
    assert not whole[answered + 1][:margin].strip()


@pytest.mark.slow
async def test_a_trace_tells_of_tries_that_were_made_again(tmp_path: Path) -> None:
    async with Loopback(DOWN, streamed(CHAT, ENDS)).open() as server:
        home(tmp_path, CHAT, server.url, **NATIVE, limits={"attempts": 2})
        assert (await tea(tmp_path, "run", "6 * 7?"))[0] == 0
    assert "tried fake: status 500: down; again after 0." in (await tea(tmp_path, "trace", "last", "-v"))[1]


async def test_a_trace_tells_of_every_model_where_none_answered(tmp_path: Path) -> None:
    async with Loopback(DOWN).open() as first, Loopback(DOWN).open() as second:
        two(tmp_path, first.url, second.url)
        assert (await tea(tmp_path, "run", "6 * 7?"))[0] == 4
    shown = (await tea(tmp_path, "trace", "last", "-v"))[1]
    for name in ("fake", "others"):
        assert f"The model '{name}' did not answer: status 500: down." in shown


@pytest.mark.slow
@pytest.mark.parametrize("broken", [half(ENDS), DOWN], ids=["in the middle", "before a word"])
async def test_progress_names_the_model_that_answers(tmp_path: Path, broken: Reply) -> None:
    async with Loopback(broken).open() as first, Loopback(streamed(CHAT, ENDS)).open() as second:
        two(tmp_path, first.url, second.url)
        code, out, err = await tea(tmp_path, "run", "-v", "6 * 7?")
    assert (code, out) == (0, "42\n"), err
    told = err.splitlines()
    begun = ["planner: fake answers"] if broken is not DOWN else []
    at = told.index("planner: asks fake")
    expected = ["planner: asks fake", *begun, "planner: asks others instead", "planner: others answers"]
    assert told[at : at + len(expected)] == expected


@pytest.mark.slow
@pytest.mark.parametrize("broken", [half(ENDS), DOWN], ids=["in the middle", "before a word"])
async def test_progress_says_where_nobody_answered(tmp_path: Path, broken: Reply) -> None:
    async with Loopback(broken).open() as first, Loopback(broken).open() as second:
        two(tmp_path, first.url, second.url)
        code, _, err = await tea(tmp_path, "run", "-v", "6 * 7?")
    assert code == 4
    told = err.splitlines()
    at = told.index("planner: asks others instead")
    last = next(line for line in told[at + 1 :] if " answers" not in line and " again" not in line)
    assert last.startswith("planner: The model 'fake' did not answer")
    assert "The model 'others' did not answer" in last


async def test_progress_says_what_is_left_before_each_question(tmp_path: Path) -> None:
    async with Loopback(streamed(CHAT, ADDS), streamed(CHAT, ENDS)).open() as server:
        home(tmp_path, CHAT, server.url, **NATIVE, max_output=500, prices={"input": 10, "output": 10})
        budget = ("--max-steps", "3", "--max-tokens", "1000000", "--max-cost", "7")
        code, _, err = await tea(tmp_path, "run", "-v", *budget, "6 * 7?")
    assert code == 0
    assert [line for line in err.splitlines() if "left" in line] == [
        "planner: asks fake [left: 3 steps, 1,000,000 tokens, $7.00]",
        "planner: asks fake [left: 2 steps, 999,880 tokens, $7.00]",
    ]
