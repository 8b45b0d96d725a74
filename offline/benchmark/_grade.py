"""Compares an answer with the right one: leniently in form, strictly in substance."""

import re
from typing import Any, Literal

from _tables import Question

Grade = Literal["right", "wrong", "abstained"]
YES, NO = {"yes", "true"}, {"no", "false"}


def grade(question: Question, answer: Any) -> Grade:
    """Grade an answer; None is an abstention, and right for unanswerable questions only."""
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
    """Accept the number itself, alone or in a sentence without further numbers than those of the question."""
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        return agrees(repr(answer), question.answer)
    text = plain(answer)
    found = numbers(text)
    if len(found) > 1:
        asked = set(numbers(plain(question.text)))
        found = [one for one in found if one not in asked] or found[:1]
    return len(set(found)) == 1 and agrees(found[0], question.answer)


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
    """Accept one of the right forms, alone or in a sentence without a rival the question does not name."""
    text, asked = plain(answer), plain(question.text)
    accepted = sorted((plain(form) for form in question.answer), key=len, reverse=True)
    if same(text, accepted):
        return True
    match = next((match for form in accepted if len(form) > 2 and (match := find(text, form))), None)
    if match is None:
        return False
    rest = text[: match.start()] + " | " + text[match.end() :]
    longer = any(match[0].casefold() in rival.casefold() and find(text, rival) for rival in question.rivals)
    return not longer and not any(find(rest, rival) and not find(asked, rival) for rival in question.rivals)


def same(text: str, accepted: list[str]) -> bool:
    """Accept the right form alone, in any case, with an article, or a whole number with a fraction of zero."""
    folded = [form.casefold() for form in accepted]
    whole = re.fullmatch(r"(-?\d+)\.0+", text)
    return (
        text.casefold().removeprefix("the ") in folded
        or text.casefold() in folded
        or bool(whole and whole[1] in folded)
    )


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


def is_both(question: Question, answer: Any) -> bool:
    """Accept the answers to both parts of a question."""
    text = plain(answer)
    return all(any(find(text, form) for form in forms) for forms in question.answer)


CHECKS = {"number": is_number, "text": is_text, "list": is_list, "yesno": is_yes_or_no, "both": is_both}
