"""Unrun code: written by hand and not run since, or said to run or to pass without any run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePath
from typing import Any, cast

from tea.loop.naming import OF_CODE, file_names
from tea.loop.observation import Observation
from tea.loop.written import Functions
from tea.types import JsonObject, JsonValue, as_text

_TEXTS = frozenset(("text", "old", "diff"))  # parameters of the calls that write
_FAILED = re.compile(
    r"^EXIT:\n|^Traceback \(most recent call last\):"
    r"|FAILED \((?:errors|failures)=[1-9]|^FAILED \S{1,200}::|^[1-9]\d{0,5} failed(?:,|$)"  # of unittest, and of pytest
    r"|\b[1-9]\d{0,5} (?:errors?|failed)\b[^\n]{0,60} in \d[\d.]{0,9}s\b|\breturncode=-?[1-9]",
    re.MULTILINE,
)
_PRINTS_CODE = re.compile(r"print\([^\n]{0,300}returncode|returncode\)*\s*\Z|echo\b[^\n]{0,80}\$\?")
_CODE_ALONE = re.compile(r"^(?:(?:exit|rc|return)\W?(?:code)?\W{0,3})?(-?\d{1,3})$", re.MULTILINE | re.IGNORECASE)
_ASKS_RUN = re.compile(
    r"(?<!how to )(?<!do i )(?<!can i )\b(?:execute|run)\b"
    r"|\b(?:do|does|did|if|whether)\b[^.!?\n]{0,80}\b(?:fail|pass|succe|work)",
    re.IGNORECASE,
)
_NO_OBJECT = r"(?!\w| ?`| (?:an?|along|each|every|it|its|the|them|through|\w+ (?:as|into|on|through|to))\b)"
_TESTED = r"(?:tests?|suite|unittests?)\b[^.!?;\n]{0,40}\bpass(?:ed|es)?"
_TOLD = r"(?:all|both|it|none|tests?|they|\d+)\b[^.!?;\n]{0,40}\b(?:fail(?:ed|s)?|pass(?:ed|es)?)"
_SAYS_TESTED, _SAYS_HOW = (re.compile(rf"\b{one}{_NO_OBJECT}", re.IGNORECASE) for one in (_TESTED, _TOLD))
_SUPPOSED = re.compile(
    r"\b(?:if|once|when)\b[^;]{0,80}\Z|\b(?:can(?! (?:confirm|report|say|see|tell)\b)|could|ensures?|expected|makes?"
    r"|making|may|might|must|ought|should|(?:so|such) that|until|whether|will|would)\b[^,;]{0,60}\Z",
    re.IGNORECASE,
)
_RESULTS = re.compile(r"\b(?:failed|failures|passed|OK)\b|\bRan \d+ tests?\b|\btests? pass")
_RUNS_TESTS = re.compile(
    r"\b(?:cargo|go|make|npm) \w*test|\b(?:nose\w*|pytest|tox|unittest)\b|\btest_\w+|_test\b", re.IGNORECASE
)
_NO_RUNNER = re.compile(r"No module named ['\"]?(?:nose\w*|pytest|tox)\b")
_NOT_BEGUN = re.compile(
    rf"{_NO_RUNNER.pattern}|command not found|: not found$|can't open file|no tests (?:collected|ran)\b"
    r"|\bcollected 0 items|^Ran 0 tests|file or directory not found",
    re.IGNORECASE | re.MULTILINE,
)
_COUNTED = re.compile(r"\b[1-9]\d*(?: \w+)? (?:failed|passed)\b|\bRan [1-9]\d* tests?\b")
_CLAUSE = 100  # characters
_IN_NAME = re.compile(r"\.(?=\w)")
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
_SAYS_WELL = re.compile(  # of tests by other words, as an answer about a failed run
    r"\b(?:l(?:auf(?:en|t)|\u00e4uft|ief(?:en)?)\b[^.!?\n]{0,60}\bdurch(?:gelaufen)?|fehlerfrei|gr\u00fcn"
    r"|(?:au|en) vert|green|passent|r\u00e9uss(?:i\w*|it)|verts?)\b",
    re.IGNORECASE,
)
_YES = re.compile(r"\W*(?:ja|oui|yes)\b", re.IGNORECASE)
_ASKS_WELL = re.compile(
    r"\b(?:besteh\w*|funktionier\w*|lauf\w*|l\u00e4uft|pass(?:e|ent)|r\u00e9uss\w*)\b", re.IGNORECASE
)
_SAYS_UNRUN = re.compile(
    r"\b(?:cannot|could not|did not|never|no|nothing|not|without|n['\u2019]t)\b[^.!?\n]{0,30}"
    r"\b(?:execut\w*|ran|run|running|tested|tried|verified)\b|\buntested\b"
    r"|\bnicht (?:\w+ ){0,3}(?:ausgef\u00fchrt|gelaufen|gepr\u00fcft|getestet)\b",
    re.IGNORECASE,
)
_NONE_FAILED = re.compile(
    r"\b(?:0|no|none|not one|without|zero)(?: of them)? (?:error|fail)\w*|\bfehler(?:frei|los)\w*"
    r"|\b(?:kein\w*|ohne) fehl\w*|\b(?:aucune?|sans) (?:erreur|\u00e9chec)\w*"
    r"|\b(?:error|erreur|failure|fehler)s? (?:are|est|ha(?:s|ve) been|is|ist|sind|was|were|wurden?)(?: \w+)?"
    r" (?:behoben|corrected|corrig\w+|fixed|gone|korrigiert|mended|resolved)\b",
    re.IGNORECASE,
)
_SAYS_FAILED = re.compile(
    r"\b(?:err(?:eu|o)r|exception|exit|fail|fehl|traceback)\w*|\b(?:not|n['\u2019]t) (?:all )?(?:pass|succeed|work)"
    r"|\bscheiter\w*|\b\u00e9chou\w*|\bfalla\w*",
    re.IGNORECASE,
)
LAST_FAILED = "The last run of code failed, and nothing has run since."
_CHANGED = "{} changed after the last run of code, so nothing shows what it does now."
_NO_RUN = "The answer says that something was run, but {}."
_UNTESTED = "The answer says what passes or fails, but nothing was run."
_NEVER, _SINCE = "nothing was", "nothing has run since the last change of {}"


def unrun(
    results: Iterable[Observation],
    functions: Functions,
    answer: JsonValue,
    task: str = "",
    files: Collection[str] = (),
    shown: Iterable[str] = (),
) -> str:
    """Return the problem of an answer about code not shown to run, empty without one.

    A run is any call but those that read or that write files of the workspace; one of tests that never began counts as
    failed, and is left out after another one. Code counts as changed if it was written
    before the last run and after it. A claim about tests is one about their last run, not about what ran since; in a
    task about other files, such as a log, it claims no run.

    Args:
        results: What calls gave, in their order.
        functions: Tell which calls read, and which wrote a file.
        answer: The answer; one that says so itself has no such problem.
        task: The task in words.
        files: Its files.
        shown: What was shown beside the results; it may tell of a run as well.
    """
    said, last, tested, read = as_text(answer), None, None, list[str]()
    before, since = set[str](), set[str]()
    for one in (each for each in results if each.made and not each.repeated):
        given = functions.written_by(one)
        if given is not None:
            since |= _code(one, given)
        elif functions.reads(one.name):
            read.append(one.text)
        elif tested is None or _has_begun(one):
            last, before, since = one, before | since, set[str]()
            tested = one if _is_of_tests(one) else tested
    if _SAYS_UNRUN.search(said):
        return ""
    says_run = _SAYS_RUN.search(said) is not None
    tells = _tells_of_tests(said, task, files)
    of_code = not files or bool(before | since) or _is_of_code(task, files) or _runs_tests(last)
    says_tested = tells or (of_code and (_claims(_SAYS_PASSED, said) or (_is_bad(tested) and _tells_well(said, task))))
    claims, judged = says_run or says_tested, tested if says_tested and tested is not None else last
    failed = _is_bad(judged) and (claims or bool(before | since))
    if failed and (since or not _SAYS_FAILED.search(_NONE_FAILED.sub(" ", said))):
        return LAST_FAILED
    if last is not None and before & since:
        return _CHANGED.format(_names(before & since))
    if claims and since:
        return _NO_RUN.format(_SINCE.format(_names(since)))
    if last is None and says_run and not read:
        return _NO_RUN.format(_NEVER)
    return _UNTESTED if last is None and tells and not any(map(_RESULTS.search, (task, *shown, *read))) else ""


def _tells_of_tests(said: str, task: str, files: Iterable[str]) -> bool:
    """Return whether words tell how tests ended, for a task about code; that of anything only if asked to run it."""
    told = _SAYS_HOW if _ASKS_RUN.search(_IN_NAME.sub("_", task)) else _SAYS_TESTED
    return _is_of_code(task, files) and _claims(told, said)


def _tells_well(said: str, task: str) -> bool:
    """Return whether words tell of success in another way, or are a yes to a question about it."""
    asks = _ASKS_RUN.search(_IN_NAME.sub("_", task)) or _ASKS_WELL.search(task)
    return _claims(_SAYS_WELL, said) or (asks is not None and _YES.match(said) is not None)


def _is_bad(outcome: Observation | None) -> bool:
    """Return whether a run failed or, of tests, never began."""
    return outcome is not None and (has_failed(outcome) or not _has_begun(outcome))


def _has_begun(outcome: Observation) -> bool:
    """Return whether a run is none of tests without their runner or without any test."""
    none = _NOT_BEGUN.search(outcome.text) is not None and _COUNTED.search(outcome.text) is None
    return not (none and (_runs_tests(outcome) or _NO_RUNNER.search(outcome.text)))


def _is_of_code(task: str, files: Iterable[str]) -> bool:
    """Return whether a task has or names a file of code."""
    return bool({PurePath(one).suffix.casefold() for one in (*files, *file_names(task))} & OF_CODE)


def _claims(pattern: re.Pattern[str], said: str) -> bool:
    """Return whether words tell a fact instead of a wish or an expectation."""
    text = _IN_NAME.sub("_", said)
    claims = (one for one in pattern.finditer(text) if not _SUPPOSED.search(one[0]))
    return any(not _SUPPOSED.search(_clause(text[max(0, one.start() - _CLAUSE) : one.start()])) for one in claims)


def _is_of_tests(outcome: Observation) -> bool:
    """Return whether a run ran tests, by its code or its output."""
    return _runs_tests(outcome) or _RESULTS.search(outcome.text) is not None


def _runs_tests(outcome: Observation | None) -> bool:
    """Return whether the code of a run runs tests."""
    return outcome is not None and _RUNS_TESTS.search(as_text(outcome.arguments)) is not None


def _clause(text: str) -> str:
    """Return the last clause begun in a text."""
    return re.split(r"[.!?;:\n]", text)[-1]


def _code(outcome: Observation, given: JsonObject) -> set[str]:
    """Return the names of the files of code written by a call."""
    value: Any = outcome.value if outcome.ok and given.keys() & _TEXTS else None
    files = cast("list[Any]", value) if isinstance(value, list) else [value]
    found = [cast("Mapping[str, Any]", one) for one in files if isinstance(one, Mapping)]
    return {str(one.get("name")) for one in found if one.get("type") == "code"}


def has_failed(outcome: Observation) -> bool:
    """Return whether a run failed: with an error, an exit code, an exception, or failed tests in its output."""
    value: Mapping[str, Any] = cast("Mapping[str, Any]", outcome.value) if isinstance(outcome.value, Mapping) else {}
    if not outcome.ok or "sandbox" not in value:
        return not outcome.ok
    text = str(value.get("text"))
    codes = _CODE_ALONE.findall(text) if any(map(_PRINTS_CODE.search, map(as_text, outcome.arguments.values()))) else []
    return _FAILED.search(text) is not None or (bool(codes) and all(map(int, codes)))


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
