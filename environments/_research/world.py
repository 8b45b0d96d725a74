"""The world of a conversation: all knowledge of its research, as JSON, and its numbered changes."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from tea import ToolError, merge_patch, named_file

MODES = ("steering", "semi", "full")
LIMITS: Mapping[str, int] = {"steering": 1, "semi": 5, "full": 20}
KINDS: Mapping[str, str] = {"LITERATURE": "lit", "ANALYSIS": "ana"}
MOST_OUTPUT = 12_000  # characters of a task's output
MOST_SOURCES = 60
_ID = re.compile(r"\b(?:lit|ana)-\d+-\d+\b")
PENDING, COMPLETED, FAILED = "pending", "completed", "failed"


class Change(TypedDict):
    """A change: its number, and a patch of the world; objects in it join and everything else replaces."""

    number: int
    patch: dict[str, Any]


def empty() -> dict[str, Any]:
    """Return a world without any knowledge."""
    return {
        "number": 0,
        "run": "",
        "title": "",
        "mode": "semi",
        "limits": dict(LIMITS),
        "objective": "",
        "evolving_objective": "",
        "current_objective": "",
        "hypothesis": "",
        "insights": [],
        "discoveries": [],
        "considered": -1,
        "methodology": "",
        "plan": {},
        "level": -1,
        "suggestions": [],
        "datasets": {},
        "clarification": {},
        "messages": [],
        "decision": {},
        "warnings": [],
        "branch": "",
        "finished": "",
    }


class World:
    """A world changed by numbered patches."""

    def __init__(self) -> None:
        self.state = empty()

    def load(self, state: Mapping[str, Any]) -> None:
        """Replace the world."""
        self.state = {**empty(), **state}

    def write(self, **patch: Any) -> Change:
        """Change fields, and return the change with its number."""
        number = self.state["number"] + 1
        whole = {**patch, "number": number}
        self.state = merge_patch(self.state, whole)
        return Change(number=number, patch=whole)

    def same(self) -> Change:
        """Return the change without effect, for repeated actions."""
        return Change(number=self.state["number"], patch={})

    def require(self, run: str) -> None:
        """Refuse writes of any run but the active one.

        Raises:
            ToolError: Another run is.
        """
        if not self.state["run"] or run != self.state["run"]:
            at_work = self.state["run"] or "none"
            raise ToolError(f"The run {run[:64]!r} is not at work here; {at_work} is.", fix="begin a run first.")

    def task(self, id: str) -> dict[str, Any]:
        """Return a task of the plan.

        Raises:
            ToolError: There is none.
        """
        found = self.state["plan"].get(id)
        if found is None:
            raise ToolError(f"There is no task {id[:40]!r} in the plan.", fix="name one by its id.")
        return found

    def resting(self, insights: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return insights without the ids of tasks without findings, and those resting on no other task."""
        kept, lost = list[str](), list[str]()
        for insight in insights:
            ids = _ID.findall(insight)
            unknown = [one for one in ids if not self.with_outputs([one])]
            if ids and len(unknown) == len(ids):
                lost.append(insight)
                continue
            for one in unknown:
                insight = re.sub(rf"(?:[,;]\s*)?\b{one}\b", "", insight)
            kept.append(re.sub(r"\(\s*[,;]\s*", "(", insight))
        return kept, lost

    def with_outputs(self, ids: Sequence[str]) -> list[str]:
        """Return the given ids of tasks with an output."""
        plan = self.state["plan"]
        return list(dict.fromkeys(one for one in ids if one in plan and plan[one]["output"]))

    def new_level(self, tasks: Sequence[Mapping[str, Any]]) -> tuple[int, dict[str, dict[str, Any]]]:
        """Return the next level, and tasks with their ids in it; unknown datasets are left out.

        An analysis without datasets has those named in its objective, else all. One of unknown datasets alone has its
        error from the beginning.
        """
        level = max((one["level"] for one in self.state["plan"].values()), default=-1) + 1
        counts, made = dict.fromkeys(KINDS, 0), dict[str, dict[str, Any]]()
        for one in tasks:
            kind = str(one.get("type", "")).upper()
            if kind not in KINDS:
                raise ToolError(f"{kind[:40]!r} is not a type of task.", fix=f"use {' or '.join(KINDS)}.")
            counts[kind] += 1
            id = f"{KINDS[kind]}-{level}-{counts[kind]}"
            given = [str(name) for name in one.get("datasets", ())]
            names = [known for name in given if (known := self.dataset(name))]
            lacks = kind == "ANALYSIS" and given and not names
            if kind == "ANALYSIS" and not given:
                there = [str(name) for name in self.state["datasets"]]
                names = [name for name in there if name in str(one.get("objective", ""))] or there
            made[id] = {
                "id": id,
                "type": kind,
                "objective": str(one.get("objective", "")).strip(),
                "datasets": list(dict.fromkeys(names)),
                "level": level,
                "start": "",
                "end": "",
                "output": "",
                "error": f"There is no dataset {', '.join(given)[:200]}." if lacks else "",
                "sources": [],
                "artifacts": [],
                "job": "",
            }
        return level, made

    def dataset(self, name: str) -> str:
        """Return the dataset meant by a name, also without its folder, its ending or its case; else empty."""
        return named_file(name, self.state["datasets"])

    def missing(self, tasks: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return a warning for each unknown dataset named by tasks."""
        names = [str(name) for one in tasks for name in one.get("datasets", ())]
        lost = [name for name in dict.fromkeys(names) if not self.dataset(name)]
        return [f"There is no dataset {name[:100]!r}; its task goes on without it." for name in lost]


def replaced(messages: Sequence[Mapping[str, Any]], id: str, **changes: Any) -> list[dict[str, Any]]:
    """Return messages with one of them changed."""
    return [{**one, **changes} if one["id"] == id else dict(one) for one in messages]


def inserted(messages: Sequence[Mapping[str, Any]], further: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return messages with further ones before the pending reply, numbered anew."""
    place = next((at for at, one in enumerate(messages) if one["status"] == PENDING), len(messages))
    together = [*messages[:place], *further, *messages[place:]]
    return [{**one, "number": number} for number, one in enumerate(together, 1)]


def added(messages: Sequence[Mapping[str, Any]], **fields: Any) -> list[dict[str, Any]]:
    """Return messages with another one, at the next number."""
    return [*map(dict, messages), {"number": len(messages) + 1, **fields}]
