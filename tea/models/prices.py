"""Prices: the cost of a model call, by the configuration's own prices or the public list, or unknown."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tea.models.config import ModelConfig
from tea.types import Usage

_LISTED = {"input": "input_mtok", "cached": "cache_read_mtok", "written": "cache_write_mtok", "output": "output_mtok"}
_HOMES = {"anthropic_messages": "https://api.anthropic.com", "openai_chat": "https://api.openai.com/v1"}


def price(config: ModelConfig, model: str, usage: Usage) -> float | None:
    """Return the US dollars of one call, None when no price is known.

    Args:
        config: The configuration; its own prices go before the list's.
        model: The provider's id of the model that answered.
        usage: What it used.
    """
    if config.prices:
        return _own(config.prices, usage)
    for name in dict.fromkeys((model, config.model)):  # servers add dates and the like, which the list may not know
        if name and _is_listed(name, _address(config)):
            return float(_calculated(name, _address(config), usage).total_price)
    return None


def list_prices(config: ModelConfig) -> dict[str, float]:
    """Return the highest listed prices for a model, US dollars per million tokens; empty if unknown."""
    return dict(_listed(config.model, _address(config)))


async def known(config: ModelConfig) -> ModelConfig:
    """Return a configuration with the listed prices and context of its model, unless it states its own.

    The list takes a while to load, so that happens in a thread.
    """
    if "genai_prices" not in sys.modules:
        await asyncio.to_thread(list_prices, config)
    context = config.context or _window(config.model, _address(config))
    return replace(config, prices=config.prices or list_prices(config), context=context)


def worst_case(prices: Mapping[str, float], input_tokens: int, output_tokens: int) -> float | None:
    """Return the maximum cost of a call, None if no price is known."""
    if not {"input", "output"} <= set(prices):
        return None
    dearest = max(prices["input"], prices.get("cached", 0.0), prices.get("written", 0.0))
    return (input_tokens * dearest + output_tokens * prices["output"]) / 1e6


def dearest(prices: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the highest of several models' prices, an upper bound for any of them; unknown prices are left out."""
    found: dict[str, float] = {}
    for one in prices:
        for name, value in one.items() if worst_case(one, 0, 0) is not None else ():
            found[name] = max(value, found.get(name, 0.0))
    return found


def _own(prices: Mapping[str, float], usage: Usage) -> float | None:
    if not {"input", "output"} <= set(prices):
        return None
    fresh = usage.input_tokens - usage.cached_tokens - usage.written_tokens
    tokens = {"input": fresh, "cached": usage.cached_tokens, "written": usage.written_tokens}
    spent = sum(count * prices.get(name, prices["input"]) for name, count in tokens.items())
    return (spent + usage.output_tokens * prices["output"]) / 1e6


@lru_cache(maxsize=256)
def _is_listed(model: str, address: str) -> bool:
    """Return whether the list contains a model; looking for a missing one takes longer than the rest of a call."""
    return _calculated(model, address, Usage(input_tokens=1, output_tokens=1)) is not None


@lru_cache(maxsize=256)
def _window(model: str, address: str) -> int | None:
    """Return the context window of a model in tokens, None if it is not listed."""
    found = _calculated(model, address, Usage(input_tokens=1, output_tokens=1))
    return None if found is None else found.model.context_window


@lru_cache(maxsize=256)
def _listed(model: str, address: str) -> Mapping[str, float]:
    found = _calculated(model, address, Usage(input_tokens=1, output_tokens=1))
    if found is None:
        return {}
    named = {name: _highest(getattr(found.model_price, member, None)) for name, member in _LISTED.items()}
    prices = {name: value for name, value in named.items() if value is not None}
    return prices if "input" in prices and "output" in prices else {}


def _calculated(model: str, address: str, usage: Usage) -> Any:
    """Return the list's calculation of a price; None if it contains neither the address's provider nor the model."""
    from genai_prices import Usage as Used
    from genai_prices import calc_price

    used = Used(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.written_tokens,
        output_tokens=usage.output_tokens,
    )
    try:
        return calc_price(used, model, provider_api_url=address)
    except (LookupError, ValueError):
        return None


def _address(config: ModelConfig) -> str:
    return config.base_url or _HOMES.get(config.provider, _HOMES["openai_chat"])


def _highest(price: Any) -> float | None:
    """Return a price, the highest one if it depends on the length of the request."""
    if price is None:
        return None
    tiers = [tier.price for tier in getattr(price, "tiers", ())]
    return float(max([getattr(price, "base", price), *tiers]))
