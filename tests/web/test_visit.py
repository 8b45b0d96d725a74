"""Visits: cache, attempts, walls, robots, archive, and the way without TLS, as an operator's settings want them."""

import asyncio
import os
import socket
import ssl
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sites import Asked, Page, Site, html, redirect

from tea.web import FetchFailed, UrlGuard, Visitor, WebSettings
from tea.web.blocked import WALLS, wall_of
from tea.web.cache import CachedAnswer, PageCache
from tea.web.fetch import Answer
from tea.web.robots import may_fetch

PEM = Path(__file__).parent.parent / "fixtures" / "web" / "loopback.pem"
PARAGRAPH = "<p>" + "A sentence that says something about the sea. " * 50 + "</p>"


class Clock:
    """A time moved by tests."""

    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def settings(tmp_path: Path) -> WebSettings:
    return WebSettings(cache=str(tmp_path / "cache"), retries=(0.0, 0.0), seconds=5.0)


def visitor(site: Site, settings: WebSettings, clock: Clock, *more: str, **other: Any) -> Visitor:
    return Visitor(replace(settings, allow=(site.place, *more), **other), now=clock)


async def failure(visiting: Visitor, url: str) -> FetchFailed:
    with pytest.raises(FetchFailed) as caught:
        await visiting.visit(url)
    return caught.value


async def test_a_page_is_taken_from_the_cache_for_a_while_and_then_asked_about(
    settings: WebSettings, clock: Clock
) -> None:
    def serve(asked: Asked) -> Page:
        return Page(status=304) if asked.headers.get("if-none-match") == '"1"' else html("one", etag='"1"')

    async with Site({"/": serve}).open() as site:
        visiting = visitor(site, settings, clock)
        first = await visiting.visit(site.url)
        second = await visiting.visit(f"{site.url}/#part")
        clock.seconds += 601
        third = await visiting.visit(site.url)
        fourth = await visiting.visit(site.url)
        assert [one.cached for one in (first, second, third, fourth)] == ["", "fresh", "unchanged", "fresh"]
        assert {one.answer.body for one in (first, second, third, fourth)} == {b"one"}
        assert third.answer.status == 200
        assert len(site.asked) == 2
        assert first.asked == second.asked != third.asked == fourth.asked


@pytest.mark.parametrize(
    ("headers", "requests"),
    [
        ({}, 1),
        ({"cache-control": "max-age=60"}, 2),
        ({"cache-control": "max-age=3600"}, 1),
        ({"cache-control": "max-age=3600", "age": "3590"}, 2),
        ({"cache-control": "no-cache"}, 2),
        ({"cache-control": "no-store"}, 2),
        ({"cache-control": "private, NO-STORE"}, 2),
        ({"cache-control": "max-age=garbage"}, 1),
        ({"expires": "0"}, 2),
        ({"expires": "Fri, 15 Jan 2027 09:00:00 GMT", "date": "Fri, 15 Jan 2027 08:00:00 GMT"}, 1),
        ({"expires": "Fri, 15 Jan 2027 08:00:30 GMT", "date": "Fri, 15 Jan 2027 08:00:00 GMT"}, 2),
    ],
)
async def test_a_server_says_for_how_long_a_page_is_fresh(
    settings: WebSettings, clock: Clock, headers: dict[str, str], requests: int
) -> None:
    async with Site({"/": Page(body=b"text", headers=headers)}).open() as site:
        visiting = visitor(site, settings, clock)
        await visiting.visit(site.url)
        clock.seconds += 120
        await visiting.visit(site.url)
        assert len(site.asked) == requests


async def test_a_page_that_changed_replaces_the_one_that_was_kept(settings: WebSettings, clock: Clock) -> None:
    async with Site({"/": [html("one", etag='"1"'), html("two", etag='"2"')]}).open() as site:
        visiting = visitor(site, settings, clock)
        assert (await visiting.visit(site.url)).answer.body == b"one"
        clock.seconds += 700
        assert (await visiting.visit(site.url)).answer.body == b"two"
        assert (await visiting.visit(site.url)).cached == "fresh"
        assert site.asked[1].headers["if-none-match"] == '"1"'


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520])
async def test_what_may_pass_by_itself_is_tried_again(settings: WebSettings, clock: Clock, status: int) -> None:
    async with Site({"/": [Page(status=status), Page(status=status), html("there")]}).open() as site:
        found = await visitor(site, settings, clock).visit(site.url)
    assert (found.answer.body, found.attempts) == (b"there", 3)


@pytest.mark.parametrize("status", [400, 404, 410, 418, 501, 505])
async def test_what_does_not_pass_by_itself_is_not_tried_again(
    settings: WebSettings, clock: Clock, status: int
) -> None:
    async with Site({"/": Page(status=status, body=b"no")}).open() as site:
        found = await visitor(site, settings, clock).visit(site.url)
        assert (found.answer.status, found.attempts, len(site.asked)) == (status, 1, 1)


async def test_attempts_end(settings: WebSettings, clock: Clock) -> None:
    async with Site({"/": Page(status=503, body=b"busy")}).open() as site:
        found = await visitor(site, settings, clock).visit(site.url)
    assert (found.answer.status, found.attempts, found.cached) == (503, 3, "")


async def test_of_all_statuses_only_those_of_the_table_are_tried_again(settings: WebSettings, clock: Clock) -> None:
    again = {408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524}
    refused = range(400, 600)
    async with Site({f"/{status}": Page(status=status, body=b"no") for status in refused}).open() as site:
        visiting = visitor(site, settings, clock)
        attempts = {status: (await visiting.visit(f"{site.url}/{status}")).attempts for status in refused}
    assert attempts == {status: 3 if status in again else 1 for status in refused}


CUT = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"
NO_GZIP = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nzip!"
FAILURES: dict[str, tuple[Page, int]] = {
    "broken": (Page(raw=CUT), 3),
    "encoding": (Page(raw=NO_GZIP), 1),
    "redirects": (Page(status=302, headers={"location": "/x"}), 1),
    "refused": (Page(status=302, headers={"location": "http://127.0.0.1:22/"}), 1),
}


@pytest.mark.parametrize("kind", FAILURES)
async def test_of_all_failures_only_those_of_the_table_are_tried_again(
    settings: WebSettings, clock: Clock, kind: str
) -> None:
    page, attempts = FAILURES[kind]
    async with Site({"/x": page}).open() as site:
        assert (await failure(visitor(site, settings, clock, redirects=1), f"{site.url}/x")).kind == kind
        assert len(site.asked) == attempts


async def test_a_server_that_cannot_be_reached_is_tried_again_and_an_unknown_one_is_not(
    settings: WebSettings, clock: Clock, waits: list[float]
) -> None:
    with socket.socket() as bound:  # so that nothing answers there
        bound.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{bound.getsockname()[1]}"
        closed = Visitor(replace(settings, allow=(place,), retries=(0.5, 1.5)), now=clock)
        assert (await failure(closed, f"http://{place}/")).kind == "unreachable"
    assert waits == [0.5, 1.5]

    async def nowhere(name: str) -> list[str]:
        return []

    unknown = Visitor(replace(settings, retries=(0.5, 1.5)), UrlGuard(resolver=nowhere), now=clock)
    assert (await failure(unknown, "http://example.com/")).kind == "unresolved"
    assert waits == [0.5, 1.5]


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds waited between attempts, passing at once."""
    asked = list[float]()

    async def sleep(seconds: float) -> None:
        asked.append(seconds)

    monkeypatch.setattr("tea.web.visit.asyncio", SimpleNamespace(sleep=sleep, to_thread=asyncio.to_thread))
    return asked


@pytest.mark.parametrize(
    ("told", "waited"),
    [
        (None, [0.5, 1.5]),
        ("0", [0.5, 1.5]),
        ("1", [1.0, 1.5]),
        ("7", [7.0, 7.0]),
        ("10", [10.0, 10.0]),
        ("11", []),
        ("-5", [0.5, 1.5]),
        ("1e9", [0.5, 1.5]),
        ("99999999999999999999", []),
    ],
)
async def test_the_time_between_attempts_is_ours_or_longer_where_the_server_says_so(
    tmp_path: Path, clock: Clock, waits: list[float], told: str | None, waited: list[float]
) -> None:
    page = Page(status=503, headers={} if told is None else {"retry-after": told})
    async with Site({"/": page}).open() as site:
        found = await visitor(site, WebSettings(cache=str(tmp_path / "cache")), clock).visit(site.url)
    assert (waits, found.attempts) == (waited, len(waited) + 1)


@pytest.mark.parametrize("wait", ["3600", "Fri, 01 Jan 2100 00:00:00 GMT"])
async def test_a_server_that_asks_for_much_patience_is_not_waited_for(
    settings: WebSettings, clock: Clock, wait: str
) -> None:
    async with Site({"/": Page(status=429, headers={"retry-after": wait})}).open() as site:
        found = await visitor(site, settings, clock).visit(site.url)
    assert (found.answer.status, found.attempts, found.wall) == (429, 1, "rate_limit")


@pytest.mark.parametrize("wait", ["0", "garbage", "Fri, 01 Jan 2010 00:00:00 GMT"])
async def test_a_server_that_asks_for_little_patience_is_asked_again(
    settings: WebSettings, clock: Clock, wait: str
) -> None:
    pages = [Page(status=429, headers={"retry-after": wait}), html("there")]
    async with Site({"/": pages}).open() as site:
        assert (await visitor(site, settings, clock).visit(site.url)).attempts == 2


async def test_a_broken_answer_is_tried_again_and_a_refused_one_is_not(settings: WebSettings, clock: Clock) -> None:
    broken = Page(raw=b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf")
    async with Site({"/": [broken, html("whole")], "/away": redirect("http://127.0.0.1:1/")}).open() as site:
        assert (await visitor(site, settings, clock).visit(site.url)).answer.body == b"whole"
        assert (await failure(visitor(site, settings, clock), f"{site.url}/away")).reason == "bad_port"
        assert site.paths() == ["/", "/", "/away"]


WALLED: list[tuple[int, str, str]] = [
    (401, "login", "<h1>Unauthorized</h1>"),
    (402, "payment", "pay"),
    (403, "refused", "<h1>403 Forbidden</h1>"),
    (403, "captcha", "<title>Just a moment...</title><script src='/cdn-cgi/challenge-platform/h/b/x.js'></script>"),
    (429, "rate_limit", "<h1>Slow down</h1>"),
    (429, "captcha", "<h1>Our systems have detected unusual traffic</h1>"),
    (451, "legal", "<h1>Unavailable</h1>"),
    (503, "captcha", "<title>Attention Required! | Cloudflare</title>"),
    (200, "captcha", "<html><title>Robot Check</title><body>Enter the characters you see below</body></html>"),
    (200, "captcha", "<html><body><div class='g-recaptcha'></div><p>Please wait</p></body></html>"),
    (200, "captcha", "<html><body><script src='https://geo.captcha-delivery.com/x.js'></script></body></html>"),
    (200, "refused", "<html><head><title>Access Denied</title></head><body>Access denied</body></html>"),
    (200, "rate_limit", "<html><body><h1>Too many requests</h1></body></html>"),
    (200, "login", "<html><body><h1>Sign in</h1><form><input type='password' name=p></form></body></html>"),
]
OPEN: list[tuple[int, str]] = [
    (200, "<html><body><h1>How captchas work</h1>" + PARAGRAPH + "<p>g-recaptcha, Just a moment...</p></body></html>"),
    (200, "<html><body>" + PARAGRAPH + "<form>Log in <input type=password></form></body></html>"),
    (200, "<html><body><h1>A short page</h1></body></html>"),
    (200, "just a moment, says this plain text"),
    (200, ""),
    (404, "<html><body>access denied</body></html>"),
    (503, "<html><body>maintenance</body></html>"),
    (500, "<html><body>too many requests</body></html>"),
    (200, "<" * 300_000),
    (200, "<script" * 40_000),
    (200, "<html>" + "<input " * 40_000),
]


@pytest.mark.parametrize(("status", "wall", "body"), WALLED)
def test_a_wall_in_the_place_of_a_page_is_told(status: int, wall: str, body: str) -> None:
    assert wall_of(Answer(url="http://x/", status=status, headers={}, body=body.encode())) == wall
    assert wall in WALLS


@pytest.mark.parametrize(("status", "body"), OPEN, ids=range(len(OPEN)))
def test_a_page_is_no_wall(status: int, body: str) -> None:
    assert wall_of(Answer(url="http://x/", status=status, headers={}, body=body.encode())) == ""


async def test_a_wall_is_kept_for_ten_minutes(settings: WebSettings, clock: Clock) -> None:
    pages = [Page(status=403, body=b"no", headers={"cache-control": "max-age=0"}), html("yes")]
    async with Site({"/": pages}).open() as site:
        visiting = visitor(site, settings, clock)
        walls = [(await visiting.visit(site.url)).wall for _ in range(3)]
        clock.seconds += 601
        assert walls == ["refused"] * 3
        assert (await visiting.visit(site.url)).answer.body == b"yes"
        assert "if-none-match" not in site.asked[1].headers
        assert len(site.asked) == 2


@pytest.mark.parametrize(("status", "seconds"), [(429, 45), (403, 900), (404, 0), (401, 0), (500, 0)])
async def test_the_host_of_a_wall_rests_for_as_long_as_is_said(
    settings: WebSettings, clock: Clock, status: int, seconds: int
) -> None:
    async def rest(url: str) -> float:
        return await visiting.rest_of(url, cooldown=45, blocked=900)

    async with Site({"/one": Page(status=status)}).open() as site:
        visiting = visitor(site, settings, clock)
        assert await rest(f"{site.url}/two") == 0
        await visiting.visit(f"{site.url}/one")
        assert await rest(f"{site.url}/two") == seconds
        assert await rest("http://127.0.0.2/two") == await rest("no address") == 0
        clock.seconds += seconds
        assert await rest(f"{site.url}/two") == 0


ROBOTS = b"User-agent: *\nDisallow: /private\nAllow: /private/open\n\nUser-agent: tea-protocol\nDisallow: /no-agents\n"


async def test_robots_are_obeyed_where_the_operator_wants_it(settings: WebSettings, clock: Clock) -> None:
    async with Site({"/robots.txt": Page(body=ROBOTS), "/no-agents": html("x"), "/private": html("y")}).open() as site:
        obeying = visitor(site, settings, clock, robots=True)
        failed = await failure(obeying, f"{site.url}/no-agents")
        assert (failed.kind, "robots.txt" in failed.problem) == ("refused", True)
        assert (await obeying.visit(f"{site.url}/private")).answer.body == b"y"  # its own group says nothing of it
        assert site.paths() == ["/robots.txt", "/private"]
        assert (await visitor(site, settings, clock).visit(f"{site.url}/no-agents")).answer.body == b"x"


@pytest.mark.parametrize(("page", "fetched"), [(Page(status=404), True), (Page(status=500), False)])
async def test_a_site_without_robots_lets_all_be_fetched_and_one_that_fails_nothing(
    settings: WebSettings, clock: Clock, page: Page, fetched: bool
) -> None:
    async with Site({"/robots.txt": page, "/": html("x")}).open() as site:
        visiting = visitor(site, settings, clock, robots=True)
        if fetched:
            assert (await visiting.visit(site.url)).answer.body == b"x"
        else:
            assert (await failure(visiting, site.url)).kind == "refused"


@pytest.mark.parametrize(
    ("robots", "path", "allowed"),
    [
        ("", "/", True),
        ("nonsense\n\0", "/", True),
        ("User-agent: *\nDisallow:", "/x", True),
        ("User-agent: *\nDisallow: /", "/x", False),
        ("User-agent: *\nDisallow: /\nAllow: /", "/x", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/c", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?z", True),
        ("User-agent: *\nDisallow: /a*b*c", "/aXbYc/d", False),
        ("User-agent: *\nDisallow: /a*b*c", "/aXcYb", True),
        ("User-agent: *\nDisallow: /$", "/", False),
        ("User-agent: *\nDisallow: /$", "/x", True),
        ("User-agent: *\nDisallow: /%7Ejoe", "/~joe/x", False),
        ("User-agent: *\nDisallow: /ü", "/%C3%BC", False),
        ("User-agent: other\nDisallow: /", "/x", True),
        ("User-agent: TEA\nDisallow: /", "/x", False),
        ("User-agent: tea/2.0\nDisallow: /", "/x", False),
        ("User-agent: a\nUser-agent: tea\nDisallow: /", "/x", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: tea\nDisallow:", "/x", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: tea", "/x", True),
        ("\ufeffUser-agent: * # all\nDisallow: /x # this", "/x", False),
        ("USER-AGENT:*\nDISALLOW:/x", "/x", False),
        ("Disallow: /", "/x", True),
        ("User-agent: *\nCrawl-delay: 5\nDisallow: /x", "/x", False),
        ("User-agent: *\nDisallow: /" + "*" * 100_000, "/x", False),
    ],
)
def test_robots_say_what_may_be_fetched(robots: str, path: str, allowed: bool) -> None:
    assert may_fetch(robots, "tea", path) == allowed


async def test_a_page_that_is_gone_comes_from_the_archive_where_the_operator_names_one(
    settings: WebSettings, clock: Clock
) -> None:
    async with Site({}).open() as site, Site({}).open() as archive:
        url = f"{site.url}/gone?x=1"
        archive.pages[f"/web/20270115id_/{url}"] = redirect(f"/web/20240506070809id_/{url}")
        archive.pages[f"/web/20240506070809id_/{url}"] = html("as it was")
        found = await visitor(site, settings, clock, archive.place, wayback=archive.url).visit(url)
        without = await visitor(site, settings, clock).visit(url)
    assert (found.answer.body, found.archived) == (b"as it was", "2024-05-06")
    assert (without.answer.status, without.archived) == (404, "")


async def test_the_copy_nearest_to_a_date_is_asked_for(settings: WebSettings, clock: Clock) -> None:
    async with Site({}).open() as site, Site({}).open() as archive:
        copy = html("early", memento_datetime="Thu, 04 Mar 2021 05:06:07 GMT")
        archive.pages[f"/web/20210304id_/{site.url}/"] = copy
        visiting = visitor(site, settings, clock, archive.place, wayback=archive.url)
        found = await visiting.visit(site.url, at="2021-03-04")
        assert (found.answer.body, found.archived, site.asked) == (b"early", "2021-03-04", [])


async def test_an_archive_that_has_nothing_leaves_the_answer_as_it_is(settings: WebSettings, clock: Clock) -> None:
    async with Site({"/": Page(status=410, body=b"gone")}).open() as site, Site({}).open() as archive:
        found = await visitor(site, settings, clock, archive.place, wayback=archive.url).visit(site.url)
    assert (found.answer.status, found.archived) == (410, "")


async def test_http_is_tried_where_https_fails_only_for_hosts_that_the_operator_named(
    settings: WebSettings, clock: Clock
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)

    async with Site({"/": html("secure")}).open(context) as site:
        secure = f"https://{site.place}/"
        assert (await failure(visitor(site, settings, clock), secure)).kind == "tls"
        assert (await failure(visitor(site, settings, clock, plain=("0.2",)), secure)).kind == "tls"
        failed = await failure(visitor(site, settings, clock, plain=("0.0.1",), retries=()), secure)
        assert failed.kind == "broken"  # http was tried, at a port that speaks TLS


@pytest.mark.parametrize("url", ["", "no address", "http://user@x/", "http://[", "\ud800", "x" * 100_000])
async def test_what_is_no_address_is_refused(settings: WebSettings, url: str) -> None:
    with pytest.raises(FetchFailed) as caught:
        await Visitor(settings).visit(url)
    assert caught.value.kind == "refused"


async def test_an_address_as_people_write_it_is_understood(settings: WebSettings, clock: Clock) -> None:
    async with Site({"/a%20b/%C3%BC?x[]=%25": html("yes")}).open() as site:
        site.pages["/a%20b/%C3%BC?x%5B%5D=100%25&y=%7C"] = html("there")
        found = await visitor(site, settings, clock).visit(f"  {site.url}/a b/ü?x[]=100%&y=|#f ")
    assert found.answer.body == b"there"


def entry(body: bytes = b"x", **headers: str) -> CachedAnswer:
    return CachedAnswer(answer=Answer(url="http://x/", status=200, headers=headers, body=body), asked=1.0)


def test_the_cache_forgets_what_was_not_used_for_longest(tmp_path: Path) -> None:
    cache = PageCache(tmp_path, 4_500)
    for number in range(3):
        cache.write(str(number), entry(b"x" * 1_000))
        (newest,) = (path for path in tmp_path.iterdir() if path.stat().st_mtime > 1_000_000)
        os.utime(newest, (number, number))
    assert cache.read("0") is not None  # used last now
    cache.write("3", entry(b"x" * 1_000))
    assert [name for name in "0123" if cache.read(name) is not None] == ["0", "2", "3"]


@pytest.mark.parametrize("data", [b"", b"{}\n", b"not json\nbody", b'{"key": "k"}\n', b"[]\n", b"\xff\xfe\n"])
def test_a_damaged_cache_is_done_without(tmp_path: Path, data: bytes) -> None:
    cache = PageCache(tmp_path, 1_000_000)
    cache.write("k", entry())
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    assert cache.read("k") == entry()
    path.write_bytes(data)
    assert cache.read("k") is None
    path.write_bytes(whole + b"more")
    assert cache.read("k") is None
    path.write_bytes(whole)
    path.chmod(0o666)  # another account may have written it
    assert cache.read("k") is None
    assert PageCache(tmp_path / "none", 1_000).read("k") is None


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    PageCache(blocked, 1_000).write("k", entry())
    PageCache(None, 1_000).write("k", entry())
    assert blocked.read_text() == "no folder"


@pytest.mark.parametrize("etag", ["", "x\r\nevil: yes", "ü", "x" * 2_000])
def test_a_validator_that_cannot_be_sent_is_not(etag: str) -> None:
    assert entry(etag=etag).validators() == {}


async def test_a_page_of_a_benchmark_is_not_shown_from_its_server_or_the_cache(
    settings: WebSettings, clock: Clock
) -> None:
    async with Site({"/": html("the answers, canary 1234-5678, are here"), "/other": html("nothing")}).open() as site:
        open_to_all = await visitor(site, settings, clock).visit(site.url)
        assert open_to_all.answer.status == 200
        closed = visitor(site, settings, clock, canaries=("1234-5678",))
        assert (await failure(closed, site.url)).reason == "denied"
        assert (await closed.visit(f"{site.url}/other")).answer.status == 200


async def test_a_page_that_another_homes_rules_opened_is_not_read_from_the_cache(
    settings: WebSettings, clock: Clock
) -> None:
    async with Site({"/": html("a page")}).open() as site:
        allowed = replace(settings, allow=(site.place,))
        assert (await Visitor(allowed, now=clock).visit(site.url)).answer.status == 200
        assert (await Visitor(allowed, now=clock).visit(site.url)).cached == "fresh"
        with pytest.raises(FetchFailed) as refusal:
            await Visitor(replace(settings, allow=()), now=clock).visit(site.url)
        assert refusal.value.reason in ("bad_port", "not_public")
        assert len(site.asked) == 1


async def test_a_denied_host_is_not_read_from_the_cache(settings: WebSettings, clock: Clock) -> None:
    async with Site({"/": html("a page")}).open() as site:
        await visitor(site, settings, clock).visit(site.url)
        closed = visitor(site, settings, clock, deny=("127.0.0.1",))
        assert (await failure(closed, site.url)).reason == "denied"
        assert len(site.asked) == 1
