"""A research over documentation packages of Debian; run as a program, it dies in a phase."""

import asyncio
import csv
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from research_kit import ANALYZER_STEP, BY_TASKS, DECIDED, Roles, analysis, die, literature, phase_of

from tea.errors import ApprovalNeeded
from tea.platform import Platform
from tea.runs.policy import AllowTrusted

CORPORA = ("/usr/share/doc/sqlite3", "/usr/share/doc/git-doc")  # `make corpora` installs them
PENGUINS = Path(__file__).parents[2] / "examples" / "data" / "penguins.csv"
ABOUT = "What is said and counted?"
QUESTIONS = ("How does strftime give the month of a date?", "What does git bisect do with a script?")
MEANS = """
import csv, os
from collections import defaultdict
from collections.abc import Sequence
found = defaultdict(list)
for row in csv.DictReader(open("penguins.csv")):
    if row["body_mass_g"] not in ("", "NA"):
        found[row["species"]].append(float(row["body_mass_g"]))
for name in sorted(found):
    print(name, round(sum(found[name]) / len(found[name]), 1))
"""


def means() -> dict[str, float]:
    found = defaultdict[str, list[float]](list)
    for row in csv.DictReader(PENGUINS.read_text().splitlines()):
        if row["body_mass_g"] not in ("", "NA"):
            found[row["species"]].append(float(row["body_mass_g"]))
    return {name: round(sum(one) / len(one), 1) for name, one in found.items()}


def analyzed(request: Any, count: int) -> Any:
    """Compute with code, and answer with its output."""
    said = str(request.messages)
    if "STDOUT" not in said:
        calls = [{"name": "shell_python", "arguments": {"code": MEANS}}]
    else:
        printed = said.split("STDOUT:")[1].split("'")[0].replace("\\n", "; ")
        calls = [
            {"name": "done", "arguments": {"answer": f"Mean body mass by species: {printed[:300]}", "evidence": []}}
        ]
    return {**ANALYZER_STEP, "calls": calls}


def replied(request: Any, count: int) -> Any:
    sources = [one.split(" (")[0] for task in request.variables["tasks"] for one in task["sources"]]
    lines = [f"Said there [1]({one})." for one in dict.fromkeys(sources)]
    return {"text": "\n\n".join(["The means are in the data [1](penguins.csv).", *lines[:3]])}


def wanted(request: Any, count: int) -> Any:
    task = str(request.variables["task"])
    return {"kind": "answer", "question": task, "queries": [task], "needs": []}


def judged(request: Any, count: int) -> Any:
    """Quote the longest line of each source, and want no more."""
    claims = [
        {"about": one["url"], "claim": "It is told.", "source": one["number"], "quote": line[:200]}
        for one in request.variables["material"]
        if (line := max(map(str.strip, str(one["text"]).splitlines()), key=len))
    ]
    return {"claims": claims, "verdict": "complete", "conflicts": [], "missing": [], "queries": [], "read": []}


def answered(request: Any, count: int) -> Any:
    numbers = [one["number"] for one in request.variables["evidence"]]
    return {"answer": "It is told there.", "supported": True, "evidence": numbers, "reason": ""}


def further(request: Any, count: int) -> Any:
    """Suggest a second question after the first level, the same in any process."""
    levels = {int(one["id"].split("-")[1]) for one in request.variables["tasks"]}
    return {"objective": "", "tasks": [literature(QUESTIONS[1])] if levels == {0} else []}


def steady() -> Roles:
    """Return a model with answers by the question alone."""
    tasks = [literature(QUESTIONS[0]), analysis("Mean body mass by species?", "penguins.csv")]
    return Roles(
        plan_initial={"objective": "", "tasks": tasks},
        plan_next=further,
        analyzer=analyzed,
        decision={**DECIDED, "go_on": False, "trigger": "low_value"},
        reply=replied,
        researcher=wanted,
        researcher_verdict=judged,
        researcher_answer=answered,
        **BY_TASKS,
    )


def platform_at(home: Path, state: Path) -> Platform:
    return Platform(home, model=steady(), policy=AllowTrusted(), state=state)


async def research(home: Path, state: Path, mode: str, session: str, known: Sequence[str]) -> None:
    """Start or resume a research, and die at the begin of a phase not among the known ones."""

    def watch(event: Any) -> None:
        phase = phase_of(event)
        if phase and phase not in known:
            print(phase, flush=True)
            die()

    async with platform_at(home, state) as tea:
        started = await tea.research.start(ABOUT, mode=mode, files=[PENGUINS], conversation=session)
        try:
            await tea.research.drive(started.run, watch=watch)
        except ApprovalNeeded:  # code that may have run already when the process before died
            (asked,) = (await tea.research.status(session)).questions
            await tea.research.answer(session, "allow", key=asked.key, watch=watch)


if __name__ == "__main__":
    asyncio.run(research(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:]))
