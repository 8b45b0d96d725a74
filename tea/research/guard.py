"""Guard: at most one active run of research in a conversation, across all processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tea.errors import Conflict
from tea.journal.history import GIVEN_UP
from tea.journal.tracer import Tracer
from tea.research.conversation import STALE, Reading
from tea.research.settings import ResearchSettings
from tea.store.turn import claim

_PAUSE = 0.02  # seconds between two looks whether it is our turn


@asynccontextmanager
async def turn(folder: Path, session: str, seconds: float) -> AsyncGenerator[None]:
    """Hold the turn of a conversation among all processes.

    Args:
        folder: Where the turns are kept.
        session: The conversation.
        seconds: How long to wait for others.

    Raises:
        Conflict: Others had it all that time.
    """
    give_back = None
    deadline = asyncio.get_running_loop().time() + seconds
    while give_back is None:
        give_back = claim(folder / f"{session}.lock")
        if give_back is None:
            if asyncio.get_running_loop().time() > deadline:
                problem = f"The conversation {session} is being started by others for {seconds:g} seconds."
                raise Conflict(problem, fix="try again.")
            await asyncio.sleep(_PAUSE)
    try:
        yield
    finally:
        give_back()


def stale(run: Reading, settings: ResearchSettings, now: datetime) -> str:
    """Return the reason to give up a run at work, empty for none; one waiting for a person never is given up.

    The time of a wait that is over does not count either.

    Args:
        run: The run.
        settings: After how many hours.
        now: The time, with its zone.
    """
    if run.status == "waiting" or not run.active:
        return ""
    last, begun = (datetime.fromisoformat(one) for one in (run.last, run.head.time))
    if now - last >= timedelta(hours=settings.stale):
        return f"it wrote no record for {settings.stale:g} hours"
    if now - begun - timedelta(seconds=run.waited) >= timedelta(hours=settings.hours):
        return f"it is past its end of {settings.hours:g} hours"
    return ""


def give_up(tracer: Tracer, run: str, why: str) -> None:
    """End a stale run under a new epoch, so its former holder writes nothing any more.

    Raises:
        Conflict: Another process took it up at this moment.
    """
    if tracer.store.held(run):
        tracer.store.fence(run)
    trace = tracer.reopen(run)
    try:
        end: dict[str, Any] = {
            "status": "failed",
            "answer": "",
            "reason": f"{STALE}: {why}",
            "evidence": [],
            "cost": {},
            "error": None,
            GIVEN_UP: True,
        }
        trace.append("end", "", end)
    finally:
        trace.close()
