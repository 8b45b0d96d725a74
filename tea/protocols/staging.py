"""Staging: rewritten variables stored as a version without making it current, after the checks free of cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from tea.components.manifest import Lineage, Manifest
from tea.components.variable import Variable
from tea.errors import BadInput
from tea.protocols.manager import ContextManager
from tea.registry.change import change_between
from tea.source.text import text_digest

_GROWTH, _ROOM = 3, 4_000  # a text may grow to this many times its length, or by this many characters
Library = ContextManager


async def stage_version(
    library: Library, before: Manifest, texts: Mapping[str, str], reason: str, lineage: Lineage
) -> Manifest:
    """Store new texts of a version without making them current, or return the version stored for them earlier.

    Args:
        library: That of its kind.
        before: The version to be changed.
        texts: The new texts by variable.
        reason: Why, in one line.
        lineage: Where the texts come from.

    Raises:
        TeaError: They change nothing, break the contract, grow without end, or are not usable as source.
    """
    name, exact = str(before.ref.at(None)), before.ref.at(before.digest)  # no other bytes by its number
    _check_growth(name, texts, await library.vars(exact))
    after = await _stored(library, before, texts) or await library.setvars(
        exact, texts, reason=reason, lineage=lineage, author="evolution", current=False
    )
    if after.version == before.version:
        raise BadInput(f"The proposal for {name} changes nothing.", fix="propose another text.")
    if await asyncio.to_thread(change_between, before, after) == "major":
        problem = f"The proposal for {name} breaks its contract: {after.ref} takes or gives something else."
        raise BadInput(problem, fix="keep parameters, results and effects.")
    return after


async def _stored(library: Library, before: Manifest, texts: Mapping[str, str]) -> Manifest | None:
    """Return the visible version of this account with the bytes made by new texts, None without one."""
    digest = text_digest(await asyncio.to_thread(library.rewritten, before, texts))
    made = [one for one in reversed(await library.history(before.name)) if one.digest == digest]
    return await asyncio.to_thread(lambda: next(filter(library.recorded_here, made), None))


def _check_growth(name: str, texts: Mapping[str, str], variables: Sequence[Variable]) -> None:
    """Raise BadInput for a text much longer than its predecessor."""
    before = {one.name: len(one.value) for one in variables}
    for variable, text in texts.items():
        limit = max(_GROWTH * before.get(variable, 0), before.get(variable, 0) + _ROOM)
        if len(text) > limit:
            problem = f"The proposal makes {variable!r} of {name} {len(text):,} characters long; {limit:,} are allowed."
            raise BadInput(problem, fix="say it in fewer words.")
