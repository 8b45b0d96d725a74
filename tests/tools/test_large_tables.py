"""Test small files with large contents: read within bounds, or refused in one line."""

import asyncio
import io
import json
import subprocess
import sys
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tea.protocols.tcp import TCPServer
from tea.types import ToolResponse

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Workbook contains no default style"),
]

Ask = Callable[..., Coroutine[Any, Any, ToolResponse]]
MOST_BYTES = 150_000_000
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
FORM = "application/vnd.openxmlformats-officedocument.spreadsheetml"
TYPES = f"""<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="{FORM}.sheet.main+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{FORM}.worksheet+xml"/>
<Override PartName="/xl/styles.xml" ContentType="{FORM}.styles+xml"/>
<Override PartName="/xl/sharedStrings.xml" ContentType="{FORM}.sharedStrings+xml"/></Types>"""
BOOK = f"""<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets>
</workbook>"""
STYLES = "<cellXfs><xf/></cellXfs>"


def relations(kind: str, target: str) -> str:
    one = f'<Relationship Id="rId1" Type="{OFFICE}/{kind}" Target="{target}"/>'
    return f'<Relationships xmlns="{PACKAGE}/relationships">{one}</Relationships>'


def workbook(rows: str, strings: str = "<si><t>a</t></si>", styles: str = STYLES, before: str = "") -> bytes:
    """A workbook with one sheet of these rows, as XML."""
    parts = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": relations("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": BOOK,
        "xl/_rels/workbook.xml.rels": relations("worksheet", "worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": f'{before}<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{strings}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}">{styles}</styleSheet>',
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return packed.getvalue()


@pytest.fixture
def ask(tools: TCPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.chdir(tmp_path)

    async def ask(name: str, content: str | bytes, **arguments: Any) -> ToolResponse:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return await tools.invoke("table_query", {"files": [name], **arguments})

    return ask


@contextmanager
def bounded(seconds: float = 20.0) -> Iterator[None]:
    """Hold the body to MOST_BYTES of memory at once, and a bound on processor time."""
    tracemalloc.start()
    begun = time.process_time()
    try:
        yield
        used, (_, most) = time.process_time() - begun, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < MOST_BYTES, f"{most:,} bytes"
    assert used < seconds, f"{used} s"


def cell(place: str, value: object) -> str:
    return f'<c r="{place}"><v>{value}</v></c>'


async def test_a_cell_in_the_last_column_of_each_row_widens_no_row(ask: Ask) -> None:
    head = "".join(f'<c r="{place}" t="str"><v>{name}</v></c>' for place, name in (("A1", "n"), ("XFD1", "far")))
    rows = "".join(f'<row r="{n}">{cell(f"A{n}", n)}{cell(f"XFD{n}", 7)}</row>' for n in range(2, 2_002))
    content = workbook(f'<row r="1">{head}</row>{rows}')
    with bounded():
        answer = (await ask("a.xlsx", content, sql="SELECT count(*), sum(far), max(n) FROM a")).unwrap()
    assert answer["rows"] == [[2_000, 14_000, 2_001]]


BOMBS = {
    "cells beyond the last column": lambda: workbook(f"<row>{'<c/>' * 40_000}</row>"),
    "one row with the same cell again and again": lambda: workbook(f"<row>{cell('A1', 1) * 200_000}</row>"),
    "a row far below": lambda: workbook(f'<row r="1">{cell("A1", 1)}</row><row r="999999999">{cell("A2", 1)}</row>'),
    "a text that unpacks to much": lambda: workbook("", f"<si><t>{'a' * 201_000_000}</t></si>"),
    "a text of many pieces": lambda: workbook("", f"<si>{'<r><t>a</t></r>' * 200_000}</si>"),
    "very many styles": lambda: workbook("", styles=f"<cellXfs>{'<xf/>' * 300_000}</cellXfs>"),
    "one long text in many cells": lambda: workbook(
        '<row><c t="s"><v>0</v></c><c t="s"><v>0</v></c></row>' * 20_000, f"<si><t>{'b' * 20_000}</t></si>"
    ),
    "a document type of its own": lambda: workbook("<row/>", before="<!DOCTYPE worksheet []>"),
}


@pytest.mark.parametrize("what", BOMBS)
async def test_a_workbook_that_holds_too_much_is_refused_before_it_is_held(ask: Ask, what: str) -> None:
    content = BOMBS[what]()
    with bounded(60):
        response = await ask("a.xlsx", content)
    assert not response.ok
    assert response.error is not None
    assert response.error["code"] == "ToolError"
    assert "'a.xlsx'" in response.error["problem"]


async def test_rows_above_the_header_of_a_large_workbook_are_told(ask: Ask) -> None:
    texts = ("draft", "H1", "H2", "H3", "2023")
    strings = "".join(f"<si><t>{one}</t></si>" for one in texts)
    shared = [f'<c r="{place}" t="s"><v>{number}</v></c>' for place, number in (("A1", 0), ("B2", 4))]
    header = "".join(f'<c t="s"><v>{number}</v></c>' for number in (1, 2, 3))
    rows = [*shared, header, *(f"{cell('A4', 1)}{cell('B4', 2)}{cell('C4', 3)}" for _ in range(2))]
    book = workbook("".join(f"<row>{one}</row>" for one in rows), strings, before=f"<!--{' ' * 60_000_000}-->")
    (table,) = (await ask("a.xlsx", book)).unwrap()["tables"]
    assert table["layout"] == "above the header: 'draft'; 2023 over H2"


async def test_a_sheet_that_begins_far_below_is_read(ask: Ask) -> None:
    rows = f'<row r="900000">{cell("C900000", 1)}</row><row r="900001">{cell("C900001", 2)}</row>'
    (table,) = (await ask("a.xlsx", workbook(rows), full=True)).unwrap()["tables"]
    assert len(table["columns"]) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "a\n" * 100_000 + "1," * 100_000),
        ("a.csv", ",".join(["x"] * 100_000) + "\n" + ",".join(["1"] * 100_000)),
        ("a.csv", 'a,b\n1,"' + "x" * 10_100_000),
        ("a.json", json.dumps([{f"k{n}": 1} for n in range(20_000)])),
        ("a.json", json.dumps({f"t{'!' * n}": [{"a": 1}] for n in range(1_500)})),
        ("a.json", "[" * 1_000_000),
        ("a.json", "[" + "[]," * 10_000_000 + "[]]"),
        ("a.json", "{" + ",".join(f'"{n}":{{}}' for n in range(1_600_000)) + "}"),
    ],
    ids=[
        "one long row",
        "many columns",
        "an open quotation mark",
        "a key for each",
        "tables",
        "deep",
        "lists",
        "objects",
    ],
)
async def test_a_text_that_would_multiply_is_refused(ask: Ask, name: str, content: str) -> None:
    with bounded():
        response = await ask(name, content)
    assert not response.ok
    assert response.error is not None
    assert response.error["code"] == "ToolError"
    assert f"{name!r}" in response.error["problem"]


async def test_a_giant_cell_of_blanks_is_a_text_at_once(ask: Ask) -> None:
    with bounded():
        described = await ask("a.csv", f"a,b\n1,x{' ' * 4_000_000}%\n2,3\n", full=True)
    (table,) = described.unwrap()["tables"]
    assert [column["type"] for column in table["columns"]] == ["integer", "text"]


async def test_a_number_that_sql_does_not_have_is_a_text(ask: Ask) -> None:
    content = json.dumps([{"a": 10**30}, {"a": 1}])
    (table,) = (await ask("a.json", content, full=True)).unwrap()["tables"]
    assert table["columns"][0]["max"] in ("1" + "0" * 30, 1)


async def test_many_columns_of_one_name_are_told_apart_in_no_time(ask: Ask) -> None:
    with bounded():
        described = await ask("a.csv", ",".join(["x"] * 4_000) + "\n" + ",".join(["1"] * 4_000) + "\n", full=True)
    (table,) = described.unwrap()["tables"]
    assert len({column["name"] for column in table["columns"]}) == 4_000


ROWS = 400_000


def wide(folder: Path, rows: int = ROWS) -> str:
    """Write a table too large for memory, and return its name."""
    with (folder / "big.csv").open("w") as file:
        file.write("id,city,amount,day,code,note\n")
        for row in range(rows):
            city = ("Bergen", "Oslo", "NA")[row % 3]
            file.write(f"{row},{city},{row % 100}.5,2024-{row % 12 + 1:02}-03,{row % 50:03},note number {row}\n")
    return "big.csv"


@pytest.mark.slow
async def test_a_table_that_is_too_large_to_be_held_is_kept_once_and_asked(
    tools: TCPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = wide(tmp_path)
    tracemalloc.start()
    try:
        response = await tools.invoke("table_query", {"files": [name], "full": True})
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()
    (table,) = response.unwrap()["tables"]
    kinds = {one["name"]: one["type"] for one in table["columns"]}
    assert kinds == {"id": "integer", "city": "text", "amount": "real", "day": "date", "code": "text", "note": "text"}
    assert table["rows"] == ROWS
    begun = time.process_time()
    sql = "SELECT city, count(*), sum(amount), max(day) FROM big GROUP BY 1 ORDER BY 1"
    asked = (await tools.invoke("table_query", {"files": [name], "sql": sql})).unwrap()
    assert [row[:2] for row in asked["rows"]] == [[None, 133_333], ["Bergen", 133_334], ["Oslo", 133_333]]
    found = await tools.invoke("table_query", {"files": [name], "find": ["note number 77777"]})
    assert [row[3] for row in found.unwrap()["rows"]] == ["note number 77777"]
    assert time.process_time() - begun < 20


BLANKS = " " * 60_000_000  # so a workbook is too large to be held, and still packed in no time


async def test_a_workbook_too_large_to_be_held_is_read_row_by_row(ask: Ask) -> None:
    strings = "<si><t>city</t></si><si><r><t>Ber</t></r><r><t>gen</t></r><rPh><t>x</t></rPh></si><si><t>NA</t></si>"
    head = '<row r="2"><c r="C2" t="s"><v>0</v></c><c r="D2" t="inlineStr"><is><t>day</t></is></c>'
    head += '<c r="E2" t="str"><v>amount</v></c><c r="F2" t="inlineStr"><is><t>paid</t></is></c></row>'
    rows = "".join(
        f'<row r="{n + 3}"><c r="C{n + 3}" t="s"><v>{1 + n % 2}</v></c><c r="D{n + 3}" s="1"><v>{45_000 + n}</v></c>'
        f'<c r="E{n + 3}"><v>{n}.5E-1</v></c><c r="F{n + 3}" t="b"><v>{n % 2}</v></c></row>'
        for n in range(3_000)
    )
    styles = f'{STYLES[:-10]}<xf numFmtId="14"/></cellXfs>'
    content = workbook(head + rows + BLANKS, strings, styles)
    (table,) = (await ask("a.xlsx", content, full=True)).unwrap()["tables"]
    assert (table["name"], table["rows"]) == ("a", 3_000)
    kinds = {one["name"]: (one["type"], one["min"], one["max"]) for one in table["columns"]}
    assert kinds == {
        "city": ("text", "Bergen", "NA"),
        "day": ("date", "2023-03-15", "2031-05-31"),
        "amount": ("real", 0.05, 299.95),
        "paid": ("text", "false", "true"),
    }


HELD = {
    "one endless text": lambda: workbook(BLANKS, f"<si><t>{'a' * 11_000_000}</t></si>"),
    "texts beyond all bounds": lambda: workbook(BLANKS, f"<si><t>{'a' * 1_000_000}</t></si>" * 70),
    "a cell beyond the last column": lambda: workbook(f"<row>{'<c><v>1</v></c>' * 17_000}</row>{BLANKS}"),
    "a document type of its own": lambda: workbook(BLANKS, before="<!DOCTYPE worksheet []>"),
    "a text that is not there": lambda: workbook(f'<row><c t="s"><v>7</v></c></row>{BLANKS}'),
    "styles beyond all bounds": lambda: workbook(BLANKS, styles=f"<cellXfs>{'<xf/>' * 500_000}</cellXfs>"),
    "rows that reach far to the right": lambda: workbook(f"<row>{cell('XFD1', 1)}</row>" * 3_000 + BLANKS),
}


SLOW = "rows that reach far to the right"


@pytest.mark.parametrize("what", [pytest.param(one, marks=pytest.mark.slow if one == SLOW else ()) for one in HELD])
async def test_a_large_workbook_that_holds_too_much_is_refused_in_one_line(ask: Ask, what: str) -> None:
    response = await ask("a.xlsx", HELD[what]())
    assert response.error is not None
    assert response.error["code"] == "ToolError"
    assert "'a.xlsx'" in response.error["problem"]
    assert response.error["fix"]


FOLDER = Path(__file__).parents[2] / "tools" / "_table_query"
MILLION = """
import asyncio, json, sqlite3, sys, types
from pathlib import Path
from tea.reading import Reader
from tea.testing import platform

async def main():
    package = types.ModuleType("parts")
    package.__path__ = [sys.argv[1]]
    sys.modules["parts"] = package
    from parts.stored import keeping
    from parts.stored_workbook import stored_sheets
    async with platform() as tea:  # whose memory counts too
        reader, path = Reader(await tea.sandboxes.parser_terms()), Path("million.xlsx")
        async with reader.sheets(path, "million.xlsx") as sheets:
            with keeping(path, "million.xlsx", Path("kept")) as (kept, digest):
                (table,) = stored_sheets(sheets, kept, digest)
        names = [one.name for one in table.columns]
        city, amount, day = (f"c{names.index(name)}" for name in ("city", "amount", "day"))
        sql = f"SELECT {city}, count(*), sum({amount}), max({day}) FROM t GROUP BY 1 ORDER BY 1"
        rows = sqlite3.connect(table.path).execute(sql).fetchall()
        print(json.dumps([rows, [one.kind for one in table.columns]]))
        # The largest size of this program alone: what `getrusage` tells includes the one that started it.
        status = Path("/proc/self/status").read_text()
        print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)

asyncio.run(main())
"""


@pytest.mark.slow
async def test_a_workbook_of_a_million_rows_needs_little_memory(tmp_path: Path) -> None:
    cities = "".join(f"<si><t>{name}</t></si>" for name in ("Bergen", "Oslo", "Tromsø"))
    notes = "".join(f"<si><t>note number {n}</t></si>" for n in range(1_000_000))
    names = ("id", "city", "amount", "day", "code", "note")
    head = "".join(f'<c r="{place}1" t="str"><v>{name}</v></c>' for place, name in zip("ABCDEF", names, strict=True))
    rows = "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}" t="s"><v>{n % 3}</v></c><c r="C{n}"><v>{n % 100}.5</v></c>'
        f'<c r="D{n}" s="1"><v>{45_000 + n % 365}</v></c><c r="E{n}"><v>{n % 50}</v></c>'
        f'<c r="F{n}" t="s"><v>{n + 1}</v></c></row>'
        for n in range(2, 1_000_002)
    )
    styles = f'{STYLES[:-10]}<xf numFmtId="14"/></cellXfs>'
    (tmp_path / "million.xlsx").write_bytes(workbook(f'<row r="1">{head}</row>{rows}', cities + notes, styles))
    line = [sys.executable, "-W", "ignore", "-c", MILLION, str(FOLDER)]
    done = await asyncio.to_thread(subprocess.run, line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told, megabytes = done.stdout.splitlines()
    rows, kinds = json.loads(told)
    assert [row[:2] for row in rows] == [["Bergen", 333_333], ["Oslo", 333_333], ["Tromsø", 333_334]]
    assert kinds == ["integer", "text", "real", "date", "integer", "text"]
    assert int(megabytes) < 250


async def test_rows_that_hold_too_much_are_refused_before_they_are_held(ask: Ask) -> None:
    sql = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT printf('%9000000s', a) FROM t, n"
    response = await ask("t.csv", "a,b\n1,2\n", sql=sql, limit=900)
    assert response.error is not None
    assert "hold more than" in response.error["problem"]


WIDE = """\
import resource, sqlite3, sys
from pathlib import Path
from tools._table_query.files import table_file
from tools.table_query import _answer
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
try:
    print(str(_answer([table_file("t.csv", Path("t.csv"))], {}, None, sys.stdin.read(), (), 100, 0, False))[:300])
except Exception as error:
    print(error)
(most,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]  # of this program alone
print(int(most) // 1024)
"""
LONG = "printf('%9000000d', people) || '\U0001f600'"
DOUBLED = ", ".join(f"c{n} AS (SELECT * FROM c{n - 1} UNION ALL SELECT * FROM c{n - 1})" for n in range(1, 30))
COUNTED = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"


@pytest.mark.slow
@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {', '.join([LONG] * 200)} FROM t",
        f"SELECT length(concat({', '.join([LONG] * 99)})) FROM t",
        f"SELECT length(concat_ws({LONG}, {', '.join(['1'] * 98)})) FROM t",
        f"WITH c0 AS (SELECT 1), {DOUBLED} SELECT count(*) FROM c29",
        f"{COUNTED} SELECT sum(length(x)) FROM (SELECT printf('%9000000d', i) AS x FROM n ORDER BY x)",
        f"{COUNTED} SELECT i, first_value(printf('%9000000d', i)) OVER (ORDER BY i) FROM n",
    ],
)
async def test_no_few_words_of_a_query_hold_a_gigabyte_of_values(tmp_path: Path, sql: str) -> None:
    (tmp_path / "t.csv").write_text("name,people\nAsk,1200\n")
    line = [sys.executable, "-W", "ignore", "-c", WIDE]
    begun = time.monotonic()
    done = await asyncio.to_thread(
        subprocess.run,
        line,
        cwd=tmp_path,
        input=sql,
        env={"PYTHONPATH": str(FOLDER.parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.splitlines()[-1]) < 1_500, done.stdout
    assert time.monotonic() - begun < 40
