"""The person behind a run, as an environment: what they answer is what happens in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tea import Context, Environment, action

MOST_REMEMBERED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One question, and what the person said."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How many questions were answered in this session, and the latest of them."""

    answered: int
    latest: list[Exchange]


class Human(Environment):
    """Ask the person behind a run what only they can say: a preference, a decision, a fact, a judgement."""

    name = "human"
    metadata: ClassVar[Mapping[str, Any]] = {"category": "person"}
    rules = """
        A person's time is worth more than yours: ask only what nothing else can tell, one thing at a time, in words
        that need no context. Offer choices where there are few. What they say holds; do not ask twice.
    """

    def __init__(self) -> None:
        self._answered: list[Exchange] = []

    async def state(self) -> State:
        """Return what was asked and answered."""
        return State(answered=len(self._answered), latest=self._answered[-MOST_REMEMBERED:])

    @action(effects="external", idempotent=True, network=False, concurrent=True)
    async def ask(self, ctx: Context, question: str, choices: list[str] | None = None) -> str:
        """Ask one question and wait for the answer; where nobody is there, the run waits until someone answers.

        Args:
            question: What to ask, complete in itself.
            choices: The only answers that count; any text by default.
        """
        answer = await ctx.person(question, choices or ())
        self._answered.append(Exchange(question=question, answer=answer))
        return answer
