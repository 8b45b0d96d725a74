"""How well a passage answers a question: by the weight of the words it covers, and by the kind of thing it names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .text_asking import ITSELF, LITTLE, Asking, bare, beyond
from .text_closed import closed
from .text_kinds import asked_noun, counted_noun, is_number
from .tokens import stem

_CREDITS = {"matched": 1.0, "akin": 0.92, "related": 0.85, "above": 0.8, "nearby": 0.5, "missing": 0.0}
_WEAK = 0.15
_ENOUGH, _SURE, _ENTRY = 0.66, 0.6, 0.95
_CLAIMED, _CLAIMED_WITHOUT, _CLAIMED_NOUN = 0.6, 0.62, 0.7
_LEAD, _MUCH, _DEFINING = 0.04, 1.08, 0.05
_SHORT, _LONG, _TIRING = 20, 45, 0.003
_BEFORE_COUNTED = 3
_BREAKING_WORDS = "per of in to for from at on and or by with than a an the"
_BREAKING = frozenset(_BREAKING_WORDS.split())
_WHO_IS = re.compile(r"who(?:['’]s| is| was| are| were) ", re.IGNORECASE)
_SIZED = re.compile(r"\b(?:wide|long|deep|tall|high|thick|width|length|depth|height)\b", re.IGNORECASE)
_ITEM = re.compile(r"\s*[-*•] ")
_NAMING = re.compile(r"\b(?:called|named|names?|known|titled?)\b|[\"“]", re.IGNORECASE)
_PRONOUN = re.compile(r"(?:they|it|he|she|this|these|that|those|we|you)\b", re.IGNORECASE)
_EXISTING = re.compile(
    r"\b(?:there|has|have|had|with|contains?|comprises?|consists?|includes?|total|owns?|holds?|number of)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A passage that answers.

    Args:
        file: Where it stands.
        passage: As `read_file` gave it.
        covered: The share, by weight, of the question's words that it covers, from 0 to 1.
    """

    file: str
    passage: Mapping[str, Any]
    covered: float


def fits(asked: Asking, file: str, found: Mapping[str, Any]) -> Iterator[Fit]:
    """Yield the passages of a reading that answer."""
    for passage in found.get("passages", ()):
        if _names_and_kind(asked, passage):
            covered = _covered(asked, passage, found["weights"])
            if covered is not None:
                yield Fit(file=file, passage=passage, covered=covered + _DEFINING * _hinted(asked, passage))


def best(found: Sequence[Fit]) -> Fit | None:
    """Return the one passage that fits best, or None when another fits as well."""
    first, *others = sorted(found, key=lambda fit: (-fit.covered, -float(fit.passage["score"])))
    rivals = [fit for fit in others if fit.covered + _LEAD > first.covered and _as_much(fit, first)]
    return None if any(rival.passage["text"] != first.passage["text"] for rival in rivals) else first


def _as_much(one: Fit, two: Fit) -> bool:
    return len(one.passage["matched"]) >= len(two.passage["matched"]) and float(one.passage["score"]) * _MUCH > float(
        two.passage["score"]
    )


def _names_and_kind(asked: Asking, passage: Mapping[str, Any]) -> bool:
    """Tell whether a passage has the names of the question in or above it, and something of the kind asked for."""
    text = str(passage["text"])
    if any(bare(word) in asked.names for word in passage["missing"]) or text.rstrip('*"” ').endswith("?"):
        return False
    told, counted = beyond(text, asked), counted_noun(asked.question)
    if counted and counted != "times" and not passage["keyed"] and not _counted(counted, passage):
        return False
    if asked.kind and asked.kind.name == "name" and not passage["keyed"] and not _NAMING.search(text):
        return False
    if (
        asked.kind
        and asked.kind.name == "length"
        and _SIZED.search(told)
        and not _SIZED.search(" ".join(_here(passage)))
    ):
        return False
    if asked.kind is None or (passage["keyed"] and asked.kind.name == "place"):
        return bool(told)
    return asked.kind.pattern.search(f" {told}" if passage["keyed"] else told) is not None


def _hinted(asked: Asking, passage: Mapping[str, Any]) -> bool:
    """Tell whether a passage says more plainly than by its words alone that it answers."""
    return _defines(asked, passage) or bool(asked.cues & {*passage["matched"], *passage["akin"]})


def _defines(asked: Asking, passage: Mapping[str, Any]) -> bool:
    """Tell whether a passage says who or what something is, where that is asked."""
    if (
        not re.match(r"(?:who|what) (?:is|was|are|were|will be)\b", asked.question, re.IGNORECASE)
        or not passage["matched"]
    ):
        return False
    word = re.escape(passage["matched"][0])
    pattern = rf"\b(?:is|was|are|were|be|became|called|named) (?:[\w-]+ ){{0,2}}{word}|{word}\W+(?:is|was|are|were)\b"
    text = str(passage["text"])
    beside = rf"(?i:{word}),? [A-Z]|[A-Z][\w.]+, (?:(?:the|our|an?|its) )?(?:[\w-]+ ){{0,2}}(?i:{word})\b"
    return re.search(pattern, text, re.IGNORECASE) is not None or re.search(beside, text) is not None


def _counted(noun: str, passage: Mapping[str, Any]) -> bool:
    """Tell whether a number stands right before a noun; where another word is said for it, that is not known."""
    if noun in passage["related"] or noun in passage["akin"]:
        return True
    words = [word.casefold() for word in re.findall(r"\w[\w.,'’-]*\w|\w|[;:(]", str(passage["text"]))]
    for place, word in enumerate(words):
        before = words[max(0, place - _BEFORE_COUNTED) : place]
        last = next((index for index, other in reversed(list(enumerate(before))) if is_number(other)), None)
        if stem(word) == stem(noun) and last is not None and not _BREAKING & set(before[last + 1 :]):
            return True
    return False


def _covered(asked: Asking, passage: Mapping[str, Any], weights: Mapping[str, float]) -> float | None:
    """Return the share of the question that a passage covers, or None when that is too little."""
    total = share = claims = claimed = 0.0
    for fit, credit in _CREDITS.items():
        for word in set(passage[fit]) - asked.cues:
            here = credit >= _CREDITS["related"]
            weak = word in asked.weak or (word in ITSELF and not here)
            weight = float(weights[word]) * (_WEAK if weak and not here else 1)
            total, share = total + weight, share + weight * credit
            if (not weak or (here and word in asked.told)) and bare(word) not in asked.names:
                claims, claimed = claims + weight, claimed + weight * credit
    covered = share / total if total else 0.0
    if closed(asked.question):
        return covered if _all_said(asked, passage) else None
    if passage["keyed"]:
        return max(covered, _ENTRY) if _is_entry(asked, passage) else None
    if not _is_told(asked, passage, claimed / claims if claims else 1.0):
        return None
    length = len(str(passage["text"]).split())
    return covered - _TIRING * max(0, length - _LONG) if covered >= (_SURE if asked.sure else _ENOUGH) else None


def _is_told(asked: Asking, passage: Mapping[str, Any], claimed: float) -> bool:
    """Tell whether a sentence says what the question does, rather than things about the same names."""
    light = (asked.weak - asked.told) | asked.cues
    exact = [word for word in (*passage["matched"], *passage["akin"]) if word not in light]
    here = [word for word in _here(passage) if word not in light]
    lost = [word for word in passage["missing"] if word not in asked.weak | asked.cues | ITSELF]
    if len(here) < 2 and _WHO_IS.match(asked.question) and not _defines(asked, passage):
        return False
    answering = asked.sure or str(passage["heading"]).rstrip('*"” ').endswith("?")
    if answering:
        exact, here = [*exact, *passage["above"]], [*here, *passage["above"]]
    if (
        (not exact and len(here) < 2)
        or claimed < (_CLAIMED_WITHOUT if lost else _CLAIMED)
        or (claimed < _CLAIMED_NOUN and asked.nouns & set(lost))
    ):
        return False
    if lost and asked.kind is None and not asked_noun(asked.question):
        return False
    text = str(passage["text"])
    if len(here) < 2 and len(text.split()) > (_LONG if asked.kind else _SHORT):
        return False
    if len(here) < 2 and asked.kind is None and asked_noun(asked.question) & set(passage["missing"]):
        return False
    plain = len(here) > 1 or not counted_noun(asked.question) or _ITEM.match(text) is not None
    return plain or _EXISTING.search(text) is not None


def _all_said(asked: Asking, passage: Mapping[str, Any]) -> bool:
    """Tell whether a sentence speaks of all that a question for yes or no says, one word perhaps by its opposite."""
    meant = _PRONOUN.match(str(passage["text"])) is not None
    absent = _words(passage, "missing") if meant else _words(passage, "nearby", "missing")
    lost = [word for word in absent if word not in LITTLE | asked.cues]
    against = asked.cues & set(_here(passage))
    exact = [word for word in _words(passage, "matched", "akin") if word not in asked.cues]
    if re.match(r"\W*(?:yes|no)\b", str(passage["text"]), re.IGNORECASE):
        exact += _words(passage, "above")
    return bool(exact) and len(lost) <= bool(against)


def _is_entry(asked: Asking, passage: Mapping[str, Any]) -> bool:
    """Tell whether a line such as "Telephone: 555 0173" tells what is asked; a verb may be missing."""
    lost = [word for word in passage["missing"] if word not in asked.weak | asked.cues | ITSELF]
    sort, here = asked_noun(asked.question) | ({counted_noun(asked.question)} - {"", *LITTLE}), set(_here(passage))
    if (sort and not sort & here) or (here <= asked.cues and (lost or not here & set(passage["matched"]))):
        return False
    return not lost or (asked.kind is not None and len(lost) == 1 and lost[0] not in asked.nouns)


def _here(passage: Mapping[str, Any]) -> list[str]:
    return _words(passage, "matched", "akin", "related")


def _words(passage: Mapping[str, Any], *fits: str) -> list[str]:
    return [str(word) for fit in fits for word in passage[fit]]
