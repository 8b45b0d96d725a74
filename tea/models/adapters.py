"""Adapters: the ends of the wire to a provider, one for each format; loaded with the first question to one."""

from __future__ import annotations

from collections.abc import Mapping

from tea.models.accounts import Accounts
from tea.models.anthropic_messages import AnthropicMessages
from tea.models.client import ProviderClient
from tea.models.config import ModelConfig
from tea.models.format import Format
from tea.models.openai_chat import OpenAIChat
from tea.models.openai_responses import OpenAIResponses
from tea.models.retrying import Retrying
from tea.models.wire import WireModel

_FORMATS: tuple[type[Format], ...] = (AnthropicMessages, OpenAIChat, OpenAIResponses)
FORMATS: Mapping[str, Format] = {one.name: one() for one in _FORMATS}


def adapter(
    config: ModelConfig, address: str, keys: Mapping[str, str], seconds: float, accounts: Accounts
) -> WireModel:
    """Return the adapter of a configuration; no SDK is imported and nothing is contacted yet.

    Args:
        config: What to reach.
        address: The base address of its format's paths.
        keys: Its keys by the names of their variables.
        seconds: Most time of one try.
        accounts: What it shares with other configurations of the same provider.
    """
    format = FORMATS[config.provider]
    return WireModel(format, ProviderClient(format.sdk, address, keys, seconds, accounts), Retrying(config.limits))
