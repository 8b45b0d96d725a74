"""Arithmetic in words to an expression for the calculator: what is 17% of 2,340?"""

import re

from .stories import told
from .tokens import CARDINALS

_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_NUMBER_WORDS = {word: value for value, word in enumerate(CARDINALS)} | _TENS
_N = r"(-?\(?[\d.]+(?:e[+-]?\d+)?\)?)"
_LIST = r"(-?[\d.]+(?:\s*(?:,\s*and|,|and|&)\s*-?[\d.]+)+)"
_LEAD = re.compile(
    r"^(?:please\s+)?(?:what(?:'s| is| are| does| do you get (?:when|if) you)?|how much is|how much are|calculate|"
    r"compute|evaluate|work out|find|solve|tell me|give me)\s+|^(?:the (?:result|value|answer) of)\s+",
    re.IGNORECASE,
)
_WORDY: tuple[tuple[str, str], ...] = (
    (r"(?:the )?(?:result|value|answer) of", " "),
    (rf"(?:the )?(?:square root|sqrt) of {_N}", r"sqrt(\1)"),
    (rf"(?:the )?cube root of {_N}", r"(\1)**(1/3)"),
    (rf"(?:the )?(?:sum|total) of {_LIST}", r"[+\1]"),
    (rf"(?:the )?product of {_LIST}", r"[*\1]"),
    (rf"(?:the )?(?:average|mean) of {_LIST}", r"[~\1]"),
    (rf"(?:the )?(?:maximum|max|largest|highest|greatest) (?:of|among) {_LIST}", r"[>\1]"),
    (rf"(?:the )?(?:minimum|min|smallest|lowest|least) (?:of|among) {_LIST}", r"[<\1]"),
    (rf"(?:the )?difference (?:between|of) {_N} and {_N}", r"abs(\1-\2)"),
    (rf"(?:the )?(?:quotient|ratio) (?:of|between) {_N} (?:and|to|by) {_N}", r"(\1)/(\2)"),
    (rf"(?:the )?remainder (?:when|of|if) {_N}(?: is)? (?:divided|when divided) by {_N}", r"(\1)%(\2)"),
    (rf"(?:add|sum) {_N} (?:and|to|with) {_N}", r"(\1)+(\2)"),
    (rf"subtract {_N} from {_N}", r"(\2)-(\1)"),
    (rf"multiply {_N} (?:by|with|and) {_N}", r"(\1)*(\2)"),
    (rf"divide {_N} by {_N}", r"(\1)/(\2)"),
    (rf"(?:increase|raise) {_N} by {_N}\s*(?:%|percent)", r"(\1)*(1+(\2)/100)"),
    (rf"(?:decrease|reduce|lower) {_N} by {_N}\s*(?:%|percent)", r"(\1)*(1-(\2)/100)"),
    (rf"{_N} (?:increased|raised) by {_N}\s*(?:%|percent)", r"(\1)*(1+(\2)/100)"),
    (rf"{_N} (?:decreased|reduced|less|discounted) by {_N}\s*(?:%|percent)", r"(\1)*(1-(\2)/100)"),
    (rf"what percent(?:age)? of {_N} is {_N}", r"100*(\2)/(\1)"),
    (rf"{_N} is what percent(?:age)? of {_N}", r"100*(\1)/(\2)"),
    (rf"{_N} as a percentage of {_N}", r"100*(\1)/(\2)"),
    (rf"{_N}\s*(?:%|percent|per cent) of {_N}", r"(\1)/100*(\2)"),
    (rf"{_N}\s*(?:%|percent) off (?:of )?{_N}", r"(\2)*(1-(\1)/100)"),
    (rf"{_N}\s*/\s*{_N} of {_N}", r"(\1)/(\2)*(\3)"),
    (
        rf"by (?:what|which|how many) percent(?:age)? (?:is|was) {_N} (?:more|higher|larger|greater|bigger) than {_N}",
        r"100*((\1)-(\2))/(\2)",
    ),
    (
        rf"by (?:what|which|how many) percent(?:age)? (?:is|was) {_N} (?:less|lower|smaller|fewer) than {_N}",
        r"100*((\2)-(\1))/(\2)",
    ),
    (rf"{_N} more than {_N}", r"(\1)+(\2)"),
    (rf"{_N} (?:less|fewer) than {_N}", r"(\2)-(\1)"),
    (rf"(?:take|take away|subtracting|taking) {_N} from {_N}", r"(\2)-(\1)"),
    (rf"{_N} take away {_N}", r"(\1)-(\2)"),
    (rf"half of {_N}", r"(\1)/2"),
    (rf"(?:a )?third of {_N}", r"(\1)/3"),
    (rf"(?:a )?quarter of {_N}", r"(\1)/4"),
    (rf"(?:twice|double) {_N}", r"2*(\1)"),
    (rf"(?:triple|thrice) {_N}", r"3*(\1)"),
    (rf"{_N} squared", r"(\1)**2"),
    (rf"{_N} cubed", r"(\1)**3"),
    (rf"{_N} (?:to|raised to) the power (?:of )?{_N}", r"(\1)**(\2)"),
    (r"\bdivided by\b|÷", "/"),
    (r"\b(?:multiplied by|times)\b|×", "*"),
    (r"\bplus\b", "+"),
    (r"\bminus\b|−", "-"),
    (r"\b(?:modulo|mod)\b", "%"),
    (r"\^", "**"),
    (r"(?<=\d)\s*x\s*(?=\d)", "*"),
)
_THEN = re.compile(rf"^(.+?),? (?:and then|and|then) (add|subtract|multiply|divide)(?: it| that| this)?(?: by)? {_N}$")
_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_ALLOWED = re.compile(r"[\d.\s+*/%()e,-]*")
_FUNCTION = re.compile(r"\b(sqrt|abs|round|min|max)\b")
_JOIN = {"+": "+", "*": "*", "~": "+"}


def expression(question: str) -> str | None:
    """Return the arithmetic that a question asks for, or None when it asks for anything else."""
    text = question.lower().strip().rstrip("?.!= ").strip()
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    text = re.sub(r"(?<![\w.])[$€£](?=\d)", "", text)
    text = re.sub(r"\b[a-z]+\b", lambda found: str(_NUMBER_WORDS.get(found[0], found[0])), text)
    if not re.match(r"what percent", text):
        text = _LEAD.sub("", text)
    if story := told(text):
        return story
    if (chained := _THEN.match(text)) and (first := expression(chained[1])):
        return f"({first}) {_SIGNS[chained[2]]} {chained[3]}"
    for pattern, replacement in _WORDY:
        text = re.sub(pattern, replacement, text)
    text = re.sub(r"\[([+*~<>])([^\]]*)\]", _listed, text).strip()
    bare = _FUNCTION.sub("", text)
    if not _ALLOWED.fullmatch(bare) or not re.search(r"\d", text) or not re.search(r"[+*/%(-]", text.lstrip("-")):
        return None
    return re.sub(r"\s+", " ", text)


def _listed(found: re.Match[str]) -> str:
    numbers = re.findall(r"-?[\d.]+", found[2])
    if found[1] in "<>":
        return f"{'min' if found[1] == '<' else 'max'}({', '.join(numbers)})"
    joined = _JOIN[found[1]].join(f"({number})" for number in numbers)
    return f"({joined})/{len(numbers)}" if found[1] == "~" else f"({joined})"
