"""One of the operator's own documents: the leaf under `fetch_page` that opens the corpus, and nothing beside it."""

import asyncio
import hashlib
from collections.abc import Mapping
from typing import Any

from tea import Context, StaticEmbedder, ToolError, tool
from tea.reading import Part, part_of


class Stored(Part):
    """A document as it was indexed, and the part of its text that was wanted, as of `open_page`."""

    url: str
    title: str
    modified: str
    digest: str
    lines: int


@tool(
    effects="reads",
    idempotent=True,
    network=False,
    returns_untrusted=True,
    evolvable=False,
    metadata={"category": "part", "needs": "search"},
)
async def stored_page(ctx: Context, url: str, question: str = "", start: int = 1, most: int = 0) -> Stored:
    """Give a document of the operator's corpus as it was indexed; no file is opened.

    Args:
        url: Its address, as a search gave it.
        question: Words that excerpts shall fit; without them a window of lines is given.
        start: First line of the window.
        most: Most characters of material for a model.
    """
    found = await ctx.corpus_document(url)
    if found is None:
        problem = f"{url[:300]!r} is not a document of the operator's corpus."
        raise ToolError(
            problem, fix="fetch_page opens http, https and what web_search found; read_file the task's files."
        )
    return await asyncio.to_thread(_page, found, question, start, most)


def _page(found: Mapping[str, Any], question: str, start: int, most: int) -> Stored:
    lines = list[str](found["lines"])
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
    return Stored(
        url=found["url"],
        title=found["title"],
        modified=found["date"],
        digest=digest,
        lines=len(lines),
        **part_of(lines, question, start, most, StaticEmbedder().embed),
    )
