"""Tables of many shapes: what is described, what is found, and SQL that only reads."""

import csv
import io
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from tea.protocols.tcp import TCPServer
from tea.types import ToolResponse

pytestmark = pytest.mark.asyncio(loop_scope="module")

Ask = Callable[..., Coroutine[Any, Any, ToolResponse]]


@pytest.fixture
def ask(tools: TCPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.chdir(tmp_path)

    async def ask(contents: dict[str, str | bytes], **arguments: Any) -> ToolResponse:
        for name, content in contents.items():
            data = content if isinstance(content, bytes) else content.encode()
            (tmp_path / name).write_bytes(data)
        return await tools.invoke("table_query", {"files": list(contents), **arguments})

    return ask


async def columns(ask: Ask, name: str, content: str | bytes) -> dict[str, str]:
    (table,) = (await ask({name: content})).unwrap()["tables"]
    return {column["name"]: column["type"] for column in table["columns"]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "name,n\nx,1\ny,2\n"),
        ("a.csv", "name;n\nx;1\ny;2\n"),
        ("a.csv", "name|n\nx|1\ny|2\n"),
        ("a.tsv", "name\tn\nx\t1\ny\t2\n"),
        ("a.csv", "\ufeffname,n\r\nx,1\r\ny,2\r\n"),
        ("a.csv", "name,n\nx,1\ny,2\n".encode("utf-16")),
        ("a.tab", "# a comment\n#name\tn\nx\t1\ny\t2\n"),
        ("a.csv", "A title\n\nname,n\nx,1\ny,2\n"),
        ("a.json", '[{"name": "x", "n": 1}, {"name": "y", "n": 2}]'),
        ("a.json", '{"rows": [{"name": "x", "n": 1}, {"name": "y", "n": 2}]}'),
        ("a.json", '{"name": ["x", "y"], "n": [1, 2]}'),
        ("a.jsonl", '{"name": "x", "n": 1}\n{"name": "y", "n": 2}\n'),
        ("a.json", '[["name", "n"], ["x", 1], ["y", 2]]'),
    ],
)
async def test_tables_of_every_shape_are_the_same_table(ask: Ask, name: str, content: str | bytes) -> None:
    assert await columns(ask, name, content) == {"name": "text", "n": "integer"}
    got = (await ask({name: content}, sql="SELECT name, n FROM a ORDER BY n")).unwrap()
    assert got["rows"] == [["x", 1], ["y", 2]]
    assert not got["truncated"]


async def test_cells_are_typed(ask: Ask) -> None:
    text = (
        "code,price,share,day,when,flag,cc\n"
        '007,"$1,234.50",12%,2020-01-02,31/12/2020,,NA\n'
        "010,3,5%,2021-02-03,01/02/2021,x,DE\n"
    )
    found = (await ask({"t.csv": text})).unwrap()["tables"][0]["columns"]
    assert [column["type"] for column in found] == ["text", "real", "integer", "date", "date", "text", "text"]
    assert [column["nulls"] for column in found] == [0, 0, 0, 0, 0, 1, 0]
    assert (found[1]["min"], found[1]["max"]) == (3, 1234.5)
    got = (await ask({"t.csv": text}, sql="SELECT iso(\"when\", 'dmy') FROM t")).unwrap()
    assert got["rows"] == [["2020-12-31"], ["2021-02-01"]]


async def test_a_workbook_gives_a_table_for_each_sheet(ask: Ask) -> None:
    book = Workbook()
    book.active.title = "Staff"  # pyright: ignore[reportOptionalMemberAccess]
    for row in (["Staff list"], [], ["Name", "Age"], ["Ada", 36], ["Ben", 41]):
        book.active.append(row)  # pyright: ignore[reportOptionalMemberAccess]
    other = book.create_sheet("Rooms")
    for row in (["Room", "Seats"], ["A", 4], ["B", 8]):
        other.append(row)
    data = io.BytesIO()
    book.save(data)
    tables = (await ask({"book.xlsx": data.getvalue()})).unwrap()["tables"]
    assert [(table["name"], table["rows"]) for table in tables] == [("Staff", 2), ("Rooms", 2)]
    assert [column["name"] for column in tables[0]["columns"]] == ["Name", "Age"]


async def test_a_file_without_header_has_numbered_columns(ask: Ask) -> None:
    assert list(await columns(ask, "a.csv", "x,1\ny,2\n")) == ["col_1", "col_2"]


async def test_two_tables_are_linked_by_their_values(ask: Ask) -> None:
    files = {
        "orders.csv": "id,customer\n1,C1\n2,C2\n3,C1\n4,C3\n",
        "customers.csv": "code,name\nC1,Ada\nC2,Ben\nC3,Cleo\n",
    }
    described = (await ask(files)).unwrap()
    (link,) = described["links"]
    assert (link["table"], link["column"], link["other_table"], link["other_column"]) == (
        "orders",
        "customer",
        "customers",
        "code",
    )
    sql = "SELECT name, count(*) FROM orders JOIN customers ON customer = code GROUP BY name ORDER BY 2 DESC LIMIT 1"
    assert (await ask(files, sql=sql)).unwrap()["rows"] == [["Ada", 2]]


async def test_phrases_are_found_without_case_accents_and_plural(ask: Ask) -> None:
    text = 'city,tongues\nZürich,"German, French"\nSão Paulo,Portuguese\nBolivia (Plurinational State of),Spanish\n'
    phrases = ["zurich", "sao paulo", "Bolivia", "French", "Zurch", "nowhere"]
    found = {item["phrase"]: item for item in (await ask({"t.csv": text}, find=phrases)).unwrap()["found"]}
    assert {phrase: item["match"] for phrase, item in found.items()} == {
        "zurich": "normalised",
        "sao paulo": "normalised",
        "Bolivia": "contained",
        "French": "item",
    }
    assert found["zurich"]["value"] == "Zürich"


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM t",
        "DROP TABLE t",
        "INSERT INTO t VALUES (1)",
        "PRAGMA table_info(t)",
        "ATTACH DATABASE '/tmp/x' AS x",
        "SELECT load_extension('x')",
        "SELECT n FROM t; SELECT 1",
        "SELECT randomblob(1000000000)",
        "SELECT nothing FROM t",
        "not sql",
    ],
)
async def test_only_one_reading_statement_runs(ask: Ask, sql: str) -> None:
    response = await ask({"t.csv": "name,n\nx,1\ny,2\n"}, sql=sql)
    assert not response.ok
    assert response.error
    assert response.error["code"] == "ToolError"


async def test_rows_are_bounded(ask: Ask) -> None:
    sql = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 500) SELECT n FROM c"
    got = (await ask({"t.csv": "name,n\nx,1\ny,2\n"}, sql=sql, limit=10)).unwrap()
    assert (got["row_count"], got["truncated"]) == (10, True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", "{"),
        ("a.json", "[" * 100_000),
        ("a.json", "3"),
        ("a.xlsx", b"PK\x03\x04 not a workbook"),
        ("a.csv", b"\x00\x01\x02"),
        ("a.csv", ""),
        ("a.txt", "just a sentence\nand another\n"),
    ],
)
async def test_what_is_no_table_is_an_error_that_names_the_file(ask: Ask, name: str, content: str | bytes) -> None:
    response = await ask({name: content})
    assert not response.ok
    assert response.error
    assert name in response.error["problem"]


async def test_points_between_thousands_are_no_decimal_points(ask: Ask) -> None:
    text = "lake;area;depth\nVan;3.755;171,2\nOnega;9.891;30\nErie;950;19,5\n"
    got = (await ask({"t.csv": text}, sql="SELECT area, depth FROM t ORDER BY area")).unwrap()
    assert got["rows"] == [[950, 19.5], [3755, 171.2], [9891, 30.0]]


@pytest.mark.parametrize(("key", "name"), [("statuses", "statuses"), ("data", "t")])
async def test_a_list_under_a_key_is_named_after_it_when_that_tells(ask: Ask, key: str, name: str) -> None:
    (table,) = (await ask({"t.json": json.dumps({"version": 1, key: [{"code": 1}, {"code": 2}]})})).unwrap()["tables"]
    assert table["name"] == name


async def test_a_file_outside_of_the_workspace_is_refused(tools: TCPServer, tmp_path: Path) -> None:
    response = await tools.invoke("table_query", {"files": ["../secret.csv"]})
    assert not response.ok


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00", exclude_categories=["Cs", "Cc"]), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 999), CELLS), min_size=2, max_size=8))
async def test_what_csv_writes_is_read_again(ask: Ask, rows: list[tuple[int, str]]) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([("n", "word"), *((n, f"w{word}w") for n, word in rows)])
    got = (await ask({"t.csv": out.getvalue()}, sql="SELECT n, word FROM t")).unwrap()
    assert [tuple(row) for row in got["rows"]] == [(n, f"w{word}w") for n, word in rows]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.text(max_size=60))
async def test_no_text_breaks_the_readers(ask: Ask, text: str) -> None:
    data = json.dumps(text).encode("utf-8", "surrogatepass")
    for name in ("t.csv", "t.json", "t.tsv"):
        response = await ask({name: data if name == "t.json" else text.encode("utf-8", "surrogatepass")})
        assert response.ok or (response.error and response.error["code"] == "ToolError"), response.error
