"""Confirmations: words about an answer given before, in place of an answer."""

from __future__ import annotations

import re

from tea.characters import on_one_line
from tea.loop.checks import numbers_stand_in
from tea.loop.number_words import numbers_in_words

_MARKS = re.compile(r'[*_`"\u201c\u201d\u201e\u00ab\u00bb]')
_SENTENCES = re.compile(r"(?<=[.!?:])[ \t\r\n]+|\n+")
_CLAUSES = re.compile(r"(?:[,;:!\u2013\u2014]|\.(?!\d))+\s*|\s(?:and|so|und)\s")
_WHOSE = r"(?:(?:the|my|this|held|given|final|previous|earlier) ){1,3}"
_HOLDS = re.compile(
    rf"(?:(?:yes|ok|okay),? )?(?:{_WHOSE}answer |it )?holds[.!]?|(?:ja,? )?(?:die|meine) antwort (?:gilt|stimmt)[.!]?",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    rf"(?:(?:yes|ok|okay),? )?(?:{_WHOSE}answer|it) holds\b(?=[ .,;:!(\u2013\u2014-])",
    re.IGNORECASE,
)
_SPELT_OUT = re.compile(r"(?:(?:yes|ok|okay),? )?(?:the|my|this) answer holds[.!]?", re.IGNORECASE)
_FACTS = "step|fact|number|figure|result|value|form"
_EACH = (
    rf"(?:(?:each|every|all(?: of)?(?: the| my)?(?: two| three| four)?|the|my|these|both) (?:{_FACTS})s?"
    r"(?: (?:in|of) (?:the|my|this) (?:held )?answer)?)"
)
_RIGHT = r"(?:right|correct|fine|good|ok|okay|in order|accurate|unchanged|valid)(?: as (?:it is|they are|given))?"
_GOOD = r"(?:richtig|korrekt|unver\u00e4ndert)"
_AGREES = re.compile(
    r"(?:yes|so|thus|hence|therefore)? ?(?:"
    rf"(?:{_WHOSE}answer(?: above)?|it|they|these|everything|all(?: of it)?|{_EACH})"
    rf" (?:holds?|stands?|(?:is|are|was|were|looks?|seems?|stays?|remains?) (?:still |all |indeed )?{_RIGHT}"
    r"|(?:stays|remains) the same|(?:checks|check) out)"
    rf"|i (?:confirm|stand by) (?:that )?{_WHOSE}answer(?: (?:is|was) {_RIGHT})?"
    rf"|(?:all|everything )? ?{_RIGHT}|confirmed"
    r"|no (?:further )?(?:changes?|corrections?)(?: (?:is |are )?(?:needed|necessary|required))?"
    r"|nothing (?:to change|changes|changed)|(?:the )?same (?:answer )?as (?:before|above)"
    rf"|(?:this|that) is {_WHOSE}answer"
    r")"
    r"|(?:ja|also|somit|damit|daher)? ?(?:"
    r"(?:(?:die|meine|diese)(?: vorherige)? antwort(?: oben)?|alles|es|das"
    r"|(?:alle|die) (?:zahlen|werte|schritte|angaben))"
    rf" (?:stimmt|stimmen|gilt|(?:ist|sind|bleibt|bleiben) (?:alle |alles |so )?{_GOOD})(?: so)?"
    r"|(?:stimmt|stimmen|ist|sind) (?:die|meine|diese|alle) (?:antwort|zahlen|werte|angaben)(?: richtig| korrekt)?"
    r"|ich bleibe bei (?:der|meiner|dieser) antwort"
    r"|keine (?:\u00e4nderung|korrektur)(?:en)?(?: (?:ist |sind )?n\u00f6tig)?"
    r")",
    re.IGNORECASE,
)
_CHECKED = re.compile(
    r"(?:yes|ok|okay|sure|done|as (?:you )?(?:asked|wanted)|i (?:now )?say|as i (?:have )?said"
    r"|(?:i(?:'ve| have)? )?(?:(?:now|just|again|carefully|double-?) ?)?"
    r"(?:re-?)?(?:checked|verified|reviewed|looked at)"
    r"(?: [a-z'-]{1,20}){0,8}"
    rf"|{_EACH}(?: [a-z'-]{{1,20}}){{0,8}}"
    r"|the form is the one asked for|nothing (?:was|is|has been) (?:left out|missing)"
    r"|ja|wie gesagt|(?:ich habe )?[a-z\u00e4\u00f6\u00fc ]{0,60}(?:gepr\u00fcft|nachgerechnet)|(?:es )?fehlt nichts)",
    re.IGNORECASE,
)
_NOTHING_LEFT = re.compile(r"nothing (?:was|is|has been) (?:left out|missing)|(?:es )?fehlt nichts", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:but|except|however|if|in ?correct|instead|mistakes?|not|only|should|unless|wrong(?:ly)?"
    r"|aber|au\u00dfer|falsch\w*|fehler\w*|jedoch|nein|nicht|nur|sollte\w*|sondern|statt|w\u00e4re\w*)\b|n['\u2019]t\b|\?",
    re.IGNORECASE,
)
_DISAGREES = re.compile(
    rf"(?:no |so )?(?:{_WHOSE}answer|it|this|that|everything|{_EACH})"
    rf"(?: (?:is|are)(?: not|n't)(?: all)? {_RIGHT}| does(?: not|n't) hold"
    r"|(?:'s| is| are| was| were) (?:wrong|incorrect))"
    r"|(?:(?:die|meine|diese) antwort|das|es|(?:alle|die) (?:zahlen|werte))"
    rf" (?:(?:stimmt|stimmen|gilt) nicht|(?:ist|sind) (?:falsch|nicht {_GOOD}))",
    re.IGNORECASE,
)
_ABOUT = re.compile(  # other words of agreement, such as good, may be the answer itself
    rf"\b(?:answer|holds?|{_FACTS}|right|correct\w*|wrong|accurate|unchanged|no changes?|same as|checks? out"
    r"|antwort|angaben|falsch|gilt|korrekt\w*|richtig|stimm\w*|werte|zahlen|\u00e4nderung(?:en)?)s?\b",
    re.IGNORECASE,
)
_PLANS = re.compile(
    r"\b(?:i(?:'|\u2019)ll|(?:i|we) will|going to|let (?:me|us)|i (?:need|have|want) to|ich werde|werde ich)\b",
    re.IGNORECASE,
)
_MOST_REMARK = 600
_LONGEST = 800  # characters of words about an answer; longer ones are one
_NUMBER = r"\d[\d.,]*(?<=\d)\s?%?"
_SIGN = r"\s*[-+*/x\u00d7\u00b7\u00f7\u2212]\s*"
_WORKING = re.compile(rf"{_NUMBER}(?:{_SIGN}{_NUMBER})+(?=\s*(?:=|is\b|gives\b|ist\b|ergibt\b))", re.IGNORECASE)
_WORKED = re.compile(rf"(?:=|\bis|\bist)\s*{_NUMBER}(?:{_SIGN}{_NUMBER})+", re.IGNORECASE)
_POINT = re.compile(r"(?<=\d),(?=\d{1,2}(?!\d))")
_WORD = re.compile(r"[^\W\d_]{2,}")
_GERMAN = "drei vier f\u00fcnf sechs sieben acht neun zehn elf zw\u00f6lf"
_FEW = 2  # the greatest number in words that is often no value
_USUAL = (  # words of checks and their outcome, and small ones
    "about above again all also an and answer are as asked at be been before both by calculated calculation"
    " carefully check checked checks code computed confirmed confirms correct correctly data each every everything"
    " fact facts figure figures file files fine first for form found from given gives had has have held hence"
    " holds in indeed is it left look looked match matches missing my no nothing now number numbers of on one ones"
    " out page query questions read recomputed requested result results reviewed right row rows said same says see"
    " shown shows since so stand stands stated step steps still sum sums table task that the their them then"
    " therefore these they this thus to total value values verified was well were which with work yes"
    " alle alles als also am an angabe angaben antwort auf aus bei bleibt damit daten das dem den der des die diese ein"
    " eine einer ergebnis ergebnisse es fehlt form fragen geben gepr\u00fcft gesagt gilt habe haben ich im in ist ja"
    " jede jeder jedes korrekt meine mit nachgerechnet nichts noch rechnung richtig schritt schritte sie sind so somit"
    " steht stimmen stimmt summe summen und unver\u00e4ndert von vor war waren wert werte wie wurde wurden zahl zahlen"
    " zeile zeilen zu zum zur"
)
_JUDGES = re.compile(
    r"\b(?:accura\w*|good|state|status|unchanged|chang\w*|check\w*|confirm\w*|correct\w*|differ\w*|fine|holds?|mistakes?|ok|okay|right|same|true"
    r"|valid\w*|verif\w*|wrong\w*|\u00e4nder\w*|falsch\w*|fehler\w*|gilt|korrekt\w*|pr\u00fcf\w*|richtig\w*|stimm\w*)\b",
    re.IGNORECASE,
)


def confirms(text: str, held: str = "") -> bool:
    """Return whether words confirm an answer given before: by a sentence, by their beginning, or by all they say.

    Args:
        text: The words.
        held: The answer; if it is known, words with matter of it alone confirm it by any clause.
    """
    return _beside(text, held) is not None


def remark_of(text: str, held: str = "") -> str:
    """Return the words beside a confirmation as a remark on the answer, empty if they say nothing else."""
    return (_beside(text, held) or "")[:_MOST_REMARK]


def speaks_of(text: str, task: str) -> bool:
    """Return whether words speak of an answer as right or wrong, instead of giving one.

    Args:
        text: The words.
        task: The words of the task; one about what is right or changed is answered so.

    Examples:
        >>> speaks_of("The numbers are right: 22.06.", "How many days are there?")
        True
        >>> speaks_of("The numbers are right.", "Are the numbers right?")
        False
    """
    sentences = _sentences(text)
    if len(text) > _LONGEST or (_JUDGES.search(task) and not any(map(_SPELT_OUT.fullmatch, sentences))):
        return False
    words = " ".join(sentences)
    clauses = [one for one in _clauses(words) if _ABOUT.search(one) and (" " in one or one.casefold() == "correct")]
    about = any(pattern.fullmatch(one) for one in clauses for pattern in (_AGREES, _DISAGREES, _HOLDS))
    return about or any(map(_HOLDS.fullmatch, sentences)) or _BEGINS.match(words) is not None


def _beside(text: str, held: str) -> str | None:
    """Return the remark in words confirming an answer, None if they do not."""
    sentences = _sentences(text)
    places = [place for place, one in enumerate(sentences) if _HOLDS.fullmatch(one)]
    if places:
        behind = sentences[places[-1] + 1 :]
        return None if any(map(_DENIES.search, behind)) else " ".join(one for one in behind if not _says_checked(one))
    words = " ".join(sentences)
    held = held if len(words) <= _LONGEST else ""
    begins = _BEGINS.match(words)
    if begins is not None and not _DENIES.search(words, begins.end()):
        return "" if _says_checked(words[begins.end() :]) else words
    if _DENIES.search(words) or (held and _adds_number(words, held)):
        return None
    first, *rest = _clauses(words) or [""]
    if rest and " " in first and _AGREES.fullmatch(first) and not (_PLANS.search(words) or _adds_word(rest, held)):
        return "" if all(_says_checked(one) or _says_nothing_new(one, held) for one in rest) else words
    if any(map(_AGREES.fullmatch, _clauses(words))) and _says_checked(words):
        return ""
    return _with_its_matter(words, held) if held else None


def _with_its_matter(words: str, held: str) -> str | None:
    """Return the remark in words agreeing anywhere, without a number, name or value of their own; None for others."""
    clauses = _clauses(words)
    agreeing = [one for one in clauses if _AGREES.fullmatch(one)]
    checked = _CHECKED.fullmatch(clauses[0]) is not None if clauses else False
    all_there = checked and any(map(_NOTHING_LEFT.fullmatch, clauses))
    others = [one for one in clauses if one not in agreeing and not _says_checked(one)]
    if not (agreeing or all_there) or _PLANS.search(words) or _adds_word(others, held):
        return None
    return "" if checked or all(_says_nothing_new(one, held) for one in others) else words


def _adds_number(words: str, held: str) -> bool:
    """Return whether words name a number missing in an answer, apart from the operands of a calculation."""
    rest = _POINT.sub(".", _WORKED.sub(" ", _WORKING.sub(" ", words)))
    held = f"{held}\n{_POINT.sub('.', held)}"
    known = [*numbers_in_words(held)]
    if not numbers_stand_in(rest, f"{held}\n{known}"):
        return True
    german = [_GERMAN.split().index(one) + 3 for one in _words(rest) if one in _GERMAN.split()]
    spelt = [one for one in (*numbers_in_words(rest), *german) if one > _FEW and one not in known]
    return not numbers_stand_in(" ".join(f"{one:g}" for one in spelt), held)


def _adds_word(clauses: list[str], held: str) -> bool:
    """Return whether clauses say something else than an answer: a name, or one of its clauses with another word."""
    known, usual = set(_words(held)), set(_USUAL.split())
    for one in clauses if held else ():
        new = [word for word in _WORD.findall(one) if word.casefold() not in known | usual]
        if any(not word.islower() for word in new) or (new and set(_words(one)) & known - usual):
            return True
    return False


def _says_nothing_new(clause: str, held: str) -> bool:
    """Return whether all words of a clause stand in an answer, or are usual ones."""
    return bool(held) and set(_words(clause)) <= {*_words(held), *_USUAL.split()}


def _says_checked(text: str) -> bool:
    """Return whether words only tell of checks and their good outcome."""
    return all(_AGREES.fullmatch(one) or _CHECKED.fullmatch(one) for one in _clauses(text))


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text, without marks."""
    return [on_one_line(one) for one in _SENTENCES.split(_MARKS.sub("", text).strip(" \t\r\n"))]


def _clauses(text: str) -> list[str]:
    """Return the non-empty parts of sentences."""
    parts = _CLAUSES.split(text.replace("\u2019", "'"))
    return [one for part in parts if (one := re.sub(r"^(?:and|so|und) ", "", part.strip()))]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
