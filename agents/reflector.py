"""The reflector: traces of an agent at work become a diagnosis and one change to a piece of its text.

Source: the paper, section 3.4 and Appendix A.3.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from tea import Agent, Context, Result, Task, consult


class Reflector(Agent):
    """Diagnose traces of an agent at work, and propose one change to a variable of its components."""

    role = "Reflector"
    competencies = ("find the cause of failures in traces", "rewrite a prompt, a description or code to remove it")
    objectives = ("a change that removes the cause", "no answers of single tasks written into the text")
    metadata: ClassVar[Mapping[str, Any]] = {"category": "bookkeeping", "when": "Only for `tea evolve`."}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask once; the answer is the diagnosis and the change."""
        return Result(answer=await consult(ctx, "reflector", {"material": task.text}, lambda found: found.output))
