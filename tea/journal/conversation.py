"""Conversations as hash chains: each request records its parent and the new messages only."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from operator import is_

from tea.errors import BadArguments
from tea.kernel.entry import canonical
from tea.types import MediaPart, Message


@dataclass(slots=True)
class _Conversation:
    """A conversation in its last seen state: its messages, the chain and the bytes up to each, and the text of each."""

    messages: tuple[Message, ...] = ()
    links: list[str] = field(default_factory=lambda: [""])
    sizes: list[int] = field(default_factory=lambda: [0])
    texts: list[str] = field(default_factory=list[str])


class Chains:
    """The conversations of a run already in its journal; the cost of a step does not grow with their length.

    `media` are the digests of all images, sounds and files in them.
    """

    def __init__(self) -> None:
        self._known: set[str] = {""}
        self._seen: dict[int, _Conversation] = {}
        self.media: set[str] = set()

    def link(self, messages: tuple[Message, ...]) -> dict[str, str]:
        """Return a conversation's record as JSON: the known part by digest, and the rest whole."""
        one = self._conversation(messages)
        known = next(index for index in range(len(messages), -1, -1) if one.links[index] in self._known)
        self._known.update(one.links[known + 1 :])
        new = one.texts[known:]
        one.texts[known:] = [""] * len(new)  # it is known now
        return {"chain": f'"{one.links[-1]}"', "messages": f"[{','.join(new)}]", "parent": f'"{one.links[known]}"'}

    def size(self, messages: tuple[Message, ...]) -> int:
        """Return the size of a conversation in bytes of canonical JSON."""
        return self._conversation(messages).sizes[-1]

    def _conversation(self, messages: tuple[Message, ...]) -> _Conversation:
        """Return the conversation, reusing the part shared with the last one beginning with the same message object.

        Each message is written once, as the model will read it: data that is not JSON goes no further.

        Raises:
            BadArguments: It holds what is not a message, or not JSON.
        """
        if not messages:
            return _Conversation()
        one = self._seen.setdefault(id(messages[0]), _Conversation())
        if one.messages is messages:
            return one
        same = len(one.messages)
        if same > len(messages) or not all(map(is_, one.messages, messages)):
            pairs = enumerate(zip(one.messages, messages, strict=False))
            same = next((at for at, (before, now) in pairs if before is not now), min(same, len(messages)))
        new = [(message, _canonical_text(message)) for message in messages[same:]]
        del one.links[same + 1 :], one.sizes[same + 1 :], one.texts[same:]
        for message, text in new:
            data = text.encode()
            link = f"{one.links[-1]}/{hashlib.sha256(data).hexdigest()}"
            one.links.append(hashlib.sha256(link.encode()).hexdigest())
            one.sizes.append(one.sizes[-1] + len(data))
            one.texts.append(text)
            self.media.update(part.digest for part in message.content if isinstance(part, MediaPart))
        one.messages = messages
        return one


def _canonical_text(message: Message) -> str:
    """Return a message as canonical text with its data unchanged; data outside JSON is refused.

    Raises:
        BadArguments: It is not a message, or not JSON.
    """
    if not isinstance(message, Message):  # pyright: ignore[reportUnnecessaryIsInstance]
        problem = f"A conversation holds no {type(message).__name__}."
        raise BadArguments(problem, fix="put messages into `history`, such as `answer.message()`.")
    content, calls = ([one.__dict__ for one in some] for some in (message.content, message.calls))
    return canonical({**message.__dict__, "content": content, "calls": calls})
