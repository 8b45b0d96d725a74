"""Kit: an agent spelling words wrong, tasks to show it, and a model obeying its prompt and reflecting."""

import re
from pathlib import Path
from typing import Any

from tea import Platform
from tea.evaluate import Plan, TaskSet
from tea.evolve.campaign import Campaign
from tea.evolve.strategies import Reflection
from tea.testing import FunctionModel
from tea.types import ModelRequest

AGENT = '''
from tea import Agent, Context, Result, Task, consult


class Speller(Agent):
    """Repeat a word in some form."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask the model once."""
        return Result(answer=await consult(ctx, "speller", {"word": task.text}, lambda found: found.output["word"]))
'''
PROMPT = """---
name: speller
description: Repeats a word.
variables:
  word: string
output:
  type: object
  properties: {word: {type: string}}
  required: [word]
trainable: [rules]
---
# system

{{ rules }}

# message

{{ word }}

# module: rules

Be brief.
Write the word in small letters.
"""
WORDS = ("apple", "pear", "plum", "fig", "lime", "kiwi", "grape", "melon", "date", "mango", "lemon", "cherry")


class Obedient:
    """A model obeying its prompt to the letter, and reflecting on the traces."""

    def __init__(self, *, blind: bool = False) -> None:
        self.blind, self.reflections = blind, list[str]()

    def __call__(self, request: ModelRequest) -> Any:
        """Answer one request."""
        system, *_, last = (
            "".join(getattr(part, "text", "") for part in message.content) for message in request.messages
        )
        if "word" in request.variables:
            word = str(request.variables["word"])
            answers = dict(re.findall(r"For (\w+) write (\w+)\.", system))
            return {"word": answers.get(word, word.upper() if "in capitals" in system else word.lower())}
        self.reflections.append(last)
        return self.reflect(last)

    def reflect(self, shown: str) -> dict[str, Any]:
        """Derive the change from the expected answers, as far as they are shown."""
        capitals = re.search(r"expected: ([A-Z]+)\n", shown) and not self.blind
        rule = "Write the word in capitals." if capitals else "Write the word well."
        lists = {name: [] for name in ("failure_points", "missing_facts", "wrong_assumptions", "unsafe_actions")}
        return {
            **lists, "cause": "the form of the word", "component": "prompt:speller", "variable": "rules",
            "text": f"Be brief.\n{rule}\n", "why": rule,
        }  # fmt: skip


def tasks(count: int = 60) -> TaskSet:
    rows = [{"task": f"{WORDS[one % len(WORDS)]}{chr(97 + one // 26)}{chr(97 + one % 26)}"} for one in range(count)]
    return TaskSet.of(
        [{**row, "expected": row["task"].upper(), "scorer": "exact", "tags": ["fruit"]} for row in rows], name="words"
    )


def platform(folder: Path, model: Obedient | None = None) -> Platform:
    return Platform(folder / "home", state=folder / "state", model=FunctionModel(model or Obedient()))


def campaign(tea: Platform, strategy: Any = None, **options: Any) -> Campaign:
    told: list[str] = options.pop("told", [])
    return Campaign(
        platform=tea, tasks=options.pop("tasks", tasks()), refs=["prompt:speller"], strategy=strategy or Reflection(),
        plan=Plan(agent="speller"), tell=told.append, **options,
    )  # fmt: skip
