"""Robots: the paths a site's `robots.txt` permits to an agent (RFC 9309)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from urllib.parse import quote, unquote

MOST_BYTES = 512_000

_Rule = tuple[str, str]
_MOST_RULES = 20_000


def may_fetch(robots: str, agent: str, path: str) -> bool:
    """Return whether a `robots.txt` permits an agent to fetch a path.

    Args:
        robots: The file's text.
        agent: The agent's product token, for example `tea-protocol`.
        path: Path and query of the page.
    """
    groups = list(_groups(robots))
    token = agent.lower()
    own = [rule for agents, rules in groups if token in agents for rule in rules]
    if not any(token in agents for agents, _ in groups):
        own = [rule for agents, rules in groups if "*" in agents for rule in rules]
    wanted, best = _normal(path), (-1, True)
    for name, pattern in own[:_MOST_RULES]:
        if pattern and _matches(_normal(pattern), wanted):
            best = max(best, (len(pattern), name == "allow"))
    return best[1]


def _groups(robots: str) -> Iterator[tuple[set[str], list[_Rule]]]:
    """Yield the groups of a file: their agents, in small letters, and their rules."""
    agents = set[str]()
    for names_agents, lines in groupby(_lines(robots), key=lambda line: line[0] == "user-agent"):
        if names_agents:
            agents = {value.lower().partition("/")[0].strip() for _, value in lines}
            yield agents, []  # so that an agent without rules is known
        else:
            yield agents, list(lines)


def _lines(robots: str) -> Iterable[_Rule]:
    """Yield a file's directives on agents and paths, line by line."""
    for line in robots.lstrip("\ufeff").splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        if colon and (known := name.strip().lower()) in ("user-agent", "allow", "disallow"):
            yield known, value.strip()


def _normal(path: str) -> str:
    """Return a path in one spelling of its percent-encoding."""
    return quote(unquote(path, errors="surrogateescape"), safe="/*$?&=:@!+,;~()'", errors="surrogateescape")


def _matches(pattern: str, path: str) -> bool:
    """Return whether a path matches a pattern from its start, with `*` for any text and a last `$` for the end."""
    ends = pattern.endswith("$")
    first, *parts = re.split(r"\*+", pattern[:-1] if ends else pattern)
    if not path.startswith(first):
        return False
    at = len(first)
    for number, part in enumerate(parts):
        if ends and number == len(parts) - 1:
            return path.endswith(part) and len(path) - len(part) >= at
        at = path.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return not ends or at == len(path)
