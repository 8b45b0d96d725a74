"""Test answers about code: asked about once if no run supports them."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Names, Stage, done, step, told

from tea.loop.observation import Observation
from tea.loop.unrun import unrun

CODE = "def is_leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 = 0)\n"
TASK = (
    "Write a function is_leap(year) in leap.py with a unittest test_leap.py, run the tests and tell whether they pass."
)
PASS = "I wrote leap.py. All 3 tests pass."


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
NO_PYTEST = replace(
    ran("STDERR:", "Traceback (most recent call last):", "ModuleNotFoundError: No module named 'pytest'"),
    arguments={"code": "import pytest"},
)
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
        ([ran("STDOUT:", "Ran 3 tests in 0.002s", "", "FAILED (failures=2)")], "All tests pass now.", FAILED),
        ([ran("STDOUT:", "FAILED (errors=1)")], "All tests pass now.", FAILED),
        ([ran("STDOUT:", "1 failed, 2 passed in 0.05s")], "The tests pass.", FAILED),
        ([ran("STDOUT:", "== 1 failed in 0.05s ==")], "The tests pass.", FAILED),
        ([ran("STDOUT:", "FAILED test_leap.py::test_2000 - assert")], "The tests pass.", FAILED),
        ([ran("STDOUT:", "CompletedProcess(args=['make'], returncode=2)")], "The tests pass.", FAILED),
        ([ran("STDOUT:", "FAILED (failures=2)")], "2 of the 3 tests fail, one test passes.", ""),
        ([ran("STDOUT:", "0 failed, 3 passed in 0.05s")], "All tests pass.", ""),
        ([ran("STDOUT:", "OK (expected failures=1)")], "All tests pass.", ""),
        ([ran("STDOUT:", "3 failed logins")], "The tests of the log pass.", ""),
        ([wrote(), GOOD, NO_PYTEST], "leap.py is fixed; all three tests pass.", ""),
        ([wrote(), GOOD, ran("STDERR:", "Traceback (most recent call last):")], PASS, ""),
        ([wrote(), BAD, ran("STDOUT:", "4")], PASS, FAILED),
        ([wrote(), NO_PYTEST], PASS, FAILED),
        ([wrote(), GOOD, replace(RAISED, arguments={"command": "python test_leap.py"})], PASS, FAILED),
        ([wrote(), GOOD, RAISED], "I ran the script, and it prints 4.", FAILED),
        ([wrote()], "leap.py counts 400 now, so the test should pass.", ""),
        ([wrote()], "With that the tests ought to pass.", ""),
        ([wrote()], "I can confirm that all tests pass.", SAID),
        ([GOOD, wrote("page.js")], "The button of page.js is green.", ""),
        ([wrote(), BAD, wrote()], "leap.py counts 400 now, so the test should pass.", FAILED),
    ],
)
def test_code_that_nothing_shows_to_run_is_a_problem(results: list[Observation], answer: Any, problem: str) -> None:
    found = unrun(results, Names(), answer)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


@pytest.mark.parametrize(
    ("code", "printed", "problem"),
    [
        ("print(run(tests).returncode)", ("1",), FAILED),
        ("r = run(tests)\nr.returncode", ("returncode: -9",), FAILED),
        ("python -m unittest test_leap >log; echo $?", ("1",), FAILED),
        ("print(run(tests).returncode)", ("0",), ""),
        ("print(run(tests).returncode)\nprint(3)", ("0", "3"), ""),
        ("run(tests).check_returncode()\nprint(3)", ("3",), ""),
        ("print(3)", ("3",), ""),
    ],
)
def test_a_printed_exit_code_tells_how_a_run_ended(code: str, printed: tuple[str, ...], problem: str) -> None:
    result = replace(ran("STDOUT:", *printed), arguments={"code": code})
    found = unrun([result], Names(), "All tests pass now.")
    assert (found[: len(FAILED)] if problem else found) == problem


UNTESTED = "The answer says what passes or fails, but nothing was run."
RUN, MEND = "Run test_cart.py and tell me whether it passes.", "The test in test_cart.py fails. Fix cart.py."


@pytest.mark.parametrize(
    ("task", "answer", "problem"),
    [
        (MEND, "I changed `+` to `*`; the test passes now.", UNTESTED),
        (MEND, "cart.py multiplies now. All 3 tests pass.", UNTESTED),
        (RUN, "It fails: 2 of the 3 tests fail, as price and count are added.", UNTESTED),
        ("Does test_cart.py pass?", "It passes.", UNTESTED),
        ("Does test_cart.py pass?", "It cannot be told: nothing was run.", ""),
        (MEND, "The test fails as price and count are added.", ""),
        (MEND, "With `*` in place of `+` the test would pass.", ""),
        (MEND, "Write `*`, so that the test passes.", ""),
        (MEND, "Once `+` is `*`, both tests pass.", ""),
        ("Why does test_cart.py fail?", "It adds price and count.", ""),
        ("Which test of test_cart.py passes a list?", "The first test passes a list to total.", ""),
        ("Does cart.py pass its items on?", "It passes them to total.", ""),
        ("How do I run test_cart.py?", "`python -m unittest test_cart`; it passes without output.", ""),
        ("Does sample 3 pass the test?", "It passes.", ""),
        ("Run test_cart.py: CI says `Ran 3 tests`, OK.", "It passes.", ""),
    ],
)
def test_tests_said_to_end_somehow_need_a_run(task: str, answer: str, problem: str) -> None:
    files = ("cart.py", "test_cart.py") if "cart" in task else ()
    assert unrun([], Names(), answer, task, files) == problem
    assert unrun([GOOD], Names(), answer, task, files) == ""


def test_a_log_that_was_shown_or_read_tells_how_tests_ended() -> None:
    task, answer = "Do the tests of cart.py pass?", "All 4 tests pass."
    assert unrun([read()], Names(), answer, task) == ""
    assert unrun([], Names(), answer, task, (), ["ci.log: 4 passed"]) == ""
    assert unrun([], Names(), answer, task, (), ["def test_total(): ..."]) == UNTESTED


def ran_tests(*words: str) -> Observation:
    return replace(ran("STDOUT:", *words), arguments={"command": "python -m pytest -q test_cart.py 2>&1 | tail -3"})


NO_RUN = ran_tests("/usr/bin/python: No module named pytest")
DURCH, PASS_FR = "Laufen die Tests in test_cart.py durch?", "Est-ce que les tests de test_cart.py passent ?"
DOES = "Does test_cart.py pass?"


@pytest.mark.parametrize(
    ("task", "results", "answer", "problem"),
    [
        (DOES, [NO_RUN], "Yes, it passes.", FAILED),
        (DOES, [NO_RUN], "All 3 tests pass.", FAILED),
        (DOES, [ran_tests("bash: pytest: command not found")], "All 3 tests pass.", FAILED),
        (DOES, [ran_tests("python: can't open file 'test_cart.py': [Errno 2]")], "All 3 tests pass.", FAILED),
        (DOES, [ran_tests("no tests ran in 0.01s")], "It passes.", FAILED),
        (DOES, [ran_tests("collected 0 items")], "It passes.", FAILED),
        (DOES, [ran_tests("Ran 0 tests in 0.000s", "OK")], "It passes.", FAILED),
        (DOES, [ran_tests("3 passed in 0.02s"), NO_RUN], "It passes.", ""),
        (DOES, [NO_RUN, ran_tests("Ran 3 tests in 0.001s", "OK")], "It passes.", ""),
        (DOES, [ran_tests("bash: nproc: command not found", "3 passed in 0.02s")], "It passes.", ""),
        (DOES, [NO_RUN], "It could not be run: there is no pytest.", ""),
        (DOES, [NO_RUN], "Nobody can tell, as pytest is missing.", ""),
        (DOES, [BAD], "Yes.", FAILED),
        (DOES, [BAD], "The error is fixed, and everything is green.", FAILED),
        (DURCH, [BAD], "Der Fehler ist behoben, und alle drei Tests laufen durch.", FAILED),
        (DURCH, [BAD], "Ja, sie laufen durch.", FAILED),
        (DURCH, [BAD], "Ja.", FAILED),
        (DURCH, [BAD], "test_cart.py ist fehlerfrei.", FAILED),
        (DURCH, [BAD], "Alles ist gr\u00fcn.", FAILED),
        (PASS_FR, [BAD], "Oui.", FAILED),
        (PASS_FR, [BAD], "Ils passent.", FAILED),
        (PASS_FR, [BAD], "Ils sont verts, sans erreur.", FAILED),
        (PASS_FR, [BAD], "Les trois tests r\u00e9ussissent.", FAILED),
        (DURCH, [GOOD], "Ja, sie laufen durch, fehlerfrei.", ""),
        (DURCH, [BAD], "Nein, einer von drei scheitert.", ""),
        (DURCH, [BAD], "Zwei laufen durch, einer zeigt einen Fehler.", ""),
        (DURCH, [BAD], "Nein: der Betrag wird durch 100 geteilt.", ""),
        (PASS_FR, [GOOD], "Oui, les trois tests passent.", ""),
        (PASS_FR, [BAD], "Deux passent, un \u00e9choue.", ""),
        ("Why does test_cart.py fail?", [BAD], "total adds price and count.", ""),
        ("Is it line 3 of test_cart.py?", [BAD], "Yes, line 3 adds them.", ""),
        ("Is there a test of zero in test_cart.py?", [BAD], "Yes, test_zero.", ""),
    ],
)
def test_tests_that_failed_or_never_began_support_no_success(
    task: str, results: list[Observation], answer: str, problem: str
) -> None:
    found = unrun(results, Names(), answer, task, ("cart.py", "test_cart.py"))
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


LOG = ran("STDOUT:", "build 2: FAILED (failures=2)", "build 4: FAILED (errors=1)")


@pytest.mark.parametrize(
    ("results", "files", "problem"),
    [
        ([LOG], ("builds.log",), ""),
        ([LOG], ("builds.log", "notes.txt"), ""),
        ([LOG], ("builds.log", "cart.py"), FAILED),
        ([LOG, wrote()], ("builds.log",), FAILED),
        ([replace(LOG, arguments={"command": "python -m unittest"})], ("builds.log",), FAILED),
    ],
)
def test_words_about_tests_of_a_log_claim_no_run(
    results: list[Observation], files: tuple[str, ...], problem: str
) -> None:
    found = unrun(results, Names(), "All tests passed in builds 1 and 3.", "In which builds did all tests pass?", files)
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


TEST = "import unittest\n\n\nclass One(unittest.TestCase):\n    def test_one(self):\n        assert 1 + 1 == 3\n"


@pytest.mark.asyncio(loop_scope="module")
async def test_a_claim_that_the_run_asked_for_denies_is_asked_about_once_more(stage: Stage, tmp_path: Path) -> None:
    (test := tmp_path / "test_cart.py").write_text(TEST)
    run = step(("shell_bash", {"command": "python3 -m unittest test_cart 2>&1; true"}))
    passes, holds = step(done("All tests pass.")), step(done("The answer holds."))
    replies = [step(done("It fails: 2 of the 3 tests fail.")), run, passes, holds, holds]
    outcome, model = await stage.play(*replies, task=RUN, files=[str(test)])
    assert (outcome.answer, len(model.requests)) == ("All tests pass.", 4)
    assert told(model.requests[1]).count(UNTESTED.rstrip(".")) == 1
    assert told(model.requests[3]).count(FAILED) == 1
    assert [one for one in outcome.evidence if one.doubt.startswith(FAILED)]
