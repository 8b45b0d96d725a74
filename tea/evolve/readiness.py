"""Readiness: the needs of a strategy, checked before any run is paid for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tea.errors import BadInput, ProviderError
from tea.evolve.libraries import Gepa, TextGrad
from tea.evolve.proposal import base_of
from tea.evolve.strategies import Given, Reflection
from tea.evolve.worker import require_library
from tea.models.config import OFFLINE
from tea.refs import Ref

if TYPE_CHECKING:
    from tea.evolve.proposal import Strategy
    from tea.platform import Platform

_ASKED = {"reflection": "reflector", "textgrad": "optimiser", "gepa": "optimiser"}


async def check_ready(platform: Platform, strategy: Strategy, refs: Sequence[str]) -> None:
    """Check a strategy's library, model and version.

    Args:
        platform: Has the models and the components.
        strategy: What will propose; strategies from elsewhere are not checked.
        refs: The components that may be rewritten, `kind:name`.

    Raises:
        BadInput: A given version is to be tested, and more than one component is named.
        MissingExtra: Its library is not installed.
        ProviderError: It asks a model, and none is configured.
        UnknownComponent: The given version is not there.
        Quarantined: It consists of words that nobody trusts.
    """
    if isinstance(strategy, Given):
        if len(refs) != 1:
            raise BadInput("A version is a candidate for one component.", fix="name that component alone.")
        ref = Ref.parse(refs[0])
        await base_of(platform, ref.at(strategy.version))
    if isinstance(strategy, Reflection | TextGrad | Gepa):
        config = platform.models.config(strategy.model, _ASKED[strategy.name])
        if config.provider == OFFLINE:
            problem = f"The strategy {strategy.name!r} asks a model, and none is configured."
            raise ProviderError(problem, fix="name one with --reflect-model; `tea models` shows them.")
    if isinstance(strategy, TextGrad | Gepa):
        require_library(strategy.name)
