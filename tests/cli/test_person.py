"""Test the person at the terminal: an answer counts for the question seen."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from tea.cli.person import AtTerminal

CONSENT = ("allow", "deny")


@pytest.fixture
def terminal() -> Iterator[tuple[int, AtTerminal]]:
    keyboard, screen = os.openpty()
    yield keyboard, AtTerminal(screen)
    os.close(keyboard)
    os.close(screen)


async def shown(capsys: pytest.CaptureFixture[str], question: str) -> None:
    """Wait until a question was shown."""
    said = ""
    async with asyncio.timeout(30):
        while question not in said:
            await asyncio.sleep(0)
            said += capsys.readouterr().err


async def test_a_line_that_was_typed_before_a_question_was_shown_does_not_answer_it(
    terminal: tuple[int, AtTerminal], capsys: pytest.CaptureFixture[str]
) -> None:
    keyboard, person = terminal
    os.write(keyboard, b"allow\n")
    first = asyncio.ensure_future(person("Buy bread?", CONSENT))
    second = asyncio.ensure_future(person("Sell the house?", CONSENT))
    await shown(capsys, "Buy bread?")
    os.write(keyboard, b"perhaps\nallow\nallow\n")
    assert await first == "allow"
    await shown(capsys, "Sell the house?")
    os.write(keyboard, b"deny\n")
    assert await second == "deny"


async def test_the_answer_to_a_question_that_was_given_up_answers_no_other(
    terminal: tuple[int, AtTerminal], capsys: pytest.CaptureFixture[str]
) -> None:
    keyboard, person = terminal
    first = asyncio.ensure_future(person("Buy bread?", CONSENT))
    second = asyncio.ensure_future(person("Sell the house?", ()))
    await shown(capsys, "Buy bread?")
    os.write(keyboard, b"allow\n")
    first.cancel()
    await shown(capsys, "not asked any more")
    os.write(keyboard, b"\n")
    await shown(capsys, "Sell the house?")
    os.write(keyboard, "für nichts\n".encode())
    assert await second == "für nichts"


async def test_what_is_typed_as_a_question_is_given_up_does_not_answer_the_one_behind_it(
    terminal: tuple[int, AtTerminal], capsys: pytest.CaptureFixture[str]
) -> None:
    keyboard, person = terminal
    first = asyncio.ensure_future(person("Buy bread?", CONSENT))
    second = asyncio.ensure_future(person("Sell the house?", CONSENT))
    await shown(capsys, "Buy bread?")
    first.cancel()
    await shown(capsys, "not asked any more")
    os.write(keyboard, b"allow\n")  # at this moment, by who has not looked again
    await shown(capsys, "Sell the house?")
    os.write(keyboard, b"deny\n")
    assert await second == "deny"
    third = asyncio.ensure_future(person("Buy milk?", CONSENT))
    await shown(capsys, "Buy milk?")
    os.write(keyboard, b"allow\n")
    assert await third == "allow"


async def test_many_choices_are_shown_in_part_until_all_are_wanted(
    terminal: tuple[int, AtTerminal], capsys: pytest.CaptureFixture[str]
) -> None:
    keyboard, person = terminal
    choices = [f"choice{number}" for number in range(1_000)]
    asked = asyncio.ensure_future(person("Which?", choices))
    await shown(capsys, "characters are not shown here; answer `show` to see all]")
    os.write(keyboard, b"show\n")
    await shown(capsys, "choice500")
    os.write(keyboard, b"choice500\n")
    assert await asked == "choice500"


async def test_who_closes_the_input_is_gone(
    terminal: tuple[int, AtTerminal], capsys: pytest.CaptureFixture[str]
) -> None:
    keyboard, person = terminal
    asked = asyncio.ensure_future(person("Buy bread?", CONSENT))
    await shown(capsys, "Buy bread?")
    os.write(keyboard, b"\x04")
    assert await asked is None
