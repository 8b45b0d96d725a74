"""A scripted research in each mode over documentation packages of Debian, with a real analysis of a real table."""

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from research_kit import ANALYZER_STEP, Roles, analysis, literature

from tea.journal.compare import compare
from tea.testing import platform

CORPORA = ("/usr/share/doc/sqlite3", "/usr/share/doc/git-doc")  # `make corpora` installs them
PENGUINS = Path(__file__).parents[2] / "examples" / "data" / "penguins.csv"
QUESTIONS = ("How does strftime give the month of a date?", "What does git bisect do with a script?")
MEANS = """
import csv, os
from collections import defaultdict
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
    """Compute with code, and answer with what it printed."""
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


@pytest.mark.slow
async def test_each_mode_reads_the_documentation_and_computes_from_the_table() -> None:
    assert all(Path(one).is_dir() for one in CORPORA), "run `make corpora`"
    tasks = [literature(QUESTIONS[0]), analysis("Mean body mass by species?", "penguins.csv")]
    further = {"objective": "", "tasks": [literature(QUESTIONS[1])]}
    roles = Roles(
        plan_initial={"objective": "", "tasks": tasks},
        plan_next=lambda request, count: further if count == 1 else {"objective": "", "tasks": []},
        analyzer=analyzed,
        reply=replied,
        researcher=wanted,
        researcher_verdict=judged,
        researcher_answer=answered,
    )
    async with platform(model=roles) as tea:
        tea.home.mkdir()
        for one in CORPORA:
            await tea.corpus.add(one)
        ended = {}
        for mode, iterations in (("steering", 1), ("semi", 2), ("full", 2)):
            roles.counts.clear()
            status = await tea.research.run("What is said and counted?", mode=mode, files=[PENGUINS])
            assert (status.status, status.error, status.iteration) == ("completed", "", iterations)
            plan = status.state["plan"]
            assert any(one["source"].endswith("lang_datefunc.html") for one in plan["lit-0-1"]["sources"])
            for name, mean in means().items():
                assert f"{name} {mean}" in plan["ana-0-1"]["output"]
            if iterations > 1:
                assert any("bisect" in one["source"] for one in plan["lit-1-1"]["sources"])
            assert (await tea.replay(status.run)).ok
            assert "lang_datefunc.html" in status.state["messages"][1]["text"]
            ended[mode] = status
        branch = await tea.research.branch(ended["full"].conversation, 2)
        roles.counts.clear()
        other = await tea.research.run("Go on.", mode="steering", conversation=branch.conversation)
        assert other.state["plan"]["ana-0-1"] == ended["full"].state["plan"]["ana-0-1"]
        runs = [list(tea.tracer.records(one)) for one in (ended["full"].run, ended["semi"].run)]
        found = compare(*runs)
        assert not found.same
        assert found.first is not None
