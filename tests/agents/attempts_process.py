"""A process with several attempts or a debate until SIGKILL after so many records: HOME MODE RECORDS."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from attempts_kit import TASK, Cast, answered, expert, invitation, shown, statement, verdict

from tea.platform import Platform
from tea.runs.outcome import Outcome


def planned(request: Any) -> Any:
    """Answer by the known facts, so a process resuming the run says the same."""
    return answered("Oslo" if "Attempt 1" in shown(request) else "Rome", 40)


def judged(request: Any) -> Any:
    more = {"answer": "Hold"} if request.variables.get("form") else {}
    return verdict(1, **more)


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[Platform]:
    """Open a platform with a model without memory."""
    model = Cast(
        planner=planned,
        judge=judged,
        debate_invitation=invitation(expert("Ann"), expert("Bob")),
        debate_statement=lambda request: statement(f"{request.variables['name']} says so"),  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType]
    )
    async with Platform(home, state=home / "state", model=model) as tea:
        yield tea


async def begin(tea: Platform, mode: str) -> Outcome:
    """Begin the work."""
    if mode == "debate":
        return await tea.run(TASK, agent="debate")
    return await tea.run(TASK, attempts=3, successive=mode == "successive")


async def main(home: Path, mode: str, records: int) -> None:
    """Do it."""
    from killable import die_after

    async with opened(home) as tea:
        die_after(records, 0.0)
        await begin(tea, mode)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
