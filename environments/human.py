"""The person behind a run, as an environment: what they answer is what happens in it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tea import Context, Environment, ToolError, action


class Human(Environment):
    """Ask the person behind the run what only they can say: a preference, a decision, a fact, a judgement."""

    name = "human"
    metadata: ClassVar[Mapping[str, Any]] = {"category": "person"}
    recovery = "durable"
    rules = """
        A person's time is worth more than yours: ask only what nothing else can tell, one thing at a time, in words
        that need no context. Offer choices where there are few. What they say holds; do not ask twice.
    """

    async def state(self) -> str:
        """Return what is known of a person before they are asked."""
        return "A person, who may be asked; what they answered is in the results of your own questions."

    @action(effects="reads", idempotent=True, network=False, concurrent=True)
    async def ask(self, ctx: Context, question: str, choices: list[str] | None = None) -> str:
        """Ask one question and wait for the answer; where nobody is there, the run waits until someone answers.

        Args:
            question: What to ask, complete in itself.
            choices: The only answers that count; any text by default.
        """
        if not question.strip():
            raise ToolError("The question holds no word.", fix="say what you want to know.")
        return await ctx.person(question, choices or ())
