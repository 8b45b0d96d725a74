"""Connecting a configuration to its adapter, its keys and its limits."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tea.errors import ProviderError
from tea.models.accounts import Accounts
from tea.models.config import ModelConfig
from tea.models.manager import ModelManager
from tea.models.presets import ADDRESSES, BASE_URLS, PRESETS, bare_address, placed, preset
from tea.models.retrying import DEFAULTS
from tea.types import JsonObject, as_object

if TYPE_CHECKING:
    from tea.models.wire import WireModel

Keys = Callable[[str], str | None]
Guard = Callable[[ModelConfig, str], None]
"""Refuses that a configuration is sent the key of a variable, before anything is; raises a TeaError."""
ATTEMPT_SECONDS = 600.0


def connect(config: ModelConfig, keys: Keys, accounts: Accounts | None = None, guard: Guard | None = None) -> WireModel:
    """Return the adapter of a configuration; no SDK is imported and nothing is contacted yet.

    Args:
        config: What to reach.
        keys: Gives a key by the name of its variable.
        accounts: What it shares with other configurations of the same provider; nothing by default.
        guard: May refuse to send it a key.

    Raises:
        ProviderError: None of its keys is set.
    """
    found = {name: key for name in config.keys if (key := keys(name))}
    if guard is not None:
        for name in found:
            guard(config, name)
    for name, key in found.items():
        if not (key.isascii() and key.isprintable()):
            problem = f"The model {config.name!r} cannot be used: {name} holds what no key does."
            raise ProviderError(problem, fix="set it to the key alone, in one line and without quotation marks.")
    if config.keys and not found:
        problem = f"The model {config.name!r} cannot be used: {' or '.join(config.keys)} is not set."
        raise ProviderError(problem, fix=f"set {config.keys[0]} in the environment, or in .env of the home.")
    limits = {**DEFAULTS, "attempt_seconds": ATTEMPT_SECONDS, **config.limits}
    shared = accounts or Accounts()
    _state(shared, config, keys)
    seconds = min(limits["attempt_seconds"], limits["seconds"])  # no try outlasts the time for all of them
    from tea.models.adapters import adapter  # a run with offline solvers needs none of the wire formats

    return adapter(config, _address(config), found, seconds, shared)


def offer(models: ModelManager, config: ModelConfig, keys: Keys, guard: Guard | None = None) -> None:
    """Make a configuration available.

    Args:
        models: Where to.
        config: What to reach.
        keys: Gives a key by the name of its variable.
        guard: May refuse to send it a key.
    """
    config = placed(config, keys)
    _state(models.accounts, config, keys)
    models.offer(config, partial(connect, config, keys, models.accounts, guard))


def offer_again(models: ModelManager, header: JsonObject) -> None:
    """Register the model a run was started with, if it was named ad hoc and needs no key.

    Args:
        models: Where it becomes known; what is configured there under its name counts.
        header: What the run's journal begins with.
    """
    recorded = as_object(header.get("model") or {})
    name = str(recorded.get("name", ""))
    if (
        recorded.get("provider") in BASE_URLS
        and not recorded.get("key_env")
        and not models.knows(name.partition("/")[0])
    ):
        config = ModelConfig.of(name, recorded)
        models.offer(config, partial(connect, config, lambda _: None, models.accounts), listed=False)


def withhold(models: ModelManager, config: ModelConfig) -> None:
    """Register an untrusted configuration by name only, as it could send keys to any address.

    Args:
        models: Where it becomes known; a preset of that name stays what it is.
        config: What its document says.
    """
    if config.name in PRESETS:
        return

    def refuse() -> WireModel:
        problem = f"The model {config.name!r} comes from elsewhere, and nobody trusted it."
        raise ProviderError(problem, fix=f"read it, then `tea trust model:{config.name}`.")

    models.offer(config, refuse, listed=False)


def offer_presets(models: ModelManager, keys: Keys, guard: Guard | None = None) -> None:
    """Register the presets not configured otherwise; those with their key set count as configured.

    Args:
        models: Where to.
        keys: Gives a key by the name of its variable.
        guard: May refuse to send one of them a key.
    """
    for name in PRESETS:
        if not models.knows(name):
            config = preset(name)
            listed = any(map(keys, config.keys))
            config = placed(config, keys) if listed else config
            models.offer(config, partial(connect, config, keys, models.accounts, guard), listed=listed)


def reached(config: ModelConfig) -> str:
    """Return the address used for a configuration."""
    return config.base_url or BASE_URLS[config.provider]


def is_meant_for(key: str, address: str) -> bool:
    """Return whether a preset sends a key to an address.

    Args:
        key: Name of a variable.
        address: A base URL.
    """
    return any(bare_address(reached(one)) == bare_address(address) for one in map(preset, PRESETS) if key in one.keys)


def is_led_to(key: str, address: str) -> bool:
    """Return whether the process's environment redirects a key's provider to an address, as its SDK reads it."""
    providers = {one.provider for one in map(preset, PRESETS) if key in one.keys and one.base_url is None}
    named = (os.environ.get(ADDRESSES[provider], "").strip() for provider in providers)
    return any(bare_address(one) == bare_address(address) for one in named if one)


def _state(accounts: Accounts, config: ModelConfig, keys: Keys) -> None:
    """Apply the limits of a configuration to all users of its keys, before its first use."""
    found = [key for name in config.keys if (key := keys(name))]
    if found or not config.keys:
        accounts.state(_address(config), found, config.name, config.limits)


def _address(config: ModelConfig) -> str:
    """Return the base address for a format's paths, without a version already contained in them."""
    address = reached(config).rstrip("/")
    return address if BASE_URLS[config.provider].endswith("/v1") else address.removesuffix("/v1")
