"""Hits: the cleaning, comparing and ranking of the engines' results."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qsl, urlencode, urlsplit

from tea.web.address import escaped, read_address
from tea.web.search.engine import Hit

Rerank = Callable[[str, Sequence[str]], Sequence[float]]
MOST_TITLE, MOST_SNIPPET = 200, 500
LOCAL = "file://"

_RANKS = 60  # the constant of reciprocal rank fusion
_FITS = 0.5  # how much fitting the words of the query counts beside the ranks
_TAG = re.compile(r"<[^<>]{0,500}>")
_WORD = re.compile(r"[^\W_]+")
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_FORMS = ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%Y/%m/%d", "%Y.%m.%d", "%Y年%m月%d日")
# Parameters that say who followed a link, and nothing about the page.
_TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|mc_[ce]id|igshid|twclid|_hs(?:enc|mi)|vero_id|srsltid"
    r"|oly_(?:anon|enc)_id|ref_src|spm|scm",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A result of a search.

    Args:
        hit: What stands in it.
        engines: The engines that gave it, the best tier first.
        tier: The best tier among them.
        score: How well it fits, from 0 to 1.
        query: The query that it fits.
    """

    hit: Hit
    engines: tuple[str, ...]
    tier: int
    score: float
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The hits of one engine for one query, the best first."""

    engine: str
    tier: int
    query: str
    hits: Sequence[Hit]


def cleaned(hit: Hit) -> Hit | None:
    """Return a hit without markup, tracking and invisible characters; None if its address is not one of a page."""
    url = hit.url.strip()
    local = url.startswith(LOCAL)
    if not local:
        target = read_address(escaped(url))
        if isinstance(target, str):
            return None
        url = untracked(target.url)
    snippet = _line(hit.snippet, MOST_SNIPPET) if not local else hit.snippet
    title = _line(hit.title, MOST_TITLE) or url[:MOST_TITLE]
    date = hit.date if local else day_of(hit.date)
    return replace(hit, url=url, title=title, snippet=snippet, date=date, place=_line(hit.place, 200))


def untracked(url: str) -> str:
    """Return an address without its fragment and without parameters for tracking."""
    parts = urlsplit(url)
    kept = [one for one in parts.query.split("&") if not _TRACKING.fullmatch(one.partition("=")[0])]
    return parts._replace(query="&".join(kept), fragment="").geturl()


def normal(url: str) -> str:
    """Return the common form of all addresses of one page."""
    if url.startswith(LOCAL):
        return url
    parts = urlsplit(untracked(url))
    host = (parts.hostname or "").removeprefix("www.").removeprefix("m.")
    port = "" if parts.port in (None, 80, 443) else f":{parts.port}"
    query = urlencode(sorted(parse_qsl(parts.query, keep_blank_values=True)))
    path = re.sub(r"/(?:index\.(?:html?|php))?$", "", parts.path)
    return f"{host}{port}{path}{f'?{query}' if query else ''}"


def day_of(text: str) -> str:
    """Return a date of any usual form as `YYYY-MM-DD`, empty for other text."""
    text = " ".join(text.split())[:60]
    if found := _DAY.match(text):
        return _valid("-".join(found.groups()))
    for form in _FORMS:
        try:
            return f"{datetime.strptime(text, form).replace(tzinfo=UTC):%Y-%m-%d}"
        except ValueError:
            continue
    try:
        return f"{parsedate_to_datetime(text):%Y-%m-%d}"
    except (ValueError, TypeError):
        return ""


def relaxed(query: str) -> str:
    """Return a query without quotes and exclusions."""
    plain = re.sub(r"[\"“”„«»]", " ", query)
    return " ".join(re.sub(r"(?<!\S)-\S+", " ", plain).split())


def ranked(answers: Sequence[Given], most: int, rerank: Rerank | None = None) -> list[Ranked]:
    """Return the results of all engines, without repeats, the best first; queries take turns.

    A page's score joins the places that engines gave it (reciprocal rank fusion, weighed by tier) and how well its
    words fit the query.

    Args:
        answers: What each engine gave for each query.
        most: How many at most.
        rerank: Gives how well texts fit a query, each from 0 to 1; by default the share of its words that they hold.

    Source: Cormack, Clarke and Büttcher, Reciprocal Rank Fusion (2009).
    """
    lists = [
        _fused([one for one in answers if one.query == query], query, rerank or covered) for query in _queries(answers)
    ]
    best: dict[str, Ranked] = {}
    for one in sorted((one for ones in lists for one in ones), key=lambda one: -one.score):
        best.setdefault(_key(one.hit), one)
    chosen, rows = list[Ranked](), [[one for one in ones if best[_key(one.hit)] is one] for ones in lists]
    while len(chosen) < most and any(rows):
        chosen += [row.pop(0) for row in rows if row][: most - len(chosen)]
    return sorted(chosen, key=lambda one: -one.score)


def covered(query: str, texts: Sequence[str]) -> list[float]:
    """Return the share of a query's words in each text."""
    wanted = set(_words(query))
    return [len(wanted & set(_words(text))) / max(1, len(wanted)) for text in texts]


def _fused(answers: Sequence[Given], query: str, rerank: Rerank) -> list[Ranked]:
    """Return the results of one query, the best first."""
    places, found = dict[str, float](), dict[str, list[tuple[int, str, Hit]]]()
    for one in answers:
        seen = set[str]()
        for place, hit in enumerate(one.hits, 1):
            if (key := _key(hit)) not in seen:
                seen.add(key)
                places[key] = places.get(key, 0.0) + 1 / one.tier / (_RANKS + place)
                found.setdefault(key, []).append((one.tier, one.engine, hit))
    if not found:
        return []
    highest = max(places.values())
    joined = {key: _joined(ones) for key, ones in found.items()}
    fits = rerank(query, [f"{hit.title}\n{hit.snippet}" for hit in joined.values()])
    results = [
        Ranked(
            hit=hit,
            engines=tuple(dict.fromkeys(engine for _, engine, _ in sorted(found[key], key=lambda one: one[:2]))),
            tier=min(tier for tier, _, _ in found[key]),
            score=round((1 - _FITS) * places[key] / highest + _FITS * min(1.0, max(0.0, fit)), 4),
            query=query,
        )
        for (key, hit), fit in zip(joined.items(), fits, strict=True)
    ]
    return sorted(results, key=lambda one: (-one.score, one.tier, _key(one.hit)))


def _joined(found: Sequence[tuple[int, str, Hit]]) -> Hit:
    """Return one hit for a page: the one of the best tier, with the longest snippet and the first date."""
    hits = [hit for _, _, hit in sorted(found, key=lambda one: one[:2])]
    secure = next((hit.url for hit in hits if hit.url.startswith("https:")), hits[0].url)
    return replace(
        hits[0],
        url=secure,
        snippet=max((hit.snippet for hit in hits), key=len),
        date=next((hit.date for hit in hits if hit.date), ""),
    )


def _key(hit: Hit) -> str:
    return f"{normal(hit.url)}#{hit.place}" if hit.url.startswith(LOCAL) else normal(hit.url)


def _queries(answers: Sequence[Given]) -> list[str]:
    return list(dict.fromkeys(one.query for one in answers))


def _words(text: str) -> list[str]:
    return [word.rstrip("s") or word for word in _WORD.findall(text.casefold())]


def _line(text: str, most: int) -> str:
    """Return a text on one line, without markup and invisible characters."""
    plain = html.unescape(_TAG.sub("", text[: most * 20]))
    seen = "".join(" " if one.isspace() else one for one in plain if one.isspace() or _is_shown(one))
    words = " ".join(seen.split())
    return words if len(words) <= most else f"{words[: most - 3].rstrip()}..."


def _is_shown(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn")


def _valid(day: str) -> str:
    try:
        return date.fromisoformat(day).isoformat()
    except ValueError:
        return ""
