"""Choice: the embedder named in the settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tea.errors import BadInput
from tea.models.config import address_fault
from tea.store.files import open_regular
from tea.store.strict import Refused, dumps

if TYPE_CHECKING:
    from tea.retrieval.embedding.embedder import Embedder

BUILTIN, LOCAL, ENDPOINT = "builtin", "sentence-transformers", "openai"
BUILTIN_SHARE = 0.2
_PROVIDERS = (BUILTIN, LOCAL, ENDPOINT)
_OPENAI, _KEY = "https://api.openai.com/v1", "OPENAI_API_KEY"
_MOST_FILES, _MOST_BYTES = 1_000, 2**32  # of the folder of a model, but for its plain weights
_CHUNK = 2**18
_WEIGHTS = ".safetensors"  # numbers alone, in a form that holds no code
_KEYS = ("provider", "model", "base_url", "key_env")


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """The address an embedder of the settings contacts for its vectors.

    Args:
        provider: `sentence-transformers` or `openai`.
        named: The address that the settings name, None for the provider's own; for a model that is loaded its whole
            folder, or its name on the hub.
        key: Name of the variable that holds the key it sends; empty for none.
    """

    provider: str
    named: str | None
    key: str = ""

    @property
    def address(self) -> str:
        """The address it contacts in this process."""
        return self.named or os.environ.get("OPENAI_BASE_URL", "").strip() or _OPENAI

    @property
    def content(self) -> str | None:
        """The digest of the files in a model's folder, but for plain weights; empty for others, None if unreadable."""
        return _content(self.address) if self.provider == LOCAL and os.path.isabs(self.address) else ""


def destination(document: Mapping[str, Any]) -> Destination | None:
    """Return the destination of the embedder named by the settings; None for the built-in one, without any.

    Args:
        document: As for `embedder_of`.

    Raises:
        BadInput: It is not an embedder.
    """
    wrong = [key for key, value in document.items() if key not in _KEYS or not isinstance(value, str)]
    provider, model = document.get("provider", BUILTIN), document.get("model", "")
    if wrong or provider not in _PROVIDERS:
        problem = f"The setting 'embedder' has a wrong {wrong[0] if wrong else 'provider'!r}."
        raise BadInput(problem, fix=f"write text for {', '.join(_KEYS)}; providers are {', '.join(_PROVIDERS)}.")
    if provider == BUILTIN:
        return None
    if not model:
        raise BadInput(f"The embedder {provider!r} has no model.", fix='add model = "NAME" to [embedder] in tea.toml.')
    if provider == LOCAL:
        return Destination(provider=provider, named=os.path.abspath(model) if os.path.lexists(model) else model)
    base_url = document.get("base_url")
    if base_url is not None and (fault := address_fault(base_url)):
        raise BadInput(f"The setting 'embedder' is not usable: {fault[0]}.", fix=fault[1])
    return Destination(provider=provider, named=base_url, key=document.get("key_env", _KEY))


def _content(folder: str) -> str | None:
    found, left, room = sha256(), _MOST_FILES, _MOST_BYTES
    try:
        for place, folders, names in os.walk(folder, followlinks=True):
            folders.sort()
            left -= 1 + len(names)
            if left < 0:
                return None
            for name in sorted(one for one in names if not one.endswith(_WEIGHTS)):
                path = Path(place, name)
                digest, size = _digest(path, room)
                room -= size
                found.update(dumps([os.path.relpath(path, folder), digest]))
    except (OSError, Refused):
        return None
    return found.hexdigest()


def _digest(path: Path, most: int) -> tuple[str, int]:
    """Return the digest of a file and its size, which some files do not tell before they are read.

    Raises:
        OSError: The system refuses.
        Refused: It is not a regular file, or larger than `most` bytes.
    """
    digest, size = sha256(), 0
    with os.fdopen(open_regular(path.resolve(strict=True)), "rb") as file:
        told = os.fstat(file.fileno()).st_size
        while max(told, size) <= most and (part := file.read(_CHUNK)):
            size += len(part)
            digest.update(part)
    if max(told, size) > most:
        raise Refused(f"it has more than {most:,} bytes")
    return digest.hexdigest(), size


def embedder_of(
    document: Mapping[str, Any],
    keys: Callable[[str], str | None],
    guard: Callable[[Destination], None] | None = None,
) -> Callable[[], Embedder]:
    """Return a factory of the embedder named in the settings; nothing is imported, loaded or contacted before its call.

    Args:
        document: `provider` is `builtin` (the default), `sentence-transformers` or `openai`, which is any endpoint of
            that form; the last two need `model`, and the last may have `base_url` and `key_env`.
        keys: Gives a secret by its name.
        guard: Refuses that it goes there with its key, before it does; raises a TeaError.

    Raises:
        BadInput: It is not an embedder.
    """
    going, model = destination(document), document.get("model", "")

    def make() -> Embedder:
        if guard is not None and going is not None:
            guard(going)
        return _made(going, model, None if going is None else keys(going.key))

    return make


def _made(going: Destination | None, model: str, key: str | None) -> Embedder:
    """Return the embedder, importing numpy; one other than the built-in is blended with it."""
    from tea.retrieval.embedding.builtin import Blend, StaticEmbedder
    from tea.retrieval.embedding.endpoint import EndpointEmbedder
    from tea.retrieval.embedding.local import LocalEmbedder

    if going is None:
        return StaticEmbedder()
    local = going.provider == LOCAL
    chosen = LocalEmbedder(going.address) if local else EndpointEmbedder(model, base_url=going.named, key=key)
    return Blend(chosen, StaticEmbedder(), BUILTIN_SHARE)
