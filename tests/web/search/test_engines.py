"""Test engines behind published APIs, on loopback servers with documented shapes and misbehaviour."""

import asyncio
import gzip
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from services import PAGES, SHAPES, packed
from sites import Page, Site, redirect

from tea.web import Fetcher, Limits
from tea.web.search import APIS, PROFILES, ApiEngine, EngineFailed, Health, Pace, Query, Searcher

KEY = "key-0123456789"
OPTIONS = {"cx": "engine", "model": "model", "url": "set"}
JSON = {"content-type": "application/json"}


def engine(name: str, site: Site, *, seconds: float = 5.0, retries: tuple[float, ...] = (), **given: Any) -> ApiEngine:
    limits = Limits(seconds=seconds, bytes_of=lambda content_type: 2_000_000)
    fetcher = Fetcher(site.guard(), agent="test/1", limits=limits)
    return ApiEngine(
        name, APIS[name], fetcher, key=KEY, address=site.url + "/search", options=OPTIONS,
        tier=given.get("tier", APIS[name].tier), retries=retries,
    )  # fmt: skip


def good(name: str) -> Page:
    return Page(body=packed(SHAPES[name]), headers=JSON)


@pytest.mark.parametrize("name", sorted(SHAPES))
async def test_an_api_is_asked_and_read_as_its_page_says(name: str) -> None:
    assert set(SHAPES) == set(APIS)
    assert APIS[name].page.startswith(PAGES[name])
    async with Site({"/search": good(name)}).open() as site:
        dated = APIS[name].dated
        if not dated:
            assert await engine(name, site).search(Query(text="x", since="week")) == []
            assert site.asked == []
        hits = await engine(name, site).search(Query(text='"the lighthouse" 1871', since="week" if dated else ""))
        (asked,) = site.asked
    assert hits
    assert hits[0].url.startswith("http")
    assert hits[0].title
    sent = f"{asked.path} {asked.body.decode()}"
    assert "lighthouse" in sent
    assert KEY not in sent  # addresses are written to logs
    headers = json.dumps(dict(asked.headers))
    assert (KEY in headers) is bool(APIS[name].key)
    assert (name == "wikidata") is not dated
    assert not dated or any(one in sent for one in ("pw", "w1", "qdr:w", "week", "startPublishedDate"))
    if asked.method == "POST":
        json.loads(asked.body)


ODD: list[Any] = [
    {}, [], None, 1, "text", {"results": None}, {"web": {"results": [1, None, {}]}}, {"data": {"web": "x"}},
    {"items": [{"pagemap": {"metatags": [3]}}]}, {"output": [{"content": [{"annotations": {}}]}]},
    {"results": [{"url": 5, "title": {}, "content": [], "highlights": [1]}], "references": [{"url": None}]},
]  # fmt: skip


@pytest.mark.parametrize("name", sorted(SHAPES))
@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
async def test_an_answer_of_another_shape_gives_nothing_and_breaks_nothing(name: str, value: Any) -> None:
    assert [hit for hit in APIS[name].read(value) if hit.url] == []


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        (Page(status=401, body=b'{"error": "bad key"}'), "key"),
        (Page(status=402, body=b"{}"), "key"),
        (Page(status=403, body=b"{}"), "refused"),
        (Page(status=429, body=b"{}", headers={"retry-after": "7"}), "rate_limit"),
        (Page(status=403, body=b"Just a moment... <script src=/cdn-cgi/challenge-platform/h/b>"), "captcha"),
        (Page(body=b"<html><title>Are you a robot?</title>Are you a robot?</html>"), "captcha"),
        (redirect("http://127.0.0.1:1/private"), "refused"),
        (redirect("http://169.254.169.254/latest/meta-data"), "refused"),
        (redirect("https://elsewhere.example/"), "refused"),
        (Page(status=500, body=b"no"), "broken"),
        (Page(body=b"not json"), "broken"),
        (Page(body=b'{"web": '), "broken"),
        (Page(body=b"[" * 100_000), "broken"),
        (Page(body=b"\xff\xfe\xfd{}", headers={"content-type": "application/json; charset=nonsense"}), "broken"),
        (Page(body=b"{}", headers={"content-encoding": "gzip"}), "broken"),
        (Page(headers=JSON, then="endless"), "broken"),
        (Page(raw=b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"), "broken"),
        (Page(body=b'{"web"', then="hang", headers={"content-length": "900"}), "timeout"),
        (Page(raw=b"HTTP/1.1 ", then="hang"), "timeout"),
    ],
    ids=range(19),
)  # fmt: skip
async def test_a_service_that_misbehaves_is_told_apart(page: Page, kind: str) -> None:
    async with Site({"/search": page}).open() as site:
        with pytest.raises(EngineFailed) as failed:
            await engine("brave", site, seconds=0.5).search(Query(text="x"))
        assert site.paths() == ["/search?q=x&count=10&text_decorations=false"]
    assert failed.value.kind == kind
    assert failed.value.wait == (7.0 if kind == "rate_limit" else 0.0)
    assert KEY not in failed.value.problem


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        *((one, one) for one in ("utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1")),
        *(("latin-1", said) for said in ("utf-8", "nonsense-7", "")),
        ("utf-8", "latin-1"),
        ("utf-16", "utf-8"),
    ],
)
async def test_an_answer_is_read_in_the_encoding_it_has_whatever_it_says(encoding: str, said: str) -> None:
    text = json.dumps({"web": {"results": [{"url": "https://a.example/", "title": "Grüße"}]}}, ensure_ascii=False)
    told = {"content-type": f"application/json; charset={said}"}
    async with Site({"/search": Page(body=text.encode(encoding), headers=told)}).open() as site:
        (hit,) = await engine("brave", site).search(Query(text="x"))
    assert hit.title == "Grüße"


async def test_a_compressed_answer_is_read_and_a_passing_fault_is_tried_again() -> None:
    body = Page(body=gzip.compress(packed(SHAPES["brave"])), headers={**JSON, "content-encoding": "gzip"})
    async with Site({"/search": [Page(status=503), Page(raw=b"x"), body]}).open() as site:
        assert len(await engine("brave", site, retries=(0, 0)).search(Query(text="x"))) == 2
        assert len(site.asked) == 3


async def test_a_service_on_a_private_address_is_refused_by_the_guard() -> None:
    async with Site({"/search": good("searxng")}).open() as site:
        closed = ApiEngine(
            "searxng", APIS["searxng"], Fetcher(site.guard().__class__(), agent="test/1"), key="",
            address=site.url + "/search", options=OPTIONS, tier=2,
        )  # fmt: skip
        with pytest.raises(EngineFailed, match="The guard refuses"):
            await closed.search(Query(text="x"))
        assert site.asked == []


async def test_all_engines_answer_together_and_a_page_that_several_found_stands_first(tmp_path: Path) -> None:
    answers = [good("brave"), good("google"), good("searxng"), Page(status=500)]
    async with AsyncExitStack() as stack:
        sites = [await stack.enter_async_context(Site({"/search": one}).open()) for one in answers]
        names = ("brave", "google", "searxng", "exa")
        engines = [engine(name, site) for name, site in zip(names, sites, strict=True)]
        health = Health(tmp_path / "search.sqlite", PROFILES["balanced"])
        searcher = Searcher(engines, health, paces={one.name: Pace(fresh=60) for one in engines})
        found = await searcher.search(["lighthouse built 1871"])
        again = await searcher.search(["lighthouse built 1871"])
    first = found.results[0]
    assert first.hit.url == "https://www.cape.example/tower"
    assert first.engines == ("brave", "google", "searxng")
    assert (first.tier, first.query, first.hit.date) == (1, "lighthouse built 1871", "2024-05-06")
    assert first.hit.title == "The lighthouse of the cape"
    assert "<" not in first.hit.snippet
    assert len(found.results) == 3
    assert [one.score for one in found.results] == sorted((one.score for one in found.results), reverse=True)
    states = {one.engine: (one.state, one.kind) for one in found.reports}
    assert states == dict.fromkeys(("brave", "google", "searxng"), ("answered", "")) | {"exa": ("failed", "broken")}
    assert {one.engine: one.state for one in again.reports}["brave"] == "cached"
    assert [one.hit for one in again.results] == [one.hit for one in found.results]


async def test_a_hanging_engine_costs_a_little_grace_and_no_more() -> None:
    hanging = Site({"/search": Page(raw=b"H", then="hang")})
    async with Site({"/search": good("brave")}).open() as one, hanging.open() as bad:
        engines = [engine("brave", one), engine("exa", bad, seconds=60)]
        begun = asyncio.get_running_loop().time()
        found = await Searcher(engines, Health(None, PROFILES["latency"]), seconds=30, grace=0.1).search(["x"])
        assert asyncio.get_running_loop().time() - begun < 5
    assert len(found.results) == 2
    assert {one.engine: one.kind for one in found.reports} == {"brave": "", "exa": "timeout"}


async def test_quotes_go_where_they_find_nothing() -> None:
    def answer(asked: Any) -> Page:
        return Page(body=b"{}") if "%22" in asked.path else good("brave")

    async with Site({"/search": answer}).open() as site:
        searcher = Searcher([engine("brave", site)], Health(None, PROFILES["balanced"]))
        found = await searcher.search(['"a tower" -ship cape', "cape"])
    assert found.relaxed == {'"a tower" -ship cape': "a tower cape"}
    assert {one.query for one in found.reports} == {'"a tower" -ship cape', "a tower cape", "cape"}
    assert len(found.results) == 2


async def test_foreign_engines_may_raise_anything() -> None:
    class Broken:
        name, tier = "broken", 1

        async def search(self, query: Query) -> Any:
            raise ZeroDivisionError("oh\nno")

    found = await Searcher([Broken()], Health(None, PROFILES["balanced"]), paces={"broken": Pace()}).search(["x"])
    assert found.results == ()
    assert [(one.kind, one.problem) for one in found.reports] == [("broken", "ZeroDivisionError: oh no")]
