"""The embedder of an endpoint compatible with OpenAI's embeddings: OpenAI, or a server of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tea.errors import ProviderError
from tea.models.connections import alone
from tea.models.secret_forms import hidden, sent_headers
from tea.web.decoding import ACCEPTED, Decoder

if TYPE_CHECKING:
    from tea.retrieval.embedding.embedder import Vectors

_BATCH, _SECONDS, _LONGEST = 128, 60.0, 8_000
_MOST_OF_AN_ANSWER = 2**25  # bytes, decoded: a batch of 8,192 numbers for each text


class EndpointEmbedder:
    """An embedder using an endpoint.

    Args:
        model: The model's name there.
        base_url: Where it is; the provider's own by default.
        key: The secret it wants; a server of one's own may want none.
    """

    def __init__(self, model: str, *, base_url: str | None = None, key: str | None = None) -> None:
        self._model, self._base_url, self._key = model, base_url, key

    @property
    def name(self) -> str:
        """Its model, and the endpoint's address."""
        return f"openai-{self._model}-{sha256((self._base_url or '').encode()).hexdigest()[:16]}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text; see `Embedder.embed`."""
        import numpy as np

        from tea.retrieval.embedding.builtin import unit

        parts = [self._ask(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        if len({part.shape[1] for part in parts}) > 1:
            raise self._bad_response()
        return unit(np.concatenate(parts)) if parts else np.zeros((0, 0), np.float32)

    def _ask(self, texts: Sequence[str]) -> Vectors:
        import numpy as np
        from httpx import InvalidURL
        from openai import OpenAIError

        given = [text[:_LONGEST] or " " for text in texts]  # empty text is refused
        try:
            answer = self._client.embeddings.create(model=self._model, input=given, encoding_format="float")
            found = {one.index: one.embedding for one in answer.data}
            with np.errstate(over="ignore"):
                rows = np.array([found[place] for place in range(len(given))], np.float32)
        except (OpenAIError, InvalidURL) as error:
            words = str(error)
            for secret in (self._key or "", *sent_headers("OPENAI").values()):
                words = hidden(words, secret, "<secret>")  # some repeat it, in another form too
            problem = f"The embedding model {self._model!r} does not answer: {words[:150]}."
            raise ProviderError(problem, fix="check base_url, key_env and model of [embedder] in tea.toml.") from None
        except (AttributeError, LookupError, TypeError, ValueError) as error:  # it is no answer, or holds no vectors
            raise self._bad_response() from error
        if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
            raise self._bad_response()
        return rows

    def _bad_response(self) -> ProviderError:
        problem = f"The embedding model {self._model!r} did not give one vector for each text."
        return ProviderError(
            problem, fix="check that base_url of [embedder] in tea.toml is an endpoint for embeddings."
        )

    @cached_property
    def _client(self) -> Any:
        from openai import DefaultHttpxClient, OpenAI

        if self._key is None and self._base_url is None:
            problem = f"The embedding model {self._model!r} cannot be used: its key is not set."
            raise ProviderError(problem, fix="set OPENAI_API_KEY, or the variable that key_env of [embedder] names.")
        hooks, headers = {"response": [_read]}, {"Accept-Encoding": ACCEPTED}
        http = DefaultHttpxClient(follow_redirects=False, timeout=_SECONDS, event_hooks=hooks, headers=headers)
        key = self._key or "none"
        client = OpenAI(base_url=self._base_url, api_key=key, timeout=_SECONDS, max_retries=2, http_client=http)
        return alone(client, "openai", self._base_url)


def _read(response: Any) -> None:
    """Read the body of a response, at most a maximum number of bytes; a longer one is cut off, and so no JSON."""
    decoder, told = Decoder(response.headers.get("content-encoding", ""), _MOST_OF_AN_ANSWER), bytearray()
    for chunk in response.iter_raw():
        told += decoder.feed(chunk)
        if decoder.full:
            break
    response.close()
    response._content = bytes(told)
