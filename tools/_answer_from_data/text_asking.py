"""A question about a text: what it asks for, and which of its words say little, name something, or are its nouns."""

import re
from dataclasses import dataclass

from .text_closed import closed, opposites
from .text_kinds import Kind, asked_noun, kind_of
from .tokens import tokens

_LONGER = 4
_NUMBERING = re.compile(r"^\s*(?:\d+[.)]|\d+(?:\.\d+)+)\s")
_LITTLE_WORDS = """
name names kind type sort number take takes took get gets use uses used using make makes made go goes went going come
comes happen happens happened need needs needed called list find give gives given people person thing things stay stays
located situated long much many often old big large high tall deep wide far fast time day there described want like look
work help actually exactly currently now normally usually place maximum minimum total become says tells mentions run
runs ran running works exist exists
"""
_ITSELF_WORDS = (
    "company firm organisation organization author writer program software project product document policy report"
)
_SMALL_WORDS = "a an the in on at to from by for after before until if when while during every per between"
_SMALL = frozenset(_SMALL_WORDS.split())
LITTLE = frozenset(_LITTLE_WORDS.split())
"""Words that say little, so that a passage may do without."""
ITSELF = frozenset(_ITSELF_WORDS.split())
"""Words by which a text means its own subject, so that a passage may do without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A question with what it asks for.

    Args:
        question: Its words.
        kind: What kind of thing.
        weak: Words that a passage may do without.
        names: Names and numbers, which must stand in or above the passage.
        nouns: Words after an article.
    """

    question: str
    kind: Kind | None
    weak: frozenset[str]
    names: frozenset[str]
    nouns: frozenset[str]

    @property
    def told(self) -> frozenset[str]:
        """Words that name nothing but the kind."""
        return self.kind.told if self.kind else frozenset()

    @property
    def cues(self) -> frozenset[str]:
        """Words looked for that the question does not say."""
        said = {word.norm for word in tokens(self.question)}
        return frozenset(cues(self.question)) - said

    @property
    def sure(self) -> bool:
        """Whether the kind of thing asked for can be told by its writing alone."""
        return self.kind is not None and self.kind.sure


def asking(question: str) -> Asking:
    """Return a question with the kind of thing it asks for, and which of its words say little or name something."""
    kind = kind_of(question)
    names = {
        bare(word.norm)
        for index, word in enumerate(tokens(question))
        if (index and word.kind in ("word", "quoted") and word.capital) or word.kind in ("number", "percent", "date")
    }
    told = kind.told if kind else frozenset[str]()
    weak = LITTLE | asked_noun(question) | told
    if all(word.norm in weak or len(word.norm) < _LONGER for word in tokens(question)):
        weak = told
    nouns = re.findall(r"\b(?:the|an?|this|its|his|her|their|my|our) (\w+)", question.casefold())
    return Asking(question=question, kind=kind, weak=weak - names, names=frozenset(names), nouns=frozenset(nouns))


def cues(question: str) -> list[str]:
    """Return further words to look for: keys of records that tell what is asked, or opposites of what is asked."""
    kind = kind_of(question)
    return opposites(question) if closed(question) else kind.cues.split() if kind else []


def beyond(text: str, asked: Asking) -> str:
    """Return a passage without the words that the question itself says; an amount keeps its unit."""
    said = {word.text.casefold() for word in tokens(asked.question)} - _SMALL
    if asked.sure:
        said = {word for word in said if bare(word) in asked.names}
    plain = _NUMBERING.sub("", text)
    return " ".join(word for word in plain.split() if word.strip(".,;:!?\"'()").casefold() not in said)


def bare(word: str) -> str:
    """Return a word without its punctuation."""
    return re.sub(r"\W", "", word)
