"""The embedder of sentence-transformers: a model by name, as it lies on this machine, or by its folder."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tea.errors import BadInput
from tea.extras import require_extra

if TYPE_CHECKING:
    from tea.retrieval.embedding.embedder import Vectors

_BATCH = 64


class LocalEmbedder:
    """An embedder running a model of sentence-transformers in this process.

    Args:
        model: The folder of a model, or its name on the hub, which is fetched with its first use unless it was before
            or `HF_HUB_OFFLINE` forbids it.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Its model; a folder is identified by its files."""
        folder = Path(self._model)
        if not folder.is_dir():
            return f"sentence-transformers-{self._model}"
        facts = sorted(
            (str(one.relative_to(folder)), one.stat().st_size, one.stat().st_mtime_ns) for one in _files(folder)
        )
        return f"sentence-transformers-{folder.name}-{sha256(repr(facts).encode()).hexdigest()[:16]}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text; see `Embedder.embed`."""
        with self._lock:
            return self._loaded.encode(
                list(texts),
                batch_size=_BATCH,
                normalize_embeddings=True,
                show_progress_bar=False,
                convert_to_numpy=True,
            )

    @cached_property
    def _loaded(self) -> Any:
        made = require_extra("sentence_transformers", "embeddings").SentenceTransformer
        require_extra("transformers.utils.logging", "embeddings").disable_progress_bar()
        try:
            return made(self._model, trust_remote_code=False)
        except Exception as error:
            problem = f"The embedding model {self._model[:100]!r} cannot be loaded: {str(error)[:150]}."
            raise BadInput(problem, fix="name the folder of a model of sentence-transformers.") from error


def _files(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file()]
