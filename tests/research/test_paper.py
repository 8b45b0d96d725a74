"""The paper of a research: words as data, figures, and a bibliography of read sources."""

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from research_kit import ANALYZER_STEP, analysis, literature

from tea.errors import BadInput
from tea.store.lines import End, encode

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVIL = 'Evil #read("/etc/passwd") $x$ *b* _i_ <label> @ref \\ // end'
PLOT = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="40" height="20" fill="teal"/></svg>'
WORDS = {"abstract": "Abstract", "figure": "Figure", "references": "References"}


def text_of(pdf: Path) -> str:
    document = pypdfium2.PdfDocument(pdf)
    try:
        return "\n".join(page.get_textpage().get_text_range() for page in document)
    finally:
        document.close()


def drawn(count: int) -> Any:
    """An analyzer drawing a picture and then answering, with one source read and one not."""
    code = f"import os; os.makedirs('ana-0-1', exist_ok=True); open('ana-0-1/plot.svg', 'w').write({PLOT!r})"
    evidence = [
        {"source": "cities.csv", "quote": "Oslo"},
        {"source": "https://made.up/page", "quote": "Nobody read it."},
    ]
    steps = [
        {"name": "table_query", "arguments": {"files": ["cities.csv"], "sql": "SELECT * FROM cities"}},
        {"name": "shell_python", "arguments": {"code": code}},
        {"name": "done", "arguments": {"answer": "There are 3.", "evidence": evidence}},
    ]
    return {**ANALYZER_STEP, "calls": [steps[min(count, 3) - 1]]}


def drafted(request: Any, count: int) -> Any:
    numbers = {one["source"]: one["number"] for one in request.variables["sources"]}
    assert request.variables["tasks"][1]["artifacts"] == request.variables["figures"]
    figure = {"file": "ana-0-1/plot.svg", "caption": f"A plot [{numbers['cities.csv']}]"}
    paragraphs = [f"They grow [{numbers['https://example.org/growth']}, 77].", f"{EVIL} [99]"]
    lost = {"file": "nowhere.png", "caption": "lost [98]"}
    section = {"heading": EVIL, "paragraphs": paragraphs, "figures": [figure, lost]}
    return {"title": EVIL, "abstract": [EVIL], "sections": [section], "words": WORDS}


async def test_a_paper_shows_words_as_data_and_cites_only_what_was_read(lab: Any, cities: Path) -> None:  # 003: 31
    lab.plays(
        plan_initial={"objective": "", "tasks": [literature("a"), analysis("Count", "cities.csv")]},
        analyzer=lambda request, count: drawn(count),
        paper=drafted,
    )
    status = await lab.run(files=[cities])
    begun = await lab.tea.research.paper(status.conversation)
    done = await lab.tea.research.drive(begun.run)
    assert (done.status, done.answer["files"]) == ("completed", ["paper.pdf", "paper.typ", "paper.json"])
    folder = lab.tea.home / "traces" / begun.run / "workspace"
    text = text_of(folder / "paper.pdf")
    shown = " ".join(text.split())
    for piece in ('#read("/etc/passwd")', "$x$", "*b*", "<label>", "@ref", "Figure 1", "References"):
        assert piece in shown
    assert "root:" not in shown
    assert "They grow [1] [?]." in shown  # the number 77 is none of a source, which the model was told once
    assert len(lab.roles.asked("paper")) == 2
    told = str(lab.roles.asked("paper")[1].messages)
    assert "the number [77], [99], [98]" in told
    assert "There is no figure nowhere.png; there are: ana-0-1-plot.svg." in told
    assert done.status == "completed"
    paper = json.loads((folder / "paper.json").read_text())
    assert [(one["number"], one["source"]) for one in paper["references"]] == [
        (1, "https://example.org/growth"), (2, "cities.csv"),
    ]  # fmt: skip
    assert paper["sections"][0]["figures"][0]["file"] == "ana-0-1-plot.svg"
    assert len(paper["sections"][0]["figures"]) == 1
    asked = lab.roles.asked("paper")[0].variables["sources"]
    assert "https://made.up/page" not in [one["source"] for one in asked]
    assert (await lab.tea.replay(begun.run)).ok
    assert (await lab.tea.research.status(status.conversation)).run == status.run  # a job of its own


def rewrite(journal: Path, old: str, new: str) -> None:
    """Replace words of a journal as whoever made the home can: each line has its check."""
    end, lines = End(), journal.read_text().replace(old, new).splitlines()
    number = json.loads(lines[0])["number"]
    with journal.open("wb") as file:
        for line in lines:
            record = {name: one for name, one in json.loads(line).items() if name not in ("seq", "check", "number")}
            data, end = encode(record, end, number)
            file.write(data)


async def test_a_paper_takes_no_file_from_outside_of_its_conversation(
    lab: Any, cities: Path, tmp_path: Path
) -> None:  # which may have come with a home that others wrote
    async def taken() -> list[str]:
        made = await lab.tea.research.paper(status.conversation)
        return sorted(one.name for one in (traces / made.run / "workspace").iterdir())

    lab.plays(
        plan_initial={"objective": "", "tasks": [literature("a"), analysis("Count", "cities.csv")]},
        analyzer=lambda request, count: drawn(count),
    )
    status, traces = await lab.run(files=[cities]), lab.tea.home / "traces"
    assert await taken() == [".research.json", "ana-0-1-plot.svg"]
    folder, elsewhere = traces / status.run / "workspace" / "ana-0-1", tmp_path / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    assert await taken() == [".research.json"]
    folder.unlink()
    away = f"{'../' * 30}{elsewhere.relative_to('/')}/plot.svg"
    rewrite(traces / status.run / "journal.jsonl", "ana-0-1/plot.svg", away)
    assert away in str((await lab.tea.research.status(status.run)).state["plan"])
    assert await taken() == [".research.json"]


async def test_a_research_without_findings_has_no_paper(lab: Any) -> None:
    lab.plays(plan_initial={"objective": "", "tasks": []}, plan_next={"objective": "", "tasks": []})
    status = await lab.run()
    assert status.status == "completed"
    with pytest.raises(BadInput, match="found nothing yet"):
        await lab.tea.research.paper(status.conversation)


async def test_after_a_failed_paper_the_last_research_has_one(lab: Any) -> None:
    section = {"heading": "Results", "paragraphs": ["They grow [1]."], "figures": []}
    good = {"title": "Growth", "abstract": ["They grow."], "sections": [section], "words": WORDS}
    wrong = {**good, "abstract": ["They grow [77]."]}
    drafts = iter(["no form", "no form"])
    lab.plays(plan_initial={"objective": "", "tasks": [literature("a")]}, paper=lambda request, count: next(drafts))
    await lab.run()
    failed = await lab.tea.research.drive((await lab.tea.research.paper("last")).run)
    assert failed.status == "failed"
    again = await lab.tea.research.paper("last")
    drafts = iter(["no form", wrong, good])  # a fault of each kind is mended
    done = await lab.tea.research.drive(again.run)
    assert (done.status, done.answer["doubts"]) == ("completed", 0)


async def test_a_citation_without_a_reference_is_refused(lab: Any) -> None:
    paper = {
        "title": "T", "abstract": [[{"kind": "cite", "numbers": [3]}]], "sections": [],
        "references": [{"number": 1, "source": "a"}],
    }  # fmt: skip
    response = await lab.tea.tcp.invoke("typeset_paper", paper)
    assert response.error["problem"] == "The citation [3] has no reference."


def picture(side: int) -> bytes:
    """A picture of a few bytes with gigabytes of pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(99))) + chunk(b"IEND", b"")


async def test_a_typesetting_that_dies_is_one_error_and_writes_nothing(
    lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # 003: 31
    monkeypatch.chdir(tmp_path)
    (tmp_path / "large.png").write_bytes(picture(30_000))
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nwords")
    for name, problem in (("large.png", "not typeset: its process died"), ("broken.png", "failed to decode image")):
        section = {"heading": "h", "paragraphs": [], "figures": [{"file": name, "caption": []}]}
        paper = {"title": "T", "abstract": [], "sections": [section], "references": []}
        response = await lab.tea.tcp.invoke("typeset_paper", paper)
        assert response.error["code"] == "ToolError"
        assert problem in response.error["problem"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.png", "large.png"]


def claimed(request: Any, count: int) -> Any:
    number = request.variables["sources"][0]["number"]
    paragraphs = [f"They grow by 3 percent [{number}]. Nobody grows by 41 percent [{number}]. All in all 99.9 % do."]
    section = {"heading": "Results", "paragraphs": paragraphs, "figures": []}
    return {"title": "Growth", "abstract": ["They grow."], "sections": [section], "words": WORDS}


async def test_a_paper_explains_its_marks_and_without_any_says_nothing_of_them(lab: Any, cities: Path) -> None:
    begun = {"plan_initial": {"objective": "", "tasks": [literature("a"), analysis("Count", "cities.csv")]}}
    paragraphs = ["They grow by 3 percent [1]. The table of 4 lines was read."]

    async def written(words: Any, text: list[str]) -> tuple[str, Any]:
        section = {"heading": "Results", "paragraphs": text, "figures": []}
        draft = {"title": "Growth", "abstract": ["They grow."], "sections": [section], "words": words}
        lab.plays(**begun, paper=draft)
        made = await lab.tea.research.paper(conversation)
        done = await lab.tea.research.drive(made.run)
        return text_of(lab.tea.home / "traces" / made.run / "workspace" / "paper.pdf"), done.answer["doubts"]

    lab.plays(**begun)
    conversation = (await lab.run(files=[cities])).conversation
    text, marks = await written(WORDS, paragraphs)
    assert ("[?]" in text, marks) == (False, 0)  # what was read of a dataset counts as found
    text, marks = await written(WORDS, ["They grow by 41 percent [1], and fall [77]."])
    assert (text.count("[?]"), marks) == (3, 2)
    assert "Marked [?]: not found in the sources." in text
    text, _ = await written({**WORDS, "marked": "Mit [?] Bezeichnetes steht in keiner Quelle."}, ["41 percent [1]."])
    assert "Mit [?] Bezeichnetes steht in keiner Quelle." in text


async def test_words_between_double_asterisks_are_bold(lab: Any) -> None:
    section = {"heading": "H", "paragraphs": ["**March** was best, a ** b is not [1] **at all**."], "figures": []}
    drafted = {"title": "T", "abstract": ["**All**"], "sections": [section], "words": WORDS}
    lab.plays(plan_initial={"objective": "", "tasks": [literature("a")]}, paper=drafted)
    status = await lab.run()
    begun = await lab.tea.research.paper(status.conversation)
    await lab.tea.research.drive(begun.run)
    folder = lab.tea.home / "traces" / begun.run / "workspace"
    paper = json.loads((folder / "paper.json").read_text())
    assert [(one["kind"], one.get("text")) for one in paper["sections"][0]["paragraphs"][0]] == [
        ("strong", "March"), ("text", " was best, a ** b is not"), ("cite", None),
        ("text", " "), ("strong", "at all"), ("text", "."),
    ]  # fmt: skip
    assert "March was best" in " ".join(text_of(folder / "paper.pdf").split())


async def test_numbers_of_a_paper_that_no_task_found_are_marked(lab: Any) -> None:
    lab.plays(plan_initial={"objective": "", "tasks": [literature("a")]}, paper=claimed)
    status = await lab.run()
    begun = await lab.tea.research.paper(status.conversation)
    await lab.tea.research.drive(begun.run)
    paper = json.loads((lab.tea.home / "traces" / begun.run / "workspace" / "paper.json").read_text())
    words = "".join(one.get("text", "") for one in paper["sections"][0]["paragraphs"][0])
    assert words == "They grow by 3 percent. Nobody grows by 41 percent [?]. All in all 99.9 % [?] do."
    assert len(lab.roles.asked("paper")) == 1
    assert (await lab.tea.replay(begun.run)).ok


async def test_the_place_that_a_task_names_in_its_source_counts_as_found(lab: Any, cities: Path) -> None:
    source = {"source": "cities.csv", "detail": "31 of 32 rows; sums by year"}
    done = {"name": "done", "arguments": {"answer": "They grow.", "evidence": [source]}}
    section = {"heading": "Methods", "paragraphs": ["31 of 32 rows were read [1]."], "figures": []}
    lab.plays(
        plan_initial={"objective": "", "tasks": [analysis("Look.", "cities.csv")]},
        analyzer={**ANALYZER_STEP, "calls": [done]},
        paper={"title": "Growth", "abstract": ["They grow."], "sections": [section], "words": WORDS},
    )
    status = await lab.run(files=[cities])
    ended = await lab.tea.research.drive((await lab.tea.research.paper(status.conversation)).run)
    assert ended.answer["doubts"] == 0


async def test_a_number_of_any_analysis_of_a_dataset_counts_as_found_in_it(lab: Any, cities: Path) -> None:
    def done(request: Any, count: int) -> Any:
        evidence = [{"source": "cities.csv", "detail": "all rows"}] if "Alpha task" in str(request.messages) else []
        answer = "Rome leads." if evidence else "Together they have 3,790,000 people."
        return {**ANALYZER_STEP, "calls": [{"name": "done", "arguments": {"answer": answer, "evidence": evidence}}]}

    section = {"heading": "Results", "text": "They have 3,790,000 people [1], Rome leads [1]."}
    lab.plays(
        plan_initial={"objective": "", "tasks": [analysis("Alpha task", "cities.csv"), analysis("Beta", "cities.csv")]},
        analyzer=done,
        paper={"title": "Growth", "abstract": "They grow.", "sections": [section]},
    )
    status = await lab.run(files=[cities])
    begun = await lab.tea.research.paper(status.conversation)
    ended = await lab.tea.research.drive(begun.run)
    paper = json.loads((lab.tea.home / "traces" / begun.run / "workspace" / "paper.json").read_text())
    assert "[?]" not in json.dumps(paper["sections"])
    assert (ended.answer["doubts"], len(lab.roles.asked("paper"))) == (0, 1)
