"""The words of a conversation: the addressed agents, the solution in an answer, and the folded history."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Container, Sequence
from difflib import get_close_matches

from tea.errors import UnknownComponent
from tea.journal.header import PERSON
from tea.types import JsonValue, Said

FOLD_AT = 30_000  # characters of a history that is passed on whole
KEPT = 4  # latest exchanges that stay whole when it folds
MOST_SAID = 6_000  # characters of one contribution among those
MOST_FOLDED = 200  # of one before those
LEFT_OUT = "earlier contributions are left out"
MOST_NAMED = 8  # agents in place of one that is not there
_NEAR = 0.5  # likeness of names
_MENTION = re.compile(r"(?<![\w@.])@([A-Za-z][\w-]{0,63})")
_JOINED = re.compile(r"\s*(?:,|&|\+|and\b|or\b|und\b|et\b|y\b)?\s*(?:and\b)?\s*(?=@)")
_SOLUTION = re.compile(r"<solution>(.*?)</solution>", re.DOTALL | re.IGNORECASE)


def addressed(line: str, agents: Container[str]) -> tuple[str | None, str]:
    """Return the agent addressed by `@name` in a line, and the line without a leading mention.

    A mention at the beginning counts, else the only known agent within the line, in any case and with `-` for `_`;
    several of them, within a line or together at its beginning, are words about these agents, for whoever is spoken to.

    Args:
        line: The words of a person.
        agents: The names of agents.
    """
    known = _known(line, agents)
    first = next(iter(known), None)
    if first is not None and not line[: first.start()].strip() and len(_leading(line, known)) == 1:
        return _name(first), line[first.end() :].lstrip(" \t,:")
    names = {_name(one) for one in known}
    return (names.pop() if len(names) == 1 else None), line


def named_together(line: str, agents: Container[str]) -> list[str]:
    """Return the names of several known agents in a line addressed to none of them; none for other lines."""
    names = list(dict.fromkeys(_name(one) for one in _known(line, agents)))
    return names if len(names) > 1 and addressed(line, agents)[0] is None else []


def _known(line: str, agents: Container[str]) -> list[re.Match[str]]:
    """Return the mentions of known agents."""
    return [one for one in _MENTION.finditer(line) if _name(one) in agents]


def _name(mention: re.Match[str]) -> str:
    return mention[1].lower().replace("-", "_")


def _leading(line: str, known: Sequence[re.Match[str]]) -> set[str]:
    """Return the names of the agents at the beginning of a line, joined by a comma or an `and` alone."""
    names: set[str] = set()
    end = known[0].start()
    for one in known:
        joined = _JOINED.match(line, end)
        if names and (joined is None or joined.end() != one.start()):
            break
        names.add(_name(one))
        end = one.end()
    return names


def require_addressee(line: str, agents: Container[str], offered: Collection[str]) -> None:
    """Refuse a line addressed to an unknown agent, unless it mentions a known one.

    Args:
        line: The words of a person.
        agents: The names of agents.
        offered: Those to name in place of one that is not there.

    Raises:
        UnknownComponent: It does; the fix names the nearest agents.
    """
    found = _MENTION.match(line.lstrip())
    if found is None or _known(line, agents):
        return
    near = get_close_matches(_name(found), sorted(offered), MOST_NAMED, _NEAR)
    named = ", ".join(f"@{one}" for one in near)
    fix = f"did you mean {named}?" if near else "`/agents` lists them; without the @ the words go to the present one."
    raise UnknownComponent(f"There is no agent @{found[1]}.", fix=fix)


def unknown_mentions(line: str, agents: Container[str]) -> list[str]:
    """Return the mentioned names without an agent, except for the one at the beginning of the line."""
    line = line.lstrip()
    names = [found[1] for found in _MENTION.finditer(line) if found.start()]
    return [name for name in names if name.lower().replace("-", "_") not in agents]


def solution(answer: JsonValue) -> JsonValue:
    """Return the text of the last `<solution>` in an answer, the whole answer if it has none."""
    found = _SOLUTION.findall(answer) if isinstance(answer, str) else []
    return found[-1].strip(" \t\n") if found else answer


def text_of(answer: JsonValue) -> str:
    """Return an answer as text, JSON for everything but text."""
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def folded(history: Sequence[Said]) -> tuple[Said, ...]:
    """Return a history within 30,000 characters: a longer one with its latest exchanges, and the rest as single lines.

    Folding is done without a model, so that it costs nothing and a replay gives the same.
    """
    if _size(history) <= FOLD_AT:
        return tuple(history)
    asked = [place for place, one in enumerate(history) if one.who == PERSON]
    begin = asked[-KEPT] if len(asked) >= KEPT else 0
    late = [Said(who=one.who, text=_cut(one.text, MOST_SAID)) for one in history[begin:]]
    late = (
        late if _size(late) <= FOLD_AT else [Said(who=one.who, text=_brief(one.text)) for one in late[:-2]] + late[-2:]
    )
    early = [Said(who=one.who, text=_brief(one.text)) for one in history[:begin]]
    room, first = FOLD_AT - _size(late), len(early)
    while first and room >= len(early[first - 1].text):
        room -= len(early[first - 1].text)
        first -= 1
    note = (Said(text=f"{first} {LEFT_OUT}"),) if first else ()
    return (*note, *early[first:], *late)


def _size(history: Sequence[Said]) -> int:
    return sum(len(one.text) for one in history)


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_FOLDED else f"{line[: MOST_FOLDED - 3]}..."


def _cut(text: str, most: int) -> str:
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} [... {len(text) - 2 * half:,} characters ...] {text[-half:]}"
