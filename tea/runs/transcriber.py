"""Transcriber: text for a task's sounds, if a model is configured for it and the working one cannot hear."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tea.errors import BudgetExceeded, ProviderError, TeaError
from tea.models.manager import ModelManager
from tea.types import Usage

ROLE = "transcriber"


class Transcriber:
    """A transcriber of sounds.

    Args:
        models: The configurations; the role `transcriber` names the one that hears.
        default: Name of the configuration of the run, None for the platform's.
    """

    def __init__(self, models: ModelManager, default: str | None) -> None:
        self._models, self._default = models, default

    async def hear(
        self,
        found: Sequence[dict[str, Any]],
        agent: str,
        read: Callable[[str], bytes],
        left: Mapping[str, float | None],
        *,
        priced: bool,
    ) -> None:
        """Add to each sound its `words`, the usage in `used` and the model, or the problem in their place.

        Args:
            found: What is known of the media of a task.
            agent: Who works on it.
            read: Gives a sound by its digest; it blocks.
            left: What is left of each limit; where one is used up, nothing more is heard.
            priced: Whether a limit in dollars rules out what has no known price.
        """
        if ROLE not in self._models.roles or "audio" in self._models.config(self._default, agent).capabilities:
            return
        used = Usage(usd=0.0)
        for one in found:
            if one["type"] != "audio" or one["problem"]:
                continue
            try:
                self._check(priced=priced)
                _check_left(left, used)
                sound = await asyncio.to_thread(read, one["digest"])
                heard = await self._models.transcribe(ROLE, sound, one["media_type"])
            except TeaError as error:
                one["problem"] = f"not heard: {error.problem.rstrip('.')}"
            else:
                one |= {"words": heard.text, "used": heard.usage.model_dump(mode="json"), "by": heard.answered_by}
                one |= {"attempts": [tried.model_dump(mode="json") for tried in heard.attempts]}
                used = _sum(used, heard.usage)

    def _check(self, *, priced: bool) -> None:
        config = self._models.config(ROLE)
        if priced and not config.prices:
            raise ProviderError(f"The price of the model {config.name!r} is not known.", fix="state its prices.")


def _check_left(left: Mapping[str, float | None], used: Usage) -> None:
    """Raise BudgetExceeded if a limit is used up.

    Raises:
        BudgetExceeded: It is refused.
    """
    spent = {"steps": 0, "tokens": used.input_tokens + used.output_tokens, "usd": used.usd or 0.0, "seconds": 0}
    for name, most in left.items():
        if most is not None and most - spent[name] <= 0:
            raise BudgetExceeded(f"The budget of {name} is used up.", fix=f"raise budget.{name}.")


def _sum(first: Usage, second: Usage) -> Usage:
    tokens = {name: getattr(first, name) + getattr(second, name) for name in ("input_tokens", "output_tokens")}
    return Usage(**tokens, usd=(first.usd or 0.0) + (second.usd or 0.0))
