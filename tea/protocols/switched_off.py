"""SwitchedOff: the names switched off by a task, checked against the registered components."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from tea.errors import UnknownComponent
from tea.journal.header import OFFERED
from tea.protocols.lock import lock_current

if TYPE_CHECKING:
    from tea.protocols.lock import Libraries


async def check_switched_off(libraries: Libraries, names: Sequence[str]) -> None:
    """Check each name for an agent, tool or environment, as a misspelt one would switch nothing off.

    Args:
        libraries: The managers of each kind.
        names: `name` or `kind:name`.

    Raises:
        UnknownComponent: There is no component of that name.
    """
    if not names:
        return
    whole = [one for one in (await lock_current(libraries)).use if one.partition(":")[0] in OFFERED]
    known = {*whole, *(one.partition(":")[2] for one in whole)}
    for name in names:
        if name not in known:
            near = get_close_matches(name, sorted(known), n=1)
            fix = f"did you mean {near[0]!r}?" if near else "`tea list` shows what there is."
            raise UnknownComponent(f"No agent, tool or environment is named {name[:80]!r}.", fix=fix)
