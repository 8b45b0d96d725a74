"""Names in a sentence, told by their capitals."""

import re
from collections.abc import Iterator

_OPENING = {  # words that begin a sentence in front of a name, and are not part of it
    *("the", "a", "an", "der", "die", "das", "ein", "eine", "le", "la", "les", "un", "une"),
    *("el", "los", "las", "il", "lo", "gli", "de", "het", "een"),
    *("in", "at", "for", "from", "by", "of", "on", "with", "within", "without", "under", "over", "near", "outside"),
    *(
        "and",
        "but",
        "or",
        "so",
        "as",
        "if",
        "when",
        "while",
        "where",
        "because",
        "since",
        "although",
        "though",
        "after",
    ),
    *("before", "until", "unlike", "like", "than", "that", "both", "only", "also", "even", "now", "then", "today"),
    *("here", "there", "thus", "hence", "yet", "still", "currently", "overall", "meanwhile", "however", "instead"),
    *("compared", "between", "among", "against", "despite", "per", "according", "to", "its", "his", "her", "their"),
    *("aus", "bei", "mit", "nach", "seit", "von", "zu", "f\u00fcr", "und", "aber", "auch", "nur", "heute", "dort"),
    *("dans", "en", "pour", "par", "avec", "chez", "depuis", "selon", "et", "mais", "aussi", "seul", "seule"),
    *("para", "por", "con", "seg\u00fan", "desde", "y", "pero", "tambi\u00e9n", "solo", "per", "nel", "nella", "ma"),
}
_NAME = re.compile(r"[^\W\d_][\w'’-]*")


def names_in(text: str) -> Iterator[tuple[int, int]]:
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
        if begins and not alone and match[0].casefold() in _OPENING:
            yield match.end() + 1, at
        elif len(match[0]) > 1 and not (alone and begins and not match[0].isupper()):
            yield match.start(), at
