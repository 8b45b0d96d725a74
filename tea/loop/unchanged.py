"""Unchanged files: given by a task to be changed, ordered or said to be so, and never written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePath
from typing import Any, cast

from tea.loop.naming import file_names, ordered_changes, to_be_changed, to_be_written, without_quotes
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
_ONLY_MEANT = re.compile(
    r"\b(?:can|cannot|could|must|needs?|never|not|propos\w+|recommend\w+|should|suggest\w+|to be|would|kein\w*|nicht"
    r"|sollte\w*)\b|n['\u2019]t\b",
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
    r" (?:added|contain|done|exist|find|have|hold|made|needed|possible|required)\b",
    re.IGNORECASE,
)
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
    if not wanted or to_be_written(without_quotes(task)) - wanted:
        return ""
    named = {PurePath(one).name for one in file_names(said)}
    claimed = wanted & named if _says_changed(said) else set[str]()
    left_alone = _SAYS_UNCHANGED.search(said) or _SAYS_UNDONE.search(said)
    due = set[str]() if left_alone else ordered_changes(task, files)
    changes = [_changes(one, functions) for one in results if one.ok and not functions.reads(one.name)]
    known = "\n".join(one for one in changes if one is not None)
    if None in changes or any(name in known for name in named - wanted):
        return ""
    left = [name for name in sorted(claimed or due) if name not in known]
    return (_UNCHANGED if claimed else _ORDERED).format(name=left[0]) if left else ""


def _says_changed(said: str) -> bool:
    """Return whether words tell of a change, and not of something left as it was."""
    claims = (one for one in _SENTENCE.split(said) if _SAYS_CHANGED.search(one))
    return _SAYS_UNCHANGED.search(said) is None and any(not _ONLY_MEANT.search(one) for one in claims)


def _changes(outcome: Observation, functions: Functions) -> str | None:
    """Return the names of the files changed by a call, in a text; None if unknown."""
    if (given := functions.written_by(outcome)) is not None:
        return as_text(given)
    value: Mapping[str, Any] = cast("Mapping[str, Any]", outcome.value) if isinstance(outcome.value, Mapping) else {}
    return as_text(value.get("files", "")) if "sandbox" in value else None
