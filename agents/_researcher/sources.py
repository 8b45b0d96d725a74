"""Sources of a piece of research: each address once, with its words as they were recorded."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal

LOCAL = "file://"
State = Literal["found", "read", "failed"]

_TRACKING = re.compile(r"(?:utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|ref_src)=[^&]*&?", re.IGNORECASE)
_WEB = re.compile(r"https?://(?:www\.)?([^/?#]+)([^?#]*)(\?[^#]*)?", re.IGNORECASE)
_FRAME = re.compile(r"\A\[page (\w+): [^\n]*\]\n(.*)\n\[end of page \1\]\Z", re.DOTALL)
_LINKED = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*\)")
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # written without spaces, so each letter is a word
_TOKEN = re.compile(
    rf"[{_CJK}]|(?:(?<![\w.])[-+])?\d+(?:[.,]\d+)*|[^\W\d_{_CJK}]+(?:['][^\W\d_{_CJK}]+)?|[%\u20ac$\u00a3\u00b0]"
)
_ALIKE = str.maketrans({"\u2018": "'", "\u2019": "'", "\u2212": "-", "\u2013": "-", "\u2014": "-"})
_GAP = re.compile(r"\[?(?:\.{3}|\u2026)\]?")
_GROUP = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_MONTH = re.compile(r"\b(\d{4})-\d{2}-(\d{2})\b")  # a month that its source may have as a name
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_DATE = re.compile(  # a year, with the day and the month beside it
    r"(?:(?<![\w.])(?:\d{1,2}(?:\.|st|nd|rd|th)?\s(?:(?:de|of)\s)?[^\W\d_]{3,}\.?,?\s(?:de\s)?"
    r"|[^\W\d_]{3,}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s|(?:\d{1,2}[./]\s?){2})|(?<!\w)(?<!\d[.,]))"
    r"(?:1[5-9]|20)\d\d(?:-\d\d(?:-\d\d)?)?(?!\w|[.,]\d)"
)
_SPELLED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_CUT = ("...", "\u2026")
_LEAST_PIECE = 2  # words between two gaps of a quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words of a source, verbatim, and their first line; 0 for an unknown one."""

    text: str
    line: int = 0


@dataclass(slots=True, kw_only=True)
class Source:
    """One page, one passage of a document, or one file.

    Args:
        number: Its number in this piece of research, from 1.
        url: Its address, or the name of a file.
        title: What it calls itself.
        date: The day it was published or changed last, `YYYY-MM-DD`, empty where nothing says it.
        place: Heading, page or line of a passage.
        score: How well it fits what was searched for, from 0 to 1.
        tier: The tier of the best engine that gave it, from 1.
        state: Whether it was only found, was read, or cannot be read.
        opened: Whether its page was opened; of a local document a passage is read without that.
        words: Its words, as far as they were recorded.
        placed: All of them that have a line, also where longer words without one stand for them.
        summary: What a model wrote about it for the question.
        problem: Why it cannot be read.
    """

    number: int
    url: str
    title: str = ""
    date: str = ""
    place: str = ""
    score: float = 0.0
    tier: int = 1
    state: State = "found"
    opened: bool = False
    words: list[Words] = field(default_factory=list[Words])
    placed: list[Words] = field(default_factory=list[Words])
    summary: str = ""
    problem: str = ""

    @property
    def host(self) -> str:
        """The host of its address; of a file its name."""
        return normal(self.url).partition("/")[0] if _WEB.match(self.url) else self.url

    def record(self, found: Iterable[Words]) -> None:
        """Add words read of it; a part of longer ones is kept once."""
        for one in found:
            self.placed += [one] * bool(one.line)
            if not any(one.text in known.text for known in self.words):
                self.words = [*(known for known in self.words if known.text not in one.text), one]

    def line_of(self, quote: str) -> int | None:
        """Return the first line of a quote, 0 for an unknown line, None if the quote is not in the source."""
        lines = [line for one in (*self.words, *self.placed) if (line := _line_in(quote, one)) is not None]
        return next(filter(None, lines), lines[0] if lines else None)

    def dated(self, quote: str) -> str:
        """Return the dates in the lines of a quote, in the heading above them, and in the first line."""
        found = list[str]()
        for one in (*self.words, *self.placed):
            if (place := _place_in(quote, one)) is not None:
                lines = one.text.splitlines()
                above = [line for line in lines[: place[0]] if _HEADING.match(line)]
                first = [line for line in lines if line.strip()][:1] if one.line <= 1 else []
                found += [*first, *above[-1:], *lines[place[0] : place[1] + 1]]
        dates = (match[0] for line in dict.fromkeys(found) for match in _DATE.finditer(line))
        return ", ".join(dict.fromkeys(" ".join(re.findall(r"\w+", one)) for one in dates))

    def shown(self, most: int) -> dict[str, Any]:
        """Return it as a model is shown it, with at most so many characters of its words."""
        kind = {"found": "search result", "read": "passage" if self.is_local else "page", "failed": "not readable"}
        text = "\n\n".join(
            filter(None, [*(one.text for one in self.words), self.summary and f"Summary: {self.summary}"])
        )
        return {
            "number": self.number,
            "url": self.url,
            "title": " ".join(self.title.split())[:200],
            "about": ", ".join(filter(None, [kind[self.state], self.date, self.place])),
            "text": text if len(text) <= most else f"{text[:most]} [...]",
        }

    @property
    def is_local(self) -> bool:
        """Whether it belongs to the operator's own documents, or to the task."""
        return _WEB.match(self.url) is None


class Sources:
    """All sources of a piece of research, in the order of their discovery."""

    def __init__(self) -> None:
        self._known: dict[str, Source] = {}

    def all(self) -> list[Source]:
        """Return them in their order."""
        return [*self._known.values()]

    def of(self, number: object) -> Source | None:
        """Return the source with a number, None for an unknown one."""
        return next((one for one in self._known.values() if one.number == number), None)

    def found(self, result: Mapping[str, Any]) -> Source | None:
        """Add a result of a search; None for a known page or passage."""
        url, place, text = str(result["url"]), str(result.get("place", "")), str(result.get("text", ""))
        local = url.startswith(LOCAL)
        key = " ".join(tokens(text)) if local else normal(url)  # the same passage of two documents counts once
        if key in self._known or (local and self._is_part(url, text)):
            return None
        return self._add(
            key,
            url=url,
            title=str(result.get("title", "")),
            date=str(result.get("date", "")),
            place=place,
            score=float(result.get("score", 0.0)),
            tier=int(result.get("tier", 1)),
            state="read" if local or result.get("read") else "found",
            words=[Words(text=one) for one in (text, unframed(str(result.get("read", "")))) if one.strip()],
        )

    def _is_part(self, url: str, text: str) -> bool:
        """Return whether a passage stands in a known one of its document, or holds one, which then becomes it."""
        for one in self._known.values():
            if one.url != url or len(one.words) != 1:
                continue
            if _stands_in(text, one.words[0].text):
                return True
            if _stands_in(one.words[0].text, text):
                one.words = [Words(text=text)]
                return True
        return False

    def page(self, url: str) -> Source:
        """Return the source with an address, added if new."""
        return self._known.get(normal(url)) or self._add(normal(url), url=url)

    def file(self, name: str, words: Iterable[Words], title: str = "") -> Source:
        """Add a file of the task."""
        return self._add(name, url=name, title=title, state="read", words=list(words), score=1.0)

    def _add(self, key: str, *, url: str, **more: Any) -> Source:
        source = self._known[key] = Source(number=len(self._known) + 1, url=url, **more)
        return source


def normal(url: str) -> str:
    """Return the common form of all spellings of an address."""
    web = _WEB.match(url.strip())
    if web is None:
        return url.strip()
    host = re.sub(r":(?:80|443)\Z", "", web[1].lower())
    query = _TRACKING.sub("", (web[3] or "")[1:]).rstrip("&")
    path = re.sub(r"/(?:index\.(?:html?|php))?\Z", "", web[2])
    return f"{host}{path}{f'?{query}' if query else ''}"


def _stands_in(part: str, text: str) -> bool:
    """Return whether a text holds another one; the last word of one that was cut may be half a word."""
    words = tokens(part)
    words = words[:-1] if part.rstrip().endswith(_CUT) else words
    return bool(words) and f" {' '.join(words)} " in f" {' '.join(tokens(text))} "


def unframed(text: str) -> str:
    """Return words of a page without the marks around them, as they are put between marks of this work."""
    found = _FRAME.match(text)
    return found[2] if found else text


def tokens(text: str) -> list[str]:
    """Return words and numbers of a text, without case, marks of Markdown and targets of links."""
    return _TOKEN.findall(_LINKED.sub("] ", text.translate(_ALIKE).casefold()))


def unsaid(claim: str, words: str) -> list[str]:
    """Return the numbers of a claim that some words lack, however they mark thousands or spell small ones."""
    said = [str(_SPELLED.index(one)) if one in _SPELLED else one for one in tokens(words)]
    known = [reading for one in said if one[-1].isdigit() for reading in _readings(one)]
    given = [one for one in tokens(_MONTH.sub(r"\1 \2", claim)) if one[-1].isdigit()]
    return [one for one in dict.fromkeys(given) if not any(reading in known for reading in _readings(one))]


def _readings(number: str) -> list[str]:
    """Return a number without its sign, its commas and points read as marks of thousands, and as decimal ones."""
    plain = number.lstrip("+-")
    return [_ending(one.replace(",", ".")) for one in (plain, _GROUP.sub("", plain))]


def _ending(number: str) -> str:
    """Return a number without the zeros behind its point, and those before it."""
    whole, _, rest = number.partition(".")
    rest = rest.rstrip("0")
    return f"{whole.lstrip('0') or '0'}{f'.{rest}' if rest else ''}"


def _line_in(quote: str, words: Words) -> int | None:
    """Return the first line of a quote, 0 for an unknown line, None if the words do not hold it."""
    place = _place_in(quote, words)
    return None if place is None else place[0] + words.line if words.line else 0


def _place_in(quote: str, words: Words) -> tuple[int, int] | None:
    """Return the first and the last line of a quote in some words, counted from 0; None if it is not in them."""
    pieces = [tokens(one) for one in _GAP.split(quote)]
    pieces = [one for one in pieces if one] if len(pieces) == 1 else [one for one in pieces if len(one) >= _LEAST_PIECE]
    if not pieces:
        return None
    lines = [tokens(line) for line in words.text.splitlines()]
    whole, at, first = f" {' '.join(word for line in lines for word in line)} ", 0, -1
    for piece in pieces:
        at = whole.find(f" {' '.join(piece)} ", at)
        if at < 0:
            return None
        first = at if first < 0 else first
    ends = list(accumulate(map(len, lines)))
    begin, end = whole[:first].count(" "), whole[:at].count(" ") + len(pieces[-1])
    return sum(one <= begin for one in ends), sum(one < end for one in ends)
