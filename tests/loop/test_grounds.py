"""Test what an answer rests on: results, what heads of files tell for sure, and arithmetic."""

import time
from collections.abc import AsyncIterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, observations, step, sum_of, told

from tea.loop.checks import standing_in
from tea.loop.grounds import Grounds, narrowed
from tea.loop.numbers import numbers_following, unfounded
from tea.loop.opening import Head
from tea.loop.shown import Listed

pytestmark = pytest.mark.asyncio(loop_scope="module")

CODES = ("DL", "UA", "B6", "EV", "AA", "MQ", "US", "WN", "VX", "FL", "AS", "F9")
FLIGHTS = "year,month,carrier,origin,delay\n" + "".join(
    f"2013,{(1, 6, 12)[n % 3]},{CODES[n * n % 12]},{('EWR', 'JFK', 'LGA')[n % 3]},{n * 37 % 401}\n" for n in range(600)
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open() as stage:
        yield stage


@pytest.fixture
def flights(tmp_path: Path) -> Path:
    (tmp_path / "flights.csv").write_text(FLIGHTS)
    return tmp_path / "flights.csv"


def query(sql: str) -> tuple[str, dict[str, Any]]:
    return "table_query", {"files": ["flights.csv"], "sql": sql}


TARGETS = {
    "columns": ["store", "h1", "h2", "next_h1", "next_h2"],
    "rows": [
        *(
            ["Aarhus", 8000, 9000, 12000, 5000],
            ["Bergen", 13000, 8000, 13000, 4000],
            ["Lyon", 6000, 10000, 12000, 6000],
        ),
        *(["Porto", 14000, 10000, 11000, 6000], ["Graz", 4000, 9000, 7000, 14000]),
    ],
}


@pytest.mark.parametrize(("share", "unknown"), [("28.0", []), ("57.3", ["57.3"])])
async def test_a_share_of_two_numbers_that_an_answer_shows_follows(share: str, unknown: list[str]) -> None:
    task = "By how much percent did revenue in 2023 miss the target for the year 2023? Give one decimal."
    revenue = {"columns": ["revenue", "n"], "rows": [[65557.618924, 233]]}
    words = "The total 2023 target is 91,000 EUR (45,000 + 46,000) and the revenue is 65,557.62 EUR, so it missed it by"
    assert unfounded(f"{words} {share}%.", task, [revenue, TARGETS]) == unknown


@pytest.mark.parametrize(
    ("answer", "unknown"),
    [
        ("The price explains 44% of the variance (r² = 0.44).", []),
        ("The price explains 34% of the variance (r² = 0.34).", ["34", "0.34"]),
        ("Of all orders 44% are from the north.", ["44"]),
    ],
)
async def test_the_square_of_a_correlation_follows(answer: str, unknown: list[str]) -> None:
    task = "How far does the price tell the units?"
    assert unfounded(answer, task, [{"columns": ["r"], "rows": [[-0.666]]}]) == unknown


async def test_a_year_before_a_number_is_no_part_of_it() -> None:
    assert (
        unfounded("In 2013 828.0 mm fell.", "How much?", [{"rows": [[2013, "a", 828.0, 3], [2014, "b", 9.5, 4]]}]) == []
    )
    assert unfounded("It was 12 345 678 in all.", "How much?", [{"rows": [[12345678, 3], [4, 5]]}]) == []


@pytest.mark.parametrize(
    ("answer", "unknown"),
    [
        ('The averages:\n```json\n{"north": 71.41, "south": 169.67}\n```\nNote: nobody is left out.', ["169.67"]),
        ('```\n[{"north": 71.41}, {"south": 169.67}]\n```', ["169.67"]),
        ("```csv\narea,mean\nnorth,71.41\nsouth,169.67\n```", ["169.67"]),
        ('The mean:\n```python\nprint(4711 / 66)\n```\n```json\n{"north": 71.41}\n```', []),
        ('```json\n{"north": 71.41}\n```\nby\n```python\nprint(4711 / 66)\n```', []),
    ],
)
async def test_values_in_a_fence_are_checked_and_code_in_one_is_not(answer: str, unknown: list[str]) -> None:
    read = {"columns": ["area", "mean"], "rows": [["north", 71.41], ["south", 196.666666667]]}
    assert unfounded(answer, "What is the average of each area?", [read]) == unknown


ORDERS = """orders.csv: table, 281 bytes
table: orders, rows: 9, all of them
order,customer,city,date,amount
1,C01,Porto,2025-01-03,120.5
2,C02,Lisboa,2025-01-09,80.0
3,C01,Porto,2025-02-11,45.25
4,C03,Braga,2025-02-28,300.0
5,C04,Porto,2025-03-02,19.99
6,C02,Lisboa,2025-03-15,210.0
7,C05,Faro,2025-03-16,75.5
8,C03,Braga,2025-04-01,NULL
9,C01,Porto,2025-04-20,99.9"""


@pytest.mark.parametrize(
    ("amount", "unknown"),
    [("201.00", ["201.00"]), ("210.00", []), ("201", ["201"]), ("290", []), ("290.00", [])],
)
async def test_sums_of_a_named_group_follow_and_zeros_behind_a_point_make_no_number_exact(
    amount: str, unknown: list[str]
) -> None:
    assert unfounded(f"C02 was the best-selling customer with {amount}.", "Who sold best?", [ORDERS]) == unknown


async def test_the_sums_of_all_named_groups_follow() -> None:
    totals = {"C01": "265.65", "C02": "290", "C03": "300", "C04": "19.99", "C05": "75.50"}
    orders = {"C01": 3, "C02": 2, "C03": 2, "C04": 1, "C05": 1}
    answer = [{"customer": one, "orders": orders[one], "total": totals[one]} for one in totals]
    assert unfounded(answer, "For each customer give the number of orders and the total.", [ORDERS]) == []


@pytest.mark.parametrize(("answer", "unknown"), [(2, []), ("2", []), ("1 is not valid", []), (7, ["7"])])
async def test_a_count_of_equal_results_follows(answer: Any, unknown: list[str]) -> None:
    assert unfounded(answer, "How many companies have a valid number?", [True, False, True, {"rows": []}]) == unknown


async def test_an_unknown_date_is_named_as_a_whole() -> None:
    assert unfounded("He left on 1845-07-14.", "When?", [{"rows": [[7, 14, "x"]]}]) == ["1845-07-14"]
    assert unfounded("He left on 14 July 1845.", "When?", [{"rows": [["Tyler", "1845-07-14"]]}]) == []


@pytest.mark.parametrize("answer", ["DL", "Delta (DL) has most of them.", {"carrier": "DL"}, "JFK", 37])
async def test_an_example_of_a_head_is_no_answer_until_it_is_given_again(
    stage: Stage, flights: Path, answer: Any
) -> None:
    end = step(done(answer))
    outcome, model = await stage.play(end, end, task="Which has most delays?", files=[flights])
    words = "does not tell these numbers for sure: 37." if answer == 37 else "head of a file shows it"
    assert words in str(told(model.requests[1]))
    assert (outcome.ok, outcome.answer, len(model.requests)) == (True, answer, 2)


@pytest.mark.parametrize("evidence", [[], [{"source": "flights.csv"}]])
async def test_a_doubt_that_an_answer_was_given_in_spite_of_is_kept(
    stage: Stage, flights: Path, evidence: list[dict[str, str]]
) -> None:
    end = step(done("DL", evidence=evidence))
    outcome, _ = await stage.play(end, end, task="Which has most delays?", files=[flights])
    assert outcome.ok
    assert any("only the head of a file shows DL" in one.doubt for one in outcome.evidence)
    rows, wrong = step(query("SELECT carrier, delay FROM flights LIMIT 3")), step(done(91234, evidence=evidence))
    outcome, _ = await stage.play(rows, wrong, wrong, task="How many minutes in all?", files=[flights])
    assert any("91234 stands in no result" in one.doubt for one in outcome.evidence)
    asked = step(query("SELECT sum(delay) FROM flights"))
    outcome, _ = await stage.play(rows, wrong, asked, step(done(sum_of_delays())), task="In all?", files=[flights])
    assert not any(one.doubt for one in outcome.evidence)


def sum_of_delays() -> int:
    return sum(n * 37 % 401 for n in range(600))


async def test_an_example_of_a_description_is_no_answer_either_and_a_result_confirms_it(
    stage: Stage, flights: Path
) -> None:
    look, end = step(("table_query", {"files": ["flights.csv"]})), step(done("DL"))
    ask = step(query("SELECT carrier FROM flights GROUP BY carrier ORDER BY count(*) DESC LIMIT 1"))
    _, model = await stage.play(look, end, end, task="Which has most delays?", files=[flights])
    assert len(model.requests) == 3
    found = step(done("DL", evidence=[{"source": "flights.csv", "quote": "DL"}]))
    sure = step(query("SELECT carrier FROM flights WHERE carrier = 'DL' LIMIT 1"))
    _, model = await stage.play(ask, sure, found, task="Which has most delays?", files=[flights])
    assert len(model.requests) == 3


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("600", [{"source": "flights.csv"}]),
        (600, [{"source": "flights.csv", "quote": "600 rows"}]),
        ("It has 5 columns: year, month, carrier, origin and delay.", [{"source": "flights.csv"}]),
        (
            ["year", "month", "carrier", "origin", "delay"],
            [{"source": "flights.csv", "quote": "year, month, carrier, origin, delay"}],
        ),
        ("EWR, JFK and LGA", [{"source": "flights.csv"}]),
        ("2013", [{"source": "flights.csv"}]),
        ("12", [{"source": "flights.csv", "quote": "1 to 12"}]),
        (1, [{"source": "flights.csv"}]),
        ("5", [{"source": "flights.csv", "quote": "5 columns"}]),
    ],
)
async def test_what_a_head_tells_for_sure_costs_no_further_question(
    stage: Stage, flights: Path, answer: Any, evidence: list[Any]
) -> None:
    outcome, model = await stage.play(step(done(answer, evidence=evidence)), task="What is there?", files=[flights])
    assert (outcome.ok, len(model.requests), [one.doubt for one in outcome.evidence]) == (True, 1, [""])


async def test_words_of_what_a_head_tells_end_at_once(stage: Stage, flights: Path) -> None:
    text = "The columns are year, month, carrier, origin and delay."
    outcome, model = await stage.play(text, task="Which columns are there?", files=[flights])
    assert (outcome.answer, len(model.requests)) == (text, 1)


@pytest.mark.parametrize(("year", "asked"), [("2025", 2), ("2024", 3)])
async def test_the_year_of_all_days_in_a_head_is_known(stage: Stage, tmp_path: Path, year: str, asked: int) -> None:
    rows = "".join(f"2025-{n % 3 + 7:02}-{n % 5 + 1:02},{n}\n" for n in range(600))
    (tmp_path / "flights.csv").write_text(f"date,delay\n{rows}")
    end = step(done(f"July {year}: 59,700"))
    look = step(query("SELECT strftime('%m', date) AS m, sum(delay) AS d FROM flights WHERE m = '07'"))
    _, model = await stage.play(look, end, end, task="Its delays in July?", files=[tmp_path / "flights.csv"])
    assert len(model.requests) == asked


@pytest.mark.parametrize("agent", ["planner", "analyzer"])
async def test_a_typed_answer_out_of_nothing_over_two_files_is_asked_about(
    stage: Stage, flights: Path, agent: str
) -> None:
    small = flights.with_name("rates.csv")
    small.write_text("city,rate\nOslo,250\nBergen,310\nBodo,275\n")
    form = {
        "type": "object",
        "properties": {"carrier": {"type": "string"}, "total": {"type": "integer"}},
        "required": ["carrier", "total"],
        "additionalProperties": False,
    }
    end = step(done({"carrier": "DL", "total": 853}))
    files = [flights, small]
    outcome, model = await stage.play(end, end, task="Total?", files=files, answer=form, agent=agent)
    problem = observations(model.requests[1])[0]["calls"][0]["error"]["problem"]
    assert ("853" in problem, "'DL'" in problem) == (True, True)
    assert (outcome.ok, len(model.requests)) == (True, 2)


async def test_a_wrong_sum_beside_right_results_is_asked_about_with_all_else_at_once(
    stage: Stage, flights: Path
) -> None:
    calls = step(sum_of("41230 + 1"), sum_of("58910 + 1"), ("plan", {"items": [{"item": "check"}]}))
    end = step(done("Together 100,241 (41,231 and 58,911)."))
    outcome, model = await stage.play(calls, end, end, task="Both?")
    problem = observations(model.requests[2])[-1]["calls"][0]["error"]["problem"]
    assert "no result, and follow from none by simple arithmetic: 100,241." in problem
    assert "open: check" in problem
    assert (outcome.ok, len(model.requests)) == (True, 3)
    right = step(done("Together 100,142 (41,231 and 58,911)."))
    _, model = await stage.play(step(sum_of("41230 + 1"), sum_of("58910 + 1")), right, task="Both?")
    assert len(model.requests) == 2


RAIN = "station,rain_mm\n" + "".join(f"{name},{n}\n" for n in (101.5, 240.25, 532.25) for name in ("Cedar", "Elm"))


async def test_a_number_written_into_a_file_is_not_shown_by_it(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "rain.csv").write_text(RAIN)
    ask = ("table_query", {"files": ["rain.csv"], "sql": "SELECT sum(rain_mm) AS s FROM rain WHERE station = 'Cedar'"})
    write, back = (("workspace_write", {"name": "rain.md", "text": "Cedar: 847.0"}), ("read_file", {"path": "rain.md"}))
    task, files = "What is the rain of Cedar? Write it to rain.md, too.", [tmp_path / "rain.csv"]
    ends = (step(done("847.0")), step(("workspace_write", {"name": "rain.md", "text": "Cedar: 874.0"}), done("874.0")))
    outcome, model = await stage.play(
        step(ask), step(write), step(back), *ends, step(done("874.0")), task=task, files=files
    )
    problem = observations(model.requests[4])[-1]["calls"][0]["error"]["problem"]
    assert "simple arithmetic: 847.0 (a result holds 874.0)." in problem
    assert "a file that you wrote" in problem
    assert "'rain.md': 847.0 (a result holds 874.0)" in problem
    assert (outcome.answer, [one.doubt for one in outcome.evidence if one.doubt]) == ("874.0", [])


async def test_numbers_of_a_written_file_are_asked_about_once_and_then_doubted(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "rain.csv").write_text(RAIN)
    ask = (
        "table_query",
        {"files": ["rain.csv"], "sql": "SELECT station, sum(rain_mm) AS s FROM rain GROUP BY station"},
    )
    write = ("workspace_write", {"name": "rain.md", "text": "# Rain in 2 stations\n\n1. Cedar: 847.0 mm"})
    end = step(done("It is written to rain.md."))
    task, files = "Write the rain of each station to rain.md.", [tmp_path / "rain.csv"]
    outcome, model = await stage.play(step(ask), step(write), end, end, task=task, files=files)
    assert (outcome.ok, len(model.requests)) == (True, 4)
    assert [(one.source, one.doubt[:24]) for one in outcome.evidence if one.doubt] == [
        ("rain.md", "847.0 stands in no resul")
    ]
    right = ("workspace_write", {"name": "rain.md", "text": "Cedar: 874.0 mm"})
    outcome, model = await stage.play(step(ask), step(right), end, task=task, files=files)
    assert (outcome.ok, len(model.requests)) == (True, 3)


async def test_numbers_of_a_file_made_up_for_its_task_are_its_own(stage: Stage) -> None:
    write = ("workspace_write", {"name": "sample.csv", "text": "name,age\nAda,37\nBo,41\n"})
    outcome, model = await stage.play(step(write), step(done("Two rows, aged 37 and 41.")), task="Make a sample.csv.")
    assert (outcome.ok, len(model.requests)) == (True, 2)


ROWS = {"columns": ["town", "n", "m"], "rows": [["Vik", 120, 3.5], ["Holm", 340, 4.25], ["Oster", 275, 8]]}
TEXT = "The bridge was built in 1871 and closed in 1994; in 12 years 1,204 boats passed, 38 % of them at night."


TOWNS = "town,county,before,after\n" + "\n".join(
    f"{name},{county},{before},{after}"
    for name, county, before, after in [
        ("Alder", "Marsh", 12400, 15100), ("Bexwell", "Marsh", 8300, 8200), ("Corran", "Hill", 22150, 25980),
        ("Dunmere", "Hill", 5400, 4900), ("Esk", "Lake", 17800, 19250), ("Farleigh", "Lake", 3100, 3350),
        ("Garrow", "Coast", 40200, 47115), ("Holt", "Coast", 9900, 10450),
    ]
)  # fmt: skip
TERMS = {"columns": ["name", "since"], "rows": [["Lind", "2018-01-10"], ["Zhang", "2020-02-20"]]}
OPENED = "It was opened on 14 September 1874. The ferry ceased on November 2nd, 1876."


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("7,465 people", [TOWNS]),
        ("Town 17 grew by 7,887", [{"rows": [[n, 1000 + n * n * 37, 1101 + n * n * 64 - n] for n in range(30)]}]),
        ("771 days", [TERMS]),
        ("780 days, 111 weeks", [OPENED]),
        ("735 in all, 245 on average, Holm alone 46 %", [ROWS]),
        ("46.26", [ROWS]),
        (0.4626, [ROWS]),
        ("Vik and Holm: 460; 220 more than Vik", [ROWS]),
        ("2.8 times as many", [ROWS]),
        ("about 700", [ROWS]),
        ("three towns, 2 of them above 200", [ROWS, {"rows": [[200]]}]),
        ("735,0", [ROWS]),
        ({"town": "Holm", "confidence": 91}, [ROWS]),
        ("For 41 marks, a profit of 14", ["Aldous sold it for forty-one marks.", "He took fifty-five marks for it."]),
        ("It stood 123 years", [TEXT]),
        ("1204 boats, 458 of them at night", [TEXT]),
        ("14:05 h", [845]),
        ("14.08 hours", [845]),
        ("2.3 million", [2_345_678]),
        ("1.234,5 kg", [1234.5]),
        ("17 %", [0.1704]),
        ("grew by 183 %", [ROWS]),
        ("as in [2](http://example.org/2024/77), section 4.1.7", [ROWS]),
        ([1, 2, 3], [ROWS]),
        ("A 5-row summary", ["one two three four five"]),
        ("3fa9c2d1", [ROWS]),
        ("6.2e23", [ROWS]),
        (float("inf"), [ROWS]),
        ("", [ROWS]),
    ],
)
async def test_numbers_that_follow_from_results_are_known(answer: Any, read: list[Any]) -> None:
    assert unfounded(answer, "", read) == []


@pytest.mark.parametrize(
    ("answer", "read", "found"),
    [
        ("745 in all", [ROWS], ["745"]),
        ("7,645 people", [TOWNS], ["7,645"]),
        ("717 days", [TERMS], ["717"]),
        ("790 days", [OPENED], ["790"]),
        ({"sum": 836, "of": 3}, [ROWS], ["836"]),
        ("736", [ROWS], ["736"]),
        ("It stood 132 years", [TEXT], ["132"]),
        ("8", [7], ["8"]),
        ("1,305 boats", [TEXT], ["1,305"]),
    ],
)
async def test_numbers_that_follow_from_nothing_are_named(answer: Any, read: list[Any], found: list[str]) -> None:
    assert unfounded(answer, "", read) == found


NOTES = "Field notes\n\nThe wind came from Bergen on the first day.\n" + "".join(
    f"On day {n} we walked on and saw little that is worth a line of its own here.\n" for n in range(2, 90)
)


async def test_a_guess_from_the_first_lines_of_prose_is_asked_about_once(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(NOTES)
    end = step(done("Bergen"))
    outcome, model = await stage.play(
        end, end, task="Where did the wind mostly come from?", files=[tmp_path / "notes.txt"]
    )
    problem = observations(model.requests[1])[0]["calls"][0]["error"]["problem"]
    assert "only the first lines of notes.txt were shown" in problem
    assert (outcome.ok, len(model.requests)) == (True, 2)


async def test_a_passage_quoted_from_the_first_lines_of_prose_is_taken_at_once(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(NOTES)
    evidence = [{"source": "notes.txt", "quote": "The wind came from Bergen on the first day."}]
    task = "Where did the wind come from on the first day?"
    outcome, model = await stage.play(
        step(done("Bergen", evidence=evidence)), task=task, files=[tmp_path / "notes.txt"]
    )
    assert (outcome.ok, len(model.requests), [one.doubt for one in outcome.evidence]) == (True, 1, [""])


async def test_a_parameter_named_as_in_another_function_is_understood_once_and_recorded(
    stage: Stage, flights: Path
) -> None:
    look = step(("table_query", {"path": "flights.csv", "query": "SELECT count(*) FROM flights"}))
    outcome, model = await stage.play(look, step(done("600")), task="How many?", files=[flights])
    assert (observations(model.requests[1])[0]["calls"][0]["ok"], len(model.requests)) == (True, 2)
    begun = [one.data["data"] for one in stage.tea.tracer.records(outcome.run) if one.kind == "start"]
    (call,) = [one for one in begun if "given" in one]
    assert (sorted(call["given"]), sorted(call["arguments"])) == (["path", "query"], ["files", "sql"])


async def test_files_left_out_of_a_query_are_those_that_it_names(stage: Stage, flights: Path) -> None:
    other = flights.with_name("rates 1.csv")
    other.write_text("city,rate\nOslo,250\n")
    for sql, files in (("SELECT count(*) FROM flights", ["flights.csv"]), ("SELECT * FROM rates_1", ["rates 1.csv"])):
        look = step(("table_query", {"sql": sql}))
        outcome, model = await stage.play(look, step(done("600")), task="How many?", files=[flights, other])
        assert observations(model.requests[1])[0]["calls"][0]["ok"]
        begun = [one.data["data"] for one in stage.tea.tracer.records(outcome.run) if one.kind == "start"]
        assert {"files": files, "sql": sql} in [one.get("arguments") for one in begun]
    look = step(("table_query", {"sql": "SELECT 1"}))
    _, model = await stage.play(look, step(done("600")), task="How many?", files=[flights, other])
    assert not observations(model.requests[1])[0]["calls"][0]["ok"]


NUMBERED: dict[str, Any] = {"columns": ["town", "n"], "rows": [[f"Town{n}", n * n % 97 + 3] for n in range(1, 25)]}


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        ("7.7 %", "What share has Town9?"),
        (7.69, "What share has Town9, in percent?"),
        ("Town9 has 84 of 1092, 7.69 percent", ""),
        ("9.1 %", "What share has the largest?"),
        ("24", "How many towns?"),
        (10, "How many have more than 50?"),
        ("11 (46 %) of the 24", "How many have more than 48?"),
        ("45.5 on average, 99 at most", ""),
        ("80 more", "How many more has Town9 than Town1?"),
        ("95.2 % less", "Town1 against Town9?"),
        ("Together 88", "Town1 and Town9?"),
    ],
)
async def test_what_follows_for_what_is_named_is_known(answer: Any, asked: str) -> None:
    assert unfounded(answer, asked, [NUMBERED]) == []


async def test_an_age_in_full_years_is_known() -> None:
    ages = {"rows": [["Roosevelt", 42.88], ["Kennedy", 43.65], ["Taft", 51.2], ["Grant", 46.9]]}
    assert unfounded("Roosevelt, 42 years", "Who was the youngest, and how old?", [ages]) == []
    assert unfounded(42, "How old was the youngest?", [ages]) == []
    assert unfounded("42", "How many metres?", [ages]) == ["42"]
    assert unfounded("Roosevelt, 41 years", "How old was the youngest?", [ages]) == ["41"]


FARES = "Ferry fares\nAdult 7.40\nChild 3.70\nBicycle 3.00\nDog 1.10\nCar 24.80\n"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("2 \u00d7 7.40 + 3.70 + 3 = 21.50", []),
        ("They pay 21.50 euros (2\u00b77.40 + 3.70 + 3.00).", []),
        ("2 x 7.40 + 3.70 + 3 = 22.50", ["22.50"]),
        ("2 x 8.23 + 3.70 + 3 = 23.16", ["8.23", "23.16"]),
        ("21.50", ["21.50"]),
    ],
)
async def test_what_an_answer_works_out_from_known_numbers_is_known(answer: str, found: list[str]) -> None:
    assert unfounded(answer, "What do two adults, a child and a bicycle pay?", [FARES]) == found


async def test_most_random_percentages_and_counts_follow_from_nothing() -> None:
    percentages = [f"{n / 10:.1f}" for n in range(3, 1000, 9)]
    doubted = [one for one in percentages if unfounded(f"{one} %", "What share has Town9?", [NUMBERED])]
    assert len(doubted) >= 0.9 * len(percentages)
    rows = {"rows": [[name, 1000 + 137 * at] for at, name in enumerate("abcdefghijklmnopqrstuvwxyz")]}
    counts = [n for n in range(4, 51) if unfounded(f"There are {n}.", "How many are like c?", [rows])]
    assert len(counts) >= 35


YEARLY = {"columns": ["year", "sales"], "rows": [[2019, 120.5], [2020, 98.2], [2021, 143.7], [2022, 171.3]]}
REGIONS = {
    "columns": ["region", "n", "total"],
    "rows": [["North", 120, 5400.0], ["South", 80, 4400.0], ["East", 45, 9]],
}
BRIDGE = (
    "The bridge is 1,245 m long and was built in 1932 at a cost of $2.3 million. It carries 38,000 vehicles a day, "
    "12 % of them trucks.\nThe tunnel, opened 1987, is 3.1 km long."
)


@pytest.mark.parametrize(
    ("answer", "asked", "read"),
    [
        ("12.4 %", "What was the compound growth rate?", YEARLY),
        ("188.43", "What is 2022 plus 10 %?", YEARLY),
        ("635.1", "What is the total with 19 % of tax?", YEARLY),
        ("31.35", "What is the standard deviation?", YEARLY),
        ("North 45, South 55", "What is the average per item in North and South?", REGIONS),
        ("16.3", "By how many percentage points is the share of North in n larger than that of South?", REGIONS),
        ("55 years", "How old was the bridge when the tunnel opened?", BRIDGE),
        ("2,300,000", "What did it cost in dollars?", BRIDGE),
        ("1,583", "How many vehicles are it an hour?", BRIDGE),
        ("13.87 million", "How many vehicles are it a year?", BRIDGE),
        ("4,085 feet", "How long is the bridge?", BRIDGE),
    ],
)
async def test_what_is_often_computed_of_results_is_known(answer: str, asked: str, read: Any) -> None:
    assert unfounded(answer, asked, [read]) == []


@pytest.mark.parametrize(("answer", "asked"), [("61 years", "How old was it?"), ("2,700,000", "What did it cost?")])
async def test_what_is_often_computed_wrong_is_named(answer: str, asked: str) -> None:
    assert unfounded(answer, asked, [BRIDGE]) == [answer.partition(" ")[0]]


@pytest.mark.parametrize(
    "read", [{"rows": [[10**400, "a"], [3, "b"]]}, "a,1e308\nb,1e308\n", [10**400, 10**90], "1" + "0" * 400]
)
@pytest.mark.parametrize("answer", [10**400, "1" + "0" * 400, 12345.7])
async def test_numbers_too_large_to_calculate_with_are_no_fault_of_a_check(answer: Any, read: Any) -> None:
    assert unfounded(answer, "How many? 1e308 or 2e308", [read]) == ([] if answer == 10**400 else [str(answer)])


async def test_very_many_rows_of_a_result_are_counted_at_once() -> None:
    begun = time.process_time()
    assert unfounded(91234.5, "How many?", ["".join(f"{n},{n * 7}\n" for n in range(50_000))]) == ["91234.5"]
    assert time.process_time() - begun < 10


async def test_many_dates_of_an_answer_are_compared_with_many_known_ones_at_once() -> None:
    days = [str(date(1600, 1, 1) + timedelta(days=day)) for day in range(50_000)]
    begun = time.process_time()
    assert unfounded([*days[:200], "2026-05-03"], "Which days?", [days]) == ["2026-05-03"]
    assert time.process_time() - begun < 10


async def test_a_doubt_about_many_numbers_is_compared_with_many_known_ones_at_once() -> None:
    numbers = [str(1_000_000 + number) for number in range(150)]
    doubt = f"{', '.join(numbers)} stand in no result and follow from none by simple arithmetic"
    begun = time.process_time()
    known = standing_in(" and ".join(map(str, range(100_000))))
    assert narrowed(doubt, "1", f"{numbers[7]} of all", known).startswith(f"{numbers[7]} stands in no result")
    assert narrowed(doubt, "1", " ".join(numbers), known) == doubt
    assert time.process_time() - begun < 10


async def test_words_of_a_guess_are_told_which_of_their_numbers_nothing_shows(stage: Stage, flights: Path) -> None:
    words = "The most delayed one was 1207 minutes late."
    outcome, model = await stage.play(words, step(done("1207")), task="How long was the longest?", files=[flights])
    assert "does not tell these numbers for sure: 1207." in str(told(model.requests[1]))
    assert "say so with `done`" in str(told(model.requests[1]))
    assert outcome.answer == "1207"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("It is 20,300 t, 1,700 t below the 22,000 t of the plan.", ["1,700"]),
        ("It is 20,300 t, 1,600 t below the 22,000 t of the plan.", []),
        ("Of 295 and 162, 35.4 % are in the south, 457 in all.", ["35.4", "457"]),
        ("On 12 May 2023 it had 141, then 162: 21 more, or 14.9 %.", ["21", "14.9"]),
        ("It had 141, then 162: 25 more, or 19 %.", []),
    ],
)
async def test_the_numbers_following_from_two_of_a_text_are_told(answer: str, found: list[str]) -> None:
    text = "First 141 people, then 162, and 295 in the north. It makes 20,300 t of the planned 22,000 t."
    assert sorted(numbers_following(answer, text)) == sorted(found)


@pytest.mark.parametrize(("of", "asked"), [("DL", 0), ("UA", 1)])
async def test_a_number_of_a_solution_of_another_task_is_not_read(
    stage: Stage, flights: Path, of: str, asked: int
) -> None:
    task, solutions = "What is the mean delay of {}? Whole minutes.", stage.tea.libraries["solution"]
    await solutions.register({"name": f"delay_{asked}", "task": task.format("DL"), "content": "6217"})
    outcome, model = await stage.play(*[step(done("6217"))] * 2, task=task.format(of), files=(str(flights),))
    await solutions.deprecate(f"delay_{asked}")
    assert "-> 6217" in str(model.requests[0].variables["memories"])
    assert (outcome.answer, len(model.requests)) == ("6217", 1 + asked)


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        ("From JFK 5 flights were early.", 1),  # the head tells of 5 columns
        (5, 1),
        ({"early": 1, "late": 3}, 1),
        ("JFK is one of 3 origins.", 0),
    ],
)
async def test_no_head_tells_a_number_of_rows_with_one_value_of_several(
    stage: Stage, flights: Path, answer: Any, asked: int
) -> None:
    task = "How is it with flights from JFK?"
    outcome, model = await stage.play(*[step(done(answer))] * 2, task=task, files=[flights])
    assert (outcome.answer, len(model.requests)) == (answer, 1 + asked)


@pytest.mark.parametrize(("city", "number", "known"), [("Braga", 7, False), ("Faro", 7, True), ("Braga", 3, True)])
async def test_a_conversation_tells_numbers_of_the_values_it_names(city: str, number: int, known: bool) -> None:
    head = Head("visits.csv", "", told="rating: 5 values", listed=(Listed(("Braga", "Faro", "Porto"), all=True),))
    spoken = ["Which visits in Faro have no rating?", "Visits 37, 30 and 94 in Faro.", "How many are these?", "3"]
    grounds = Grounds.of(f"And in {city}?", spoken, [head], [], spoken=spoken)
    assert grounds.tells(f"In {city}, {number} visits have no rating.") is known


async def test_words_with_a_number_of_rows_with_one_value_are_asked_about_too(stage: Stage, flights: Path) -> None:
    words = "From JFK 5 flights were early."
    outcome, model = await stage.play(words, step(done(words)), task="How many were early?", files=[flights])
    assert "does not tell these numbers for sure: 5." in told(model.requests[1])
    assert outcome.answer == words
