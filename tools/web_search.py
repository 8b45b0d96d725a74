"""A search of the web and of the operator's own documents: one list of results, which lead on to `fetch_page`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict
from urllib.parse import urlsplit

from tea import BudgetExceeded, Context, TeaError, Texts, tool
from tea.web import WALLS

LOCAL = "file://"
MOST_LOCAL = 9_000  # characters of local passages that are given whole
SHORT = 300
LEAST_TWIN = 60  # characters of a text that two different documents hardly share
MOST_OPENED = 4_000


class Found(TypedDict):
    """A result: where it is, what it says of itself, who found it, and how well it fits (0 to 1).

    `place` is the line, page or heading of a passage of the operator's own documents. `read` is what the page says,
    where it was opened. Programs get it with `full`; others read date, place and query in `about`.
    """

    url: str
    title: str
    text: str
    about: NotRequired[str]
    engines: NotRequired[list[str]]
    tier: NotRequired[int]
    score: NotRequired[float]
    date: NotRequired[str]
    place: NotRequired[str]
    query: NotRequired[str]
    read: NotRequired[str]


class Profile(TypedDict):
    """How many pages of a search are worth reading, and from which score on."""

    opens: int
    score: float


class Search(TypedDict):
    """What a search gave; everything that stands in it was written by others."""

    label: str
    results: list[Found]
    profile: NotRequired[Profile]
    notes: NotRequired[list[str]]


@tool(
    effects="reads",
    idempotent=True,
    scope=True,
    network=True,
    metadata={"category": "web", "files": "web local", "needs": "search"},
)
async def web_search(
    ctx: Context, queries: Texts, since: Literal["", "day", "week", "month", "year"] = "", full: bool = False
) -> Search:
    """Search the web and local documents; gives addresses with snippets. Read one with `fetch_page(url, question)`.

    Args:
        queries: One to five queries of a few words.
        since: Only pages of the last day, week, month or year.
        full: With engines and scores, for programs.
    """
    found = (await ctx.tcp.invoke("search_engines", {"queries": queries, "since": since})).unwrap()
    left, results = MOST_LOCAL, list[Found]()
    for one in _once(found["results"]):
        text = str(one["snippet"])
        if one["url"].startswith(LOCAL):
            text = text if len(text) <= left else f"{text[:SHORT]}..."
            left -= len(text)
        results.append(_result(one, text, many=len(queries) > 1))
    await _open(ctx, results, found["open"])
    search = Search(label="untrusted", results=results if full else [_brief(one) for one in results])
    if full and (profile := found.get("profile")):
        search["profile"] = Profile(opens=profile["opens"], score=profile["score"])
    if notes := _notes(found):
        search["notes"] = notes
    return search


def _once(found: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return results without word-for-word repetitions of an earlier one.

    Pages of one site often share a description, so of the web the title has to be the same too.
    """
    kept = dict[str, Mapping[str, Any]]()
    for one in found:
        words = " ".join(re.findall(r"\w+", str(one["snippet"]).casefold()))
        title = "" if one["url"].startswith(LOCAL) else str(one["title"]).casefold()
        kept.setdefault(f"{title}\n{words}" if len(words) >= LEAST_TWIN else str(one["url"]), one)
    return list(kept.values())


def _brief(one: Found) -> Found:
    """Return a result with the members for a reader; all results have the same ones, as rows of a table."""
    about = "; ".join(filter(None, (one.get("date"), one.get("place"), one.get("query"))))
    text = one["text"] if "read" not in one else f"{one['text']}\n\n{one['read']}"
    return Found(url=one["url"], title=one["title"], text=text, about=about)


def _result(one: Mapping[str, Any], text: str, *, many: bool) -> Found:
    result = Found(
        url=one["url"], title=one["title"], text=text, engines=one["engines"], tier=one["tier"], score=one["score"]
    )
    if one["date"]:
        result["date"] = one["date"]
    if one["place"]:
        result["place"] = one["place"]
    if many:
        result["query"] = one["query"]
    return result


async def _open(ctx: Context, results: Sequence[Found], policy: Mapping[str, Any]) -> None:
    """Read the best pages at once, if the operator wants that; unreadable ones stay unread."""
    left, resting, closed = policy["most"], frozenset(policy.get("resting", ())), set[str]()
    for one in results:
        if not left or one.get("score", 0.0) < policy["score"]:
            return
        if one["url"].startswith(LOCAL):
            continue
        host = urlsplit(one["url"]).netloc
        if one["url"] in resting or host in closed:
            one["read"] = "It was not opened, as its host wants to be left alone for a while."
            continue
        left -= 1
        wanted = {"url": one["url"], "find": one.get("query") or one["title"]}
        try:
            page = (await ctx.tcp.invoke("fetch_page", wanted)).unwrap()
        except BudgetExceeded:
            raise
        except TeaError as error:
            one["read"] = f"It cannot be read: {error.problem[:200]}"
            if any(words in error.problem for words in WALLS.values()):
                closed.add(host)
            continue
        one["read"] = "\n\n".join(excerpt["text"] for excerpt in page["excerpts"])[:MOST_OPENED]


def _notes(found: Mapping[str, Any]) -> list[str]:
    """Return notes on the course of the search, for its reader."""
    notes = [f"{was!r} found nothing, so it was asked as {now!r}." for was, now in found["relaxed"].items()]
    failed = {one["engine"]: one["problem"] for one in found["engines"] if one["state"] == "failed"}
    notes += [f"{engine} gave nothing: {problem}" for engine, problem in failed.items()]
    if not found["results"]:
        notes.append("Nothing was found; use other or fewer words.")
    return notes
