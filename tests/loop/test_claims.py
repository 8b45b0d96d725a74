"""Test ends with unfounded claims: no answer, steps only announced, missing files."""

import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, observations, step, sum_of, told
from openpyxl import Workbook

from tea.loop.claims import announces, file_names, is_expression, was_shown
from tea.loop.done_arguments import corrected

ROWS = "place,people\n" + "".join(f"town {number},{1000 + 7 * number}\n" for number in range(200))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open() as stage:
        yield stage


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_success_without_an_answer_is_refused_and_an_answer_taken(stage: Stage) -> None:
    outcome, model = await stage.play(step(("done", {})), step(done(" ")), step(done("4")))
    problems = [one["calls"][0]["error"] for one in observations(model.requests[2])]
    assert [one["problem"] for one in problems] == ["`done` came without an answer."] * 2
    assert "give `answer`, or success false with `reason`" in problems[0]["fix"]
    assert (outcome.ok, outcome.answer) == (True, "4")


async def test_a_model_that_gives_no_answer_to_the_end_did_not_succeed(stage: Stage) -> None:
    outcome, _ = await stage.play(*[step(("done", {}))] * 3, budget={"steps": 3})
    assert (outcome.ok, outcome.exit_code) == (False, 5)


async def test_an_empty_text_fits_where_the_form_of_the_answer_has_it(stage: Stage) -> None:
    outcome, _ = await stage.play(step(done("")), answer={"type": "string"})
    assert (outcome.ok, outcome.answer) == (True, "")


async def test_an_announced_step_is_no_answer_at_any_step(stage: Stage) -> None:
    text = "Now I will query the table for the sum of b."
    outcome, model = await stage.play(step(sum_of("3 + 4")), text, "It is 7.")
    assert "this reply calls no function" in told(model.requests[2])
    assert outcome.answer == "It is 7."


@pytest.mark.parametrize(
    "text", ["Let me check the calendar for you.", "I don't have access to the file. Please paste its content here."]
)
async def test_an_announcement_or_a_refusal_said_again_is_a_failure(stage: Stage, text: str) -> None:
    outcome, model = await stage.play(text, text)
    assert (outcome.ok, outcome.answer, outcome.reason, len(model.requests)) == (False, "", text, 2)


@pytest.mark.parametrize("text", ["Let me calculate that.", "I cannot access files."])
async def test_an_end_with_an_announcement_or_a_refusal_is_asked_about_once(stage: Stage, text: str) -> None:
    outcome, model = await stage.play(step(done(text)), step(done("4")))
    (call,) = observations(model.requests[1])[0]["calls"]
    assert "is no answer" in call["error"]["problem"]
    assert (outcome.ok, outcome.answer) == (True, "4")
    outcome, model = await stage.play(step(done(text)), step(done(text)))
    assert (outcome.answer, len(model.requests)) == (text, 2)
    assert "is no answer" in str(outcome.to_json())


@pytest.mark.parametrize(
    "text",
    [
        "Let me double-check the sum with the other order before I answer.",
        "Ich prüfe noch, ob sich die Reihenfolge auswirkt, und rechne dann neu.",
    ],
)
async def test_words_without_a_value_are_asked_about_once_after_each_new_result(stage: Stage, text: str) -> None:
    replies = [step(sum_of("3 + 4")), text, step(sum_of("4 + 3")), text, "It is 7."]
    outcome, model = await stage.play(*replies)
    assert [told(one).count("this reply calls no function") for one in model.requests] == [0, 0, 1, 1, 2]
    assert [one.tool_choice for one in model.requests] == ["auto", "auto", "required", "auto", "required"]
    assert outcome.answer == "It is 7."
    outcome, model = await stage.play(step(sum_of("3 + 4")), "Both are the same.", "Both are the same.")
    assert (outcome.answer, len(model.requests)) == ("Both are the same.", 3)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("Was more than 1000 sold? Answer only yes or no.", "Yes"),
        ("Was it more? Say only 'yes', 'no' or 'unknown'.", "Unknown."),
        ("Mehr als 1000? Antworte nur mit Ja oder Nein.", "Nein"),
        ("Is it true/false?", "**True**"),
    ],
)
async def test_a_choice_given_by_the_task_is_an_answer(stage: Stage, task: str, words: str) -> None:
    outcome, model = await stage.play(step(sum_of("3 + 4")), words, task=task)
    assert (outcome.answer, len(model.requests)) == (words, 2)


@pytest.mark.parametrize("words", ["Yes", "Maybe.", "One or the other"])
async def test_a_word_that_is_no_choice_of_the_task_is_asked_about(stage: Stage, words: str) -> None:
    _, model = await stage.play(step(sum_of("3 + 4")), words, step(done(7)), task="How much is it, more or less?")
    assert "hold nothing of what was read" in told(model.requests[2])


@pytest.mark.parametrize("words", ["I have written the report to `report.md`.", "Der Bericht steht in report.md."])
async def test_words_that_name_the_written_file_are_an_answer(stage: Stage, words: str) -> None:
    write = ("workspace_write", {"name": "report.md", "text": "It is 7."})
    task = "Write a report of the sum into report.md."
    outcome, model = await stage.play(step(sum_of("3 + 4")), step(write), words, task=task)
    assert (outcome.answer, len(model.requests)) == (words, 3)
    _, model = await stage.play(step(sum_of("3 + 4")), words, step(done(7)), step(done(7)), task=task)
    assert "hold nothing of what was read" in told(model.requests[2])


async def test_words_without_a_value_are_asked_about_before_a_first_call_if_a_file_is_shown(
    stage: Stage, tmp_path: Path
) -> None:
    (tmp_path / "small.csv").write_text("place,people\nhill,12\nlake,40\n")
    replies = ["Zuerst sehe ich mir die Tabelle genauer an.", "Am See."]
    _, model = await stage.play(*replies, task="Wo?", files=[tmp_path / "small.csv"])
    assert "hold nothing of what was read" in told(model.requests[1])


async def test_an_action_in_words_is_made(stage: Stage) -> None:
    text = 'Let me add.\n\nAction: calculator\nAction Input: {"expression": "3 + 4"}\nObservation: 8'
    outcome, model = await stage.play(text, "It is 7.")
    assert observations(model.requests[1])[0]["calls"][0]["value"] == 7
    assert outcome.answer == "It is 7."


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("I'll look at the data first.", True),
        ("The file has two sheets. Next, let me open the second one:", True),
        ("Zuerst werde ich die Tabelle lesen.", True),
        ("Let me look at the data. The sum is 42.", False),
        ("The sum is 42. Let me know if you need more.", False),
        ("I will remember that.", False),
        ("Bring a coat, as it will rain.", False),
    ],
)
async def test_announcements_are_told_from_answers(text: str, *, is_one: bool) -> None:
    assert announces(text) is is_one


async def test_evidence_of_a_file_that_does_not_exist_never_passes(stage: Stage) -> None:
    sources = [{"source": "result.csv"}, {"source": "calculator", "quote": "8"}]
    end = step(done("written to result.csv", evidence=sources))
    outcome, model = await stage.play(step(sum_of("3 + 4")), end, end, step(done(7)))
    for number in (1, 2):
        problem = observations(model.requests[3])[number]["calls"][0]["error"]["problem"]
        assert "there is no file 'result.csv' in the workspace" in problem
        assert "the quote '8' does not stand" in problem
    assert (outcome.ok, outcome.answer, outcome.evidence) == (True, 7, ())


async def test_the_last_question_marks_a_file_that_does_not_exist_and_takes_no_success(stage: Stage) -> None:
    end = step(done("written to result.csv", evidence=[{"source": "result.csv"}]))
    outcome, _ = await stage.play(end, end, budget={"steps": 2})
    assert (outcome.ok, outcome.answer) == (False, "written to result.csv")
    assert "no file 'result.csv'" in outcome.reason
    assert [one.doubt for one in outcome.evidence] == ["there is no file 'result.csv' in the workspace"]


async def test_a_file_of_the_task_claimed_by_the_answer_and_never_written_takes_no_success(stage: Stage) -> None:
    task = "Write 3 + 4 into result.csv."
    for end in ("Written to result.csv.", step(done("Written to result.csv."))):
        outcome, model = await stage.play(step(sum_of("3 + 4")), end, end, end, task=task, budget={"steps": 4})
        assert "there is no file 'result.csv' in the workspace" in told(model.requests[2])
        assert "there is no file 'result.csv' in the workspace" in told(model.requests[3])
        assert (outcome.ok, outcome.answer) == (False, "Written to result.csv.")
        assert "no file 'result.csv'" in outcome.reason
        assert [one.doubt for one in outcome.evidence] == ["there is no file 'result.csv' in the workspace"]


async def test_words_that_only_confirm_a_claimed_file_take_no_success(stage: Stage) -> None:
    replies = [step(sum_of("3 + 4")), "It was written to result.csv.", "Yes.", "Yes."]
    outcome, _ = await stage.play(*replies, task="Write 3 + 4 into result.csv.", budget={"steps": 4})
    assert (outcome.ok, outcome.answer) == (False, "It was written to result.csv.")


async def test_a_file_of_the_task_that_was_sought_in_vain_may_be_told_missing(stage: Stage) -> None:
    read = step(("read_file", {"path": "b.csv"}))
    end = step(done("b.csv is missing."))
    outcome, model = await stage.play(read, end, end, task="Which of a.csv and b.csv is missing?")
    assert (outcome.ok, outcome.answer, len(model.requests)) == (True, "b.csv is missing.", 3)


async def test_all_doubts_are_named_at_once(stage: Stage) -> None:
    sources = [{"source": "other.csv"}, {"source": "https://example.org/"}]
    end = step(done("Written to result.csv.", evidence=sources))
    _, model = await stage.play(step(sum_of("3 + 4")), end, step(done(7)), task="Write 3 + 4 into result.csv.")
    problem = observations(model.requests[2])[1]["calls"][0]["error"]["problem"]
    assert "no file 'other.csv'" in problem
    assert "'https://example.org/' was not opened" in problem
    assert "no file 'result.csv'" in problem


async def test_a_file_that_the_run_made_needs_no_opening(stage: Stage) -> None:
    make = step(("shell_bash", {"command": "echo 7 > out.txt; mv out.txt kept.txt"}))
    write = step(("workspace_write", {"name": "kept.txt", "text": "7"}))
    for call in (make, write):
        outcome, _ = await stage.play(call, step(done(7, evidence=[{"source": "kept.txt"}])), task="Keep 7.")
        assert [one.doubt for one in outcome.evidence] == [""]


async def test_a_file_that_was_written_is_no_matter_of_doubt(stage: Stage) -> None:
    write = step(("workspace_write", {"name": "result.csv", "text": "7\n"}))
    end = step(done("Written to result.csv.", evidence=[{"source": "result.csv"}]))
    outcome, model = await stage.play(write, end, task="Write 3 + 4 into result.csv.")
    assert (outcome.ok, len(model.requests)) == (True, 2)
    assert not any(one.doubt for one in outcome.evidence)


async def test_words_that_a_head_shows_end_at_once(stage: Stage, tmp_path: Path) -> None:
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_text("place,people\nhill,12\nlake,40\n")
    large.write_text(ROWS)
    outcome, model = await stage.play("The lake.", task="Where do most live?", files=[small])
    assert (outcome.answer, len(model.requests)) == ("The lake.", 1)
    outcome, model = await stage.play("It has 200 rows.", task="How many rows are there?", files=[large])
    assert (outcome.answer, len(model.requests)) == ("It has 200 rows.", 1)
    outcome, model = await stage.play("On average 85000.", "On average 85000.", task="How many?", files=[large])
    assert "No function has given a result yet" in told(model.requests[1])


async def test_words_about_an_address_that_nobody_read_are_asked_about_once(stage: Stage) -> None:
    task = "What does the room Oak cost on https://example.org/rooms?"
    outcome, model = await stage.play("8.50 an hour", "8.50 an hour", task=task)
    assert "what was shown does not tell these numbers for sure: 8.50" in told(model.requests[1])
    assert (outcome.answer, len(model.requests)) == ("8.50 an hour", 2)


async def test_a_typed_answer_in_a_fence_is_read_and_its_faults_are_those_of_the_value(stage: Stage) -> None:
    form = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    replies = ['```json\n{"n": "many"}\n```', '```json\n{"n": 7}\n```']
    outcome, model = await stage.play(*replies, answer=form)
    assert "'many' is not of type 'integer'" in told(model.requests[1])
    assert (outcome.answer, len(model.requests)) == ({"n": 7}, 2)


async def test_names_of_files_are_told_from_addresses() -> None:
    text = "Write out/result.csv, not https://example.org/a.html or me@example.org; version 3.11 is no file."
    assert file_names(text) == ["out/result.csv"]


async def test_numbers_may_stand_anywhere_and_words_in_the_conversation() -> None:
    assert was_shown("There are 1,200 rows.", "data.csv: 1200 rows", "")
    assert not was_shown("North", "regions: North, South", "")
    assert was_shown("North", "", "person: I live in the North.")


async def test_an_answer_about_the_conversation_holds_words_of_it_and_of_speaking() -> None:
    spoken = "Which city of facts.csv has most schools?\nCove, with many schools"
    assert was_shown("You asked which city of facts.csv has most schools.", "", spoken)
    assert was_shown("Your first question was which city has most schools.", "", spoken)
    assert was_shown("I told you that it is Cove.", "", spoken)
    assert was_shown("Sie haben gefragt: Which city of facts.csv has most schools?", "", spoken)
    assert not was_shown("You asked which city has fewest inhabitants.", "", spoken)
    assert not was_shown("I told you that.", "", spoken)
    assert not was_shown("I wrote it into the file.", "", spoken)


async def test_members_of_a_typed_answer_given_beside_it_and_bare_sources_are_understood(stage: Stage) -> None:
    form = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    end = ("done", {"n": "7", "evidence": "calculator"})
    outcome, _ = await stage.play(step(sum_of("3 + 4")), step(end), answer=form)
    assert (outcome.answer, [one.source for one in outcome.evidence]) == ({"n": 7}, ["calculator"])


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("a b.csv, c.txt; d.xlsx", ["a b.csv", "c.txt", "d.xlsx"]),
        ("the sum, of calculator", ["the sum, of calculator"]),
        (" ", []),
        (
            "http://a.example/r?page=2 and http://a.example/r?page=4.",
            ["http://a.example/r?page=2", "http://a.example/r?page=4"],
        ),
        ("http://a.example/x,y, https://b.example", ["http://a.example/x,y", "https://b.example"]),
        ("http://a.example/x,https://b.example", ["http://a.example/x", "https://b.example"]),
        ("http://a.example/x, as told by https://b.example", ["http://a.example/x, as told by https://b.example"]),
    ],
)
async def test_evidence_in_one_text_is_one_source_for_each_file(text: str, sources: list[str]) -> None:
    for given in (text, [text]) if "://" in text else (text,):
        found = corrected({"properties": {"evidence": {}}}, {"evidence": given}, None)
        assert [one["source"] for one in found["evidence"]] == sources


async def test_members_of_a_typed_answer_that_do_not_fit_are_told_to_go_into_the_answer(stage: Stage) -> None:
    form = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "of": {"type": "string"}},
        "required": ["n", "of"],
        "additionalProperties": False,
    }
    flat = ("done", {"n": 7, "success": True})
    whole = ("done", {"answer": "", "n": "7", "of": "sums"})
    outcome, model = await stage.play(step(flat), step(whole), answer=form)
    error = observations(model.requests[1])[0]["calls"][0]["error"]
    assert "`done` got `n` beside `answer`" in error["problem"]
    assert "'of' is a required property" in error["problem"]
    assert error["fix"] == "put them into `answer`, in the form of the task."
    assert outcome.answer == {"n": 7, "of": "sums"}


async def test_a_name_in_other_letters_is_understood_and_an_odd_one_refused_with_the_nearest(stage: Stage) -> None:
    calls = [("Calculator", {"expression": "3 + 4"}), ("Calculatr!", {"expression": "3 + 4"})]
    _, model = await stage.play(step(*calls), step(done(7)))
    first, second = observations(model.requests[1])[0]["calls"]
    assert first["value"] == 7
    assert "did you mean 'calculator'?" in second["error"]["fix"]


async def test_bad_arguments_are_answered_with_the_parameters(stage: Stage) -> None:
    _, model = await stage.play(step(("fetch_page", {"place": 3})), step(done(7)))
    fix = observations(model.requests[1])[0]["calls"][0]["error"]["fix"]
    parameters = "url (string), needed; question (string); start (integer); find (string)"
    assert fix == f"did you mean 'url'? its parameters are {parameters}."


async def test_a_long_result_is_not_given_twice_while_the_first_stands_in_the_window(
    stage: Stage, tmp_path: Path
) -> None:
    large = tmp_path / "large.csv"
    large.write_text(ROWS)
    query = ("table_query", {"files": ["large.csv"], "sql": "SELECT * FROM large LIMIT 50"})
    _, model = await stage.play(step(query), step(query), step(done(7)), files=[large], task="Look.")
    first, second = (one["calls"][0] for one in observations(model.requests[2]))
    assert (len(first["value"]["rows"]), second["value"]) == (50, None)
    assert "you made this call before as c1_1" in second["note"]


async def test_an_archive_shows_its_short_texts_and_what_it_shows_was_opened(stage: Stage, tmp_path: Path) -> None:
    packed = tmp_path / "bundle.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("staff.csv", "name,age\nAda,36\n")
        archive.writestr("notes.md", "The office moves on 3 May.\n")
    sources = [{"source": "bundle.zip.d/staff.csv"}, {"source": "bundle.zip.d/notes.md", "quote": "3 May"}]
    outcome, model = await stage.play(step(done("Ada", evidence=sources)), files=[packed], task="Who?")
    assert "The office moves on 3 May." in str(model.requests[0].messages)
    assert (len(model.requests), [one.doubt for one in outcome.evidence]) == (1, ["", ""])
    assert outcome.files == ()


async def test_an_unpacked_file_is_named_as_left_by_the_run_once_it_is_changed(stage: Stage, tmp_path: Path) -> None:
    packed = tmp_path / "bundle.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("staff.csv", "name,age\nAda,36\n")
        archive.writestr("notes.md", "The office moves on 3 May.\n")
    change = ("workspace_write", {"name": "bundle.zip.d/staff.csv", "text": "name,age\nAda,37\n"})
    more = ("workspace_write", {"name": "bundle.zip.d/new.csv", "text": "name\n"})
    outcome, _ = await stage.play(step(change, more), step(done("Ada")), files=[packed], task="Make her older.")
    assert outcome.files == ("bundle.zip.d/new.csv", "bundle.zip.d/staff.csv")


async def test_a_sheet_of_one_row_stands_in_the_head_and_the_description(stage: Stage, tmp_path: Path) -> None:
    book = Workbook()
    for number in range(200):
        book.worksheets[0].append(["region", "n"] if not number else ["North", number])
    book.create_sheet("Notes").append(["Regions may be written in small letters."])
    book.save(tmp_path / "orders.xlsx")
    look = step(("table_query", {"files": ["orders.xlsx"]}))
    count = step(("table_query", {"files": ["orders.xlsx"], "sql": "SELECT count(*) FROM orders"}))
    notes = step(("table_query", {"files": ["orders.xlsx"], "sql": "SELECT * FROM Notes"}))
    replies = [look, count, notes, step(done(199))]
    _, model = await stage.play(*replies, files=[tmp_path / "orders.xlsx"], task="How many?")
    line = 'sheet Notes, 1 row: "Regions may be written in small letters."'
    assert line in "\n".join(str(part) for one in model.requests[0].messages for part in one.content)
    described, counted = (one["calls"][0]["value"] for one in observations(model.requests[2]))
    refused = observations(model.requests[3])[2]["calls"][0]["error"]
    assert line in refused["problem"]
    assert described["sheets"] == [line]
    assert counted["rows"] == [[199]]


async def test_words_that_confirm_a_refused_end_stand_for_it(stage: Stage) -> None:
    sources = [{"source": "calculator", "quote": "8"}]
    replies = [step(sum_of("3 + 4")), step(done("The sum is 7.", evidence=sources)), "The answer holds."]
    outcome, model = await stage.play(*replies)
    assert (outcome.ok, outcome.answer, len(model.requests)) == (True, "The sum is 7.", 3)
    assert "does not stand" in outcome.evidence[0].doubt
    assert (await stage.tea.replay(outcome.run)).answer == outcome.answer


async def test_words_that_confirm_others_held_just_before_stand_for_them(stage: Stage) -> None:
    outcome, model = await stage.play(step(sum_of("3 + 4")), "It is 92.", "The answer holds.")
    assert "stand in no result" in told(model.requests[2])
    assert (outcome.answer, len(model.requests)) == ("It is 92.", 3)


async def test_words_that_confirm_an_end_which_can_never_hold_do_not_end_the_task(stage: Stage) -> None:
    replies = [step(sum_of("3 + 4")), step(done("seven")), "The answer holds.", step(done(7))]
    outcome, model = await stage.play(*replies, answer={"type": "integer"})
    assert [one["calls"][0]["ok"] for one in observations(model.requests[3])] == [True, False, False]
    assert outcome.answer == 7


async def test_words_that_name_only_files_and_columns_are_asked_whether_the_task_can_be_done(
    stage: Stage, tmp_path: Path
) -> None:
    (tmp_path / "small.csv").write_text("place,people\nhill,12\nlake,40\n")
    cannot = step(("done", {"success": False, "reason": "there is no income"}))
    replies = ["I cannot determine this: small.csv has only place and people.", cannot]
    outcome, model = await stage.play(*replies, task="What is earned there?", files=[tmp_path / "small.csv"])
    assert "or with success false and the reason if it cannot be found" in told(model.requests[1])
    assert (outcome.ok, outcome.exit_code, outcome.reason) == (False, 1, "there is no income")


@pytest.mark.parametrize("words", ["12*7", "(12 + 9) × 4", "2^10", step(done("12 * 7")), step(done("1,200 + 3"))])
async def test_arithmetic_without_its_value_is_asked_about_once(stage: Stage, words: Any) -> None:
    outcome, model = await stage.play(words, step(done(84)), task="How much is it?")
    assert "is arithmetic, not its value" in told(model.requests[1])
    assert outcome.answer == 84
    outcome, model = await stage.play(words, words, task="How much is it?")
    assert (outcome.ok, len(model.requests)) == (True, 2)


@pytest.mark.parametrize(
    "answer", ["84", "2024-05-01", "3-5", "3/4", "16:9", "+49 30 1234", "-7", "1,200.50", "C++", 84]
)
async def test_numbers_dates_and_ranges_are_no_arithmetic(answer: object) -> None:
    assert not is_expression(answer)


@pytest.mark.parametrize("end", ["It is 92.", step(done("It is 92."))])
async def test_numbers_of_the_last_answer_that_follow_from_nothing_are_marked(stage: Stage, end: Any) -> None:
    outcome, model = await stage.play(step(sum_of("3 + 4")), end, budget={"steps": 2})
    assert (outcome.ok, outcome.answer, len(model.requests)) == (True, "It is 92.", 2)
    assert [one.doubt for one in outcome.evidence] == [
        "92 stands in no result and follows from none by simple arithmetic"
    ]
    several, _ = await stage.play(step(sum_of("3 + 4")), "It is 92 and 815.", budget={"steps": 2})
    assert [one.doubt for one in several.evidence] == [
        "92, 815 stand in no result and follow from none by simple arithmetic"
    ]
    right, _ = await stage.play(step(sum_of("3 + 4")), step(done("It is 7.")), budget={"steps": 2})
    assert right.evidence == ()


@pytest.mark.parametrize("label", ["Final answer: ", "**Final Answer:**\n", "The final answer: "])
async def test_a_label_before_the_answer_is_no_part_of_it(stage: Stage, label: str) -> None:
    outcome, _ = await stage.play(step(sum_of("3 + 4")), f"{label}7 pieces")
    assert outcome.answer == "7 pieces"


async def test_words_without_a_result_are_asked_about_in_one_sentence_once(stage: Stage) -> None:
    replies = [step(("read_file", {"path": "gone.txt"})), "It is 5,321.", step(done("5,321"))]
    _, model = await stage.play(*replies, task="How many?")
    assert told(model.requests[2]).count("No function has given a result yet") == 1


async def test_unknown_numbers_in_words_are_asked_about_like_those_of_done(stage: Stage) -> None:
    _, model = await stage.play(step(sum_of("3 + 4")), "It is 7 of 5321.", step(done("7")), task="How much?")
    remedy = 'Call what tells them; if they are right, call `done` with "The answer holds." to keep the whole answer.'
    assert remedy in told(model.requests[2])


async def test_a_doubted_answer_of_an_agent_is_named_as_such_by_its_numbers_in_this_one(stage: Stage) -> None:
    part = [step(("analyzer", {"task": "Which?"})), step(sum_of("3 + 4")), *2 * [step(done("48.5 and 344 of 209"))]]
    own = [step(sum_of("340 + 4")), *2 * [step(done("48.5 of 344"))], "The answer holds."]
    outcome, model = await stage.play(*part, *own, task="Which?")
    words = told(model.requests[-1])
    assert "The answer of an agent that worked on a part was in doubt: 48.5 stands in no result" in words
    assert "evidence could not" not in words
    (doubt,) = {one.doubt for one in outcome.evidence if one.doubt}
    assert doubt == "48.5 stands in no result and follows from none by simple arithmetic"


CANNOT = "Unfortunately, the profit cannot be determined from this data, since there are no costs."


@pytest.mark.parametrize(
    "words", [CANNOT, "I can't compute it: there are no costs.", "No costs are known, so the profit cannot be given."]
)
async def test_words_about_the_lack_of_an_answer_are_no_answer(stage: Stage, tmp_path: Path, words: str) -> None:
    (tmp_path / "a.csv").write_text("town,n\n" + "".join(f"T{n % 7},{n}\n" for n in range(300)))
    task, files = "Which had the highest profit?", [tmp_path / "a.csv"]
    outcome, model = await stage.play(words, words, task=task, files=files)
    assert (outcome.ok, outcome.reason, len(model.requests)) == (False, words, 2)
    outcome, model = await stage.play(words, words, task=task)
    assert (outcome.ok, len(model.requests)) == (False, 2)
    outcome, model = await stage.play(step(sum_of("1 + 1")), words, words, task=task)
    assert (outcome.ok, len(model.requests)) == (False, 3)
    outcome, _ = await stage.play(words, step(done("T4")), step(done("T4")), task=task, files=files)
    assert (outcome.ok, outcome.answer) == (True, "T4")


@pytest.mark.parametrize(
    "words",
    [
        "The wind speed at Cedar was not recorded; the file only gives rain (20.9 mm).",
        "The file does not contain the wind speed. It gives 20.9 mm of rain.",
        "Wind speed, like sun, wasn't measured.",
    ],
)
@pytest.mark.parametrize("asked_before", [True, False])
async def test_the_thing_asked_for_told_missing_is_a_failure_before_and_after_a_call(
    stage: Stage, tmp_path: Path, words: str, *, asked_before: bool
) -> None:
    (tmp_path / "a.csv").write_text("station,rain\n" + "".join(f"T{n % 7},{n}\n" for n in range(300)) + "Cedar,20.9\n")
    task, files = "What was the wind speed at Cedar?", [tmp_path / "a.csv"]
    query = ("table_query", {"files": ["a.csv"], "sql": "SELECT rain FROM a WHERE station = 'Cedar'"})
    before = [step(query)] if asked_before else []
    outcome, _ = await stage.play(*before, words, words, task=task, files=files)
    assert (outcome.ok, outcome.reason, outcome.exit_code) == (False, words, 1)


async def test_a_task_that_lacks_its_data_is_not_done(stage: Stage) -> None:
    words = "The dataset is not given to me, so the rates are open. Please provide the dataset."
    outcome, _ = await stage.play(words, words, task="Compare the rates of return in the dataset.")
    assert (outcome.ok, outcome.reason) == (False, words)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("Can the length be determined from its shadow?", "No, it cannot be determined from the shadow alone."),
        ("How long is it?", "It cannot be determined exactly, but it is about as long as a bus."),
        ("Write a line that asks for a file.", "Please provide the file by Monday."),
        ("What became of the ship?", "The ship was never found."),
        ("Was the wind recorded?", "The wind was not recorded."),
        ("Which stations are not listed?", "The stations of Elm are not listed."),
        ("What became of the ship?", "The captain was not mentioned again."),
    ],
)
async def test_an_answer_with_words_of_a_lack_is_one(stage: Stage, task: str, words: str) -> None:
    outcome, _ = await stage.play(words, words, task=task)
    assert (outcome.ok, outcome.answer) == (True, words)
