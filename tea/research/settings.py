"""Settings: the operator's settings of Deep Research, in `[research]` of `tea.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, Self

from tea.errors import BadInput

MODES = ("steering", "semi", "full")
_MOST_ITERATIONS = 1_000
_MOST_HOURS = 24.0 * 365


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchSettings:
    """The limits of research.

    Args:
        steering: Most iterations of a run in the mode `steering`.
        semi: Most iterations of a run in the mode `semi`.
        full: Most iterations of a run in the mode `full`.
        stale: Hours without a record after which a run is given up, so that another may start.
        hours: Hours after which a run is past its end, and given up likewise.
        wait: Seconds to wait for others that start in the same conversation.
    """

    steering: int = 1
    semi: int = 5
    full: int = 20
    stale: float = 4.0
    hours: float = 72.0
    wait: float = 15.0

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Return the settings of a document.

        Raises:
            BadInput: A key is not a setting, or its value does not fit.
        """
        known = {one.name: one.type for one in fields(cls)}
        for key, value in document.items():
            if key not in known:
                near = get_close_matches(key, known, n=1)
                fix = f"did you mean {near[0]!r}?" if near else f"settings are {', '.join(known)}."
                raise BadInput(f"[research] has an unknown setting {key[:60]!r}.", fix=fix)
            whole = key in MODES
            most = _MOST_ITERATIONS if whole else _MOST_HOURS
            fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
            if not fits or not 0 < value <= most:
                kind = "a whole number" if whole else "a number"
                problem = f"{key!r} in [research] is not {kind} above 0 and up to {most:g}."
                raise BadInput(problem, fix="correct it.")
        return cls(**document)

    @property
    def limits(self) -> dict[str, int]:
        """Most iterations, by mode."""
        return {"steering": self.steering, "semi": self.semi, "full": self.full}
