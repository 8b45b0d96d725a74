"""Naming: the meaning of a name: of a function called otherwise, of an agent or a file by the words around it."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePath

_TOKEN = re.compile(r"[^\W_]+|[^\w\s]")
_BEFORE = 3  # words between a word of use and the name: `use your own browser`
_USES = """
    use using with via through by in into on at let have ask open start call run make write create build generate need
    want mit im am per nutze verwende benutze lass öffne mach erstelle avec dans sur utilise con en usa abre crea
"""
_SMALL = """
    a an the to and or for at on in of from that which who whose if whether so then please with by as is are be about
    agent der die das den dem ein eine einen einem und oder um zu für auf von ob le la les un une et ou pour à de que
    el los las una y o para si
"""
_HABITS = {  # names of functions in other libraries, without marks between their words
    "fetch_page": "browse browseurl browsepage fetch fetchurl fetchwebpage getpage geturl httpget openpage openurl"
    " readpage readurl readwebpage urlfetch visit visitpage visiturl webbrowse webfetch webfetcher webreader",
}
_KINDS = ("agent", "environment", "tool")
_CALLS = ("call", "invoke", "run")  # what is called of a component in code
_FILE = re.compile(r"[\w-]++(\.[A-Za-z][A-Za-z0-9]{1,4}\b)?")  # also of a word without an ending, read once so
_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?;]\s|\n")
_SAVES = re.compile(
    r"(?:add|append|creat|export|generat|mak|output|produc|sav|stor|writ|schreib|speicher|erstell|écri|enregistr"
    r"|escrib|guard)\w*",
    re.IGNORECASE,
)
_CHANGES = re.compile(  # verbs that order, of adding, of taking away, and of all else
    r"(?:\A\W*|[,:] |\b(?:and|bitte|now|please|shall|should|then|und|you|(?<!how )to) )"
    r"(?:(?P<more>add|append|insert|put|erg\u00e4nze|f\u00fcge|h\u00e4nge|schreibe?)|(?P<less>delete|drop|remove|entferne|l\u00f6sche)"
    r"|change|correct|debug|edit|fix|mend|modify|refactor|rename|repair|replace|rewrite|update"
    r"|\u00e4ndere|behebe|ersetze|korrigiere|repariere)\b(?! up\b)",
    re.IGNORECASE,
)
_PLACE = r"(?:above|at|below|in|inside|into|onto|to|(?:beginning|bottom|end|head|start|top) of|an|ende (?:von|der)|zu)"
_INTO = re.compile(rf"\b{_PLACE} (?:(?:the|der|die) )?(?:(?:file|table|datei|tabelle) )?[\"'`]?\Z", re.IGNORECASE)
_ONLY_USED = re.compile(r"\b(?:as in|by|like|per|see|using|with|mit) (?:(?:the|der) )?[\"'`]?\Z", re.IGNORECASE)
_TABLES = (
    ".csv",
    ".json",
    ".jsonl",
    ".ods",
    ".parquet",
    ".tsv",
    ".xls",
    ".xlsx",
)  # rows of these are left out to count
_SIGN = re.compile(
    r"\b(?:(?P<out>to|into|as|named|called|in|nach|als|namens|comme|dans|como|en)"
    r"|(?P<given>from|of|read\w*|open\w*|load\w*|using|with|by|between|and|aus|von|mit|und|de|du|avec|con|desde))\b",
    re.IGNORECASE,
)


def plain_names(name: str) -> list[str]:
    """Return the possible names of a function given in the notation of components or of code, the likeliest first.

    Args:
        name: The name as a model wrote it.

    Examples:
        >>> plain_names("environment:shell#python")
        ['shell_python']
        >>> plain_names("tool:table_query@1.0.0"), plain_names("table_query.call")
        (['table_query'], ['table_query.call', 'table_query', 'call'])
    """
    kind, mark, rest = name.strip().partition(":")
    bare = rest if mark and kind.casefold() in _KINDS else name.strip()
    component, _, action = bare.partition("#")
    component, action = component.partition("@")[0], action.partition("@")[0]
    whole = "_".join(filter(None, (component, action)))
    before, dot, last = whole.rpartition(".")
    called = [before] if last in _CALLS else []
    return [whole, *called, last.strip()] if dot else [whole]


def habitual_name(name: str, candidates: Iterable[str]) -> str:
    """Return the function meant by its name in other libraries, empty if it is not among the candidates.

    Args:
        name: The name as a model wrote it.
        candidates: Names of functions.

    Examples:
        >>> habitual_name("web_fetch", ["fetch_page", "calculator"])
        'fetch_page'
    """
    letters, there = _letters(name), {*candidates}
    return next((one for one, others in _HABITS.items() if one in there and letters in others.split()), "")


def nearest_name(name: str, candidates: Iterable[str], shortened: Iterable[str]) -> str:
    """Return the function meant by a name, empty if there are none or several.

    Args:
        name: The name as a model wrote it.
        candidates: Names that may be written with other letters or marks between their words.
        shortened: Names that may be written as their last words, as `python` for `shell_python`.
    """
    names = list(candidates)
    if name in names:
        return name
    alike = [one for one in names if _letters(one) == _letters(name)]
    alike = alike or [one for one in shortened if one.endswith(f"_{name}")]
    return alike[0] if len(alike) == 1 else ""


def _letters(name: str) -> str:
    """Return a name in small letters and without the marks between its words."""
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")


def is_addressed(word: str, text: str) -> bool:
    """Return whether a text asks to use the component named by a noun, instead of only mentioning the noun.

    `use the browser` and `open it in the browser` do; `browser market share`, `which browser` and `computer science`
    do not.

    Args:
        word: The noun, in small letters.
        text: The task.
    """
    tokens = _TOKEN.findall(text.casefold())
    for at, token in enumerate(tokens):
        if token != word:
            continue
        before = tokens[max(0, at - _BEFORE) : at]
        if "@" in before[-1:]:
            return True
        after = tokens[at + 1] if at + 1 < len(tokens) else "."
        if (not after[0].isalpha() or after in _SMALL.split()) and (
            not before or any(one in _USES.split() for one in before)
        ):
            return True
    return False


def file_names(text: str) -> list[str]:
    """Return the names of files in a text; parts of an address do not count."""
    return [name[0] for name in _files(_ADDRESS.sub(" ", text))]


def to_be_written(text: str) -> set[str]:
    """Return the names of files to be written, as opposed to inputs.

    A name is one of them behind a word of writing in its sentence, unless what stands between them reads it, as in
    `write a summary of notes.txt`.
    """
    found: dict[str, bool] = {}
    for sentence in _SENTENCE.split(_ADDRESS.sub(" ", text)):
        saves, signs = [one.end() for one in _SAVES.finditer(sentence)], list(_SIGN.finditer(sentence))
        ends = [one.end() for one in signs]
        for name in _files(sentence):
            last, at = bisect(saves, name.start()) - 1, bisect(ends, name.start()) - 1
            is_out = last >= 0 and (at < 0 or signs[at].start() < saves[last] or signs[at]["out"] is not None)
            found[name[0]] = found.get(name[0], True) and is_out
    return {name for name, is_out in found.items() if is_out}


def to_be_changed(text: str, given: Collection[str]) -> set[str]:
    """Return the names of given files to be changed, as opposed to read.

    A name is one of them as the first one behind an order to change something, as in `fix the bug in cart.py`; behind
    one to add something it follows a word of place.

    Args:
        text: The task.
        given: The names of its files.
    """
    found, own = set[str](), {PurePath(one).name for one in given}
    for sentence in _SENTENCE.split(_ADDRESS.sub(" ", text)):
        names = list(_files(sentence))
        for order in _CHANGES.finditer(sentence):
            signs = ((one, sentence[order.end() : one.start()]) for one in names if one.start() >= order.end())
            is_added = order["more"] is not None
            fits = (
                one for one, before in signs if (_INTO.search(before) if is_added else not _ONLY_USED.search(before))
            )
            name = next((one[0] for one in fits), "")
            if name in own and not (order["less"] and PurePath(name).suffix.casefold() in _TABLES):
                found.add(name)
    return found


def _files(text: str) -> Iterator[re.Match[str]]:
    return (found for found in _FILE.finditer(text) if found[1])
