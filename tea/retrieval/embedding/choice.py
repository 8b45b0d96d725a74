"""Choice: which embedder the settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tea.errors import BadInput

if TYPE_CHECKING:
    from tea.retrieval.embedding.embedder import Embedder

BUILTIN, LOCAL, ENDPOINT = "builtin", "sentence-transformers", "openai"
BUILTIN_SHARE = 0.2
_PROVIDERS = (BUILTIN, LOCAL, ENDPOINT)
_KEYS = ("provider", "model", "base_url", "key_env")


def embedder_of(document: Mapping[str, Any], keys: Callable[[str], str | None]) -> Callable[[], Embedder]:
    """Return what makes the embedder that the settings name; nothing is imported, loaded or contacted before.

    Args:
        document: `provider` is `builtin` (the default), `sentence-transformers` or `openai`, which is any endpoint of
            that form; the last two need `model`, and the last may have `base_url` and `key_env`.
        keys: Gives a secret by its name.

    Raises:
        BadInput: It is no embedder.
    """
    wrong = [key for key, value in document.items() if key not in _KEYS or not isinstance(value, str)]
    provider, model = document.get("provider", BUILTIN), document.get("model", "")
    if wrong or provider not in _PROVIDERS:
        problem = f"The setting 'embedder' has a wrong {wrong[0] if wrong else 'provider'!r}."
        raise BadInput(problem, fix=f"write text for {', '.join(_KEYS)}; providers are {', '.join(_PROVIDERS)}.")
    if provider != BUILTIN and not model:
        raise BadInput(f"The embedder {provider!r} has no model.", fix='add model = "NAME" to [embedder] in tea.toml.')
    base_url, key_env = document.get("base_url"), document.get("key_env", "OPENAI_API_KEY")
    return lambda: _made(provider, model, base_url, keys(key_env))


def _made(provider: str, model: str, base_url: str | None, key: str | None) -> Embedder:
    """Return the embedder, which brings numpy; another one than the built-in is blended with it."""
    from tea.retrieval.embedding.blend import Blend
    from tea.retrieval.embedding.builtin import StaticEmbedder
    from tea.retrieval.embedding.endpoint import EndpointEmbedder
    from tea.retrieval.embedding.local import LocalEmbedder

    if provider == BUILTIN:
        return StaticEmbedder()
    chosen = LocalEmbedder(model) if provider == LOCAL else EndpointEmbedder(model, base_url=base_url, key=key)
    return Blend(chosen, StaticEmbedder(), BUILTIN_SHARE)
