"""Test later questions: they go, and fail, the same way as the SDK's first one."""

import asyncio
import gzip
import ssl
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import pytest
from dialects import Dialect, Say, said
from loopback import Reply, document
from model_kit import HELLO, Asking, asking
from serving import serving

from tea.errors import ProviderError
from tea.models.connections import alone

HI = Say(text="hello")
OF_ITS_OWN = ("content-length",)
PEM = Path(__file__).parent.parent / "fixtures" / "web" / "loopback.pem"


async def test_the_questions_behind_the_first_are_sent_as_the_sdk_sent_that_one(dialect: Dialect) -> None:
    async with asking(dialect, *[said(dialect, HI)] * 3) as (one, server):
        longer = HELLO.model_copy(update={"messages": (*HELLO.messages, *HELLO.messages[1:])})
        assert [(await one.ask(asked)).text for asked in (HELLO, longer, HELLO)] == ["hello"] * 3
    first, second, third = server.asked
    assert first.raw == third.raw != second.raw
    assert {value for name, value in first.headers.items() if name.endswith("timeout")} == {"60"}
    for asked in (second, third):
        assert (asked.method, asked.path) == (first.method, first.path)
        assert {name: value for name, value in asked.headers.items() if name not in OF_ITS_OWN} == {
            name: value for name, value in first.headers.items() if name not in OF_ITS_OWN
        }
        assert int(asked.headers["content-length"]) == len(asked.raw)


@pytest.mark.parametrize("scheme", ["https", "HTTPS", "hTTps"])
async def test_a_certificate_that_nobody_vouches_for_gets_no_key_however_the_scheme_is_spelled(
    dialect: Dialect, scheme: str
) -> None:
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readline())

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(PEM)
    async with serving(hear, tls=tls) as port:
        one = Asking(dialect, f"{scheme}://127.0.0.1:{port}", limits={"attempts": 1})
        with pytest.raises(ProviderError):
            await one.ask(HELLO)
        await one.model.close()
    assert heard in ([], [b""])


async def test_what_a_server_puts_into_a_cookie_is_not_sent_with_every_later_question(dialect: Dialect) -> None:
    listed = document({"data": [{"id": "fake-1"}]}, set_cookie="place=gone; Path=/")
    async with asking(dialect, listed, *[said(dialect, HI)] * 2, model="") as (one, server):
        assert [(await one.ask(HELLO)).text for _ in range(2)] == ["hello"] * 2
    assert "cookie" not in server.asked[-1].headers


@pytest.mark.parametrize("status", [302, 400, 401, 429, 500])
async def test_an_error_of_a_later_question_is_told_like_one_of_the_first(dialect: Dialect, status: int) -> None:
    error = document({"error": {"type": "some_error", "message": "not like this"}}, status, location="/elsewhere")
    problems: list[str] = []
    for before in ((), (said(dialect, HI),)):
        async with asking(dialect, *before, error, limits={"attempts": 1}) as (one, _):
            for _ in before:
                await one.ask(HELLO)
            with pytest.raises(ProviderError) as caught:
                await one.ask(HELLO)
            problems.append(f"{caught.value.problem} {caught.value.fix}")
    assert problems[0] == problems[1]


async def test_the_body_of_an_error_is_read_no_further_than_its_words(dialect: Dialect) -> None:
    page = b'{"error": "' + b"busy " * 20_000
    endless = Reply(status=500, headers={"content-type": "application/json"}, chunks=[page], then="hang")
    limits = {"attempts": 1, "attempt_seconds": 60}
    for before in ((), (said(dialect, HI),)):
        async with asking(dialect, *before, endless, limits=limits) as (one, _):
            for _ in before:
                await one.ask(HELLO)
            async with asyncio.timeout(20):
                with pytest.raises(ProviderError, match=r"status 500: .*busy busy"):
                    await one.ask(HELLO)


async def test_an_answer_that_a_server_packs_unasked_is_read(dialect: Dialect) -> None:
    plain = said(dialect, HI)
    packed = Reply(
        headers={**plain.headers, "content-encoding": "gzip"}, chunks=[gzip.compress(b"".join(plain.chunks))]
    )
    async with asking(dialect, packed, packed) as (one, _):
        assert [(await one.ask(HELLO)).text for _ in range(2)] == ["hello", "hello"]


@pytest.mark.parametrize("status", [200, 500])
async def test_a_small_answer_that_becomes_large_is_not_unpacked(dialect: Dialect, status: int) -> None:
    bomb = gzip.compress(gzip.compress(bytes(192 * 2**20), 1))
    headers = {"content-type": "application/json", "content-encoding": "gzip, gzip"}
    packed = Reply(status=status, headers=headers, chunks=[bomb])
    async with asking(dialect, packed, packed, limits={"attempts": 1}) as (one, _):
        tracemalloc.start()
        try:
            for _ in range(2):
                with pytest.raises(ProviderError):
                    await one.ask(HELLO)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most < 100 * 2**20


async def test_a_connection_that_breaks_in_a_later_question_is_tried_again(dialect: Dialect) -> None:
    broken = Reply(headers={"content-type": "application/json"}, chunks=[b"{"], then="break")
    async with asking(dialect, said(dialect, HI), broken, said(dialect, HI)) as (one, server):
        found = [await one.ask(HELLO) for _ in range(2)]
    assert [answer.text for answer in found] == ["hello", "hello"]
    assert (len(found[1].attempts), len(server.asked)) == (1, 3)


async def test_many_questions_at_once_share_their_way(dialect: Dialect) -> None:
    async with asking(dialect, *[said(dialect, HI)] * 20) as (one, server):
        await one.ask(HELLO)
        answers = await asyncio.gather(*(one.ask(HELLO) for _ in range(19)))
    assert {answer.text for answer in answers} == {"hello"}
    assert len(server.asked) == 20


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("https://api.openai.com/v1", True),
        ("http://api.openai.com/v1", False),  # anybody on the way reads along
        ("https://api.openai.com.evil.example/v1", False),
        ("https://evil.example/v1", False),
        ("https://community.openai.com/v1", False),
        ("https://api.openai.com:8443/v1", False),
        ("https://API.openai.com/v1/", True),
        ("https://api.openai.com:443/v1", True),
        ("", False),
    ],
)
def test_what_an_sdk_takes_of_the_environment_stays_from_other_addresses(address: str, own: bool) -> None:
    given = dict.fromkeys(("organization", "project", "admin_api_key", "auth_token"), "mine")
    client = SimpleNamespace(_custom_headers={"X-Key": "mine"}, **given)
    alone(client, "openai", address)
    assert {bool(getattr(client, name)) for name in (*given, "_custom_headers")} == {own}
