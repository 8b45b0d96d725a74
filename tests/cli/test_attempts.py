"""`tea run --attempts`, and a debate, as a person sees them."""

from collections.abc import Iterator

import pytest
from attempts_kit import answered, expert, invitation, statement, verdict
from role_server import serving

from conftest import Tea

ROLES = {
    "You manage a debate": invitation(expert("Ann"), expert("Bob"), question="Is it good?"),
    "You are Ann in a debate": statement("Buy", rebuttals=[{"to": "Bob", "point": "no number"}]),
    "You are Bob in a debate": statement("Sell"),
    "You judge answers": verdict(1, answer="Buy a little."),
    "Which city": answered("Oslo", 60),
}


@pytest.fixture
def served(tea: Tea) -> Iterator[Tea]:
    with serving(tea.folder, ROLES):
        yield tea


@pytest.mark.slow
def test_attempts_are_shown_with_their_costs(served: Tea) -> None:
    done = served("run", "Which city?", "--attempts", "2")
    assert (done.code, done.out) == (0, "Oslo\n")
    lines = done.err.splitlines()
    assert "attempts: attempt 1: begins" in lines
    assert "attempts: judge: not asked: all answers are the same" in lines
    assert "attempt 1 (done, confidence 60, 1 step, 2 tokens, price unknown; chosen): Oslo" in lines
    assert "attempt 2 (done, confidence 60, 1 step, 2 tokens, price unknown): Oslo" in lines
    data = served("run", "Which city?", "--attempts", "2", "--successive", "--json").data
    assert [one["status"] for one in data["attempts"]] == ["done", "done"]
    assert served("replay", "last").code == 0
    (served.folder / "task.json").write_text('{"task": "Which city?", "attempts": 2}')
    assert len(served("run", "task.json", "--json").data["attempts"]) == 2


def test_attempts_that_make_no_sense_are_refused(tea: Tea) -> None:
    tea("run", "Which city?", "--successive").refused(2, "needs several attempts", "--attempts")
    tea("run", "Which city?", "--attempts", "2", "--reflect", "1").refused(2, "no `reflect`")


def test_a_debate_is_shown_as_it_goes_on(served: Tea) -> None:
    done = served("run", "Is it good?", "--agent", "debate")
    assert (done.code, done.out) == (0, "Buy a little.\n")
    lines = done.err.splitlines()
    for words in (
        "question: Is it good?",
        "invited: Ann: Knows it.",
        "Ann, round 1: Buy (60)",
        "Ann to Bob: no number",
        "Bob, round 3: Sell (60)",
        "verdict: Ann stands best: it is sourced",
    ):
        assert f"debate: {words}" in lines, words
