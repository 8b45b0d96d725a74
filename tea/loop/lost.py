"""Lost lines: a file replaced by a small part of it, though its task orders nothing of the kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from tea.loop.naming import without_quotes
from tea.loop.observation import Observation
from tea.loop.written import Functions
from tea.types import JsonValue, as_text

_LINES = re.compile(r"\b(\d{1,9}) lines?; now \d{1,9} bytes?, (\d{1,9}) lines?")
_LEAST, _PART, _REST = 10, 2, 10  # lines of a file, and how many times fewer they are: without and with an order to cut
_LESS = re.compile(  # removal, which mostly leaves a part
    r"\b(?:delet|dedup|drop|duplicat|eras|remov|strik|strip|unique|without|doppelt|entfern|l\u00f6sch|streich|ohne"
    r"|enl[e\u00e8]v|retir|sans|supprim)",
    re.IGNORECASE,
)
_ANEW = re.compile(  # a smaller or another content
    r"\b(?:(?:aggregat|compact|compress|condens|convert|cut|extract|filter|group|merg|minif|overwrit|pivot|reduc|refactor"
    r"|rewrit|sampl|shorten|simplif|shrink|split|summar|trim|truncat|behalt|fass|k\u00fcrz|reduz|vereinfach"
    r"|abr[e\u00e8]g|gard|r\u00e9du|raccourc|r\u00e9sum)\w*"
    r"|(?:all|every|everything) (?:but|except)|(?:clear|empty|start over|vide[rz]?) (?:it|the|\w+\.\w+)|leere "
    r"|(?:first|last|top|erste\w*|letzte\w*|premi\w+) (?:\d+|two|three|five|ten|twenty|zwei|drei|zehn|deux|trois|dix)"
    r"|from scratch|keep(?! (?:all|every\w*|the (?:order|other|rest))\b)|one line|only|shorter|nur|seulement"
    r"|replace (?:it|its|the (?:contents?|file|text|whole)|\w+\.\w+)|(?:at most|over|under) \d+)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")
_LOST = "{name} had {was} lines and has {now} since it was replaced"


def lost(results: Iterable[Observation], functions: Functions, answer: JsonValue, task: str) -> str:
    """Return the problem of a file replaced by less than half of its lines, empty without one.

    Only a file that was there before counts, as it stands after the last call; where the task orders to remove
    something, nearly all its lines have to be gone.

    Args:
        results: What calls gave, in their order.
        functions: Tell which calls wrote a file.
        answer: The answer; one that tells how many lines are left or gone has no such problem.
        task: The task in words.
    """
    plain, found = without_quotes(task), dict[str, tuple[int, int]]()
    if _ANEW.search(plain):
        return ""
    made = set[str]()
    for one in results:
        given = functions.written_by(one) if one.ok and one.made and not one.repeated else None
        name = None if given is None else given.get("name")
        if given is None or not isinstance(name, str):
            continue
        value: Mapping[str, Any] = cast("Mapping[str, Any]", one.value) if isinstance(one.value, Mapping) else {}
        lines = _LINES.search(str(value.get("was", "")))
        if lines is not None and name not in made:
            found[name] = (found.get(name, (int(lines[1]), 0))[0], int(lines[2]))
        elif name in found:
            was, now = found[name]
            found[name] = (was, now + as_text(given.get("text") or given.get("new") or "").count("\n") + 1)
        elif "text" in given and "was" not in value:
            made.add(name)
    told, part = set(map(int, _NUMBER.findall(as_text(answer)))), _REST if _LESS.search(plain) else _PART
    for name, (was, now) in found.items():
        if was >= _LEAST and part * now < was and not told & {now, now - 1, was - now}:
            return _LOST.format(name=name, was=was, now=now)
    return ""
