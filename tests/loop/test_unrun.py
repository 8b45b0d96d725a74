"""Test answers about code: asked about once if no run supports them."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, step, told

from tea.loop.observation import Observation
from tea.loop.unrun import unrun
from tea.types import JsonObject

CODE = "def is_leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 = 0)\n"
TASK = (
    "Write a function is_leap(year) in leap.py with a unittest test_leap.py, run the tests and tell whether they pass."
)
PASS = "I wrote leap.py. All 3 tests pass."


class Names:
    """Functions known by their names."""

    def runs(self) -> tuple[bool, bool]:
        return True, True

    def written_by(self, outcome: Observation) -> JsonObject | None:
        return outcome.arguments if outcome.name.startswith("workspace_") else None

    def reads(self, name: str) -> bool:
        return name in ("read_file", "table_query")


def wrote(name: str = "leap.py", type: str = "code") -> Observation:
    value = {"name": name, "size": 9, "type": type}
    return Observation(id="w", name="workspace_write", arguments={"name": name, "text": "x"}, ok=True, value=value)


def ran(*words: str) -> Observation:
    value = {"text": "\n".join(words), "sandbox": "bubblewrap"}
    return Observation(id="r", name="shell_bash", arguments={"command": "..."}, ok=True, value=value)


def read() -> Observation:
    return Observation(id="t", name="read_file", arguments={"path": "log.txt"}, ok=True, value={"text": "4 passed"})


GOOD = ran("STDERR:", "Ran 3 tests in 0.001s", "OK")
BAD = ran("STDERR:", "Ran 3 tests in 0.001s", "FAILED (failures=1)", "EXIT:", "1")
RAISED = ran("STDERR:", "Traceback (most recent call last):", "AssertionError")
FAILED, CHANGED, SAID = "The last run of code failed", "leap.py changed after the last run", "The answer says that"


@pytest.mark.parametrize(
    ("results", "answer", "problem"),
    [
        ([wrote(), BAD, wrote()], PASS, FAILED),
        ([wrote(), BAD, wrote()], "I mended the failing test: all pass.", FAILED),
        ([wrote(), BAD, wrote(), GOOD], PASS, ""),
        ([wrote(), BAD], PASS, FAILED),
        ([wrote(), RAISED, read()], "leap.py is written.", FAILED),
        ([wrote(), BAD], "All 3 tests pass, 0 failures.", FAILED),
        ([wrote(), BAD], "2 of 3 tests pass; test_2000 fails.", ""),
        ([wrote(), BAD], {"passed": 2}, FAILED),
        ([wrote(), GOOD, wrote()], "leap.py holds is_leap.", CHANGED),
        ([wrote(), GOOD, wrote()], "I changed leap.py once more and have not run the tests since.", ""),
        ([wrote(), GOOD, wrote("README.md", "text")], PASS, ""),
        ([GOOD, wrote()], "leap.py holds is_leap, tried out before.", ""),  # a prototype, and then the file
        ([GOOD, wrote()], PASS, SAID),
        ([wrote()], "I wrote roman.py and ran the tests: all 4 tests pass.", SAID),
        ([wrote()], "I wrote leap.py; the tests were not run.", ""),
        ([wrote()], "leap.py holds is_leap.", ""),
        ([], "I ran the script, and it prints 4.", SAID),
        ([], "The tests of 2024 pass for the best.", ""),
        ([read()], "By the log the job ran 5 tests, and 4 tests pass.", ""),
        ([BAD], "There is no line with 'leap'.", ""),  # as grep ends without a match
        ([BAD, read()], "The log says: 4 passed.", ""),
        ([BAD], "All tests pass.", FAILED),
    ],
)
def test_code_that_nothing_shows_to_run_is_a_problem(results: list[Observation], answer: Any, problem: str) -> None:
    found = unrun(results, Names(), answer)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open() as stage:
        yield stage


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("end", [step(done(PASS)), PASS])
async def test_tests_said_to_pass_without_a_run_are_asked_about_once_and_then_doubted(stage: Stage, end: Any) -> None:
    write = step(("workspace_write", {"name": "leap.py", "text": CODE}))
    outcome, model = await stage.play(write, end, step(done("The answer holds.")), task=TASK)
    assert told(model.requests[2]).count("nothing has run since the last change of leap.py") == 1
    assert (outcome.answer, len(model.requests)) == (PASS, 3)
    assert [one for one in outcome.evidence if "nothing has run since" in one.doubt]
