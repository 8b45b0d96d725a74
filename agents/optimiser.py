"""The optimiser: questions of an optimiser library, asked and recorded like any other."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from tea import Agent, Context, Result, Task, consult


class Optimiser(Agent):
    """Answer a question of an optimiser library, given as JSON with `instructions` and `question`."""

    role = "Optimiser"
    competencies = ("criticise and rewrite texts as an optimiser library asks for it",)
    objectives = ("an answer in the form asked for",)
    metadata: ClassVar[Mapping[str, Any]] = {"category": "bookkeeping", "when": "Only for `tea evolve`."}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask once; the answer is the model's text."""
        given = json.loads(task.text)
        return Result(answer=await consult(ctx, "optimiser", given, lambda found: found.text))
