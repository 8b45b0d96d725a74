"""Content: the allowed paths and requirements of a component, each on one line and readable in one way only."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tea.characters import is_hidden

_LONGEST_PATH, _LONGEST_REQUIREMENT = 1_000, 200
_BLANKS = re.compile(r"(?! )\s|  |^ | $| /|/ ")
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_VERSION = r" ?(?:===?|[<>~!]=|[<>]) ?[A-Za-z0-9.*+!_-]+"
_MARKER = r" ?; ?[A-Za-z0-9._'\"<>=!~() +-]+"  # no comma: a list of requirements is shown with commas between them
_REQUIREMENT = re.compile(
    rf"{_NAME}(?:\[{_NAME}(?:, ?{_NAME})*\])?(?:{_VERSION}(?:,{_VERSION})*| @ [!-+\--~]+)?(?:{_MARKER})?"
)


def is_path(path: str) -> bool:
    """Return whether a text is a relative path inside a component, without hidden characters or odd blanks."""
    if len(path) > _LONGEST_PATH or _BLANKS.search(path) or any(map(is_hidden, path)):
        return False
    return not {"", ".", ".."} & set(path.split("/"))


def is_requirement(text: str) -> bool:
    """Return whether a text names one distribution, perhaps with extras, versions or an address, and a marker."""
    return len(text) <= _LONGEST_REQUIREMENT and _REQUIREMENT.fullmatch(text) is not None


def content_fault(files: Iterable[str], requires: Iterable[str]) -> str:
    """Return the first fault among paths and requirements, in ASCII and on one line; empty if there is none.

    Args:
        files: Paths of further files.
        requires: Distributions.
    """
    for path in files:
        if not is_path(path):
            return f"{path[:60]!a} is not a path for a component's file"
    for one in requires:
        if not is_requirement(one):
            return f"{one[:60]!a} is not a requirement"
    return ""
