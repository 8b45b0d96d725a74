"""Test SQL as other databases write it: it runs, or the error names the words for SQLite."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tea.types import ToolResponse

pytestmark = pytest.mark.asyncio(loop_scope="module")

Ask = Callable[..., Coroutine[Any, Any, ToolResponse]]
TOWNS = {"towns.csv": "name,people,since,share\nAsk,1200,2001-02-03,0.5\nEmbla,800,2010-11-12,\n"}


LONG = "printf('%.*c', 900000, 'a')"


@pytest.mark.parametrize(
    "expression",
    [
        f"instr({LONG}, printf('%.*c', 450000, 'a') || 'b')",
        f"length(replace({LONG}, printf('%.*c', 450000, 'a') || 'b', 'c'))",
        f"length(trim({LONG}, printf('%.*c', 450000, 'b') || 'a'))",
        f"length(replace({LONG}, 'a', {LONG}))",
        f"{LONG} LIKE '%' || printf('%.*c', 40000, 'a') || 'b'",
    ],
)
async def test_functions_of_long_texts_end_in_time(ask_files: Ask, expression: str) -> None:
    begun = time.monotonic()
    await ask_files(TOWNS, sql=f"SELECT {expression} FROM towns LIMIT 1")
    assert time.monotonic() - begun < 10


async def test_functions_of_texts_give_what_those_of_sqlite_give(ask_files: Ask) -> None:
    values = ["NULL", "''", "'aba'", "'a'", "12", "-1.5", "1e20", "1e-7", "' a '", "x'6162'", "'ä🙂ä'"]
    calls = [f"{name}({one})" for name in ("trim", "ltrim", "rtrim") for one in values]
    calls += [f"{name}({one}, {other})" for name in ("trim", "rtrim", "instr") for one in values for other in values]
    calls += [f"replace({one}, {other}, 'x')" for one in values for other in values]
    with sqlite3.connect(":memory:") as plain:
        for call in calls:
            sql = f"SELECT CAST({call} AS TEXT) AS found"
            (wanted,) = plain.execute(sql).fetchone()
            assert (await ask_files(TOWNS, sql=f"{sql} FROM towns LIMIT 1")).unwrap()["rows"] == [[wanted]], call


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("SELECT left(name, NULL) FROM towns LIMIT 1", None),
        ("SELECT CONCAT(name, ': ', people, share) FROM towns WHERE people > 1000", "Ask: 12000.5"),
        ("SELECT concat_ws('-', name, share, people) FROM towns WHERE people < 1000", "Embla-800"),
        ("SELECT LEFT(name, 2) || right(name, 1) FROM towns LIMIT 1", "Ask"),
        ("SELECT left(share, 2) FROM towns WHERE share IS NULL", None),
        ("SELECT IF(people > 1000, 'large', 'small') FROM towns LIMIT 1", "large"),
        ("SELECT count(*) FROM towns WHERE name ILIKE 'a%'", 1),
        ("SELECT STRING_AGG(name, '; ') FROM towns", "Ask; Embla"),
        ("```sql\nSELECT sum(people) FROM towns;\n```", 2000),
        ("SELECT sum(people) FROM towns;;", 2000),
        ("SELECT sum(MONTH(since)) + max(day(since)) FROM towns", 25),
        ("SELECT group_concat(year(since) || ' ' || QUARTER(since), ', ') FROM towns", "2001 1, 2010 4"),
        ("SELECT EXTRACT(YEAR FROM since) FROM towns LIMIT 1", 2001),
        ("SELECT 'left (x) ILIKE y, IF(z)' FROM towns LIMIT 1", "left (x) ILIKE y, IF(z)"),
        ("SELECT count(*) FROM towns a LEFT JOIN (SELECT name FROM towns) b ON a.name = b.name", 2),
    ],
)
async def test_what_means_the_same_elsewhere_runs(ask_files: Ask, sql: str, value: object) -> None:
    assert (await ask_files(TOWNS, sql=sql)).unwrap()["rows"] == [[value]]


@pytest.mark.parametrize(
    ("sql", "remedy"),
    [
        ("SELECT people::text FROM towns", "CAST(x AS INTEGER)"),
        ("SELECT TOP 1 name FROM towns", "LIMIT n at the end"),
        ("SELECT name FROM towns FETCH FIRST 1 ROWS ONLY", "LIMIT n at the end"),
        (
            "SELECT EXTRACT(HOUR FROM since) FROM towns",
            "strftime('%Y-%m', date); of dates unlike 2024-05-31, take iso(",
        ),
        ("SELECT DATEPART(month, since) FROM towns", "month(date)"),
        (
            "SELECT DATEDIFF(day, since, since) FROM towns",
            "use julianday(later) - julianday(earlier), which gives days",
        ),
        ("SELECT weekday(since) FROM towns", "strftime('%w'"),
        ("SELECT date_trunc('month', since) FROM towns", "strftime('%Y-%m-01', date)"),
        ("SELECT name FROM towns WHERE since > DATE '2005-01-01'", "the date as a text alone"),
        ("SELECT name FROM towns WHERE name SIMILAR TO 'A'", "LIKE, with %"),
        ("SELECT DISTINCT ON (name) name FROM towns", "row_number() OVER (...)"),
        ("SELECT ISNULL(share, 0) FROM towns", "ifnull(x, y)"),
        ("SELECT greatest(people, 1000) FROM towns", "max(x, y)"),
        ("SELECT name FROM towns GROUP BY", "the syntax, which is that of SQLite"),
    ],
)
async def test_an_error_names_what_does_the_same(ask_files: Ask, sql: str, remedy: str) -> None:
    response = await ask_files(TOWNS, sql=sql)
    assert response.error
    assert remedy in response.error["fix"]


async def test_no_function_is_listed_that_is_unknown(ask_files: Ask) -> None:
    response = await ask_files(TOWNS, sql="SELECT zzz(name) FROM towns")
    assert response.error
    listed = response.error["fix"].partition("the functions are ")[2].rstrip(".").partition(" and ")[0].split(", ")
    assert "concat" in listed
    for name in listed:
        refused = await ask_files(TOWNS, sql=f"SELECT {name}(name, name, name, name, name, name, name) FROM towns")
        assert "There is no function" not in str(refused.error)


@pytest.mark.parametrize("end", [";" * 100_000, " ;" * 50_000, " " * 100_000, "left" + " " * 100_000])
async def test_no_signs_within_a_query_take_long_to_tell_from_those_behind_it(ask_files: Ask, end: str) -> None:
    async with asyncio.timeout(10):
        assert (await ask_files(TOWNS, sql=f"SELECT 1 FROM towns{end}x y")).error
