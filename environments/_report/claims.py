"""Claims: sentences about the matter of a report, told from those about its making or what was not found."""

import re

LEAST_WORDS = 4

ASIDE = re.compile(
    r"`+[^`]*`+|!?\[[^\]\n]{0,300}\]\((?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)|https?://\S+"
    r"|\[\d{1,4}(?:[ ]?[,;][ ]?\d{1,4}){0,50}\]"
)
UNIT = re.compile(r"^[ \t]*(?:[-*+]|\d{1,4}[.)])[ \t]+", re.MULTILINE)
_FOUND = (
    r"(?:found|find|known|available|given|stated|read|opened?|reached?|returned?|named|determined?|confirm(?:ed)?"
    r"|verif(?:ied|y)|answer(?:ed)?|check(?:ed)?|calculated?|computed?|compared?|load(?:ed)?|extract(?:ed)?|told|said"
    r"|tell|say|access(?:ed)?|retrieved?)\b"
)
_LACKS = (
    re.compile(
        rf"\b(?:not|cannot|can['\u2019]t|couldn['\u2019]t|unable to|failed to) (?:yet )?(?:be(?:en)? )?{_FOUND}"
    ),
    re.compile(rf"\b(?:no|none|nothing|neither)\b[^.,;:]{{0,80}} (?:was|were|is|are|been|be) {_FOUND}"),
    re.compile(r"\b(?:found|finds?|says|said|returned|gave|tells?) (?:no|none|nothing)\b"),
    re.compile(r"\bno (?:results?|sources?|evidence|answers?|data|information|hits?|match(?:es)?|findings?)\b"),
    re.compile(r"\b(?:call|query|search|request|tool|attempt|step|download|agent|part)s? failed\b"),
    re.compile(r"\b(?:remains?|stays?|is|are) (?:open|unknown|unclear|uncertain)\b"),
    re.compile(r"\bnicht [^.,;:]{0,40}(?:gefunden|gelesen|ermittelt|bestimmt|ge\u00f6ffnet|gepr\u00fcft|bekannt)\b"),
    re.compile(r"\b(?:nichts|kein\w{0,2}) [^.,;:]{0,60}(?:gefunden|bekannt|angegeben)\b"),
    re.compile(r"\b(?:kein\w{0,2}) (?:daten|angaben?|quellen?|belege?|treffer|ergebnisse?)\b|\bfehlgeschlagen\b"),
    re.compile(r"\b(?:bleibt|bleiben|ist|sind) (?:offen|unklar|unbekannt|ungewiss)\b|^\W*unklar (?:bleibt|ist)\b"),
    re.compile(
        r"\bn['\u2019](?:a|ont) pas (?:pu|\u00e9t\u00e9 (?:trouv|ouvert|lu|v\u00e9rifi))|\ba \u00e9chou\u00e9\b"
    ),
    re.compile(r"\baucune? (?:source|r\u00e9sultat|donn\u00e9e|information|preuve)s?\b|\b(?:reste|est) inconnue?\b"),
    re.compile(
        r"\bno se (?:pud|pued|encontr|sabe|hall)|\b(?:no hay|ning\u00fan|ninguna) (?:dato|fuente|resultado|informaci)"
    ),
    re.compile(
        r"\b(?:sigue siendo|es|queda) desconocid[oa]\b|\bfall\u00f3 (?:la|el) (?:consulta|b\u00fasqueda|descarga)"
    ),
)
_DONE = (
    r"(?:searched|queried|counted|calculated|recalculated|computed|compared|grouped|filtered|sorted|joined|verified"
    r"|converted|summed|added up|averaged|looked up|extracted|aggregated|cross-checked|checked|fetched|rounded)\b"
)
_MADE = (
    re.compile(rf"\W*(?:i|we) (?:\w+ )?(?:{_DONE}|(?:read|opened|used|asked|took)\b)"),
    re.compile(rf"[^.,;:]{{0,100}}\b(?:was|were|is|are|been) (?:(?:then|also|first|only|all|each) )?{_DONE}"),
    re.compile(
        r"\W*(?:this|the) (?:report|section|document|answer) (?:\w+ )?(?:answers|shows|describes|lists|covers)\b"
    ),
    re.compile(r"\W*(?:this|the) (?:report|section|document|answer) (?:rests|is based|gives|explains|was written)\b"),
)
_ADVICE = (  # suggestions, and the ranks of sources
    re.compile(
        r"\W*(?:consider|compare (?:the|both|all)|look (?:at|into|for)|examine|investigate|find out|explore|collect"
        r"|ask (?:the|for|whether)|check (?:the|if|whether)|repeat (?:the|this))\b(?![^.]*:)"
    ),
    re.compile(r"\W*(?:i|we) (?:suggest|recommend|propose|advise)\b"),
    re.compile(
        r"(?:[^.:]{0,60}[,;] |\W*of (?:the|these) (?:two|three|sources|sides) )?\W*(?:neither|none|both|the"
        r" (?:(?:more|most|less|least) \w+|new(?:er|est)|old(?:er|est)|better|best|first|second|other|latest|later))"
        r"(?: (?:one|source|side|page|of (?:them|the two|these|both)))?"
        r" (?:is|was|are) (?:therefore )?(?:ranked (?:first|second|last)|counted (?:more|less))\b"
    ),
    re.compile(r"[^.:]{0,60}\bthe (?:newer|older|later|other) (?:one|source|side) counts (?:more|less)\b"),
)
_MADE_ABROAD = (
    re.compile(
        r"\W*(?:dieser|der|ce|le|este|el) (?:bericht|rapport|informe) (?:beantwortet|zeigt"
        r"|beschreibt|beruht|r\u00e9pond"
        r"|montre|d\u00e9crit|repose|responde|muestra|describe)\b"
    ),
    re.compile(
        r"[^.,;:]{0,100}\b(?:habe|haben|wurden?) [^.,;:]{0,60}(?:gelesen|gesucht|gez\u00e4hlt|berechnet|verglichen"
        r"|gepr\u00fcft|gruppiert|sortiert|gefiltert|summiert)\b"
    ),
    re.compile(
        r"[^.,;:]{0,100}\b(?:ai|avons|\u00e9t\u00e9) [^.,;:]{0,60}(?:lu|compt|calcul|compar"
        r"|v\u00e9rifi|tri|filtr|regroup"
        r"|additionn)(?:\u00e9e?s?)?\b"
    ),
    re.compile(r"[^.,;:]{0,100}\bse (?:agrup|cont|calcul|compar|verific|orden|filtr|sum)(?:\u00f3|aron)\b"),
)
_ASKED = re.compile(  # headings above what is asked, which may name numbers
    r"(?:the )?(?:questions?|task)|(?:die )?(?:fragen?|aufgabe)|(?:la )?(?:questions?|pregunta|t\u00e2che|tarea)"
)
_APART = (
    re.compile(
        r"(?:the )?(?:questions?|task|methods?|methodology|approach|procedure|how .*(?:found|done|made|computed))"
    ),
    re.compile(
        r"(?:limits?|limitations?|gaps?|caveats?|open (?:questions?|points?)|failures?|(?:what is )?uncertain(?:ties)?)"
    ),
    re.compile(
        r"(?:what )?(?:(?:was|is|could) )?not (?:be )?(?:found|known|read)|what (?:failed|is missing|stays open)"
    ),
    re.compile(
        r"(?:die )?fragen?|.*vorge(?:hen|gangen)\w*|method(?:e|ik)|grenzen|einschr\u00e4nkungen"
        r"|offene (?:fragen|punkte)"
    ),
    re.compile(r"(?:la )?question|(?:m\u00e9thode|d\u00e9marche|limites?|lacunes)(?: .*)?|questions ouvertes"),
    re.compile(r"(?:la )?pregunta|(?:m\u00e9todo|metodolog\u00eda|procedimiento|l\u00edmites|limitaciones)(?: .*)?"),
)


def is_claim(sentence: str, heading: str = "") -> bool:
    """Return whether a sentence says something of the matter, which needs a source.

    Questions, introductions, and texts of fewer than four words say nothing; what was not found has no source; how
    the work was done, and what is suggested, needs one only for its numbers.

    Args:
        sentence: The sentence, in Markdown.
        heading: The heading above it.
    """
    text = ASIDE.sub(" ", UNIT.sub("", sentence)).strip().rstrip("*_\"'”’)")
    words = re.findall(r"\w+", text)
    number = any(one.isdigit() for one in words)
    told = len(words) >= LEAST_WORDS or (len(words) == LEAST_WORDS - 1 and number)
    if not told or text.endswith(("?", "？", ":")) or re.fullmatch(r"[\s|:-]*", text) or _lacks(text.casefold()):
        return False
    above = heading.casefold().strip(" \t#*_:0123456789.")
    return not _ASKED.fullmatch(above) and (number or not _is_about_the_work(text.casefold(), above))


def _lacks(text: str) -> bool:
    """Return whether a sentence tells of a failure, or of nothing found."""
    return any(one.search(text) for one in _LACKS)


def _is_about_the_work(text: str, heading: str) -> bool:
    """Return whether a sentence, or the heading above it, is about the question or how the work was done."""
    return any(one.match(text) for one in (*_MADE, *_ADVICE, *_MADE_ABROAD)) or any(
        one.fullmatch(heading) for one in _APART
    )
