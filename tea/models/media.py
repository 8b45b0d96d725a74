"""Transcriptions of sound, from servers compatible with OpenAI's API.

Source: https://platform.openai.com/docs/api-reference/audio/createTranscription.
"""

from __future__ import annotations

from tea.errors import ProviderError
from tea.models.client import ProviderClient
from tea.models.config import ModelConfig
from tea.models.failure import CallFailure
from tea.models.format import BYTES_PER_TOKEN, begins, count, decoded, member
from tea.models.prices import price
from tea.models.retrying import Retrying
from tea.types import ModelResponse, Usage

_ENDINGS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/webm": "webm"}


async def transcribe(
    line: ProviderClient, retrying: Retrying, config: ModelConfig, sound: bytes, media_type: str
) -> ModelResponse:
    """Return the transcription of a sound, with its cost; an interrupted attempt costs the tokens received.

    Raises:
        ProviderError: The server cannot be reached, after all tries, or does not take this type.
    """
    if media_type not in _ENDINGS:
        fix = f"convert it to {', '.join(sorted(_ENDINGS))}."
        raise ProviderError(f"A sound of type {media_type[:60]!r} cannot be transcribed.", fix=fix)
    file = f"sound.{_ENDINGS[media_type]}", sound, media_type
    broken: list[int] = []  # about how many tokens of words had come

    async def attempt(seconds: float) -> ModelResponse:
        pieces: list[bytes] = []
        try:
            await line.upload("/audio/transcriptions", {"model": config.model}, file, pieces.append, seconds)
            document = decoded(line.cleaned(b"".join(pieces)))
        except CallFailure:
            if begins(pieces):
                broken.append(sum(map(len, pieces)) // BYTES_PER_TOKEN + 1)
            raise
        if not isinstance(document.get("text"), str):
            raise CallFailure(f"what came back holds no words ({str(document)[:120]})", again=True)
        used = member(document, "usage")
        tokens = Usage(input_tokens=count(used, "input_tokens"), output_tokens=count(used, "output_tokens"))
        return ModelResponse(text=document["text"], usage=tokens)

    heard, attempts = await retrying.run(attempt, config)
    asked, said = heard.usage.input_tokens, heard.usage.output_tokens
    tokens = Usage(input_tokens=asked * (1 + len(broken)), output_tokens=said + sum(broken))
    known = asked > 0  # else it is paid by the minute, and nobody says how many
    usage = tokens.model_copy(update={"usd": price(config, config.model, tokens) if known else None})
    return heard.model_copy(update={"usage": usage, "attempts": attempts, "answered_by": config.name})
