"""What unknown words may stand for, where nothing else explains a question: the rows, or a verb that says no more."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .lexicon import lexicon
from .meaning import nearness
from .query import Condition, Query
from .schema import Schema, Table
from .span import Span
from .tokens import Token, norm, stem
from .vocabulary import keywords

_NOUN_FOLLOWS = "many of which what each every all the different list are those"
_BEFORE_NOUN = frozenset(_NOUN_FOLLOWS.split())
_ANY_NUMBER = frozenset(["which", "what", "each", "every"])
_PLACING = ("located", "situated", "belongs", "exists")
_DOER = re.compile(r"(?:[ei]r|or|ist|ant)s?$")
_LONG = 5
_NOUN, _VERB = 0.25, 0.21


def supposed(words: Sequence[Token], found: Sequence[Span], schema: Schema) -> list[Span]:
    """Return the readings of a question with those that unknown words may have beside, none where there are no such.

    An unknown noun stands for the rows where it is near in meaning to the table, and no other word names the rows; an
    unknown verb may be passed over where it only says where something is, or what the column of the cell after it says,
    or what has most of the rows.
    """
    unknown = [span for span in found if span.tag == "UNK" and not words[span.start].capital]
    extra = [*_nouns(words, unknown, found, schema), *_verbs(words, unknown, found)]
    return [*found, *extra] if extra else []


def corrected(words: Sequence[Token], found: Sequence[Span], schema: Schema) -> list[Token]:
    """Return the words with each unknown one that is a slip, one letter from a single known word, as that word."""
    known = {part for name in keywords() for part in name.split() if len(part) >= _LONG}
    for table in schema.tables:
        names = (table.name, *(column.name for column in table.columns))
        known |= {word for name in names for word in norm(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).split()}
    result = list(words)
    for span in found:
        word = words[span.start]
        if span.tag == "UNK" and len(word.norm) >= _LONG and not word.capital:
            near = {other for other in known if len(other) >= _LONG and _one_slip(word.norm, other)}
            if len({stem(other) for other in near}) == 1:
                result[span.start] = replace(word, text=min(near), norm=min(near))
    return result


def _one_slip(said: str, known: str) -> bool:
    """Tell whether two words differ by one letter, not the first, added, dropped, changed or swapped with the next."""
    if said[0] != known[0] or abs(len(said) - len(known)) > 1:
        return False
    start = next((i for i, (one, two) in enumerate(zip(said, known, strict=False)) if one != two), len(known))
    tails = {
        said[start + 1 :] == known[start:],
        said[start:] == known[start + 1 :],
        said[start + 1 :] == known[start + 1 :],
    }
    swapped = said[start : start + 2][::-1] == known[start : start + 2] and said[start + 2 :] == known[start + 2 :]
    return True in tails or swapped


def about_one(query: Query) -> bool:
    """Tell whether a query is about one row, of which a question for rows would ask nothing."""
    return any(isinstance(one, Condition) and one.operator == "=" and one.column.unique for one in query.where)


def _nouns(words: Sequence[Token], unknown: Sequence[Span], found: Sequence[Span], schema: Schema) -> Iterator[Span]:
    table = schema.tables[0] if len(schema.tables) == 1 else None
    if table is None or any(span.tag == "ROW" or (span.tag == "COL" and span.column == table.label) for span in found):
        return
    for span in unknown:
        before = words[span.start - 1].norm if span.start else ""
        adjective = any(one.tag in ("VAL", "COL") and one.end == span.start and one.cost < 0.3 for one in found)
        slot = before in _ANY_NUMBER or (span.plural and (before in _BEFORE_NOUN or adjective))
        headed = any(one.start == span.end and one.tag in ("COL", "ROW", "UNK") for one in found)
        doer = _DOER.search(span.text) is not None or stem(span.text.lower()) in lexicon().persons
        if slot and not headed and not doer and nearness(span.text, _names(table)) >= _NOUN:
            yield replace(span, tag="ROW", table=table, cost=0.5)


def _verbs(words: Sequence[Token], unknown: Sequence[Span], found: Sequence[Span]) -> Iterator[Span]:
    for span in unknown:
        before = words[span.start - 1].norm if span.start else ""
        cells = [one for one in found if one.tag == "VAL" and span.end <= one.start <= span.end + 2 and one.column]
        if before in _BEFORE_NOUN - {"are"}:
            continue
        most = [one.end for one in found if one.tag == "MOST" and span.end <= one.start <= span.end + 1]
        if any(one.tag == "ROW" and one.start in most for one in found):
            yield replace(span, tag="SKIP", cost=0.4)
        if not cells:
            continue
        told = [one.column.name for one in cells if one.column and not one.column.unique]
        if nearness(span.text, [*_PLACING, *told]) >= _VERB:
            yield replace(span, tag="SKIP", cost=0.4)


def _names(table: Table) -> list[str]:
    return [" ".join(table.nouns), *(column.name.replace("_", " ") for column in table.columns)]
