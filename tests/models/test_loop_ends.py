"""Test ends as models mean them, in each wire format in turn: other names, one text as evidence, little budget left."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, in_turn
from wire_kit import Question, call, ends, played, says

CITIES = "city,country,people\nOslo,Norway,700000\nBergen,Norway,290000\nRome,Italy,2800000\n"
ROW = "Oslo,Norway,700000"
SUM = call("calculator", expression="6 * 7")
TASK = {"text": "What is 6 * 7?"}
QUERY = call("table_query", files=["cities.csv"], sql="SELECT * FROM cities")


@pytest.fixture
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return in_turn(request.node.name)


def with_cities(folder: Path) -> dict[str, Any]:
    (folder / "cities.csv").write_text(CITIES)
    return {"text": "How many people live in Oslo?", "files": [folder / "cities.csv"]}


@pytest.mark.parametrize(
    "given",
    [
        {"result": "42"},
        {"final_answer": "42", "success": "yes"},
        {"answer": "42", "success": "true", "reasoning": "six times seven", "confidence": 0.9},
        {"answer": "42", "reason": None, "evidence": None},
        {"answer": "42", "success": 1},
    ],
)
async def test_an_end_under_other_names_is_understood(dialect: Dialect, tmp_path: Path, given: dict[str, Any]) -> None:
    outcome, script = await played(tmp_path, dialect, [says(SUM), says(("done", given))], task=TASK)
    assert (outcome.answer, len(script.asked)) == ("42", 2)


@pytest.mark.parametrize(
    ("given", "remark"),
    [({}, "Only a part of it was answered for sure."), ({"doubts": ["One.", "Two."]}, "One. Two.")],
)
async def test_a_partial_success_is_one_with_a_doubt(
    dialect: Dialect, tmp_path: Path, given: dict[str, Any], remark: str
) -> None:
    end = {"answer": "42", "success": "partial", **given}
    outcome, script = await played(tmp_path, dialect, [says(SUM), says(("done", end))], task=TASK)
    assert (outcome.answer, outcome.exit_code, len(script.asked)) == ("42", 0, 2)
    assert outcome.reason == remark


@pytest.mark.parametrize(
    "given",
    [{"result": {"n": "42"}}, {"answer": {"n": 42}, "reasoning": "six times seven"}, {"n": 42, "success": True}],
)
async def test_an_end_in_a_form_is_understood_under_other_names_too(
    dialect: Dialect, tmp_path: Path, given: dict[str, Any]
) -> None:
    form = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    task = {**TASK, "answer": form}
    outcome, script = await played(tmp_path, dialect, [says(SUM), says(("done", given))], task=task)
    assert (outcome.answer, len(script.asked)) == ({"n": 42}, 2)


async def test_what_nothing_is_known_of_is_no_end(dialect: Dialect, tmp_path: Path) -> None:
    odd = says(call("done", answer="42", colour="red"))
    outcome, script = await played(tmp_path, dialect, [says(SUM), odd, ends("42")], task=TASK)
    assert (outcome.answer, len(script.asked)) == ("42", 3)
    assert "colour" in list(script.asked[2].results.values())[-1]


@pytest.mark.parametrize(
    "words",
    [
        '{"answer": "42"}',
        '```json\n{"answer": "42", "success": true, "reason": "", "evidence": []}\n```',
        '<function=done>{"answer": "42"}</function>',
        '<invoke name="done"><parameter name="answer">42</parameter></invoke>',
        "I know it.\n<done><answer>42</answer></done>",
        "<tool_call>\n<function=done>\n<parameter=answer>\n42\n</parameter>\n</function>\n</tool_call>",
    ],
)
async def test_an_end_written_into_words_is_one(dialect: Dialect, tmp_path: Path, words: str) -> None:
    outcome, script = await played(tmp_path, dialect, [says(SUM), Say(text=words)], task=TASK)
    assert (outcome.answer, len(script.asked)) == ("42", 2)


@pytest.mark.parametrize("beside", [{}, {"success": True}, {"answer": "", "evidence": []}, '"42"'])
async def test_an_end_without_words_beside_a_full_one_is_the_same(
    dialect: Dialect, tmp_path: Path, beside: Any
) -> None:
    end = says(("done", beside), ("done", {"answer": "42", "success": True}))
    outcome, script = await played(tmp_path, dialect, [says(SUM), end], task=TASK)
    assert (outcome.answer, len(script.asked)) == ("42", 2)


@pytest.mark.parametrize(
    "words",
    [
        "Thought: I know it.\nFinal Answer: 42",
        "<answer>42</answer>",
        "Six times seven.\n<answer>\n42\n</answer>",
        "\\boxed{42}",
        "So it is $\\boxed{\\text{42}}$.",
        "**Final Answer:** \\boxed{42}",
    ],
)
async def test_an_answer_in_words_is_taken_out_of_its_scaffolding(dialect: Dialect, tmp_path: Path, words: str) -> None:
    outcome, script = await played(tmp_path, dialect, [says(SUM), Say(text=words)], task=TASK)
    assert (outcome.answer, len(script.asked)) == ("42", 2)


async def test_a_sign_of_a_boxed_answer_loses_its_backslash(dialect: Dialect, tmp_path: Path) -> None:
    outcome, _ = await played(tmp_path, dialect, [says(SUM), Say(text="\\boxed{42\\%, 6 \\& 7}")], task=TASK)
    assert outcome.answer == "42%, 6 & 7"


@pytest.mark.parametrize(
    "words", ["\\boxed{6} times \\boxed{7}", "The \\boxed{4}{2}", "`<answer>42</answer>` it is: 42"]
)
async def test_marks_within_an_answer_stay(dialect: Dialect, tmp_path: Path, words: str) -> None:
    outcome, _ = await played(tmp_path, dialect, [says(SUM), Say(text=words)], task=TASK)
    assert outcome.answer == words


async def test_a_mark_that_a_task_names_stays(dialect: Dialect, tmp_path: Path) -> None:
    task = {"text": "What is 6 * 7? Write it as \\boxed{NUMBER}."}
    outcome, _ = await played(tmp_path, dialect, [says(SUM), Say(text="\\boxed{42}")], task=task)
    assert outcome.answer == "\\boxed{42}"


async def test_a_failure_written_into_words_is_one(dialect: Dialect, tmp_path: Path) -> None:
    words = Say(text='{"success": false, "reason": "Nobody can tell."}')
    outcome, _ = await played(tmp_path, dialect, [says(SUM), words], task=TASK)
    assert (outcome.status, outcome.reason) == ("failed", "Nobody can tell.")


async def test_words_in_the_form_of_the_answer_stay_the_answer(dialect: Dialect, tmp_path: Path) -> None:
    form = {"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"]}
    task = {**TASK, "answer": form}
    outcome, _ = await played(tmp_path, dialect, [says(SUM), Say(text='{"answer": 42}')], task=task)
    assert outcome.answer == {"answer": 42}


async def test_the_same_end_twice_in_a_step_is_one_and_two_others_are_none(dialect: Dialect, tmp_path: Path) -> None:
    once, other = call("done", answer="42"), call("done", answer="41")
    outcome, script = await played(tmp_path, dialect, [says(SUM), says(once, once)], task=TASK)
    assert (outcome.answer, len(script.asked)) == ("42", 2)
    outcome, script = await played(tmp_path, dialect, [says(SUM), says(other, once), ends("42")], task=TASK)
    assert (outcome.answer, len(script.asked)) == ("42", 3)
    assert all("different answers" in one for one in list(script.asked[2].results.values())[-2:])


@pytest.mark.parametrize(
    ("given", "source", "quote", "detail"),
    [
        (f"cities.csv: {ROW}", "cities.csv", ROW, ""),
        ([f'"{ROW}" (cities.csv)'], "cities.csv", ROW, ""),
        ("Oslo, Norway: 700,000", "cities.csv", "Oslo, Norway: 700,000", ""),
        ("cities.csv, the row of Oslo", "cities.csv", "", "the row of Oslo"),
        ("table_query on cities.csv", "cities.csv", "", "table_query on"),
        ("Oslo has 700,000 people.", "cities.csv", "", "Oslo has 700,000 people."),
        (f"cities.csv, line 2: {ROW}", "cities.csv", ROW, "line 2"),
        ("cities.csv (rows 1-3)", "cities.csv", "", "rows 1-3"),
        ([{"source": "cities.csv, row 1", "quote": ROW}], "cities.csv", ROW, "row 1"),
        ([{"source": "cities.csv", "detail": "row 1", "doubt": ""}], "cities.csv", "", "row 1"),
        ([{"file": "cities.csv", "text": ROW, "row": 1}], "cities.csv", ROW, "row 1"),
    ],
)
async def test_evidence_given_as_one_text_costs_no_question(
    dialect: Dialect, tmp_path: Path, given: Any, source: str, quote: str, detail: str
) -> None:
    answers = [says(QUERY), ends("700000", evidence=given)]
    outcome, script = await played(tmp_path, dialect, answers, task=with_cities(tmp_path))
    assert (outcome.answer, len(script.asked)) == ("700000", 2)
    (found,) = outcome.evidence
    assert (found.source, found.quote, found.detail, found.doubt) == (source, quote, detail, "")


@pytest.mark.parametrize(
    "written",
    [
        '{"path": "a.txt", "find": "the\nkey"}',
        '```json\n{"path": "a.txt", "find": "the key"}\n```',
        '{"path": "a.txt", "find": "the key",}',
        "{'path': 'a.txt', 'find': 'the key'}",
    ],
)
async def test_arguments_that_are_nearly_json_are_understood(tmp_path: Path, written: str) -> None:
    (tmp_path / "a.txt").write_text("nothing\n\n" * 200 + "the key is 17\n")
    task = {"text": "What is the key?", "files": [tmp_path / "a.txt"]}
    for dialect in (DIALECTS["openai_chat"], DIALECTS["openai_responses"]):  # the other one takes objects
        outcome, script = await played(tmp_path, dialect, [says(("read_file", written)), ends("17")], task=task)
        assert (outcome.answer, len(script.asked)) == ("17", 2)
        assert "the key is 17" in list(script.asked[1].results.values())[-1]


@pytest.mark.parametrize(
    "written",
    [
        "{'path': 'a.txt', 'path': 'b.txt'}",
        "{'path': {'a.txt'}}",
        "{'path': b'a.txt'}",
        "{'path': open('a.txt')}",
        "{1: 2}",
    ],
)
async def test_arguments_of_more_than_one_meaning_are_refused(tmp_path: Path, written: str) -> None:
    (tmp_path / "a.txt").write_text("the key is 17\n")
    task = {"text": "What is the key?", "files": [tmp_path / "a.txt"]}
    turns = [says(("read_file", written)), ends("17")]
    _, script = await played(tmp_path, DIALECTS["openai_chat"], turns, task=task)
    assert "not a JSON object" in list(script.asked[1].results.values())[-1]


@pytest.mark.parametrize(
    "half", ['{"answer": "42", "success": tr', '```json\n{"answer": "42"', '{"city": {"name": "Oslo"}']
)
async def test_half_of_an_object_is_no_answer_however_it_ends(dialect: Dialect, tmp_path: Path, half: str) -> None:
    outcome, script = await played(tmp_path, dialect, [says(SUM), Say(text=half), ends("42")], task=TASK)
    assert (outcome.answer, len(script.asked)) == ("42", 3)
    assert "The JSON of the answer cannot be read" in script.asked[2].words


async def test_the_last_day_of_a_column_shown_whole_is_known(dialect: Dialect, tmp_path: Path) -> None:
    rows = [f"2026-03-{1 + number % 9:02},{number}" for number in range(80)]
    (tmp_path / "days.csv").write_text("\n".join(["day,n", *rows]))
    task = {"text": "What is the last day?", "files": [tmp_path / "days.csv"]}
    outcome, script = await played(tmp_path, dialect, [ends("2026-03-09")], task=task)
    assert (outcome.answer, len(script.asked)) == ("2026-03-09", 1)


@pytest.mark.parametrize("given", ["cities.csv: Oslo,Norway,987654", "census.csv", "The census of the county."])
async def test_evidence_given_as_one_text_is_checked_as_any_other(dialect: Dialect, tmp_path: Path, given: str) -> None:
    answers = [says(QUERY), *[ends("700000", evidence=given)] * 2]
    outcome, script = await played(tmp_path, dialect, answers, task=with_cities(tmp_path))
    assert (outcome.answer, outcome.exit_code, len(script.asked)) == ("700000", 0, 3)
    assert all(one.doubt for one in outcome.evidence)


@pytest.mark.parametrize("quote", ["", ROW])
async def test_evidence_of_no_file_goes_back_once_and_is_marked(dialect: Dialect, tmp_path: Path, quote: str) -> None:
    wrong = ends("700000", evidence=[{"source": "census.csv", "quote": quote}])
    outcome, script = await played(tmp_path, dialect, [says(QUERY), wrong, wrong], task=with_cities(tmp_path))
    assert (outcome.answer, outcome.exit_code, len(script.asked)) == ("700000", 0, 3)
    assert [one.doubt for one in outcome.evidence] == ["there is no file 'census.csv' in the workspace"]


@pytest.mark.parametrize("at", [1, 3])
@pytest.mark.parametrize("tokens", [6_000, 10_000, 16_000])
async def test_a_large_result_leaves_enough_for_the_last_question(
    dialect: Dialect, tmp_path: Path, tokens: int, at: int
) -> None:
    def model(question: Question) -> Say:
        if "This is the last question" in question.words:
            return ends("my best")
        if question.number == at:
            return says(call("read_file", path="long.txt", lines=2_000))
        return says(call("calculator", expression=f"{question.number} + 1"))

    (tmp_path / "long.txt").write_text("\n".join(f"line {number:04} of a long text" for number in range(3_000)))
    task = {"text": "Read it.", "files": [tmp_path / "long.txt"], "budget": {"tokens": tokens}}
    outcome, script = await played(tmp_path, dialect, model, task=task)
    assert (outcome.answer, outcome.exit_code) == ("my best", 0)
    assert "line 0009" in list(script.asked[at].results.values())[-1]


@pytest.mark.parametrize("tokens", [1_900, 2_200])
async def test_a_budget_too_small_for_a_usual_question_ends_with_a_short_one(
    dialect: Dialect, tmp_path: Path, tokens: int
) -> None:
    def model(question: Question) -> Say:
        return ends("700000") if "This is the last question" in question.words else says(QUERY)

    task = {**with_cities(tmp_path), "budget": {"tokens": tokens}}
    outcome, script = await played(tmp_path, dialect, model, task=task)
    assert (outcome.answer, outcome.exit_code) == ("700000", 0)
    assert (len(script.asked), script.asked[-1].functions) == (2, ["done"])
    assert "How many people live in Oslo?" in script.asked[-1].words
    assert ROW in script.asked[-1].words
    assert outcome.cost.tokens <= tokens


@pytest.mark.parametrize(("tokens", "least"), [(5_000, 3), (9_000, 5)])
async def test_of_a_small_budget_only_a_short_last_question_is_kept_back(
    dialect: Dialect, tmp_path: Path, tokens: int, least: int
) -> None:
    used = {"input": 1_000, "cached": 0, "output": 20, "thought": 0}

    def model(question: Question) -> Say:
        if "This is the last question" in question.words:
            return replace(ends("700000", doubts="As of 2026."), tokens=used)
        sql = f"SELECT *, {question.number} FROM cities LIMIT 5"
        return replace(says(call("table_query", files=["cities.csv"], sql=sql)), tokens=used)

    task = {**with_cities(tmp_path), "budget": {"tokens": tokens}}
    outcome, script = await played(tmp_path, dialect, model, task=task)
    assert (outcome.answer, outcome.exit_code) == ("700000", 0)
    assert len(script.asked) >= least
    assert tokens - 2_500 <= outcome.cost.tokens <= tokens
    assert "allowed no further question" in outcome.reason


async def test_a_budget_that_ends_before_any_result_asks_no_short_question(dialect: Dialect, tmp_path: Path) -> None:
    task = {**with_cities(tmp_path), "budget": {"tokens": 700}}
    outcome, script = await played(tmp_path, dialect, [ends("700000")], task=task)
    assert (outcome.exit_code, len(script.asked)) == (5, 0)


async def test_heads_in_other_scripts_are_no_longer_than_others(dialect: Dialect, tmp_path: Path) -> None:
    line = "\u8fd9\u662f\u4e00\u884c\u4e2d\u6587\u6587\u5b57" * 20
    for number in range(12):
        (tmp_path / f"{number}.txt").write_text("\n".join([line] * 40))
    (tmp_path / "12.csv").write_text(",".join(f"{line[:9]}{at}" for at in range(60)) + f"\n{line[:5]}" * 20)
    task = {"text": "What is it?", "files": [tmp_path / "12.csv", *(tmp_path / f"{one}.txt" for one in range(12))]}
    answers = [ends("", success=False, reason="Nobody can tell.")]
    _, script = await played(tmp_path, dialect, answers, task=task)
    heads = script.asked[0].words.partition("12.csv: table")[2].partition("Today is")[0]
    assert "11.txt: text" in heads
    assert len(heads.encode()) <= 6_200
