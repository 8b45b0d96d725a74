"""Patterns of fields: the work of compiling one, found without compiling it.

Pydantic's own engine writes out each repetition, and each set of letters of all languages takes it kilobytes.
"""

from __future__ import annotations

import math
import re

_SIGN, _SETS = 20.0, dict.fromkeys("dDsS", 800.0) | dict.fromkeys("pPwW", 4_000.0)  # what signs and sets weigh
_SET = re.compile(rf"\\([{''.join(_SETS)}])")
_VERBOSE = re.compile(r"\(\?[a-zA-Z-]*x")  # in such patterns blanks and comments may stand within a repetition
_REPEATED = re.compile(r"(.?)\{\s*(\d*)\s*,?\s*(\d*)\s*\}", re.DOTALL)
_BEHIND = frozenset(["", *")}?*+ \t\n\r"])  # signs before a repetition of several; none after another repetition


def pattern_weight(pattern: str) -> float:
    """Return an upper bound of a compiled pattern's size; infinite if it is unknown."""
    if _VERBOSE.search(pattern):
        return math.inf
    single, whole = 1.0, 1.0
    for before, least, most in _REPEATED.findall(pattern):
        times = max(1.0, *(float(one) for one in (least, most) if one))
        if before in _BEHIND:
            whole *= times
        else:
            single += times
    return (_SIGN * len(pattern) + sum(map(_SETS.__getitem__, _SET.findall(pattern)))) * single * whole
