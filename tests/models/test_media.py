"""Images, sounds and documents of a task: shown to a model that has the sense, told to one that has not."""

import base64
import json
from pathlib import Path

from dialects import DIALECTS, Dialect, said
from loopback import Loopback
from run_kit import ADDS, ENDS, home, replayed

from tea.runtime.media import MOST_BYTES
from tea.runtime.outcome import Outcome
from tea.runtime.platform import Platform

PIXEL = b"\x89PNG\r\n\x1a\n" + bytes(range(200))
CODED = base64.b64encode(PIXEL).decode()


async def look(folder: Path, **files: bytes) -> Outcome:
    """Run the planner on files, named with their last part divided by `_`."""
    paths: list[str | Path] = []
    for name, data in files.items():
        paths.append(folder / ".".join(name.rsplit("_", 1)))
        Path(paths[-1]).write_bytes(data)
    async with Platform(folder, state=folder / "state") as tea:
        return await tea.run("What does it show?", files=paths)


async def test_an_image_of_the_task_is_in_every_question_and_its_bytes_are_in_no_journal(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with Loopback(said(dialect, ADDS), said(dialect, ENDS)).open() as server:
        home(tmp_path, dialect, server.url, capabilities=["schema", "vision"])
        outcome = await look(tmp_path, dot_png=PIXEL)
        assert outcome.answer == "42"
        for asked in server.asked:
            dialect.check(asked.body)
            assert asked.raw.decode().count(CODED) == 1
            assert "dot.png (image/png)" in asked.raw.decode()
    assert CODED not in (outcome.trace / "journal.jsonl").read_text()
    assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()


async def test_a_model_without_the_sense_is_told_so(dialect: Dialect, tmp_path: Path) -> None:
    async with Loopback(said(dialect, ENDS)).open() as server:
        home(tmp_path, dialect, server.url, capabilities=["schema"])
        await look(tmp_path, dot_png=PIXEL, word_wav=b"RIFF")
        (asked,) = server.asked
        dialect.check(asked.body)
    words = asked.raw.decode()
    assert CODED not in words
    assert "the model 'fake' cannot take it, as it has no 'vision'" in words
    assert "no 'audio'" in words


async def test_sounds_and_documents_are_shown_where_they_can_be(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with Loopback(said(chat, ENDS)).open() as server:
        home(tmp_path, chat, server.url, capabilities=["schema", "audio", "files"])
        await look(tmp_path, word_wav=b"RIFF", page_pdf=b"%PDF-1.7")
        (asked,) = server.asked
        chat.check(asked.body)
    kinds = [part["type"] for message in asked.body["messages"][2:] for part in message["content"]]
    assert kinds == ["text", "input_audio", "file"]


async def test_what_is_too_large_is_named_and_not_shown(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with Loopback(said(chat, ENDS)).open() as server:
        home(tmp_path, chat, server.url, capabilities=["schema", "vision"])
        outcome = await look(tmp_path, huge_png=bytes(MOST_BYTES + 1), table_csv=b"a,b\n1,2\n")
        (asked,) = server.asked
    assert "huge.png (not shown: larger than 5 MB)" in asked.raw.decode()
    assert "image_url" not in asked.raw.decode()
    lines = [json.loads(line) for line in (outcome.trace / "journal.jsonl").read_text().splitlines()]
    assert [line["data"]["target"] for line in lines if line["data"].get("kind") == "media"] == ["look"]
