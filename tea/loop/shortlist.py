"""Shortlist: the callables shown to a model if there are very many: the nearest to its task, within limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from tea.components.clients import Caller
from tea.components.port import RankTexts
from tea.retrieval.embedding.wordpiece import words as words_of
from tea.types import EVERY

T = TypeVar("T")
MOST_SCHEMAS = 40
MOST_TOKENS = 6_000
_BYTES_IN_TOKEN = 3  # of JSON with English words; all tokenizers in use need fewer tokens


class Fixed(list[Any]):
    """A list shown to a model in each step of a loop, private and never changed.

    So the same object says the same, and it is not looked through at each step to find that out.
    """


async def nearest(
    caller: Caller, names: Sequence[str], query: str, most: int, kept: Sequence[str] = ()
) -> dict[str, bool]:
    """Return the names fitting a task best, if there are too many; the order of few is left alone.

    Each is told with whether it was asked for by its name, or somebody here trusts it: the name of another is words of
    others, which nobody is shown before it is offered. A task that holds no word (`?!`) is nearest to what comes first.

    Args:
        caller: The protocol that knows them.
        names: What may be called; with `*` all that is active, trusted and made for models, beside those named.
        query: The task, in words.
        most: How many at most.
        kept: Those that stay whatever the task, first.
    """
    if len(names) <= most and EVERY not in names:
        return dict.fromkeys(names, True)
    first = [name for name in names if name in kept and name != EVERY]
    rest = [name for name in names if name not in first]
    room = max(1, most - len(first))
    if not words_of(query):
        return dict.fromkeys([*first, *(name for name in rest if name != EVERY)][: len(first) + room], True)
    found = await caller.retrieve(query, room, among=rest, besides=first if EVERY in rest else (), unseen=True)
    trusted = {str(one["name"]): bool(one.get("trusted", True)) or str(one["name"]) in rest for one in found}
    return {**dict.fromkeys(first, True), **trusted}


async def ranked(caller: Caller, texts: Mapping[str, str], query: str, most: int, least: float = 0.0) -> list[str]:
    """Return the names of the best texts for a task, the best first; for things other than components.

    The answer is an effect of the run, so a replay gives it again.

    Args:
        caller: Any protocol.
        texts: What each says of itself, by name.
        query: The task, in words; without any, the first are returned.
        most: How many at most.
        least: The least score of a text that fits; with 0 none is left out.
    """
    if not texts or not words_of(query) or (len(texts) < 2 and not least):
        return list(texts)[:most]
    return await caller.port.serve(RankTexts(caller.kind, query, most, dict(texts), least))


def within_limits(
    found: Iterable[T], words: Callable[[T], Any], schemas: int = MOST_SCHEMAS, tokens: int = MOST_TOKENS
) -> list[T]:
    """Return the first items fitting together into the limits; one too large for the rest is skipped.

    Args:
        found: The most important first.
        words: What a model is shown of one, as JSON.
        schemas: How many at most.
        tokens: How many tokens at most, estimated from above.
    """
    chosen: list[T] = []
    for one in found:
        cost = -(-len(json.dumps(words(one), ensure_ascii=False).encode()) // _BYTES_IN_TOKEN)
        if len(chosen) < schemas and cost <= tokens:
            chosen.append(one)
            tokens -= cost
    return chosen
