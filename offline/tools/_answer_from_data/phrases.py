"""Choose stretches of a question to search for among cells."""

from collections.abc import Sequence
from dataclasses import dataclass

from .lexicon import lexicon
from .tokens import DAYS, MONTHS, Token, stem
from .vocabulary import grammar_words

LONGEST = 7
MOST = 300
_FEW = 8
_PLACES = 400
_SHORT_FORMS = {
    "us": "united states", "usa": "united states", "u.s": "united states", "u.s.a": "united states",
    "uk": "united kingdom", "u.k": "united kingdom", "uae": "united arab emirates"
}  # fmt: skip
_CALENDAR = 12
_SHORTENED = {name: tuple(name[:size] for size in (3, 4)) for name in (*DAYS, *MONTHS)}
_DEMONYM_PAIRS = """
french france; german germany; english england; dutch netherlands; spanish spain; italian italy; greek greece;
swiss switzerland; danish denmark; swedish sweden; finnish finland; polish poland; turkish turkey; irish ireland;
scottish scotland; welsh wales; thai thailand; norwegian norway; belgian belgium; brazilian brazil; canadian canada;
mexican mexico; european europe; russian russia; american america; asian asia; african africa; indian india;
egyptian egypt; hungarian hungary; austrian austria; argentine argentina; ukrainian ukraine; japanese japan;
chinese china; portuguese portugal; korean korea; australian australia
"""
_DEMONYMS = {pair.split()[0]: pair.split()[1] for pair in _DEMONYM_PAIRS.split(";")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A phrase to search for, on behalf of some tokens.

    Args:
        phrase: What to search for.
        start: First token.
        end: Token after the last.
        cost: How doubtful it is that a cell is meant.
        variant: For a phrase that is not what was said: the most distinct values that its column may have.
    """

    phrase: str
    start: int
    end: int
    cost: float = 0.0
    variant: int = 0


def candidates(words: Sequence[Token]) -> list[Candidate]:
    """Return the phrases to search for, bounded."""
    result: list[Candidate] = []
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + LONGEST) + 1):
            inner = words[start:end]
            if any(word.kind == "quoted" for word in inner) and len(inner) > 1:
                break
            result += _candidate(inner, start, end)
        result += _variants(words, start)
    return result[:MOST]


def _candidate(inner: Sequence[Token], start: int, end: int) -> list[Candidate]:
    if inner[0].kind in ("sign", "possessive") or inner[-1].kind in ("sign", "possessive"):
        return []
    phrase = "".join(
        word.text if word.kind == "possessive" or word.text == "," or not index else f" {word.text}"
        for index, word in enumerate(inner)
    )
    cost = 0.0
    light = [word.norm in lexicon().fillers or word.norm in grammar_words() for word in inner]
    if light[0] or light[-1]:
        if not any(word.capital for word in (inner[0], inner[-1])) and inner[0].kind != "quoted":
            if all(light) and inner[0].norm not in ("yes", "no", "true", "false", "male", "other", "none", "unknown"):
                return []
            cost = 0.3
        elif len(inner) == 1 and not (inner[0].text.isupper() or inner[0].kind == "quoted"):
            if start == 0:
                return []
            cost = 0.1
    return [Candidate(phrase=phrase, start=start, end=end, cost=cost)]


def _variants(words: Sequence[Token], index: int) -> list[Candidate]:
    """Return other words for a token: women for female, US for United States, French for France."""
    word = words[index]
    if word.kind not in ("word", "quoted"):
        return []
    others = [(other, _FEW) for other in lexicon().demographic.get(stem(word.norm), ()) if other != word.norm]
    others += [(short, _CALENDAR) for short in _SHORTENED.get(word.norm, ())]
    if word.norm.endswith("y") and len(word.norm) > 4:
        root = word.norm[:-1]
        others += [(other, _FEW) for other in (root, root[:-1]) if other == root or root[-1] == root[-2]]
    bare = word.text.lower().rstrip(".")
    if word.text[:1].isupper() and bare in _SHORT_FORMS:
        others.append((_SHORT_FORMS[bare], _PLACES))
    if word.text[:1].isupper() and bare in _DEMONYMS:
        others.append((_DEMONYMS[bare], _PLACES))
    return [Candidate(phrase=other, start=index, end=index + 1, cost=0.1, variant=most) for other, most in others]
