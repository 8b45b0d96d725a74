"""A search of the operator's own documents alone: the passages that fit a question best."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from tea import Context, tool

FOUND, KEPT = 20, 5


class Passage(TypedDict):
    """A passage: its document, its place in it, and how well it fits (0 to 1)."""

    url: str
    title: str
    text: str
    score: float
    place: NotRequired[str]
    date: NotRequired[str]


class Knowledge(TypedDict):
    """What was found; everything that stands in it was written by others."""

    label: str
    passages: list[Passage]


@tool(
    effects="reads",
    idempotent=True,
    network=False,
    returns_untrusted=True,
    metadata={"category": "part", "files": "web", "needs": "search"},
)
async def knowledge(ctx: Context, question: str) -> Knowledge:
    """Return the five passages of the operator's documents that fit a question best, of the first twenty found.

    Args:
        question: What they are to tell about.
    """
    found = await ctx.passages(question, FOUND, KEPT)
    return Knowledge(label="untrusted", passages=[_passage(one) for one in found])


def _passage(one: Mapping[str, Any]) -> Passage:
    passage = Passage(url=str(one["url"]), title=str(one["title"]), text=str(one["snippet"]), score=float(one["score"]))
    if one["place"]:
        passage["place"] = str(one["place"])
    if one["date"]:
        passage["date"] = str(one["date"])
    return passage
