"""Test fetching: every hop is checked, connections go to checked addresses, and limits hold against bad servers."""

import asyncio
import gzip
import ssl
import tracemalloc
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving import serving
from sites import Asked, Page, Site, html, redirect

from tea.web import Fetcher, FetchFailed, Limits, UrlGuard
from tea.web.decoding import Decoder, Undecodable

PEM = Path(__file__).parent.parent / "fixtures" / "web" / "loopback.pem"
AGENT = "tea-tests/1"
QUICK = Limits(seconds=0.3, bytes_of=lambda kind: 100_000)


def fetcher(site: Site, *more: str, limits: Limits | None = None) -> Fetcher:
    return Fetcher(site.guard(*more), agent=AGENT, limits=limits or Limits(bytes_of=lambda kind: 100_000))


async def failure(fetching: Fetcher, url: str) -> FetchFailed:
    with pytest.raises(FetchFailed) as caught:
        await fetching.get(url)
    return caught.value


async def test_a_page_comes_with_its_headers_and_its_way() -> None:
    async with Site({"/a?b=c": html("<p>Hello</p>", etag='"1"', x_name="Grüße")}).open() as site:
        answer = await fetcher(site).get(f"{site.url}/a?b=c#part", {"If-None-Match": '"0"'})
    assert (answer.status, answer.body, answer.truncated) == (200, b"<p>Hello</p>", False)
    assert (answer.headers["etag"], answer.headers["x-name"]) == ('"1"', "Grüße")
    assert [(hop.url, hop.address, hop.status) for hop in answer.hops] == [(f"{site.url}/a?b=c", "127.0.0.1", 200)]
    (asked,) = site.asked
    assert asked.headers["host"] == site.place
    assert asked.headers["user-agent"] == AGENT
    assert asked.headers["if-none-match"] == '"0"'
    assert "cookie" not in asked.headers


async def test_the_connection_goes_to_the_address_that_was_checked_and_keeps_the_host() -> None:
    asked: list[str] = []

    async def resolve(name: str) -> Sequence[str]:
        asked.append(name)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]  # an answer that changes moves nothing

    async with Site({"/": html("there")}).open() as site:
        guard = UrlGuard([f"wiki.example:{site.port}"], resolve)
        answer = await Fetcher(guard, agent=AGENT).get(f"http://wiki.example:{site.port}/")
    assert answer.body == b"there"
    assert asked == ["wiki.example"]
    assert site.asked[0].headers["host"] == f"wiki.example:{site.port}"


async def test_proxies_of_the_environment_count_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Site({}).open() as proxy, Site({"/": html("direct")}).open() as site:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert (await fetcher(site).get(site.url)).body == b"direct"
    assert proxy.asked == []


async def test_redirects_are_followed_and_told() -> None:
    pages = {"/": redirect("/b?x=1"), "/b?x=1": redirect("c/d", 307), "/c/d": redirect("//127.0.0.1:{}/e", 308)}
    async with Site(pages).open() as site:
        site.pages["/c/d"] = redirect(f"//{site.place}/e f#part", 308)
        site.pages["/e%20f"] = html("arrived")
        answer = await fetcher(site).get(site.url)
    assert answer.body == b"arrived"
    assert [(hop.url.removeprefix(site.url), hop.status) for hop in answer.hops] == [
        ("/", 302), ("/b?x=1", 307), ("/c/d", 308), ("/e%20f", 200),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://127.0.0.1:1/", "bad_port"),
        ("http://127.0.0.1/", "not_public"),
        ("http://169.254.169.254/latest/meta-data/", "metadata"),
        ("http://[::1]/", "not_public"),
        ("http://localhost/", "local_name"),
        ("//10.0.0.1/", "not_public"),
        ("http://2130706433/", "bad_literal"),
        ("http://user:password@example.com/", "userinfo"),
        ("file:///etc/passwd", "bad_scheme"),
        ("gopher://127.0.0.1:6379/_FLUSHALL", "bad_scheme"),
        ("http:\\\\127.0.0.1\\", "bad_character"),
        ("\\\\127.0.0.1\\", "bad_character"),
        ("/\\127.0.0.1/", "bad_character"),
        ("http://[::1/", "bad_syntax"),
        ("http://exa mple.com/", "bad_character"),
    ],
)
async def test_a_redirect_is_checked_like_the_first_address(location: str, reason: str) -> None:
    async with Site({"/": redirect(location)}).open() as site:
        failed = await failure(fetcher(site), site.url)
    assert (failed.kind, failed.reason) == ("refused", reason)
    assert len(site.asked) == 1


async def test_a_redirect_to_a_name_that_resolves_to_a_private_address_is_refused() -> None:
    async def resolve(name: str) -> Sequence[str]:
        return ["93.184.216.34", "10.0.0.1"]

    async with Site({"/": redirect("http://intranet.example/")}).open() as site:
        failed = await failure(Fetcher(UrlGuard([site.place], resolve), agent=AGENT), site.url)
    assert (failed.kind, failed.reason) == ("refused", "not_public")


async def test_a_circle_of_redirects_ends() -> None:
    async with Site({"/": redirect("/b"), "/b": redirect("/")}).open() as site:
        failed = await failure(fetcher(site), site.url)
    assert failed.kind == "redirects"
    assert site.paths() == ["/", "/b"]


async def test_more_redirects_than_the_limit_end() -> None:
    pages = {f"/{number}": redirect(f"/{number + 1}") for number in range(20)}
    async with Site(pages).open() as site:
        failed = await failure(fetcher(site, limits=Limits(redirects=3)), f"{site.url}/0")
    assert failed.kind == "redirects"
    assert site.paths() == ["/0", "/1", "/2", "/3"]


async def test_a_redirect_without_a_place_is_an_answer() -> None:
    async with Site({"/": Page(status=302, body=b"where?")}).open() as site:
        answer = await fetcher(site).get(site.url)
    assert (answer.status, answer.body) == (302, b"where?")


@pytest.mark.parametrize("then", ["endless", "hang"])
async def test_a_body_without_an_end_ends_at_the_limits(then: str) -> None:
    async with Site({"/": Page(body=b"<p>begun</p>", then=then)}).open() as site:
        if then == "hang":
            assert (await failure(fetcher(site, limits=QUICK), site.url)).kind == "timeout"
        else:
            answer = await fetcher(site).get(site.url)
            assert (len(answer.body), answer.truncated) == (100_000, True)


async def test_a_server_that_never_answers_ends_in_time() -> None:
    async with Site({"/": Page(raw=b"HTTP/1.1 200", then="hang")}).open() as site:
        assert (await failure(fetcher(site, limits=QUICK), site.url)).kind == "timeout"


async def test_bytes_that_trickle_end_in_time() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not reader.at_eof():
            writer.write(b"x")
            await writer.drain()
            try:
                await asyncio.wait_for(reader.read(1_000), 0.01)
            except TimeoutError:
                continue

    async with serving(serve) as port:
        place = f"127.0.0.1:{port}"
        trickled = Fetcher(UrlGuard([place]), agent=AGENT, limits=QUICK)
        assert (await failure(trickled, f"http://{place}/")).kind == "timeout"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x-filler: " + b"x" * 200_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
    ],
    ids=range(10),
)
async def test_an_answer_that_is_no_http_is_broken(raw: bytes) -> None:
    async with Site({"/": Page(raw=raw or b" ")}).open() as site:
        assert (await failure(fetcher(site, limits=QUICK), site.url)).kind in ("broken", "timeout")


async def test_a_body_longer_than_it_says_is_cut_where_it_says() -> None:
    async with Site({"/": Page(body=b"hello, world", headers={"content-length": "5"})}).open() as site:
        assert (await fetcher(site).get(site.url)).body == b"hello"


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    async with Site({}).open() as site:
        pass
    assert (await failure(fetcher(site), site.url)).kind == "unreachable"


TEXT = "Ein Text über Grüße. " * 500
RAW = zlib.compressobj(wbits=-15)
PACKED = {
    "gzip": gzip.compress(TEXT.encode()),
    "x-gzip": gzip.compress(TEXT.encode()),
    "GZIP": gzip.compress(TEXT.encode()[:100]) + gzip.compress(TEXT.encode()[100:]),
    "deflate": zlib.compress(TEXT.encode()),
    "identity": TEXT.encode(),
    " deflate ": RAW.compress(TEXT.encode()) + RAW.flush(),
}


@pytest.mark.parametrize("encoding", PACKED)
async def test_a_compressed_body_is_unpacked(encoding: str) -> None:
    page = Page(body=PACKED[encoding], headers={"content-encoding": encoding})
    async with Site({"/": page}).open() as site:
        answer = await fetcher(site).get(site.url)
        assert answer.body.decode() == TEXT
        assert site.asked[0].headers["accept-encoding"] == "gzip, deflate"


async def test_a_bomb_ends_at_the_limit_of_unpacked_bytes() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(bomb) < 60_000
    async with Site({"/": Page(body=bomb, headers={"content-encoding": "gzip"})}).open() as site:
        answer = await fetcher(site).get(site.url)
    assert (len(answer.body), answer.truncated) == (100_000, True)


def test_a_bomb_is_never_unpacked_beyond_the_limit() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    tracemalloc.start()
    try:
        assert len(Decoder("gzip", 100_000).feed(bomb)) == 100_000
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "unknown", "gzip"])
async def test_an_encoding_that_cannot_be_read_is_an_error(encoding: str) -> None:
    page = Page(body=b"this is plain text, whatever the header says", headers={"content-encoding": encoding})
    async with Site({"/": page}).open() as site:
        assert (await failure(fetcher(site), site.url)).kind == "encoding"


@given(st.binary(max_size=3_000), st.integers(1, 500), st.integers(0, 4_000), st.sampled_from(["gzip", "deflate"]))
def test_a_decoder_gives_the_first_bytes_however_they_come(data: bytes, step: int, most: int, encoding: str) -> None:
    packed = gzip.compress(data) if encoding == "gzip" else zlib.compress(data)
    decoder, found = Decoder(encoding, most), b""
    for at in range(0, len(packed), step):
        found += decoder.feed(packed[at : at + step])
    assert found == data[:most]
    assert decoder.full == (len(data) > most)


@given(st.binary(), st.sampled_from(["gzip", "deflate", "br", ""]))
def test_a_decoder_of_anything_gives_bytes_or_says_that_it_cannot(data: bytes, encoding: str) -> None:
    with suppress(Undecodable):
        assert len(Decoder(encoding, 100).feed(data)) <= 100


@pytest.fixture
def tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    return context


async def local(name: str) -> Sequence[str]:
    return ["127.0.0.1"]


async def test_a_certificate_that_nobody_vouches_for_is_refused(tls: ssl.SSLContext) -> None:
    async with Site({"/": html("secret")}).open(tls) as site:
        failed = await failure(fetcher(site), f"https://{site.place}/")
    assert failed.kind == "tls"
    assert "certificate verify failed" in failed.problem
    assert site.asked == []


async def test_tls_is_verified_for_the_name_and_not_for_the_ip_address(
    tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[Any] = []
    tls.sni_callback = lambda connection, name, context: names.append(name)
    monkeypatch.setenv("SSL_CERT_FILE", str(PEM))
    async with Site({"/": html("secret")}).open(tls) as site:
        guard = UrlGuard([f"wiki.example:{site.port}", f"other.example:{site.port}"], local)
        answer = await Fetcher(guard, agent=AGENT).get(f"https://wiki.example:{site.port}/")
        failed = await failure(Fetcher(guard, agent=AGENT), f"https://other.example:{site.port}/")
    assert answer.body == b"secret"
    assert names == ["wiki.example", "other.example"]
    assert [one.headers["host"] for one in site.asked] == [f"wiki.example:{site.port}"]
    assert failed.kind == "tls"


async def test_a_server_that_speaks_no_tls_is_a_failure_of_tls_or_broken() -> None:
    async with Site({"/": html("plain")}).open() as site:
        assert (await failure(fetcher(site, limits=QUICK), f"https://{site.place}/")).kind in (
            "tls",
            "timeout",
            "broken",
        )


async def test_fetching_that_is_called_off_leaves_no_connection() -> None:
    came = asyncio.Event()

    def hang(asked: Asked) -> Page:
        came.set()
        return Page(body=b"begun", then="hang")

    async with Site({"/": hang}).open() as site:
        task = asyncio.create_task(fetcher(site).get(site.url))
        await came.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
