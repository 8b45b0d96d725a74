"""The computer agent: works in programs with windows step by step, by mouse and keys, and keeps a record of each."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tea import Agent, Context, Operated, Result, Task, operate

STEPS = 50
MOST_WORDS = 400
TOPICS = "application desktop editor program window"  # not its name, which `compute` is a form of


class ComputerUse(Agent):
    """Do a task in programs with windows: open, type, click, save; for work that only they can do."""

    name = "computer"
    role = "Computer operator"
    competencies = (
        "use a program with windows as a person does: open, click, type, press keys, save",
        "work on files in an editor or another program of a desktop",
        "read what a program shows on its screen",
    )
    objectives = ("do what was asked and no more", "tell only what the screen really showed", "few steps")
    relations = {"planner": "hierarchical"}
    environments = ("computer", "workspace#write", "report")
    metadata: ClassVar[Mapping[str, Any]] = {"needs": "sandbox", "topics": TOPICS}
    max_steps = STEPS

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work in at most 50 steps; each step is up to eight actions."""
        computer = Operated(
            environment="computer",
            most=lambda _done: STEPS,
            bounded=lambda state: {**state, "words": state["words"][:MOST_WORDS]},
            picture="The screen as it looks now, 1024 by 768 pixels.",
            title="Work on the computer",
            read=_read,
            exact=False,
        )
        return await operate(ctx, task, computer)


def _read(value: dict[str, Any]) -> str:
    """Return the titles and words in a state or an outcome, without their places."""
    titles = [one["title"] for one in value.get("windows", ())]
    return "\n".join([*titles, *(one["text"] for one in value.get("words", ()))])
