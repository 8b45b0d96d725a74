"""Vectors of texts and words of sounds, from servers that speak OpenAI's embeddings and transcriptions.

Source: https://platform.openai.com/docs/api-reference/embeddings and .../audio/createTranscription.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any

from tea.errors import ProviderError
from tea.managers.model_config import ModelConfig
from tea.models.fault import Fault
from tea.models.format import count, decoded, encoded, member, members
from tea.models.line import Line
from tea.models.prices import price
from tea.types import Usage

_ENDINGS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/webm": "webm"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """Vectors, one for each text in its order, and what they cost."""

    vectors: tuple[tuple[float, ...], ...]
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcribed:
    """The words of a sound, and what they cost."""

    text: str
    usage: Usage


async def embed(line: Line, config: ModelConfig, texts: Sequence[str]) -> Embedded:
    """Return a vector for each text.

    Raises:
        ProviderError: The server cannot be reached, or gives something else.
    """
    body = encoded({"model": config.model, "input": list(texts), "encoding_format": "float"})
    document = await _read(line, line.post("/embeddings", body))
    rows = sorted(members(document, "data"), key=lambda row: int(row["index"]))
    if len(rows) != len(texts):
        raise ProviderError(f"{len(texts)} texts gave {len(rows)} vectors.", fix="check that the model embeds.")
    tokens = Usage(input_tokens=count(member(document, "usage"), "prompt_tokens"))
    vectors = tuple(tuple(float(number) for number in row["embedding"]) for row in rows)
    return Embedded(vectors=vectors, usage=_priced(config, tokens))


async def transcribe(line: Line, config: ModelConfig, sound: bytes, media_type: str) -> Transcribed:
    """Return the words of a sound.

    Raises:
        ProviderError: The server cannot be reached, or does not take this type.
    """
    if media_type not in _ENDINGS:
        fix = f"convert it to {', '.join(sorted(_ENDINGS))}."
        raise ProviderError(f"A sound of type {media_type[:60]!r} cannot be transcribed.", fix=fix)
    file = f"sound.{_ENDINGS[media_type]}", sound, media_type
    document = await _read(line, line.upload("/audio/transcriptions", {"model": config.model}, file))
    used = member(document, "usage")
    tokens = Usage(input_tokens=count(used, "input_tokens"), output_tokens=count(used, "output_tokens"))
    return Transcribed(text=str(document.get("text", "")), usage=_priced(config, tokens))


async def _read(line: Line, sent: AsyncGenerator[bytes]) -> dict[str, Any]:
    try:
        return decoded(line.cleaned(b"".join([piece async for piece in sent])))
    except Fault as error:
        raise ProviderError(f"The model did not answer: {error.problem}.", fix="check its base_url and key.") from None


def _priced(config: ModelConfig, usage: Usage) -> Usage:
    return usage.model_copy(update={"usd": price(config, config.model, usage)})
