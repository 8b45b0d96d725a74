"""Revision: the version of the rules for replaying a journal."""

from __future__ import annotations

from tea.characters import in_sentence
from tea.errors import Diverged
from tea.types import JsonObject

# Raise it by hand when the loop, the keys or anything else changes what a run records, so that the journals written
# before are refused in one line instead of diverging somewhere; then write its fixture: python tests/cli/homes.py.
REVISION = 16
_UNSAID = 1  # journals from before there was a revision


def check_revision(run: str, header: JsonObject) -> None:
    """Raise Diverged if a journal was written by another revision, before its agents run again.

    Args:
        run: Id of the run.
        header: What its first record holds.

    Raises:
        Diverged: It is of another revision than `REVISION`.
    """
    revision = header.get("revision", _UNSAID)
    if revision != REVISION:
        told = in_sentence(str(revision)[:20])
        problem = f"The run {run} was recorded under revision {told} of tea's loop; this is {REVISION}."
        fix = f"look at it with `tea trace {run}`, and run its task again, or use the tea that recorded it."
        raise Diverged(problem, fix=fix)
