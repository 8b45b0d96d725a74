"""Offering: what a model is shown of very many things that it may call: the nearest to its task, within limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from tea.context import Caller

T = TypeVar("T")
MOST_SCHEMAS = 40
MOST_TOKENS = 8_000
_BYTES_IN_TOKEN = 3  # of JSON with English words; all tokenizers in use need fewer tokens


class Fixed(list[Any]):
    """What a loop shows a model in each of its steps: nobody else has it, and nobody changes it.

    So the same object says the same, and it is not looked through at each step to find that out.
    """


async def nearest(caller: Caller, names: Sequence[str], query: str, most: int, kept: Sequence[str] = ()) -> list[str]:
    """Return the names that fit a task best, where they are too many; the order of few is left alone.

    Args:
        caller: The protocol that knows them.
        names: What may be called.
        query: The task, in words.
        most: How many at most.
        kept: Those that stay whatever the task, first.
    """
    if len(names) <= most:
        return list(names)
    first = [name for name in names if name in kept]
    rest = [name for name in names if name not in kept]
    found = await caller.retrieve(query, max(1, most - len(first)), route=True, among=rest)
    return [*first, *(str(one["name"]) for one in found)]


def within_limits(
    found: Iterable[T], words: Callable[[T], Any], schemas: int = MOST_SCHEMAS, tokens: int = MOST_TOKENS
) -> list[T]:
    """Return the first that fit together into the limits; one that is too large for what is left is passed over.

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
