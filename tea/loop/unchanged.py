"""Unchanged files: given by a task to be changed, said to be so, and never written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePath
from typing import Any, cast

from tea.loop.naming import file_names, to_be_changed, to_be_written
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
    r"\b(?:un(?:altered|changed|modified|touched|ver\u00e4ndert)|read-only|as (?:it|they) (?:was|were)"
    r"|(?:not|n['\u2019]t|nicht)(?: \w+)? (?:changed|modified|saved|written|ge\u00e4ndert|geschrieben))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?;]\s|\n")
_UNCHANGED = "The answer says that {name} was changed, but nothing has written it"


def unchanged(
    results: Iterable[Observation], functions: Functions, answer: JsonValue, task: str, files: Collection[str]
) -> str:
    """Return the problem of an answer about a changed file without a call to change it, empty without one.

    Code finds the files of a task read-only; only calls of the workspace and other agents can change them.

    Args:
        results: What calls gave.
        functions: Tell which calls read, and which wrote a file.
        answer: The answer; one about unchanged files, or about another file made instead, has no such problem.
        task: The task in words.
        files: Its files.
    """
    said, wanted = as_text(answer), {PurePath(one).name for one in to_be_changed(task, files)}
    named = {PurePath(one).name for one in file_names(said)}
    if not wanted & named or to_be_written(task) - wanted or not _says_changed(said):
        return ""
    changes = [_changes(one, functions) for one in results if one.ok and not functions.reads(one.name)]
    known = "\n".join(one for one in changes if one is not None)
    instead = any(name in known for name in named - wanted)
    left = [name for name in sorted(wanted & named) if name not in known]
    return "" if instead or None in changes or not left else _UNCHANGED.format(name=left[0])


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
