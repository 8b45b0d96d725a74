"""MediaService: the images, sounds and documents of a task, kept among the run's blobs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from tea.components.files import path_in
from tea.components.port import LookAtMedia
from tea.errors import ToolError
from tea.loop.media import KINDS
from tea.runs.deps import RunContext
from tea.runs.service import Service
from tea.runs.transcriber import Transcriber
from tea.store.rooted import open_resolved
from tea.types import JsonValue, Usage

_MARKS: Mapping[str, tuple[int, bytes]] = {  # where which bytes stand
    "image/png": (0, b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": (0, b"\xff\xd8\xff"),
    "image/gif": (0, b"GIF8"),
    "image/webp": (8, b"WEBP"),
    "audio/wav": (8, b"WAVE"),
    "audio/mpeg": (0, b"ID3"),
    "application/pdf": (0, b"%PDF-"),
}
MOST_BYTES = 5_000_000  # what the strictest of the providers takes of one image
MOST_FILES = 10
TOKENS = 3_000  # of one part, for an estimate: providers count an image as 85 to 2,500


class MediaService(Service):
    """The service `media`: a look at the media of a task; sounds are turned into words, on the agent's account.

    Args:
        run: The run's context.
    """

    def __init__(self, run: RunContext) -> None:
        super().__init__(run)
        self._transcriber = Transcriber(run.deps.models, run.run_config.model)

    async def serve(self, request: LookAtMedia, agent: str) -> JsonValue:
        """Answer an agent, and charge its budget."""
        found = await self.effect(request, agent)
        account = self._run.accounts.of(self._run.gate.path())
        for one in found:
            if "used" in one:
                account.pay(Usage.model_validate(one["used"]), agent, one["by"])
        return found

    async def answer(self, request: LookAtMedia, agent: str, key: str) -> JsonValue:
        """Answer a request inside an effect."""
        trace = self._run.recorder.trace
        if trace is None:
            return []
        await self._run.attempts.prepare(key)
        found = await asyncio.to_thread(look, self._run.attempts.workspace(key), request.names, trace.blobs.put)
        account = self._run.accounts.of(key)
        left = account.remaining()
        priced = left["usd"] is not None and not account.budget.unknown_price
        await self._transcriber.hear(found, agent, trace.blobs.get, left, priced=priced)
        return found


def look(workspace: str, names: Sequence[str], keep: Callable[[bytes, str], str]) -> list[dict[str, Any]]:
    """Store the files' contents, and return type and digest of each, or the reason it cannot be shown; this blocks."""
    return [_look(workspace, name, number, keep) for number, name in enumerate(names)]


def _look(root: str, name: str, number: int, keep: Callable[[bytes, str], str]) -> dict[str, Any]:
    kind, media_type = KINDS[PurePath(name).suffix.lower()]
    found = {"name": name, "type": kind, "media_type": media_type, "digest": "", "problem": ""}
    if number >= MOST_FILES:
        return {**found, "problem": f"not shown: only {MOST_FILES} are"}
    try:
        path = path_in(root, name)
    except ToolError:
        return {**found, "problem": "not shown: there is no such file"}
    if not path.is_file():
        return {**found, "problem": "not shown: there is no such file"}
    try:
        with open_resolved(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError:
        return {**found, "problem": "not shown: it cannot be read"}
    if len(data) > MOST_BYTES:
        return {**found, "problem": f"not shown: larger than {MOST_BYTES // 1_000_000} MB"}
    held = next((one for one in KINDS.values() if one[0] == kind and _begins(data, one[1])), None)
    if held is None:
        return {**found, "problem": f"not shown: models cannot take this {kind}"}
    return {**found, "media_type": held[1], "digest": keep(data, held[1])}


def _begins(data: bytes, media_type: str) -> bool:
    """Return whether data begins like its media type; a name may indicate another type, refused by providers."""
    if media_type == "audio/mpeg" and data[:1] == b"\xff":
        return len(data) > 1 and data[1] >= 0xE0  # a frame without tags before it
    at, mark = _MARKS[media_type]
    return data[at:].startswith(mark)
