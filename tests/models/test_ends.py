"""Test ends without a ground, and ends in another form than the one asked for, in the three wire formats."""

from pathlib import Path
from typing import Any

from dialects import DIALECTS, Dialect
from wire_kit import call, ends, played, says

CITIES = "city,country,people\nOslo,Norway,700000\nBergen,Norway,290000\n" + "Rome,Italy,2800000\n" * 40
CHAT = DIALECTS["openai_chat"]
SQL = says(call("table_query", files=["cities.csv"], sql="SELECT sum(people) AS s FROM cities"))
DATES = {"type": "array", "items": {"type": "string", "format": "date"}}


def with_cities(folder: Path, text: str, **more: Any) -> dict[str, Any]:
    (folder / "cities.csv").write_text(CITIES)
    return {"text": text, "files": [folder / "cities.csv"], **more}


async def test_an_enumeration_in_one_text_is_not_a_list_of_one(dialect: Dialect, tmp_path: Path) -> None:
    answers = [ends("2026-02-13, 2026-03-13"), ends(["2026-02-13", "2026-03-13"])]
    outcome, script = await played(tmp_path, dialect, answers, task={"text": "Which days?", "answer": DATES})
    assert (outcome.answer, len(script.asked)) == (["2026-02-13", "2026-03-13"], 2)
    assert "'2026-02-13, 2026-03-13' is not" in script.asked[1].words


async def test_an_enumeration_inside_an_answer_is_not_a_list_of_one(tmp_path: Path) -> None:
    form = {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}
    task = {"text": "Which?", "answer": {**form, "required": ["names"]}}
    answers = [ends({"names": "Oslo; Rome"}), ends({"names": "Oslo"})]
    outcome, script = await played(tmp_path, CHAT, answers, task=task)
    assert (outcome.answer, len(script.asked)) == ({"names": ["Oslo"]}, 2)


async def test_numbers_given_before_any_result_go_back_once(tmp_path: Path) -> None:
    task = with_cities(tmp_path, "How many people live in these cities?")
    wrong = says(call("query_sql", sql="SELECT 1"))
    outcome, script = await played(tmp_path, CHAT, [wrong, ends("16500 and 50"), SQL, ends("112990000")], task=task)
    assert (outcome.answer, len(script.asked)) == ("112990000", 4)
    assert "No function has given a result yet" in script.asked[2].words


async def test_numbers_given_twice_stand(tmp_path: Path) -> None:
    task = with_cities(tmp_path, "How many people live in these cities?")
    outcome, script = await played(tmp_path, CHAT, [ends("16500"), ends("16500")], task=task)
    assert (outcome.answer, len(script.asked)) == ("16500", 2)


async def test_what_the_head_of_a_file_shows_needs_no_call(tmp_path: Path) -> None:
    task = with_cities(tmp_path, "How many rows are there?")
    outcome, script = await played(tmp_path, CHAT, [ends("42 rows")], task=task)
    assert (outcome.answer, len(script.asked)) == ("42 rows", 1)
