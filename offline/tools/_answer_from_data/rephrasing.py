"""Rewrites a question in plainer words: how far apart are the highest and lowest prices asks for their range."""

import re
from functools import cache

from .paraphrases import INNER, PARTS, WHOLE

_WORDS = r"(?P<{}>[^,:;?]+?)"
_NOT_IN_A_NAME = r"(?!(?:of|for|in|with|at|on|by|from|that|whose|where|two|three|four|five|ten|most|\w+est)\b)"
_CENTURY = re.compile(r"\b(?:in|during|from|of) the (\d\d)(?:st|nd|rd|th) century\b", re.IGNORECASE)
_FEW_WORDS = rf"(?P<{{}}>{_NOT_IN_A_NAME}[a-z_][a-z_-]*(?: {_NOT_IN_A_NAME}[a-z_-]+)?)"
_CLASS, _WORD = re.compile(r"\\.|\[[^]]*\]|<\w>"), re.compile(r"(?<![a-z])[a-z]{2,}(?![a-z?*{])")
_PLAIN_WORDS = re.compile(r"[a-z]+(?: [a-z]+)*")


def rephrased(question: str) -> str:
    """Return the question in plainer words, or as it is."""
    text = question.strip().rstrip("?.! ")
    text = re.sub(r"\b(what|who|where|which)['’]s\b", r"\1 is", text, flags=re.IGNORECASE)
    for pattern, plain in INNER:
        if _may_fit(pattern, text):
            text = re.sub(pattern, plain, text, flags=re.IGNORECASE)
    text = _CENTURY.sub(lambda found: f"between {int(found[1]) - 1}01 and {found[1]}00", text)
    first = text.lower().partition(" ")[0]
    for begins, pattern, plain in _rules():
        if (begins and first not in begins) or not _may_fit(pattern, text):
            continue
        if found := _compiled(pattern, plain).fullmatch(text):
            return _filled(plain, found.groupdict())
    return text


def _filled(plain: str, groups: dict[str, str | None]) -> str:
    """Return the right side of a rule with its places filled."""
    named = re.sub(r"\\g<(\w+)>", lambda mark: groups.get(f"g_{mark[1]}") or "", plain)
    return re.sub(r"<(\w)>", lambda mark: groups.get(mark[1]) or "", named).strip()


@cache
def _rules() -> tuple[tuple[frozenset[str], str, str], ...]:
    """Return each rule's first words, if it begins with nothing else, and its two sides."""
    rules = (line.split(" -> ") for line in WHOLE.strip().replace("\n    ", "").splitlines())
    return tuple((_begins(pattern), pattern, plain) for pattern, plain in rules)


def _begins(pattern: str) -> frozenset[str]:
    found = re.match(r"([a-z]+) |\((?:\?:)?([a-z|]+)\) ", pattern)
    return frozenset((found[1] or found[2]).split("|")) if found else frozenset()


def _may_fit(pattern: str, text: str) -> bool:
    """Tell whether a text has a pattern's indispensable words: most rules need never be compiled."""
    lowered = text.lower()
    return all(any(word in lowered for word in words) for words in _needed(pattern))


@cache
def _needed(pattern: str) -> tuple[tuple[str, ...], ...]:
    """Return sets of words; a fitting text has one of each."""
    bare, depth, start = "", 0, 0
    groups: list[str] = []
    for place, sign in enumerate(pattern):
        if sign == "(" and (depth := depth + 1) == 1:
            start = place + 1
        elif sign == ")" and (depth := depth - 1) == 0:
            groups.append("" if pattern[place + 1 : place + 2] in ("?", "*") else pattern[start:place])
        elif not depth:
            bare += sign
    if "|" in bare:
        return ()
    words = [(word,) for word in _WORD.findall(_CLASS.sub(" ", bare))]
    choices = [tuple(part.strip() for part in group.removeprefix("?:").split("|")) for group in groups if group]
    return (*words, *(choice for choice in choices if all(map(_PLAIN_WORDS.fullmatch, choice))))


@cache
def _compiled(pattern: str, plain: str) -> re.Pattern[str]:
    return re.compile(_expanded(pattern, plain), re.IGNORECASE)


def _expanded(pattern: str, plain: str) -> str:
    """Return a rule's left side as a regular expression; equal names must match equal text."""
    for name in re.findall(r"\\g<(\w+)>", plain):
        if name in ("ABOVE", "NUM"):
            pattern = pattern.replace(name, f"(?P<g_{name}>{PARTS[name][1:]}", 1)
        else:
            pattern = re.sub(rf"\((?!\?)(?={name}\b)", f"(?P<g_{name}>", pattern, count=1)
    pattern = pattern.replace("THE<", f"{PARTS['THE']}<")
    pattern = re.sub(r"(?<![\w<])(?:[A-Z]{3,})(?![\w>])", lambda mark: PARTS.get(mark[0], mark[0]), pattern)
    for name in dict.fromkeys(re.findall(r"(?<!P)<(\w)>", pattern)):
        words = (_FEW_WORDS if name == "O" else _WORDS).replace("{}", name)
        first, *rest = re.split(rf"(?<!P)<{name}>", pattern)
        pattern = first + words + f"(?P={name})".join(rest)
    return pattern
