"""A file at an address, kept in the workspace: the leaf under `to_markdown` that alone touches the network."""

import asyncio
import re
from hashlib import sha256
from typing import TypedDict, cast
from urllib.parse import unquote, urlsplit

from tea import Context, RootedFolder, ToolError, tool
from tea.reading import Options, Reader, kind_of
from tea.web import WALLS, Answer, FetchFailed, Visitor, WebSettings

FOLDER = "downloads"
HEAD = 16_384
_WRONG = re.compile(r"[^\w.-]+")
_MOST_NAME = 80


class Saved(TypedDict):
    """Where a file was put, where it came from, and the addresses in it, if it is a web page."""

    file: str
    url: str
    content_type: str
    bytes: int
    links: list[str]


@tool(
    effects="writes",
    idempotent=True,
    network=True,
    destinations=("url",),
    evolvable=False,
    after="the file is in downloads/",
    metadata={"category": "part", "guarded": True},
)
async def save_page(ctx: Context, url: str) -> Saved:
    """Fetch what is at an address through the guard, and put it into the folder `downloads`.

    Args:
        url: Its address.
    """
    visitor = Visitor(WebSettings.of(await ctx.web()))
    try:
        visit = await visitor.visit(url)
    except FetchFailed as error:
        raise ToolError(error.problem, fix="check the address, or look for another source.") from error
    answer = visit.answer
    if visit.wall or answer.status >= 300:
        why = WALLS[visit.wall] if visit.wall else "no such file is there"
        raise ToolError(f"{answer.url[:300]!r} cannot be saved: {why} (status {answer.status}).", fix="look elsewhere.")
    if answer.truncated:
        problem = f"{answer.url[:300]!r} is larger than {len(answer.body):,} bytes."
        raise ToolError(problem, fix="look for a smaller source; the operator set this limit.")
    name = f"{FOLDER}/{_name(answer.url, answer.body)}"
    await asyncio.to_thread(_write, ctx.workspace, name, answer.body)
    content_type = answer.headers.get("content-type", "")[:200]
    links = await _links(Reader(await ctx.parser_terms()), answer, name, content_type)
    return Saved(file=name, url=answer.url, content_type=content_type, bytes=len(answer.body), links=links)


async def _links(reader: Reader, answer: Answer, name: str, content_type: str) -> list[str]:
    """Return the addresses in a web page, open to be followed with any reader of the file."""
    if "html" not in (kind_of(answer.body[:HEAD], name).name, *re.split(r"[/;+ ]", content_type.lower())):
        return []
    try:
        document = await reader.read(answer.body, name, Options(url=answer.url, content_type=content_type))
    except ToolError:  # a page without text, or one that is too much for its parser
        return []
    return list(cast("list[str]", document.facts.get("links", [])))


def _name(url: str, body: bytes) -> str:
    """Return the file name of an address, with a digest of its content, so two are never one."""
    last = _WRONG.sub("_", unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]).strip("._") or "page"
    stem, dot, ending = last[-_MOST_NAME:].rpartition(".")
    mark = sha256(body).hexdigest()[:8]
    return f"{stem}-{mark}.{ending}" if dot and stem else f"{last[-_MOST_NAME:]}-{mark}"


def _write(workspace: str, name: str, data: bytes) -> None:
    try:
        with RootedFolder(workspace) as files:
            files.write(name, data)
    except OSError as error:
        raise ToolError(f"The file cannot be written: {error.strerror}.", fix="check the disk.") from error
