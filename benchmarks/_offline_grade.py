"""Compares an answer with the right one: leniently in form, strictly in substance."""

import re
from typing import Any, Literal

from _offline_tables import Question

Grade = Literal["right", "wrong", "abstained"]
PASSAGE_LIMIT = 1500
YES, NO = {"yes", "true"}, {"no", "false"}
AMENDMENT = r"\bamendment [ivx]+\b"


def grade(question: Question, answer: Any) -> Grade:
    """Grade an answer; None means the product abstained, which is right where there is no answer."""
    if answer is None:
        return "right" if question.kind == "none" else "abstained"
    if question.kind == "none":
        return "wrong"
    return "right" if CHECKS[question.kind](question, answer) else "wrong"


def plain(answer: Any) -> str:
    """Write any answer as text without markup, with single spaces."""
    if isinstance(answer, dict):
        answer = ", ".join(f"{name}: {value}" for name, value in answer.items())
    elif isinstance(answer, list | tuple):
        answer = ", ".join(str(item) for item in answer)
    return re.sub(r"\s+", " ", re.sub(r"[*`\"“”]", "", str(answer))).strip().rstrip(".")


def numbers(text: str) -> list[str]:
    """Find the numbers of a text as they are printed, thousands separators removed."""
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    return re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", text)


def is_number(question: Question, answer: Any) -> bool:
    """Accept the number itself, alone or in a sentence that repeats no more than numbers of the question."""
    goals = question.answer if isinstance(question.answer, tuple) else (question.answer,)
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        return any(agrees(repr(answer), goal) for goal in goals)
    text = plain(answer)
    found = numbers(text)
    if len(found) > 1:
        asked = set(numbers(plain(question.text)))
        found = [one for one in found if one not in asked] or found[:1]
    return len(set(found)) == 1 and any(agrees(found[0], goal) for goal in goals)


def agrees(printed: str, goal: float) -> bool:
    """Tell whether a printed number is the goal, or the goal rounded as printed to no less than three figures."""
    value, printed = float(printed), printed.lower()
    if value.is_integer() and float(goal).is_integer():
        return value == goal
    if abs(value - goal) <= 1e-6 * max(abs(goal), 1e-9):
        return True
    digits = re.sub(r"^0+", "", re.sub(r"\D", "", printed.split("e")[0]))
    decimals = len(printed.partition(".")[2]) if "e" not in printed else 0
    rounded = decimals >= 1 and (len(digits) >= 3 or decimals >= 2)
    return rounded and abs(value - goal) <= 0.5000001 * 10**-decimals


def find(text: str, phrase: str) -> re.Match[str] | None:
    """Find a phrase as whole words; a code such as IS or US only in capitals."""
    code = len(phrase) <= 3 and phrase.isupper()
    return re.search(rf"(?<![\w/-]){re.escape(plain(phrase))}(?![\w/-])", text, re.NOFLAG if code else re.IGNORECASE)


def is_text(question: Question, answer: Any) -> bool:
    """Accept one of the right forms, alone or in a sentence that names no rival (or names it later, if asked about)."""
    text, asked = plain(answer), plain(question.text)
    accepted = sorted((plain(form) for form in question.answer), key=len, reverse=True)
    if same(text, accepted):
        return True
    telling = [form for form in accepted if len(form) > 2] or accepted
    match = next((match for form in telling if (match := find(text, form))), None)
    if match is None:
        return False
    rest = text[: match.start()] + " | " + text[match.end() :]
    for rival in question.rivals:
        longer = find(text, rival) if match[0].casefold() in rival.casefold() else None
        other = longer or find(rest, rival)
        if other and (longer or not find(asked, rival) or not named_first(text, match, rival)):
            return False
    return True


def named_first(text: str, match: re.Match[str], rival: str) -> bool:
    """Tell whether a sentence names the right one before the rival; a bare list of both is no answer."""
    other = find(text, rival)
    said = text.replace(match[0], " ").replace(other[0] if other else "", " ")
    return other is not None and match.start() < other.start() and len(re.findall(r"\w+", said)) > 1


def same(text: str, accepted: list[str]) -> bool:
    """Accept the right form alone, whatever its case, with an article, or a whole number with a fraction of zero."""
    folded = [form.casefold() for form in accepted]
    return text.casefold().removeprefix("the ") in folded or text.casefold() in folded or same_number(text, accepted)


def same_number(text: str, accepted: list[str]) -> bool:
    """Accept 1957.0 for 1957."""
    try:
        return any(float(text) == float(form) for form in accepted if re.fullmatch(r"-?[\d.]+", form))
    except ValueError:
        return False


def is_list(question: Question, answer: Any) -> bool:
    """Accept all the right items and none of the rivals, in any order and punctuation."""
    text, asked = plain(answer), plain(question.text)
    for forms in sorted(question.answer, key=lambda forms: -max(len(form) for form in forms)):
        match = next((match for form in sorted(forms, key=len, reverse=True) if (match := find(text, form))), None)
        if match is None:
            return False
        text = text[: match.start()] + " | " + text[match.end() :]
    return not any(find(text, rival) and not find(asked, rival) for rival in question.rivals)


def is_yes_or_no(question: Question, answer: Any) -> bool:
    """Accept yes or no, or true or false, as the first word."""
    match = re.match(r"\w+", plain(answer).casefold())
    return match is not None and match[0] in (YES if question.answer else NO)


def is_passage(question: Question, answer: Any) -> bool:
    """Accept a passage of bearable length with the words that answer, naming no other amendment than the right one."""
    text = re.sub(r"[-,;:]", " ", plain(answer).casefold())
    text = re.sub(r"\s+", " ", text)
    if len(text) > PASSAGE_LIMIT:
        return False
    wanted = [re.sub(r"\s+", " ", re.sub(r"[-,;:]", " ", form)) for form in question.answer]
    if any(form.startswith("=") and text == form[1:] for form in wanted):
        return True
    hit = any(not form.startswith("=") and find(text, form) for form in wanted)
    named = set(re.findall(AMENDMENT, text))
    asks_for_one = any(re.fullmatch(AMENDMENT, form) for form in wanted)
    return hit and not (asks_for_one and named - set(wanted))


CHECKS = {"number": is_number, "text": is_text, "list": is_list, "yesno": is_yes_or_no, "passage": is_passage}
