"""The analyzer: files first, then rounds."""

import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from PIL import Image

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONLY = {"agent": "analyzer", "tools": ["calculator"]}


def step(name: str, **arguments: Any) -> dict[str, Any]:
    words = dict.fromkeys(("thinking", "evaluation", "memory", "next_goal"), "")
    return {**words, "calls": [{"name": name, "arguments": arguments}]}


async def test_a_short_text_is_shown_whole_and_of_a_long_one_the_first_lines(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("one\ntwo\nthree")
    (tmp_path / "long.txt").write_text("".join(f"line {n} of a long text\n" for n in range(500)))
    (tmp_path / "wide.txt").write_text("w" * 5_000)
    (tmp_path / "book.txt").write_text(f"\nChapter 1.\n\n{'The wind blew. ' * 40}\n" * 20)
    files = [str(tmp_path / name) for name in ("short.txt", "long.txt", "wide.txt", "book.txt")]
    await stage.play({"analyzer": [step("done", answer=1)]}, "How many?", files=files, agent="analyzer")
    short, long, wide, book = stage.requests["analyzer"][0].variables["heads"]
    assert short.endswith("\n3 lines, all of them:\none\ntwo\nthree")
    assert "500 lines, beginning with:\nline 0 of a long text\nline 1" in long
    assert len(long) < 400
    assert "1 line, beginning with:\nwww" in wide
    assert len(wide) < 400
    assert "\nChapter 1.\n\nThe wind blew" in book
    assert len(book) < 400


async def test_of_a_picture_no_lines_are_counted(stage: Any, tmp_path: Path) -> None:
    Image.new("RGB", (42, 24)).save(tmp_path / "plan.png")
    files = [str(tmp_path / "plan.png")]
    await stage.play({"analyzer": [step("done", answer=1)]}, "How wide is it?", files=files, agent="analyzer")
    (head,) = stage.requests["analyzer"][0].variables["heads"]
    assert "42" in head
    assert "line" not in head


async def test_a_part_without_files_is_asked_without_heads_and_hints_for_files(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,city\n31,Oslo\n")
    asks = step("analyzer", task="How many letters has the word albatross?", files=[])
    replies = {"planner": [asks, step("done", answer=9)], "analyzer": [step("done", answer=9)]}
    text = "Have the analyzer count the letters of the word albatross."
    await stage.play(replies, text, files=[str(tmp_path / "t.csv")])
    (asked,) = stage.requests["analyzer"]
    assert not asked.variables["heads"]
    words = "".join(part.text for one in asked.messages for part in one.content if part.type == "text")
    assert "from its files" not in words
    assert "Read a text until" not in words
    assert "t.csv" not in words


async def test_a_small_table_is_shown_whole_and_an_archive_by_what_can_be_opened(stage: Any, tmp_path: Path) -> None:
    rows = "".join(f"{number},{'North' if number % 3 else 'South'}\n" for number in range(90))
    (tmp_path / "few.csv").write_text("year,riders\n2021,41200\n2022,55800\n")
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("data/orders.csv", f"order,region\n{rows}")
        archive.writestr("README.txt", "Orders of May.")
    files = [str(tmp_path / name) for name in ("few.csv", "export.zip")]
    await stage.play({"analyzer": [step("done", answer=1)]}, "How many?", files=files, agent="analyzer")
    few, packed = stage.requests["analyzer"][0].variables["heads"]
    assert few == "few.csv: table, 34 bytes\ntable: few, rows: 2, all of them\nyear,riders\n2021,41200\n2022,55800"
    assert "export.zip.d/README.txt: text, 14 bytes" in packed
    assert "export.zip.d/data/orders.csv: table, " in packed
    assert "- region text: " in packed
    assert len(packed) < 3_000


async def test_a_table_is_shown_whole_where_its_head_is_longer_and_else_says_what_its_values_are(
    stage: Any, tmp_path: Path
) -> None:
    head = "buoy,mass_kg,height_m,depth_m,light_s,range_km,painted,colour,bell"
    rows = [
        f"Buoy {n},{n * 7},{n % 3},{n * 11},{n % 5},{n * 2.5},{1990 + n},{'red' if n % 2 else 'green'},no"
        for n in range(8)
    ]
    (tmp_path / "small.csv").write_text("\n".join([head, *rows]))
    (tmp_path / "long.csv").write_text("\n".join([head, *rows * 30]))
    files = [str(tmp_path / name) for name in ("small.csv", "long.csv")]
    await stage.play({"analyzer": [step("done", answer=1)]}, "How many?", files=files, agent="analyzer")
    small, long = stage.requests["analyzer"][0].variables["heads"]
    assert "table: small, rows: 8, all of them" in small
    assert "Buoy 3,21,0,33,3,7.5,1993,red,no" in small
    assert "the most frequent first, of unique ones least and greatest; not rows" in long
    assert "- height_m integer: 0, 1, 2" in long


async def test_an_answer_from_a_file_that_was_not_opened_goes_back_once(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n,city\n" + "".join(f"{n},City {n}\n" for n in range(90)))
    replies = [step("done", answer=41, evidence=[{"source": "t.csv", "detail": "sum"}]) for _ in range(2)]
    outcome = await stage.play({"analyzer": replies}, "How many?", files=[str(tmp_path / "t.csv")], agent="analyzer")
    assert len(stage.requests["analyzer"]) == 2
    assert "was not opened" in outcome.evidence[0].doubt


async def test_a_model_is_told_kind_size_and_columns_of_its_files(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,city\n31,Oslo\n")
    (tmp_path / "n.txt").write_text("some notes\nand more")
    files = [str(tmp_path / "t.csv"), str(tmp_path / "n.txt")]
    outcome = await stage.play({"analyzer": [step("done", answer=1)]}, "How many?", files=files, agent="analyzer")
    assert outcome.answer == 1
    table, text = stage.requests["analyzer"][0].variables["heads"]
    assert table.startswith("t.csv: table, 17 bytes\n")
    assert "age" in table
    assert "Oslo" in table
    assert text.startswith("n.txt: text, 19 bytes\n2 lines, all of them:\nsome notes\nand more")


async def test_a_file_named_as_another_kind_is_shown_as_what_it_is(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "page.csv").write_text("<!doctype html><h1>Fares</h1><p>A boat pays 14 shillings.</p>")
    book = Workbook()
    for row in (["city", "lamps"], ["Bergen", 31]):
        book.worksheets[0].append(row)
    book.save(tmp_path / "book.txt")
    (tmp_path / "rows.csv").write_bytes("city,lamps\nOslo,7\n".encode("utf-16-be"))
    files = [str(tmp_path / name) for name in ("page.csv", "book.txt", "rows.csv")]
    await stage.play({"analyzer": [step("done", answer=1)]}, "How many lamps?", files=files, agent="analyzer")
    page, sheet, rows = stage.requests["analyzer"][0].variables["heads"]
    assert "# Fares\n\nA boat pays 14 shillings." in page
    assert "| Bergen | 31 |" in sheet
    assert "lamps" in rows
    assert "Oslo" in rows


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("e.csv", b"", "e.csv: table, 0 bytes, empty"),
        ("p.pdf", b"%PDF-1.4", "p.pdf: document, 8 bytes"),
        ("s.mp3", b"ID3", "s.mp3: audio, 3 bytes"),
        ("z.zip", b"PK\x05\x06", "z.zip: archive, 4 bytes"),
    ],
)
async def test_no_kind_of_file_is_refused_before_a_model_is_asked(
    stage: Any, tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    replies = [step("done", success=False, reason="nothing here reads it")] * 2
    outcome = await stage.play({"analyzer": replies}, "How many?", files=[str(tmp_path / name)], **ONLY)
    assert (outcome.status, outcome.reason) == ("failed", "nothing here reads it")
    assert words in stage.requests["analyzer"][0].variables["heads"][0]


def mail_in_an_archive(folder: Path) -> Path:
    message = EmailMessage()
    message["From"], message["To"], message["Message-ID"] = "ida@example.org", "b@example.org", "<1@example.org>"
    message["Subject"] = "The lamp"
    message.set_content("The lamp was lit in 1871.\n")
    with zipfile.ZipFile(folder / "post.zip", "w") as archive:
        archive.writestr("letter.eml", bytes(message))
    return folder / "post.zip"


async def test_a_mail_in_an_archive_is_answered_from_by_any_model(stage: Any, tmp_path: Path) -> None:
    path = mail_in_an_archive(tmp_path)
    source = {"source": "post.zip.d/letter.eml", "detail": "line 6", "quote": "The lamp was lit in 1871."}
    replies = [
        step("to_markdown", source="post.zip"),
        step("read_file", path="post.zip.d/letter.eml"),
        step("done", answer=1871, evidence=[source]),
    ]
    outcome = await stage.play({"analyzer": replies}, "When was it lit?", files=[str(path)], agent="analyzer")
    assert (outcome.answer, outcome.evidence[0].doubt) == (1871, "")
    first = stage.requests["analyzer"][0].variables
    assert "letter.eml" in first["heads"][0]
    assert {"to_markdown", "read_file"} <= {one["name"] for one in first["tools"]}


async def test_tools_for_documents_are_offered_where_there_are_some(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "a.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    offered = list[set[str]]()
    for name in ("a.csv", "a.zip"):
        await stage.play({"planner": [step("done", answer=1)]}, "Sum?", files=[str(tmp_path / name)])
        offered.append({one["name"] for one in stage.requests["planner"][-1].variables["tools"]})
    assert "to_markdown" not in offered[0]
    assert {"to_markdown", "table_query"} <= offered[1]


async def test_without_files_the_task_is_the_material(stage: Any) -> None:
    replies = [step("calculator", expression="6 * 7"), step("done", answer=42)]
    assert (await stage.play({"analyzer": replies}, "Six rows of seven?", **ONLY)).answer == 42
    assert stage.requests["analyzer"][0].variables["heads"] == []


async def test_the_work_goes_on_in_one_conversation(stage: Any) -> None:
    first = [step("calculator", expression=f"{number} + 1") for number in range(20)]
    outcome = await stage.play({"analyzer": [*first, step("done", answer="late")]}, "Find it.", **ONLY)
    assert outcome.answer == "late"
    assert len(stage.requests["analyzer"][-1].messages) == 2 + 2 * 20


async def test_thirty_six_steps_and_a_short_question_are_the_most(stage: Any) -> None:
    replies = [step("calculator", expression=f"{number} + 1") for number in range(50)]
    outcome = await stage.play({"analyzer": replies}, "Find it.", **ONLY)
    assert outcome.status == "exhausted"
    assert len(stage.requests["analyzer"]) == 36 + 1


async def test_giving_up_ends_the_work(stage: Any) -> None:
    outcome = await stage.play({"analyzer": [step("done", success=False, reason="not there")]}, "Find it.", **ONLY)
    assert (outcome.status, outcome.reason) == ("failed", "not there")
    assert len(stage.requests["analyzer"]) == 1


async def test_the_runs_own_budget_ends_the_work_too(stage: Any) -> None:
    replies = [step("calculator", expression=f"{number} + 1") for number in range(50)]
    outcome = await stage.play({"analyzer": replies}, "Find it.", budget={"steps": 5}, **ONLY)
    assert outcome.status == "exhausted"
    assert len(stage.requests["analyzer"]) == 5
