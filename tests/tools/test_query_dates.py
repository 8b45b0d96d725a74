"""Test dates as texts in SQL: the forms of `iso`, and warnings of dates in no order of time."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tea.types import ToolResponse

pytestmark = pytest.mark.asyncio(loop_scope="module")

Ask = Callable[..., Coroutine[Any, Any, ToolResponse]]

TERMS: dict[str, str | bytes] = {
    "t.csv": "name,began,ended,born,seen\n"
    "a,30/4/1789,4/3/1797,1732-02-22,03/04/2019\nb,4/3/1797,4/3/1801,1735-10-30,1 May 2018\n"
    "c,4/3/1801,n/a,1743-04-13,7/6/2020\nd,5/3/1809,4/3/1817,1751-03-16,2 Jan 2021\n"
}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("30/4/1789", "dmy"),
        ("30/04/1789", "%d/%m/%Y"),
        ("30.4.1789", "DD.MM.YYYY"),
        ("30/4/1789", "d/m/yyyy"),
        ("4/30/1789", "%m/%d/%Y"),
        ("4-30-1789", "MM-DD-YYYY"),
        ("30 Apr 1789", "words"),
        ("30 April 1789", "%d %B %Y"),
        ("April 30, 1789", "%B %d, %Y"),
        ("30-Apr-1789", "DD-MMM-YYYY"),
        ("1789-04-30", "iso"),
        ("1789/4/30", "YYYY/MM/DD"),
        ("30/4/1789 08:15", "%d/%m/%Y %H:%M"),
        ("30/4/1789 08:15", "dd/MM/yyyy HH:mm"),
    ],
)
async def test_iso_takes_the_forms_of_other_tools(ask_files: Ask, text: str, form: str) -> None:
    files = {"t.csv": f'n,day\n1,"{text}"\n2,x\n'}
    got = (await ask_files(files, sql=f"SELECT iso(day, '{form}') FROM t WHERE n = 1")).unwrap()
    assert got["rows"] == [["1789-04-30"]]
    assert "warning" not in got


@pytest.mark.parametrize("call", ["iso(began, 'ydm')", "iso(began, 'european')", "iso(seen)", "iso(began, 'dmy', 1)"])
async def test_iso_without_a_known_form_is_refused_with_the_forms(ask_files: Ask, call: str) -> None:
    error = (await ask_files(TERMS, sql=f"SELECT {call} FROM t")).error
    assert error is not None
    assert "iso(date, form)" in error["fix"]
    assert "'dmy'" in error["fix"]
    assert "'%d/%m/%Y'" in error["fix"]


@pytest.mark.parametrize("call", ["DATEDIFF(began, ended)", "date_diff('day', began, ended)"])
async def test_a_difference_of_dates_by_another_name_is_answered_with_julianday(ask_files: Ask, call: str) -> None:
    error = (await ask_files(TERMS, sql=f"SELECT {call} FROM t")).error
    assert error is not None
    assert error["fix"].startswith("use julianday(later) - julianday(earlier)")


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("year(began)", 1789),
        ("month(born)", 2),
        ("quarter(x.began)", 2),
        ("day(began, 'dmy')", 30),
        ("day('2023-07')", None),
        ("month(NULL)", None),
    ],
)
async def test_parts_of_a_date_are_taken_from_its_known_form(ask_files: Ask, call: str, value: int | None) -> None:
    got = (await ask_files(TERMS, sql=f"SELECT {call} FROM t x LIMIT 1")).unwrap()
    assert got["rows"] == [[value]]
    assert "warning" not in got


async def test_a_date_of_another_form_has_no_part_and_is_told(ask_files: Ask) -> None:
    got = (await ask_files(TERMS, sql="SELECT month(seen) FROM t")).unwrap()
    assert got["rows"] == [[None]] * 4
    assert "month(..., 'iso') gives NULL for 4 values, such as '03/04/2019', of form 'dmy' or 'mdy'" in got["warning"]


BEGAN = "\"began\" is written as '30/4/1789', in no order of time"
SEEN = "\"seen\" is written as '03/04/2019' and '1 May 2018', in no order of time"
SEEN_ISO = "coalesce(iso(\"seen\", 'dmy'), iso(\"seen\", 'words'))"
DAYS = "julianday(iso(\"ended\", 'dmy')) - julianday(iso(\"began\", 'dmy')) gives days"


@pytest.mark.parametrize(
    ("sql", "warning"),
    [
        ("SELECT iso(began, 'mdy') FROM t", "iso(..., 'mdy') gives NULL for 1 value, such as '30/4/1789'"),
        ("SELECT name FROM t WHERE iso(seen, 'dmy') > '2019'", "gives NULL for 2 values, such as '1 May 2018'"),
        ("SELECT ended - began FROM t", f'"ended" - "began" subtracts texts, not dates: {DAYS}'),
        ("SELECT min(x.ended-x.began) FROM t x", DAYS),
        (
            "SELECT iso(ended, 'dmy') - iso(began, 'dmy') FROM t",
            "a difference of iso(...) is of texts, not of dates: julianday(iso(...)) - julianday(iso(...)) gives days",
        ),
        ("SELECT born - born FROM t", 'julianday("born") - julianday("born") gives days'),
        ("SELECT min(seen) FROM t", f"{SEEN}: take {SEEN_ISO}"),
        ("SELECT name FROM t ORDER BY seen", f"{SEEN}: take {SEEN_ISO}"),
        ("SELECT began, name FROM t ORDER BY seen", f"{SEEN}: take {SEEN_ISO}"),
        ("SELECT max(began) FROM t", f"{BEGAN}: take iso(\"began\", 'dmy')"),
        ("SELECT name FROM t WHERE seen > '2019-01-01'", f"{SEEN}: compare {SEEN_ISO} with '2019-01-01'"),
        ("SELECT name FROM t WHERE began < ended", f"{BEGAN}: take iso(\"began\", 'dmy')"),
        ("SELECT julianday(began) FROM t", f"{BEGAN}: take iso(\"began\", 'dmy')"),
        ("SELECT strftime('%Y', seen) FROM t", f"{SEEN}: take {SEEN_ISO}"),
    ],
)
async def test_dates_taken_for_numbers_or_in_no_order_of_time_are_warned_of(
    ask_files: Ask, sql: str, warning: str
) -> None:
    assert warning in (await ask_files(TERMS, sql=sql)).unwrap().get("warning", "")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT julianday(iso(ended, 'dmy')) - julianday(iso(began, 'dmy')) FROM t",
        "SELECT min(born), max(born), strftime('%Y', born), julianday(born) FROM t WHERE born < '1740' ORDER BY born",
        "SELECT name, began FROM t WHERE began = '30/4/1789' ORDER BY name",
        "SELECT min(iso(began, 'dmy')) FROM t WHERE iso(ended, 'dmy') > iso(began, 'dmy')",
        "SELECT iso(began, 'dmy') AS began FROM t ORDER BY began",
    ],
)
async def test_dates_in_order_of_time_are_not_warned_of(ask_files: Ask, sql: str) -> None:
    assert "warning" not in (await ask_files(TERMS, sql=sql)).unwrap()


EITHER: dict[str, str | bytes] = {"t.csv": "n,paid,due\n1,03/04/2024,13/05/2024\n2,05/06/2024,05/06/2024\n"}
UNCLEAR = (
    "\"paid\" has no day above 12, so '03/04/2024' may be 'dmy' or 'mdy': look for what tells which, "
    "and say which was taken"
)


async def test_a_column_of_dates_with_day_or_month_first_is_marked(ask_files: Ask) -> None:
    (table,) = (await ask_files(EITHER)).unwrap()["tables"]
    assert table["columns"][1:] == [
        "paid text (dates, dmy or mdy): 03/04/2024, 05/06/2024",
        "due date dmy: 13/05/2024, 05/06/2024",
    ]


@pytest.mark.parametrize(
    ("sql", "warning"),
    [
        ("SELECT n FROM t WHERE iso(paid, 'dmy') > '2024-04-01'", UNCLEAR),
        ("SELECT x.n FROM t x WHERE strftime('%m', iso(x.paid, 'mdy')) = '04'", UNCLEAR),
        ("SELECT sum(n) FROM t GROUP BY substr(paid, 4, 2)", UNCLEAR),
        ("SELECT n FROM t WHERE due > '2024-05-01'", ""),
        ("SELECT n FROM t WHERE paid = '03/04/2024'", ""),
    ],
)
async def test_dates_read_with_day_or_month_first_are_warned_of(ask_files: Ask, sql: str, warning: str) -> None:
    files: dict[str, str | bytes] = {"t.csv": "n,paid,due\n1,03/04/2024,2024-05-13\n2,05/06/2024,2024-05-06\n"}
    assert (await ask_files(files, sql=sql)).unwrap().get("warning", "") == warning


async def test_the_form_of_dates_is_told_by_the_dates_beside_them(ask_files: Ask) -> None:
    assert "warning" not in (await ask_files(EITHER, sql="SELECT iso(paid, 'dmy') FROM t")).unwrap()
    told = (await ask_files(EITHER, sql="SELECT max(paid) FROM t")).unwrap()["warning"]
    assert told == "\"paid\" is written as '03/04/2024', in no order of time: take iso(\"paid\", 'dmy')"


@pytest.mark.parametrize(
    ("call", "value"),
    [("iso(t.began)", "1789-04-30"), ('ISO( "began" )', "1789-04-30"), ("iso(born) || 'iso(seen)'", None)],
)
async def test_iso_takes_the_form_of_a_column_that_has_one(ask_files: Ask, call: str, value: str | None) -> None:
    got = (await ask_files(TERMS, sql=f"SELECT {call} FROM t WHERE name = 'a'")).unwrap()
    assert got["rows"] == [[value or "1732-02-22iso(seen)"]]
    assert "warning" not in got


async def test_iso_of_a_column_of_several_forms_is_answered_with_them(ask_files: Ask) -> None:
    error = (await ask_files(TERMS, sql="SELECT iso(seen) FROM t")).error
    assert error is not None
    assert error["fix"].startswith(f"write {SEEN_ISO} ('mdy' if the month comes first); iso(date, form)")


@pytest.mark.parametrize(
    ("where", "other"),
    [
        ("began BETWEEN '2019-01-01' AND '2019-12-31'", "'2019-01-01' and '2019-12-31'"),
        ("began >= '2019-01-01' AND began < '2020-01-01'", "'2019-01-01' and '2020-01-01'"),
        ("began > '2019-01-01' OR began > '2019-01-01'", "'2019-01-01'"),
        ("began BETWEEN '01/02/2019' AND '2019-12-31'", "a date such as '2024-05-31'"),
    ],
)
async def test_dates_compared_with_two_texts_are_warned_of_once(ask_files: Ask, where: str, other: str) -> None:
    warning = (await ask_files(TERMS, sql=f"SELECT name FROM t WHERE {where}")).unwrap()["warning"]
    assert warning == f"{BEGAN}: compare iso(\"began\", 'dmy') with {other}"
