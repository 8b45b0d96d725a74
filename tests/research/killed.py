"""A program doing research until SIGKILL in a phase; `python killed.py HOME STATE PHASE TIMES`."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from research_kit import BY_TASKS, CITIES, DECIDED, RESEARCHER, Roles, analysis, die, literature, named, phase_of

from tea.platform import Platform
from tea.runs.policy import AllowTrusted

SESSION = "killed"


def steady(verdict: Any = None) -> Roles:
    """Return a model answering from the question alone, so any process gets the same answers.

    `verdict` is its answer to the question whether to go on.
    """

    def further(request: Any, count: int) -> Any:
        levels = [int(one["id"].split("-")[1]) for one in request.variables["tasks"]]
        tasks = [literature("More"), analysis("Count again", "cities.csv")] if max(levels) < 2 else []
        return {"objective": f"After {max(levels)}", "tasks": tasks}

    return Roles(
        plan_initial={"objective": "o", "tasks": [literature("a"), analysis("Count", "cities.csv")]},
        plan_next=further,
        reply=named("text"),
        decision=verdict or DECIDED,
        **BY_TASKS,
    )


async def research(home: Path, state: Path, phase: str, times: int, verdict: str = "") -> None:
    """Research in the mode `semi`, and die when a phase begins for the given time."""
    (home / "cities.csv").write_text(CITIES)
    seen = 0

    def watch(event: Any) -> None:
        nonlocal seen
        if phase_of(event) == phase:
            seen += 1
            if seen == times:
                die()

    async with Platform(home, model=steady(verdict), policy=AllowTrusted(), state=state) as tea:
        await tea.acp.register(RESEARCHER)
        await tea.research.run(
            "Why do cities grow?", mode="semi", files=[home / "cities.csv"], conversation=SESSION, watch=watch
        )


if __name__ == "__main__":
    asyncio.run(research(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), *sys.argv[5:]))
