"""Test speech in sounds and videos: taken out by ffmpeg, and heard by a server in the shape of OpenAI's API."""

import json
import subprocess
from pathlib import Path

import pytest
from dialects import DIALECTS, Say, checked, said
from loopback import Loopback, Reply, document
from PIL import Image
from run_kit import home, record, replayed

from tea.platform import Platform
from tea.runs.outcome import Outcome

PICTURES = "testsrc=d=1:s=64x48"
CHAT = DIALECTS["openai_chat"]
HEARD = {
    "text": "the lamp was lit",
    "usage": {"type": "tokens", "input_tokens": 9, "output_tokens": 4, "total_tokens": 13},
}


def made(folder: Path, name: str, *streams: str) -> Path:
    """Write a second of a tone, with pictures if wanted."""
    inputs = [word for one in ("sine=d=1", *streams) for word in ("-f", "lavfi", "-i", one)]
    subprocess.run(["ffmpeg", "-v", "error", *inputs, str(folder / name)], check=True)
    return folder / name


async def asked(
    folder: Path, file: Path, *replies: Reply, ears: bool = True, quote: str = ""
) -> tuple[Outcome, str, Loopback]:
    """Run the planner on a file; return the outcome, its last question to the model, and the hearing server."""
    opens = said(CHAT, Say(text=record(("to_markdown", {"source": file.name, "unpack": True}))))
    evidence = [{"source": file.name, "detail": "", "quote": quote}] if quote else []
    ends = said(CHAT, Say(text=record(("done", {"answer": "a lamp", "success": True, "evidence": evidence}))))
    async with Loopback(opens, ends).open() as server, Loopback(*replies).open() as hears:
        home(folder, CHAT, server.url, '[roles]\ntranscriber = "ears"' if ears else "", capabilities=["schema"])
        if ears:
            with (folder / "tea.toml").open("a") as settings:
                settings.write(
                    f'\n[models.ears]\nbase_url = "{hears.url}/v1"\nmodel = "hears"\nlimits = {{attempts = 1}}'
                )
        async with Platform(folder, state=folder / "state") as tea:
            outcome = await tea.run("What is said?", files=[file])
        assert (await replayed(folder, outcome)).to_json() == outcome.to_json()
        return outcome, server.asked[-1].raw.decode(), hears


def transcription() -> Reply:
    from openai.types.audio import Transcription

    return document(checked(Transcription, HEARD))


@pytest.mark.parametrize(
    ("name", "streams"),
    [("a.wav", ()), pytest.param("a.mp4", (PICTURES,), marks=pytest.mark.slow)],
    ids=["sound", "video"],
)
async def test_what_is_said_is_heard_and_can_be_quoted(tmp_path: Path, name: str, streams: tuple[str, ...]) -> None:
    heard_twice = [transcription()] * 2  # as a file of the task, and as the sound taken out of it
    file = made(tmp_path, name, *streams)
    outcome, words, ears = await asked(tmp_path, file, *heard_twice, quote="the lamp was lit")
    assert outcome.answer == "a lamp"
    assert [one.doubt for one in outcome.evidence] == [""]
    assert "the lamp was lit" in words
    heard = ears.asked[-1]
    assert heard.path == "/v1/audio/transcriptions"
    assert b'filename="sound.mp3"' in heard.raw
    assert b'name="model"\r\n\r\nhears\r\n--' in heard.raw


async def observed(folder: Path, file: Path, senses: list[str], question: str = "") -> tuple[str, Loopback]:
    """Run the planner on a file with a seeing or hearing model; return its last question, and the server."""
    call = {"source": file.name, "unpack": True, "question": question}
    told = {"transcript": "the lamp was lit", "answer": "a lamp and a tone"}
    asks = [("to_markdown", call)], [("done", {"answer": "a lamp", "success": True, "evidence": []})]
    replies = [said(CHAT, Say(text=record(*calls))) for calls in asks]
    replies.insert(1, said(CHAT, Say(text=json.dumps(told))))
    async with Loopback(*replies).open() as server:
        home(folder, CHAT, server.url, capabilities=["schema", *senses])
        async with Platform(folder, state=folder / "state") as tea:
            outcome = await tea.run("What is said?", files=[file])
        assert outcome.answer == "a lamp"
        assert (await replayed(folder, outcome)).to_json() == outcome.to_json()
        return server.asked[-1].raw.decode(), server


async def test_a_model_with_ears_of_its_own_hears_the_sound_that_was_taken_out(tmp_path: Path) -> None:
    words, server = await observed(tmp_path, made(tmp_path, "a.ogg"), ["audio"])
    assert len(server.asked) == 3
    assert '"input_audio"' in server.asked[1].raw.decode()
    assert "the lamp was lit" in words
    assert "Nothing was transcribed" not in words


@pytest.mark.slow
async def test_a_video_is_seen_and_heard_by_a_model_that_can(tmp_path: Path) -> None:
    video = made(tmp_path, "a.mp4", PICTURES)
    words, server = await observed(tmp_path, video, ["audio", "vision"], "What is shown?")
    asked = server.asked[1].raw.decode()
    assert asked.count("data:image/jpeg") == 8
    assert '"input_audio"' in asked
    assert "What is shown?" in asked
    assert "a lamp and a tone" in words


async def test_a_picture_in_the_workspace_is_seen_by_a_model_that_can(tmp_path: Path) -> None:
    Image.new("RGB", (20, 10), "red").save(tmp_path / "a.png")
    words, server = await observed(tmp_path, tmp_path / "a.png", ["vision"], "Which colour?")
    assert "image/png" in server.asked[1].raw.decode()
    assert "a lamp and a tone" in words


@pytest.mark.slow
async def test_a_server_that_does_not_hear_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    refusals = [document({"error": {"message": "no such model"}}, 404)] * 4
    outcome, words, _ = await asked(tmp_path, made(tmp_path, "a.mp4", PICTURES), *refusals)
    assert outcome.answer == "a lamp"
    assert "Nothing was transcribed (not heard: " in words
    assert "frame-08-at-0.9s.jpg" in words


@pytest.mark.slow
async def test_without_a_model_with_ears_the_remedy_is_named(tmp_path: Path) -> None:
    _, words, ears = await asked(tmp_path, made(tmp_path, "a.wav"), ears=False)
    assert "name a model with the role `transcriber`" in words
    assert ears.asked == []
