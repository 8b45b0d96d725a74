"""Test files replaced by a small part of them: asked about once if the task orders nothing of the kind."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Names, Stage, done, step, told

from tea.loop.lost import lost
from tea.loop.observation import Observation
from tea.types import JsonObject

ADD, LESS = "Add the line 'Only for members' to minutes.txt.", "Remove the rows without a quantity from sales.csv."
ADDED, REMOVED = "The line was added.", "The rows without a quantity were removed."


def wrote(name: str, was: int, now: int, *, ok: bool = True) -> Observation:
    value = {"name": name, "was": f"{was * 40} bytes, {was} lines; now {now * 40} bytes, {now} lines"}
    return Observation(
        id="w", name="workspace_write", arguments={"name": name, "text": "x\n"}, ok=ok, value=value if ok else None
    )


def first(name: str) -> Observation:
    return Observation(
        id="f", name="workspace_write", arguments={"name": name, "text": "x"}, ok=True, value={"name": name}
    )


def added(name: str, lines: int) -> Observation:
    given: JsonObject = {"name": name, "text": "x\n" * lines}
    return Observation(id="a", name="workspace_append", arguments=given, ok=True, value={"name": name, "size": 9})


@pytest.mark.parametrize(
    ("task", "answer", "results", "is_lost"),
    [
        (ADD, ADDED, [wrote("minutes.txt", 15, 1)], True),
        (LESS, REMOVED, [wrote("sales.csv", 241, 3)], True),
        ("Correct the date in minutes.txt to 15 May.", "The date is 15 May.", [wrote("minutes.txt", 30, 12)], True),
        (ADD, ADDED, [wrote("minutes.txt", 200, 150), wrote("minutes.txt", 150, 60)], True),
        ("L\u00f6sche die leeren Zeilen in sales.csv.", "Gel\u00f6scht.", [wrote("sales.csv", 241, 3)], True),
        ("Trage eine neue Zeile in pay.csv ein.", "Erledigt.", [wrote("pay.csv", 20, 2)], True),
        ("Remove the Total row, the last one, from pay.csv.", "Done.", [wrote("pay.csv", 20, 1)], True),
        ("Remove empty rows and keep the rest.", "Done.", [wrote("pay.csv", 241, 3)], True),
        (ADD, ADDED, [wrote("minutes.txt", 15, 16)], False),
        ("Remove everything but the header of sales.csv.", "Done.", [wrote("sales.csv", 241, 1)], False),
        ("Empty sales.csv.", "Done.", [wrote("sales.csv", 241, 0)], False),
        (ADD, ADDED, [wrote("minutes.txt", 15, 1), wrote("minutes.txt", 1, 16)], False),
        (ADD, ADDED, [wrote("minutes.txt", 40, 10), added("minutes.txt", 30)], False),
        (ADD, ADDED, [wrote("minutes.txt", 15, 1, ok=False)], False),
        (ADD, ADDED, [wrote("minutes.txt", 8, 1)], False),
        (ADD, ADDED, [first("notes.txt"), wrote("notes.txt", 40, 3)], False),
        (LESS, REMOVED, [wrote("sales.csv", 241, 240)], False),
        (LESS, REMOVED, [wrote("sales.csv", 241, 90)], False),
        (LESS, "238 rows were removed, 2 are left.", [wrote("sales.csv", 241, 3)], False),
        ("Keep only the header and two rows of sales.csv.", "Done.", [wrote("sales.csv", 241, 3)], False),
        ("Shorten minutes.txt to the decisions.", "Done.", [wrote("minutes.txt", 40, 4)], False),
        ("Replace minutes.txt by a summary of it.", "Done.", [wrote("minutes.txt", 40, 4)], False),
        ("Cut sales.csv to the first 20 rows.", "Done.", [wrote("sales.csv", 241, 21)], False),
        ("Split sales.csv by shop.", "Done.", [wrote("sales.csv", 241, 50)], False),
        ("K\u00fcrze minutes.txt.", "Gek\u00fcrzt.", [wrote("minutes.txt", 40, 4)], False),
        ("Garde seulement les titres de minutes.txt.", "C'est fait.", [wrote("minutes.txt", 40, 4)], False),
        ("Rewrite cart.py with a list comprehension.", "Done.", [wrote("cart.py", 40, 4)], False),
        ("Simplify cart.py.", "Done.", [wrote("cart.py", 40, 4)], False),
    ],
)
def test_a_file_replaced_by_a_small_part_of_it_is_a_problem(
    task: str, answer: str, results: list[Observation], is_lost: bool
) -> None:
    assert bool(lost(results, Names(), answer, task)) is is_lost


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open() as stage:
        yield stage


@pytest.mark.asyncio(loop_scope="module")
async def test_a_loss_of_lines_is_asked_about_once_and_then_doubted(stage: Stage, tmp_path: Path) -> None:
    (sales := tmp_path / "sales.csv").write_text("shop,n\n" + "Oslo,3\n" * 40)
    write = step(("workspace_write", {"name": "sales.csv", "text": "shop,n\nOslo,3\n", "replace": True}))
    holds: Any = step(done("The answer holds."))
    outcome, model = await stage.play(write, step(done(REMOVED)), holds, holds, task=LESS, files=[str(sales)])
    words = "sales.csv had 41 lines and has 2 since it was replaced"
    assert [told(one).count(words) for one in model.requests] == [0, 0, 1]
    assert [one.doubt for one in outcome.evidence if one.doubt] == [words]
