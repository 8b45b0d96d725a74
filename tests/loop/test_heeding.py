"""Test ends straight after a result with a warning: asked about once if of nothing, or doubted otherwise too."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, step, told

ORDERS = "id,status,amount\n" + "".join(f"{number},{('paid', 'open')[number % 2]},{number}\n" for number in range(90))
WARNED = """The last result warned: "nothing in "status" is 'Paid': did you mean 'paid'?"."""
TASK = "What is the median amount of paid orders?"
WRONG = "SELECT median(amount) FROM orders WHERE status = 'Paid'"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open() as stage:
        yield stage


pytestmark = pytest.mark.asyncio(loop_scope="module")


def ask(sql: str) -> dict[str, Any]:
    return step(("table_query", {"files": ["orders.csv"], "sql": sql}))


@pytest.fixture
def orders(tmp_path: Path) -> str:
    (tmp_path / "orders.csv").write_text(ORDERS)
    return str(tmp_path / "orders.csv")


@pytest.mark.parametrize(
    "end",
    [
        step(("done", {"success": False, "reason": "There are no paid orders."})),
        step(done("none")),
        step(done(0)),
        "There are no paid orders, so the median cannot be computed.",
        "There are no paid orders.",
    ],
)
async def test_an_end_of_nothing_after_a_warning_is_asked_about_once(stage: Stage, orders: str, end: Any) -> None:
    last = step(("done", {"success": False, "reason": "There are no paid orders."}))
    outcome, model = await stage.play(ask(WRONG), end, last, task=TASK, files=(orders,))
    assert told(model.requests[2]).replace("\\", "").count(WARNED) == 1
    assert (outcome.ok, len(model.requests)) == (False, 3)


async def test_a_warning_heeded_by_a_later_call_is_not_told_again(stage: Stage, orders: str) -> None:
    none = "SELECT count(*) FROM orders WHERE status = 'paid' AND amount > 1000"
    outcome, model = await stage.play(ask(WRONG), ask(none), step(done(0)), task=TASK, files=(orders,))
    assert (outcome.answer, len(model.requests)) == (0, 3)


async def test_an_answer_of_something_is_taken_beside_a_warning(stage: Stage, orders: str) -> None:
    sql = "SELECT median(amount) AS m FROM orders WHERE status IN ('paid', 'settled')"
    outcome, model = await stage.play(ask(sql), step(done("44")), task=TASK, files=(orders,))
    assert (outcome.answer, len(model.requests)) == ("44", 2)


async def test_a_warning_is_told_with_another_doubt_about_an_answer_of_something(stage: Stage, orders: str) -> None:
    sql = "SELECT median(amount) AS m FROM orders WHERE status IN ('paid', 'settled')"
    outcome, model = await stage.play(ask(sql), step(done("44.37")), step(done("44")), task=TASK, files=(orders,))
    asked = told(model.requests[2])
    assert "simple arithmetic: 44.37" in asked
    assert 'The last result warned: "' in asked
    assert (outcome.answer, len(model.requests)) == ("44", 3)


SHOPS = "Shop;Manager;Area m2\nBergen;Ida Holm;1 250\nOslo;Per Lie;2 400\nTrondheim;Ida Berg;980\nHamar;Eli Dahl;640\n"
PAY = "Name,Department,Salary\nAnna,Sales,52000\nBo,Sales,48000\nCato,IT,61000\nDina,IT,67500\nTotal,,228500\n"
LARGEST = "Which shop has the largest area?"
BY_TEXT = 'SELECT Shop FROM shops ORDER BY "Area m2" DESC LIMIT 1'
ALL_BY_TEXT = 'SELECT Shop, "Area m2" FROM shops ORDER BY "Area m2" DESC'
BY_NUMBER = """SELECT Shop FROM shops ORDER BY CAST(replace("Area m2", ' ', '') AS REAL) DESC LIMIT 1"""
OF_TRONDHEIM = "SELECT Manager FROM shops WHERE Shop = 'Trondheim'"
MEAN, MEAN_OF_ROWS = "SELECT AVG(Salary) AS a FROM pay", "SELECT AVG(Salary) AS a FROM pay WHERE Name <> 'Total'"
OVER_1000, MOST = 'SELECT Shop FROM shops WHERE "Area m2" > 1000', "SELECT Name, MAX(Salary) FROM pay"
HALVES = "SELECT Shop, length(Shop) / 2 AS h FROM shops"
MEAN_SALARY = "What is the average salary?"


def look(sql: str, name: str = "shops.csv") -> dict[str, Any]:
    return step(("table_query", {"files": [name], "sql": sql}))


async def doubts_of(
    stage: Stage, folder: Path, task: str, queries: tuple[str, ...], answer: Any, **more: Any
) -> list[str]:
    """The doubts told to a person about an answer without another question to the model."""
    name, text = ("pay.csv", PAY) if "salary" in task else ("shops.csv", SHOPS)
    (folder / name).write_text(text)
    replies = [
        *(look(sql, name) for sql in queries),
        step(done(answer, **more)),
    ]
    outcome, model = await stage.play(*replies, task=task, files=(str(folder / name),))
    assert (outcome.ok, len(model.requests)) == (True, len(replies))
    return [one.doubt for one in outcome.evidence if one.doubt]


@pytest.mark.parametrize(
    ("task", "queries", "answer", "said"),
    [
        (LARGEST, (BY_TEXT,), "Trondheim", "compared letter by letter"),
        (LARGEST, (ALL_BY_TEXT,), "It is Trondheim, with 980 m2.", "compared letter by letter"),
        (LARGEST, (BY_TEXT, OF_TRONDHEIM), "Trondheim; Ida Berg manages it.", "compared letter by letter"),
        ("Who manages the largest shop?", (BY_TEXT, OF_TRONDHEIM), "Ida Berg", "compared letter by letter"),
        (MEAN_SALARY, (MEAN,), "91,400", "the row 'Total' of pay is the sum of the others"),
        ("Whose salary is above 60000?", ("SELECT Name FROM pay WHERE Salary > 60000",), "Cato, Dina, Total", "Total"),
        (MEAN_SALARY, (MEAN_OF_ROWS, MEAN), "91,400", "the row 'Total' of pay is the sum of the others"),
        ("Which shops have more than 1000 m2?", (OVER_1000,), "Oslo, Trondheim and Hamar", "letter by letter"),
    ],
)  # fmt: skip
async def test_a_warning_ignored_by_an_answer_is_told_to_the_person(
    stage: Stage, tmp_path: Path, task: str, queries: tuple[str, ...], answer: Any, said: str
) -> None:
    (doubt,) = await doubts_of(stage, tmp_path, task, queries, answer)
    assert said in doubt


@pytest.mark.parametrize(
    ("task", "queries", "answer", "more"),
    [
        (LARGEST, (BY_TEXT, BY_NUMBER), "Oslo", {}),
        (LARGEST, (ALL_BY_TEXT, BY_NUMBER), "Oslo, with 2 400 m2.", {}),
        (LARGEST, (ALL_BY_TEXT,), "Oslo, with 2 400 m2.", {}),
        (LARGEST, (BY_NUMBER,), "Oslo", {}),
        (LARGEST, (BY_NUMBER, HALVES), "Oslo, with 2 400 m2, before Bergen.", {}),
        (MEAN_SALARY, (MEAN, MEAN_OF_ROWS), "57,125", {}),
        ("Whose salary is above 60000?", ("SELECT Name FROM pay WHERE Salary > 60000",), "Cato and Dina", {}),
        (MEAN_SALARY, (MEAN, MEAN_OF_ROWS), "57,125; with the sum row it would be 91,400.", {}),
        (MEAN_SALARY, (MEAN,), "91,400", {"doubts": "The row Total was counted as well."}),
        ("What is the highest salary of a person?", (MOST, f"{MOST} WHERE Department IS NOT NULL"), "Dina, 67,500", {}),
    ],
)  # fmt: skip
async def test_a_heeded_warning_is_told_to_nobody(
    stage: Stage, tmp_path: Path, task: str, queries: tuple[str, ...], answer: Any, more: dict[str, Any]
) -> None:
    assert await doubts_of(stage, tmp_path, task, queries, answer, **more) == []


async def test_a_warning_heeded_by_code_is_told_to_nobody(stage: Stage, tmp_path: Path) -> None:
    code = """import pandas as p
d = p.read_csv('shops.csv', sep=';')
d.loc[d['Area m2'].str.replace(' ', '').astype(int).idxmax(), 'Shop']"""
    (tmp_path / "shops.csv").write_text(SHOPS)
    ends = (look(ALL_BY_TEXT), step(("shell_python", {"code": code})), step(done("Oslo")))
    outcome, _ = await stage.play(*ends, task=LARGEST, files=(str(tmp_path / "shops.csv"),))
    assert [one.doubt for one in outcome.evidence if one.doubt] == []
