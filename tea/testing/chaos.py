"""A misbehaving model for tests: from a seed it acts like imperfect models do, and at times correctly."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from random import Random

from tea.errors import BadInput
from tea.models.manager import CallTool, ModelConfig
from tea.testing.behaviours import BEHAVIOURS, WEIGHTS, Behaviour, Conversation, Turn
from tea.types import ModelRequest, ModelResponse, Usage


class ChaosModel:
    """A model answering each request by a behaviour chosen from a seed.

    What it does depends on the seed, the prompt, the task and how often it was asked about them, not on the order in
    which agents that work side by side ask.

    Args:
        seed: Chooses; the same seed behaves the same.
        weights: How often each behaviour comes, in place of `WEIGHTS`; 0 for never.

    Raises:
        BadInput: A weight is not one of a behaviour, or none is positive.

    Attributes:
        chosen: How often it behaved in which way.
    """

    def __init__(self, seed: int = 0, *, weights: Mapping[Behaviour, float] | None = None) -> None:
        for name in weights or {}:
            if name not in WEIGHTS:
                near = get_close_matches(name, WEIGHTS, n=1)
                fix = f"did you mean {near[0]!r}?" if near else f"it is one of {', '.join(WEIGHTS)}."
                raise BadInput(f"{name!r} is not a behaviour.", fix=fix)
        self._weights: dict[Behaviour, float] = {**WEIGHTS, **(weights or {})}
        if min(self._weights.values()) < 0 or not any(self._weights.values()):
            raise BadInput("The weights are not usable.", fix="give numbers from 0 on, at least one above 0.")
        self._seed = seed
        self._conversations: dict[tuple[str, str], Conversation] = {}
        self.chosen: Counter[Behaviour] = Counter()

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        """Return the answer of this turn's behaviour to the request.

        Raises:
            ContextLengthExceeded: That is the behaviour.
            ProviderError: That is the behaviour.
        """
        place = (request.prompt or "", str(request.variables.get("task", "")))
        conversation = self._conversations.setdefault(place, Conversation())
        conversation.asked += 1
        random = Random(json.dumps([self._seed, *place, conversation.asked]))
        behaviour = self._choose(random, conversation)
        self.chosen[behaviour] += 1
        turn = Turn(request=request, random=random, conversation=conversation)
        response = BEHAVIOURS[behaviour](turn)
        usage = Usage(input_tokens=200 * conversation.asked, output_tokens=20 + len(response.text) // 4, usd=0.0)
        return response.model_copy(update={"answered_by": config.name, "usage": usage})

    def _choose(self, random: Random, conversation: Conversation) -> Behaviour:
        """Return a behaviour; a stuck conversation continues to repeat itself."""
        if conversation.stuck > 0:
            conversation.stuck -= 1
            return "repeat"
        names = list(self._weights)
        return random.choices(names, [self._weights[name] for name in names])[0]
