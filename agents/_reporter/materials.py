"""Materials of a report: files of any kind and documents of the corpus, as text or heads of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tea import Context, Task, heads

MOST_MATERIAL = 8_000
CUT = "[cut here: more follows in the source]"
NO_FILE = "A page of the web is not a file. Have it read by `fetch_page` or the researcher, or found by `web_search`."
FOUND = "`web_search` finds the documents of the corpus, and tells their addresses."
TABLES = ("table",)

_CORPUS = re.compile(r"file://", re.IGNORECASE)
_WEB = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A file or document for a report.

    Args:
        source: Its name or address.
        content: Its text or head; empty for an unreadable one.
        whole: Whether the content is all of it.
        problem: The reason it cannot be read.
        told: What a head of it says of a whole table: its size and counts, without examples.
        plain: Whether its file is a text, with which claims are compared as it stands.
    """

    source: str
    content: str = ""
    whole: bool = False
    problem: str = ""
    told: str = ""
    plain: bool = False


async def materials(ctx: Context, names: Sequence[str]) -> list[Material]:
    """Return the files and documents of a task in its order, unreadable ones with their problem."""
    return [await _material(ctx, name) for name in names]


async def _material(ctx: Context, name: str) -> Material:
    """Return one material: the text itself, the head of a table without room for all of it, or converted text."""
    if _WEB.match(name):
        return Material(source=name, problem=NO_FILE)
    response = await ctx.ecp.invoke("workspace#read", {"name": name, "limit": MOST_MATERIAL})
    partial = response.ok and response.value["next_offset"] is not None
    if response.ok and not partial:
        return _of_text(name, response.value["text"], partial=False)
    listed = await ctx.ecp.invoke("workspace#list_files", {"names": [name], "limit": 1})
    kinds = [one["type"] for one in listed.value["files"]] if listed.ok else []
    if kinds and kinds[0] in TABLES:
        return await _of_table(ctx, name, plain=response.ok)
    if partial:
        return _of_text(name, response.value["text"], partial=True)
    return await _of_document(ctx, name, is_there=bool(kinds))


def _of_text(name: str, text: str, *, partial: bool) -> Material:
    if not partial:
        return Material(source=name, content=text, whole=True)
    return Material(source=name, content="\n".join([text.rpartition("\n")[0] or text, CUT]))


async def _of_table(ctx: Context, name: str, *, plain: bool) -> Material:
    """Return the head of a table: its columns with examples, or all rows of a small one."""
    response = await ctx.tcp.invoke("table_query", {"files": [name]})
    if not response.ok:
        return _unread(name, response)
    (head,) = await heads(ctx, Task(text=name, files=(name,)))
    return Material(source=name, content=head.text, whole=head.whole, told=head.told or "", plain=plain)


async def _of_document(ctx: Context, name: str, *, is_there: bool) -> Material:
    """Return a document of the workspace or the corpus as text."""
    corpus = not is_there and bool(_CORPUS.match(name))
    tool, wanted = ("fetch_page", {"url": name}) if corpus else ("to_markdown", {"source": name})
    response = await ctx.tcp.invoke(tool, wanted)
    if not response.ok:
        unread = _unread(name, response)
        return Material(source=name, problem=f"{unread.problem} {FOUND}") if corpus else unread
    told = [f"{key}: {one}" for key in ("title", "files", "transcript") if (one := response.value.get(key))]
    text = "\n".join([*told, str(response.value.get("text", ""))]).strip()
    partial = bool(response.value.get("truncated") or response.value.get("next_start"))
    return _of_text(name, text[:MOST_MATERIAL], partial=partial or len(text) > MOST_MATERIAL)


def _unread(name: str, response: Any) -> Material:
    error: dict[str, Any] = response.error or {}
    words = " ".join(filter(None, (str(error.get("problem", "")), str(error.get("fix", "")))))
    return Material(source=name, problem=words or "It cannot be read.")
