"""Test answers about changed files: asked about once if nothing has written them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Names, Stage, done, step, told

from tea.loop.observation import Observation
from tea.loop.unchanged import unchanged

FILES = ("cart.py", "test_cart.py", "minutes.txt", "sales.csv", "new.csv")
FIX, ADD = "Fix cart.py so that test_cart.py passes.", "Add the line 'Next walk: 2 July' at the end of minutes.txt."
SWAP = "Replace Lamp by Lantern in sales.csv and tell how many were replaced."


def call(called: str, value: Any = None, ok: bool = True, **arguments: Any) -> Observation:
    return Observation(id="c", name=called, arguments=arguments, ok=ok, value=value)


WROTE = call("workspace_write", {"name": "cart.py"}, name="cart.py", text="x")
RAN = call("shell_bash", {"text": "STDOUT:\n45", "sandbox": "bubblewrap"})
MADE = call("shell_bash", {"text": "45", "sandbox": "bubblewrap", "files": [{"name": "lanterns.csv", "size": 9}]})


@pytest.mark.parametrize(
    ("task", "answer", "results", "name"),
    [
        (FIX, "cart.py was corrected (price * count; discount / 100).", [RAN], "cart.py"),
        (FIX, "cart.py added price and count. I changed `+` to `*`.", [], "cart.py"),
        (FIX, "Done: `s += price + count` is now `s += price * count` in cart.py.", [], "cart.py"),
        (FIX, "Fixed cart.py. The tests were not run.", [call("read_file", "x", path="cart.py")], "cart.py"),
        (ADD, "The line was added to minutes.txt.", [], "minutes.txt"),
        (
            ADD,
            "I added the line to minutes.txt.",
            [call("workspace_append", None, False, name="minutes.txt")],
            "minutes.txt",
        ),
        (SWAP, "All 45 Lamp are Lantern in sales.csv now.", [RAN], "sales.csv"),
        ("Ersetze Lamp in sales.csv.", "45 Zeilen in sales.csv wurden ersetzt.", [RAN], "sales.csv"),
        (FIX, "cart.py was corrected.", [WROTE], ""),
        (FIX, "cart.py was corrected.", [call("coder", {"answer": "corrected"})], ""),
        (SWAP, "45 were replaced; sales.csv is read-only here.", [RAN], ""),
        (SWAP, "I replaced 45; sales.csv stands changed in lanterns.csv.", [MADE], ""),
        (SWAP, "45 rows hold Lamp.", [RAN], ""),
        (FIX, "In cart.py the `+` should be changed to `*`.", [], ""),
        (FIX, "I fixed the function as shown below; cart.py itself is unchanged.", [], ""),
        (SWAP + " Save it as lanterns.csv.", "45 were replaced in sales.csv.", [RAN], ""),
        ("What does cart.py do?", "It is now a sum in cart.py, which was changed in May.", [], ""),
        ("Add up the amounts in sales.csv.", "I added the amounts in sales.csv: 45.", [RAN], ""),
    ],
)
def test_a_file_said_to_be_changed_is_to_be_written(
    task: str, answer: str, results: list[Observation], name: str
) -> None:
    problem = f"The answer says that {name} was changed, but nothing has written it" if name else ""
    assert unchanged(results, Names(), answer, task, FILES) == problem


FAILED = call("shell_python", {"text": "STDERR:\nOSError: [Errno 30] Read-only file system", "sandbox": "bubblewrap"})
REFUSED = call("workspace_write", None, False, name="minutes.txt", text="x")
FIFTH, ROW = (
    'Add the line "5. Mette leaves." to the list in minutes.txt.',
    "Add a row for the shop Bod\u00f8 to sales.csv.",
)
LESS, SORT = "Remove the Total row from sales.csv.", "Sort sales.csv by area in the file itself."
PERCENT = "Update the discount in cart.py so that it takes a percentage."


@pytest.mark.parametrize(
    ("task", "answer", "results", "name"),
    [
        (FIFTH, "minutes.txt now ends its list with item 5.", [], "minutes.txt"),
        (FIFTH, "It stands after item 4.", [], "minutes.txt"),
        (FIFTH, "The line is in minutes.txt, after item 4.", [FAILED], "minutes.txt"),
        (FIFTH, "The line is in minutes.txt, after item 4.", [REFUSED], "minutes.txt"),
        (ROW, "The row Bod\u00f8;Liv Lie;2022;700 is the last one.", [], "sales.csv"),
        (SORT, "Sorted: Oslo, Bergen, Molde", [RAN], "sales.csv"),
        (PERCENT, "The discount in cart.py takes a percentage.", [], "cart.py"),
        (LESS, "Done. The Total row is gone.", [RAN], "sales.csv"),
        (FIX, "Here is the code:\n```python\ntotal = price * count\n```", [], "cart.py"),
        (PERCENT, "The discount takes a percentage.", [WROTE], ""),
        (PERCENT, "The discount takes a percentage.", [call("coder", {"answer": "so it does"})], ""),
        (LESS, "The Total row is left out in lanterns.csv.", [MADE], ""),
        (LESS, "There is no Total row in sales.csv.", [RAN], ""),
        (LESS, "sales.csv was left as it is: its last row is a shop.", [RAN], ""),
        (SORT, "It is already sorted so.", [RAN], ""),
        (SORT, "The file could not be written, so it stands in the order it had.", [FAILED], ""),
        (FIX, "The `+` in line 3 needs to be `*`.", [], ""),
        (FIX, "cart.py has no bug: the test is wrong.", [], ""),
        (FIX, "I recommend `*` in line 3.", [], ""),
        (FIX, "The test was wrong; test_cart.py is corrected.", [call("workspace_write", name="test_cart.py")], ""),
        ("Which row would you remove from sales.csv?", "The last one.", [RAN], ""),
        (SWAP, "45", [RAN], ""),
    ],
)
def test_a_file_ordered_to_be_changed_is_to_be_written(
    task: str, answer: str, results: list[Observation], name: str
) -> None:
    problem = unchanged(results, Names(), answer, task, FILES)
    assert name in problem
    assert ("nothing has written it" in problem) is bool(name)


WRITE = "Which city in facts.csv has most schools? Write its name into the last line of minutes.txt."
TEAM = "Which shop sold the most pieces, and add its name to team.csv with 5 points."
STRIKE = "Who is absent in minutes.txt? If it is Mette, strike her from the list and set the date to 15 May."
UPDATE = "Compute the total area in shops.csv and update minutes.txt with it."
BOTH = "Rename the function total in cart.py to price_of and adapt test_cart.py."
SALARY = "pay.csv still has the wrong salary for Bo; it should be 49000. Please take care of that."
TRAGE, AJOUTE = "Trage in pay.csv eine neue Zeile ein: Hanna, IT.", "Ajoute une ligne pour Hanna \u00e0 pay.csv."
BACKUP = "Make a backup of pay.csv called pay_old.csv, then drop the column Start from pay.csv."
SENTENCE = "Correct this sentence with the figures of minutes.txt: 'Tor Vik reported 45 berths let, of 50.'"
COPIED = call("shell_bash", {"text": "", "sandbox": "bubblewrap", "files": [{"name": "pay_old.csv", "size": 9}]})
WROTE_MINUTES = call("workspace_edit", {"name": "minutes.txt"}, name="minutes.txt", old="a", new="b")


@pytest.mark.parametrize(
    ("task", "answer", "results", "name"),
    [
        (WRITE, "Alda, with 12 schools; it is now the last line of minutes.txt.", [], "minutes.txt"),
        (WRITE, "Alda, with 12 schools.", [], "minutes.txt"),
        (TEAM, "Oslo sold the most pieces; it stands in team.csv with 5 points.", [RAN], "team.csv"),
        (STRIKE, "Mette was absent; she is struck from the list, and the date is 15 May now.", [], "minutes.txt"),
        (UPDATE, "The total area is 6370 m2; minutes.txt says so now.", [RAN], "minutes.txt"),
        (UPDATE, "The total area is 6370 m2.", [RAN], "minutes.txt"),
        (TRAGE, "Hanna steht jetzt in pay.csv.", [], "pay.csv"),
        (TRAGE, "Erledigt.", [], "pay.csv"),
        (AJOUTE, "C'est fait : Hanna figure dans pay.csv.", [], "pay.csv"),
        ("Supprime la ligne Total de pay.csv.", "C'est fait.", [], "pay.csv"),
        ("Streiche Mette aus minutes.txt.", "Mette ist gestrichen.", [], "minutes.txt"),
        (SALARY, "Bo's salary is now 49000.", [], "pay.csv"),
        (SALARY, "Done: pay.csv no longer has 47000 for Bo.", [RAN], "pay.csv"),
        (BACKUP, "pay_old.csv is the backup; pay.csv has no column Start any more.", [COPIED], "pay.csv"),
        (BOTH, "The function is called price_of now, in cart.py and in test_cart.py.", [WROTE], "test_cart.py"),
        (BOTH, "The function is called price_of.", [WROTE], "test_cart.py"),
        ("minutes.txt: 15 May, not 11 June.", "minutes.txt says 15 May now.", [], "minutes.txt"),
        (WRITE, "Cove, with 21; it is now the last line of minutes.txt.", [WROTE_MINUTES], ""),
        (WRITE, "Cove, with 21. I could not write minutes.txt.", [RAN], ""),
        (STRIKE, "Tor was absent, not Mette, so nothing was changed.", [], ""),
        (STRIKE, "Tor Vik was absent.", [], ""),
        (UPDATE, "The total area is 6370 m2; minutes.txt is unchanged.", [RAN], ""),
        (TRAGE, "pay.csv wurde nicht ge\u00e4ndert; die Zeile w\u00e4re Hanna;IT.", [], ""),
        (SALARY, "Bo is not in pay.csv.", [], ""),
        (BACKUP, "pay_old.csv is the backup; I could not change pay.csv.", [COPIED], ""),
        (BOTH, "cart.py now has price_of; test_cart.py did not need a change.", [WROTE], ""),
        ("Fix cart.py and adapt test_cart.py if needed.", "cart.py multiplies now.", [WROTE], ""),
        (SENTENCE, "Tor Vik reported 48 berths let, of 55.", [], ""),
        ("Correct this text by minutes.txt: Tor reported 45.", "Tor reported 48.", [], ""),
        ("How many items does minutes.txt list?", "minutes.txt now lists five items.", [], ""),
        ("List the items of minutes.txt.", "minutes.txt now lists five items.", [], ""),
        ("What is new in minutes.txt? It changed.", "The date in minutes.txt is now 15 May.", [], ""),
        ("Write a summary of minutes.txt.", "By minutes.txt the date is now 15 May.", [], ""),
        ("Draft a reply to minutes.txt.", "Dear Tor, the date is now 15 May.", [], ""),
        ("Write a function to append rows to pay.csv.", "def append(row): ...", [], ""),
        ("Write SQL to update pay.csv.", "UPDATE pay SET x = 1", [], ""),
        ("Write a letter about what stands in minutes.txt.", "The date is now 15 May.", [], ""),
        ("Remove the Total row from sales.csv and compute the mean.", "The mean is now 45.", [RAN], ""),
        ("Read sales.csv. Set the discount to 5 % and compute the sum.", "The sum is now 45.", [RAN], ""),
        ("Write a test for cart.py into test_new.py.", "test_new.py now tests cart.py.", [RAN], ""),
        ("Why does test_cart.py fail?", "cart.py now adds where it multiplied before.", [], ""),
        ("Add 5 to the numbers in sales.csv and tell the sum.", "The sum is now 45.", [RAN], ""),
        ("Which line would you add to minutes.txt?", "It now lacks the date.", [], ""),
    ],
)
def test_orders_and_claims_of_other_forms(task: str, answer: str, results: list[Observation], name: str) -> None:
    files = (*FILES, "facts.csv", "shops.csv", "team.csv", "pay.csv")
    given = [one for one in files if one in task] or ["minutes.txt"]
    problem = unchanged(results, Names(), answer, task, given)
    assert name in problem
    assert bool(problem) is bool(name)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open() as stage:
        yield stage


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("end", "doubt"),
    [
        (step(done("The line was added to minutes.txt.")), "The answer says that minutes.txt was changed"),
        ("The line was added to minutes.txt.", "The answer says that minutes.txt was changed"),
        (step(done("It is the last one.")), "The task orders a change of minutes.txt"),
    ],
)
async def test_a_change_that_nothing_made_is_asked_about_once_and_then_doubted(
    stage: Stage, tmp_path: Path, end: Any, doubt: str
) -> None:
    (minutes := tmp_path / "minutes.txt").write_text("Minutes of May\n")
    holds = step(done("The answer holds."))
    outcome, model = await stage.play(end, holds, holds, task=ADD, files=[str(minutes)])
    asked = [told(one).count("nothing has written it") for one in model.requests]
    assert (max(asked), len(model.requests)) == (1, 2)
    assert [one for one in outcome.evidence if one.doubt.startswith(doubt)]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_change_that_was_made_is_not_asked_about(stage: Stage, tmp_path: Path) -> None:
    (minutes := tmp_path / "minutes.txt").write_text("Minutes of May\n")
    write = ("workspace_write", {"name": "minutes.txt", "text": "Minutes of May\nNext walk: 2 July\n"})
    end = done("The line was added to minutes.txt.")
    for replies in ([step(write), step(end)], [step(write, end)]):
        outcome, model = await stage.play(*replies, task=ADD, files=[str(minutes)])
        assert (outcome.ok, len(model.requests)) == (True, len(replies))
        assert [one.doubt for one in outcome.evidence if one.doubt] == []
