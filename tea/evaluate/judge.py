"""Judge: a model of the platform asked about answers, outside of any run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tea.errors import ProviderError
from tea.evaluate.scorers.judged import require_prompt
from tea.evaluate.scoring import Verdict
from tea.evaluate.task import digest_of
from tea.models.config import OFFLINE
from tea.types import JsonObject, Message, ModelRequest, Response, TextPart

if TYPE_CHECKING:
    from tea.models.config import ModelConfig
    from tea.platform import Platform

ROLE = "judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """The choice of a judge.

    Args:
        model: Which model configuration judges; by default that of the role `judge`, else the default one.
        template: Words with `{question}`, `{criterion}` and `{answer}`; by default those of the benchmark.
    """

    model: str | None = None
    template: str | None = None


class ModelJudge:
    """A judge asking a model of a platform, with patience and fallbacks as its configuration says.

    Args:
        platform: Has the model.
        config: The model's configuration.
        template: The user's words, None for the benchmark's.
    """

    def __init__(self, platform: Platform, config: ModelConfig, template: str | None) -> None:
        self._platform, self._config = platform, config
        self.model, self.template = config.name, template

    @property
    def digest(self) -> str:
        """The digest of everything deciding its verdicts."""
        return digest_of([self._config.origin, self.template])

    async def ask(self, words: str) -> Verdict:
        """Return the model's response to some words.

        Raises:
            ProviderError: It cannot be reached, or said nothing.
        """
        question = Message(role="user", content=(TextPart(text=words),))
        said = await self._platform.models.complete(ModelRequest(model=self.model, messages=(question,)), _no_tool)
        if not said.text.strip():
            raise ProviderError(
                f"The judge {self.model!r} gave an empty answer.", fix="evaluate again; the runs are kept."
            )
        tokens = said.usage.input_tokens + said.usage.output_tokens
        return Verdict(text=said.text, tokens=tokens, usd=said.usage.usd)


def judging_of(platform: Platform, judging: Judging | None, scorers: list[str]) -> ModelJudge:
    """Return the judge for some scorers.

    Raises:
        ProviderError: No model is configured, or not the chosen one.
        MissingExtra: The words of a benchmark are not installed.
    """
    chosen = judging or Judging()
    config = platform.models.config(chosen.model, ROLE)
    if config.provider == OFFLINE:
        problem = f"The scorer {scorers[0]!r} asks a model to judge, and none is configured."
        raise ProviderError(problem, fix="name one with --judge-model; see `tea models`.")
    for name in scorers:
        require_prompt(name, chosen.template)
    return ModelJudge(platform, config, chosen.template)


async def _no_tool(ref: str, arguments: JsonObject) -> Response:
    raise ProviderError(f"A judge cannot call tools, and {ref[:60]!r} was asked for.", fix="name another model.")
