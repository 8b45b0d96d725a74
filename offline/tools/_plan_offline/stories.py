"""Short sums told in words: apples given away, boxes of bottles, a price reduced, hours in minutes."""

import re

_N, _ = r"(\d[\d.]*)", r"[^\d]*"
_LOSING = r"gives?(?: away)?|gave(?: away)?|eats?|ate|loses?|lost|sells?|sold|spends?|spent|uses?|used|removes?|removed"
_GAINING = r"buys?|bought|gets?|got|receives?|received|finds?|found|adds?|added|picks?|picked|more"
_RISING = ("increased", "raised", "rises", "rose", "increases", "marked up", "grows", "grew")
_FALLING = r"reduced|discounted|lowered|cut|decreased|falls|fell|drops|dropped"
_TOLD: tuple[tuple[str, str], ...] = (
    (rf"\b{_N} [a-z]+ (?:at|for|costing|that cost|which cost) {_N}(?: [a-z]+)? (?:each|apiece|a piece|per [a-z]+)"
     rf"{_}\b(?:pay|cost|spend|total|price|altogether|bill|owe)\b{_}$", "*"),
    (rf"\b(?:how much|what) (?:do|does|would|will) {_N} [a-z]+ (?:at|for) {_N}{_} cost$", "*"),
    (rf"\b(?:costs?|is|are|sells? for) {_N}\b{_}\b(?:how much|what) {_}?{_N} [a-z]+(?: cost| come to)?$", "*"),
    (rf"\b{_N} [a-z]+ (?:are )?(?:shared|divided|split) (?:equally |evenly )?(?:among|between) {_N}\b", "/"),
    (rf"\b{_N} (?:km|kilomet\w+|miles?|met\w+) (?:per|an|a) hour for {_N} hours?\b{_}\bhow (?:far|many [a-z]+)\b{_}$",
     "*"),
    (rf"^{_}\b{_N} [a-z]+\b{_}\b(?:{_LOSING})\b{_}{_N}\b{_}\b(?:left|remain\w*|still ha\w+|have now)\b{_}$", "-"),
    (rf"^{_}\b{_N} [a-z]+\b{_}\b(?:{_GAINING})\b{_}{_N}\b{_}\bhow many\b{_}\b(?:now|altogether|in (?:total|all))\b{_}$",
     "+"),
    (rf"^{_}\b{_N} [a-z]+ (?:hold|contain|have|has|with|of|cost|weigh)s? {_N}(?: [a-z]+)?(?: [a-z]+)? (?:each|apiece)"
     rf"\b{_}\bhow (?:many|much)\b{_}$", "*")
)  # fmt: skip
_CHANGED = (
    rf"^{_}\b(?:costs?|is|was|priced at|has|earns?|of) {_N}{_}?\b({_FALLING}|{'|'.join(_RISING)}) by {_N} ?"
    rf"(?:%|percent|per cent){_}\b(?:now|new|cost|price|much|after)\b{_}$"
)
_CONVERTED = rf"^how many ([a-z]+?)s? (?:are there |are |is )?in {_N} ([a-z]+?)s?$"
_SIZES: tuple[dict[str, str], ...] = (
    {"second": "1", "minute": "60", "hour": "3600", "day": "86400", "week": "604800"},
    {"millimetre": "1", "centimetre": "10", "metre": "1000", "kilometre": "1000000"},
    {"gram": "1", "kilogram": "1000", "tonne": "1000000"},
)


def told(text: str) -> str | None:
    """Return the sum asked for by a short story, or None for other texts.

    Args:
        text: The story, in small letters, its numbers in digits.
    """
    for pattern, sign in _TOLD:
        if found := re.search(pattern, text):
            return f"{found[1]} {sign} {found[2]}"
    if found := re.search(_CHANGED, text):
        return f"{found[1]} * (1 {'+' if found[2] in _RISING else '-'} {found[3]} / 100)"
    if found := re.search(_CONVERTED, text.replace("meter", "metre")):
        for sizes in _SIZES:
            if found[1] in sizes and found[3] in sizes:
                return f"{found[2]} * {sizes[found[3]]} / {sizes[found[1]]}"
    return None
