"""Test what a query warns of where a column's numbers are texts: compared, ordered, computed."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tea.types import ToolResponse

pytestmark = pytest.mark.asyncio(loop_scope="module")

Ask = Callable[..., Coroutine[Any, Any, ToolResponse]]


FILES: dict[str, str | bytes] = {
    "shops.csv": "Shop;Area m2;Phone;Zip;Version;Street;Sold\nBergen;1 250;22 33 44 55;0150;1.10;12 Main Street;5\n"
    "Oslo;2 400;91 23 45 67;5003;1.9;3 Mill Lane;6\nTrondheim;980;55 12 34 56;7010;2.0.1;110 High Road;7\n"
    "Stavanger;1 100;22 00 11 22;4006;2.0.2;5 Quay;8\nTallinn;640;41 22 33 44;9008;2.0.10;44 Hill;9\n",
    "rech.csv": "nr;betrag;satz\n007;1.250,50;5 %\n008;980,00;n/a\n009;(120,25);0 %\n010;2.100,75;10 %\n"
    "011;75,5;2,5 %\n",
    "pct.csv": "city,growth,density,stars,weight\n"
    "A,1,1.5k,3 stars,100 kg\nB,2,980,4 stars,2 kg\nC,3,2k,5 stars,30 kg\n",
    "trips.csv": 'trip;cost;place\na;kr 120;Zürich\nb;"kr 1,250";Bern\nc;80;Genf\nd;kr 2,010;Basel\n',
    "ages.csv": "name;size;races\nAnna;10-12;1st\nBo;12-14;2nd\nCato;8-10;10th\nDina;6-8;3rd\n",
    "firms.csv": "firm;number\na;123 456 789\nb;987 654 321\nc;555 111 222\n",
}
AREA = "CAST(replace(\"Area m2\", ' ', '') AS REAL)"
BETRAG = "CAST(replace(replace(replace(replace(\"betrag\", '(', '-'), ')', ''), '.', ''), ',', '.') AS REAL)"
LETTERS = "{} is text ({} is not a plain number) and compared letter by letter; {} compares numbers"
OF_AREA = LETTERS.format('"Area m2"', "'1 250'", AREA)
OF_BETRAG = LETTERS.format('"betrag"', "'1.250,50'", BETRAG)
OF_DENSITY = LETTERS.format('"density"', "'1.5k'", "CAST(replace(\"density\", 'k', 'e3') AS REAL)")


@pytest.mark.parametrize(
    ("sql", "warning"),
    [
        ('SELECT Shop FROM shops ORDER BY "Area m2" DESC LIMIT 1', OF_AREA),
        ('SELECT MAX("Area m2") FROM shops', OF_AREA),
        ('SELECT MIN(s."Area m2") FROM shops s', OF_AREA),
        ('SELECT Shop FROM shops WHERE "Area m2" > 1000', OF_AREA),
        ('SELECT Shop FROM shops WHERE "Area m2" BETWEEN 500 AND 1500', OF_AREA),
        ("SELECT Shop FROM shops WHERE \"Area m2\" >= '1000'", OF_AREA),
        ("SELECT Shop FROM shops WHERE \"Area m2\" BETWEEN '500' AND '1 500'", OF_AREA),
        ('SELECT Shop, rank() OVER (ORDER BY "Area m2" DESC) FROM shops', OF_AREA),
        ('SELECT Shop, "Area m2" AS area FROM shops ORDER BY area DESC LIMIT 1', OF_AREA),
        ('SELECT s."Area m2" AS "a b", Shop FROM shops s ORDER BY "a b" DESC', OF_AREA),
        ("SELECT nr FROM rech WHERE betrag > 1000", OF_BETRAG),
        ("SELECT nr FROM rech ORDER BY betrag", OF_BETRAG),
        ("SELECT MAX(density) FROM pct", OF_DENSITY),
        (
            "SELECT city FROM pct ORDER BY weight DESC",
            LETTERS.format('"weight"', "'100 kg'", "CAST(replace(\"weight\", ' kg', '') AS REAL)"),
        ),
        (
            "SELECT trip FROM trips ORDER BY cost DESC",
            LETTERS.format('"cost"', "'kr 120'", "CAST(replace(replace(\"cost\", 'kr ', ''), ',', '') AS REAL)"),
        ),
    ],
)
async def test_numbers_as_texts_in_order_or_compared_are_warned_of(ask_files: Ask, sql: str, warning: str) -> None:
    assert (await ask_files(FILES, sql=sql)).unwrap().get("warning", "") == warning


COUNTS = f"\"Area m2\" is text; '1 250' counts as 1 (3 of 5 values are not plain numbers): take {AREA}"


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT Shop, SUM(1.0 * Sold) / "Area m2" FROM shops GROUP BY Shop',
        'SELECT 1.0 * 5000 / "Area m2" FROM shops',
        'SELECT Sold * "Area m2" FROM shops',
        'SELECT Shop FROM shops ORDER BY "Area m2" - Sold DESC',
        'SELECT Shop FROM shops ORDER BY "Area m2" * 1 DESC',
        'SELECT (1 + 2) - "Area m2" FROM shops',
        'SELECT round("Area m2"), abs("Area m2") FROM shops',
        'SELECT SUM("Area m2") FROM shops',
    ],
)
async def test_numbers_as_texts_in_calculations_are_warned_of(ask_files: Ask, sql: str) -> None:
    assert (await ask_files(FILES, sql=sql)).unwrap().get("warning", "") == COUNTS


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT Shop FROM shops ORDER BY {AREA} DESC LIMIT 1",
        f"SELECT MAX({AREA}), SUM(5000.0) / SUM({AREA}) FROM shops WHERE {AREA} > 1000",
        'SELECT Shop, "Area m2" FROM shops ORDER BY Shop',
        "SELECT Shop FROM shops WHERE \"Area m2\" = '1 250'",
        f"SELECT Shop, {AREA} AS area FROM shops ORDER BY area DESC LIMIT 1",
        'SELECT "Area m2" AS a FROM (SELECT Sold AS a, * FROM shops) ORDER BY a',
        "SELECT MAX(Shop), MIN(Street) FROM shops",
        "SELECT Shop FROM shops ORDER BY Phone",
        "SELECT Shop FROM shops ORDER BY Zip",
        "SELECT Shop FROM shops ORDER BY Version DESC",
        "SELECT Shop FROM shops ORDER BY Street",
        "SELECT Shop FROM shops WHERE Street > 'A' AND Zip > '5000'",
        f"SELECT SUM({BETRAG}) FROM rech WHERE {BETRAG} BETWEEN 0 AND 1000",
        "SELECT nr FROM rech ORDER BY nr",
        "SELECT MAX(CAST(replace(density, 'k', 'e3') AS REAL)) FROM pct",
        "SELECT city FROM pct ORDER BY stars DESC",
        "SELECT city FROM pct ORDER BY growth DESC",
        "SELECT name FROM ages ORDER BY size",
        "SELECT firm FROM firms ORDER BY number",
        "SELECT place, COUNT(*) FROM trips GROUP BY place ORDER BY place",
    ],
)
async def test_other_texts_and_converted_numbers_are_not_warned_of(ask_files: Ask, sql: str) -> None:
    assert "warning" not in (await ask_files(FILES, sql=sql)).unwrap()


RACES: dict[str, str | bytes] = {
    "races.csv": "name,lap,split,start,place,load,room,walk,one,lot\n"
    "A,9:50,9:50,09:50,1st,10 kg,12B,1.5 km,5 kg,a 1\nB,10:05,10:05,10:05,2nd,9 kg,9A,800 m,6 kg,b 2\n"
    "C,8:07,1:02:03,08:07,10th,800 g,101,12 km,7 kg,c 3\nD,7:30,58:20,07:30,3rd,1.5 kg,7,950 m,8 kg,d 4\n",
    "comma.csv": "name;load\nA;1,5 kg\nB;10 kg\nC;800 g\n",
}
LAST = {  # with the right last one by each column, and what its texts would tell
    "lap": ("B", "A"),
    "split": ("C", "A"),
    "place": ("C", "D"),
    "load": ("A", "B"),
    "room": ("C", "B"),
    "walk": ("C", "D"),
}


@pytest.mark.parametrize("column", LAST)
async def test_measures_as_texts_in_order_are_warned_of_with_their_right_order(ask_files: Ask, column: str) -> None:
    right, wrong = LAST[column]
    sql = "SELECT name FROM races ORDER BY {} DESC LIMIT 1"
    got = (await ask_files(RACES, sql=sql.format(column))).unwrap()
    told = f'"{column}" is text ('
    assert (got["rows"], told in got["warning"]) == ([[wrong]], True)
    remedy = got["warning"].partition("compared letter by letter; ")[2].removesuffix(" compares numbers")
    got = (await ask_files(RACES, sql=sql.format(remedy))).unwrap()
    assert (got["rows"], "warning" in got) == ([[right]], False)
    for sql in (f"SELECT MAX({column}) FROM races", f"SELECT name FROM races WHERE {column} > 9"):
        assert told in (await ask_files(RACES, sql=sql)).unwrap()["warning"]


async def test_measures_with_a_comma_are_warned_of_with_their_right_order(ask_files: Ask) -> None:
    got = (await ask_files(RACES, sql="SELECT MAX(load) FROM comma")).unwrap()
    remedy = got["warning"].partition("compared letter by letter; ")[2].removesuffix(" compares numbers")
    got = (await ask_files(RACES, sql=f"SELECT MAX({remedy}), MIN({remedy}) FROM comma")).unwrap()
    assert (got["rows"], "warning" in got) == ([[10000.0, 800.0]], False)


@pytest.mark.parametrize(
    ("sql", "warned"),
    [
        ("SELECT name FROM races WHERE lap > '9:00'", True),
        ("SELECT name FROM races WHERE load >= '9 kg'", True),
        ("SELECT name FROM races WHERE start > '09:00'", False),
        ("SELECT MIN(start), MAX(start) FROM races", False),
        ("SELECT name FROM races ORDER BY start", False),
        ("SELECT name FROM races ORDER BY one DESC", False),
        ("SELECT name FROM races ORDER BY lot", False),
        ("SELECT name, lap, load, place FROM races ORDER BY name", False),
        ("SELECT place, COUNT(*) FROM races GROUP BY place", False),
        ("SELECT name FROM races WHERE load = '9 kg' AND place IN ('1st', '2nd')", False),
        ("SELECT name FROM races ORDER BY CAST(place AS INTEGER)", False),
    ],
)  # fmt: skip
async def test_measures_in_order_or_only_named_are_not_warned_of(ask_files: Ask, sql: str, warned: bool) -> None:
    assert ("warning" in (await ask_files(RACES, sql=sql)).unwrap()) is warned
