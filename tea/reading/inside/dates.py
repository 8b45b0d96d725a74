"""When a page was published and changed: as its metadata, its structured data or its address say."""

import json
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

_OF_PUBLICATION = """
article:published_time og:published_time datepublished date dc.date dc.date.issued dcterms.issued dcterms.created
dc.date.created pubdate publishdate publish-date publish_date parsely-pub-date sailthru.date citation_date
citation_publication_date citation_online_date prism.publicationdate article.published datecreated release_date
"""
_OF_CHANGE = """
article:modified_time og:updated_time datemodified last-modified dcterms.modified dc.date.modified lastmod
article.updated revised updated_time
"""
_PUBLISHED, _MODIFIED = frozenset(_OF_PUBLICATION.split()), frozenset(_OF_CHANGE.split())
_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_IN_ADDRESS = re.compile(r"/((?:19|20)\d\d)/(\d{1,2})/(\d{1,2})(?:/|$)")
_NAMES_OF_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTHS = {name: number for number, name in enumerate(_NAMES_OF_MONTHS.split(), start=1)}
_WORDS = re.compile(r"(?:(\d{1,2})\.? )?([A-Za-z]{3})[a-z]*\.? (?:(\d{1,2}),? )?((?:19|20)\d\d)")
_MOST_JSON = 300_000
_MOST_DEPTH = 20


def dates_of(tree: Any, url: str, headers: Mapping[str, str]) -> tuple[str, str]:
    """Return the days of a page's publication and change, `YYYY-MM-DD`; empty if nothing tells them.

    Args:
        tree: The page.
        url: Its address.
        headers: Headers of the answer.
    """
    told = [*_statements(tree)]
    published = _first(told, _PUBLISHED) or _marked(tree) or _day_of(_IN_ADDRESS.search(url))
    modified = _first(told, _MODIFIED) or day_in(headers.get("last-modified", ""))
    return published, modified if modified >= published else ""


def day_in(text: str) -> str:
    """Return the day named in a text, empty if it names none."""
    text = text.strip()[:100]
    if found := _day_of(_DAY.search(text)):
        return found
    if re.match(r"\d{8}(?:T|$)", text):
        return _day(int(text[:4]), int(text[4:6]), int(text[6:8]))
    try:
        return f"{parsedate_to_datetime(text):%Y-%m-%d}"
    except (ValueError, TypeError, IndexError):
        pass
    if (words := _WORDS.search(text)) and (month := _MONTHS.get(words[2].lower())) and (words[1] or words[3]):
        return _day(int(words[4]), month, int(words[1] or words[3]))
    return ""


def _statements(tree: Any) -> Iterator[tuple[str, str]]:
    """Yield the page's statements with possible dates: name in small letters, and the words."""
    for meta in tree.iter("meta"):
        name = meta.get("property") or meta.get("name") or meta.get("itemprop") or meta.get("http-equiv") or ""
        yield name.lower(), meta.get("content") or ""
    for script in tree.iter("script"):
        if "ld+json" in (script.get("type") or "").lower() and len(script.text or "") <= _MOST_JSON:
            try:
                yield from _structured(json.loads(script.text or ""), 0)
            except (ValueError, RecursionError):
                continue


def _structured(data: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the dates of structured data (schema.org), the outermost first."""
    if depth > _MOST_DEPTH:
        return
    if isinstance(data, dict):
        members = cast("dict[str, Any]", data)
        yield from ((name.lower(), value) for name, value in members.items() if isinstance(value, str))
        for value in members.values():
            yield from _structured(value, depth + 1)
    elif isinstance(data, list):
        for value in cast("list[Any]", data):
            yield from _structured(value, depth + 1)


def _first(statements: list[tuple[str, str]], names: frozenset[str]) -> str:
    return next((day for name, words in statements if name in names and (day := day_in(words))), "")


def _marked(tree: Any) -> str:
    """Return the day of the first `<time>` marked as the one of publication, or of the only one."""
    times = [one for one in tree.iter("time") if one.get("datetime")]
    marked = [one for one in times if one.get("pubdate") is not None or "ublish" in str(one.get("itemprop"))]
    chosen = marked or (times if len({one.get("datetime") for one in times}) == 1 else [])
    return day_in(chosen[0].get("datetime")) if chosen else ""


def _day_of(found: re.Match[str] | None) -> str:
    return _day(int(found[1]), int(found[2]), int(found[3])) if found else ""


def _day(year: int, month: int, day: int) -> str:
    return f"{year:04}-{month:02}-{day:02}" if 1 <= month <= 12 and 1 <= day <= 31 else ""
