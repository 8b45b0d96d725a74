"""Words of sounds, from servers that speak OpenAI's transcriptions.

Source: https://platform.openai.com/docs/api-reference/audio/createTranscription.
"""

from __future__ import annotations

from tea.errors import ProviderError
from tea.managers.model_config import ModelConfig
from tea.models.fault import Fault, remedy
from tea.models.format import count, decoded, member
from tea.models.line import Line
from tea.models.prices import price
from tea.types import ModelResponse, Usage

_ENDINGS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/webm": "webm"}


async def transcribe(line: Line, config: ModelConfig, sound: bytes, media_type: str) -> ModelResponse:
    """Return the words of a sound, with what they cost.

    Raises:
        ProviderError: The server cannot be reached, or does not take this type.
    """
    if media_type not in _ENDINGS:
        fix = f"convert it to {', '.join(sorted(_ENDINGS))}."
        raise ProviderError(f"A sound of type {media_type[:60]!r} cannot be transcribed.", fix=fix)
    file = f"sound.{_ENDINGS[media_type]}", sound, media_type
    pieces: list[bytes] = []
    try:
        await line.upload("/audio/transcriptions", {"model": config.model}, file, pieces.append)
        document = decoded(line.cleaned(b"".join(pieces)))
    except Fault as error:
        problem = f"The model {config.name!r} did not transcribe: {error.problem.rstrip('. ')}."
        raise ProviderError(problem, fix=remedy(error.status, config.keys)) from None
    used = member(document, "usage")
    tokens = Usage(input_tokens=count(used, "input_tokens"), output_tokens=count(used, "output_tokens"))
    known = tokens.input_tokens > 0  # else it is paid by the minute, and nobody says how many
    usage = tokens.model_copy(update={"usd": price(config, config.model, tokens) if known else None})
    return ModelResponse(text=str(document.get("text", "")), usage=usage, answered_by=config.name)
