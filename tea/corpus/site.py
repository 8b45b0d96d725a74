"""Site: the pages below an address, read through the guard as far as `robots.txt` permits."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

from tea.errors import BadInput
from tea.reading.inside.kinds import HEAD, is_text, kind_of, packed_kind
from tea.web.address import escaped, read_address
from tea.web.blocked import WALLS
from tea.web.fetch import Answer, FetchFailed
from tea.web.settings import WebSettings
from tea.web.visit import Visitor

DELAY = 0.2  # seconds between two pages of a site
_MOST_LINKS = 20_000
_HTML, _ZIP = ".html", "zip"
_TEXTS = {"text/plain": ".txt", "text/markdown": ".md", "text/html": _HTML, "application/xhtml+xml": _HTML, "": _HTML}
_DOCUMENTS = frozenset({"pdf", "docx", "pptx", "xlsx", "odt", "odp", "ods", "epub"})

Links = Callable[[bytes, str], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of a site.

    Args:
        url: Its address.
        name: A name whose suffix tells how it is read.
        date: The day its server says it was changed; empty for nothing.
        body: Its bytes.
    """

    url: str
    name: str
    date: str
    body: bytes


async def pages_of(
    root: str, settings: WebSettings, most: int, tell: Callable[[str], None], links: Links
) -> tuple[list[Page], dict[str, str]]:
    """Return the pages below an address, and why others could not be read.

    Args:
        root: Where to begin; pages whose address begins with its folder are read.
        settings: The operator's settings; `robots.txt` is obeyed whatever they say.
        most: Most pages.
        tell: Told of each page.
        links: Gives the addresses of the links of a page, by its bytes and name.

    Raises:
        BadInput: It is not an address.
    """
    start = read_address(escaped(root))
    if isinstance(start, str):
        raise BadInput(f"{root[:200]!r} is not an address.", fix='write for example "https://docs.example.org/".')
    below = start.url.partition("?")[0].rpartition("/")[0] + "/"
    visitor = Visitor(replace(settings, robots=True, wayback=""))
    waiting, seen = deque([start.url]), {start.url}
    pages, problems = list[Page](), dict[str, str]()
    while waiting and len(pages) < most:
        url = waiting.popleft()
        tell(url)
        try:
            visit = await visitor.visit(url)
        except FetchFailed as error:
            problems[url] = error.problem
            continue
        answer = visit.answer
        if visit.wall or answer.status != 200:
            problems[url] = f"{WALLS[visit.wall].capitalize()}." if visit.wall else f"Status {answer.status}."
            continue
        suffix = await asyncio.to_thread(_suffix, answer)
        if not answer.url.startswith(below) or not suffix:
            continue
        page = Page(url=answer.url, name=f"page{suffix}", date=_date(answer), body=answer.body)
        if all(one.url != page.url for one in pages):
            pages.append(page)
        for link in _joined(answer.url, await links(answer.body, page.name)) if suffix == _HTML else ():
            if link.startswith(below) and link not in seen and len(seen) < _MOST_LINKS:
                seen.add(link)
                waiting.append(link)
        if not visit.cached:
            await asyncio.sleep(DELAY)
    return pages, problems


def _suffix(answer: Answer) -> str:
    """Return how a document is read: by its content, between texts by its declared type; empty for not at all."""
    found = kind_of(answer.body[:HEAD])
    if found.name == _ZIP:
        found = packed_kind(answer.body) or found
    if found.name in _DOCUMENTS:
        return f".{found.name}"
    said = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return _TEXTS.get(said, "") if is_text(answer.body[:HEAD]) else ""


def _joined(url: str, links: Sequence[str]) -> list[str]:
    """Return the addresses of links of a page, without fragments."""
    found = list[str]()
    for link in links:
        with suppress(ValueError):
            joined = urljoin(url, link).partition("#")[0]
            if urlsplit(joined).scheme in ("http", "https") and not isinstance(
                target := read_address(escaped(joined)), str
            ):
                found.append(target.url)
    return found


def _date(answer: Answer) -> str:
    with suppress(KeyError, ValueError, TypeError):
        return f"{parsedate_to_datetime(answer.headers['last-modified']):%Y-%m-%d}"
    return ""
