"""Meanings of each stretch of a question: a column, a cell, a number, a row, or a word of the grammar."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .lexicon import lexicon, synonyms
from .literal_spans import literals
from .matching import ENOUGH, SMALL_WORDS, attribute_score, column_score
from .phrases import Candidate, candidates
from .schema import Schema, Table, is_row_noun
from .span import Span
from .tokens import DAYS, MONTHS, Token, norm, stem
from .vocabulary import grammar_words, keywords

LONGEST = 8
_SMALL_WORDS = (
    "the a an of in for and or with is are to by per all any does do did was were has have that from on at with between"
)
_NOT_AT_THE_EDGE = frozenset(_SMALL_WORDS.split())
_COUNTING = frozenset(["most", "fewest", "many", "more", "fewer"])
_ADDING, _COMMANDS = frozenset(["and", "&", "plus"]), frozenset(["list", "name", "show", "give", "report"])
_LEFT_LAST = frozenset(["under", "over", "into", "through", "with", "up", "off", "about", "around"])
_NOUN_AFTER = frozenset(["which", "what", "the", "each", "every", "a", "per", "by", "of", "different", "most"])
_ANNOUNCING = frozenset(["code", "name", "id", "number", "abbreviation", "symbol", "title", "label"])
_PLACES = frozenset(["place", "position", "spot", "rank", "number", "no"])
_BESIDE = frozenset(["is", "are", "was", "were", "of", "equals", "the", "a", "be", "being", "="])
_EXACT, _LIGHT = 0.12, 0.1
_MATCH_COST = {"exact": 0.1, "normalised": 0.12, "item": 0.15, "fuzzy": 0.5, "contained": 0.4}


def spans(words: Sequence[Token], schema: Schema, found: Sequence[Mapping[str, Any]]) -> list[Span]:
    """Return every reading of every stretch of the question."""
    columns, cells = _columns(words, schema), _cells(words, schema, found)
    cells = [
        one for one in cells if one.cost < _MATCH_COST["fuzzy"] or not any(_spans_over(two, one) for two in columns)
    ]
    result = [*columns, *cells, *_rows(words, schema), *literals(words)]
    result = [_weighed(span, result, words) for span in result]
    named = {
        i
        for span in result
        if span.tag in ("COL", "VAL", "ROW") and span.cost < 0.45
        for i in range(span.start, span.end)
    }
    result += _keywords(words)
    measures = {span.start for span in result if span.end == span.start + 1 and _is_measure(span)}
    result += [span for span in _fillers(words, named) if span.start not in measures or span.cost < _LIGHT]
    result += _announced(words, result)
    result += _measured(words, result)
    known = {index for span in result for index in range(span.start, span.end)}
    for index, word in enumerate(words):
        if index not in known and word.kind == "word":
            result.append(Span(start=index, end=index + 1, tag="UNK", text=word.text, cost=0.7))
    return result


def _weighed(span: Span, found: Sequence[Span], words: Sequence[Token]) -> Span:
    """Make a cell less likely beside a different column with the same cell."""
    rows = any(other.tag == "ROW" and (other.start, other.end) == (span.start, span.end) for other in found)
    if span.tag == "COL" and span.column and rows and words[span.start].norm != norm(span.column.told):
        nearly = not span.column.unique and span.column.distinct >= 0.9 * span.column.rows
        return replace(span, cost=span.cost + (0.4 if span.column.numeric else 0.3 if nearly else 0.1))
    if span.tag == "COL" and span.cost > 0.2:
        cell = any(
            other.tag == "VAL" and (other.start, other.end) == (span.start, span.end) and other.cost <= 0.25
            for other in found
        )
        return replace(span, cost=span.cost + 0.3) if cell else span
    if span.tag != "VAL":
        return span
    if rows and not any(word.capital for word in words[span.start : span.end]):
        return replace(span, cost=span.cost + 0.4)
    alike = {
        other.column for other in found if other.tag == "VAL" and (other.start, other.end) == (span.start, span.end)
    }
    start = span.start
    while start > 0 and words[start - 1].norm in _BESIDE:
        start -= 1
    near = [other for other in found if other.tag == "COL" and (other.end == start or other.start == span.end)]
    least = min((other.cost for other in near), default=1.0)
    meant = alike & {other.column for other in near if other.cost <= min(least + 0.02, 0.35)}
    return replace(span, cost=span.cost + 0.4) if meant and span.column not in meant else span


def _spans_over(column: Span, cell: Span) -> bool:
    """Tell whether a longer stretch is a column's very name, so its words are not slips for a cell."""
    longer = column.start <= cell.start and cell.end <= column.end and column.end - column.start > cell.end - cell.start
    return longer and column.tag == "COL" and column.cost <= _EXACT + 0.05


def _text(words: Sequence[Token], start: int, end: int) -> str:
    return " ".join(word.text for word in words[start:end])


def _columns(words: Sequence[Token], schema: Schema) -> list[Span]:
    result: list[Span] = []
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + LONGEST) + 1):
            inner = words[start:end]
            if any(word.kind == "sign" and word.text not in ("/", "-", ",", "(", ")") for word in inner):
                break
            if (
                inner[0].kind == "sign"
                or inner[-1].kind == "sign"
                or inner[0].kind in ("number", "percent", "possessive")
            ):
                continue
            result += _named(words, start, end, schema)
    result += [span for index in range(len(words)) for span in _implied(words, index, schema)]
    return result + _bracketed(words, result)


def _bracketed(words: Sequence[Token], found: Sequence[Span]) -> list[Span]:
    """Return readings of the three-letter code (alpha_3) as the column in brackets."""
    result: list[Span] = []
    for span in found:
        if span.cost > 0.2 or span.start < 2 or words[span.start - 1].text != "(":
            continue
        if [word.text for word in words[span.end : span.end + 1]] == [")"]:
            start = span.start - 2
            while start and words[start - 1].norm not in _NOT_AT_THE_EDGE and words[start - 1].kind == "word":
                start -= 1
            result.append(replace(span, start=start, end=span.end + 1, cost=0.05))
    return result


def _named(words: Sequence[Token], start: int, end: int, schema: Schema) -> list[Span]:
    text = _text(words, start, end)
    edge = words[start].norm in _NOT_AT_THE_EDGE or words[end - 1].norm in _NOT_AT_THE_EDGE
    scored = [(column_score(text, column), column) for column in schema.columns]
    best = max((score for score, _ in scored), default=0.0)
    vague = lexicon().how_much | lexicon().generic
    grammatical = {
        stem(word.norm)
        for index, word in enumerate(words[start:end])
        if word.norm in grammar_words() and word.norm not in SMALL_WORDS and not (index and stem(word.norm) in vague)
    } - {"name"}
    scored = [
        (score, column)
        for score, column in scored
        if score >= 0.9 or all(any(synonyms(word, other) for other in column.words) for word in grammatical)
    ]
    best = max((score for score, _ in scored), default=0.0)
    if best < (0.98 if edge else ENOUGH):
        return []
    return [
        Span(start=start, end=end, tag="COL", text=text, column=column, cost=0.1 + (1 - score) * 0.8)
        for score, column in scored
        if score >= best - (0.04 if best < 1 else 0.0)
    ]


def _implied(words: Sequence[Token], index: int, schema: Schema) -> list[Span]:
    """Return columns implied by a verb: born, weighs, costs."""
    root = stem(words[index].norm)
    wanted = lexicon().time_verbs.get(root, ()) + lexicon().implied.get(root, ())
    if not wanted or words[index].kind != "word":
        return []
    scored = [(max(attribute_score(name, column) for name in wanted), column) for column in schema.columns]
    if root in lexicon().time_verbs:
        scored = [(score, column) for score, column in scored if column.dated]
    best = max((score for score, _ in scored), default=0.0)
    return [
        Span(
            start=index, end=index + 1, tag="COL", text=words[index].text, column=column, cost=0.15 + (1 - score) * 0.8
        )
        for score, column in scored
        if score >= 0.85 and score == best
    ]


def _cells(words: Sequence[Token], schema: Schema, found: Sequence[Mapping[str, Any]]) -> list[Span]:
    by_phrase: dict[str, dict[tuple[str, str], list[Mapping[str, Any]]]] = {}
    for item in found:
        places = by_phrase.setdefault(str(item["phrase"]), {})
        places.setdefault((str(item["table"]), str(item["column"])), []).append(item)
    result = [*_quarters(words, schema), *_calendar(words, schema), *_undone(words, schema)]
    for candidate in candidates(words):
        for (table, name), items in by_phrase.get(candidate.phrase, {}).items():
            column = schema.column(table, name)
            match = str(items[0]["match"])
            if column is None or column.kind == "date" or (match == "contained" and not _name_like(words, candidate)):
                continue
            if candidate.variant and (match == "contained" or column.distinct > candidate.variant):
                continue
            if match == "contained" and len(items) < int(items[0]["values"]):
                continue
            result.append(
                Span(
                    start=candidate.start,
                    end=candidate.end,
                    tag="VAL",
                    text=candidate.phrase,
                    column=column,
                    values=tuple(str(item["value"]) for item in items),
                    listed=int(items[0]["lists"]) > 0,
                    cost=_MATCH_COST[match] + candidate.cost + (0.25 if match == "contained" and len(items) > 1 else 0),
                )
            )
    return result


def _calendar(words: Sequence[Token], schema: Schema) -> list[Span]:
    """Return readings of May and Sunday as the month and the weekday of a date."""
    parts = [column for column in schema.columns if column.part]
    return [
        Span(start=index, end=index + 1, tag="VAL", text=word.text, column=column, values=(name.title(),))
        for index, word in enumerate(words)
        for column in parts
        for name in (MONTHS if column.part == "month" else DAYS if column.part == "weekday" else ())
        if word.capital and word.norm in (name, name + "s", name[:3])
    ]


def _undone(words: Sequence[Token], schema: Schema) -> list[Span]:
    """Return readings of unverified as the opposite of a column of truths: verified."""
    return [
        Span(start=index, end=index + 1, tag="VAL", text=word.text, column=column, values=(str(column.truths[0]),))
        for index, word in enumerate(words)
        for column in schema.columns
        if column.truths
        and word.kind == "word"
        and word.norm.startswith(("un", "non", "in"))
        and stem(re.sub(r"^(?:un|non|in)[\W_]*", "", word.norm)) in column.words
    ]


def _quarters(words: Sequence[Token], schema: Schema) -> list[Span]:
    """Return readings of Q1 to Q4 as a quarter's number."""
    columns = [column for column in schema.columns if column.words == ["quarter"] and column.kind == "integer"]
    return [
        Span(start=index, end=index + 1, tag="VAL", text=word.text, column=column, values=(word.text[1],))
        for index, word in enumerate(words)
        if len(word.text) == 2 and word.norm.startswith("q") and word.text[1] in "1234"
        for column in columns
    ]


def _name_like(words: Sequence[Token], candidate: Candidate) -> bool:
    """Tell whether a phrase is written like a name; others stand for whole cells only."""
    return any(word.capital or word.kind == "quoted" for word in words[max(candidate.start, 1) : candidate.end])


def _rows(words: Sequence[Token], schema: Schema) -> list[Span]:
    result: list[Span] = []
    for index, word in enumerate(words):
        for table in schema.tables:
            if norm(word.text) == norm(table.file) or (norm(word.text) == norm(table.name) and "." in word.text):
                result.append(Span(start=index, end=index + 1, tag="FILE", text=word.text, table=table, cost=0.05))
            if word.kind != "word":
                continue
            span = Span(start=index, end=index + 1, tag="ROW", text=word.text, table=table)
            if is_row_noun(table, word.norm) or (
                len(schema.tables) == 1 and stem(word.norm) in lexicon().rows and not word.norm.endswith("ed")
            ):
                result.append(span)
            elif len(schema.tables) == 1 and stem(word.norm) in lexicon().persons and _about_people(table):
                result.append(Span(start=index, end=index + 1, tag="ROW", text=word.text, table=table, cost=0.2))
        result += _compound(words, index, schema)
    return result


def _compound(words: Sequence[Token], index: int, schema: Schema) -> list[Span]:
    """Return readings of two words as the noun of a table: time zones, in time_zones.csv."""
    pair = [stem(word.norm) for word in words[index : index + 2] if word.kind == "word"]
    if len(pair) < 2:
        return []
    joined = stem("".join(word.norm for word in words[index : index + 2]))
    tables = [
        table for table in schema.tables if pair == table.nouns[:2] or joined in table.nouns or _short(pair, table)
    ]
    text = _text(words, index, index + 2)
    return [Span(start=index, end=index + 2, tag="ROW", text=text, table=table) for table in tables]


def _short(pair: Sequence[str], table: Table) -> bool:
    """Tell whether two words, the last a noun of the rows, are a column's initials: tz."""
    initials = pair[0][:1] + pair[1][:1]
    return is_row_noun(table, pair[1]) and any(initials in column.words for column in table.columns)


def _about_people(table: Table) -> bool:
    return any(set(column.words) & {"age", "sex", "gender", "salary", "surnam", "birth"} for column in table.columns)


def _keywords(words: Sequence[Token]) -> list[Span]:
    result: list[Span] = []
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + 6) + 1):
            if any(word.kind in ("quoted", "possessive") for word in words[start:end]):
                break
            text = " ".join(word.text.lower() for word in words[start:end])
            for sense in keywords().get(text, ()):
                if sense.tag == "REL" and _asks(words, start):
                    continue
                if sense.tag == "LIST" and start and words[start - 1].norm in _NOUN_AFTER:
                    continue
                if sense.tag == "MOST" and start and words[start - 1].norm == "at" and _counted(words, end):
                    continue
                result.append(Span(start=start, end=end, tag=sense.tag, text=text, sense=sense, cost=sense.cost))
    return result


def _counted(words: Sequence[Token], index: int) -> bool:
    return index < len(words) and words[index].number is not None


def _announced(words: Sequence[Token], found: Sequence[Span]) -> list[Span]:
    """Return words such as code or name before the cell they announce."""
    cells = {span.start for span in found if span.tag == "VAL" and span.cost <= 0.25}
    years = {span.start for span in found if span.tag == "DATE" or span.year}
    return [
        Span(start=index, end=index + 1, tag="SKIP", text=word.text, cost=0.3)
        for index, word in enumerate(words)
        if (stem(word.norm) in _ANNOUNCING and index + 1 in cells)
        or (word.norm in _PLACES and index and words[index - 1].kind in ("ordinal", "number"))
        or (word.norm in _PLACES and index + 1 < len(words) and words[index + 1].kind in ("ordinal", "number"))
        or (stem(word.norm) in lexicon().times and index + 1 in years)
    ]


def _measured(words: Sequence[Token], found: Sequence[Span]) -> list[Span]:
    """Return readings of deaths from disease as the column disease: a table need not name its counts."""
    known = {index for span in found if span.tag in ("COL", "VAL", "ROW") for index in range(span.start, span.end)}
    return [
        replace(span, start=span.start - 2, text=_text(words, span.start - 2, span.end), cost=span.cost + 0.35)
        for span in found
        if span.tag == "COL" and span.column and span.column.numeric and span.cost <= 0.25 and span.start >= 2
        if words[span.start - 1].norm == "from" and span.start - 2 not in known
        if words[span.start - 2].kind == "word" and words[span.start - 2].norm not in grammar_words()
    ]


def _asks(words: Sequence[Token], start: int) -> bool:
    """Tell whether a question word opens the question instead of a relative clause."""
    wh = words[start].norm in ("which", "who", "whose", "when", "where", "what")
    before = [word.text for word in words[max(0, start - 2) : start]]
    return wh and (
        start == 0
        or before[-1] in (",", ":", ";")
        or (words[start - 1].norm in ("in", "for", "on", "to", "at", "of") and (start == 1 or before[0] == ","))
    )


def _is_measure(span: Span) -> bool:
    """Tell whether a word is the very name of a measuring column: no verb to pass over."""
    return span.tag == "COL" and span.cost <= _EXACT and span.column is not None and span.column.numeric


def _fillers(words: Sequence[Token], named: set[int]) -> list[Span]:
    result: list[Span] = []
    for index, word in enumerate(words):
        light = word.norm in lexicon().fillers or word.text in lexicon().fillers
        verb = stem(word.norm) in lexicon().verbs or stem(word.norm) in lexicon().time_verbs
        before = words[index - 1].norm if index else ""
        verb = verb and not (before in _COUNTING and word.norm.endswith("s"))
        verb = verb and not (before in _ADDING and word.norm in _COMMANDS)
        if word.kind in ("word", "sign", "possessive", "cardinal") and (light or verb):
            cost = 0.6 if index in named and word.norm not in ("the", "a", "an") else 0.05 if light else 0.15
            result.append(Span(start=index, end=index + 1, tag="SKIP", text=word.text, cost=cost))
        elif word.norm in _LEFT_LAST and all(other.kind == "sign" for other in words[index + 1 :]):
            result.append(Span(start=index, end=index + 1, tag="SKIP", text=word.text, cost=0.1))
    return result
