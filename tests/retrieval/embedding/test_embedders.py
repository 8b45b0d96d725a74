"""Test embedders: the built-in one on its real file, an endpoint on loopback, and settings."""

import gzip
import json
import tracemalloc
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote_plus

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from openai.types import CreateEmbeddingResponse, EmbeddingCreateParams
from pydantic import TypeAdapter

from tea.errors import BadInput, MissingExtra, ProviderError
from tea.platform import Platform
from tea.retrieval.embedding.builtin import Blend, StaticEmbedder, packed, unpacked
from tea.retrieval.embedding.choice import embedder_of
from tea.retrieval.embedding.endpoint import EndpointEmbedder
from tea.retrieval.embedding.local import LocalEmbedder
from tea.retrieval.embedding.wordpiece import WordPieces, words

BUILTIN = StaticEmbedder()


def nearness(one: str, other: str) -> float:
    first, second = BUILTIN.embed([one, other])
    return float(first @ second)


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("will it rain tomorrow", "Weather forecast for a city", "Convert money between currencies"),
        ("exchange dollars for euros", "Convert money between currencies", "Weather forecast for a city"),
        ("what should I cook tonight", "Recipes and meal plans", "Search for flights"),
        ("book a plane to Lisbon", "Search for flights", "Recipes and meal plans"),
        ("calculate the square root", "Evaluate arithmetic expressions", "Send an email"),
    ],
)
def test_what_means_the_same_in_other_words_is_nearer(query: str, near: str, far: str) -> None:
    assert nearness(query, near) > nearness(query, far) + 0.1


@given(some.lists(some.text(max_size=60), max_size=6))
def test_any_texts_have_rows_of_length_one_or_zero_each_as_alone(texts: list[str]) -> None:
    rows = BUILTIN.embed(texts)
    assert rows.shape == (len(texts), 256)
    assert rows.dtype == np.float32
    for row, text in zip(rows, texts, strict=True):
        assert np.array_equal(row, BUILTIN.embed([text])[0])
        assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5) or not row.any()
    assert np.isfinite(rows).all()


def test_case_accents_underscores_and_inner_capitals_do_not_matter() -> None:
    assert words("airQuality_forecast Café") == ["air", "quality", "forecast", "cafe"]
    assert nearness("AIR_QUALITY", "airQuality") == pytest.approx(1, abs=1e-5)


def test_a_word_is_cut_into_the_longest_known_pieces_or_left_out() -> None:
    pieces = WordPieces({"air": 0, "##craft": 1, "##c": 2, "a": 3})
    assert pieces("aircraft air zebra airx") == [0, 1, 0]


@given(some.lists(some.lists(some.integers(-7, 7), min_size=4, max_size=4), min_size=1, max_size=5))
def test_packing_loses_nothing(rows: list[list[int]]) -> None:
    assert unpacked(packed(np.array(rows))).tolist() == rows


def test_other_vectors_have_another_name(tmp_path: Path) -> None:
    file, names = tmp_path / "words.npz", []
    for number in (1, 2):
        codes = packed(np.full((1, 4), number))
        np.savez(file, vocabulary=np.frombuffer(b"air", np.uint8), codes=codes, scales=np.ones(1))
        names.append(StaticEmbedder(file).name)
    assert names[0] != names[1]


def test_vectors_are_read_once_for_all_embedders_until_their_file_changes(tmp_path: Path) -> None:
    file, codes = tmp_path / "words.npz", packed(np.full((1, 4), 1))
    np.savez(file, vocabulary=np.frombuffer(b"air", np.uint8), codes=codes, scales=np.ones(1))
    expected = StaticEmbedder(file).embed(["air"]).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "read_bytes", lambda _: b"")
        assert StaticEmbedder(file).embed(["air"]).tolist() == expected
        file.touch()
        with pytest.raises(EOFError):
            StaticEmbedder(file).embed(["air"])


@contextmanager
def endpoint(answer: Any, status: int = 200, **headers: str) -> Iterator[tuple[str, list[Any]]]:
    """A server on loopback; `answer` makes its reply from the request, held to the SDK's types.

    Source: platform.openai.com/docs/api-reference/embeddings/create.
    """
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append({"body": body, "headers": {name.lower(): value for name, value in self.headers.items()}})
            given = answer(body)
            data = given if isinstance(given, bytes) else json.dumps(given).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    for one in asked:
        TypeAdapter(EmbeddingCreateParams).validate_python({**one["body"]})


def backwards(body: Any) -> Any:
    rows = [
        {"index": place, "object": "embedding", "embedding": [3.0, 4.0 * place]} for place in range(len(body["input"]))
    ]
    return {"object": "list", "data": rows[::-1], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def test_an_endpoint_gives_rows_in_the_order_of_the_texts() -> None:
    with endpoint(backwards) as (url, asked):
        rows = EndpointEmbedder("small", base_url=url, key="secret").embed(["one", "two"])
    assert rows == pytest.approx(np.array([[1, 0], [0.6, 0.8]]))
    assert asked[0]["body"]["model"] == "small"
    assert asked[0]["body"]["input"] == ["one", "two"]
    assert asked[0]["headers"]["authorization"] == "Bearer secret"
    CreateEmbeddingResponse.model_validate(backwards(asked[0]["body"]))


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (lambda body: {"error": {"message": "no such model"}}, 404),
        (lambda body: {**backwards(body), "data": []}, 200),
        (lambda body: {"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}, 200),
        (lambda body: {"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}, 200),
        (lambda body: {"data": [{"embedding": [1]}, {"embedding": [1]}]}, 200),
        (lambda body: {"data": [{"index": place, "embedding": None} for place in (0, 1)]}, 200),
        (lambda body: {"data": [{"index": place, "embedding": []} for place in (0, 1)]}, 200),
        (lambda body: {"data": [{"index": place, "embedding": [float("nan")]} for place in (0, 1)]}, 200),
        (lambda body: {"data": [{"index": place, "embedding": [1e308]} for place in (0, 1)]}, 200),
        (lambda body: {"data": [{"index": place, "embedding": "AACAPw=="} for place in (0, 1)]}, 200),
        (lambda body: {"data": [None, None]}, 200),
        (lambda body: {"data": None}, 200),
        (lambda body: [], 200),
        (lambda body: "<html>", 200),
    ],
)
def test_an_endpoint_that_gives_no_vectors_is_a_clear_error(answer: Any, status: int) -> None:
    with endpoint(answer, status) as (url, _), pytest.raises(ProviderError) as caught:
        EndpointEmbedder("small", base_url=url).embed(["one", "two"])
    assert "small" in caught.value.problem
    assert "tea.toml" in caught.value.fix


def as_basic(key: str) -> str:
    return b64encode(f"user:{key}".encode()).decode()


@pytest.mark.parametrize("form", [str, as_basic, quote_plus])
def test_a_key_that_an_endpoint_repeats_is_in_no_error(form: Callable[[str], str]) -> None:
    key = "key/that nobody-may-see"
    repeats = endpoint(lambda body: {"error": {"message": f"bad key {form(key)}"}}, 401)
    with repeats as (url, _), pytest.raises(ProviderError, match=r"bad key .*<secret>") as caught:
        EndpointEmbedder("small", base_url=url, key=key).embed(["one"])
    assert not any(piece in caught.value.problem for piece in (form(key)[8:-8], "nobody"))
    assert caught.value.__cause__ is None


def test_a_server_of_ones_own_gets_nothing_that_the_environment_has_for_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway-Key: gateway-planted\nX-Team: research")
    monkeypatch.setenv("OPENAI_ORG_ID", "planted")
    with endpoint(backwards) as (url, asked):
        EndpointEmbedder("small", base_url=url).embed(["one"])
        assert "planted" not in str(asked)
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        EndpointEmbedder("small", base_url=url).embed(["one"])
        assert "gateway-planted" in str(asked)
    repeats = endpoint(lambda body: {"error": {"message": "no gateway-planted"}}, 401)
    with repeats as (url, _), pytest.raises(ProviderError, match=r"no <secret>"):
        EndpointEmbedder("small", base_url=url).embed(["one"])


def test_an_address_that_is_no_host_is_told_as_one_that_does_not_answer() -> None:
    with pytest.raises(ProviderError, match="does not answer"):
        EndpointEmbedder("small", base_url="https://evil.org\u00ad.x/v1", key="k").embed(["one"])


@pytest.mark.parametrize("status", [302, 307])
def test_an_endpoint_leads_to_no_other_address(status: int) -> None:
    with (
        endpoint(backwards) as (other, led),
        endpoint(backwards, status, location=f"{other}/embeddings") as (url, asked),
        pytest.raises(ProviderError, match="does not answer"),
    ):
        EndpointEmbedder("small", base_url=url).embed(["one"])
    assert len(asked) == 1
    assert led == []


@pytest.mark.parametrize("times", [1, 2])
def test_a_small_answer_of_an_endpoint_that_becomes_large_is_not_unpacked_to_its_end(times: int) -> None:
    bomb = gzip.compress(bytes(192 * 2**20), 1)
    for _ in range(times - 1):
        bomb = gzip.compress(bomb)
    with endpoint(lambda body: bomb, content_encoding=", ".join(["gzip"] * times)) as (url, _):
        tracemalloc.start()
        try:
            with pytest.raises(ProviderError):
                EndpointEmbedder("small", base_url=url).embed(["one"])
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most < 150 * 2**20


def test_an_endpoint_may_pack_its_answer() -> None:
    with endpoint(lambda body: gzip.compress(json.dumps(backwards(body)).encode()), content_encoding="gzip") as (
        url,
        _,
    ):
        assert EndpointEmbedder("small", base_url=url).embed(["one", "two"]).shape == (2, 2)


def test_what_is_no_json_is_a_clear_error() -> None:
    with endpoint(lambda body: float("nan")) as (url, _), pytest.raises(ProviderError, match="one vector for each"):
        EndpointEmbedder("small", base_url=url).embed(["one"])


def test_a_blend_is_the_weighted_mean_of_both() -> None:
    texts = ["convert money", "money"]
    with endpoint(backwards) as (url, _):
        other = EndpointEmbedder("small", base_url=url)
        rows, first, second = Blend(other, BUILTIN, 0.3).embed(texts), other.embed(texts), BUILTIN.embed(texts)
    assert rows[0] @ rows[1] == pytest.approx(0.7 * (first[0] @ first[1]) + 0.3 * (second[0] @ second[1]), abs=1e-5)
    assert Blend(other, BUILTIN, 0.3).name == f"{other.name}+{BUILTIN.name}-0.3"


def test_without_a_key_the_provider_is_not_asked() -> None:
    with pytest.raises(ProviderError, match="key is not set"):
        EndpointEmbedder("text-embedding-3-small").embed(["one"])


def test_a_local_model_that_is_none_says_so(tmp_path: Path) -> None:
    with pytest.raises((BadInput, MissingExtra)) as caught:
        LocalEmbedder(str(tmp_path)).embed(["one"])
    assert "sentence" in str(caught.value)


def test_a_folder_that_changes_has_another_name(tmp_path: Path) -> None:
    before = LocalEmbedder(str(tmp_path)).name
    (tmp_path / "weights").write_bytes(b"1")
    assert LocalEmbedder(str(tmp_path)).name != before


@pytest.mark.parametrize(
    "document",
    [
        {"provider": "telepathy"},
        {"provider": 1},
        {"modle": "x"},
        {"provider": "openai"},
        {"provider": "sentence-transformers"},
    ],
)
def test_settings_that_name_no_embedder_are_refused_at_once(document: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        embedder_of(document, lambda name: None)
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in document.items())
    (tmp_path / "tea.toml").write_text(f"[embedder]\n{lines}\n")
    with pytest.raises(BadInput):
        Platform(tmp_path)


async def test_the_embedder_that_the_settings_name_is_the_one_that_is_asked(tmp_path: Path) -> None:
    with endpoint(backwards) as (url, asked):
        (tmp_path / "tea.toml").write_text(
            f'[embedder]\nprovider = "openai"\nmodel = "small"\nbase_url = "{url}"\nkey_env = "MY_KEY"\n'
        )
        (tmp_path / ".env").write_text("MY_KEY=hidden\n")
        async with Platform(tmp_path, state=tmp_path / "state") as tea:
            assert await tea.tcp.retrieve("numbers", 2)
    assert {one["headers"]["authorization"] for one in asked} == {"Bearer hidden"}
