"""Test images, sounds and documents of a task: shown to a model with the sense, described to others."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, checked, said
from loopback import Loopback, Reply, document
from run_kit import ADDS, ENDS, home, replayed, tea, toml
from swapping import swapping

from tea.platform import Platform
from tea.runs.media import MOST_BYTES
from tea.runs.media import look as seen
from tea.runs.outcome import Outcome

PIXEL = b"\x89PNG\r\n\x1a\n" + bytes(range(200))
WAV = b"RIFF\r\n--WAVEsound"
CODED = base64.b64encode(PIXEL).decode()


async def look(folder: Path, *, budget: Any = None, **files: bytes) -> Outcome:
    """Run the planner on files, named with their last part divided by `_`."""
    paths: list[str | Path] = []
    for name, data in files.items():
        paths.append(folder / ".".join(name.rsplit("_", 1)))
        Path(paths[-1]).write_bytes(data)
    async with Platform(folder, state=folder / "state") as tea:
        return await tea.run("What does it show?", files=paths, **({"budget": budget} if budget else {}))


async def test_an_image_of_the_task_is_in_every_question_and_its_bytes_are_in_no_journal(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with Loopback(said(dialect, ADDS), said(dialect, ENDS)).open() as server:
        home(tmp_path, dialect, server.url, capabilities=["schema", "vision"])
        outcome = await look(tmp_path, dot_png=PIXEL)
        assert outcome.answer == "42"
        for asked in server.asked:
            assert asked.raw.decode().count(CODED) == 1
            assert "dot.png (image/png)" in asked.raw.decode()
    assert CODED not in (outcome.trace / "journal.jsonl").read_text()
    assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()


async def test_a_model_without_the_sense_is_told_so(dialect: Dialect, tmp_path: Path) -> None:
    async with Loopback(said(dialect, ENDS)).open() as server:
        home(tmp_path, dialect, server.url, capabilities=["schema"])
        await look(tmp_path, dot_png=PIXEL, word_wav=WAV)
        (asked,) = server.asked
    words = asked.raw.decode()
    assert CODED not in words
    assert "as this model has no 'vision'" in words
    assert "no 'audio'" in words


async def test_a_file_is_what_it_holds_and_not_what_it_is_called(dialect: Dialect, tmp_path: Path) -> None:
    """Expect a refusal of the whole question for a mislabelled picture."""
    async with Loopback(said(dialect, ENDS)).open() as server:
        home(tmp_path, dialect, server.url, capabilities=["schema", "vision", "files"])
        photo, empty = b"\xff\xd8\xff\xe0", b""
        await look(
            tmp_path, photo_png=photo, text_jpg=b"words", empty_gif=empty, sound_mp3=b"\xff\xfb", page_pdf=b"PDF"
        )
        (asked,) = server.asked
    words = asked.raw.decode()
    assert "photo.png (image/jpeg), text.jpg (not shown: models cannot take this image)" in words
    assert "empty.gif (not shown" in words
    assert "sound.mp3 (audio/mpeg), page.pdf (not shown: models cannot take this file)" in words
    assert words.count(base64.b64encode(photo).decode()) == 1


async def test_sounds_and_documents_are_shown_where_they_can_be(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with Loopback(said(chat, ENDS)).open() as server:
        home(tmp_path, chat, server.url, capabilities=["schema", "audio", "files"])
        await look(tmp_path, word_wav=WAV, page_pdf=b"%PDF-1.7")
        (asked,) = server.asked
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


HEARD = document({"text": "hello there", "usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}})


async def test_a_model_without_ears_reads_what_another_heard_and_that_is_paid_for(
    dialect: Dialect, tmp_path: Path
) -> None:
    from openai.types.audio import Transcription

    checked(Transcription, {"text": "hello there", "usage": {"type": "tokens", **json.loads(HEARD.chunks[0])["usage"]}})
    async with Loopback(said(dialect, ENDS)).open() as server, Loopback(HEARD).open() as ears:
        home(tmp_path, dialect, server.url, '[roles]\ntranscriber = "ears"', capabilities=["schema"])
        with (tmp_path / "tea.toml").open("a") as file:
            prices = "prices = {input = 2.0, output = 4.0}"
            file.write(f'\n[models.ears]\nbase_url = "{ears.url}/v1"\nmodel = "hears"\n{prices}')
        outcome = await look(tmp_path, word_wav=WAV, dot_png=PIXEL)
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()
        (heard,), (asked,) = ears.asked, server.asked
    assert "What is said in word.wav:\\nhello there" in asked.raw.decode()
    assert "no 'audio'" not in asked.raw.decode()
    assert (heard.path, heard.headers["content-type"][:30]) == (
        "/v1/audio/transcriptions",
        "multipart/form-data; boundary=",
    )
    assert b'name="model"\r\n\r\nhears\r\n--' in heard.raw
    assert b"\r\n\r\n" + WAV + b"\r\n--" in heard.raw
    assert outcome.cost.by["planner ears"] == {"calls": 1, "tokens": 12, "cached": 0, "usd": 28e-6}


async def heard_after(tmp_path: Path, *replies: Reply, **limits: float) -> tuple[Outcome, str, Loopback]:
    """Run on a sound; return the outcome, the working model's reading, and the hearing server."""
    chat = DIALECTS["openai_chat"]
    async with Loopback(said(chat, ENDS)).open() as server, Loopback(*replies).open() as ears:
        home(tmp_path, chat, server.url, '[roles]\ntranscriber = "ears"', capabilities=["schema"])
        with (tmp_path / "tea.toml").open("a") as file:
            file.write(f'\n[models.ears]\nbase_url = "{ears.url}/v1"\nmodel = "hears"\n')
            file.write(f"prices = {{input = 2.0, output = 4.0}}\nlimits = {toml(limits)}")
        outcome = await look(tmp_path, word_wav=WAV)
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()
        return outcome, server.asked[0].raw.decode(), ears


@pytest.mark.slow
async def test_a_sound_is_heard_at_another_try_and_what_broke_is_paid_for(tmp_path: Path) -> None:
    down = document({"error": {"message": "down"}}, 503, retry_after_ms="1")
    torn = Reply(headers={"content-type": "application/json"}, chunks=[b'{"text": "hel'], then="break")
    page, failed = Reply(chunks=[b"<html>log in</html>"]), document({"error": {"message": "it failed"}})
    outcome, words, ears = await heard_after(tmp_path, down, torn, page, failed, HEARD)
    assert "What is said in word.wav:\\nhello there" in words
    assert [asked.raw.count(WAV) for asked in ears.asked] == [1] * 5
    tokens = 2 * 10 + 2 + len('{"text": "hel') // 3 + 1
    assert outcome.cost.by["planner ears"]["tokens"] == tokens
    assert outcome.cost.by["planner ears"]["usd"] == pytest.approx((20 * 2 + (tokens - 20) * 4) / 1e6)
    journal = (outcome.trace / "journal.jsonl").read_text()
    assert [words in journal for words in ("status 503: down", "it failed", "not JSON")] == [True] * 3


async def test_a_sound_is_tried_as_often_as_its_model_is(tmp_path: Path) -> None:
    down = document({"error": {"message": "down"}}, 503, retry_after_ms="1")
    _, words, ears = await heard_after(tmp_path, *[down] * 5, attempts=2)
    assert "not heard: The model 'ears' did not answer (after 2 tries): status 503: down" in words
    assert len(ears.asked) == 2


async def test_a_sound_that_nobody_could_hear_is_said_to_be_one(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    down = document({"error": {"message": "no ears here"}}, 404)
    for reply, budget, words in (
        (down, {}, "not heard: The model 'ears' did not answer: status 404: no ears here"),
        (HEARD, {"usd": 1.0}, "not heard: The price of the model 'ears' is not known"),
    ):
        async with Loopback(said(chat, ENDS)).open() as server, Loopback(reply).open() as ears:
            more = '[roles]\ntranscriber = "ears"'
            home(tmp_path, chat, server.url, more, capabilities=["schema"], prices={"input": 1, "output": 1})
            with (tmp_path / "tea.toml").open("a") as file:
                file.write(f'\n[models.ears]\nbase_url = "{ears.url}/v1"\nmodel = "hears"')
            outcome = await look(tmp_path, budget=budget, word_wav=WAV)
            assert outcome.answer == "42"
            assert words in server.asked[0].raw.decode()
            assert len(ears.asked) == (0 if budget else 1)


@pytest.mark.parametrize(("budget", "heard"), [({"tokens": 20_000}, 3), ({"tokens": 20}, 2), ({"usd": 30e-6}, 2)])
async def test_where_a_budget_ends_no_further_sound_is_heard(
    tmp_path: Path, budget: dict[str, float], heard: int
) -> None:
    chat, sounds = DIALECTS["openai_chat"], {f"{name}_wav": WAV + name.encode() for name in ("one", "two", "three")}
    async with Loopback(said(chat, ENDS)).open() as server, Loopback(*[HEARD] * 3).open() as ears:
        home(tmp_path, chat, server.url, '[roles]\ntranscriber = "ears"', prices={"input": 1, "output": 1})
        with (tmp_path / "tea.toml").open("a") as file:
            file.write(f'\n[models.ears]\nbase_url = "{ears.url}/v1"\nmodel = "hears"\n')
            file.write("prices = {input = 2.0, output = 4.0}")
        outcome = await look(tmp_path, budget=budget, **sounds)
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()
    assert len(ears.asked) == outcome.cost.by["planner ears"]["calls"] == heard
    assert outcome.exit_code == (0 if heard == 3 else 5)


async def test_a_sound_that_nobody_counted_ends_a_limit_in_dollars_with_what_helps(tmp_path: Path) -> None:
    chat, uncounted = DIALECTS["openai_chat"], document({"text": "hello there"})
    async with Loopback(said(chat, ENDS)).open() as server, Loopback(uncounted).open() as ears:
        prices = {"input": 1, "output": 1}
        home(tmp_path, chat, server.url, '[roles]\ntranscriber = "ears"', capabilities=["schema"], prices=prices)
        with (tmp_path / "tea.toml").open("a") as file:
            file.write(f'\n[models.ears]\nbase_url = "{ears.url}/v1"\nmodel = "m"\nprices = {{input = 2, output = 4}}')
        (tmp_path / "word.wav").write_bytes(WAV)
        code, _, err = await tea(tmp_path, "run", "-q", "--max-cost=1", "--file=word.wav", "What is said?")
    assert (code, server.asked) == (5, [])
    assert err.endswith("Fix: state the model's prices, or allow it with --allow-unknown-price.\n")


async def test_a_model_with_ears_hears_for_itself(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with Loopback(said(chat, ENDS)).open() as server, Loopback().open() as ears:
        home(tmp_path, chat, server.url, '[roles]\ntranscriber = "ears"', capabilities=["schema", "audio"])
        with (tmp_path / "tea.toml").open("a") as file:
            file.write(f'\n[models.ears]\nbase_url = "{ears.url}/v1"\nmodel = "hears"')
        await look(tmp_path, word_wav=WAV)
        assert not ears.asked
        assert "input_audio" in server.asked[0].raw.decode()


def test_a_picture_that_becomes_a_link_meanwhile_is_none_from_outside(tmp_path: Path) -> None:
    (workspace := tmp_path / "workspace" / "d").mkdir(parents=True)
    (outside := tmp_path / "outside").mkdir()
    (workspace / "dot.png").write_bytes(PIXEL)
    (outside / "dot.png").write_bytes(PIXEL + b"secret")
    kept = set[bytes]()
    with swapping(workspace, outside):
        for _ in range(1_000):
            seen(str(workspace.parent), ["d/dot.png"], lambda data, _: kept.add(data) or "")
    assert kept <= {PIXEL}
