"""Test which numbers of an answer follow from what was read: rows of numbers, labels and rounded quotients."""

from typing import Any

import pytest

from tea.loop.grounds import Grounds
from tea.loop.numbers import unfounded
from tea.loop.observation import Observation
from tea.loop.opening import Head

FIBONACCI = "STDOUT:\n0\n1\n1\n2\n3\n5\n8\n13\n21\n34\n55\n89\n144\n233\n377"
AREAS = {"columns": ["city", "area_km2"], "rows": [["Alda", 1482], ["Berk", 97], ["Cove", 210]]}
SQUARES = "81\n144\n225\n961"


@pytest.mark.parametrize(
    ("answer", "read", "unknown"),
    [
        ("It printed 0 1 1 2 3 5 8 13 21 34 55 89 144 233 377.", FIBONACCI, []),
        ("89 144 233 377, of which the last two make 610.", FIBONACCI, []),
        ("97 210 1482", AREAS, []),
        ("81 144 225 961", SQUARES, []),
        ("It printed 55 89 144 234 377.", FIBONACCI, ["89 144 234 377"]),
        ("81 144 225 916", SQUARES, ["81 144 225 916"]),
        ("97 201 1482", AREAS, ["97 201"]),
        ("In all 97,210 km2.", AREAS, ["97,210"]),
        ("In all 1 789 km2.", AREAS, []),
        ("In all 1 798 km2.", AREAS, ["1 798"]),
        ("Founded on 14 July 1845.", AREAS, ["14 July 1845"]),
    ],
)
def test_a_row_of_numbers_with_three_digits_is_known_by_each_of_them(
    answer: str, read: Any, unknown: list[str]
) -> None:
    assert unfounded(answer, "Which ones?", [read]) == unknown


MONTHS = {
    "columns": ["m", "revenue"],
    "rows": [["2025-01", 2039.2], ["2025-10", 1903.8], ["2025-07", 1477.36], ["2025-11", 898.77]],
}
NUMBERED = {"columns": ["month", "shop", "revenue"], "rows": [[7, "Room 12", 2039.2], [10, "Room 30", 1903.8]]}
PRINTED = "2025-01: 2039.2\n2025-10: 1903.8\n2025-07: 1477.36\n2025-11: 898.77\n"
NOTES = {"columns": ["note"], "rows": [["12 apples"], ["EUR 35"], ["Sold on 3 May for 20 crowns"]]}
FOUNDED = {"columns": ["city", "founded"], "rows": [["Alda", 1890], ["Berk", 1921]]}


@pytest.mark.parametrize(
    ("answer", "read", "unknown"),
    [
        ("6,319.13 NOK; January 2025 was the best (2,039.20).", MONTHS, []),
        ("6,309.13 NOK; January 2025 was the best (2,039.20).", MONTHS, ["6,309.13"]),
        ("6,329.13 NOK", MONTHS, ["6,329.13"]),
        ("6,318.13 NOK", MONTHS, ["6,318.13"]),
        ("6,308.13 NOK", PRINTED, ["6,308.13"]),
        ("6,319.13 NOK", PRINTED, []),
        ("In all 3,943.00", NUMBERED, []),
        ("In all 3,953.00", NUMBERED, ["3,953.00"]),
        ("In all 3,973.00", NUMBERED, ["3,973.00"]),
        ("3 months later", NUMBERED, []),
        ("47 in all", NOTES, []),
        ("32 apples and crowns", NOTES, []),
        ("31 years later", FOUNDED, []),
        ("Berk came 31 later", FOUNDED, []),
    ],
)
def test_a_label_is_no_part_of_a_sum_or_difference(answer: str, read: Any, unknown: list[str]) -> None:
    assert unfounded(answer, "What was it?", [read]) == unknown


FACTS = """facts.csv: table, 120 bytes
table: facts, rows: 3, all of them
city,share,founded,change,schools,area_km2
Alda,0.3721,1890-05-14,-12.5,7,1482
Berk,0.0415,1921-11-02,3.75,3,97
Cove,0.5,2001-01-30,0.0,12,210"""
SCHOOLS = {"columns": ["city", "schools"], "rows": [["Alda", 7], ["Berk", 3], ["Cove", 12]]}
SINCE = {"columns": ["city", "founded"], "rows": [["Alda", "1890-05-14"], ["Cove", "2001-01-30"]]}


@pytest.mark.parametrize(
    ("answer", "read", "unknown"),
    [
        ("1,789 km2", AREAS, []),
        ("1,798 km2", AREAS, ["1,798"]),
        ("1,889 km2", AREAS, ["1,889"]),
        ("22 schools", SCHOOLS, []),
        ("23 schools", SCHOOLS, ["23"]),
        ("Of 1,789 km2 Alda has 82.8 %.", SCHOOLS, []),
        ("Alda has 1,272 km2 more than Cove, which has 210.", SCHOOLS, []),
        ("81.3 km2 per school", AREAS, []),
        ("110 years", SINCE, []),
        ("110 years and 8 months", SINCE, []),
        ("112 years", SINCE, ["112"]),
    ],
)
def test_of_a_table_shown_whole_beside_a_query_other_cells_are_no_part_of_a_sum(
    answer: str, read: Any, unknown: list[str]
) -> None:
    assert unfounded(answer, "What is it in all?", [read], queried=[FACTS]) == unknown


@pytest.mark.parametrize(("name", "unknown"), [("facts.csv", ["7,518"]), ("other.csv", [])])
def test_cells_of_a_table_shown_whole_count_beside_the_query_of_another(name: str, unknown: list[str]) -> None:
    total: Any = {"columns": ["total"], "rows": [[9000]]}
    found = Observation(id="c1_1", name="table_query", arguments={"files": [name]}, ok=True, value=total)
    grounds = Grounds.of("How much more is it?", [], [Head("facts.csv", FACTS, whole=True)], [found])
    assert grounds.numbers("7,518") == unknown


PEOPLE = {"columns": ["city", "people"], "rows": [["Alda", 1234567], ["Berk", 45210], ["Cove", 9876]]}
ALDA = {"columns": ["people", "schools"], "rows": [[1234567, 7]]}


@pytest.mark.parametrize(
    ("answer", "read", "unknown"),
    [
        ("Alda has 27 times as many as Berk.", [PEOPLE], []),
        ("Alda has 27x as many as Berk.", [PEOPLE], []),
        ("Alda hat 27-mal so viele wie Berk.", [PEOPLE], []),
        ("Alda has 125 times as many as Cove.", [PEOPLE], []),
        ("Alda has 27.3 times as many as Berk.", [PEOPLE], []),
        ("Alda has 26 times as many as Berk.", [PEOPLE], ["26"]),
        ("Alda has 28 times as many as Berk.", [FACTS, PEOPLE], ["28"]),
        ("Alda has 27 times as many as Berk.", [FACTS, PEOPLE], []),
        ("Alda has 27.4 times as many as Berk.", [PEOPLE], ["27.4"]),
        ("Berk has 27 schools.", [PEOPLE], ["27"]),
        ("176 thousand", [ALDA], []),
        ("176,367", [ALDA], []),
        ("167 thousand", [ALDA], ["167"]),
        ("1.2 million", [ALDA], []),
    ],
)
def test_a_quotient_may_be_rounded_to_a_whole_number_of_times_or_thousands(
    answer: str, read: list[Any], unknown: list[str]
) -> None:
    assert unfounded(answer, "How many more are there?", read) == unknown


@pytest.mark.parametrize("port", [43461, 970])
def test_no_number_follows_from_the_address_of_a_task(port: int) -> None:
    site = f"http://127.0.0.1:{port}"
    assert unfounded("42 crowns.", f"Compare {site}/1 and {site}/928.", ["A page of 3 words."]) == ["42"]


PAY = (
    "Name,Department,Salary\nAnna,Sales,52000\nBo,Sales,48000\nCato,IT,61000\nDina,IT,67500\nEven,HR,45000\n"
    "Frida,HR,47000\nGeir,IT,58000"
)


@pytest.mark.parametrize(
    ("asked", "answer", "unknown"),
    [
        ("What share of the pay goes to HR?", "24.3 %", []),
        ("What share of the pay goes to Sales?", "26.4 %", []),
        ("What share goes to each?", "IT: 186,500 (49.3 %), Sales: 100,000 (26.4 %), HR: 92,000 (24.3 %)", []),
        ("What share of the pay goes to HR?", "24.8 %", ["24.8"]),
        ("What share of the pay goes to HR?", "26.4 %", ["26.4"]),
        (
            "What share goes to each?",
            "IT: 186,500 (49.3 %), Sales: 100,000 (27.4 %), HR: 92,000 (23.3 %)",
            ["27.4", "23.3"],
        ),
    ],
)
@pytest.mark.parametrize("last", ["", "\nTotal,,378500"])
def test_the_share_of_a_named_group_follows_beside_a_total_row_too(
    asked: str, answer: str, unknown: list[str], last: str
) -> None:
    assert unfounded(answer, asked, [f"{PAY}{last}"]) == unknown


SHOPS = {
    "columns": ["shop", "sales", "revenue"],
    "rows": [
        ["Oslo", 50, 96812.5],
        ["Bergen", 45, 70614.32],
        ["Hamar", 48, 85310.0],
        ["Molde", 50, 79792.93],
        ["Bodø", 47, 81350.25],
    ],
}


@pytest.mark.parametrize(
    ("answer", "unknown"),
    [
        ("0.41 million NOK: Oslo 23 %, Hamar 21 %, Bodø 20 %, Molde 19 %, Bergen 17 %.", []),
        ("0.414 million NOK, with Oslo first.", []),
        ("0.43 million NOK: Oslo 23 %, Hamar 21 %, Bodø 20 %, Molde 19 %, Bergen 17 %.", ["0.43"]),
        ("0.41 million NOK", []),
        ("0.4 million NOK", []),
        ("0.45 million NOK", ["0.45"]),
        ("0.23 million NOK", ["0.23"]),
        ("0.39 million NOK: Oslo 23 %, Hamar 21 %, Bodø 20 %, Molde 19 %, Bergen 17 %.", ["0.39"]),
    ],
)
def test_the_sum_of_a_column_may_be_said_in_millions(answer: str, unknown: list[str]) -> None:
    assert unfounded(answer, "What is the total revenue in million NOK?", [SHOPS]) == unknown


MILLIONS = {"columns": ["firm", "m_eur"], "rows": [["Aal", 0.2], ["Bok", 0.15], ["Cod", 0.7], ["Dor", 0.75]]}


@pytest.mark.parametrize(
    "answer", ["0.45 million EUR on average", "1.8 million EUR", "0.35 million EUR of Aal and Bok"]
)
def test_parts_of_a_million_follow_from_a_column_of_millions(answer: str) -> None:
    assert unfounded(answer, "How many million EUR?", [MILLIONS]) == []


def test_the_share_of_two_shops_is_no_sum_in_millions() -> None:
    sums = {"Oslo": 96788.27, "Trondheim": 87912.08, "Troms\u00f8": 81450.33, "Stavanger": 77792.93, "Bergen": 69936.96}
    read = {"columns": ["shop", "r"], "rows": [list(one) for one in sums.items()]}
    asked = "What was the total revenue in million NOK?"
    said = ("0.45 million NOK", "0.41 million NOK", "0.414 million NOK", "The two best make 44.6 %.")
    assert [unfounded(one, asked, [read]) for one in said] == [["0.45"], [], [], []]


AREA_ROWS = [["Bergen", "1 250"], ["Oslo", "2 400"], ["Hamar", "980"], ["Molde", "1 100"], ["Troms\u00f8", "640"]]
AREA_LINES = "shop;m2\n" + "\n".join(map(";".join, AREA_ROWS))


@pytest.mark.parametrize("read", [AREA_LINES, {"columns": ["shop", "m2"], "rows": AREA_ROWS}])
@pytest.mark.parametrize(
    ("answer", "unknown"),
    [
        ("The total area is 6 370 m2.", []),
        ("6370", []),
        ("1,274 m2 on average", []),
        ("The total area is 6 470 m2.", ["6 470"]),
        ("1,574 m2 on average", ["1,574"]),
        ("3,873", ["3,873"]),
    ],
)
def test_sums_of_numbers_with_blanks_in_them_follow(read: Any, answer: str, unknown: list[str]) -> None:
    assert unfounded(answer, "What is the total area?", [read]) == unknown


STARTS = "name,dept,pay,start\nAnna,Sales,52000,2015\nCato,IT,61000,2012\nFrida,HR,47000,2009\nDina,IT,67500,2020"


@pytest.mark.parametrize(
    ("asked", "answer", "unknown"),
    [
        ("How many years has Frida been there today?", "17 years", []),
        ("How many years has Anna been there today?", "11 years", []),
        ("For how many years has the one there longest worked?", "17 years", []),
        ("How many years has Frida been there today?", "19 years", ["19"]),
        ("How many years has Frida been there today?", "14 years", ["14"]),
        ("What does Frida earn?", "17", ["17"]),
    ],
)
def test_the_years_until_today_follow_from_a_column_of_years(asked: str, answer: str, unknown: list[str]) -> None:
    assert unfounded(answer, asked, [STARTS], today="2026-11-30") == unknown


@pytest.mark.parametrize(
    ("answer", "unknown"),
    [
        ("3 and 12 are old.", ["3", "12"]),
        ("It is 2026-12-03.", []),
        ("It is 3 December 2026.", []),
        ("In 2026 all are old.", []),
    ],
)
def test_of_the_date_of_a_run_only_the_year_is_a_number(answer: str, unknown: list[str]) -> None:
    read = ["41 trees, 57 shrubs"]
    assert unfounded(answer, "How is it?", read, today="2026-12-03", wording=False) == unknown


@pytest.mark.parametrize(
    ("answer", "unknown"),
    [
        ("It gives -264 instead of 7.5.", ["-264"]),
        ("It gives \u2212264.", ["-264"]),
        ("from 3-264", ["264"]),
        ("a drop of -25", []),
    ],
)
def test_an_unknown_number_is_named_with_its_sign(answer: str, unknown: list[str]) -> None:
    assert unfounded(answer, "Why?", ["7.5 and 25, 3 of them"]) == unknown
