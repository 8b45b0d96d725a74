"""Prose as an answer: a hypothesis, or descriptions of datasets, in sentences instead of JSON."""

import re
from collections.abc import Callable, Sequence

LEAST_WORDS = 6
MOST_PROSE, MOST_DESCRIPTION = 4_000, 1_500

_LABEL = re.compile(r"\W*(?:hypothes[ie]s|hypothese|hypoth\u00e8se)\W*:\W*", re.IGNORECASE)
_NONE = re.compile(
    r"\W*(?:sorry|unfortunately|let me|here (?:is|are)|nothing|no \w+|there (?:is|are) no"
    r"|(?:i|we) (?:can|could|do|did|need|will|would|am|are|have|lack|must)\w*)\b",
    re.IGNORECASE,
)
_FORM = re.compile(r"[{}\[]\s*\"|```")


def in_sentences(text: str) -> str | None:
    """Return a claim in sentences without its label; None for JSON, a few words, or an excuse."""
    said = _LABEL.sub("", text.strip(), count=1) if _LABEL.match(text.strip()) else text.strip()
    if _FORM.search(said) or _NONE.match(said) or not LEAST_WORDS <= len(said.split()) <= MOST_PROSE:
        return None
    return said[:MOST_PROSE]


def described_in(names: Sequence[str]) -> Callable[[str], list[dict[str, str]] | None]:
    """Return the reading of descriptions in sentences: one for a single dataset, else a paragraph for each name."""

    def read(text: str) -> list[dict[str, str]] | None:
        said = in_sentences(text)
        if said is None:
            return None
        if len(names) == 1:
            return [{"name": names[0], "description": said[:MOST_DESCRIPTION]}]
        found = list[dict[str, str]]()
        for line in filter(None, map(str.strip, said.splitlines())):
            named = [one for one in names if one in line]
            if len(named) == 1:
                found.append({"name": named[0], "description": line.lstrip("-*#` ")[:MOST_DESCRIPTION]})
        return found if len({one["name"] for one in found}) == len(names) else None

    return read
