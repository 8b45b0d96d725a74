"""Test lines of texts, and passages by a question."""

import io
import json
import os
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from swapping import swapping

from tea.protocols.tcp import TCPServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = """# The lighthouse

The lighthouse was built in 1871 by Dr. Ida Holm. It is 41 metres
tall. Nobody has lived there since 1962.

- The lamp uses 1,000 watts.
- Tours start at noon.
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "light.md").write_text(TEXT, encoding="utf-8")
    return tmp_path


async def test_lines_come_with_their_numbers(tools: TCPServer) -> None:
    got = (await tools.invoke("read_file", {"path": "light.md", "start": 3, "lines": 2})).unwrap()
    assert got["text"].startswith("The lighthouse was built")
    assert (got["start"], got["end"], got["total_lines"], got["next_start"]) == (3, 4, 7, 5)


@pytest.mark.parametrize(
    ("question", "sentence", "lines"),
    [
        ("Who built the lighthouse?", "The lighthouse was built in 1871 by Dr. Ida Holm.", (3, 3)),
        ("How tall is it?", "It is 41 metres tall.", (3, 4)),
        ("When do tours start?", "- Tours start at noon.", (7, 7)),
    ],
)
async def test_the_best_passage_comes_first(
    tools: TCPServer, question: str, sentence: str, lines: tuple[int, int]
) -> None:
    best = (await tools.invoke("read_file", {"path": "light.md", "find": question})).unwrap()["passages"][0]
    assert (best["text"], (best["start"], best["end"])) == (sentence, lines)


async def test_passages_are_few_and_neighbours_are_one(tools: TCPServer, folder: Path) -> None:
    noise = [f"On day {number} the lamp of the quay was seen, and the mail came late.\n\n" for number in range(40)]
    told = (
        "The toll for a boat is 14 shillings. The toll for a\nbarge is 30 shillings. A sparrow sang. Toll is paid.\n\n"
    )
    (folder / "chronicle.txt").write_text("".join([*noise[:20], told, *noise[20:]]), encoding="utf-8")
    got = (
        await tools.invoke("read_file", {"path": "chronicle.txt", "find": "shillings toll lamp boat barge"})
    ).unwrap()
    text = "The toll for a boat is 14 shillings. The toll for a barge is 30 shillings. \u2026 Toll is paid."
    assert got["passages"] == [{"start": 41, "end": 42, "text": text}]
    assert "more_passages" not in got
    many = (await tools.invoke("read_file", {"path": "chronicle.txt", "find": "lamp"})).unwrap()
    assert len(many["passages"]) == 8
    assert many["more_passages"] > 0


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "cp1252", "utf-8-sig"])
async def test_other_encodings_are_read_and_said(tools: TCPServer, folder: Path, encoding: str) -> None:
    (folder / "a.txt").write_bytes("Größe: 3".encode(encoding))
    got = (await tools.invoke("read_file", {"path": "a.txt"})).unwrap()
    assert got["text"] == "Größe: 3"
    assert got.get("read_as") == {"cp1252": "windows-1252", "utf-8-sig": None}.get(encoding, "utf-16")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
async def test_a_text_of_two_bytes_a_letter_needs_no_mark(tools: TCPServer, folder: Path, encoding: str) -> None:
    text = "名前,値段\u3000円\nＡ東京,12\n大阪Ā,3456\n"
    (folder / "a.txt").write_bytes(text.encode(encoding))
    assert (await tools.invoke("read_file", {"path": "a.txt"})).unwrap()["text"] == text.rstrip()
    numbers = b"".join(number.to_bytes(2, "little") for number in range(0, 4_000, 7))
    (folder / "a.txt").write_bytes(numbers)
    assert not (await tools.invoke("read_file", {"path": "a.txt"})).ok


@pytest.mark.parametrize("path", ["nowhere.txt", "../nowhere.md", "binary.bin", "bad.pdf"])
async def test_what_cannot_be_read_is_one_clear_line(tools: TCPServer, folder: Path, path: str) -> None:
    (folder / "binary.bin").write_bytes(b"\x00\x01")
    (folder / "bad.pdf").write_bytes(b"%PDF-1.7 and no more")
    response = await tools.invoke("read_file", {"path": path})
    assert not response.ok
    assert response.error
    assert "\n" not in response.error["problem"]
    assert response.error["fix"]


NOTES = """# Notes

**Where do I park?**
Behind the mill.

## Opening hours
They are from nine to five.

Weight: 2.3 kg
"""


async def test_headings_and_questions_lend_their_words_to_what_stands_below(tools: TCPServer, folder: Path) -> None:
    (folder / "notes.md").write_text(NOTES, encoding="utf-8")
    for question, text in (("parking", "Behind the mill."), ("opening", "They are from nine to five.")):
        found = (await tools.invoke("read_file", {"path": "notes.md", "find": question})).unwrap()["passages"]
        assert next(one["text"] for one in found if not one["text"].startswith("#")) == text


async def test_a_word_near_in_meaning_finds_a_line_by_its_key(tools: TCPServer, folder: Path) -> None:
    (folder / "notes.md").write_text(NOTES, encoding="utf-8")
    got = (await tools.invoke("read_file", {"path": "notes.md", "find": "What does it weigh?"})).unwrap()
    assert got["passages"][0]["text"] == "Weight: 2.3 kg"


async def test_a_reader_gets_no_more_than_what_stands_where(tools: TCPServer) -> None:
    got = (await tools.invoke("read_file", {"path": "light.md", "find": "Who built the lighthouse?"})).unwrap()
    assert got.keys() == {"total_lines", "passages"}
    first = {
        "start": 3,
        "end": 3,
        "text": "The lighthouse was built in 1871 by Dr. Ida Holm.",
        "heading": "The lighthouse",
    }
    assert got["passages"][0] == first
    assert all(one.keys() <= first.keys() for one in got["passages"])
    got = (await tools.invoke("read_file", {"path": "light.md"})).unwrap()
    assert got.keys() == {"total_lines", "start", "end", "text"}


LINES = st.lists(st.integers(0, 90) | st.integers(0, 40_000), min_size=1, max_size=60)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(sizes=LINES, most=st.sampled_from([1, 7, 400]))
async def test_what_was_cut_is_read_on_where_the_result_says(
    tools: TCPServer, folder: Path, sizes: list[int], most: int
) -> None:
    lines = [str(number) * (size // len(str(number))) + "." for number, size in enumerate(sizes)]
    (folder / "long.txt").write_text("\n".join(lines))
    read, at = list[str](), {"start": 1, "offset": 0}
    while at:
        got: dict[str, Any] = (await tools.invoke("read_file", {"path": "long.txt", "lines": most, **at})).unwrap()
        assert len(got["text"]) <= 16_000
        parts = got["text"].split("\n")
        assert (got["start"], got["end"], got["total_lines"]) == (at["start"], at["start"] + len(parts) - 1, len(lines))
        read = [*read[:-1], read[-1] + parts[0], *parts[1:]] if at["offset"] else [*read, *parts]
        at = {"start": got["next_start"], "offset": got.get("next_offset", 0)} if "next_start" in got else {}
    assert read == lines


async def test_places_that_are_not_there_are_refused(tools: TCPServer, folder: Path) -> None:
    (folder / "empty.txt").write_text("")
    for arguments in (
        {"start": 8},
        {"start": 0},
        {"lines": 0},
        {"offset": -1},
        {"offset": 16},
        {"start": 2, "offset": 1},
    ):
        response = await tools.invoke("read_file", {"path": "light.md", **arguments})
        assert response.error is not None, arguments
        assert response.error["code"] == "ToolError"
    got = (await tools.invoke("read_file", {"path": "empty.txt"})).unwrap()
    assert got == {"total_lines": 0, "start": 1, "end": 0, "text": ""}


def packed(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return data.getvalue()


def taped() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return data.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(70_000), "a PNG image of 70 kB"),
        (b"\xff\xd8\xff\xe0" + bytes(9), "a JPEG image of 13 bytes"),
        (b"RIFF\x10\x00\x00\x00WAVEfmt " + bytes(8), "a WAV sound of 24 bytes"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 " + bytes(8), "a WebP image of 24 bytes"),
        (b"ID3\x04\xff\xfe\xfd", "an MP3 sound of 7 bytes"),
        (b"\x00\x00\x00\x20ftypisom" + bytes(8), "an MP4 video of 20 bytes"),
        (b"\x1f\x8b\x08\x00" + bytes(5), "a GZIP archive of 9 bytes"),
        (packed("a.txt"), "a ZIP archive of "),
        (packed("xl/workbook.xml"), "an XLSX workbook of "),
        (taped(), "a TAR archive of 10 kB"),
        (b"\x00\x01", "binary data of 2 bytes"),
        (b"\x89PNG\r\n\x1a\n" + bytes(60_000_000), "a PNG image of 60.0 MB"),
    ],
    ids=lambda one: one[:20] if isinstance(one, str) else "",
)
async def test_what_is_no_text_is_called_what_it_is_whatever_its_name(
    tools: TCPServer, folder: Path, data: bytes, kind: str
) -> None:
    (folder / "thing.txt").write_bytes(data)
    error = (await tools.invoke("read_file", {"path": "thing.txt"})).error
    assert error is not None
    assert error["problem"].startswith(f"'thing.txt' is {kind}")
    assert error["problem"].endswith("which cannot be read as text.")
    assert ("table_query" in error["fix"]) == ("XLSX" in kind)


async def test_a_text_that_begins_like_a_picture_is_a_text(tools: TCPServer, folder: Path) -> None:
    (folder / "a.txt").write_bytes("BMW: 5 000 €".encode("cp1252"))
    assert (await tools.invoke("read_file", {"path": "a.txt"})).unwrap()["text"] == "BMW: 5 000 €"


@pytest.mark.parametrize(
    ("path", "fix"),
    [
        ("Light.MD", "did you mean 'light.md'?"),
        ("light.txt", "did you mean 'light.md'?"),
        ("/mnt/data/lihgt.md", "did you mean 'light.md'?"),
        ("summer.md", "did you mean 'notes/summer of 99.md'?"),
        ("xyz", "there are 'light.md', 'notes/summer of 99.md'."),
    ],
)
async def test_a_file_that_is_not_there_tells_the_nearest(tools: TCPServer, folder: Path, path: str, fix: str) -> None:
    (folder / "notes").mkdir()
    (folder / "notes" / "summer of 99.md").write_text("x")
    (folder / ".hidden.md").write_text("x")
    error = (await tools.invoke("read_file", {"path": path})).error
    assert error is not None
    assert path in error["problem"]
    assert error["fix"] == fix


@pytest.mark.parametrize("path", ["/mnt/data/light.md", "docs/light.md", "../light.md", "C:\\data\\light.md"])
async def test_a_file_called_by_its_path_elsewhere_is_its_copy(tools: TCPServer, path: str) -> None:
    got = (await tools.invoke("read_file", {"path": path, "lines": 1})).unwrap()
    assert got["text"] == TEXT.splitlines()[0]


async def test_what_a_model_is_told_of_it_is_short(tools: TCPServer) -> None:
    (function,) = (await tools.info("read_file")).function_schemas()
    assert len(json.dumps(function["function"], separators=(",", ":"))) <= 700


async def test_the_very_words_come_first_with_their_number_and_each_passage_with_its_heading(
    tools: TCPServer, folder: Path
) -> None:
    part = "CHAPTER {}\n\nThe harbour slept, and the keeper wrote into chapters of his own.\n{}\n\n"
    told = {23: "They could bring the barque Alida over the bar."}
    text = "".join(part.format(number, told.get(number, "Nobody came.")) for number in range(1, 61))
    (folder / "harbour.txt").write_text(text)
    got = (await tools.invoke("read_file", {"path": "harbour.txt", "find": "chapter"})).unwrap()
    assert (got["matches"], got["more_passages"] >= 52) == (60, True)
    assert [one["text"] for one in got["passages"]] == [f"CHAPTER {number}" for number in range(1, 9)]
    got = (await tools.invoke("read_file", {"path": "harbour.txt", "find": "Alida"})).unwrap()
    assert (got["matches"], got["passages"][0]["heading"]) == (1, "CHAPTER 23")
    assert "Alida over the bar" in got["passages"][0]["text"]


async def test_of_the_very_words_no_more_passages_are_told_of_than_there_are(tools: TCPServer, folder: Path) -> None:
    lines = [f"Day {number}: the lamp of the quay was seen.\n\nNobody came.\n" for number in range(40)]
    lines += [f"The quay lamp needed oil on day {number}.\n" for number in range(9)]
    (folder / "log.txt").write_text("\n".join(lines))
    got = (await tools.invoke("read_file", {"path": "log.txt", "find": "quay lamp"})).unwrap()
    assert (got["matches"], len(got["passages"]), got["more_passages"]) == (9, 8, 1)


@pytest.mark.slow
async def test_of_very_many_sentences_the_first_are_ranked_and_the_very_words_are_found_everywhere(
    tools: TCPServer, folder: Path
) -> None:
    (folder / "log.txt").write_text("# a\nb\n" * 500_000 + "The quay lamp went out.\n")
    begun = time.process_time()
    got = (await tools.invoke("read_file", {"path": "log.txt", "find": "quay lamp"})).unwrap()
    assert time.process_time() - begun < 20
    assert [one["text"] for one in got["passages"]] == ["The quay lamp went out."]
    assert 0 < got["ranked_to"] < got["total_lines"] == 1_000_001
    assert (await tools.invoke("read_file", {"path": "log.txt", "find": "oil"})).unwrap()["passages"] == []


async def test_a_file_too_large_to_be_held_names_what_reads_it(tools: TCPServer, folder: Path) -> None:
    for name, begins, words in (
        ("a.log", b"a line\n", ("is larger than 50 MB", "to_markdown")),
        ("b.log", b"\0\x01", ("is binary data of 50.0 MB", "name another file")),
        ("c.log", b"\x89PNG\r\n\x1a\n\0", ("is a PNG image of 50.0 MB", "ask to_markdown with ocr")),
    ):
        (folder / name).write_bytes(begins * (16_384 // len(begins)) + b" " * 20_000)
        os.truncate(folder / name, 50_000_001)
        error = (await tools.invoke("read_file", {"path": name})).error
        assert error is not None
        assert words[0] in error["problem"]
        assert words[1] in error["fix"]


async def test_a_word_that_stands_nowhere_is_named_and_equal_passages_are_one(tools: TCPServer, folder: Path) -> None:
    entries = [f"Entry {number}. The harbour master wrote. Rain fell." for number in range(1, 101)]
    entries[49] = "Entry 50. The harbour master measured the depth of the quay. Rain fell."
    (folder / "log.txt").write_text("\n".join(entries))
    wanted = {"path": "log.txt", "find": "harbour master's daughter"}
    got = (await tools.invoke("read_file", wanted)).unwrap()
    assert got["nowhere"] == ["daughter"]
    assert got["passages"] == [
        {"start": 1, "end": 1, "text": "Entry 1. The harbour master wrote.", "times": 99},
        {"start": 50, "end": 50, "text": "Entry 50. The harbour master measured the depth of the quay."},
    ]
    assert "more_passages" not in got
    assert "nowhere" not in (await tools.invoke("read_file", {**wanted, "find": "masters measuring"})).unwrap()


@pytest.mark.parametrize("joint", [" ", "\n"])
async def test_a_passage_begins_with_the_short_head_of_its_line(tools: TCPServer, folder: Path, joint: str) -> None:
    told = ("Entry 903.", "The wind was from the west all day and into the night.", "The bell of the Halcyon rang.")
    (folder / "log.txt").write_text(f"Entry 902. Rain fell.\n\n{joint.join(told)}\n")
    (best, *_) = (await tools.invoke("read_file", {"path": "log.txt", "find": "bell of the Halcyon"})).unwrap()[
        "passages"
    ]
    assert best["text"] == "Entry 903. \u2026 The bell of the Halcyon rang."
    assert best["start"] == 3


async def test_lines_are_counted_as_editors_count_them(tools: TCPServer, folder: Path) -> None:
    (folder / "parts.txt").write_bytes("Terms\n\fPart two\r\n\fPart three\u2028goes on\n".encode())
    read = (await tools.invoke("read_file", {"path": "parts.txt"})).unwrap()
    told = (await tools.invoke("to_markdown", {"source": "parts.txt"})).unwrap()
    assert (read["total_lines"], told["total_lines"]) == (3, 3)


JOINED = f"""{"HARBOUR CHARTER":^80}
{"Version 2, June 1950":^80}

  0. Terms.

  "Quay" means every place at which a barque may lie, and the water in front.

  1. Patents.

  A pilot grants a licence of tow to each of the skippers named in this list.

{"END OF THE CHARTER":^80}

The skippers sign below, each with the name of the barque and of the owner.
Those who cannot write draw a cross, and the master of the harbour witnesses it.
No name is struck out later, even if its barque is sold, lost or laid up for good.

{"Lamp Tenders Agreement":^80}
{"Version 4, May 1961":^80}

0. PREAMBLE

The tenders promise to trim every wick at dusk, and to fill the oil by noon.

1. DUTIES

Nobody else climbs the stairs while the lamp is lit, not even the inspector.

2. Wages are told in the book. The purser counts them on the last of a month.
"""


async def test_passages_stand_under_the_headings_of_the_outline(tools: TCPServer, folder: Path) -> None:
    (folder / "joined.txt").write_text(JOINED)
    outline = (await tools.invoke("to_markdown", {"source": "joined.txt", "outline": True})).unwrap()["outline"]
    titles = [one["title"] for one in outline]
    charter, tenders = "HARBOUR CHARTER Version 2, June 1950", "Lamp Tenders Agreement Version 4, May 1961"
    assert titles == [charter, "0. Terms.", "1. Patents.", "END OF THE CHARTER", tenders, "0. PREAMBLE", "1. DUTIES"]
    wanted = {"tow": "1. Patents.", "sign below": "END OF THE CHARTER", "wick": "0. PREAMBLE", "stairs": "1. DUTIES"}
    for find, heading in {**wanted, "purser": None, "duties": tenders}.items():
        got = (await tools.invoke("read_file", {"path": "joined.txt", "find": find})).unwrap()
        assert (find, got["passages"][0].get("heading")) == (find, heading)
    got = (
        await tools.invoke("read_file", {"path": "joined.txt", "find": "lamp tenders agreement version may"})
    ).unwrap()
    assert got["passages"][0]["text"] == tenders


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("# Limits\n\n- -DLAMP_MAX=7\n\nThe lamp may burn for nine hours.\n", "Limits"),
        ("- -DLAMP_MAX=7\n\nThe lamp may burn for nine hours.\n\nAll else is free.\n", None),
        ("1. Trim the wick\n\n2. Light it\n\nThe lamp may burn for nine hours.\n\nIt is old.\n", None),
        ("# One remark\n# and another\nlamp = 3\n\nThe lamp may burn for nine hours.\n", None),
        ("# Use\n\n```\n# fill the oil\ntea\n```\n\nThe lamp may burn for nine hours.\n", "Use"),
    ],
)
async def test_what_is_no_heading_is_told_as_none(tools: TCPServer, folder: Path, text: str, heading: str) -> None:
    (folder / "a.txt").write_text(text)
    got = (await tools.invoke("read_file", {"path": "a.txt", "find": "nine hours"})).unwrap()
    assert got["passages"][0].get("heading") == heading


async def test_a_numbered_heading_close_behind_other_lines_goes_on_from_the_one_before(
    tools: TCPServer, folder: Path
) -> None:
    parts = [
        f"Chapter {n}: The year {1699 + n}\n\nThe toll of part {n} was paid by the miller.\nIt rained."
        for n in range(1, 9)
    ]
    (folder / "chapters.txt").write_text("A CHRONICLE\n\n" + "\n".join(parts))
    got = (await tools.invoke("read_file", {"path": "chapters.txt", "find": "toll of part 7"})).unwrap()
    assert got["passages"][0]["heading"] == "Chapter 7: The year 1706"
    found = (await tools.invoke("to_markdown", {"source": "chapters.txt", "outline": True})).unwrap()["outline"]
    assert [one["title"] for one in found if "Chapter" in one["title"]] == [one.partition("\n")[0] for one in parts]


async def test_a_folder_that_becomes_a_link_meanwhile_leads_to_no_file_outside(
    folder: Path, tools: TCPServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside, seen = tmp_path_factory.mktemp("outside"), set[str]()
    (folder / "d").mkdir()
    for place, text in ((folder / "d", "own"), (outside, "secret")):
        for name in ("a.txt", "a.csv"):
            (place / name).write_text(f"name,n\n{text},1\n")
    with swapping(folder / "d", outside):
        for number in range(60):
            for name, given in (
                ("read_file", {"path": "d/a.txt", "lines": 2 + number}),
                ("table_query", {"files": ["d/a.csv"], "sql": f"select name, {number} from a"}),
            ):
                seen |= {word for word in ("own", "secret") if word in str((await tools.invoke(name, given)).value)}
    assert "secret" not in seen
    assert "own" in str((await tools.invoke("read_file", {"path": "d/a.txt"})).value)
