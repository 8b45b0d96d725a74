"""Presets: providers that need no more than a key or a running server to be used by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tea.errors import BadInput
from tea.managers.model_config import ModelConfig
from tea.types import JsonObject

_ALL = ("tools", "schema", "vision", "files", "streaming")
_LOCAL: Mapping[str, Any] = {
    "provider": "openai_chat",
    "capabilities": ("tools", "schema", "streaming"),
    "prices": {"input": 0.0, "output": 0.0},  # no bill comes for what runs on one's own machine
    "max_output": 4096,
}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "openai": {
        "provider": "openai_responses",
        "model": "gpt-5.4",
        "key_env": "OPENAI_API_KEY",
        "capabilities": _ALL,
        "max_output": 16384,
    },
    "anthropic": {
        "provider": "anthropic_messages",
        "model": "claude-sonnet-5",
        "key_env": "ANTHROPIC_API_KEY",
        "capabilities": _ALL,
        "max_output": 16384,
    },
    "gemini": {
        "provider": "openai_chat",
        "model": "gemini-2.5-pro",
        "base_url": "https://generativelanguage.googleapis.com/v1beta/openai/",
        "key_env": "GEMINI_API_KEY",
        "capabilities": ("tools", "schema", "vision", "audio", "streaming"),
        "max_output": 16384,
    },
    "openrouter": {
        "provider": "openai_chat",
        "model": "openrouter/auto",
        "base_url": "https://openrouter.ai/api/v1",
        "key_env": "OPENROUTER_API_KEY",
        "capabilities": ("tools", "schema", "vision", "streaming"),
        "max_output": 8192,
    },
    "ollama": {**_LOCAL, "base_url": "http://127.0.0.1:11434/v1"},
    "vllm": {**_LOCAL, "base_url": "http://127.0.0.1:8000/v1"},
    "llamacpp": {**_LOCAL, "base_url": "http://127.0.0.1:8080/v1"},
}
_CUSTOM: Mapping[str, Any] = {"capabilities": ("tools", "schema", "streaming"), "max_output": 8192}


def preset(name: str) -> ModelConfig:
    """Return the configuration of a preset as it stands, which needs no check."""
    return ModelConfig(name=name, **PRESETS[name])


def configured(name: str, document: JsonObject) -> ModelConfig:
    """Return a configuration, with what it leaves out taken from its preset, or from what most servers can do.

    Args:
        name: What it is called.
        document: What `tea.toml` or a registered document says; `preset` names where it starts from. Without one, a
            configuration that is called like a preset and has no address of its own starts from that.

    Raises:
        BadInput: It is not usable.
    """
    given = dict(document)
    start = given.pop("preset", name if name in PRESETS and "base_url" not in given else None)
    if start is not None and start not in PRESETS:
        raise BadInput(f"There is no preset {str(start)[:60]!r}.", fix=f"presets are {', '.join(PRESETS)}.")
    return ModelConfig.of(name, {**(PRESETS[start] if start else _CUSTOM), **given})


def local(name: str, base_url: str, model: str = "") -> ModelConfig:
    """Return a configuration for a server that was named on the spot; without a model, its first one answers.

    Raises:
        BadInput: It is no address.
    """
    return ModelConfig.of(name, {**_CUSTOM, "base_url": base_url, "model": model})
