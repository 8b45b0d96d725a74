"""Checks of a report by comparing strings: values absent from cited sources, and uncited claims."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from functools import cached_property
from itertools import pairwise

from .calculations import calculated, calculations, differs, follows
from .claims import ASIDE, UNIT, is_claim
from .dates import DATES, MONTHS, YEAR_AND_MONTH, blank, dates_in, days_in, days_of
from .marks import Mark, marked
from .names import names_in
from .tables import Table, cells_of, row_names
from .totals import Totals, texts_of

MOST_LISTED = 200
LEAST_DIGITS = 3  # of a rounded number, or one of an uncited row, so that it is not found in any table
MOST_QUOTED = 40  # numbers with decimals in quoted words, up to which one of two digits may be rounded from them
_MOST_STATED = 16  # numbers of a sentence, of which some are combined
_LONGEST_SHORT = 8
MOST_SHOWN = 300
LEAST_LETTERS = 4  # of a word that tells of what a sentence says
_MOST_DIGITS = 1_000  # of a whole number; a longer one is known as it is written alone
_MOST_PLACED = 40  # numbers of a claim of which each is compared with what a table says of its own clause
_LONGEST = 2_000  # characters of a claim, and of the heading above it; a longer one is read in parts

_FENCED = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)`*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"(?:^(?![^\S\n]*$).*\n?)+", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*+(?:\|[ \t]*+)?:?-{3,}+[ \t]*+(?::[ \t]*+)?\|", re.MULTILINE)
_COMING = re.compile(  # coming work: a sentence below asks for it, and says nothing of the matter
    r"(?:(?:some |the )?(?:suggested|suggestions? for|possible|proposed|recommended) )?(?:the )?"
    r"(?:next|further|future|follow-?up) (?:steps?|tasks?|work|research|questions?)|suggested (?:steps?|tasks?)"
    r"|what(?:['\u2019]s)? (?:(?:comes|could come|may come) )?next"
    r"|(?:what )?(?:you|the person) (?:may|can|could) (?:now )?decide(?: next| now)?"
    r"|next|als n\u00e4chstes|(?:n\u00e4chste|weitere|m\u00f6gliche) schritte?|ensuite"
    r"|(?:prochaines?|autres) \u00e9tapes?|(?:pr\u00f3ximos|siguientes?|otros) pasos?|(?:prossimi|altri) passi"
    r"|outlook|ausblick",
    re.IGNORECASE,
)
_DECIDED = re.compile(  # a sentence that leaves coming work to the person
    r"\W*(?:you|the person|the user) (?:may|can|could|might) (?:now |next |then )?(?:decide|choose)\b"
    r"|\W*(?:sie|du) (?:k\u00f6nnen|kannst|k\u00f6nnten) (?:nun |jetzt )?entscheiden\b"
    r"|\W*vous pouvez (?:maintenant )?d\u00e9cider\b|\W*(?:puede|usted puede) decidir\b",
    re.IGNORECASE,
)
_NEXT = re.compile(r"\W*(?:next,|the next (?:steps?|tasks?|iterations?)\b|als n\u00e4chstes\b|ensuite,)", re.IGNORECASE)
_ANNOUNCED = re.compile(r"[\s*_>]*([^:\n]{1,80})[*_]*:")
_SUMMARY = re.compile(
    r"(?:executive )?summary|overview|abstract|(?:the |short )?answer|in short|conclusions?"
    r"|zusammenfassung|\u00fcberblick"
    r"|(?:die )?antwort|fazit|r\u00e9sum\u00e9|synth\u00e8se|(?:la )?r\u00e9ponse"
    r"|resumen|(?:la )?respuesta|conclusi\u00f3n(?:es)?|sintesi|riassunto",
    re.IGNORECASE,
)
_REPEATED = 0.6  # of the longer words of a sentence that stand in cited ones
_TITLE = re.compile(r"^(?:#{1,6}[ \t]+(.*)|[ \t]*\*\*([^*\n]{1,100})\*\*[ \t]*:?[ \t]*)$", re.MULTILINE)
_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_CITED = re.compile(r"\[(\d{1,4}(?:[ ]?[,;][ ]?\d{1,4}){0,50})\](?:\((?:[^()\s]|\([^()\s]*\))*\))?")
_END = re.compile(r"(?:(?<=\d)[.](?=\s)|(?<!\d)[.](?!\w)|[!?](?!\w)|[。！？])[\"'”’)\]*_]{0,4}")
_BEHIND = re.compile(
    r"(?:[ \t\n]{0,3}\[\d{1,4}(?:[ ]?[,;][ ]?\d{1,4}){0,50}\](?:\((?:[^()\s]|\([^()\s]*\))*\))?[.,]?)*"
)
_SHORT = re.compile(
    r"(?:\b[A-Z]|\b(?:e\.g|i\.e|cf|vs|al|approx|ca|Dr|Mr|Mrs|Ms|Prof|St|No|Nos|Fig|Inc|Ltd|Co|Jr|Sr|Vol|pp?))$"
)
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,'’\u00a0\u202f ]\d{3})*(?:[.,]\d+)?(?![\w]*\d)")
_CELL = re.compile(r"(?<![\w.])\d++(?:\.\d++)?(?!\w*\d)")
_DECIMAL = re.compile(r"\d{1,15}(?:\.\d{1,15})?")
_PERCENT = re.compile(r"\s?(?:%|per\s?cent|percentage|prozent|pour\s?cent|por\s?cien)")
_GROUPING = re.compile(r"['’\u00a0\u202f ]")
_GROUPED = {one: re.compile(rf"[1-9]\d{{0,2}}(?:{re.escape(one)}\d{{3}})+") for one in ",."}
_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_LAST_WORD, _LONGEST_WORD = re.compile(r"([^\W\d_]+)[\s#]{1,3}\Z"), 40
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


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
        unsourced: Sentences that cite nothing, but for rows of long numbers that all stand in the sources.
        unfounded: The numbers of these sentences that stand in no source.
    """

    text: str
    doubts: list[Doubt] = field(default_factory=list[Doubt])
    unsourced: list[str] = field(default_factory=list[str])
    unfounded: list[str] = field(default_factory=list[str])


class Evidence:
    """The text of a source, in forms for comparing values.

    Args:
        text: All that is known of what the source says, but for its file.
        file: The text of its file. Of a large table any number is some cell, so it tells of each claim what it has for
            this one.
    """

    def __init__(self, text: str, file: str = "") -> None:
        self.texts = (text, file)
        self._cells = cells_of(file) if file else None
        quoted = {
            one for number in _NUMBER.findall(text) if "." in number or "," in number for one in _readings(number)
        }
        self._quoted: set[str] = quoted if len(quoted) <= MOST_QUOTED else set()
        said = text if self._cells else f"{text}\n{file}"
        text = f"{text}\n{file}"
        self.words = {one.casefold() for one in _WORD.findall(text)} | {
            one.casefold() for one in re.findall(r"\w+", text)
        }
        self.dates = {one for match in dates_in(text) for one in days_of(match)}
        self.dates |= {(year, month, 0) for year, month, _ in self.dates}  # a source with a day tells the month
        self._months = {*(month for _, month, _ in self.dates), *map(int, YEAR_AND_MONTH.findall(text))}
        self.numbers = {one for number in set(_NUMBER.findall(said)) for one in _readings(number)}
        self.numbers |= {str(n) for n, word in enumerate(_WORDS) if word in _spelled(said)}
        # cells with commas between them are read one by one, too; digits inside of a name are not a number
        self.numbers |= {one for cell in _CELL.findall(said) for one in _readings(cell)}
        self._rounded: dict[int, set[str]] = {}
        self._claim, self._told = ("", -1), set[str]()

    @cached_property
    def _table(self) -> Table | None:
        return Table(header=self._cells[0], rows=self._cells[1], days=days_in) if self._cells else None

    @cached_property
    def rows(self) -> set[str]:
        """Names of rows of its tables, as `order 8`."""
        return {name for text in self.texts for name in row_names(text)}

    def names_month(self, word: str) -> bool:
        """Return whether a word is a month's name, in the source in full, with three letters, or within a date."""
        number = next((at for at, name in enumerate(MONTHS, 1) if word in (name, name[:3])), 0)
        name = MONTHS[number - 1]
        return number > 0 and (number in self._months or not self.words.isdisjoint((name, name[:3])))

    def holds(self, number: str, claim: str = "", at: int = -1) -> bool:
        """Return whether the source has a number, or one rounded to it, however its thousands are marked.

        Args:
            number: The number, as the claim has it.
            claim: The sentence that it stands in.
            at: Its place there, negative if it stands in no clause of its own.
        """
        readings = _readings(number)
        if self.numbers & readings or any(_is_rounded(one, self.numbers, self._rounded) for one in readings):
            return True
        if any("." in one and _is_rounded(one, self._quoted, {}, least=2) for one in readings):
            return True
        if self._table is None:
            return False
        if (claim, at) != self._claim:
            figures = self._table.figures(claim, at)
            self._claim, self._told = (claim, at), {one for figure in figures for one in _readings(figure)}
        told: dict[int, set[str]] = {}
        return bool(self._told & readings) or any(_is_rounded(one, self._told, told) for one in readings)


def check(text: str, evidence: Mapping[int, Evidence], *, names: bool = True, rest: Evidence | None = None) -> Checked:
    """Compare each claim of a report with the text of the sources it cites.

    A value counts as known, too, where a calculation in the text gives it from known values.

    Args:
        text: The Markdown, with numbered citations and without its list of references.
        evidence: What is known of sources, by number; a claim that cites another one is not compared.
        names: Whether names are told by their capitals, which not every language allows.
        rest: What claims without a citation are compared with; without it they are listed.
    """
    checked, marks, totals = Checked(text=text), list[Mark](), dict[tuple[int, ...], Totals]()
    sentences = list(_sentences(text))
    for one in sentences:
        _calculate(text[one.begin : one.end], _known(one.cited, evidence, rest))
    cited = Evidence("\n".join(text[one.begin : one.end] for one in sentences if one.cited))
    before, head, stated = "", "", dict[tuple[int, ...], list[float]]()
    for one in sentences:
        sentence, told = text[one.begin : one.end], set[str]()
        head = sentence if one.kind == "head" else head
        above = head if one.kind == "row" else ""
        needed = one.needs_source and rest is None and not _is_repeated(sentence, one.heading, cited)
        if needed and is_claim(sentence, one.heading) and not any(calculations(sentence)):
            if tuple(evidence) not in totals:
                totals[tuple(evidence)] = Totals(texts_of(evidence.values()))
            lacking = list(_lacking(sentence, before, list(evidence.values()), totals[tuple(evidence)], above))
            if lacking or not (evidence and one.kind == "row" and _is_telling(sentence)):
                checked.unsourced.append(_shown(sentence))
                checked.unfounded += [value for value in lacking if value not in checked.unfounded]
        known = _known(one.cited, evidence, rest)
        doubtful = _doubtful(sentence, one, evidence, rest, names=names)
        if doubtful and one.cited not in totals:
            totals[one.cited] = Totals(texts_of(known))
        for last, value in _underived(doubtful, sentence, before, known, totals[one.cited], above) if doubtful else ():
            if _is_row(sentence[:last].removesuffix(value), value, evidence.values()):
                continue
            if one.cited not in stated:
                others = (text[each.begin : each.end] for each in sentences if not {*each.cited}.isdisjoint(one.cited))
                stated[one.cited] = _stated(" ".join(others), known)
            if _is_difference(value, sentence, stated[one.cited]):
                continue
            marks.append(Mark(end=one.begin + last, value=value, table=one.table))
            if value not in told:
                told.add(value)
                checked.doubts.append(Doubt(value=value, claim=_shown(sentence), sources=one.cited))
        before = sentence
    checked.text = marked(text, marks)
    checked.doubts, checked.unsourced = checked.doubts[:MOST_LISTED], checked.unsourced[:MOST_LISTED]
    return checked


def lacking(text: str, known: list[Evidence]) -> list[str]:
    """Return the numbers and dates of a text neither in any source nor following from them."""
    sentences, totals = [text[one.begin : one.end] for one in _sentences(text)], Totals(texts_of(known))
    pairs = pairwise(["", *sentences])
    return list(dict.fromkeys(one for before, said in pairs for one in _lacking(said, before, known, totals, "")))


def _doubtful(
    sentence: str, one: "_Sentence", evidence: Mapping[int, Evidence], rest: Evidence | None, *, names: bool
) -> list[tuple[int, str]]:
    """Return the places behind doubtful values, and the values: wrong results, and those absent from all sources."""
    wrong = [each for each in calculations(sentence) if not each.is_right]
    found = {each.end: each.result for each in wrong}
    compared = bool(one.cited) or (rest is not None and one.kind != "outlook")
    if compared and not (one.is_shared and one.kind == "head") and all(each in evidence for each in one.cited):
        known = _known(one.cited, evidence, rest)
        for first, last in _unknown(sentence, known, names=names and not one.is_shared):
            found[last] = sentence[first:last]
    else:
        for match in _NUMBER.finditer(ASIDE.sub(lambda match: blank(match[0]), sentence)):
            if any(_readings(match[0]) & _readings(each.result) for each in wrong):
                found[match.end()] = match[0]
    return sorted(found.items())


def _underived(
    doubtful: list[tuple[int, str]], sentence: str, before: str, known: list[Evidence], totals: Totals, head: str = ""
) -> Iterator[tuple[int, str]]:
    """Yield the doubtful values that follow from no numbers stated in this sentence or the one before, nor from tables.

    A wrong result of a calculation in code stays doubtful. The total of a row may be that of a name in the head.
    """
    wrong = {each.result for each in calculations(sentence) if not each.is_right}
    own, more = _stated(sentence, known), _stated(before, known)
    for last, value in doubtful:
        behind = sentence[last : last + 12].lower()
        is_share = bool(_PERCENT.match(behind))
        readings = [one for one in _written(value) if _DECIMAL.fullmatch(one)] if value not in wrong else []
        told = any(follows(one, some, is_share=is_share) for one in readings for some in (own, [*own, *more]))
        claims = [sentence, f"{head}\n{sentence}"] if head else [sentence]
        if not told and not any(totals.give(one, claim, is_share=is_share) for claim in claims for one in readings):
            yield last, value


def _lacking(sentence: str, before: str, every: list[Evidence], totals: Totals, head: str) -> Iterator[str]:
    """Yield a sentence's numbers and dates neither in the sources nor following from them; none without sources."""
    places = _unknown(sentence, every, names=False) if every else []
    doubtful = [(last, sentence[first:last]) for first, last in places]
    yield from (value for _, value in _underived(doubtful, sentence, before, every, totals, head))


def _is_telling(row: str) -> bool:
    """Return whether a row has numbers, each with enough digits to be rare in a table."""
    sizes = [sum(map(str.isdecimal, one)) for one in _NUMBER.findall(row)]
    return min(sizes, default=0) >= LEAST_DIGITS


def _is_row(before: str, number: str, sources: Iterable[Evidence]) -> bool:
    """Return whether a number names a row behind some words, as `order 8`: no citation needs to say it."""
    word = _LAST_WORD.search(before[-_LONGEST_WORD:])
    return word is not None and any(f"{word[1].casefold()} {number}" in one.rows for one in sources)


def _is_difference(value: str, sentence: str, stated: list[float]) -> bool:
    """Return whether a number is the difference of two numbers in sentences with the same sources."""
    if any(one.result == value for one in calculations(sentence)):
        return False
    return any(differs(one, stated) for one in _written(value) if _DECIMAL.fullmatch(one))


def _stated(sentence: str, known: list[Evidence]) -> list[float]:
    """Return the few numbers of a sentence that its sources hold; none of many."""
    plain = UNIT.sub(lambda match: blank(match[0]), ASIDE.sub(lambda match: blank(match[0]), sentence))
    for pattern in DATES:
        plain = pattern.sub(lambda match: blank(match[0]), plain)
    numbers = list(_NUMBER.finditer(plain))
    few = numbers if len(numbers) <= _MOST_STATED else []
    held = [one[0] for one in few if any(each.holds(one[0], sentence, one.start()) for each in known)]
    readings = (one for number in held for one in _readings(number) if _DECIMAL.fullmatch(one))
    return list(dict.fromkeys(map(float, readings)))


def _is_repeated(sentence: str, heading: str, cited: Evidence) -> bool:
    """Return whether a sentence of a summary has no value but those of cited sentences, and most of their words."""
    if not _SUMMARY.fullmatch(_bare(heading)) or _unknown(sentence, [cited], names=True):
        return False
    words = [one.casefold() for one in _WORD.findall(sentence) if len(one) >= LEAST_LETTERS]
    return sum(one in cited.words for one in words) >= _REPEATED * len(words)


def _bare(heading: str) -> str:
    return heading.strip(" \t#*_:?0123456789.")


def _cited(sentence: str) -> tuple[int, ...]:
    lists = _CITED.findall(_without_code(sentence))
    return tuple(dict.fromkeys(int(one) for each in lists for one in re.findall(r"\d+", each)))


def _known(cited: tuple[int, ...], evidence: Mapping[int, Evidence], rest: Evidence | None) -> list[Evidence]:
    found = [evidence[one] for one in cited if one in evidence]
    return found if cited or rest is None else [rest]


def _calculate(sentence: str, sources: list[Evidence]) -> None:
    """Add the results of a sentence's calculations to the words of its sources."""
    for result in calculated(sentence, lambda value: any(one.holds(value, sentence) for one in sources)):
        for one in sources:
            one.numbers |= _readings(result)


@dataclass(slots=True, kw_only=True)
class _Sentence:
    """A sentence, an item of a list, or a row of a table, by its place in a text.

    Args:
        begin: Its first place.
        end: The place behind it.
        cited: Numbers of its references.
        kind: `row` or `head` of a table, `outlook` on coming work, else empty.
        is_shared: Whether the references are those of a sentence beside its table.
        heading: The heading above it.
        table: The place behind the last row of its table, negative outside of one.
    """

    begin: int
    end: int
    cited: tuple[int, ...]
    kind: str = ""
    is_shared: bool = False
    heading: str = ""
    table: int = -1

    @property
    def needs_source(self) -> bool:
        """Whether it lacks a citation, and is of a kind in need of one."""
        return not self.cited and self.kind in ("", "row")


def _sentences(text: str) -> list[_Sentence]:
    """Return each sentence of the running text with its citations; a table has those of the sentences beside it."""
    plain, found = _FENCED.sub(lambda match: blank(match[0]), text), list[_Sentence]()
    for block in _BLOCK.finditer(plain):
        first, last = _table(plain, block.start(), block.end())
        announced = (
            bool(found) and found[-1].kind == "outlook" and text[: found[-1].end].rstrip(" \t\n*_").endswith(":")
        )
        _add_words(found, plain, block.start(), first, outlook=announced and bool(UNIT.match(plain, block.start())))
        rows = list[_Sentence]()
        for begin, end in _lines(plain, first, last):
            kind = "row" if rows else "head"
            rows.append(_Sentence(begin=begin, end=end, cited=_cited(plain[begin:end]), kind=kind, table=last))
        found += rows
        _add_words(found, plain, last, block.end())
    return list(_divided(_shared(_leaving_open(_below_headings(found, plain), plain), text), text))


def _below_headings(found: list[_Sentence], text: str) -> list[_Sentence]:
    """Set the heading above each sentence; below a heading of coming work all are an outlook."""
    titles = {match.start(): (match[1] or match[2] or "")[:_LONGEST] for match in _TITLE.finditer(text)}
    places = sorted(titles)
    for one in found:
        above = bisect_right(places, one.begin) - 1
        one.heading = titles[places[above]] if above >= 0 else ""
        if one.kind != "head" and _COMING.fullmatch(_bare(one.heading)):
            one.kind = "outlook"
    return found


def _leaving_open(found: list[_Sentence], text: str) -> list[_Sentence]:
    """Set the kind of sentences about the person's decisions, and of a last one about further work: an outlook."""
    for one in found:
        pattern = (_DECIDED, _NEXT) if one is found[-1] else (_DECIDED,)
        if not one.kind and any(each.match(text, one.begin, one.end) for each in pattern):
            one.kind = "outlook"
    return found


def _lines(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    yield from pairwise(sorted({begin, *(one.end() for one in re.compile("\n").finditer(text, begin, end)), end}))


def _table(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return the bounds of the rows of a block's table; both are the block's end without one."""
    rule = _TABLE.search(text, begin, end)
    if rule is None:
        return end, end
    first = max(begin, text.rfind("\n", begin, max(begin, rule.start() - 1)) + 1)
    last = next((start for start, stop in _lines(text, rule.start(), end) if "|" not in text[start:stop]), end)
    return first, last


def _add_words(found: list[_Sentence], text: str, begin: int, end: int, *, outlook: bool = False) -> None:
    """Add the sentences of a paragraph or list; all behind an announcement of coming work are an outlook."""
    units = (one.start() for one in UNIT.finditer(text, begin, end))
    for unit in pairwise(sorted({begin, *units, end})):
        for first, last in _parts(text, *unit):
            sentence = text[first:last]
            announced = _ANNOUNCED.match(UNIT.sub("", sentence))
            outlook = outlook or bool(announced and _COMING.fullmatch(_bare(announced[1])))
            kind = "outlook" if outlook else ""
            found.append(_Sentence(begin=first, end=last, cited=_cited(sentence), kind=kind))


def _shared(found: list[_Sentence], text: str) -> list[_Sentence]:
    """Give the uncited rows of each table the citations of the sentences directly before and behind it."""
    for head in [place for place, one in enumerate(found) if one.kind == "head"]:
        behind = next((place for place in range(head + 1, len(found)) if found[place].kind != "row"), len(found))
        rows, cited = found[head:behind], list[int]()
        for one in (*found[max(0, head - 1) : head], *found[behind : behind + 1]):
            gap = text[min(one.end, rows[-1].end) : max(one.begin, rows[0].begin)]
            cited += one.cited if one.kind not in ("head", "row") and not gap.strip() else ()
        for row in rows:
            if cited and not row.cited:
                row.cited, row.is_shared = tuple(dict.fromkeys(cited)), True
    return found


def _parts(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a paragraph, an item of a list or a row."""
    while begin < end and (heading := _HEADING.match(text, begin, end)):
        begin = min(end, heading.end() + 1)
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


def _divided(found: Iterable[_Sentence], text: str) -> Iterator[_Sentence]:
    """Yield sentences, long ones in parts with the citations of the whole, each ending with a word if possible."""
    for one in found:
        begin = one.begin
        while one.end - begin > _LONGEST:
            blank = text.rfind(" ", begin, begin + _LONGEST)
            end = blank + 1 if blank >= begin else begin + _LONGEST
            yield replace(one, begin=begin, end=end)
            begin = end
        yield replace(one, begin=begin)


def _covered(text: str, begin: int, end: int) -> bytearray:
    """Return for each place whether it lies in code, a link or an address."""
    found = bytearray(end - begin)
    for match in ASIDE.finditer(text, begin, end):
        found[match.start() - begin : match.end() - begin] = b"\1" * len(match[0])
    return found


def _unknown(sentence: str, sources: list[Evidence], *, names: bool) -> list[tuple[int, int]]:
    """Return the places of values absent from all sources."""
    plain = ASIDE.sub(lambda match: blank(match[0]), sentence)
    plain = UNIT.sub(lambda match: blank(match[0]), plain)
    found: list[tuple[int, int]] = []
    for match in dates_in(plain):
        if not any(day in one.dates for day in days_of(match) for one in sources):
            found.append(match.span())
    for pattern in DATES:
        plain = pattern.sub(lambda match: blank(match[0]), plain)
    numbers = list(_NUMBER.finditer(plain))
    for match in numbers:
        at = match.start() if len(numbers) <= _MOST_PLACED else -1
        if not any(one.holds(match[0], sentence, at) for one in sources):
            found.append(match.span())
    if names:
        found += [(a, b) for a, b in names_in(plain) if not any(_holds(one, plain[a:b]) for one in sources)]
    return sorted(found)


def _holds(evidence: Evidence, name: str) -> bool:
    words = [one.casefold().removesuffix("'s").removesuffix("’s") for one in _WORD.findall(name)]
    return all(one in evidence.words or evidence.names_month(one) for one in words)


def _spelled(text: str) -> set[str]:
    return {one.casefold() for one in _WORD.findall(text)}


def _is_rounded(number: str, among: set[str], rounded: dict[int, set[str]], least: int = LEAST_DIGITS) -> bool:
    """Return whether one of some longer numbers is rounded to this one; a short one says too little.

    Args:
        number: The number.
        among: The longer ones.
        rounded: What they are rounded to, by decimals; it is filled here.
        least: Its least digits.
    """
    if not _DECIMAL.fullmatch(number) or len(number.replace(".", "")) < least:
        return False
    decimals = len(number.partition(".")[2])
    if decimals not in rounded:
        longer = [one for one in among if len(one.partition(".")[2]) > decimals and _DECIMAL.fullmatch(one)]
        rounded[decimals] = {to for one in longer for to in _rounded(one, decimals)}
    return number in rounded[decimals]


def _rounded(number: str, decimals: int) -> set[str]:
    """Return a number rounded to some decimals; a half up, and to the even neighbour."""
    unit = Decimal(1).scaleb(-decimals)
    with localcontext() as exact:
        exact.prec = len(number) + 1
        return {str(Decimal(number).quantize(unit, rounding=way)) for way in (ROUND_HALF_UP, ROUND_HALF_EVEN)}


def _readings(number: str) -> set[str]:
    """Return the possible values of a number, with either mark for thousands."""
    values = (one.rstrip("0").rstrip(".") if "." in one else one for one in _written(number))
    return {_GROUPING.sub("", number).rstrip(".,"), *values}


def _written(number: str) -> set[str]:
    """Return the possible values of a number with its decimals as they are written, also zeros."""
    text, found = _GROUPING.sub("", number).rstrip(".,"), set[str]()
    for group, point in ((",", "."), (".", ",")):
        head, _, tail = text.partition(point)
        whole = head.replace(group, "") if _GROUPED[group].fullmatch(head) else head
        if whole.isdigit() and len(whole) <= _MOST_DIGITS and (not tail or tail.isdigit()):
            found.add(f"{int(whole)}.{tail}" if tail else str(int(whole)))
    return found


def _without_code(text: str) -> str:
    return re.sub(r"`+[^`]*`+", " ", text)


def _shown(sentence: str) -> str:
    line = " ".join(UNIT.sub("", sentence).split())
    return line if len(line) <= MOST_SHOWN else line[: MOST_SHOWN - 3] + "..."
