"""Unrun code: written by hand and not run since, or said to run without any run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from tea.loop.observation import Observation
from tea.loop.written import Functions
from tea.types import JsonObject, JsonValue, as_text

_TEXTS = frozenset(("text", "old", "diff"))  # parameters of the calls that write
_FAILED = re.compile(r"^EXIT:\n|^Traceback \(most recent call last\):", re.MULTILINE)
_THINGS = r"(?:code|commands?|files?|it|program|scripts?|suite|tests?|unit ?tests?|them)"
_SAYS_RUN = re.compile(
    rf"\b(?:ran|executed|tested)(?: (?:all|both|each|every|my|of|the|these|this|those|\d+))*(?: [\w.]+)? {_THINGS}\b",
    re.IGNORECASE,
)
_SAYS_PASSED = re.compile(
    r"\b(?:checks?|suite|tests?|unittests?|pruebas)\b[^.!?\n]{0,40}"
    r"\b(?:bestand\w*|bestehen|erfolgreich|green|ok|pas(?:an|aron)|pass(?:ed|es|ing|ent)?|succe\w*|r\u00e9uss\w*)\b"
    r"|\bpass(?:ed|es)? (?:all|both|the|\d+)\b[^.!?\n]{0,30}\btests?\b",
    re.IGNORECASE,
)
_SAYS_UNRUN = re.compile(
    r"\b(?:cannot|could not|did not|never|no|nothing|not|without|n['\u2019]t)\b[^.!?\n]{0,30}"
    r"\b(?:execut\w*|ran|run|running|tested|tried|verified)\b|\buntested\b"
    r"|\bnicht (?:\w+ ){0,3}(?:ausgef\u00fchrt|gelaufen|gepr\u00fcft|getestet)\b",
    re.IGNORECASE,
)
_NONE_FAILED = re.compile(r"\b(?:0|no|none|not one|without|zero)(?: of them)? (?:error|fail)\w*", re.IGNORECASE)
_SAYS_FAILED = re.compile(
    r"\b(?:error|exception|exit|fail|fehl|traceback)\w*|\b(?:not|n['\u2019]t) (?:all )?(?:pass|succeed|work)"
    r"|\bscheiter\w*|\b\u00e9chou\w*|\bfalla\w*",
    re.IGNORECASE,
)
_LAST_FAILED = "The last run of code failed, and nothing has run since."
_CHANGED = "{} changed after the last run of code, so nothing shows what it does now."
_NO_RUN = "The answer says that something was run, but {}."
_NEVER, _SINCE = "nothing was", "nothing has run since the last change of {}"


def unrun(results: Iterable[Observation], functions: Functions, answer: JsonValue) -> str:
    """Return the problem of an answer about code not shown to run, empty without one.

    A run is any call but those that read or that write files of the workspace. Code counts as changed if it was written
    before the last run and after it.

    Args:
        results: What calls gave, in their order.
        functions: Tell which calls read, and which wrote a file.
        answer: The answer; one that says so itself has no such problem.
    """
    said, last, read = as_text(answer), None, False
    before, since = set[str](), set[str]()
    for one in (each for each in results if each.made and not each.repeated):
        given = functions.written_by(one)
        if given is not None:
            since |= _code(one, given)
        elif functions.reads(one.name):
            read = True
        else:
            last, before, since = one, before | since, set[str]()
    if _SAYS_UNRUN.search(said):
        return ""
    says_run = _SAYS_RUN.search(said) is not None
    claims = says_run or _SAYS_PASSED.search(said) is not None
    failed = last is not None and _has_failed(last) and (claims or bool(before | since))
    if failed and (since or not _SAYS_FAILED.search(_NONE_FAILED.sub(" ", said))):
        return _LAST_FAILED
    if last is not None and before & since:
        return _CHANGED.format(_names(before & since))
    if claims and since:
        return _NO_RUN.format(_SINCE.format(_names(since)))
    return _NO_RUN.format(_NEVER) if says_run and last is None and not read else ""


def _code(outcome: Observation, given: JsonObject) -> set[str]:
    """Return the names of the files of code written by a call."""
    value: Any = outcome.value if outcome.ok and given.keys() & _TEXTS else None
    files = cast("list[Any]", value) if isinstance(value, list) else [value]
    found = [cast("Mapping[str, Any]", one) for one in files if isinstance(one, Mapping)]
    return {str(one.get("name")) for one in found if one.get("type") == "code"}


def _has_failed(outcome: Observation) -> bool:
    """Return whether a run failed: by an error, by the exit of a command, or by an exception."""
    value: Mapping[str, Any] = cast("Mapping[str, Any]", outcome.value) if isinstance(outcome.value, Mapping) else {}
    return not outcome.ok or ("sandbox" in value and _FAILED.search(str(value.get("text"))) is not None)


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
