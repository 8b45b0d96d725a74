"""Answers of a wanted type, vectors and transcriptions, over the wire."""

import re
from dataclasses import dataclass

import pytest
from dialects import Dialect, Say, checked, said
from loopback import Loopback, document
from model_kit import HELLO, KEYS, asking, no_tool
from pydantic import BaseModel

from tea.errors import BadOutput, ProviderError
from tea.managers.model import ModelManager
from tea.managers.model_config import ModelConfig
from tea.models.format import strict
from tea.models.line import Line
from tea.models.media import embed, transcribe
from tea.models.structured import ask_for, closed


class Leg(BaseModel):
    """A part of a trip."""

    to: str
    hours: float = 1.0


class Trip(BaseModel):
    """A trip."""

    legs: list[Leg]
    note: str | None = None


GOOD = '{"legs": [{"to": "Ulm", "hours": 2}], "note": null}'


async def test_an_answer_of_a_type_is_enforced_validated_and_mended_once(dialect: Dialect) -> None:
    async with asking(dialect, said(dialect, Say(text='{"legs": 3}')), said(dialect, Say(text=GOOD))) as (one, server):
        models = ModelManager()
        models.add(one.config, one.model)
        trip, answers = await ask_for(models, Trip, HELLO, no_tool)
        sent = [asked.raw.decode() for asked in server.asked]
    assert trip == Trip(legs=[Leg(to="Ulm", hours=2)])
    assert len(answers) == 2
    assert '"json_schema"' in sent[0]
    assert dialect.name == "anthropic_messages" or '"strict":true' in sent[0]
    assert "could not be used" in sent[1]


async def test_an_answer_that_cannot_be_mended_is_an_error_and_a_refusal_is_not_asked_again(dialect: Dialect) -> None:
    async with asking(dialect, *[said(dialect, Say(text="no"))] * 3) as (one, server):
        models = ModelManager()
        models.add(one.config, one.model)
        with pytest.raises(BadOutput, match="is no Trip"):
            await ask_for(models, Trip, HELLO, no_tool)
        assert len(server.asked) == 2
    async with asking(dialect, said(dialect, Say(refusal="I will not."))) as (one, server):
        models.add(one.config, one.model)
        with pytest.raises(BadOutput):
            await ask_for(models, Trip, HELLO, no_tool)
        assert len(server.asked) == 1


def test_the_schema_of_a_type_is_one_that_providers_can_enforce() -> None:
    assert not strict(Trip.model_json_schema())
    assert strict(closed(Trip.model_json_schema()))


@dataclass
class _Place:
    line: Line
    config: ModelConfig


def _place(url: str) -> _Place:
    config = ModelConfig.of("m", {"base_url": f"{url}/v1", "model": "fake-1", "prices": {"input": 2, "output": 4}})
    return _Place(Line("openai", f"{url}/v1", KEYS, 30), config)


async def test_texts_become_vectors_in_their_order() -> None:
    from openai.types import CreateEmbeddingResponse, embedding_create_params

    rows = [{"object": "embedding", "index": i, "embedding": [float(i), 0.5]} for i in (1, 0)]
    usage = {"prompt_tokens": 8, "total_tokens": 8}
    whole = checked(CreateEmbeddingResponse, {"object": "list", "data": rows, "model": "fake-1", "usage": usage})
    async with Loopback(document(whole), document(whole), document({}, 401)).open() as server:
        place = _place(server.url)
        found = await embed(place.line, place.config, ["a", "ü"])
        assert found.vectors == ((0.0, 0.5), (1.0, 0.5))
        assert (found.usage.input_tokens, found.usage.usd) == (8, 16e-6)
        checked(embedding_create_params.EmbeddingCreateParams, server.asked[0].body)
        with pytest.raises(ProviderError, match="3 texts gave 2 vectors"):
            await embed(place.line, place.config, ["a", "b", "c"])
        with pytest.raises(ProviderError, match="status 401"):
            await embed(place.line, place.config, ["a"])
        await place.line.close()


async def test_a_sound_becomes_words() -> None:
    from openai.types.audio import Transcription

    usage = {"type": "tokens", "input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
    whole = checked(Transcription, {"text": "hello there", "usage": usage})
    async with Loopback(document(whole)).open() as server:
        place = _place(server.url)
        found = await transcribe(place.line, place.config, b"RIFF\r\n--sound", "audio/wav")
        assert (found.text, found.usage.usd) == ("hello there", 28e-6)
        (asked,) = server.asked
        assert asked.headers["content-type"].startswith("multipart/form-data; boundary=")
        assert re.search(rb'name="model"\r\n\r\nfake-1\r\n--', asked.raw)
        assert b"\r\n\r\nRIFF\r\n--sound\r\n--" in asked.raw
        assert asked.path == "/v1/audio/transcriptions"
        with pytest.raises(ProviderError, match="audio/midi"):
            await transcribe(place.line, place.config, b"", "audio/midi")
        await place.line.close()
