"""Presets: providers usable by name with only a key or a running server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from urllib.parse import urlsplit

from tea.errors import BadInput
from tea.models.config import OFFLINE, SENSES, ModelConfig, answer_within, is_local
from tea.types import JsonObject

_ALL = ("tools", "tool_choice", "schema", "vision", "files", "streaming")
_OWN = ("tools", "tool_choice", "schema", "streaming")
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
        "context": 1_050_000,
    },
    "anthropic": {
        "provider": "anthropic_messages",
        "model": "claude-sonnet-5",
        "key_env": "ANTHROPIC_API_KEY",
        "capabilities": _ALL,
        "max_output": 16384,
        "context": 1_000_000,
    },
    "gemini": {
        "provider": "openai_chat",
        "model": "gemini-2.5-pro",
        "base_url": "https://generativelanguage.googleapis.com/v1beta/openai/",
        "key_env": "GEMINI_API_KEY",
        "capabilities": ("tools", "tool_choice", "schema", "vision", "audio", "streaming"),
        "max_output": 16384,
        "context": 1_048_576,
    },
    "openrouter": {
        "provider": "openai_chat",
        "model": "openrouter/auto",
        "base_url": "https://openrouter.ai/api/v1",
        "key_env": "OPENROUTER_API_KEY",
        "capabilities": ("tools", "tool_choice", "schema", "vision", "streaming"),
        "max_output": 8192,
    },
    "ollama": {**_LOCAL, "base_url": "http://127.0.0.1:11434/v1"},
    "vllm": {**_LOCAL, "capabilities": _OWN, "base_url": "http://127.0.0.1:8000/v1"},
    "llamacpp": {**_LOCAL, "capabilities": _OWN, "base_url": "http://127.0.0.1:8080/v1"},
}
# Where the provider of a wire format is.
BASE_URLS: Mapping[str, str] = {
    "openai_chat": "https://api.openai.com/v1",
    "openai_responses": "https://api.openai.com/v1",
    "anthropic_messages": "https://api.anthropic.com",
}
# Variables that name an address in place of a provider's own, as its SDK has it.
ADDRESSES: Mapping[str, str] = {
    "openai_chat": "OPENAI_BASE_URL",
    "openai_responses": "OPENAI_BASE_URL",
    "anthropic_messages": "ANTHROPIC_BASE_URL",
}
_CUSTOM: Mapping[str, Any] = {"capabilities": _OWN, "max_output": 8192}


def preset(name: str) -> ModelConfig:
    """Return the configuration of a preset, without validation."""
    return ModelConfig(name=name, **PRESETS[name])


def configured(name: str, document: JsonObject) -> ModelConfig:
    """Return a configuration, with missing values taken from its preset or from the capabilities of most servers.

    Args:
        name: What it is called.
        document: What `tea.toml` or a registered document says; `preset` names where it starts from. Without one, a
            configuration that is called like a preset and has no address of its own starts from that. `senses` are
            what the model takes beside text, in place of the preset's.

    Raises:
        BadInput: It is not usable.
    """
    given = dict(document)
    start = given.pop("preset", name if name in PRESETS and "base_url" not in given else None)
    if start is not None and (not isinstance(start, str) or start not in PRESETS):
        raise BadInput(f"There is no preset {str(start)[:60]!r}.", fix=f"presets are {', '.join(PRESETS)}.")
    if name == OFFLINE:
        raise BadInput("The offline solvers are called 'offline'.", fix="give the model another name.")
    senses = given.pop("senses", None)
    stated = {**_defaults(start, given), **given}
    if senses is not None:
        stated["capabilities"] = _with_senses(stated["capabilities"], senses, name)
    config = ModelConfig.of(name, stated)
    if config.base_url is None and not config.keys:
        problem = f"The model {name!r} is not usable: nothing says where it is reached."
        raise BadInput(problem, fix="start from a preset, or name its `base_url`, or its key as `key_env`.")
    if "prices" not in given and "base_url" in given and not is_local(str(config.base_url)):
        return replace(config, prices={})  # a preset's price of nothing holds on one's own machine only
    return config


def _defaults(start: str | None, document: JsonObject) -> dict[str, Any]:
    """Return the defaults of a configuration; a preset's values for its own model do not apply to another."""
    found = dict(PRESETS[start] if start else _CUSTOM)
    if document.get("model", found.get("model")) != found.get("model"):
        found.pop("context", None)
    return {**found, "max_output": answer_within(found["max_output"], document.get("context"))}


def _with_senses(capabilities: Sequence[str], senses: object, name: str) -> list[str]:
    """Return capabilities with other senses."""
    wanted = cast("list[object]", senses) if isinstance(senses, list) else [senses]
    wrong = [one for one in wanted if one not in SENSES]
    if wrong:
        problem = f"The senses of the model {name!r} hold {str(wrong[0])[:60]!r}."
        raise BadInput(problem, fix=f"write a list of {', '.join(SENSES)} (PDF files).")
    return [*(one for one in capabilities if one not in SENSES), *map(str, dict.fromkeys(wanted))]


def placed(config: ModelConfig, keys: Callable[[str], str | None]) -> ModelConfig:
    """Return a configuration with the address set in the environment for its provider, as its SDK would use it.

    Args:
        config: One with an address of its own keeps it.
        keys: Gives a variable by its name.

    Raises:
        BadInput: It is not an address.
    """
    variable = ADDRESSES.get(config.provider)
    if config.base_url is not None or variable is None or not (address := (keys(variable) or "").strip()):
        return config
    elsewhere = config.provider == "openai_responses" and "openai" not in (urlsplit(address).hostname or "")
    provider = "openai_chat" if elsewhere else config.provider  # what servers of others speak
    changes = {"base_url": address, "provider": provider}
    try:
        return ModelConfig.of(config.name, {**config.to_json(), **changes})
    except BadInput as error:
        raise BadInput(f"{variable} is not usable: {error.problem}", fix=error.fix) from None


def bare_address(address: str) -> str:
    """Return an address in one spelling, for comparison: without the version and slash at its end."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:  # it is not an address, and equal to none
        return address
    place = parts.netloc.lower().removesuffix(":443" if parts.scheme == "https" else ":80")
    return parts._replace(netloc=place, path=parts.path.rstrip("/").removesuffix("/v1")).geturl()


def local(name: str, base_url: str, model: str = "") -> ModelConfig:
    """Return a configuration for a server named ad hoc; without a model, its first one answers.

    Raises:
        BadInput: It is not an address.
    """
    return ModelConfig.of(name, {**_CUSTOM, "base_url": base_url, "model": model})
