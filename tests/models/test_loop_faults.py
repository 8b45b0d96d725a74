"""Test mended faults of the loop in the three wire formats."""

import asyncio
import base64
import io
import json
import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from dialects import Dialect, Say, said
from loopback import Reply, document
from run_kit import tea
from wire_kit import NATIVE, Question, call, ends, played, playing, says

pytestmark = pytest.mark.slow

CITIES = "city,country,people\nOslo,Norway,700000\nBergen,Norway,290000\nRome,Italy,2800000\n"
PDF = b"%PDF-1.7\n%%EOF"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))
SUM = call("calculator", expression="6 * 7")
TASK = {"text": "What is 6 * 7?"}


def with_cities(folder: Path, text: str = "How many people live in Oslo?", **more: Any) -> dict[str, Any]:
    (folder / "cities.csv").write_text(CITIES)
    return {"text": text, "files": [folder / "cities.csv"], **more}


def sql(query: str) -> tuple[str, dict[str, Any]]:
    return call("table_query", files=["cities.csv"], sql=query)


def last_result(question: Question) -> str:
    return list(question.results.values())[-1]


async def test_1_prose_without_a_call_goes_back_as_it_was_said_and_does_not_end_the_work(
    dialect: Dialect, tmp_path: Path
) -> None:
    schema = {"type": "integer"}
    answers = [Say(text="Let me think aloud."), Say(text="I will call a function."), says(SUM), ends(42)]
    outcome, script = await played(tmp_path, dialect, answers, task={**TASK, "answer": schema})
    assert (outcome.answer, len(script.asked)) == (42, 4)
    assert "Let me think aloud." in script.asked[1].words
    assert all(one in script.asked[2].words for one in ("Let me think aloud.", "I will call a function."))
    assert "`done`" in script.asked[1].words.partition("Let me think aloud.")[2]
    assert "JSON object" not in script.asked[1].words.partition("Let me think aloud.")[2]


async def test_1_half_of_an_answer_stays_in_the_conversation_with_what_is_wrong(
    dialect: Dialect, tmp_path: Path
) -> None:
    half = Say(text='{"thinking": "half of a thought", "calls": [{"name": "calcul', finish="length")
    outcome, script = await played(tmp_path, dialect, [half, says(SUM), half, half, ends("42")], task=TASK)
    assert (outcome.answer, len(script.asked)) == ("42", 5)
    for one in (script.asked[1], script.asked[3]):
        said_before, _, told = one.words.rpartition("half of a thought")
        assert said_before
        assert "could not be used" in told
        assert "`done`" in told


async def test_1_one_unreadable_call_does_not_take_the_good_ones_with_it(dialect: Dialect, tmp_path: Path) -> None:
    broken = "calculator", '{"expression": "1 +'
    if dialect.name == "anthropic_messages":  # its arguments are objects, and cannot be broken but in a stream
        broken = "calculator", {"wrong": "1 +"}
    outcome, script = await played(tmp_path, dialect, [says(SUM, broken, SUM), ends("42")], task=TASK)
    assert outcome.answer == "42"
    first, second, third = script.asked[1].results.values()
    assert first.startswith("42")
    assert third.startswith("42")
    assert "Error:" in second


async def test_1_thinking_written_into_the_words_is_no_part_of_the_answer(dialect: Dialect, tmp_path: Path) -> None:
    outcome, script = await played(tmp_path, dialect, [Say(text="<think>Is it 41?</think>\nIt is 42.")], task=TASK)
    assert (outcome.answer, len(script.asked)) == ("It is 42.", 1)


async def test_2_what_is_noted_stands_in_every_later_question(dialect: Dialect, tmp_path: Path) -> None:
    note, plan = call("note", fact="The key is 17.", source="a.txt"), call("plan", items=["use the key"])
    done = call("plan", items=[{"item": "use the key", "state": "done"}])
    answers = [says(note, plan, SUM), says(call("calculator", expression="1 + 1")), says(done), ends("17")]
    outcome, script = await played(tmp_path, dialect, answers, task=TASK)
    assert outcome.answer == "17"
    for one in script.asked[1:]:
        assert "The key is 17. (a.txt)" in one.words
    assert "[ ] use the key" in script.asked[2].words
    assert "[x] use the key" in script.asked[3].words


async def test_2_what_a_record_remembers_is_shown_again(dialect: Dialect, tmp_path: Path) -> None:
    words = {"thinking": "t", "evaluation": "e", "memory": "Seven is the key.", "next_goal": "g"}
    calls = [[SUM], [call("calculator", expression="1 + 1")], [call("done", answer="7")]]
    answers = [
        Say(text=json.dumps({**words, "calls": [{"name": name, "arguments": given} for name, given in some]}))
        for some in calls
    ]
    outcome, script = await played(tmp_path, dialect, answers, task=TASK, capabilities=["schema"])
    assert outcome.answer == "7"
    assert all("Remembered: Seven is the key." in one.words for one in script.asked[1:])


async def test_2_rounds_of_an_analyzer_are_one_history(dialect: Dialect, tmp_path: Path) -> None:
    task = with_cities(tmp_path, agent="analyzer")
    wrong = ends("690000", evidence=[{"source": "towns.csv", "quote": "690000"}])
    right = ends("700000", evidence=[{"source": "cities.csv", "quote": "Oslo,Norway,700000"}])
    answers = [says(sql("SELECT * FROM cities")), wrong, right]
    outcome, script = await played(tmp_path, dialect, answers, task=task)
    assert outcome.answer == "700000"
    assert "690000" in json.dumps(script.asked[2].messages)
    for one, other in pairwise(script.asked):
        assert json.dumps(other.messages).startswith(json.dumps(one.messages)[:-1])


async def test_2_an_agent_does_not_read_what_its_sibling_failed_with(dialect: Dialect, tmp_path: Path) -> None:
    def model(question: Question) -> Say:
        if "Find the Greek." in question.words:
            steps = [says(call("analyzer", task=f"find {name}")) for name in ("alpha", "beta")]
            return [*steps, *[ends("2")] * 3][len(question.results)]
        if "find alpha" in question.words:
            return ends("", success=False, reason="no-such-alpha")
        betas.append(question)
        return ends("beta is 2")

    betas: list[Question] = []
    outcome, _ = await played(tmp_path, dialect, model, task={"text": "Find the Greek."})
    assert outcome.answer == "2", outcome
    assert betas
    assert not any("alpha" in one.words for one in betas)


async def test_3_documents_and_images_reach_a_model_that_takes_them(dialect: Dialect, tmp_path: Path) -> None:
    for name, data in {"paper.pdf": PDF, "map.png": PNG}.items():
        (tmp_path / name).write_bytes(data)
    task = {"text": "What do they show?", "files": [tmp_path / "paper.pdf", tmp_path / "map.png"]}
    options = {"capabilities": [*NATIVE, "vision", "files"]}
    outcome, script = await played(tmp_path, dialect, [ends("a map")], task=task, **options)
    assert outcome.answer == "a map"
    body = json.dumps(script.asked[0].body)
    assert all(base64.b64encode(one).decode() in body for one in (PDF, PNG))


async def test_3_an_archive_is_named_and_an_honest_cannot_is_an_end(dialect: Dialect, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "hidden")
    (tmp_path / "all.zip").write_bytes(packed.getvalue())
    (tmp_path / "map.png").write_bytes(PNG)
    task = {"text": "What is inside?", "files": [tmp_path / "all.zip", tmp_path / "map.png"]}
    answers = [says(call("read_file", path="all.zip")), ends("", success=False, reason="Nothing here opens archives.")]
    outcome, script = await played(tmp_path, dialect, answers, task=task)
    assert (outcome.status, outcome.reason) == ("failed", "Nothing here opens archives.")
    assert "all.zip" in script.asked[0].words
    assert "map.png (image/png)" in script.asked[0].words
    assert "as this model has no 'vision'" in script.asked[0].words
    assert "Error:" in last_result(script.asked[1])


async def test_4_what_a_reading_says_it_shows_is_in_the_request_and_reading_on_skips_nothing(
    dialect: Dialect, tmp_path: Path
) -> None:
    lines = [f"line {number:04} of the long text" for number in range(1, 1131)]
    (tmp_path / "long.txt").write_text("\n".join(lines))
    seen: list[str] = []

    def model(question: Question) -> Say:
        if not question.results:
            return says(call("read_file", path="long.txt", lines=2_000))
        text = last_result(question)
        seen.extend(line for line in text.splitlines() if line.startswith("line "))
        facts = dict(one.split(": ", 1) for one in text.splitlines()[0].split(", "))
        assert len(seen) == int(facts["end"]), facts
        more = facts.get("next_start")
        assert (more is None) == (seen[-1] == lines[-1])
        return says(call("read_file", path="long.txt", start=int(more), lines=2_000)) if more else ends(seen[-1])

    outcome, script = await played(
        tmp_path, dialect, model, task={"text": "What is the last line?", "files": [tmp_path / "long.txt"]}
    )
    assert outcome.answer == lines[-1], outcome
    assert seen == lines
    assert len(script.asked) == 3


async def test_4_what_the_loop_cuts_off_a_result_can_be_read_on(dialect: Dialect, tmp_path: Path) -> None:
    def model(question: Question) -> Say:
        if not question.results:
            return says(call("numbers"))
        text = last_result(question)
        parts.append(text.partition("\n[")[0])
        if "start=" not in text:
            return ends("read")
        return says(call("read_result", id="c1_1", start=int(text.rpartition("start=")[2].partition(")")[0])))

    parts: list[str] = []
    task = {"text": "Read them.", "tools": ["numbers", "done"]}
    source = (
        "from tea import tool\n\n\n"
        '@tool(effects="reads", network=False)\nasync def numbers() -> str:\n'
        '    """Return many numbers."""\n    return " ".join(map(str, range(9000)))\n'
    )
    outcome, _ = await played(tmp_path, dialect, model, source, task=task, context=200_000)
    assert outcome.answer == "read"
    assert "".join(parts) == " ".join(map(str, range(9000)))


async def test_4_readings_beside_others_in_one_step_say_what_is_shown_of_each(dialect: Dialect, tmp_path: Path) -> None:
    rows = [f"{number},{'words ' * 20}{number}" for number in range(300)]
    (tmp_path / "rows.csv").write_text("\n".join(["n,text", *rows]))
    reading, query = (
        call("read_file", path="rows.csv"),
        call("table_query", files=["rows.csv"], sql="SELECT * FROM rows"),
    )
    others = [call("calculator", expression=f"{number} + 1") for number in range(7)]
    task = {"text": "Read them.", "files": [tmp_path / "rows.csv"]}
    outcome, script = await played(tmp_path, dialect, [says(reading, query, *others), ends("read")], task=task)
    assert outcome.answer == "read"
    read, queried = list(script.asked[1].results.values())[:2]
    for text, fact, after, shown in ((read, "end", "next_start", -1), (queried, "row_count", "next_offset", 0)):
        head, *body = text.splitlines()
        facts = dict(one.split(": ", 1) for one in head.split(", "))
        whole = [line for line in body if line in rows]
        assert whole == rows[: int(facts[fact]) + shown], (fact, head)
        assert int(facts[after]) == len(whole) - 2 * shown
        assert body[-1] == whole[-1]


async def test_5_a_quoted_name_that_is_no_column_is_an_error_with_the_nearest(dialect: Dialect, tmp_path: Path) -> None:
    answers = [says(sql('SELECT AVG("peoples") FROM cities')), says(sql('SELECT AVG("people") AS a FROM cities'))]
    outcome, script = await played(tmp_path, dialect, [*answers, ends("1263333")], task=with_cities(tmp_path))
    assert outcome.answer == "1263333"
    wrong, right = script.asked[2].results.values()
    assert "Error:" in wrong
    assert "peoples" in wrong
    assert "'people'" in wrong or '"people"' in wrong, wrong
    assert "1263333" in right


async def test_6_a_refused_end_is_never_the_answer(dialect: Dialect, tmp_path: Path) -> None:
    task = {**TASK, "answer": {"type": "integer"}, "budget": {"steps": 3}}
    outcome, script = await played(tmp_path, dialect, [ends("forty")], task=task)
    assert (outcome.answer, outcome.exit_code, len(script.asked)) == ("", 5, 3)


async def test_6_an_end_beside_a_result_that_nobody_has_seen_is_refused(dialect: Dialect, tmp_path: Path) -> None:
    early = says(SUM, call("done", answer="41"))
    outcome, script = await played(tmp_path, dialect, [early, ends("42")], task=TASK)
    assert outcome.answer == "42"
    worked_out, refused = script.asked[1].results.values()
    assert worked_out.startswith("42")
    assert "nobody has seen" in refused


@pytest.mark.parametrize(
    ("source", "quote", "why"),
    [("the register", "Oslo,Norway,700000", "was not opened"), ("cities.csv", "Oslo has 900000", "does not stand")],
)
async def test_6_false_evidence_goes_back_once_and_is_marked_if_it_stays(
    dialect: Dialect, tmp_path: Path, source: str, quote: str, why: str
) -> None:
    wrong = ends("700000", evidence=[{"source": source, "quote": quote}])
    answers = [says(sql("SELECT * FROM cities")), wrong, wrong]
    outcome, script = await played(tmp_path, dialect, answers, task=with_cities(tmp_path))
    assert (outcome.answer, len(script.asked)) == ("700000", 3)
    assert why in last_result(script.asked[2])
    assert [why in one.doubt for one in outcome.evidence] == [True]


async def test_6_parts_of_an_answer_keep_all_their_evidence(dialect: Dialect, tmp_path: Path) -> None:
    rows = {"Oslo": "Oslo,Norway,700000", "Rome": "Rome,Italy,2800000"}

    def model(question: Question) -> Say:
        part = next((name for name in rows if f"Count {name}." in question.words), "")
        if part and "Count both." not in question.words:
            if not question.results:
                return says(sql(f"SELECT * FROM cities WHERE city = '{part}'"))
            return ends(rows[part].rpartition(",")[2], evidence=[{"source": "cities.csv", "quote": rows[part]}])
        if not question.results:
            return says(*(call("analyzer", task=f"Count {name}.", files=["cities.csv"]) for name in rows))
        return ends("700000 and 2800000")

    outcome, script = await played(tmp_path, dialect, model, task=with_cities(tmp_path, "Count both."))
    assert outcome.answer == "700000 and 2800000"
    assert {one.quote for one in outcome.evidence} == set(rows.values()), script.asked[-1].words
    assert not any(one.doubt for one in outcome.evidence)


async def test_6_a_budget_that_ends_in_a_part_lets_the_whole_sum_up(dialect: Dialect, tmp_path: Path) -> None:
    def model(question: Question) -> Say:
        if "Find it." in question.words and "The whole." not in question.words:
            parts.append(question)
            return says(call("calculator", expression=f"{len(parts)} + 1"))
        return ends("summed up") if question.results else says(call("analyzer", task="Find it."))

    parts: list[Question] = []
    task = {"text": "The whole.", "budget": {"steps": 6}}
    outcome, script = await played(tmp_path, dialect, model, task=task)
    assert (outcome.answer, outcome.exit_code) == ("summed up", 0)
    assert (len(parts), len(script.asked)) == (4, 6)


@pytest.mark.parametrize("tokens", [4_000, 6_000, 12_000])
async def test_6_of_a_budget_in_tokens_enough_is_left_for_the_last_question(
    dialect: Dialect, tmp_path: Path, tokens: int
) -> None:
    def model(question: Question) -> Say:
        if "This is the last question" in question.words:
            return ends("my best")
        return says(call("calculator", expression=f"{question.number} + 1"))

    outcome, script = await played(tmp_path, dialect, model, task={**TASK, "budget": {"tokens": tokens}})
    assert (outcome.answer, outcome.exit_code) == ("my best", 0)
    assert sum(one.size for one in script.asked) > tokens / 2


async def test_7_agents_asked_in_one_step_work_at_once(dialect: Dialect, tmp_path: Path) -> None:
    def model(question: Question) -> Say | Reply:
        if "The whole." not in question.words:
            parts.append(question)
            if len(parts) == 4:
                all_asked.set()
            return replace(said(dialect, ends(f"found {len(parts)}")), when=all_asked)
        if question.results:
            return ends("all found")
        return says(*(call("analyzer", task=f"Part {number}.") for number in range(4)))

    parts: list[Question] = []
    all_asked = asyncio.Event()
    async with asyncio.timeout(60):
        outcome, script = await played(tmp_path, dialect, model, task={"text": "The whole."})
    assert outcome.answer == "all found"
    results = script.asked[-1].results
    assert [*results] == [f"c1_{number}" for number in range(1, 5)]
    assert all("found" in one for one in results.values())
    assert len(parts) == 4


async def test_7_a_part_that_breaks_loses_no_other_and_is_asked_about_once(dialect: Dialect, tmp_path: Path) -> None:
    def model(question: Question) -> Say | Reply:
        if "The whole." not in question.words:
            return document({"error": {"message": "no"}}, 400) if "Part 2." in question.words else ends("found")
        return ends("some") if question.results else says(*(call("analyzer", task=f"Part {n}.") for n in range(1, 4)))

    outcome, script = await played(tmp_path, dialect, model, task={"text": "The whole."})
    assert outcome.answer == "some"
    first, broken, third, *ended, held = script.asked[-1].results.values()
    assert all("answer: found" in one for one in (first, third))
    assert "status 400" in broken
    assert len(ended) == 1
    assert "These parts failed: 'Part 2.'" in ended[0]
    assert "held, not delivered yet" in held


async def test_8_a_long_history_folds(dialect: Dialect, tmp_path: Path) -> None:
    def model(question: Question) -> Say:
        if question.number > 20:
            return ends("read")
        start = question.number * 100
        return says(call("read_file", path="long.txt", start=start, lines=100))

    (tmp_path / "long.txt").write_text("\n".join(f"line {number} of the long text, as it is" for number in range(3000)))
    task = {"text": "Read it.", "files": [tmp_path / "long.txt"]}
    outcome, script = await played(tmp_path, dialect, model, task=task, context=12_000)
    assert outcome.answer == "read"
    assert max(one.size for one in script.asked) <= 12_000
    assert "folded away" in script.asked[-1].words
    assert len(script.asked[-1].results) == 20


async def test_9_values_of_another_type_that_mean_the_same_are_taken_in_one_call(
    dialect: Dialect, tmp_path: Path
) -> None:
    calls = (
        call("functions.read_file", path="cities.csv", start="2", lines="1", offset="0"),
        call("table_query", files="cities.csv", sql="SELECT COUNT(*) AS n FROM cities"),
    )
    task = with_cities(tmp_path)
    outcome, script = await played(tmp_path, dialect, [says(*calls), ends("700000", success="true")], task=task)
    assert outcome.answer == "700000"
    read, counted = script.asked[1].results.values()
    assert "Oslo,Norway,700000" in read
    assert "Bergen" not in read
    assert "3" in counted
    assert "Error" not in read + counted


async def test_10_no_record_is_asked_for_and_nothing_of_a_solver_is_shown(dialect: Dialect, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("Tea is a drink.\nIt is made of leaves.\n")
    task = with_cities(tmp_path)
    task["files"].append(tmp_path / "text.txt")
    calls = (
        call("read_file", path="text.txt", find="drink"),
        call("table_query", files=["cities.csv"]),
        sql("SELECT * FROM cities"),
    )
    outcome, script = await played(tmp_path, dialect, [says(*calls), ends("700000")], task=task)
    assert outcome.answer == "700000"
    for one in script.asked:
        body = json.dumps(one.body)
        assert not any(f'{word}"' in body or f"{word}:" in body for word in ("akin", "related", "keyed", "weights"))
        assert not any(word in body for word in ("next_goal", "evaluation", "response_format", "json_schema"))
        assert "JSON object" not in one.words
    assert script.asked[1].words.count("Tea is a drink.") <= 2


async def test_11_what_another_process_just_registered_is_offered_and_offline_solvers_never(
    dialect: Dialect, tmp_path: Path
) -> None:
    source = (
        "from tea import tool\n\n\n"
        '@tool(effects="reads", network=False)\nasync def steep(minutes: int) -> str:\n'
        '    """Tell how strong tea gets in some minutes."""\n    return f"strong after {minutes}"\n'
    )
    (tmp_path / "steep.py").write_text(source)
    answers = [says(call("steep", minutes="3")), ends("strong")]
    async with playing(tmp_path, dialect, answers) as (_, script):
        code, _, err = await tea(tmp_path, "register", "steep.py")
        assert code == 0, err
        code, out, err = await tea(tmp_path, "run", "-q", "How strong does tea get in 3 minutes?")
        assert (code, out) == (0, "strong\n"), err
        assert "steep" in script.asked[0].functions
        assert "strong after 3" in last_result(script.asked[1])
        for one in script.asked:
            assert not {"plan_offline", "answer_from_data", "file_heads", "compose_report"} & set(one.functions)
