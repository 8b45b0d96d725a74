"""Test the guard: allowed addresses, and the IP address of the connection."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from ipaddress import IPv4Address, ip_address
from typing import Any, ClassVar, get_args
from urllib.parse import urlsplit

import pytest
from guard_cases import FETCHED, MAPPED, METADATA, PRIVATE, PUBLIC, WRITTEN
from hypothesis import example, given
from hypothesis import strategies as st

from tea.web import REASONS, UrlGuard, Verdict
from tea.web.address import read_address
from tea.web.networks import class_of, read_ip

Resolver = Callable[[str], Awaitable[Sequence[str]]]


def answering(*answers: str) -> Resolver:
    async def resolve(name: str) -> Sequence[str]:
        return answers

    return resolve


def in_brackets(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def test_there_are_many_cases() -> None:
    count = len(FETCHED) + len(WRITTEN) + 3 * (len(PRIVATE) + len(METADATA)) + 2 * len(MAPPED)
    assert count >= 600
    assert len(set(FETCHED)) + len(set(WRITTEN)) >= 280


@pytest.mark.parametrize(("url", "name"), FETCHED, ids=lambda value: ascii(value)[:60])
async def test_public_places_are_allowed_and_the_resolver_gets_the_ascii_name(url: str, name: str) -> None:
    asked: list[str] = []

    async def resolve(name: str) -> Sequence[str]:
        asked.append(name)
        return [PUBLIC]

    verdict = await UrlGuard(resolver=resolve).check(url)
    assert (verdict.allowed, verdict.reason) == (True, "public")
    assert asked == ([name] if name else [])
    assert verdict.address == (PUBLIC if name else urlsplit(url).hostname)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("fares.html", "bad_scheme"),
        ("http://site.test:8931/", "bad_port"),
        ("http://localhost/", "local_name"),
        ("https://10.0.0.1/", "not_public"),
        ("https://below.closed.test/", "denied"),
        (f"https://{PUBLIC}/", "public"),
        ("http://127.0.0.1:8000/", "allowed"),
        ("https://site.test/", None),
        ("http://opened.test:9/", None),
    ],
)
async def test_a_verdict_is_foreseen_where_no_name_has_to_be_resolved(url: str, reason: str | None) -> None:
    guard = UrlGuard(["127.0.0.1:8000", "opened.test:9"], answering(PUBLIC), deny=["closed.test"])
    foreseen = guard.foresee(url)
    assert (None if foreseen is None else foreseen.reason) == reason
    assert foreseen in (None, await guard.check(url))


@pytest.mark.parametrize(("reason", "url"), WRITTEN, ids=lambda value: ascii(value)[:60])
async def test_an_address_is_refused_for_how_it_is_written_before_anything_is_resolved(reason: str, url: str) -> None:
    async def resolve(name: str) -> Sequence[str]:
        raise AssertionError(f"{name!r} was resolved")

    assert await UrlGuard(resolver=resolve).check(url) == Verdict(False, reason, None)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("address", PRIVATE)
async def test_an_ip_address_that_is_not_public_is_refused(address: str) -> None:
    assert str(ip_address(address)) == address
    refused = Verdict(False, "not_public", None)
    assert await UrlGuard().check(f"http://{in_brackets(address)}/") == refused
    assert await UrlGuard(resolver=answering(address)).check("http://example.com/") == refused
    assert await UrlGuard(resolver=answering(PUBLIC, address)).check("http://example.com/") == refused


@pytest.mark.parametrize("address", METADATA)
async def test_the_metadata_service_of_a_cloud_is_refused(address: str) -> None:
    refused = Verdict(False, "metadata", None)
    assert await UrlGuard().check(f"http://{in_brackets(address)}/") == refused
    assert await UrlGuard(resolver=answering(PUBLIC, address)).check("http://example.com/") == refused
    opened = UrlGuard(["example.com:80"], resolver=answering(address))
    assert await opened.check("http://example.com/") == refused


@pytest.mark.parametrize("address", MAPPED)
async def test_an_ipv4_address_mapped_into_ipv6_is_refused_in_every_spelling(address: str) -> None:
    number = int(ip_address(address))
    for spelling in (f"::ffff:{address}", f"::ffff:{number >> 16:x}:{number & 0xFFFF:x}"):
        assert (await UrlGuard().check(f"http://[{spelling}]/")).reason in ("not_public", "bad_literal")
        assert (await UrlGuard(resolver=answering(spelling)).check("http://example.com/")).reason == "not_public"


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ((), "unresolved"),
        (("not an address",), "bad_answer"),
        (("127.1",), "bad_answer"),
        (("0177.0.0.1",), "bad_answer"),
        (("fe80::1%eth0",), "bad_answer"),
        ((PUBLIC, ""), "bad_answer"),
        ((PUBLIC, "example.org"), "bad_answer"),
        ((PUBLIC, None), "bad_answer"),
        ((2130706433,), "bad_answer"),
        ((b"\x01\x01\x01\x01",), "bad_answer"),
        ((PUBLIC,) * 300, "bad_answer"),
        (("1.1.1.1", "2606:4700:4700::1111", "10.0.0.1"), "not_public"),
    ],
)
async def test_an_answer_that_is_not_all_public_addresses_refuses(answers: Any, reason: str) -> None:
    verdict = await UrlGuard(resolver=answering(*answers)).check("http://example.com/")
    assert (verdict.allowed, verdict.reason, verdict.address) == (False, reason, None)


async def test_the_first_of_several_public_answers_is_connected_to() -> None:
    guard = UrlGuard(resolver=answering("2606:4700:4700:0::1111", "1.1.1.1"))
    assert (await guard.check("http://example.com/")).address == "2606:4700:4700::1111"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (socket.gaierror(socket.EAI_NONAME, "no such name"), "unresolved"),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), "resolver_failed"),
        (OSError("no network"), "resolver_failed"),
        (UnicodeError("label too long"), "resolver_failed"),
        (RecursionError(), "resolver_failed"),
        (ExceptionGroup("several", [ValueError()]), "resolver_failed"),
        (asyncio.CancelledError(), "resolver_failed"),
        (TimeoutError(), "resolver_timeout"),
    ],
)
async def test_a_resolver_that_fails_is_a_reason(error: BaseException, reason: str) -> None:
    async def resolve(name: str) -> Sequence[str]:
        raise error

    assert await UrlGuard(resolver=resolve).check("http://example.com/") == Verdict(False, reason, None)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("given", [None, 7, PUBLIC, b"1.1.1.1", object()])
async def test_a_resolver_that_gives_no_list_is_a_reason(given: Any) -> None:
    async def resolve(name: str) -> Any:
        return given

    verdict = await UrlGuard(resolver=resolve).check("http://example.com/")
    assert not verdict.allowed
    assert verdict.reason in ("bad_answer", "resolver_failed")


async def test_a_resolver_that_is_not_async_is_a_reason() -> None:
    resolve: Any = lambda name: [PUBLIC]  # noqa: E731
    assert (await UrlGuard(resolver=resolve).check("http://example.com/")).reason == "resolver_failed"


class Hasty(UrlGuard):
    seconds: ClassVar[float] = 0.01


async def test_a_resolver_that_never_answers_is_a_reason_in_time() -> None:
    async def resolve(name: str) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    assert (await Hasty(resolver=resolve).check("http://example.com/")).reason == "resolver_timeout"


async def test_a_check_that_is_called_off_ends() -> None:
    begun = asyncio.Event()

    async def resolve(name: str) -> Sequence[str]:
        begun.set()
        await asyncio.Event().wait()
        return []

    checking = asyncio.create_task(UrlGuard(resolver=resolve).check("http://example.com/"))
    await begun.wait()
    checking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await checking


def spellings(address: str) -> Iterator[str]:
    """Yield the texts taken for an IPv4 address by some reader or other."""
    a, b, c, d = (int(one) for one in address.split("."))
    whole, wide = int(IPv4Address(address)), f"{a << 8 | b:x}:{c << 8 | d:x}"
    yield from (
        address,
        str(whole),
        hex(whole),
        f"0X{whole:X}",
        f"0{whole:o}",
        f"{'0' * 11}{whole:o}",
        str(whole + 2**32),
    )
    yield from (".".join(map(form, (a, b, c, d))) for form in (hex, "0{:o}".format, "{:04d}".format, "{:03d}".format))
    yield from (f"{a}.{b << 16 | c << 8 | d}", f"{a}.{b}.{c << 8 | d}", f"{a}.0x{b:x}.{c}.0{d:o}", f"0x{a:x}.{b}")
    yield from (
        f"{address}.",
        f".{address}",
        f"{address}..",
        f"{address}%2e",
        f"{address}%00",
        f"{whole}.",
        f"[{whole}]",
    )
    yield from (
        f"[{before}{wide}]" for before in ("::ffff:", "::", "64:ff9b::", "64:ff9b:1::", "::ffff:0:", "fe80::5efe:")
    )
    yield from (f"[{before}{address}]" for before in ("", "::ffff:", "::", "64:ff9b::", "2a00::5efe:"))
    yield from (f"[2002:{wide}::]", f"[2002:{wide}::1]", f"[2001:0:4136:e378:8000:63bf:{wide}]", f"[::1%25{a}]")
    yield from ("".join(chr(zero + int(one)) if one.isdigit() else one for one in address) for zero in ZEROS)
    yield from (
        address.replace(".", dot) for dot in ("\u3002", "\uff0e", "\uff61", "\u2024", "\u00b7", "%2e", "\ufe52")
    )
    yield from (
        "".join(f"%{ord(one):02x}" for one in address),
        f"{address}\\@a.com",
        f"a.com@{address}",
        f"{address}\u200b",
    )


# Digits nought in other scripts: full width, Arabic, Devanagari, mathematical, superscript, segmented.
ZEROS = (0xFF10, 0x0660, 0x0966, 0x1D7CE, 0x2070, 0x1FBF0)


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.9", "100.64.0.1", "0.0.0.0"]
)
async def test_no_spelling_of_an_internal_address_is_allowed_or_resolved(address: str) -> None:
    async def resolve(name: str) -> Sequence[str]:
        raise AssertionError(name)

    guard = UrlGuard(resolver=resolve)
    urls = [
        f"{scheme}://{host}{port}/"
        for host in spellings(address)
        for scheme, port in (("http", ""), ("https", ":8443"))
    ]
    assert len(set(urls)) > 90
    for url in urls:
        verdict = await guard.check(url)
        assert not verdict.allowed, url
        assert verdict.reason not in ("resolver_failed", "unresolved"), url


@pytest.mark.parametrize("given", [None, 1, 1.5, b"http://example.com/", ["http://example.com/"], object()])
async def test_what_is_not_text_is_refused(given: Any) -> None:
    assert await UrlGuard().check(given) == Verdict(False, "not_text", None)


ALLOW = ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "wiki.corp:80", "Bücher.example:9000", "10.0.0.7:22"]


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:8000/", "127.0.0.1"),
        ("https://127.0.0.1:8000/x?y", "127.0.0.1"),
        ("http://localhost:8000/", "10.1.1.1"),
        ("http://LocalHost:8000/", "10.1.1.1"),
        ("http://[::1]:8000/", "::1"),
        ("http://wiki.corp/", "10.1.1.1"),
        ("http://wiki.corp:80/", "10.1.1.1"),
        ("http://bücher.example:9000/", "10.1.1.1"),
        ("http://xn--bcher-kva.example:9000/", "10.1.1.1"),
        ("http://10.0.0.7:22/", "10.0.0.7"),
    ],
)
async def test_what_the_operator_opened_is_allowed(url: str, address: str) -> None:
    assert await UrlGuard(ALLOW, answering("10.1.1.1")).check(url) == Verdict(True, "allowed", address)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.0.0.1:8001/",
        "http://127.0.0.2:8000/",
        "http://127.1:8000/",
        "http://2130706433:8000/",
        "http://0x7f.1:8000/",
        "http://127.0.0.1.:8000/",
        "http://user@127.0.0.1:8000/",
        "http://localhost:8001/",
        "http://localhost.:8000/",
        "http://a.localhost:8000/",
        "http://other.corp:8000/",
        "http://other.corp/",
        "https://wiki.corp/",
        "http://[::1]/",
        "http://[::2]:8000/",
        "http://[0:0:0:0:0:0:0:1]:8000/",
        "http://[::ffff:127.0.0.1]:8000/",
        "http://[::ffff:7f00:1]:8000/",
        "ftp://127.0.0.1:8000/",
        "http://127.0.0.1:8000\\@example.com/",
    ],
)
async def test_nothing_but_what_the_operator_opened_is_allowed(url: str) -> None:
    assert not (await UrlGuard(ALLOW, answering("127.0.0.1")).check(url)).allowed


@pytest.mark.parametrize(
    "entry",
    ["", "*", "*:*", "127.0.0.1", "localhost", "127.0.0.1:*", "*:8000", "127.0.0.0/8", "127.0.0.0/8:8000", "127.1:8000",
     ":8000", "http://127.0.0.1:8000", "127.0.0.1:8000/", "127.0.0.1:8000/x", " 127.0.0.1:8000", "127.0.0.1:08000",
     "user@127.0.0.1:8000", "127.0.0.1:8000:8000", "::1:8000", "[::1]", "\x00", "a" * 100_000, None, 8000],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
async def test_an_entry_of_another_form_opens_nothing(entry: Any) -> None:
    guard = UrlGuard([entry], answering("127.0.0.1"))
    for place in ("127.0.0.1", "127.0.0.1:8000", "localhost:8000", "[::1]:8000", "example.com"):
        assert not (await guard.check(f"http://{place}/")).allowed


async def test_one_text_in_the_place_of_a_list_opens_nothing() -> None:
    assert not (await UrlGuard("127.0.0.1:8000").check("http://127.0.0.1:8000/")).allowed


@pytest.mark.parametrize("address", ["0.0.0.0", "169.254.1.1", "fe80::1", "224.0.0.1", "::ffff:10.0.0.1", "::"])
async def test_an_opened_name_does_not_open_what_is_neither_public_nor_private(address: str) -> None:
    assert not (await UrlGuard(ALLOW, answering(address)).check("http://wiki.corp/")).allowed


async def test_the_greatest_length_is_8192_characters() -> None:
    url = "http://example.com/"
    guard = UrlGuard(resolver=answering(PUBLIC))
    assert (await guard.check(url + "a" * (8192 - len(url)))).allowed
    assert (await guard.check(url + "a" * (8193 - len(url)))).reason == "too_long"


async def test_a_verdict_is_as_true_as_it_allows() -> None:
    assert await UrlGuard(resolver=answering(PUBLIC)).check("http://example.com/")
    assert not await UrlGuard(resolver=answering(PUBLIC)).check("http://127.0.0.1/")


async def test_the_system_resolves_where_no_resolver_is_given() -> None:
    assert (await UrlGuard(["localhost:8000"]).check("http://localhost:8000/")).address in ("127.0.0.1", "::1")


def test_every_reason_is_documented() -> None:
    from tea.web.guard import Reason

    def names(hint: Any) -> set[str]:
        return {one for part in get_args(hint) for one in (names(part) if get_args(part) else {part})}

    assert names(Reason) == set(REASONS)
    assert {reason for reason, _ in WRITTEN} <= set(REASONS)


def is_public_by_hand(text: str) -> bool:
    """An oracle of its own: by octets and the first bits, without the tables of the code under test."""
    address = ip_address(text)
    if address.version == 4:
        a, b, c, d = address.packed
        return not (
            a in (0, 10, 127)
            or a >= 224
            or (a == 100 and 64 <= b < 128)
            or (a == 169 and b == 254)
            or (a == 172 and 16 <= b < 32)
            or (a == 192 and b == 168)
            or (a, b, c) in ((192, 0, 0), (192, 0, 2), (192, 31, 196), (192, 52, 193), (192, 88, 99), (192, 175, 48))
            or (a == 198 and b in (18, 19))
            or (a, b, c) in ((198, 51, 100), (203, 0, 113))
            or (a, b, c, d) == (168, 63, 129, 16)
        )
    words = [int.from_bytes(address.packed[at : at + 2], "big") for at in range(0, 16, 2)]
    return (
        words[0] >> 13 == 1
        and not (words[0] == 0x2001 and words[1] < 0x200)
        and words[:2] != [0x2001, 0xDB8]
        and words[0] != 0x2002
        and words[:3] != [0x2620, 0x4F, 0x8000]
        and not (words[0] == 0x3FFF and words[1] < 0x1000)
        and not (words[4] in (0, 0x200) and words[5] == 0x5EFE)
    )


SPECIAL = st.sampled_from([*PRIVATE, *METADATA]).map(lambda text: int(ip_address(text)))
IPV4 = st.one_of(st.integers(0, 2**32 - 1), SPECIAL.filter(lambda one: one < 2**32))
NEAR = st.integers(-2, 2)
IPV6 = st.one_of(st.integers(0, 2**128 - 1), st.integers(2**125, 2**126 - 1), SPECIAL)


@given(IPV4, NEAR)
@example(int(ip_address("168.63.129.16")), 0)
def test_an_ipv4_address_is_public_as_an_independent_reading_says(number: int, step: int) -> None:
    address = ip_address(max(0, min(2**32 - 1, number + step)))
    assert (class_of(address) == "public") == is_public_by_hand(str(address))


@given(IPV6, NEAR)
def test_an_ipv6_address_is_public_as_an_independent_reading_says(number: int, step: int) -> None:
    address = read_ip(str(ip_address(max(2**32, min(2**128 - 1, number + step)))))
    assert address is not None
    assert (class_of(address) == "public") == is_public_by_hand(str(address))


PIECES = st.sampled_from(
    ["http", "HTTPS", "://", ":", "/", "//", "?", "#", "@", "[", "]", "%", "%2e", ".", "。", "\\", "\t", "\n", " ",
     "\x00", "\u200b", "\ud800", "127", "0x7f", "0177", "①", "localhost", "example", "com", "münchen", "xn--", "-", "_",
     "::1", "ffff", "169.254.169.254", "8.8.8.8", "80", "8080", "65536", "é", "K"]
)  # fmt: skip
ANSWERS = st.lists(st.one_of(IPV4.map(lambda one: str(ip_address(one))), IPV6.map(lambda one: str(ip_address(one)))))


@given(st.one_of(st.text(), st.text(alphabet=st.characters()), st.lists(PIECES).map("".join)), ANSWERS)
@example("http://" + "[" * 5_000, [])
@example("http://" + "xn--" * 2_000, [])
def test_no_text_raises_and_what_is_allowed_is_public(text: str, answers: list[str]) -> None:
    for url in (text, f"http://{text}", f"http://{text}.com/", f"http://example.com/{text}"):
        verdict = asyncio.run(UrlGuard(resolver=answering(*answers)).check(url))
        assert verdict.reason in REASONS
        assert verdict.allowed == (verdict.reason == "public") == (verdict.address is not None)
        if verdict.allowed:
            assert verdict.address is not None
            assert is_public_by_hand(verdict.address)
            assert all(map(is_public_by_hand, answers)) or read_ip(verdict.address) is not None


@given(st.lists(PIECES).map("".join))
def test_a_place_is_read_the_same_when_it_is_written_out_again(text: str) -> None:
    for url in (text, f"https://{text}", f"http://example.com/{text}"):
        found = read_address(url)
        if not isinstance(found, str):
            assert read_address(found.url) == found
            assert found.url.isascii()


@pytest.mark.parametrize(
    ("url", "denied"),
    [
        ("https://huggingface.co/datasets/x", True),
        ("https://datasets.huggingface.co/", True),
        ("https://HuggingFace.co/", True),
        ("https://archive.example.com/web/2024id_/https://huggingface.co/x", True),
        ("https://mirror.example.com/?u=https%253A%252F%252Fhuggingface.co%252Fx", True),
        ("https://myhuggingface.co/", False),
        ("https://huggingface.com/", False),
        ("https://huggingface.co.example.com/", False),
        ("https://example.com/about", False),
    ],
)
async def test_denied_hosts_are_closed_with_all_that_leads_to_them(url: str, denied: bool) -> None:
    guard = UrlGuard(resolver=answering(PUBLIC), deny=["huggingface.co"])
    assert (await guard.check(url)).reason == ("denied" if denied else "public")


async def test_a_denied_host_stays_closed_where_the_operator_opened_its_place() -> None:
    assert (await UrlGuard(["127.0.0.1:8000"], deny=["127.0.0.1"]).check("http://127.0.0.1:8000/")).reason == "denied"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://api.example.org/v1", "public"),
        ("https://API.example.org:8443/v1", "public"),
        ("http://127.0.0.1:8000/", "allowed"),
        ("http://127.0.0.1:8001/", "not_declared"),
        ("https://www.api.example.org/", "not_declared"),
        ("https://example.org/", "not_declared"),
        ("https://api.example.org.evil.test/", "not_declared"),
        ("https://api.example.org:9000/", "bad_port"),
        ("https://me@api.example.org/", "userinfo"),
        ("https://8.8.8.8/", "not_declared"),
    ],
)
async def test_of_declared_hosts_alone_each_is_open_by_the_same_rules(url: str, reason: str) -> None:
    places = ("api.example.org", "127.0.0.1:8000", "not a host", "https://other.example.org")
    guard = UrlGuard(places, answering("93.184.216.34"), only=places)
    assert (await guard.check(url)).reason == reason


async def test_a_declared_host_without_a_port_has_to_be_public() -> None:
    guard = UrlGuard(("api.example.org",), answering("10.0.0.1"), only=("api.example.org",))
    assert (await guard.check("https://api.example.org/")).reason == "not_public"


async def test_an_empty_list_of_declared_hosts_opens_nothing() -> None:
    assert (
        await UrlGuard(resolver=answering("93.184.216.34"), only=()).check("https://a.com/")
    ).reason == "not_declared"
