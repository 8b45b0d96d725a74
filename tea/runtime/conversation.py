"""Conversations as hash chains: each request records its parent and the new messages only."""

from __future__ import annotations

import hashlib

from tea.manifest import canonical
from tea.types import JsonValue, Message


class Chains:
    """Knows which conversations of a run are in its journal already."""

    def __init__(self) -> None:
        self._known: set[str] = {""}
        self._digests: dict[int, tuple[Message, str, JsonValue]] = {}
        self._sizes: dict[str, int] = {}

    def link(self, messages: tuple[Message, ...]) -> dict[str, JsonValue]:
        """Return what to record of a conversation: the part that is known, by digest, and the rest whole."""
        links = [""]
        encoded: list[JsonValue] = []
        for message in messages:
            digest, data = self._encode(message)
            links.append(hashlib.sha256(f"{links[-1]}/{digest}".encode()).hexdigest())
            encoded.append(data)
        known = max(index for index, link in enumerate(links) if link in self._known)
        self._known.update(links)
        return {"parent": links[known], "messages": encoded[known:], "chain": links[-1]}

    def size(self, messages: tuple[Message, ...]) -> int:
        """Return how many bytes of canonical JSON a conversation has."""
        return sum(self._sizes[self._encode(message)[0]] for message in messages)

    def _encode(self, message: Message) -> tuple[str, JsonValue]:
        found = self._digests.get(id(message))
        if found is None or found[0] is not message:
            data = message.model_dump(mode="json")
            text = canonical(data)
            found = (message, hashlib.sha256(text).hexdigest(), data)
            self._sizes[found[1]] = len(text)
            self._digests[id(message)] = found
        return found[1], found[2]
