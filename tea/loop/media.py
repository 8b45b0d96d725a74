"""Media: the images, sounds and documents of a task, as models are shown them: by digest, from the run's blobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Literal

from tea.components.context import Context
from tea.types import JsonObject, MediaPart, Message, TextPart

KINDS: Mapping[str, tuple[Literal["image", "audio", "file"], str]] = {
    ".png": ("image", "image/png"),
    ".jpg": ("image", "image/jpeg"),
    ".jpeg": ("image", "image/jpeg"),
    ".gif": ("image", "image/gif"),
    ".webp": ("image", "image/webp"),
    ".wav": ("audio", "audio/wav"),
    ".mp3": ("audio", "audio/mpeg"),
    ".pdf": ("file", "application/pdf"),
}


def is_media(name: str) -> bool:
    """Return whether some models see or hear such a file themselves."""
    return PurePath(name).suffix.lower() in KINDS


async def show_files(ctx: Context, files: Sequence[str]) -> tuple[Message, ...]:
    """Return the message showing a task's media files to a model; empty if it has none."""
    names = [name for name in files if is_media(name)]
    if not names:
        return ()
    found = await ctx.media(names)
    words = [f"{one['name']} ({one['problem'] or one['media_type']})" for one in found]
    parts = [_part(one) for one in found if not one["problem"]]
    text = TextPart(text=f"Files of the task, in this order: {', '.join(words)}.")
    return (Message(role="user", content=(text, *parts)),)


def _part(one: JsonObject) -> MediaPart | TextPart:
    if "words" in one:
        return TextPart(text=f"What is said in {one['name']}:\n{one['words']}")
    return MediaPart(type=one["type"], digest=one["digest"], media_type=one["media_type"])
