"""Unchanged files: given by a task to be changed, ordered or said to be so, and never written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from tea.loop.naming import (
    file_names,
    is_worked_out,
    ordered_changes,
    possibly_changed,
    to_be_changed,
    to_be_written,
    without_quotes,
)
from tea.loop.observation import Observation
from tea.loop.written import Functions
from tea.types import JsonValue, as_text

_DONE = (
    r"(?:added|appended|changed|corrected|deleted|edited|fixed|inserted|mended|modified|removed|renamed|repaired"
    r"|replaced|rewrote|rewritten|set|updated|wrote|written)"
)
_GETAN = (
    r"(?:angeh\u00e4ngt|behoben|eingef\u00fcgt|erg\u00e4nzt|ersetzt|ge\u00e4ndert|gel\u00f6scht|hinzugef\u00fcgt"
    r"|korrigiert|repariert)"
)
_SAYS_CHANGED = re.compile(
    rf"\b(?:i|we)(?:['\u2019]ve| have)? (?:\w+ly )?(?:(?:also|now|then) )?{_DONE}\b|\A\W*{_DONE}\b"
    rf"|\b(?:are|has been|have been|is|was|were) (?:(?:all|also|now|then) )?{_DONE}\b"
    r"|\b(?:are|is)\b.{0,120}\bnow\b"
    r"|\bnow (?:adds?|are|contains?|ends?|ha(?:s|ve)|holds?|is|multipl\w+|returns?|uses?)\b"
    rf"|\b(?:habe|ist|sind|wurden?)\b.{{0,120}}\b{_GETAN}\b",
    re.IGNORECASE,
)
_NOW = re.compile(  # of a state that was another one before
    r"\b(?:now|(?:any ?|no )(?:longer|more)|jetzt|nun|(?:nicht|keine?[nrs]?\b.{0,60}?) mehr"
    r"|d\u00e9sormais|maintenant)\b",
    re.IGNORECASE,
)
_ANY = re.compile("")
_ONLY_MEANT = re.compile(
    r"\b(?:already|bereits|can|cannot|could|d\u00e9j\u00e0|must|needs?|never|noch|not|propos\w+|recommend\w+|schon|should"
    r"|still|suggest\w+|to be|would|kein\w*|nicht|sollte\w*)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_SAYS_UNCHANGED = re.compile(
    r"\b(?:un(?:altered|changed|modified|touched|ver\u00e4ndert)|read-only|as (?:it|they) (?:are|is|was|were)"
    r"|(?:not|n['\u2019]t|nicht)(?: \w+)? (?:changed|modified|saved|written|ge\u00e4ndert|geschrieben))\b",
    re.IGNORECASE,
)
_SAYS_UNDONE = re.compile(  # or that there was nothing to do
    r"\b(?:already|bereits|cannot|could not|failed|keine?n?|nothing|propos\w+|recommend\w*|suggest\w*|unable)\b"
    r"|\b(?:could|has to|must|needs? to|ought to|should|would|m\u00fcsste\w*|sollte\w*)(?: \w+)? (?:be|sein|werden)\b"
    r"|\b(?:are|has|have|is|was|were) no\b|\bno (?:change|need)"
    r"|\b(?:not|n['\u2019]t)(?: (?:be|been))?"
    r" (?:added|contain|done|exist|find|have|hold|made|need|needed|possible|required)\b",
    re.IGNORECASE,
)
_TEXTS = ("text", "old", "new")  # arguments with words of a file
_SENTENCE = re.compile(r"[.!?;]\s|\n")
_UNCHANGED = "The answer says that {name} was changed, but nothing has written it"
_ORDERED = "The task orders a change of {name}, but nothing has written it"


def unchanged(
    results: Iterable[Observation], functions: Functions, answer: JsonValue, task: str, files: Collection[str]
) -> str:
    """Return the problem of a file said, or ordered, to be changed without a call to change it, empty without one.

    Code finds the files of a task read-only; only calls of the workspace and other agents can change them.

    Args:
        results: What calls gave.
        functions: Tell which calls read, and which wrote a file.
        answer: The answer; one about unchanged files, or about another file made instead, has no such problem.
        task: The task in words.
        files: Its files.
    """
    said, wanted = as_text(answer), to_be_changed(task, files)
    changes = [_changed(one, functions) for one in results if one.ok and not functions.reads(one.name)]
    possible = possibly_changed(task, files)
    if not possible or None in changes:
        return ""
    known = {name for one in changes if one is not None for name in one}
    named, now = {*file_names(said)}, _says(_NOW, said)
    claimed, due = _named_in(_NOW, said) & possible if now else set[str](), set[str]()
    if not (to_be_written(without_quotes(task)) - possible or known & (named - possible)):
        claimed |= wanted & _named_in(_ANY, said) if _says(_SAYS_CHANGED, said) else set[str]()
        if not named and len(possible) == 1 and now and not is_worked_out(next(iter(possible)), task):
            claimed |= possible
        left_alone = _SAYS_UNCHANGED.search(said) or _SAYS_UNDONE.search(said)
        due = set[str]() if left_alone else ordered_changes(task, files)
    left = sorted(claimed - known) or sorted(due - known)
    return (_UNCHANGED if claimed - known else _ORDERED).format(name=left[0]) if left else ""


def _says(pattern: re.Pattern[str], said: str) -> bool:
    """Return whether words tell of a change, and not of something left as it was."""
    return _SAYS_UNCHANGED.search(said) is None and any(_claims(pattern, one) for one in _SENTENCE.split(said))


def _claims(pattern: re.Pattern[str], sentence: str) -> bool:
    return pattern.search(sentence) is not None and _ONLY_MEANT.search(_NOW.sub(" ", sentence)) is None


def _named_in(pattern: re.Pattern[str], said: str) -> set[str]:
    """Return the files named in the sentences of words with a sign, without those only meant."""
    return {name for one in _SENTENCE.split(said) if _claims(pattern, one) for name in file_names(one)}


def _changed(outcome: Observation, functions: Functions) -> set[str] | None:
    """Return the names of the files changed by a call, None if unknown."""
    if (given := functions.written_by(outcome)) is not None:
        return {*file_names(as_text({name: one for name, one in given.items() if name not in _TEXTS}))}
    value: Mapping[str, Any] = cast("Mapping[str, Any]", outcome.value) if isinstance(outcome.value, Mapping) else {}
    return {*file_names(as_text(value.get("files", "")))} if "sandbox" in value else None
