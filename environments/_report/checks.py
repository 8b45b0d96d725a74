"""Checks of a report by comparing strings: values absent from cited sources, and uncited claims."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from .calculations import calculated

MARK = " [?]"
MOST_LISTED = 200
LEAST_WORDS = 4
_LONGEST_SHORT = 8
MOST_SHOWN = 300

_FENCED = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)`*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"(?:^(?!\s*$).*\n?)+", re.MULTILINE)
_UNIT = re.compile(r"^[ \t]*(?:[-*+]|\d{1,4}[.)])[ \t]+", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\|?[ \t]*:?-{3,}[ \t]*:?[ \t]*\|", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*)$")
_CITED = re.compile(r"\[(\d{1,4}(?:[ ]?[,;][ ]?\d{1,4}){0,50})\](?:\((?:[^()\s]|\([^()\s]*\))*\))?")
_END = re.compile(r"(?:(?<=\d)[.](?=\s)|(?<!\d)[.](?!\w)|[!?](?!\w)|[。！？])[\"'”’)\]*_]{0,4}")
_BEHIND = re.compile(
    r"(?:[ \t\n]{0,3}\[\d{1,4}(?:[ ]?[,;][ ]?\d{1,4}){0,50}\](?:\((?:[^()\s]|\([^()\s]*\))*\))?[.,]?)*"
)
_SHORT = re.compile(
    r"(?:\b[A-Z]|\b(?:e\.g|i\.e|cf|vs|al|approx|ca|Dr|Mr|Mrs|Ms|Prof|St|No|Nos|Fig|Inc|Ltd|Co|Jr|Sr|Vol|pp?))$"
)
_ASIDE = re.compile(
    r"`+[^`]*`+|!?\[[^\]\n]{0,300}\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|https?://\S+"
    r"|\[\d{1,4}(?:[ ]?[,;][ ]?\d{1,4}){0,50}\]"
)
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = "|".join(f"{name}|{name[:3]}\\.?" for name in _MONTHS)
_DATES = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?!\d)"),
    re.compile(r"\b(?P<d>\d{1,2})\.[ ]?(?P<m>\d{1,2})\.[ ]?(?P<y>\d{4})\b"),
    re.compile(r"\b(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})\b"),
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?P<m>{_MONTH})\b,? (?P<y>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b(?P<m>{_MONTH}) (?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b(?P<m>{_MONTH}),? (?P<y>\d{{4}})\b", re.IGNORECASE),
)
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,'’\u00a0\u202f ]\d{3})*(?:[.,]\d+)?(?![\w]*\d)")
_GROUPING = re.compile(r"['’\u00a0\u202f ]")
_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ARTICLES = {
    *("the", "a", "an", "der", "die", "das", "ein", "eine", "le", "la", "les", "un", "une"),
    *("el", "los", "las", "il", "lo", "gli", "de", "het", "een"),
}
_NAME = re.compile(r"[^\W\d_][\w'’-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A value absent from the cited source.

    Args:
        value: The number, date or name, as the report has it.
        claim: The sentence that it stands in.
        sources: Numbers of the references that were compared.
    """

    value: str
    claim: str
    sources: tuple[int, ...]


@dataclass(slots=True, kw_only=True)
class Checked:
    """A report's text with its marks, and the findings.

    Args:
        text: The text, with a mark behind each doubtful value.
        doubts: What the cited sources do not contain.
        unsourced: Sentences that cite nothing.
    """

    text: str
    doubts: list[Doubt] = field(default_factory=list[Doubt])
    unsourced: list[str] = field(default_factory=list[str])


class Evidence:
    """The text of a source, in forms for comparing values.

    Args:
        text: All that is known of what the source says.
    """

    def __init__(self, text: str) -> None:
        self.words = {one.casefold() for one in _WORD.findall(text)} | {
            one.casefold() for one in re.findall(r"\w+", text)
        }
        self.dates = {one for match in _dates(text) for one in _day(match)}
        self.dates |= {(year, month, 0) for year, month, _ in self.dates}  # a source with a day tells the month
        self.numbers = {one for match in _NUMBER.finditer(text) for one in _readings(match[0])}
        self.numbers |= {str(n) for n, word in enumerate(_WORDS) if word in self.words}
        # cells with commas between them are read one by one, too
        self.numbers |= {one for cell in re.findall(r"\d+(?:\.\d+)?", text) for one in _readings(cell)}

    def holds(self, number: str) -> bool:
        """Return whether the source has a number, however its thousands are marked."""
        return bool(self.numbers & _readings(number))


def check(text: str, evidence: Mapping[int, Evidence], *, names: bool = True, rest: Evidence | None = None) -> Checked:
    """Compare each claim of a report with the text of the sources it cites.

    A value counts as known, too, where a calculation in the text gives it from known values.

    Args:
        text: The Markdown, with numbered citations and without its list of references.
        evidence: What is known of sources, by number; a claim that cites another one is not compared.
        names: Whether names are told by their capitals, which not every language allows.
        rest: What claims without a citation are compared with; without it they are listed.
    """
    checked, at, pieces = Checked(text=text), 0, list[str]()
    bounds = list(_sentences(text))
    for begin, end in bounds:
        _calculate(text[begin:end], evidence, rest)
    for begin, end in bounds:
        sentence = text[begin:end]
        cited = _cited(sentence)
        if not cited and rest is None:
            if _is_claim(sentence):
                checked.unsourced.append(_shown(sentence))
            continue
        if any(one not in evidence for one in cited):
            continue
        known = _known(cited, evidence, rest)
        for first, last in _unknown(sentence, known, names=names):
            checked.doubts.append(Doubt(value=sentence[first:last], claim=_shown(sentence), sources=cited))
            pieces += [text[at : begin + last], MARK]
            at = begin + last
    checked.text = "".join([*pieces, text[at:]])
    checked.doubts, checked.unsourced = checked.doubts[:MOST_LISTED], checked.unsourced[:MOST_LISTED]
    return checked


def _cited(sentence: str) -> tuple[int, ...]:
    lists = _CITED.findall(_without_code(sentence))
    return tuple(dict.fromkeys(int(one) for each in lists for one in re.findall(r"\d+", each)))


def _known(cited: tuple[int, ...], evidence: Mapping[int, Evidence], rest: Evidence | None) -> list[Evidence]:
    found = [evidence[one] for one in cited if one in evidence]
    return found if cited or rest is None else [rest]


def _calculate(sentence: str, evidence: Mapping[int, Evidence], rest: Evidence | None) -> None:
    """Add the results of a sentence's calculations to what its sources say."""
    known = _known(_cited(sentence), evidence, rest)
    for result in calculated(sentence, lambda value: any(one.holds(value) for one in known)):
        for one in known:
            one.numbers |= _readings(result)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of each sentence of the running text, with the citations behind it."""
    plain = _FENCED.sub(lambda match: _blank(match[0]), text)
    for block in _BLOCK.finditer(plain):
        starts = [block.start(), *(one.start() for one in _UNIT.finditer(plain, block.start(), block.end()))]
        if _TABLE.search(block[0]):
            starts += [block.start() + one.end() for one in re.finditer("\n", block[0])]
        bounds = sorted({*starts, block.end()})
        for begin, end in pairwise(bounds):
            yield from _parts(plain, begin, end)


def _parts(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a paragraph, an item of a list or a row."""
    while begin < end and (heading := _HEADING.match(text[begin:end].split("\n", 1)[0])):
        begin += heading.end() + 1
    first, aside = begin, _covered(text, begin, end)
    for match in _END.finditer(text, begin, end):
        near = max(begin, match.start() - _LONGEST_SHORT)
        if match.start() < begin or aside[match.start() - first] or _SHORT.search(text, near, match.start()):
            continue
        last = behind.end() if (behind := _BEHIND.match(text, match.end(), end)) else match.end()
        if text[begin:last].strip():
            yield begin, last
        begin = last
    if text[begin:end].strip():
        yield begin, end


def _covered(text: str, begin: int, end: int) -> bytearray:
    """Return for each place whether it lies in code, a link or an address."""
    found = bytearray(end - begin)
    for match in _ASIDE.finditer(text, begin, end):
        found[match.start() - begin : match.end() - begin] = b"\1" * len(match[0])
    return found


def _unknown(sentence: str, known: list[Evidence], *, names: bool) -> list[tuple[int, int]]:
    """Return the places of values absent from all sources."""
    plain = _ASIDE.sub(lambda match: _blank(match[0]), sentence)
    plain = _UNIT.sub(lambda match: _blank(match[0]), plain)
    found: list[tuple[int, int]] = []
    for match in _dates(plain):
        if not any(day in one.dates for day in _day(match) for one in known):
            found.append(match.span())
    for pattern in _DATES:
        plain = pattern.sub(lambda match: _blank(match[0]), plain)
    for match in _NUMBER.finditer(plain):
        if not any(one.holds(match[0]) for one in known):
            found.append(match.span())
    if names:
        found += [(a, b) for a, b in _named(plain) if not any(_holds(one, plain[a:b]) for one in known)]
    return sorted(found)


def _named(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of names: capitals not only at a sentence's beginning."""
    first, at = re.search(r"\w", text), 0
    for match in _NAME.finditer(text):
        if match.start() < at or not match[0][0].isupper():
            continue
        at = match.end()
        while (next_ := _NAME.match(text, at + 1)) and text[at] in " \t" and next_[0][0].isupper():
            at = next_.end()
        alone = at == match.end()
        begins = first is not None and match.start() == first.start()
        if begins and not alone and match[0].casefold() in _ARTICLES:
            yield match.end() + 1, at
        elif len(match[0]) > 1 and not (alone and begins and not match[0].isupper()):
            yield match.start(), at


def _holds(evidence: Evidence, name: str) -> bool:
    words = [one.casefold().removesuffix("'s").removesuffix("’s") for one in _WORD.findall(name)]
    return all(one in evidence.words or _month_is_held(one, evidence) for one in words)


def _month_is_held(word: str, evidence: Evidence) -> bool:
    """Return whether a word is a month's name that the source has in full or with three letters."""
    return any(word in (name, name[:3]) and not evidence.words.isdisjoint((name, name[:3])) for name in _MONTHS)


def _dates(text: str) -> list[re.Match[str]]:
    """Return the dates of a text, none inside of another."""
    found: list[re.Match[str]] = []
    for pattern in _DATES:
        found += pattern.finditer(text)
        text = pattern.sub(lambda match: _blank(match[0]), text)
    return found


def _day(match: re.Match[str]) -> set[tuple[int, int, int]]:
    """Return the possible days of a date; 0 stands for no day."""
    parts = match.groupdict()
    year, month = int(parts["y"]), parts["m"]
    number = int(month) if month.isdigit() else [name[:3] for name in _MONTHS].index(month[:3].lower()) + 1
    day = int(parts.get("d") or 0)
    turned = {(year, day, number)} if "/" in match[0] else set[tuple[int, int, int]]()
    return {(year, number, day)} | turned


def _readings(number: str) -> set[str]:
    """Return the possible values of a number, with either mark for thousands."""
    text = _GROUPING.sub("", number).rstrip(".,")
    found = {text}
    for group, point in ((",", "."), (".", ",")):
        head, _, tail = text.partition(point)
        whole = head.replace(group, "")
        if whole.isdigit() and (not tail or tail.isdigit()):
            found.add(f"{int(whole)}.{tail}".rstrip("0").rstrip(".") if tail else str(int(whole)))
    return found


def _is_claim(sentence: str) -> bool:
    text = _ASIDE.sub(" ", _UNIT.sub("", sentence)).strip().rstrip("*_\"'”’)")
    words = re.findall(r"\w+", text)
    told = len(words) >= LEAST_WORDS or (len(words) == LEAST_WORDS - 1 and any(one.isdigit() for one in words))
    return told and not text.endswith(("?", "？", ":")) and not re.fullmatch(r"[\s|:-]*", text)


def _without_code(text: str) -> str:
    return re.sub(r"`+[^`]*`+", " ", text)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _shown(sentence: str) -> str:
    line = " ".join(_UNIT.sub("", sentence).split())
    return line if len(line) <= MOST_SHOWN else line[: MOST_SHOWN - 3] + "..."
