"""Test files by people's usual programs, read as Markdown through the platform."""

import base64
import io
import json
import random
import shutil
import subprocess
import tarfile
import time
import wave
import zipfile
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from PIL import Image, ImageDraw, ImageFont, TiffImagePlugin
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table
from swapping import swapping

from tea.components.files import path_in
from tea.errors import ToolError
from tea.platform import Platform
from tea.protocols.tcp import TCPServer
from tea.reading.taken import taken_out

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("ignore:Workbook contains no default style"),
]

Read = Callable[..., Coroutine[Any, Any, Any]]
ROWS = [["Harbour", "Ships", "Tons"], ["Cape North", "12", "1,400"], ["Long Bay", "7", "880"], ["Quay", "31", "12,040"]]
TABLE = "| Harbour | Ships | Tons |\n| --- | --- | --- |\n| Cape North | 12 | 1,400 |"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def read(tools: TCPServer) -> Read:
    async def read(source: str, **arguments: Any) -> Any:
        return (await tools.invoke("to_markdown", {"source": source, **arguments})).unwrap()

    return read


@pytest.fixture
def refused(tools: TCPServer) -> Read:
    async def refused(source: str, **arguments: Any) -> Any:
        response = await tools.invoke("to_markdown", {"source": source, **arguments})
        assert response.error is not None, response.value
        return response.error

    return refused


def pdf(path: Path, *, title: str = "Harbours") -> None:
    style = getSampleStyleSheet()
    words = "The keeper counts the ships that pass the cape by day and by night. " * 6
    story = [
        Paragraph("Harbour report", style["Title"]),
        Paragraph(words, style["BodyText"]),
        Table(ROWS),
        Paragraph("After the table more words follow.", style["BodyText"]),
        PageBreak(),
        Paragraph("Annex", style["Heading1"]),
        Paragraph("The lamp was lit in 1871.", style["BodyText"]),
    ]
    SimpleDocTemplate(str(path), title=title).build(story)


async def test_a_pdf_file_keeps_its_words_apart_and_its_tables(read: Read, folder: Path) -> None:
    pdf(folder / "a.pdf")
    got = await read("a.pdf")
    assert (got["kind"], got["title"], got["facts"]["pages"]) == ("pdf", "Harbours", 2)
    assert TABLE in got["text"]
    assert "The keeper counts the ships that pass the cape" in got["text"]
    assert got["text"].index("After the table") < got["text"].index("[page 2]") < got["text"].index("The lamp was lit")
    assert (got["start"], got["end"], got["total_lines"]) == (1, got["end"], got["end"])
    assert "truncated" not in got


async def test_a_range_of_pages_is_read_and_a_wrong_one_refused(read: Read, refused: Read, folder: Path) -> None:
    pdf(folder / "a.pdf")
    got = await read("a.pdf", pages="2")
    assert "[page 1]" not in got["text"]
    assert "1871" in got["text"]
    assert "2 pages" in (await refused("a.pdf", pages="7"))["problem"]
    for wrong in ("x", "0", "3-2", "-"):
        assert "range of pages" in (await refused("a.pdf", pages=wrong))["problem"]


async def test_a_long_document_is_read_by_outline_find_expression_and_question(read: Read, folder: Path) -> None:
    pdf(folder / "a.pdf")
    assert [one["place"] for one in (await read("a.pdf", outline=True))["outline"]] == ["page 1", "page 2"]
    (found,) = (await read("a.pdf", find="lamp was  LIT"))["matches"]
    assert (found["place"], found["text"]) == ("page 2", "The lamp was lit in 1871.")
    (found,) = (await read("a.pdf", find=r"in 1[0-9]{3}\.", regex=True))["matches"]
    assert found["place"] == "page 2"
    best, *_ = (await read("a.pdf", question="When was the lamp lit?"))["passages"]
    assert "1871" in best["text"]
    (read_on,) = (await read("a.pdf", find="annex"))["matches"]
    assert (await read("a.pdf", start=read_on["line"]))["text"].startswith("Annex")


async def test_words_close_together_are_told_from_words_that_stand_apart(read: Read, folder: Path) -> None:
    apart = [f"The memory of the town is long, it is said in part {number}. " * 9 for number in range(12)]
    between = "The harbour is wide and the boats are many. " * 20
    scattered = f"Memory is needed. {between}The decompression needs it."
    told = "The decompression needs 100k of memory and four bytes for each byte of a block."
    (folder / "a.md").write_text("\n\n".join([*apart[:6], scattered, told, *apart[6:]]))
    got = await read("a.md", question="How much memory does the decompression need?")
    assert "100k" in got["passages"][0]["text"]
    got = await read("a.md", question="Where do zebras live?")
    assert len(got["passages"]) <= 2
    assert "No word of the question stands in it; these parts are the nearest in meaning." in got["notes"]


async def test_an_empty_file_says_so(read: Read, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(b"")
    assert (await read("a.pdf"))["notes"] == ["It is empty."]


async def test_an_expression_that_is_wrong_is_refused(refused: Read, folder: Path) -> None:
    (folder / "a.txt").write_text("a" * 60 + "!")
    assert "expression is wrong" in (await refused("a.txt", find="(", regex=True))["problem"]


@pytest.mark.slow
async def test_an_expression_that_never_ends_is_stopped(refused: Read, folder: Path) -> None:
    (folder / "a.txt").write_text("a" * 60 + "!")
    assert "plain text" in (await refused("a.txt", find="(a+)+$", regex=True))["fix"]


async def test_a_page_without_a_text_layer_says_so(read: Read, folder: Path) -> None:
    Image.new("RGB", (300, 100), "white").save(folder / "scan.pdf")
    got = await read("scan.pdf")
    assert "(no text layer)" in got["text"]
    assert "`ocr` recognises" in got["notes"][0]


async def test_a_workbook_shows_its_sheets(read: Read, folder: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Tides"  # pyright: ignore[reportOptionalMemberAccess]
    for row in (["Day", "High"], ["Monday", 4.5], ["Tuesday", 5]):
        book.active.append(row)  # pyright: ignore[reportOptionalMemberAccess]
    book.save(folder / "a.xlsx")
    got = await read("a.xlsx")
    assert got["text"] == "[sheet Tides]\n\n| Day | High |\n| --- | --- |\n| Monday | 4.5 |\n| Tuesday | 5 |"
    assert got["facts"]["sheets"] == ["Tides"]


async def test_a_word_file_keeps_headings_lists_and_tables_in_order(read: Read, folder: Path) -> None:
    document = docx.Document()
    document.add_heading("Ferry", 1)
    document.add_paragraph("Dogs travel free.", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip((c for row in table.rows for c in row.cells), ("Who", "Fare", "Child", "free"), strict=True):
        cell.text = text
    document.add_paragraph("The end.")
    document.save(str(folder / "a.docx"))
    text = (await read("a.docx"))["text"]
    assert text == "# Ferry\n\n- Dogs travel free.\n\n| Who | Fare |\n| --- | --- |\n| Child | free |\n\nThe end."


async def test_slides_are_told_by_number(read: Read, folder: Path) -> None:
    slides = pptx.Presentation()
    for title in ("Fares", "Times"):
        slide = slides.slides.add_slide(slides.slide_layouts[5])
        assert slide.shapes.title is not None
        slide.shapes.title.text = title
    slides.save(str(folder / "a.pptx"))
    outline = (await read("a.pptx", outline=True))["outline"]
    assert [(one["title"], one["place"]) for one in outline] == [("Fares", "slide 1"), ("Times", "slide 2")]


OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def packed(path: Path, parts: dict[str, str | bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


async def test_an_open_document_is_read(read: Read, folder: Path) -> None:
    content = f"""<office:document-content xmlns:office="{OFFICE}:office:1.0" xmlns:text="{OFFICE}:text:1.0"
    xmlns:table="{OFFICE}:table:1.0"><office:body><office:text><text:h text:outline-level="2">Fares</text:h>
    <text:p>A crossing<text:s/>costs <text:span>3.50</text:span>.</text:p><text:list><text:list-item>
    <text:p>Dogs free</text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell>
    <text:p>Child</text:p></table:table-cell></table:table-row></table:table></office:text></office:body>
    </office:document-content>"""
    kind = "application/vnd.oasis.opendocument.text"
    packed(folder / "a.odt", {"mimetype": kind, "content.xml": content})
    got = await read("a.odt")
    assert got["kind"] == "odt"
    assert got["text"] == "## Fares\n\nA crossing costs 3.50.\n\n- Dogs free\n\n| Child |\n| --- |"


async def test_a_book_is_read_chapter_by_chapter(read: Read, folder: Path) -> None:
    container = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
    <rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"""
    package = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>
    <dc:title>The cape</dc:title><dc:creator>Ida Holm</dc:creator></metadata><manifest>
    <item id="two" href="two.xhtml"/><item id="one" href="text/one.xhtml"/></manifest>
    <spine><itemref idref="one"/><itemref idref="two"/></spine></package>"""
    page = "<html><body><h1>{}</h1><p>{}</p></body></html>"
    packed(
        folder / "a.epub",
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OEBPS/book.opf": package,
            "OEBPS/text/one.xhtml": page.format("Dawn", "The lamp goes out."),
            "OEBPS/two.xhtml": page.format("Dusk", "The lamp is lit."),
        },
    )
    got = await read("a.epub")
    assert (got["title"], got["facts"]["author"]) == ("The cape", "Ida Holm")
    assert got["text"] == "[chapter 1]\n\n# Dawn\n\nThe lamp goes out.\n\n[chapter 2]\n\n# Dusk\n\nThe lamp is lit."


async def test_a_notebook_tells_its_cells_and_what_they_gave(read: Read, folder: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Tides\n", "By day."]},
        {"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": ["2"]}}]},
    ]
    told = {"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": cells}
    (folder / "a.ipynb").write_text(json.dumps(told))
    text = (await read("a.ipynb"))["text"]
    assert text.startswith("[cell 1]\n\n# Tides\nBy day.\n\n[cell 2]\n\n```python\n1 + 1\n```")
    assert "Output:\n\n```\n2\n```" in text


async def test_an_image_tells_its_size_and_what_its_camera_wrote(read: Read, folder: Path) -> None:
    image, data = Image.new("RGB", (30, 20)), Image.Exif()
    data[0x0110] = "Lighthouse 3"
    gps = data.get_ifd(0x8825)
    third = TiffImagePlugin.IFDRational
    gps |= {1: "S", 2: (third(10), third(30), third(0)), 3: "E", 4: (third(5), third(0), third(0))}
    image.save(folder / "a.jpg", exif=data)
    facts = (await read("a.jpg"))["facts"]
    assert (facts["width"], facts["height"], facts["Model"]) == (30, 20, "Lighthouse 3")
    assert facts["place"] == "-10.500000, 5.000000"


@pytest.mark.parametrize("form", ["ICO", "ICNS", "JPEG2000", "PPM", "PCX", "DDS"])
async def test_an_image_of_a_rarer_format_is_read_under_any_name(read: Read, folder: Path, form: str) -> None:
    Image.new("RGB", (32, 32), "red").save(folder / "rarer.bin", format=form)
    assert "- width: " in (await read("rarer.bin"))["text"]


async def test_a_bitmap_written_in_numbers_is_an_image_and_a_text_like_one_is_not(read: Read, folder: Path) -> None:
    (folder / "a.bin").write_bytes(b"P3\n# red and blue\n2 1\n255\n255 0 0  0 0 255\n")
    assert "- width: 2" in (await read("a.bin"))["text"]
    (folder / "b.txt").write_bytes(b"P3 holds 2 1 and more\n")
    assert (await read("b.txt"))["kind"] == "text"


@pytest.mark.parametrize("words", ["The new WAVE of ships", "OggS", "Mostftyp", "caffeine", "wvpk", "8BPS", "DDS 1"])
async def test_a_text_that_begins_with_the_mark_of_a_sound_or_image_is_a_text(
    read: Read, folder: Path, words: str
) -> None:
    (folder / "a").write_text(f"{words} came into the harbour.\n")
    assert (await read("a"))["text"] == f"{words} came into the harbour."


@pytest.mark.parametrize("form", ["au", "aiff", "adts", "caf", "asf", "flv", "wv", "mpegts", "ac3", "mp2"])
async def test_a_sound_of_a_rarer_format_is_read_under_any_name(tools: TCPServer, folder: Path, form: str) -> None:
    if shutil.which("ffmpeg") is None:
        (folder / "rarer.bin").write_bytes(b".snd\0\0\0\x18" + bytes(40))
        response = await tools.invoke("to_markdown", {"source": "rarer.bin"})
        assert response.error is not None
        assert "apt-get install ffmpeg" in response.error["fix"]
        return
    made = f"-f lavfi -i sine=d=1 -ar 44100 -f {form} rarer.bin"
    subprocess.run(["ffmpeg", "-v", "error", *made.split()], check=True)
    got = (await tools.invoke("to_markdown", {"source": "rarer.bin"})).unwrap()
    assert 0.9 < got["facts"]["seconds"] < 1.2
    assert "44100 Hz" in got["facts"]["audio"]


async def test_a_sound_tells_its_length(read: Read, folder: Path) -> None:
    with wave.open(str(folder / "a.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8_000)
        sound.writeframes(bytes(16_000))
    assert (await read("a.wav"))["facts"]["seconds"] == 1.0


def taped(*members: tuple[str, bytes, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, content, kind in members:
            one = tarfile.TarInfo(name)
            one.type, one.size = kind, len(content) if kind == tarfile.REGTYPE else 0
            one.linkname = "/etc/passwd" if kind != tarfile.REGTYPE else ""
            archive.addfile(one, io.BytesIO(content))
    return data.getvalue()


async def test_an_archive_becomes_a_folder_with_archives_in_it_unpacked(read: Read, folder: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("deep/deep.txt", "found it")
    packed(
        folder / "a.zip", {"data/a.csv": "a,b\n1,2\n", "in.zip": inner.getvalue(), "m.tgz": taped(("x", b"y", b"0"))}
    )
    got = await read("a.zip")
    assert sorted(got["files"]) == ["a.zip.d/data/a.csv", "a.zip.d/in.zip.d/deep/deep.txt", "a.zip.d/m.tgz.d/x"]
    assert (folder / "a.zip.d/in.zip.d/deep/deep.txt").read_text() == "found it"
    assert await read("a.zip") == got


async def test_no_name_and_no_link_in_an_archive_leads_out_of_its_folder(read: Read, folder: Path) -> None:
    parts: dict[str, str | bytes] = {"../evil": "x", "/etc/evil": "x", "a/../../evil": "x", "C:\\evil": "x", "ok": "y"}
    packed(folder / "a.zip", parts)
    got = await read("a.zip")
    assert got["files"] == ["a.zip.d/ok"]
    assert "leads out of its folder" in got["notes"][0]
    data = taped(("link", b"", tarfile.SYMTYPE), ("hard", b"", tarfile.LNKTYPE), ("pipe", b"", b"6"), ("f", b"y", b"0"))
    (folder / "b.tar.gz").write_bytes(data)
    assert (await read("b.tar.gz"))["files"] == ["b.tar.gz.d/f"]
    assert not list(folder.parent.glob("evil"))


async def test_a_link_in_the_place_of_the_folder_is_not_followed(refused: Read, folder: Path) -> None:
    packed(folder / "a.zip", {"f": "y"})
    (folder / "a.zip.d").symlink_to(folder.parent)
    assert "outside of the workspace" in (await refused("a.zip"))["problem"]
    packed(folder / "b.zip", {"deep/f": "y"})
    (folder / "b.zip.d").mkdir()
    (folder / "b.zip.d/deep").symlink_to(folder.parent)
    assert "cannot be written" in (await refused("b.zip"))["problem"]
    assert not (folder.parent / "f").exists()


async def test_type_is_told_by_content_and_not_by_name(read: Read, folder: Path) -> None:
    pdf(folder / "a.docx")
    assert (await read("a.docx"))["kind"] == "pdf"
    (folder / "b.pdf").write_text("no pdf")
    assert (await read("b.pdf"))["kind"] == "text"
    (folder / "c.txt").write_text("<!doctype html><title>T</title><main><h1>Head</h1><p>Words</p></main>")
    assert (await read("c.txt"))["kind"] == "html"


async def test_what_says_nothing_is_left_out(read: Read, folder: Path) -> None:
    (folder / "a.md").write_text("Only words.")
    got = await read("a.md")
    assert got.pop("document")
    assert got == {"source": "a.md", "kind": "markdown", "total_lines": 1, "start": 1, "end": 1, "text": "Only words."}
    (folder / "a.txt").write_bytes("Grüße".encode("utf-16-le"))
    assert (await read("a.txt"))["facts"] == {"encoding": "utf-16-le"}
    (folder / "b.md").write_text("Only words.\n" * 5_000)
    got = await read("b.md")
    assert (got["next_start"], "truncated" in got) == (got["end"] + 1, False)
    found = await read("b.md", find="words")
    assert (found["total"], "truncated" in found) == (5_000, False)
    assert [(one["line"], one["times"]) for one in found["matches"]] == [(1, 5_000)]


async def test_found_lines_are_folded_and_few_have_the_lines_around_them(read: Read, folder: Path) -> None:
    prose = [f"In {1900 + number} the leakage was estimated by night flow." for number in range(90)]
    others = [f"Leakage {chr(97 + number // 26)}{chr(97 + number % 26)} is a word." for number in range(90)]
    rows = ["| leakage | 1 |", "| leakage | 2 |"]
    table = ["## Leakage of the south", "", "| a | b |", "| --- | --- |", *rows]
    (folder / "a.md").write_text("\n\n".join([*prose, *others]) + "\n\n" + "\n".join(table) + "\n\nThe end.\n")
    got = await read("a.md", find="leakage")
    texts = [one["text"] for one in got["matches"]]
    assert (texts[0], got["matches"][0]["times"]) == (prose[0], 90)
    assert texts[-3:] == [table[0], *rows]
    assert (len(texts), got["total"]) == (40, 183)
    assert got["notes"][0].startswith("54 found lines are not shown: find more words")
    (found,) = (await read("a.md", find="of the south"))["matches"]
    assert found["around"].splitlines()[2:] == table[:6]
    assert (await read("a.md", find=r"^\| leakage", regex=True))["total"] == 2


async def test_a_page_nested_too_deeply_says_so(read: Read, refused: Read, folder: Path) -> None:
    def nested(depth: int) -> str:
        return f"<html><body><p>Before</p>{'<div>' * depth}<p>Within</p>{'</div>' * depth}<p>Behind</p>"

    (folder / "a.html").write_text(nested(900))
    got = await read("a.html")
    assert got["text"].split() == ["Before", "Within", "Behind"]
    assert "notes" not in got
    for depth in (1_100, 30_000):
        (folder / "b.html").write_text(nested(depth))
        got = await read("b.html")
        assert "Within" not in got["text"]
        assert "nested too deeply" in got["notes"][0]
        assert got["truncated"]
    (folder / "c.html").write_text(nested(30_000).replace("Before", ""))
    assert "is nested too deeply" in (await refused("c.html"))["problem"]


async def test_a_table_named_otherwise_is_read_as_what_it_is(read: Read, folder: Path) -> None:
    (folder / "a.csv").write_text('[{"a": 1},\n {"a": 2}]')
    assert (await read("a.csv"))["kind"] == "json"
    (folder / "b.csv").write_text("[a],[b]\n1,2\n")
    assert (await read("b.csv"))["kind"] == "csv"
    (folder / "c.csv").write_text(json.dumps([{"a": number} for number in range(5_000)]))
    assert (await read("c.csv"))["kind"] == "json"
    (folder / "d.csv").write_bytes("<!doctype html><h1>Head</h1>".encode("utf-16-be"))
    assert (await read("d.csv"))["text"] == "# Head"


async def test_bytes_are_read_from_a_data_address(read: Read, refused: Read) -> None:
    encoded = base64.b64encode(b"<!doctype html><h1>Head</h1><p>Words</p>").decode()
    assert (await read(f"data:text/html;base64,{encoded}"))["text"] == "# Head\n\nWords"
    assert (await read("data:text/plain,a%20b"))["text"] == "a b"
    assert "base64" in (await refused("data:text/plain;base64,!"))["problem"]


async def test_entities_of_xml_are_not_resolved(read: Read, refused: Read, folder: Path) -> None:
    text = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
    (folder / "a.xml").write_text(text)
    got = await read("a.xml")
    assert "root:" not in got["text"]
    assert "none was resolved" in got["notes"][0]
    laughs = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
    content = f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a0 "ha">{laughs}]><a>&a9;</a>'
    packed(folder / "b.odt", {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})
    assert "XML that cannot be read" in (await refused("b.odt"))["problem"]


OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
BROKEN: dict[str, tuple[bytes, str]] = {
    "pdf": (b"%PDF-1.7 and no more", "damaged PDF"),
    "zip": (b"PK\x03\x04" + bytes(40), "damaged"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(40), "image"),
    "gz": (b"\x1f\x8b\x08\x00" + bytes(30), "damaged"),
    "doc": (OLD + bytes(600), "old or encrypted Office"),
    "bin": (b"\x00\x01\x02", "binary data"),
    "msg": (OLD + bytes(600) + "__properties_version1.0".encode("utf-16-le"), "an Outlook message"),
    "xls": (OLD + bytes(70_000) + "Workbook".encode("utf-16-le"), "an Excel file of before 2007"),
    "ppt": (OLD + bytes(70_000) + "EncryptedPackage".encode("utf-16-le"), "an encrypted Office file"),
    "mid": (b"MThd\0\0\0\x06", "a MIDI file"),
    "deb": (b"!<arch>\ndebian-binary   ", "Debian package"),
    "ttf": (b"\x00\x01\x00\x00\x00\x0f", "a font"),
    "rar": (b"Rar!\x1a\x07\x01\x00", "RAR"),
}


@pytest.mark.parametrize("ending", BROKEN)
async def test_what_cannot_be_read_is_one_clear_line(refused: Read, folder: Path, ending: str) -> None:
    data, words = BROKEN[ending]
    (folder / f"a.{ending}").write_bytes(data)
    error = await refused(f"a.{ending}")
    assert f"'a.{ending}'" in error["problem"]
    assert words in error["problem"]
    assert error["fix"]


async def test_what_is_left_out_of_an_archive_is_told(read: Read, folder: Path) -> None:
    (folder / "a.tar").write_bytes(taped(("link", b"", tarfile.SYMTYPE), ("pipe", b"", b"6"), ("f", b"y", b"0")))
    assert (await read("a.tar"))["notes"] == ["Left out: 'link' (a link or device); 'pipe' (a link or device)."]
    packed(folder / "0.zip", {"f": "y"})
    for number in range(3):
        packed(folder / f"{number + 1}.zip", {f"{number}.zip": (folder / f"{number}.zip").read_bytes()})
    got = await read("3.zip")
    assert got["files"] == ["3.zip.d/2.zip.d/1.zip.d/0.zip"]
    assert got["notes"] == ["Left out: what is in '2.zip.d/1.zip.d/0.zip' (more than 3 archives deep)."]
    packed(folder / "many.zip", {f"../{number}": "x" for number in range(12)})
    assert (await read("many.zip"))["notes"][0].endswith("; and 2 more.")


async def test_a_damaged_video_is_told_in_one_line_without_the_words_of_programs(refused: Read, folder: Path) -> None:
    (folder / "a.mp4").write_bytes(b"\0\0\0\x18ftypmp42" + bytes(2_000))
    problem = (await refused("a.mp4"))["problem"]
    assert problem.startswith("'a.mp4' is a damaged sound or video: ")
    assert not [one for one in ("Warning", "0x", "/workspace", "[mov") if one in problem]


async def test_an_encrypted_archive_is_told(refused: Read, folder: Path) -> None:
    packed(folder / "a.zip", {"f": "y"})
    data = bytearray((folder / "a.zip").read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (folder / "a.zip").write_bytes(data)
    assert "encrypted" in (await refused("a.zip"))["problem"]


async def test_a_folder_that_becomes_a_link_meanwhile_takes_nothing_out_of_the_workspace(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    parts, outside = tmp_path_factory.mktemp("parts"), tmp_path_factory.mktemp("outside")
    (parts / "a.txt").write_text("own")
    (folder / "d").mkdir()
    with swapping(folder / "d", outside):
        for number in range(200):
            with suppress(ToolError):
                taken_out(parts, path_in(str(folder), f"d/{number}"))
    assert list(outside.iterdir()) == []
    assert taken_out(parts, path_in(str(folder), "d/last")) == ["a.txt"]


async def test_a_bomb_is_refused_before_it_is_unpacked(refused: Read, folder: Path) -> None:
    packed(folder / "a.zip", {"zeros": bytes(120_000_000)})
    assert "unpacks to more than" in (await refused("a.zip"))["problem"]
    packed(folder / "b.docx", {"word/document.xml": bytes(120_000_000)})
    assert "unpacks to more than" in (await refused("b.docx"))["problem"]


@pytest.mark.slow
async def test_a_parser_that_takes_too_much_is_killed_and_the_next_cheaper_way_is_named(
    refused: Read, folder: Path
) -> None:
    main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "<w:p><w:r><w:t>x</w:t></w:r></w:p>" * 2_500_000
    document = docx.Document()
    document.save(str(folder / "b.docx"))
    with zipfile.ZipFile(folder / "b.docx") as archive:
        parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    parts["word/document.xml"] = f'<w:document xmlns:w="{main}"><w:body>{body}</w:body></w:document>'
    packed(folder / "a.docx", parts)
    error = await refused("a.docx")
    assert "was not read" in error["problem"] or "unpacks" in error["problem"]
    assert error["fix"]


async def test_a_file_with_macros_says_that_they_were_not_run(read: Read, folder: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Words.")
    document.save(str(folder / "a.docm"))
    with zipfile.ZipFile(folder / "a.docm", "a") as archive:
        archive.writestr("word/vbaProject.bin", b"\0")
    got = await read("a.docm")
    assert got["text"] == "Words."
    assert "macros" in got["notes"][0]


async def test_as_an_action_it_shares_the_files_of_a_session(tea: Platform, folder: Path) -> None:
    await tea.ecp.transform("T2E", ["to_markdown", "read_file"], name="desk", description="A desk for reading.")
    packed(folder / "a.zip", {"f.txt": "found it"})
    got = (await tea.ecp.invoke("desk#to_markdown", {"source": "a.zip"})).unwrap()
    text = (await tea.ecp.invoke("desk#read_file", {"path": got["files"][0]})).unwrap()["text"]
    assert text == "found it"


async def test_a_file_in_an_archive_is_read_on_by_its_name(tools: TCPServer, read: Read, folder: Path) -> None:
    packed(folder / "a.zip", {"t.csv": "city,ships\nBergen,3\nOslo,4\n"})
    (name,) = (await read("a.zip"))["files"]
    found = (await tools.invoke("table_query", {"files": [name], "sql": "SELECT sum(ships) FROM t"})).unwrap()
    assert found["rows"] == [[7]]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tesseract") is None, reason="no program reads letters")
async def test_an_image_full_of_signs_holds_up_nobody_who_did_not_ask_for_its_letters(
    tools: TCPServer, folder: Path
) -> None:
    image, chance = Image.new("L", (1_600, 1_600), 255), random.Random(3)
    for top in range(0, 1_600, 9):
        signs = "".join(chance.choice("abcdefghijklmnopqrstuvwxyz0123456789@#&% ") for _ in range(300))
        ImageDraw.Draw(image).text((0, top), signs, fill=0)
    image.save(folder / "dense.png")
    begun = time.monotonic()
    read = (await tools.invoke("to_markdown", {"source": "dense.png"})).unwrap()
    assert read["facts"]["width"] == 1_600
    assert time.monotonic() - begun < 20


async def test_letters_as_small_as_on_a_screen_are_recognised(tools: TCPServer, folder: Path) -> None:
    image = Image.new("RGB", (600, 120), "white")
    ImageDraw.Draw(image).text((10, 40), "Total due: 1,340.50 EUR until 12 May", fill="black")
    image.save(folder / "a.png")
    response = await tools.invoke("to_markdown", {"source": "a.png", "ocr": True})
    wanted = "Total due: 1,340.50 EUR until 12 May" if shutil.which("tesseract") else "apt-get install tesseract-ocr"
    assert wanted in str(response.value if response.ok else response.error)
    unasked = (await tools.invoke("to_markdown", {"source": "a.png"})).unwrap()
    assert (wanted if shutil.which("tesseract") else "`ocr` recognises") in str(unasked)


async def test_letters_are_recognised_or_the_command_that_installs_it_is_told(tools: TCPServer, folder: Path) -> None:
    image = Image.new("RGB", (700, 200), "white")
    ImageDraw.Draw(image).text((20, 60), "HARBOUR 1871", fill="black", font=ImageFont.load_default(80))
    image.save(folder / "a.png")
    image.save(folder / "scan.pdf")
    for name in ("a.png", "scan.pdf"):
        response = await tools.invoke("to_markdown", {"source": name, "ocr": True})
        if shutil.which("tesseract"):
            assert "HARBOUR 1871" in response.unwrap()["text"]
            response = await tools.invoke("to_markdown", {"source": name, "ocr": True, "language": "eng+zzz_a"})
            assert response.error is not None
            assert "cannot be recognised in zzz_a: tesseract has eng" in response.error["problem"]
            assert "apt-get install tesseract-ocr-zzz-a;" in response.error["fix"]
        else:
            assert response.error is not None
            assert "apt-get install tesseract-ocr" in response.error["fix"]


async def test_a_video_is_taken_apart_or_the_command_that_installs_it_is_told(tools: TCPServer, folder: Path) -> None:
    if shutil.which("ffmpeg") is None:
        (folder / "a.mp4").write_bytes(b"\x00\x00\x00\x20ftypisom" + bytes(20))
        response = await tools.invoke("to_markdown", {"source": "a.mp4"})
        assert response.error is not None
        assert "apt-get install ffmpeg" in response.error["fix"]
        return
    made = "-f lavfi -i testsrc=d=1:s=64x48 -f lavfi -i sine=d=1 -c:v mpeg4"
    subprocess.run(["ffmpeg", "-v", "error", *made.split(), "a.mp4"], check=True)
    got = (await tools.invoke("to_markdown", {"source": "a.mp4", "unpack": True})).unwrap()
    assert got["facts"]["video"] == "mpeg4, 64x48"
    assert len(got["files"]) == 9
    assert (folder / "a.mp4.d/sound.mp3").stat().st_size > 1_000
    assert "transcribed" in got["notes"][0]


async def test_a_7z_archive_is_unpacked_or_the_command_that_installs_it_is_told(tools: TCPServer, folder: Path) -> None:
    program = next((one for one in ("7zz", "7z", "7za") if shutil.which(one)), "")
    (folder / "a.7z").write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(26))
    response = await tools.invoke("to_markdown", {"source": "a.7z"})
    assert response.error is not None
    if not program:
        assert "apt-get install 7zip" in response.error["fix"]
        return
    assert "damaged" in response.error["problem"]
    (folder / "f.txt").write_text("found it")
    subprocess.run([program, "a", "-bd", "b.7z", "f.txt"], check=True, capture_output=True)
    got = (await tools.invoke("to_markdown", {"source": "b.7z"})).unwrap()
    assert (folder / got["files"][0]).read_text() == "found it"
    subprocess.run([program, "a", "-bd", "-psecret", "-mhe=on", "c.7z", "f.txt"], check=True, capture_output=True)
    subprocess.run([program, "a", "-bd", "-psecret", "d.7z", "f.txt"], check=True, capture_output=True)
    for name in ("c.7z", "d.7z"):  # whose names are hidden too, and whose contents alone are
        hidden = await tools.invoke("to_markdown", {"source": name})
        assert hidden.error == {
            "code": "ToolError", "problem": f"{name!r} is encrypted.", "fix": "give a copy without a password.",
        }  # fmt: skip
