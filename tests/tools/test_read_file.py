"""Lines of texts, and the passages that fit a question."""

from pathlib import Path

import pytest

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
    assert (got["start"], got["end"], got["total_lines"], got["truncated"]) == (3, 4, 7, True)


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
    assert best["heading"] == "The lighthouse"


async def test_what_is_missing_from_a_passage_is_said(tools: TCPServer) -> None:
    best = (await tools.invoke("read_file", {"path": "light.md", "find": "lamp colour"})).unwrap()["passages"][0]
    assert (best["matched"], best["missing"]) == (["lamp"], ["colour"])


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8-sig"])
async def test_other_encodings_are_read_and_said(tools: TCPServer, folder: Path, encoding: str) -> None:
    (folder / "a.txt").write_bytes("Größe: 3".encode(encoding))
    got = (await tools.invoke("read_file", {"path": "a.txt"})).unwrap()
    assert got["text"] == "Größe: 3"
    assert got["read_as"] == {"utf-16": "utf-16", "cp1252": "windows-1252", "utf-8-sig": "utf-8"}[encoding]


@pytest.mark.parametrize("path", ["nowhere.txt", "../light.md", "binary.bin", "bad.pdf"])
async def test_what_cannot_be_read_is_one_clear_line(tools: TCPServer, folder: Path, path: str) -> None:
    (folder / "binary.bin").write_bytes(b"\x00\x01")
    (folder / "bad.pdf").write_bytes(b"no pdf")
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


@pytest.mark.parametrize(
    ("question", "text", "fit", "words"),
    [
        ("inspection of the lamp", "- The lamp uses 1,000 watts.", "missing", ["inspection"]),
        ("watt", "- The lamp uses 1,000 watts.", "matched", ["watt"]),
        ("How high is the lighthouse?", "It is 41 metres tall.", "related", ["high"]),
    ],
)
async def test_how_each_word_of_a_question_fits_is_told(
    tools: TCPServer, question: str, text: str, fit: str, words: list[str]
) -> None:
    passages = (await tools.invoke("read_file", {"path": "light.md", "find": question})).unwrap()["passages"]
    found = next((passage[fit] for passage in passages if passage["text"] == text), [])
    assert found == words


async def test_headings_and_questions_lend_their_words_to_what_stands_below(tools: TCPServer, folder: Path) -> None:
    (folder / "notes.md").write_text(NOTES, encoding="utf-8")
    for question, text in (("parking", "Behind the mill."), ("opening", "They are from nine to five.")):
        best = (await tools.invoke("read_file", {"path": "notes.md", "find": question})).unwrap()["passages"][0]
        assert (best["text"], best["above"]) == (text, [question])


async def test_a_line_whose_key_the_question_says_is_marked(tools: TCPServer, folder: Path) -> None:
    (folder / "notes.md").write_text(NOTES, encoding="utf-8")
    got = (await tools.invoke("read_file", {"path": "notes.md", "find": "What does it weigh?"})).unwrap()
    assert (got["passages"][0]["text"], got["passages"][0]["keyed"]) == ("Weight: 2.3 kg", True)
    assert got["weights"].keys() == {"weigh"}
