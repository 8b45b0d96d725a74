"""The sentences of a text that fit a question best: by meaning, and by BM25 over stems, helped by what is around."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

from .meaning import akin, nearness

_K, _B = 1.2, 0.6
_AROUND = 0.25
_PARAGRAPH, _WORDS = 0.3, 0.3
_MOST_CHARACTERS = 600
_OPENING = 2
_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9À-Þ])")
_HEADING = re.compile(r"[A-Z\d][^.!?:;,|]{2,59}[^.!?:;,|\s]")
_NUMBERED = re.compile(r"(?:(?:Section|Chapter|Article|Part) )?\d+(?:\.\d+)*[.):]?\s+[A-Z][^.!?:;|]{1,58}")
_ABBREVIATION = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|e\.g|i\.e|approx|ca|Fig|Inc|Ltd|Jr|Sr)\.$")
_LIGHT = """a an the of in on at to for from by with as is are was were be been being do does did has have had and or
not no what which who whom whose when where why how much many that this these those it its there their they he she his
her i you we me my our your can could would should will may might shall than then so if but into about over under
according file document text say says said tell mention mentioned give given please name list find state must someone
somebody one anyone everyone all any each every need needs needed ought come comes came use used uses take takes took"""
_STOP = frozenset(_LIGHT.split())
_IRREGULAR_FORMS = """
stood stand; paid pay; built build; wrote write; written write; made make; held hold; sold sell; began begin; begun
begin; led lead; won win; came come; went go; took take; taken take; gave give; ran run; found find; grew grow;
grown grow; knew know; known know; became become; bought buy; brought bring; fell fall; kept keep; left leave; lost
lose; met meet; sent send; spent spend; taught teach; thought think; men man; women woman; people person; children
child; sown sow; shown show; known know; worn wear; torn tear; sank sink; sunk sink; drawn draw; driven drive; chose choose;
chosen choose; flew fly; flown fly; born birth; died death; dead death; weigh weight; weighs weight; permitted allow; permit allow; permits allow; purchased buy; purchase buy; commenced begin; constructed build;
erected build
"""
_IRREGULAR = {pair.split()[0]: pair.split()[1] for pair in _IRREGULAR_FORMS.split(";")}


class Passage(TypedDict):
    """A sentence with its place and the heading above it, and which words of the question stand in it or beside it.

    `score` is by words, without bound; `meaning` the cosine with the question; `fit`, which orders, is made of both.
    Of the words that do not stand in it, `akin` are near in meaning to one that does.
    """

    start: int
    end: int
    text: str
    heading: str
    context: str
    score: float
    meaning: float
    fit: float
    matched: list[str]
    nearby: list[str]
    akin: list[str]
    missing: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    start: int
    end: int
    text: str
    paragraph: int
    heading: str
    stems: Counter[str]


def best_passages(lines: list[str], question: str, most: int = 5) -> list[Passage]:
    """Return the sentences that fit a question best, best first.

    Args:
        lines: The text.
        question: A question or some words.
        most: How many to return by each, meaning and words.
    """
    sentences = list(_sentences(lines))
    wanted = {_stem(word): word for word in _words(question)}
    if not sentences or not wanted:
        return []
    weights = _weights(sentences, list(wanted))
    around = _paragraphs(sentences)
    length = sum(sum(sentence.stems.values()) for sentence in sentences) / len(sentences)
    scores = [_score(sentence, weights, around, length) for sentence in sentences]
    meanings, fits = _meanings(sentences, question), list[float]()
    for (near, beside), score in zip(meanings, scores, strict=True):
        fits.append(near + _PARAGRAPH * beside + _WORDS * score / max(1e-9, *scores))
    order = sorted(range(len(sentences)), key=lambda index: (-fits[index], sentences[index].start))[:most]
    order += sorted(set(range(len(sentences))) - set(order), key=lambda index: -scores[index])[:most]
    return [
        _passage(scores[index], (meanings[index][0], fits[index]), sentences[index], wanted, around, lines)
        for index in order
        if index in order[:most] or scores[index] > 0
    ]


def _meanings(sentences: list[_Sentence], question: str) -> list[tuple[float, float]]:
    """Return how near each sentence and its paragraph are to a question; a heading alone says nothing."""
    blocks: dict[int, list[str]] = {}
    for sentence in sentences:
        blocks.setdefault(sentence.paragraph, [sentence.heading]).append(sentence.text)
    found = nearness(
        _without_names(question), [*(sentence.text for sentence in sentences), *map(" ".join, blocks.values())]
    )
    beside = dict(zip(blocks, found[len(sentences) :], strict=True))
    return [
        (0.0 if sentence.text.strip("# ") == sentence.heading else near, beside[sentence.paragraph])
        for sentence, near in zip(sentences, found, strict=False)
    ]


def _without_names(question: str) -> str:
    """Return a question without the names and numbers in it, of which many a sentence tells, where words are left."""
    first, *rest = question.split()
    plain = [word for word in rest if word[:1].islower()]
    return " ".join([first, *plain]) if stems(" ".join(plain)) else question


def stems(text: str) -> list[str]:
    """Return the stems of a text's words that say something."""
    return [_stem(word) for word in _words(text)]


def _words(text: str) -> list[str]:
    """Return a text's words that say something, in small letters, without accents and possessives."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter)).replace("’", "'")
    words = re.findall(r"\d[\d.,]*\d|\w+(?:'\w+)?", bare)
    return [word.removesuffix("'s") for word in words if word not in _STOP]


def _stem(word: str) -> str:
    if word[:1].isdigit():
        return word.replace(",", "")
    word = _IRREGULAR.get(word, word)
    for ending, kept in (
        ("ies", "y"),
        ("sses", "ss"),
        ("ing", ""),
        ("edly", ""),
        ("ed", ""),
        ("ly", ""),
        ("es", ""),
        ("s", ""),
    ):
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= 3
            and not (ending == "s" and word.endswith(("ss", "us", "is")))
        ):
            word = word[: -len(ending)] + kept
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _sentences(lines: list[str]) -> Iterator[_Sentence]:
    heading = ""
    for paragraph, (start, block) in enumerate(_blocks(lines)):
        found = re.match(r"#{1,6}\s+(.*)|(.{1,80})\n[=-]{3,}$", "\n".join(block))
        if found:
            heading = found[1] or found[2]
        elif len(block) == 1 and _HEADING.fullmatch(block[0].strip()):
            heading = block[0].strip()
        elif len(block) > 1 and _NUMBERED.fullmatch(block[0].strip()) and block[1][:1].isupper():
            heading, start, block = block[0].strip(), start + 1, block[1:]
        for first, last, text in _split(block):
            yield _Sentence(
                start=start + first,
                end=start + last,
                text=text,
                paragraph=paragraph,
                heading=heading,
                stems=Counter(stems(text)),
            )


def _blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield paragraphs with the number of their first line; items of a list and rows of a table stand alone."""
    block: list[str] = []
    for number, line in enumerate([*lines, ""], start=1):
        alone = re.match(r"\s*(?:[-*•]|\d+[.)])\s+|\s*\||#{1,6} |\S[^.]{0,40}:\s|\[", line)
        if block and (not line.strip() or alone):
            yield number - len(block), block
            block = []
        if line.strip():
            block.append(line)


def _split(block: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the sentences of a paragraph with the offsets of their first and last line."""
    starts: list[int] = []
    joined = ""
    for line in block:
        starts.append(len(joined))
        joined += line.strip() + " "
    begin = 0
    cuts = [found.end() for found in _END.finditer(joined) if not _ABBREVIATION.search(joined[: found.start()])]
    for cut in [*cuts, len(joined)]:
        text = joined[begin:cut].strip()
        if text:
            first = max(index for index, offset in enumerate(starts) if offset <= begin)
            last = max(index for index, offset in enumerate(starts) if offset < begin + len(joined[begin:cut].rstrip()))
            yield first, last, text
        begin = cut


def _weights(sentences: list[_Sentence], wanted: list[str]) -> dict[str, float]:
    """Return how telling each stem is: rare ones more."""
    total = len(sentences)
    counts = {stem: sum(stem in sentence.stems for sentence in sentences) for stem in wanted}
    return {stem: math.log(1 + (total - count + 0.5) / (count + 0.5)) for stem, count in counts.items() if count}


def _paragraphs(sentences: list[_Sentence]) -> dict[int, set[str]]:
    """Return the stems around each sentence: of its paragraph, of its heading, and of the opening, which all lean on."""
    around: dict[int, set[str]] = {}
    title = {stem for sentence in sentences[:_OPENING] for stem in sentence.stems}
    for sentence in sentences:
        around.setdefault(sentence.paragraph, title | set(stems(sentence.heading))).update(sentence.stems)
    return around


def _score(sentence: _Sentence, weights: dict[str, float], around: dict[int, set[str]], length: float) -> float:
    size = sum(sentence.stems.values())
    score = 0.0
    for stem, weight in weights.items():
        count = sentence.stems[stem]
        if count:
            score += weight * count * (_K + 1) / (count + _K * (1 - _B + _B * size / length))
        elif stem in around[sentence.paragraph]:
            score += weight * _AROUND
    return score if any(stem in sentence.stems for stem in weights) else 0.0


def _passage(
    score: float,
    meant: tuple[float, float],
    sentence: _Sentence,
    question: dict[str, str],
    around: dict[int, set[str]],
    lines: list[str],
) -> Passage:
    """Return a passage with what is known of it; the question is its words by their stems."""
    wanted = [stem for stem in question if not sentence.stems[stem]]
    likely = akin([question[stem] for stem in wanted], _words(f"{sentence.heading} {sentence.text}"))
    near = around[sentence.paragraph]
    context = " ".join(line.strip() for line in lines[max(0, sentence.start - 2) : sentence.end + 1])
    return Passage(
        start=sentence.start,
        end=sentence.end,
        text=sentence.text[:_MOST_CHARACTERS],
        heading=sentence.heading,
        context=context[:_MOST_CHARACTERS],
        score=round(score, 3),
        meaning=round(meant[0], 3),
        fit=round(meant[1], 3),
        matched=[stem for stem in question if sentence.stems[stem]],
        nearby=[stem for stem in wanted if stem in near],
        akin=[stem for stem, like in zip(wanted, likely, strict=True) if like],
        missing=[stem for stem in wanted if stem not in near],
    )
