"""Test answers about changed files: asked about once if nothing has written them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, step, told

from tea.loop.observation import Observation
from tea.loop.unchanged import unchanged
from tea.types import JsonObject

FILES = ("cart.py", "test_cart.py", "minutes.txt", "sales.csv", "new.csv")
FIX, ADD = "Fix cart.py so that test_cart.py passes.", "Add the line 'Next walk: 2 July' at the end of minutes.txt."
SWAP = "Replace Lamp by Lantern in sales.csv and tell how many were replaced."


class Names:
    """Functions known by their names."""

    def runs(self) -> tuple[bool, bool]:
        return True, True

    def written_by(self, outcome: Observation) -> JsonObject | None:
        return outcome.arguments if outcome.name.startswith("workspace_") else None

    def reads(self, name: str) -> bool:
        return name == "read_file"


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
