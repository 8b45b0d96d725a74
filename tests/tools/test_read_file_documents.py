"""Test documents by people's usual libraries, read back as lines and passages."""

from pathlib import Path
from typing import Any

import pytest

from tea.protocols.tcp import TCPServer

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def read(tools: TCPServer, name: str, **arguments: Any) -> Any:
    return (await tools.invoke("read_file", {"path": name, **arguments})).unwrap()


def pdf_of(*pages: str) -> bytes:
    """Return a PDF file with one line of text on each page."""
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET" if text else ""
        place = "/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {place} /Contents {5 + 2 * number} 0 R >>")
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    body, offsets = "%PDF-1.4\n", list[int]()
    for number, text in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n"
    entries = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    count = len(objects) + 1
    table = f"xref\n0 {count}\n0000000000 65535 f \n{entries}"
    return f"{body}{table}trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n".encode()


async def test_a_pdf_file_tells_its_pages(tools: TCPServer, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(pdf_of("The ferry was founded in 1908.", "A crossing costs 3.50 crowns."))
    got = await read(tools, "a.pdf")
    assert got["read_as"] == "pdf"
    assert got["text"].strip().split("\n\n") == [
        "[page 1]", "The ferry was founded in 1908.", "[page 2]", "A crossing costs 3.50 crowns.",
    ]  # fmt: skip
    (best, *_) = (await read(tools, "a.pdf", find="What does a crossing cost?"))["passages"]
    assert (best["text"], best["place"]) == ("A crossing costs 3.50 crowns.", "page 2")
    assert (await read(tools, "a.pdf", start=best["start"], lines=1))["place"] == "page 2"


async def test_a_document_is_known_by_its_bytes_where_its_name_tells_nothing(tools: TCPServer, folder: Path) -> None:
    (folder / "download").write_bytes(pdf_of("The ferry was founded in 1908."))
    got = await read(tools, "download")
    assert (got["read_as"], "1908" in got["text"]) == ("pdf", True)


@pytest.mark.parametrize("data", [pdf_of(""), b"%PDF-1.4 and no more"])
async def test_a_pdf_file_without_text_is_one_clear_refusal(tools: TCPServer, folder: Path, data: bytes) -> None:
    (folder / "a.pdf").write_bytes(data)
    got = await tools.invoke("read_file", {"path": "a.pdf"})
    assert got.error is not None
    assert "a.pdf" in got.error["problem"]


async def test_a_word_file_keeps_its_order_and_headings(tools: TCPServer, folder: Path) -> None:
    import docx

    document = docx.Document()
    document.add_heading("Ferry", 1)
    document.add_heading("Fares", 2)
    document.add_paragraph("A crossing costs 3.50 crowns.")
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Child", "free"
    document.add_paragraph("Bicycles pay one crown.")
    document.save(str(folder / "a.docx"))
    got = await read(tools, "a.docx")
    assert [block for block in got["text"].split("\n") if block] == [
        "# Ferry", "## Fares", "A crossing costs 3.50 crowns.", "| Child | free |", "| --- | --- |",
        "Bicycles pay one crown.",
    ]  # fmt: skip
    (best, *_) = (await read(tools, "a.docx", find="What does a crossing cost?"))["passages"]
    assert best["text"] == "A crossing costs 3.50 crowns."


async def test_slides_tell_their_tables_groups_and_notes(tools: TCPServer, folder: Path) -> None:
    import pptx

    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    slide.shapes.title.text = "Fares"
    table = slide.shapes.add_table(1, 2, 0, 0, 900, 900).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Child", "free"
    slide.shapes.add_group_shape().shapes.add_textbox(0, 0, 900, 900).text_frame.text = "Dogs travel free."
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    slides.save(str(folder / "a.pptx"))
    got = await read(tools, "a.pptx")
    assert [block for block in got["text"].split("\n") if block] == [
        "[slide 1]", "# Fares", "| Child | free |", "| --- | --- |", "Dogs travel free.", "Say it slowly.",
    ]  # fmt: skip
