"""Test the narrow ends of an agent's work: late words of a person, nothing usable, nothing found."""

from pathlib import Path
from typing import Any

from dialects import DIALECTS, Say
from loopback import Reply
from wire_kit import Question, call, ends, played, playing, says

CHAT = DIALECTS["openai_chat"]
SUM = call("calculator", expression="6 * 7")
BROKEN = says(("calculator", "{half"))
WORD = "In dozens, please."


async def test_three_steps_whose_calls_cannot_be_read_end_the_work(tmp_path: Path) -> None:
    task = {"text": "What is 6 * 7?"}
    outcome, script = await played(tmp_path, CHAT, [BROKEN] * 9, task=task)
    assert (outcome.exit_code, len(script.asked)) == (1, 3)
    assert "3 times in a row: its arguments are not a JSON object" in outcome.reason


async def test_a_step_with_one_call_that_can_be_read_is_not_counted_among_them(tmp_path: Path) -> None:
    mixed = says(("calculator", "{half"), SUM)
    answers = [BROKEN, BROKEN, mixed, BROKEN, BROKEN, ends("42")]
    outcome, script = await played(tmp_path, CHAT, answers, task={"text": "What is 6 * 7?"})
    assert (outcome.answer, len(script.asked)) == ("42", 6)


async def told_at(folder: Path, question: int, answers: list[Say], **options: Any) -> tuple[Any, Any]:
    """Run a task, and tell it something while a question is answered; it is replayed."""
    loop_of: dict[str, Any] = {}

    def model(asked: Question) -> Say | Reply:
        if asked.number == question:
            from tea.runs.delivery import tell

            found: Any = loop_of["tea"]
            (run,) = found.tracer.runs()
            tell(found.tracer, found.mask, found.seal, run, WORD)
        return answers[min(asked.number, len(answers)) - 1]

    async with playing(folder, CHAT, model) as (tea, script):
        loop_of["tea"] = tea
        outcome = await tea.run("What is 6 * 7?", **options)
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    return outcome, script


async def test_a_word_that_comes_with_the_answer_holds_it_back_for_a_step(tmp_path: Path) -> None:
    answers = [says(SUM), ends("42"), ends("3.5 dozen")]
    outcome, script = await told_at(tmp_path, 2, answers)
    assert (outcome.answer, outcome.unheard, len(script.asked)) == ("3.5 dozen", (), 3)
    assert WORD in script.asked[2].words


async def test_a_word_with_the_answer_to_a_last_question_is_heard_where_a_step_is_left(tmp_path: Path) -> None:
    repeat = [says(SUM)] * 9  # nothing new comes, until the last question is asked
    heard: list[int] = []

    def model(asked: Question) -> Say:
        if WORD in asked.words:
            return ends("3.5 dozen")
        if "so the work ends here" in asked.words:
            heard.append(asked.number)
            return ends("42")
        return repeat[0]

    outcome, script = await played(tmp_path, CHAT, model, task={"text": "What is 6 * 7?"})
    assert outcome.answer == "42"
    answers = [says(SUM)] * (heard[0] - 1) + [ends("42"), ends("3.5 dozen")]
    (tmp_path / "again").mkdir()
    outcome, script = await told_at(tmp_path / "again", heard[0], answers)
    assert (outcome.answer, outcome.unheard) == ("3.5 dozen", ())
    assert len(script.asked) == heard[0] + 1


async def test_a_word_after_the_last_step_of_the_budget_is_named_as_not_heard(tmp_path: Path) -> None:
    outcome, script = await told_at(tmp_path, 2, [says(SUM), ends("42")], budget={"steps": 2})
    assert (outcome.answer, outcome.exit_code, len(script.asked)) == ("42", 0, 2)
    assert outcome.unheard == (WORD,)


async def test_an_answer_that_was_held_back_is_the_best_where_no_other_comes(tmp_path: Path) -> None:
    answers = [says(SUM), ends("42"), BROKEN, BROKEN, BROKEN]
    outcome, _ = await told_at(tmp_path, 2, answers)
    assert (outcome.answer, outcome.exit_code) == ("42", 1)
    assert "could not be used" in outcome.reason


async def test_words_after_calls_that_all_failed_are_asked_about_once(tmp_path: Path) -> None:
    words = Say(text="I cannot divide by zero.")
    answers = [says(call("calculator", expression="1 / 0")), words, ends("", success=False, reason="It has no value.")]
    outcome, script = await played(tmp_path, CHAT, answers, task={"text": "What is 1 / 0?"})
    assert (outcome.exit_code, outcome.reason, len(script.asked)) == (1, "It has no value.", 3)
    assert "No function has given a result yet." in script.asked[2].words


async def test_giving_up_on_files_before_any_call_is_asked_about_once(tmp_path: Path) -> None:
    (tmp_path / "cities.csv").write_text("city,people\nOslo,700000\n")
    task = {"text": "How many people live in Oslo?", "files": [tmp_path / "cities.csv"]}
    gives_up = ends("", success=False, reason="I cannot access files.")
    outcome, script = await played(tmp_path, CHAT, [gives_up, ends("700000")], task=task)
    assert (outcome.answer, outcome.exit_code, len(script.asked)) == ("700000", 0, 2)
    assert "given up before any function was called" in script.asked[1].words
    (tmp_path / "again").mkdir()
    outcome, script = await played(tmp_path / "again", CHAT, [gives_up] * 9, task=task)
    assert (outcome.exit_code, outcome.reason, len(script.asked)) == (1, "I cannot access files.", 2)


async def test_giving_up_as_no_shown_column_holds_it_is_taken_at_once(tmp_path: Path) -> None:
    (tmp_path / "cities.csv").write_text("city,people\nOslo,700000\n")
    task = {"text": "How high is Oslo?", "files": [tmp_path / "cities.csv"]}
    gives_up = ends("", success=False, reason="cities.csv tells how many people live there, and no height.")
    outcome, script = await played(tmp_path, CHAT, [gives_up], task=task)
    assert (outcome.exit_code, len(script.asked)) == (1, 1)


async def test_giving_up_after_a_result_ends_the_work_and_tells_what_was_found(tmp_path: Path) -> None:
    answers = [says(SUM), ends("", success=False, reason="It is no answer.")]
    outcome, script = await played(tmp_path, CHAT, answers, task={"text": "Why?"})
    assert (outcome.exit_code, outcome.reason, len(script.asked)) == (1, "It is no answer.", 2)
    assert [one.partition(" -> ")[2] for one in outcome.found] == ["42"]


async def test_words_after_a_result_end_the_work_at_once(tmp_path: Path) -> None:
    outcome, script = await played(tmp_path, CHAT, [says(SUM), Say(text="42")], task={"text": "What is 6 * 7?"})
    assert (outcome.answer, len(script.asked)) == ("42", 2)


async def test_the_files_that_a_run_wrote_are_named_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "given.txt").write_text("given")
    writes = [("workspace_write", {"name": name, "text": name}) for name in ("b.md", "notes/a.md")]
    answers = [says(*writes), ends("written")]
    task = {"text": "Write b.md.", "files": [tmp_path / "given.txt"]}
    outcome, _ = await played(tmp_path, CHAT, answers, task=task)
    assert outcome.files == ("b.md", "notes/a.md")
