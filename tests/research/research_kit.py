"""A scripted world for research: a model for each role by rule, and a stand-in for the researcher.

Programs of tests die in a phase, and other processes resume their runs.
"""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from tea.models.manager import CallTool, ModelConfig
from tea.models.scripted import Reply, response_of
from tea.types import ModelRequest, ModelResponse

CITIES = "city,people\nOslo,700000\nBergen,290000\nRome,2800000\n"
RESEARCHER = '''
from tea import Agent, Context, Evidence, Result, Task


class Researcher(Agent):
    """Find what publications say."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Answer at once."""
        if "fails" in task.text:
            return Result(ok=False, reason="nothing was found")
        source = Evidence(source="https://example.org/growth", quote="Cities grow by 3 percent.")
        return Result(answer=f"On {task.text}: cities grow by 3 percent.", evidence=(source,))
'''

KILLED = -9
STAMPS = ("start", "end", "time", "ended", "run", "id", "job", "jobs", "report", "message", "finished")
ANALYZER_STEP = {"thinking": "", "evaluation": "", "memory": "", "next_goal": ""}
DECIDED = {"go_on": True, "confidence": "high", "reasoning": "It follows.", "trigger": ""}


def literature(objective: str = "How do cities grow?") -> dict[str, Any]:
    return {"type": "LITERATURE", "objective": objective, "datasets": []}


def analysis(objective: str = "Count the cities.", *datasets: str) -> dict[str, Any]:
    return {"type": "ANALYSIS", "objective": objective, "datasets": list(datasets)}


class Roles:
    """A model answering each prompt by its role; `plays` replaces answers, as values or functions of a count."""

    def __init__(self, **plays: Any) -> None:
        self.plays = plays
        self.counts: Counter[str] = Counter()
        self.requests: list[ModelRequest] = []

    def asked(self, role: str) -> list[ModelRequest]:
        return [one for one in self.requests if name_of(one) == f"research_{role}"]

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        self.requests.append(request)
        name = name_of(request).removeprefix("research_")
        if name == "plan":
            name = f"plan_{request.variables['stage']}"
        self.counts[name] += 1
        made = self.plays.get(name, USUAL.get(name))
        if callable(made):
            made = made(request, self.counts[name])
        if isinstance(made, Awaitable):
            made = await made
        if isinstance(made, Exception):
            raise made
        assert made is not None, name
        return response_of(made, config.name)


def name_of(request: ModelRequest) -> str:
    return str(request.prompt).removeprefix("prompt:").partition("@")[0]


def _analyzed(request: ModelRequest, count: int) -> Reply:
    calls = [{"name": "done", "arguments": {"answer": "There are 3 cities.", "evidence": []}}]
    return {**ANALYZER_STEP, "calls": calls}


def _reflected(request: ModelRequest, count: int) -> Reply:
    return {
        "title": "Growth of cities",
        "evolving_objective": f"Why cities grow, {count}",
        "current_objective": f"Look at {count}",
        "insights": [f"insight {number}" for number in range(1, count + 1)],
        "methodology": "Reading and counting.",
    }


def _discovered(request: ModelRequest, count: int) -> Reply:
    tasks = [one["id"] for one in request.variables["tasks"]]
    evidence = [{"task": one, "explanation": "it says so"} for one in [*tasks, "lit-9-9"]]
    one = {"claim": f"Claim {count}", "evidence": evidence, "novelty": "new", "confidence": "low", "replaces": 0}
    nowhere = {**one, "claim": "Nowhere", "evidence": [{"task": "ana-7-7", "explanation": "made up"}]}
    return {"discoveries": [one, nowhere]}


USUAL: Mapping[str, Reply | Callable[[ModelRequest, int], Reply]] = {
    "datasets": {"descriptions": [{"name": "cities.csv", "description": "Three cities with their people."}]},
    "questions": {"questions": ["Which period?"]},
    "plan_initial": {"objective": "Begin", "tasks": [literature()]},
    "plan_next": lambda request, count: {"objective": f"Next {count}", "tasks": [literature(f"Question {count}")]},
    "plan_approval": {"objective": "The refined question", "tasks": [literature("Approved question")]},
    "analyzer": _analyzed,
    "hypothesis": lambda request, count: {"hypothesis": f"Hypothesis {count}"},
    "reflection": _reflected,
    "discovery": _discovered,
    "decision": DECIDED,
    "reply": lambda request, count: {"text": f"Reply {count}: they grow [1](https://example.org/growth)."},
}


def named(kind: str) -> Callable[[Any, int], Reply]:
    """A role with one field: the ids of the tasks it is shown."""
    return lambda request, count: {kind: _ids(request)}


def reflected(request: Any, count: int) -> Reply:
    words = _ids(request)
    names = ("title", "evolving_objective", "current_objective", "methodology")
    return {**dict.fromkeys(names, words), "insights": [words]}


def discovered(request: Any, count: int) -> Reply:
    """A discovery by all tasks shown."""
    evidence = [{"task": one["id"], "explanation": ""} for one in request.variables["tasks"]]
    one = {"claim": _ids(request), "evidence": evidence, "novelty": "", "confidence": "low", "replaces": 0}
    return {"discoveries": [one]}


def _ids(request: Any) -> str:
    return " ".join(one["id"] for one in request.variables["tasks"])


# Answers by the question alone, the same in any process.
BY_TASKS: Mapping[str, Any] = {"hypothesis": named("hypothesis"), "reflection": reflected, "discovery": discovered}


def phase_of(event: Any) -> str:
    """The phase of the cycle named by an event, empty for none; the researcher tells of its rounds, too."""
    told = event.kind == "note" and event.data["kind"] == "research"
    return str(event.data["data"].get("phase", "")) if told else ""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def ran(program: str, *words: str) -> tuple[bool, str]:
    """Whether a program beside this file was killed, and its output."""
    line = [sys.executable, str(Path(__file__).with_name(program)), *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode in (0, KILLED), done.stderr
    return done.returncode == KILLED, done.stdout.strip()


def without_stamps(value: Any) -> Any:
    """A state without times and ids, different from run to run."""
    if isinstance(value, Mapping):
        return {name: without_stamps(one) for name, one in value.items() if name not in STAMPS}
    return [without_stamps(one) for one in value] if isinstance(value, list) else value
