"""OpenDocument workbooks: their cells keep their types, and repetitions in them are bounded."""

import io
import zipfile
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest

from tea.types import ToolResponse

pytestmark = pytest.mark.asyncio(loop_scope="module")

Ask = Callable[..., Coroutine[Any, Any, ToolResponse]]
MADE = Path(__file__).parent.parent / "fixtures" / "tables" / "sales.ods"
ONE = 'office:value-type="float" office:value="1"'
WIDE = f'<table:table-cell table:number-columns-repeated="20000" {ONE}/>'


async def test_a_workbook_of_libreoffice_is_read_with_its_formulas_and_dates(ask: Ask) -> None:
    sql = 'SELECT city, sold, day, share, f FROM "My_Sales" ORDER BY city'
    answer = (await ask("sales.ods", MADE.read_bytes(), sql=sql)).unwrap()
    assert answer["rows"] == [
        ["Bergen", 1200, "2024-01-05", 0.5, "2400"],
        ["Oslo", None, "2024-01-05 12:30:00", 1.25, "#DIV/0!"],
    ]


def open_book(body: str, **more: str) -> bytes:
    """Return an OpenDocument workbook of the elements of its tables."""
    names = ("office", "table", "text")
    spaces = " ".join(f'xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0"' for one in names)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", f"<office:document-content {spaces}>{body}</office:document-content>")
        for name, text in more.items():
            archive.writestr(name.replace("__", "/"), text)
    return data.getvalue()


def cell(text: str, kind: str = "string", **values: str) -> str:
    told = "".join(f' office:{name.replace("_", "-")}="{one}"' for name, one in values.items())
    return f'<table:table-cell office:value-type="{kind}"{told}><text:p>{text}</text:p></table:table-cell>'


def rows(*lines: Sequence[str], title: str = "Sales") -> str:
    inner = "".join(f"<table:table-row>{''.join(line)}</table:table-row>" for line in lines)
    return f'<table:table table:name="{title}">{inner}</table:table>'


async def test_values_of_an_opendocument_workbook_keep_their_types(ask: Ask) -> None:
    heads = [cell(one) for one in ("city", "code", "sold", "share", "day", "at", "lasted", "paid")]
    bergen = [
        cell("Bergen<text:s text:c='2'/>Vest"), cell("007"), cell("1 200", "float", value="1200"),
        cell("12 %", "percentage", value="0.125"), cell("5 Jan", "date", date_value="2024-01-05"),
        cell("noon", "date", date_value="2024-01-05T12:30:00"), cell("1:02", "time", time_value="PT01H02M03S"),
        cell("YES", "boolean", boolean_value="true"),
    ]  # fmt: skip
    content = open_book(rows(heads, bergen))
    answer = (await ask("sales.ods", content, sql="SELECT *, typeof(sold), typeof(share) FROM sales")).unwrap()
    (row,) = answer["rows"]
    first = ["Bergen  Vest", "007", 1200, 0.125, "2024-01-05", "2024-01-05 12:30:00", "01:02:03", "true"]
    assert row == [*first, "integer", "real"]


async def test_repeated_and_hidden_parts_of_an_opendocument_workbook_count_as_they_are_shown(ask: Ask) -> None:
    remark = "<office:annotation><text:p>a remark</text:p></office:annotation>"
    twice = '<table:table-cell table:number-columns-repeated="2" office:value-type="float" office:value="4"/>'
    far = '<table:table-cell table:number-columns-repeated="16380"/>'
    body = (
        f'<table:table table:name="A"><table:table-header-rows><table:table-row>{cell("n")}{cell("m")}{cell("said")}'
        f"{far}</table:table-row></table:table-header-rows>"
        f'<table:table-row table:number-rows-repeated="3">{twice}'
        f'<table:table-cell office:value-type="string">{remark}<text:p>one</text:p><text:p>two</text:p>'
        '</table:table-cell></table:table-row><table:table-row table:number-rows-repeated="1048000">'
        "<table:table-cell/></table:table-row>"
        "</table:table>"
    )
    answer = (await ask("a.ods", open_book(body), sql="SELECT sum(n), sum(m), min(said), count(*) FROM a")).unwrap()
    assert answer["rows"] == [[12, 12, "one\ntwo", 3]]


async def test_sheets_of_an_opendocument_workbook_are_tables_of_their_names(ask: Ask) -> None:
    content = open_book(rows([cell("n")], [cell("1", "float", value="1")], title="Old")
                        + rows([cell("n")], [cell("2", "float", value="2")], title="New"))  # fmt: skip
    answer = (await ask("b.ods", content, sql="SELECT Old.n + New.n FROM Old, New")).unwrap()
    assert answer["rows"] == [[3]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (open_book(rows([cell("n")]), **{"META-INF__manifest.xml": "<m><encryption-data/></m>"}), "is encrypted"),
        (open_book("<unclosed>"), "is not a readable workbook"),
        (open_book(rows([cell("n"), WIDE])), "columns"),
    ],
)  # fmt: skip
async def test_an_opendocument_workbook_that_cannot_be_read_says_why(ask: Ask, content: bytes, words: str) -> None:
    answer = await ask("c.ods", content)
    assert not answer.ok
    assert words in answer.error["problem"]


async def test_a_bomb_of_repeated_cells_is_refused(ask: Ask) -> None:
    line = '<table:table-cell table:number-columns-repeated="16000" office:value-type="float" office:value="1"/>'
    body = (
        f'<table:table><table:table-row table:number-rows-repeated="999999999">{line}</table:table-row></table:table>'
    )
    answer = await ask("bomb.ods", open_book(body))
    assert not answer.ok
    assert "cells" in answer.error["problem"]
