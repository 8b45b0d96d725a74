"""Embedder: converts texts into vectors, near each other if their meanings are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """A converter of texts into vectors; every method blocks, so call it in a thread."""

    @property
    def name(self) -> str:
        """The name its vectors are stored under, changed with everything affecting them."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of float32 for each text, of length 1, or of zeros if the text has no meaning for it.

        Raises:
            MissingExtra: What it needs is not installed.
            ProviderError: It cannot be reached.
            BadInput: Its model cannot be used.
        """
        ...
