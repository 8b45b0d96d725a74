"""Routing: from categories over toolkits to components, to limit detailed scoring to few groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from heapq import nlargest
from typing import TYPE_CHECKING

from tea.registry.row import Row

if TYPE_CHECKING:
    from tea.retrieval.index import Scores

CATEGORIES, TOOLKITS = 3, 6
_SPEAKERS = 3


def routed(listings: Mapping[str, Row], scores: Scores, among: Collection[str] | None = None) -> list[str]:
    """Return the names in the best toolkits of the best categories.

    A group is as good as its three best members are in the middle. What names no group stands beside all of them, so
    nothing is lost for lack of one.

    Args:
        listings: What there is, by name.
        scores: How well each fits.
        among: Only these names; all by default.
    """
    near = _best(listings if among is None else among, lambda name: listings[name].category, scores, CATEGORIES)
    toolkits = {name: (listings[name].category, listings[name].toolkit) for name in near}
    return _best(near, lambda name: toolkits[name] if toolkits[name][1] else "", scores, TOOLKITS)


def _best(names: Iterable[str], group: Callable[[str], Hashable], scores: Scores, most: int) -> list[str]:
    """Return the names in the best groups, and those in none."""
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for name in names:
        groups[group(name)].append(name)
    alone = groups.pop("", [])
    rank = {key: (-_quality(members, scores), str(key)) for key, members in groups.items()}
    return [*alone, *(name for key in sorted(groups, key=rank.__getitem__)[:most] for name in groups[key])]


def _quality(members: Iterable[str], scores: Scores) -> float:
    best = nlargest(_SPEAKERS, map(scores.score, members))
    return sum(best) / len(best)
