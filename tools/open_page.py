"""One page as Markdown: the leaf under `fetch_page`, which alone touches the network and the cache."""

import asyncio
from typing import TypedDict

from tea import Context, StaticEmbedder, ToolError, tool
from tea.reading import Part, Reader, part_of
from tea.web import WALLS, FetchFailed, Visit, Visitor, WebSettings

from ._open_page.converting import Limits, convert
from ._open_page.converting import Page as Converted


class Redirect(TypedDict):
    """A hop on the way to the page."""

    url: str
    status: int


class Page(Part):
    """A page, how it was come by, and the part of its Markdown that was wanted.

    `lines` is how many there are, `links` are all addresses in it, `notes` tell of what is missing in it.
    """

    url: str
    status: int
    title: str
    kind: str
    read_as: str
    published: str
    modified: str
    fetched: str
    cached: str
    attempts: int
    redirects: list[Redirect]
    wall: str
    archived: str
    plain: bool
    truncated: bool
    digest: str
    lines: int
    characters: int
    links: list[str]
    notes: list[str]


@tool(
    effects="reads",
    idempotent=True,
    network=True,
    destinations=("url",),
    evolvable=False,
    metadata={"category": "part", "guarded": True},
)
async def open_page(ctx: Context, url: str, question: str = "", start: int = 1, most: int = 0) -> Page:
    """Fetch a web page or PDF file through the guard, and give it as Markdown.

    Args:
        url: Its address.
        question: Words that excerpts shall fit; without them a window of lines is given.
        start: First line of the window.
        most: Most characters of material for a model.
    """
    settings = WebSettings.of(await ctx.web())
    visitor = Visitor(settings)
    reader = Reader(await ctx.parser_terms())
    limits = Limits(pages=settings.pdf_pages, characters=settings.characters)
    visit = await _visited(visitor, url, "")
    document = await _converted(reader, visit, limits)
    if late := _untimely(document, visit, settings):
        if not (settings.wayback and settings.before) or visit.archived:
            raise ToolError(late, fix="look for another source; the operator set these dates.")
        visit = await _visited(visitor, url, settings.before)
        document = await _converted(reader, visit, limits)
        if late := _untimely(document, visit, settings):
            raise ToolError(late, fix="look for another source; the operator set these dates.")
    return await asyncio.to_thread(_page, visit, document, question, start, most)


async def _visited(visitor: Visitor, url: str, at: str) -> Visit:
    """Return a page; every error is told in words to help the caller on."""
    try:
        visit = await visitor.visit(url, at=at)
    except FetchFailed as error:
        fix = {
            "unresolved": "check the spelling of the address, and the network.",
            "refused": "give another address; operators open more: `allow` of [web] in tea.toml, `tea trust --home`.",
            "timeout": "try again later, or look for another source.",
            "tls": "look for another source; the site's certificate does not hold.",
        }.get(error.kind, "check the address, or look for another source.")
        raise ToolError(error.problem, fix=fix) from error
    answer = visit.answer
    if visit.wall:
        problem = f"{answer.url[:300]!r} is not shown: {WALLS[visit.wall]} (status {answer.status})."
        again = "ask again in some minutes" if visit.wall == "rate_limit" else "asking again does not help"
        raise ToolError(problem, fix=f"look for another source that says the same; {again}.")
    if 300 <= answer.status < 400:
        problem = f"{answer.url[:300]!r} redirects without saying where (status {answer.status})."
        raise ToolError(problem, fix="check the address, or look for another source.")
    if answer.status >= 400:
        problem = f"{answer.url[:300]!r} answered with status {answer.status}."
        raise ToolError(problem, fix="check the address, or look for another source.")
    return visit


async def _converted(reader: Reader, visit: Visit, limits: Limits) -> Converted:
    answer = visit.answer
    return await convert(reader, answer.body, answer.headers, answer.url, limits, truncated=answer.truncated)


def _untimely(document: Converted, visit: Visit, settings: WebSettings) -> str:
    """Return why a page is not of the time set by the operator, empty if it is, or none was set."""
    if not settings.after and not settings.before:
        return ""
    days = [day for day in (document.published, document.modified) if day] or ([visit.archived] * bool(visit.archived))
    if not days:
        return f"{visit.answer.url[:300]!r} says no date, and only pages from a certain time are wanted."
    first, last = (visit.archived or min(days)), (visit.archived or max(days))
    if (settings.before and last >= settings.before) or (settings.after and first < settings.after):
        return f"{visit.answer.url[:300]!r} is of {last}, which is not of the time that is wanted."
    return ""


def _page(visit: Visit, document: Converted, question: str, start: int, most: int) -> Page:
    answer, lines = visit.answer, document.lines
    return Page(
        url=answer.url,
        status=answer.status,
        title=document.title,
        kind=document.kind,
        read_as=document.read_as,
        published=document.published,
        modified=document.modified,
        fetched=visit.asked,
        cached=visit.cached,
        attempts=visit.attempts,
        redirects=[Redirect(url=hop.url, status=hop.status) for hop in answer.hops[:-1]],
        wall=visit.wall,
        archived=visit.archived,
        plain=visit.plain,
        truncated=document.truncated,
        digest=document.digest,
        lines=len(lines),
        characters=sum(map(len, lines)),
        links=document.links,
        notes=document.notes,
        **part_of(lines, question, start, most, StaticEmbedder().embed),
    )
