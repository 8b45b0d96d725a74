"""Questions to tokens, and words in their compared form."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_CONTRACTIONS = (
    (r"\b(what|who|which|where|when|how|there|that)['’](?:s|re)\b", r"\1 is"),
    (r"\b(do|does|did|is|are|was|were|has|have|had)n['’]t\b", r"\1 not"),
    (r"\bcan['’]t\b", "can not"),
)
_TOKEN = re.compile(
    r"""
    "(?P<double>[^"]+)" | “(?P<curly>[^”]+)” | (?<!\w)[‘'](?P<single>[^'’]+)['’](?!\w) | `(?P<tick>[^`]+)`
    | (?P<date>\d{4}[-/]\d{1,2}[-/]\d{1,2}(?!\d) | \d{4}-\d{2}(?!\d))
    | (?P<number>(?<![\w.])[$€£]?[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?%?(?![\w]))
    | (?P<scaled>(?<![\w.])[$€£]?\d+(?:\.\d+)?(?:k|K|m|M|bn|B)\b)
    | (?P<ordinal>\b\d+(?:st|nd|rd|th)\b)
    | (?P<glued>(?<![\w.])\d+(?=-[A-Za-z]))
    | (?P<possessive>['’]s\b|(?<=s)['’](?=\s))
    | (?P<word>[^\W_](?:(?:(?!['’]s\b)[\w.'’/&+#-])*(?!['’]s\b)[\w+#])?|\#(?=\s|$))
    | (?P<sign>>=|<=|!=|<>|==|[=<>≥≤]|[,;:()?!.%*/&+-])
    """,
    re.VERBOSE,
)
_COMPOUND = re.compile(
    r"\b([Nn]on|[A-Z][a-z]+|first|second|third|fourth|fifth|\d+(?:st|nd|rd|th))-(?=[a-z]{4,})(?![\w-]*/)"
)
_ORDINAL_WORDS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_CARDINAL_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_DAY_WORDS = "monday tuesday wednesday thursday friday saturday sunday"
_MONTH_WORDS = "january february march april may june july august september october november december"
_ORDINALS, CARDINALS, DAYS, MONTHS = (
    tuple(text.split()) for text in (_ORDINAL_WORDS, _CARDINAL_WORDS, _DAY_WORDS, _MONTH_WORDS)
)
_SCALES = {
    "k": 10**3, "thousand": 10**3, "m": 10**6, "million": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9,
    "billion": 10**9, "trillion": 10**12, "hundred": 100, "dozen": 12
}  # fmt: skip
_LETTERS = str.maketrans({"ø": "o", "ß": "ss", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
_IRREGULAR_FORMS = """
people person; men man; women woman; children child; wrote writ; written writ; gases gas; won win; sold sell; made make;
built build; born birth; births birth; died death; die death; dead death; began begin; led lead; paid pay; cities city;
series series; species species; news news; indices index; status status; gas gas; bus bus; buses bus; movies movie;
movie movie; came come; went go; took take; got get; held hold; fell fall; stood stand; spent spend; flown fly;
spoken speak; spoke speak; taken take; given give; cookies cookie; calories calorie; ties tie; feet foot; flew fly;
grew grow; used use; saw see; seen see; aliases alias; alias alias; atlas atlas; canvas canvas; bias bias;
became become
"""
_IRREGULAR = {pair.split()[0]: pair.split()[1] for pair in _IRREGULAR_FORMS.split(";")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One word, number, quoted phrase or sign of a question."""

    text: str
    norm: str
    kind: str
    number: int | float | None = None
    year: bool = False

    @property
    def capital(self) -> bool:
        """Whether it is written like a name or a code."""
        return self.kind in ("quoted", "word") and any(letter.isupper() for letter in self.text)


def tokens(question: str) -> list[Token]:
    """Return a question's tokens."""
    text = question
    for pattern, replacement in _CONTRACTIONS:
        text = re.sub(pattern, replacement, text, flags=re.IGNORECASE)
    text = _COMPOUND.sub(r"\1 ", text)
    return _scaled([_token(found) for found in _TOKEN.finditer(text)])


def _token(found: re.Match[str]) -> Token:
    kind = found.lastgroup or "sign"
    text = found[kind]
    if kind in ("double", "curly", "single", "tick"):
        return Token(text=text, norm=norm(text), kind="quoted", number=plain_number(text))
    if kind in ("number", "glued"):
        year = bool(re.fullmatch(r"1[0-9]\d\d|20\d\d|2100", text))
        return Token(
            text=text,
            norm=text,
            kind="percent" if text.endswith("%") else "number",
            number=plain_number(text),
            year=year,
        )
    if kind == "date":
        iso = "-".join(part.zfill(2) for part in re.split("[-/]", text))
        return Token(text=iso, norm=iso, kind=kind)
    if kind == "scaled":
        digits, scale = re.match(r"[$€£]?([\d.]+)(\w+)", text).groups()  # pyright: ignore[reportOptionalMemberAccess]
        return Token(text=text, norm=text, kind="number", number=_times(float(digits), _SCALES[scale.lower()]))
    if kind == "ordinal":
        return Token(text=text, norm=text, kind="ordinal", number=int(text[:-2]))
    if kind == "word":
        return _word(text)
    return Token(text=text, norm=text, kind=kind)


def _word(text: str) -> Token:
    bare = norm(text)
    if bare in _ORDINALS:
        return Token(text=text, norm=bare, kind="ordinal", number=_ORDINALS.index(bare) + 1)
    if bare in CARDINALS:
        return Token(text=text, norm=bare, kind="cardinal", number=CARDINALS.index(bare))
    return Token(text=text, norm=bare, kind="word")


def _scaled(found: list[Token]) -> list[Token]:
    """Join numbers with the scale word after them: 3 million, a hundred."""
    result: list[Token] = []
    for token in found:
        last = result[-1] if result else None
        scale = _SCALES.get(token.norm) if len(token.norm) > 3 else None
        one = last is not None and last.norm in ("a", "an")
        if scale and last and (one or (last.number is not None and last.kind in ("number", "cardinal"))):
            text = f"{last.text} {token.text}"
            result[-1] = Token(text=text, norm=text, kind="number", number=_times(last.number or 1, scale))
        else:
            result.append(token)
    return result


def _times(number: float, scale: int) -> int | float:
    value = number * scale
    return int(value) if float(value).is_integer() else value


def plain_number(text: str) -> int | float | None:
    """Return the number shown by a text, or None."""
    bare = text.strip().strip("$€£%").replace(",", "")
    if not re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", bare):
        return None
    value = float(bare)
    return int(bare) if re.fullmatch(r"[+-]?\d+", bare) else value


@lru_cache(maxsize=20_000)  # the names of columns and the words of a question, again and again
def norm(text: str) -> str:
    """Return words without case, accents and punctuation, one space between them."""
    folded = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return re.sub(r"[\W_]+", " ", bare.replace("'", "").replace("\u2019", "")).strip()


def name_words(name: str) -> list[str]:
    """Return the stems of a name's words: snake_case, camelCase and digits are split."""
    return list(_name_words(name))


@lru_cache(maxsize=20_000)
def _name_words(name: str) -> tuple[str, ...]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    spaced = re.sub(r"(?<=[A-Za-z]{3})(?=\d)|#", lambda found: " number " if found[0] else " ", spaced)
    return tuple(stem(word) for word in norm(spaced).split())


def stem(word: str) -> str:
    """Return a word without its inflection; lightly, to keep different words apart."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        word = word[:-2]
    elif word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if len(word) == 5 and word.endswith("ed") and word[2] != "e":
        return word[:3] if word[1] not in "aeiou" + word[2] and word[2] not in "aeiou" else word[:4]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 3:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word
