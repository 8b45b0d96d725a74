"""Arithmetic asked in words: the expression, or nothing where a word is not understood."""

import ast
import re

MOST_TEXT = 500

_OPENING = re.compile(
    r"^(?:please\s+)?(?:what(?:'s|’s|\s+is|\s+are)|how\s+much\s+(?:is|are)|calculate|compute|evaluate|work\s+out|solve)"
    r"[\s:]+(?:the\s+(?:value|result)\s+of\s+)?",
)
_ROUNDED = re.compile(
    r"[\s,]+(?:(?:rounded\s+)?to|with)\s+(\d|no|one|two|three|four|five|six)\s+(?:decimals?|decimal\s+places?|digits?)$"
)
_WORDS = {
    "no": 0,
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
}
_NUMBER = r"(\d+(?:\.\d+)?)"
_CHANGES = [
    (r"(?<=\d),(?=\d{3}(?!\d))", ""),
    (r"[×·]", "*"),
    (r"÷", "/"),
    (r"[−–]", "-"),
    (r"\^", "**"),
    (r"√\s*", "the square root of "),
    (rf"{_NUMBER}\s*(?:%|percent|per\s+cent)\s+of\s+", r"\1 / 100 * "),
    (rf"(?:the\s+)?square\s+root\s+of\s+{_NUMBER}", r"sqrt(\1)"),
    (rf"(?:the\s+)?cube\s+root\s+of\s+{_NUMBER}", r"(\1) ** (1 / 3)"),
    (rf"(?:the\s+)?sum\s+of\s+{_NUMBER}\s+and\s+{_NUMBER}", r"(\1 + \2)"),
    (rf"(?:the\s+)?product\s+of\s+{_NUMBER}\s+and\s+{_NUMBER}", r"(\1 * \2)"),
    (rf"(?:the\s+)?difference\s+(?:between|of)\s+{_NUMBER}\s+and\s+{_NUMBER}", r"abs(\1 - \2)"),
    (rf"(?:the\s+)?(?:average|mean)\s+of\s+{_NUMBER}\s+and\s+{_NUMBER}", r"((\1 + \2) / 2)"),
    (r",\s+(?=(?:and\s+then\s+)?(?:plus|minus|times|multiplied|divided)\b)", " "),
    (r"\bplus\b", "+"),
    (r"\bminus\b", "-"),
    (r"\b(?:times|multiplied\s+by)\b", "*"),
    (r"(?<=\d)\s*x\s*(?=\d)", " * "),
    (r"\bdivided\s+by\b", "/"),
    (r"\b(?:modulo|mod)\b", "%"),
    (r"\b(?:to\s+the\s+power\s+of|raised\s+to)\b", "**"),
    (r"\bsquared\b", "** 2"),
    (r"\bcubed\b", "** 3"),
]
_PURE = re.compile(
    r"(?:\d+(?:\.\d+)?|\.\d+|[-+*/%(),\s]|\b(?:sqrt|abs|round|floor|ceil|min|max|log10|log2|log|exp|sin|cos|tan|pi)\b)+"
)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}")
_OPERATION = re.compile(r"\d\s*\)*\s*[-+*/%]|[a-z]\s*\(")


def expression_of(text: str) -> str | None:
    """Return the expression that a task asks for, or None where it asks for anything else."""
    if len(text) > MOST_TEXT:
        return None
    words = " ".join(text.lower().split()).rstrip("?.!= ")
    words, places = _without_rounding(_OPENING.sub("", words))
    for word, number in _WORDS.items():
        words = re.sub(rf"\b{word}\b", str(number), words)
    if _DATE.fullmatch(words):
        return None
    for pattern, replacement in _CHANGES:
        words = re.sub(pattern, replacement, words)
    expression = " ".join(words.split())
    if not _PURE.fullmatch(expression) or not _OPERATION.search(expression) or not _is_one_value(expression):
        return None
    return expression if places is None else f"round({expression}, {places})"


def _without_rounding(words: str) -> tuple[str, int | None]:
    match = _ROUNDED.search(words)
    if match is None:
        return words, None
    places = match[1]
    return words[: match.start()], int(places) if places.isdigit() else _WORDS[places]


def _is_one_value(expression: str) -> bool:
    try:
        return not isinstance(ast.parse(expression, mode="eval").body, ast.Tuple)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
