"""Arithmetic asked in words: the expression, or nothing after an unknown word."""

import ast
import re

from .stories import told

MOST_TEXT = 500
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_NUMBERS = {word: value for value, word in enumerate(_SMALL.split())} | _TENS
_POLITE = re.compile(
    r"^(?:hello|hi|please|kindly|(?:can|could|would) you|i (?:want|need|would like) to know|tell me|let me know)[,\s]+"
)
_OPENING = re.compile(
    r"^(?:what(?:'s|’s| is| are)|how much (?:is|are)|calculate|compute|evaluate|work out|find|solve|give me)[\s:]+"
)
_ROUNDED = re.compile(
    r"(?<![\s,.(])[\s,.(]+(?:please )?(?:round(?:ed)?(?: it| the (?:answer|result))? )?(?:(?:to|with) (?P<places>\w+) "
    r"(?:decimals?|decimal places?|digits?)|to the nearest (?P<nearest>integer|whole number|tenth|hundredth))\)?$"
)
_NEAREST = {"integer": 0, "whole number": 0, "tenth": 1, "hundredth": 2}
_N = r"(-?\d+(?:\.\d+)?)"
_LIST = r"(-?[\d.]+(?:(?:, and|,| and| &) -?[\d.]+)+)"
_MORE, _LESS = r"(?:more|higher|larger|greater|bigger)", r"(?:less|lower|smaller|fewer)"
_PERCENT = r" ?(?:%|percent|per cent)"
_WORDY: tuple[tuple[str, str], ...] = (
    (r"(?:the )?(?:result|value|answer) of ", ""),
    (r"√ ?", "the square root of "),
    (rf"(?:the )?square root of {_N}", "sqrt({0})"),
    (rf"(?:the )?cube root of {_N}", "({0}) ** (1 / 3)"),
    (rf"(?:the )?(?:sum|total) of {_LIST}", "[+{0}]"),
    (rf"(?:the )?product of {_LIST}", "[*{0}]"),
    (rf"(?:the )?(?:average|mean) of {_LIST}", "[~{0}]"),
    (rf"(?:the )?(?:maximum|max|largest|highest|greatest) (?:of|among) {_LIST}", "[>{0}]"),
    (rf"(?:the )?(?:minimum|min|smallest|lowest|least) (?:of|among) {_LIST}", "[<{0}]"),
    (rf"(?:the )?difference (?:between|of) {_N} and {_N}", "abs({0} - {1})"),
    (rf"(?:the )?(?:quotient|ratio) (?:of|between) {_N} (?:and|to|by) {_N}", "{0} / {1}"),
    (rf"(?:the )?remainder (?:when|of|if) {_N}(?: is)? (?:divided|when divided) by {_N}", "{0} % {1}"),
    (rf"(?:add|sum) {_N} (?:and|to|with) {_N}", "{0} + {1}"),
    (rf"(?:subtract|take|take away|subtracting|taking) {_N} from {_N}", "{1} - {0}"),
    (rf"multiply {_N} (?:by|with|and) {_N}", "{0} * {1}"),
    (rf"divide {_N} by {_N}", "{0} / {1}"),
    (rf"(?:increase|raise) {_N} by {_N}{_PERCENT}", "{0} * (1 + {1} / 100)"),
    (rf"(?:decrease|reduce|lower) {_N} by {_N}{_PERCENT}", "{0} * (1 - {1} / 100)"),
    (rf"{_N} (?:increased|raised) by {_N}{_PERCENT}", "{0} * (1 + {1} / 100)"),
    (rf"{_N} (?:decreased|reduced|less|discounted) by {_N}{_PERCENT}", "{0} * (1 - {1} / 100)"),
    (rf"what percent(?:age)? of {_N} is {_N}", "100 * {1} / {0}"),
    (rf"{_N} is what percent(?:age)? of {_N}", "100 * {0} / {1}"),
    (rf"{_N} as a percentage of {_N}", "100 * {0} / {1}"),
    (rf"{_N}{_PERCENT} off (?:of )?{_N}", "{1} * (1 - {0} / 100)"),
    (rf"{_N}{_PERCENT} of ", "{0} / 100 * "),
    (rf"{_N} ?/ ?{_N} of ", "{0} / {1} * "),
    (rf"by (?:what|which|how many) percent(?:age)? (?:is|was) {_N} {_MORE} than {_N}", "100 * ({0} - {1}) / {1}"),
    (rf"by (?:what|which|how many) percent(?:age)? (?:is|was) {_N} {_LESS} than {_N}", "100 * ({1} - {0}) / {1}"),
    (rf"{_N} more than {_N}", "{0} + {1}"),
    (rf"{_N} (?:less|fewer) than {_N}", "{1} - {0}"),
    (rf"half of {_N}", "{0} / 2"),
    (rf"(?:a )?third of {_N}", "{0} / 3"),
    (rf"(?:a )?quarter of {_N}", "{0} / 4"),
    (rf"(?:twice|double) {_N}", "2 * {0}"),
    (rf"(?:triple|thrice) {_N}", "3 * {0}"),
    (r",? (?=(?:and then )?(?:plus|minus|times|multiplied|divided)\b)", " "),
    (rf"{_N} squared", "{0} ** 2"),
    (rf"{_N} cubed", "{0} ** 3"),
    (r"\b(?:raised )?to the power(?: of)?\b|\braised to\b|\^", "**"),
    (r"\bdivided by\b|÷", "/"),
    (r"\b(?:multiplied by|times)\b|[×·]", "*"),
    (r"\bplus\b", "+"),
    (r"\b(?:minus|take away)\b|[−–]", "-"),
    (r"\b(?:modulo|mod)\b", "%"),
    (r"(?<=\d) ?x ?(?=\d)", " * "),
)
_THEN = re.compile(rf"^(.+?),? (?:and then|and|then) (add|subtract|multiply|divide)(?: it| that| this)?(?: by)? {_N}$")
_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_PURE = re.compile(
    r"(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+|[-+*/%(),\s]"
    r"|\b(?:sqrt|abs|round|floor|ceil|min|max|log10|log2|log|exp|sin|cos|tan|pi)\b)+"
)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}")
_OPERATION = re.compile(r"\d\s*\)*\s*[-+*/%]|[a-z]\s*\(")


def expression_of(text: str) -> str | None:
    """Return the expression asked for by a task, or None for any other task."""
    if len(text) > MOST_TEXT or not re.search(r"\d|\b(?:" + "|".join(_NUMBERS) + r")\b", text, re.IGNORECASE):
        return None
    words = " ".join(text.lower().split()).rstrip("?.!= ")
    while (plain := _POLITE.sub("", words)) != words:
        words = plain
    words, places = _without_rounding(words)
    words = re.sub(r"(?<=\d),(?=\d{3}(?!\d))|(?<![\w.])[$€£](?=\d)", "", words)
    words = re.sub(r"\b[a-z]+\b", lambda found: str(_NUMBERS.get(found[0], found[0])), words)
    expression = told(words) or _written(words if words.startswith("what percent") else _OPENING.sub("", words))
    return expression if expression is None or places is None else f"round({expression}, {places})"


def _written(words: str) -> str | None:
    """Return words as an expression, or None."""
    if _DATE.fullmatch(words):
        return None
    if (chained := _THEN.match(words)) and (first := _written(chained[1])):
        return f"({first}) {_SIGNS[chained[2]]} {chained[3]}"
    for pattern, template in _WORDY:
        words = re.sub(pattern, lambda found, form=template: form.format(*map(_operand, found.groups())), words)
    expression = " ".join(re.sub(r"\[([+*~<>])([^\]]*)\]", _listed, words).split())
    if _PURE.fullmatch(expression) and _OPERATION.search(expression) and _is_one_value(expression):
        return expression
    return None


def _operand(text: str) -> str:
    return f"({text})" if re.fullmatch(r"-[\d.]+", text) else text


def _listed(found: re.Match[str]) -> str:
    numbers = [_operand(number) for number in re.findall(r"-?[\d.]+", found[2])]
    if found[1] in "<>":
        return f"{'min' if found[1] == '<' else 'max'}({', '.join(numbers)})"
    joined = (" * " if found[1] == "*" else " + ").join(numbers)
    return f"(({joined}) / {len(numbers)})" if found[1] == "~" else f"({joined})"


def _without_rounding(words: str) -> tuple[str, int | None]:
    if (found := _ROUNDED.search(words)) is None:
        return words, None
    said = found["places"] or ""
    places = _NEAREST.get(found["nearest"]) if found["nearest"] else int(said) if said.isdigit() else _place(said)
    return (words, None) if places is None else (words[: found.start()].rstrip("?.! "), places)


def _place(word: str) -> int | None:
    return 0 if word == "no" else _NUMBERS.get(word)


def _is_one_value(expression: str) -> bool:
    try:
        return not isinstance(ast.parse(expression, mode="eval").body, ast.Tuple)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
