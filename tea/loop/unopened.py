"""Unopened pages: named by a task to be read, and opened by no call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, cast

from tea.loop.addresses import ADDRESS, BARE, without_marks
from tea.loop.naming import READS, without_quotes
from tea.loop.observation import Observation
from tea.loop.unrun import has_failed
from tea.loop.written import Functions
from tea.types import JsonValue, Task, as_text

_SCHEME = re.compile(r"\Ahttps?://(?:www\.)?", re.IGNORECASE)
_MOST_ADDRESSES, _AROUND = 50, 300  # characters before and behind each
_SENTENCE = re.compile(r"[.!?;]\s|\n")
_IN = re.compile(  # a word of place in front of the address
    r"\b(?:at|by|from|in|of|on|per|under|via|auf|aus|bei|nach|unter|von|dans|d'apr\u00e8s|selon|sur|de|en|seg\u00fan)"
    r" (?:(?:the|der|die|den|la|le) )?(?:(?:address|article|link|page|site|url|website|seite) )?[(<\[\"'`]*\Z",
    re.IGNORECASE,
)
_IN_CODE = re.compile(r"[(=:\[,]\s?[\"'`]\Z|`[^`\n]*\Z")
_AS_TEXT = re.compile(  # about an address itself
    r"\b(?:anchor|characters?|domain|(?:percent-?|url-?)?(?:en|de)cod\w+|g\u00fcltig\w*|host ?(?:name)?|hyperlink"
    r"|letters|markdown|parameters?|port|QR|query strings?|regex\w*|regular expression|scheme|shorten\w*|slug|syntax"
    r"|(?:in)?valid|well-?formed)\b",
    re.IGNORECASE,
)
_MATERIAL = re.compile(  # for a text with the address in it
    r"\b(?:citation|cite|code|command|compose|correct|curl|draft|e-?mail|format|function|html|insert|invit\w+|letter"
    r"|message|paste|program|rephrase|rewrite|script|template|translate|write)\b",
    re.IGNORECASE,
)
_IS_PAGE = re.compile(  # a sentence that gives the page of a question beside it
    r"(?:\A|[.!?;:,]\s|\n)\W*(?!my|our|meine|unsere|mon|notre)(?:\w+ ){0,4}(?:address|adresse|article|artikel|homepage"
    r"|lien|link|page|quelle|seite|site|source|url|website)s?(?: \w+){0,3} (?:are|at|est|here|is|ist|lautet"
    r"|under|unter)(?: \w+)?\W*\Z|\b(?:address|link|page|seite|source|url|website) ?:\W*\Z",
    re.IGNORECASE,
)
_BELONGS = re.compile(  # to what is only told of
    r"\b(?:appartient|belongs?|deployed|developed|geh\u00f6rt|hosted|lives?|made|maintained|sold|used)\b[^.;]*\Z",
    re.IGNORECASE,
)
_EACH = re.compile(  # of several pages
    r"\b(?:agree|beide\w*|both|compar\w*|deux|differ\w*|diff\u00e9r\w*|each|unterschied\w*|vergleich\w*|versus|vs)\b",
    re.IGNORECASE,
)
_OF_PAGE = re.compile(r"\b(?:overview|report|review|summar(?:y|ies)) (?:about|from|of|on)\s\Z", re.IGNORECASE)
_COMES_FROM = re.compile(
    r"\b(?:are|came|comes?|copied|downloaded|exported|is|obtained|taken|was|were) (?:from|aus|von) [(<]?\Z",
    re.IGNORECASE,
)
_SEVERAL = 2  # pages
_FEW_WORDS = 2  # beside an address that stands alone
_NOTHING = re.compile(
    r"\W*(?:(?:there )?(?:is|are) )?(?:no one|nobody|none|nothing|not known|unknown)?\W*", re.IGNORECASE
)
_SAYS_UNOPENED = re.compile(
    r"\b(?:cannot|failed|never|not|nothing|unable|n['\u2019]t)\b(?: \w+){0,2}"
    r" (?:access|accessed|fetch|fetched|load|loaded|opened|reach|reached|read|retrieve|retrieved)\b"
    r"|\b(?:cannot|could not|couldn['\u2019]t|failed to|not be|unable to) (?:be )?(?:found|load|open|respond)\b"
    r"|\bno (?:access|connection|(?:internet|network|web) (?:access|connection))\b"
    r"|\b(?:address|it|link|page|server|site|url|website)\b (?:itself )?(?:is|was|does|did|has)"
    r" ?(?:down|gone|missing|offline|un(?:available|reachable)|(?:not|n['\u2019]t) (?:available|exist|there))\b"
    r"|\bstatus (?:code )?\d{3}\b|\b(?:HTTP|error) [45]\d\d\b|\b404\b|\btimed out\b"
    r"|\bnicht (?:\w+ )?(?:abgerufen|erreich\w+|gelesen|geladen|ge\u00f6ffnet)\b",
    re.IGNORECASE,
)
_UNOPENED = "Nothing has opened {}"
_LONGEST = 200


def unopened(results: Iterable[Observation], functions: Functions, answer: JsonValue, task: Task, words: str) -> str:
    """Return the problem of an answer to a task about a page opened by no call, empty without one.

    One page of several is enough unless they are to be compared, and so is another one of its site, or a result that
    holds the address; another agent is taken to have read what it was to read.

    Args:
        results: What calls gave.
        functions: Tell which calls read.
        answer: The answer; one that says so itself has no such problem.
        task: The task.
        words: Its words, and what a person said since.
    """
    said, named = as_text(answer), to_be_opened(words, given=bool(task.files))
    if not named or _NOTHING.fullmatch(said) or _SAYS_UNOPENED.search(said):
        return ""
    keys = {key for one in named for key in _keys(one)}
    if _MATERIAL.search(words) and _holds(said, keys) and not any(map(_OF_PAGE.search, _before(words))):
        return ""
    known = [one.text for one in task.history if one.who != "person"]
    known += [f"{one.source}\n{one.fact}\n{one.quote}" for one in task.facts]
    results = [*results]
    if any(_holds(one, keys) for one in known):
        return ""
    if not any(_has_read(one, functions, keys) for one in results):
        return _UNOPENED.format(named[0][:_LONGEST])
    left = _uncompared(results, functions, named) if _EACH.search(words) else []
    return _UNOPENED.format(left[0][:_LONGEST]) if left else ""


def _uncompared(results: Iterable[Observation], functions: Functions, named: list[str]) -> list[str]:
    """Return the addresses to be compared and given to no call, empty if an agent may have read them."""
    read = [one for one in results if one.ok and not has_failed(one)]
    if len(named) < _SEVERAL or any(_is_of_agent(one, functions) for one in read):
        return []
    given = [json.dumps(one.arguments, ensure_ascii=False).casefold() for one in read if "search" not in one.name]
    wholes = {one: _SCHEME.sub("", one).casefold().rstrip("/") for one in named}
    hosts = [one.partition("/")[0] for one in wholes.values()]
    signs = {
        one: whole if hosts.count(whole.partition("/")[0]) > 1 else whole.partition("/")[0]
        for one, whole in wholes.items()
    }
    return [one for one, sign in signs.items() if not any(_holds(text, [sign]) for text in given)]


def to_be_opened(text: str, *, given: bool = False) -> list[str]:
    """Return the addresses of pages to be read, as opposed to those only mentioned.

    An address is one of them in a sentence that asks for something or orders to read, behind a word of place, and with
    few words beside it, or in a sentence of its own that calls it the page of such a question; not within code or a
    quotation, nor in a sentence about addresses or of what only belongs there.

    Args:
        text: The task.
        given: Whether it has files, which may come from there.
    """
    found, text = list[str](), without_quotes(text)
    asks = not given and ("?" in text or READS.search(text) is not None)
    for one in _addresses(text):
        before = text[max(0, one.start() - _AROUND) : one.start()]
        own = _SENTENCE.split(before)[-1]
        address = without_marks(one[0])
        behind = _SENTENCE.split(f"{one[0][len(address) :]}{text[one.end() : one.end() + _AROUND]}")[0]
        sentence = f"{own} {behind}"
        if given and _COMES_FROM.search(own):
            continue
        if _IN_CODE.search(own) or _AS_TEXT.search(sentence):
            continue
        if _BELONGS.search(own) and not READS.search(own):
            continue
        is_page = asks and _IS_PAGE.search(own)
        if (
            is_page
            or _IN.search(own)
            or _EACH.search(sentence)
            or READS.search(sentence)
            or len(re.findall(r"\w+", sentence)) <= _FEW_WORDS
        ):
            found.append(address)
    return found


def _addresses(text: str) -> list[re.Match[str]]:
    """Return the addresses in a text, with and without a scheme."""
    found = list(islice(ADDRESS.finditer(text), _MOST_ADDRESSES))
    return found or list(islice(BARE.finditer(text), _MOST_ADDRESSES))


def _before(text: str) -> list[str]:
    """Return the words in front of each address."""
    return [text[max(0, one.start() - _AROUND) : one.start()] for one in _addresses(text)]


def _keys(address: str) -> set[str]:
    """Return the signs of a site: its host, and a path with several parts."""
    host, _, path = _SCHEME.sub("", address).casefold().partition("/")
    path = re.split(r"[?#]", path)[0].strip("/")
    return {host, path} if "/" in path else {host}


def _holds(text: str, keys: Iterable[str]) -> bool:
    folded = text.casefold()
    return any(one in folded for one in keys)


def _has_read(outcome: Observation, functions: Functions, keys: Iterable[str]) -> bool:
    """Return whether a call gave something of a page: its own address and result tell it, or an agent worked on it."""
    if not outcome.ok or has_failed(outcome):
        return False
    if _is_of_agent(outcome, functions):
        return True
    given = "" if "search" in outcome.name else json.dumps(outcome.arguments, ensure_ascii=False)
    return _holds(f"{given}\n{outcome.text}", keys)


def _is_of_agent(outcome: Observation, functions: Functions) -> bool:
    value: Mapping[str, Any] = cast("Mapping[str, Any]", outcome.value) if isinstance(outcome.value, Mapping) else {}
    return "answer" in value and not functions.reads(outcome.name)
