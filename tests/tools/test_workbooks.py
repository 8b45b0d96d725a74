"""Test the parsing of workbooks: in a sandbox, once, with the words of the parser not believed."""

import io
import json
import os
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tea.errors import ToolError
from tea.protocols.tcp import TCPServer
from tea.reading.inside.rows import rows_name
from tea.reading.reader import Reader
from tea.reading.sheets import Sheets, sheets_from
from tea.types import ToolResponse

pytestmark = pytest.mark.asyncio(loop_scope="module")

Ask = Callable[..., Coroutine[Any, Any, ToolResponse]]


def book(**sheets: list[list[Any]]) -> bytes:
    """Return a workbook of sheets by their titles."""
    made, data = openpyxl.Workbook(), io.BytesIO()
    made.remove(made["Sheet"])
    for title, rows in sheets.items():
        sheet = made.create_sheet(title)
        for row in rows:
            sheet.append(row)
    made.save(data)
    return data.getvalue()


async def test_no_workbook_is_parsed_in_this_process(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    content = book(a=[["city", "code", "paid"], ["Bergen", "007", True], ["Oslo", "008", False], [None, None, None]])

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a workbook was parsed in this process")

    for name in ("openpyxl.load_workbook", "xml.parsers.expat.ParserCreate", "zipfile.ZipFile"):
        monkeypatch.setattr(name, refused)
    answer = (await ask("a.xlsx", content, sql="SELECT * FROM a ORDER BY 1")).unwrap()
    assert answer["rows"] == [["Bergen", "007", "true"], ["Oslo", "008", "false"]]


async def test_a_workbook_is_parsed_once_and_its_changed_bytes_again(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = list[str]()
    sheets = Reader.sheets

    def counted(self: Reader, source: Path, name: str) -> Any:
        parsed.append(name)
        return sheets(self, source, name)

    monkeypatch.setattr(Reader, "sheets", counted)
    content = book(a=[["n"], [1], [2]], b=[["m"], ["x"], ["y"]])
    for _ in range(3):
        assert (await ask("one.xlsx", content, sql="SELECT sum(n) FROM a")).unwrap()["rows"] == [[3]]
    assert parsed == ["one.xlsx"]
    assert (await ask("one.xlsx", book(a=[["n"], [1], [5]]), sql="SELECT sum(n) FROM one")).unwrap()["rows"] == [[6]]
    assert parsed == ["one.xlsx"] * 2


async def test_a_workbook_without_its_ending_in_small_letters_is_one(ask: Ask) -> None:
    answer = (await ask("A.XLSX", book(s=[["n"], [1], [2]]), full=True)).unwrap()
    assert [(one["name"], one["rows"]) for one in answer["tables"]] == [("A", 2)]


async def test_of_a_damaged_workbook_the_error_is_one_line(ask: Ask) -> None:
    content = book(s=[["n"], [1], [2]])
    for wrong in (content[:-200], content[:300] + b"\0" * 200 + content[500:], b"PK\3\4", b""):
        response = await ask("a.xlsx", wrong)
        assert response.error is not None
        assert response.error["code"] == "ToolError"
        assert "'a.xlsx'" in response.error["problem"]
        assert "\n" not in response.error["problem"]


LINES = {
    "no JSON": b"[1, 2\n",
    "no list": b'{"a": 1}\n',
    "a list in a list": b"[1, [2]]\n",
    "no number": b"[NaN]\n",
    "too many cells": b"[" + b"1," * 20_000 + b"1]\n",
    "endless depth": b"[" * 100_000 + b"\n",
    "endless digits": b"[" + b"1" * 5_000 + b"]\n",
}


def sheets(folder: Path) -> Sheets:
    return sheets_from({"large": False, "titles": ["a"], "used": [[0]]}, "a.xlsx", folder)


@pytest.mark.parametrize("what", LINES)
async def test_rows_of_another_form_are_refused(tmp_path: Path, what: str) -> None:
    (tmp_path / rows_name(0)).write_bytes(LINES[what])
    with pytest.raises(ToolError, match="gave no rows"):
        list(sheets(tmp_path).rows(0))


async def test_a_link_in_the_place_of_rows_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text('["key"]\n')
    os.symlink(tmp_path / "secret", tmp_path / rows_name(0))
    with pytest.raises(ToolError, match="gave no rows"):
        list(sheets(tmp_path).rows(0))


async def test_half_characters_of_a_parser_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / rows_name(0)).write_text(json.dumps(["a\ud800b", "\U0001f600", 3]) + "\n")
    assert list(sheets(tmp_path).rows(0)) == [["a?b", "\U0001f600", 3]]


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"titles": "a", "used": [[0]]},
        {"titles": ["a"], "used": []},
        {"titles": ["a"] * 2_000, "used": [[0]] * 2_000},
    ],
)
async def test_facts_of_another_form_are_refused(tmp_path: Path, told: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="sheets"):
        sheets_from(told, "a.xlsx", tmp_path)


async def test_columns_that_no_sheet_has_are_left_out(tmp_path: Path) -> None:
    told = {"titles": ["a\n" * 400], "used": [[3, 1, -2, 10**9, "4", 1]]}
    found = sheets_from(told, "a.xlsx", tmp_path)
    assert found.used == [[1, 3]]
    assert len(found.titles[0]) <= 300


async def test_a_table_named_otherwise_than_its_sheet_tells_the_sheet(ask: Ask) -> None:
    data = book(**{"Q1 final (2)": [["a"], [1]], "123": [["b"], [2]], "Plain": [["c"], [3]]})
    for full, key in ((False, "table"), (True, "name")):
        tables = (await ask("b.xlsx", data, full=full)).unwrap()["tables"]
        named = [(one[key], one.get("sheet")) for one in tables]
        assert named == [("Q1_final_2", "Q1 final (2)"), ("t_123", "123"), ("Plain", None)]
    (one,) = (await ask("b.xlsx", book(**{"No 1": [["a"], [1]]}))).unwrap()["tables"]
    assert (one["table"], "sheet" in one) == ("b", False)


TARGETS = [
    ["draft, see Notes"],
    [None, 2023, None, 2024, None],
    ["Store", "H1", "H2", "H1", "H2"],
    ["Lyon", 1, 2, 3, 4],
    ["Oslo", 5, 6, 7, 8],
]
NUMBERED = "repeated names are numbered: H1_2, H2_2"
ABOVE = f"above the header: 'draft, see Notes'; 2023 over H1 to H2, 2024 over H1_2 to H2_2; {NUMBERED}"


async def test_rows_above_the_header_are_told(ask: Ask) -> None:
    (table,) = (await ask("a.xlsx", book(t=TARGETS))).unwrap()["tables"]
    assert table["layout"] == ABOVE


@pytest.mark.parametrize(
    ("rows", "layout"),
    [
        ([["Store", "H1", "h1", "H1"], ["Lyon", 1, 2, 3]], "repeated names are numbered: h1_2, H1_3"),
        ([["Store", "H1", "H1_2"], ["Lyon", 1, 2]], ""),
        ([["n"] * 40, range(40)], "repeated names are numbered: n_2, n_3, n_4, n_5, n_6, \u2026"),
        (
            [[None, 2023, None, 2024], ["Store", "H1", "H2", "H1", "H2", "Sum"], ["Lyon", 1, 2, 3, 4, 10]],
            f"above the header: 2023 over H1 to H2, 2024 over H1_2 to H2_2; {NUMBERED}",
        ),
        (
            [[None, 2023, None, None, 2024], ["Store", "Q1", "Q2", "Q3", "Q1"], ["Lyon", 1, 2, 3, 4]],
            "above the header: 2023 over Q1 to Q3, 2024 over Q1_2; repeated names are numbered: Q1_2",
        ),
        (
            [[None, "kg", None, "m"], ["Store", "Tea", "Note", "Height", "Sum"], ["Lyon", 1, "x", 2, 3]],
            "above the header: kg over Tea, m over Height",
        ),
    ],
)
async def test_the_head_says_where_names_of_columns_came_from(ask: Ask, rows: list[Any], layout: str) -> None:
    (table,) = (await ask("a.xlsx", book(t=[list(row) for row in rows]))).unwrap()["tables"]
    assert table.get("layout", "") == layout


async def test_a_header_below_very_many_short_rows_is_found_at_once(ask: Ask) -> None:
    data = book(t=[*[["x"]] * 40_000, ["Store", "H1"], ["Lyon", 1]])
    begun = time.process_time()
    (table,) = (await ask("a.xlsx", data)).unwrap()["tables"]
    assert time.process_time() - begun < 10
    assert table["rows"] == 1


async def test_a_hidden_sheet_is_called_hidden(ask: Ask, tools: TCPServer) -> None:
    made = openpyxl.load_workbook(io.BytesIO(book(shown=[["n"], [1], [2]], kept=[["m"], [3], [4]], one=[["a word"]])))
    made["kept"].sheet_state = "hidden"
    made["one"].sheet_state = "veryHidden"
    data = io.BytesIO()
    made.save(data)
    answer = (await ask("a.xlsx", data.getvalue())).unwrap()
    assert [one.get("layout", "") for one in answer["tables"]] == ["", "hidden sheet"]
    assert answer["sheets"] == ['sheet one, hidden, 1 row: "a word"']
    read = (await tools.invoke("to_markdown", {"source": "a.xlsx"})).unwrap()
    assert "Hidden sheets: kept, one." in read["notes"]
