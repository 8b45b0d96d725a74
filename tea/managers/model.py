"""ModelManager: named model configurations, and one way to ask any of them."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from tea.errors import ProviderError
from tea.types import JsonObject, ModelRequest, ModelResponse, Response

CallTool = Callable[[str, JsonObject], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A named configuration.

    Args:
        name: What tasks and agents call it.
        provider: Which adapter speaks to it.
        model: The provider's own id of the model.
        base_url: Where it is reached, None for the provider's default.
        key_env: Name of the environment variable that holds the key; never the key.
        capabilities: For example `vision`, `tools`, `streaming`.
        prices: US dollars per million tokens: `input`, `cached`, `output`; empty when unknown.
        fallbacks: Names of the configurations to try next; never `offline`.
        limits: For example `concurrency`, `requests_per_minute`.
    """

    name: str
    provider: str
    model: str = ""
    base_url: str | None = None
    key_env: str | None = None
    capabilities: tuple[str, ...] = ()
    prices: Mapping[str, float] = field(default_factory=dict[str, float])
    fallbacks: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict[str, float])

    def to_json(self) -> dict[str, Any]:
        """Return the configuration as a JSON object."""
        return asdict(self)


class Adapter(Protocol):
    """Speaks to one kind of model.

    `call_tool` reaches a registered tool of the run, for adapters that answer through one.
    """

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        """Return one complete answer."""
        ...


class ModelManager:
    """Holds the configurations and the adapters of one platform."""

    def __init__(self) -> None:
        self._configs: dict[str, ModelConfig] = {}
        self._adapters: dict[str, Adapter] = {}
        self.default = ""

    def add(self, config: ModelConfig, adapter: Adapter) -> None:
        """Make a configuration available; the first one is the default."""
        self._configs[config.name] = config
        self._adapters[config.name] = adapter
        self.default = self.default or config.name

    def list(self) -> list[ModelConfig]:
        """Return every configuration, by name."""
        return [self._configs[name] for name in sorted(self._configs)]

    def config(self, name: str | None = None) -> ModelConfig:
        """Return a configuration, the default one without a name.

        Raises:
            ProviderError: There is none of that name; another never stands in silently.
        """
        wanted = name or self.default
        if wanted in self._configs:
            return self._configs[wanted]
        near = difflib.get_close_matches(wanted, self._configs, n=1)
        known = ", ".join(sorted(self._configs)) or "none"
        fix = f"did you mean {near[0]!r}?" if near else f"configured: {known}; leave out `model` for the default."
        raise ProviderError(f"No model is configured as {wanted[:80]!r}.", fix=fix)

    async def complete(self, request: ModelRequest, call_tool: CallTool) -> ModelResponse:
        """Ask the request's model and return its complete answer.

        Raises:
            Abstained: The offline solver cannot tell.
            ProviderError: The model cannot be reached or is not configured.
        """
        config = self.config(request.model)
        return await self._adapters[config.name].complete(request, config, call_tool)
