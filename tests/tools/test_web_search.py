"""Searches as agents make them: through a run, over loopback engines and a local corpus."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from loop_kit import Stage, done, observations, step
from services import SHAPES, packed
from sites import Page, Site, html

from tea import ToolError
from tea.errors import BadInput
from tea.platform import Platform
from tea.testing import ScriptedModel

KEY = "key-of-the-home-0123456789"
VARIABLES = {"brave": "BRAVE_API_KEY", "google": "GOOGLE_SEARCH_API_KEY", "tavily": "TAVILY_API_KEY"}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES.values(), "FIRECRAWL_API_KEY", "EXA_API_KEY", "BAIDU_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def page(name: str) -> Page:
    return Page(body=packed(SHAPES[name]), headers={"content-type": "application/json"})


@asynccontextmanager
async def searching(
    folder: Path, site: Site, engines: Mapping[str, str], *, model: Any = None, keys: bool = True, **settings: Any
) -> AsyncIterator[Platform]:
    """Give a platform with engines at paths of one site."""
    given = {"retries": [], "seconds": 5, "grace": 2, **settings}
    lines = ["[web]", f'allow = ["{site.place}"]', "retries = []", "[search]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in given.items()]
    for name, path in engines.items():
        lines += [f"[search.{name}]", f'url = "{site.url}{path}"', "delay = 0"]
        lines += {"google": ['cx = "e"'], "model": ['model = "m"']}.get(name, [])
    (folder / "tea.toml").write_text("\n".join(lines))
    if keys:
        (folder / ".env").write_text("".join(f"{VARIABLES[one]}={KEY}\n" for one in engines if one in VARIABLES))
    async with Platform(folder, state=folder / "state", model=model, trust_home=keys) as tea:
        yield tea


async def searched(tea: Platform, *queries: str, **more: Any) -> Any:
    return (await tea.tcp.invoke("web_search", {"queries": list(queries), "full": True, **more})).unwrap()


async def test_a_search_joins_its_engines_and_says_who_failed(tmp_path: Path) -> None:
    pages = {"/b": page("brave"), "/g": page("google"), "/t": Page(status=403, body=b"{}")}
    async with Site(pages).open() as site:
        engines = {"brave": "/b", "google": "/g", "tavily": "/t"}
        async with searching(tmp_path, site, engines) as tea:
            found = await searched(tea, "lighthouse 1871", since="year")
            again = await searched(tea, "lighthouse 1871", since="year")
        assert len(site.asked) == 3  # the second was answered from the first, and who refused rests
    assert found["label"] == "untrusted"
    first = found["results"][0]
    assert first["url"] == "https://www.cape.example/tower"
    assert (first["engines"], first["tier"], first["date"]) == (["brave", "google"], 1, "2024-05-06")
    assert "query" not in first
    assert found["notes"] == ["tavily gave nothing: The server refuses this reader (status 403)."]
    assert again["results"] == found["results"]
    assert "rests" in again["notes"][0]
    assert {one.headers.get("x-subscription-token") for one in site.asked} == {KEY, None}


async def test_what_an_engine_elsewhere_answered_or_refused_is_not_said_of_another_one(tmp_path: Path) -> None:
    def known(url: str) -> Page:
        row = {"url": url, "title": "Lighthouse", "content": "a lighthouse"}
        return Page(body=packed({"results": [row]}), headers={"content-type": "application/json"})

    first = {"/s": known("https://one.example/"), "/t": Page(status=429, body=b"captcha")}
    async with Site(first).open() as site, Site({"/s": known("https://two.example/")}).open() as other:
        async with searching(tmp_path, site, {"searxng": "/s"}) as tea:
            assert (await searched(tea, "lighthouse"))["results"][0]["url"] == "https://one.example/"
        async with searching(tmp_path, site, {"searxng": "/t"}) as tea:
            with pytest.raises(ToolError, match="wants"):
                await searched(tea, "lighthouse")
        async with searching(tmp_path, other, {"searxng": "/s"}) as tea:
            assert (await searched(tea, "lighthouse"))["results"][0]["url"] == "https://two.example/"


async def test_what_one_key_met_at_an_engine_is_not_said_of_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {"/b": Page(status=429, headers={"retry-after": "3600"})}
    async with Site(pages).open() as site:
        async with searching(tmp_path, site, {"brave": "/b"}) as tea:
            with pytest.raises(ToolError):
                await searched(tea, "lighthouse")
        site.pages["/b"] = page("brave")
        async with searching(tmp_path, site, {"brave": "/b"}) as tea:
            with pytest.raises(ToolError, match="rests"):
                await searched(tea, "lighthouse")
        monkeypatch.setenv("BRAVE_API_KEY", f"another-{KEY}")
        async with searching(tmp_path, site, {"brave": "/b"}) as tea:
            assert (await searched(tea, "lighthouse"))["results"]


async def test_without_an_engine_one_error_says_what_to_do(tmp_path: Path) -> None:
    async with Site({}).open() as site, searching(tmp_path, site, {"google": "/g"}, keys=False) as tea:
        with pytest.raises(BadInput, match=r"No search engine is configured. google: the variable GOOGLE") as refused:
            await searched(tea, "x")
        assert refused.value.exit_code == 2
        assert "BRAVE_API_KEY" in refused.value.fix
        assert "tea corpus add" in refused.value.fix


async def test_an_engine_that_nobody_granted_is_named_with_the_command_that_grants_it(tmp_path: Path) -> None:
    async with Site({}).open() as site, searching(tmp_path, site, {"searxng": "/s"}, keys=False) as tea:
        with pytest.raises(BadInput, match=r"\[search.searxng\] in tea.toml sends queries to") as refused:
            await searched(tea, "x")
        assert "tea trust --home" in refused.value.fix


async def test_pages_that_share_a_description_are_kept_apart_by_their_titles(tmp_path: Path) -> None:
    words = "The shop for lamps of all kinds, with delivery to each town of the coast within two working days."
    results = [{"url": f"https://shop.example/{one}", "title": f"Lamp {one % 2}", "content": words} for one in range(3)]
    pages = {"/s": Page(body=packed({"results": results}), headers={"content-type": "application/json"})}
    async with Site(pages).open() as site, searching(tmp_path, site, {"searxng": "/s"}) as tea:
        found = await searched(tea, "lamp")
    assert sorted(one["title"] for one in found["results"]) == ["Lamp 0", "Lamp 1"]


async def test_engines_that_all_fail_are_an_error(tmp_path: Path) -> None:
    async with Site({"/b": Page(status=500)}).open() as site, searching(tmp_path, site, {"brave": "/b"}) as tea:
        with pytest.raises(ToolError, match=r"No engine answered. brave: It answered with status 500"):
            await searched(tea, "x")


@pytest.mark.parametrize("queries", [[], [" "], ["x" * 401], ["a", "b", "c", "d", "e", "f"]])
async def test_queries_that_cannot_be_asked_are_refused(tmp_path: Path, queries: list[str]) -> None:
    async with Site({"/b": page("brave")}).open() as site, searching(tmp_path, site, {"brave": "/b"}) as tea:
        with pytest.raises(BadInput, match=r"quer(y|ies)"):
            await searched(tea, *queries)
        assert site.asked == []


async def test_a_key_of_the_environment_goes_elsewhere_only_by_a_grant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "key-of-the-environment")
    async with Site({"/b": page("brave")}).open() as site:
        async with searching(tmp_path, site, {"brave": "/b"}, keys=False) as tea:
            with pytest.raises(BadInput, match=r"\[search.brave\] in tea.toml sends BRAVE_API_KEY of the environment"):
                await searched(tea, "x")
            assert site.asked == []
            assert {one.setting for one in tea.home_trust.routes} == {"[search.brave] in tea.toml", "[web] in tea.toml"}
            tea.home_trust.grant()
        async with searching(tmp_path, site, {"brave": "/b"}, keys=False) as tea:
            assert (await searched(tea, "x"))["results"]
        assert site.asked[0].headers["x-subscription-token"] == "key-of-the-environment"


async def test_a_run_has_a_budget_of_searches(tmp_path: Path) -> None:
    async with Site({"/b": page("brave")}).open() as site:
        stage = Stage()
        async with searching(tmp_path, site, {"brave": "/b"}, model=stage, searches=1) as tea:
            stage.tea = tea
            asks = step(("web_search", {"queries": ["a"]}))
            more = step(("web_search", {"queries": ["b"]}))
            _, model = await stage.play(asks, more, step(done("x")), task="Search the web for a lighthouse.")
            seen = observations(model.requests[2])[-1]
            assert "searches of this run are used up" in json.dumps(seen)
        assert len(site.asked) == 1


async def test_a_replay_searches_nothing(tmp_path: Path) -> None:
    stage = Stage()
    async with (
        Site({"/b": page("brave")}).open() as site,
        searching(tmp_path, site, {"brave": "/b"}, model=stage) as tea,
    ):
        stage.tea = tea
        asks = step(("web_search", {"queries": ["lighthouse"]}))
        outcome, model = await stage.play(asks, step(done("1871")), task="Search the web: when was it built?")
        (seen,) = observations(model.requests[1])
        assert seen["calls"][0]["value"]["results"][0]["url"] == "https://www.cape.example/tower"
        records = json.dumps([one.data for one in tea.tracer.records(outcome.run)], default=str)
        for fact in ('"engine": "brave"', '"state": "answered"', '"asked": "20', '"date": "2024-05-06"'):
            assert fact in records
        assert KEY not in records
    (tmp_path / "state" / "web" / "search.sqlite").unlink()
    async with searching(tmp_path, site, {"brave": "/b"}, model=ScriptedModel([])) as tea:  # the engine is gone
        assert (await tea.replay(outcome.run)).answer == "1871"
    assert not (tmp_path / "state" / "web" / "search.sqlite").exists()


async def test_the_best_pages_are_opened_where_the_operator_wants_it(tmp_path: Path) -> None:
    async with Site({}).open() as site:
        results = [
            {"title": "Lighthouse of the cape", "url": f"{site.url}/tower", "description": "lighthouse built"},
            {"title": "Lighthouse", "url": f"{site.url}/gone", "description": "lighthouse built"},
            {"title": "Something else", "url": f"{site.url}/else", "description": "nothing"},
        ]
        site.pages["/b"] = Page(body=packed({"web": {"results": results}}))
        site.pages["/tower"] = html("<main><h1>Tower</h1><p>The lighthouse was built in 1871.</p></main>")
        async with searching(tmp_path, site, {"brave": "/b"}, open=True, profile="latency") as tea:
            found = {one["url"]: one for one in (await searched(tea, "lighthouse built"))["results"]}
        assert "built in 1871" in found[f"{site.url}/tower"]["read"]
        assert "cannot be read" in found[f"{site.url}/gone"]["read"]
        assert "read" not in found[f"{site.url}/else"]
        assert "/else" not in site.paths()


@pytest.mark.parametrize("status", [429, 403, 404])
async def test_further_pages_of_a_host_that_wants_rest_are_not_opened(tmp_path: Path, status: int) -> None:
    async with Site({}).open() as site:
        results = [
            {"title": "Lighthouse", "url": f"{site.url}/{name}", "description": "lighthouse built"}
            for name in ("one", "two", "three")
        ]
        site.pages["/b"] = Page(body=packed({"web": {"results": results}}))
        site.pages |= {"/one": Page(status=status), "/two": html("<p>Built in 1871.</p>"), "/three": html("<p>x</p>")}
        async with searching(tmp_path, site, {"brave": "/b"}, open=True, fresh=0) as tea:
            for expected in (["/one"], []) if status != 404 else (["/one", "/two", "/three"],):
                site.asked.clear()
                found = (await searched(tea, "lighthouse built"))["results"]
                assert [path for path in site.paths() if not path.startswith("/b?")] == expected
                left = [one["url"] for one in found if "wants to be left alone" in one["read"]]
                assert len(left) == 3 - len(expected)
            assert (await tea.tcp.invoke("fetch_page", {"url": f"{site.url}/two"})).ok  # whoever asks for it gets it


async def test_what_is_found_on_denied_hosts_or_holds_a_canary_is_not_shown(tmp_path: Path) -> None:
    results = [
        {"title": "Set", "url": "https://data.example/answers", "description": "1871"},
        {"title": "Copy", "url": "https://copy.example/?of=data.example%2Fanswers", "description": "1871"},
        {"title": "Part", "url": "https://part.example/", "description": "mark-1 1871"},
        {"title": "Tower", "url": "https://cape.example/", "description": "It stands there."},
    ]
    async with Site({"/b": Page(body=packed({"web": {"results": results}}))}).open() as site:
        async with searching(tmp_path, site, {"brave": "/b"}):
            pass  # for its settings and key
        lines = (tmp_path / "tea.toml").read_text()
        (tmp_path / "tea.toml").write_text(
            lines.replace("[web]", '[web]\ndeny = ["data.example"]\ncanaries = ["mark-1"]')
        )
        async with Platform(tmp_path, state=tmp_path / "state", trust_home=True) as tea:
            found = await searched(tea, "tower")
    assert [one["url"] for one in found["results"]] == ["https://cape.example/"]
    assert "1871" not in json.dumps(found)


async def test_local_documents_need_no_key_and_are_searched_beside_engines(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "tower.md").write_text(
        "# Tower\n\nIt is tall.\n\n## Lamp\n\nThe lamp of the lighthouse burns paraffin oil.\n"
    )
    (docs / "ship.html").write_text("<title>Ships</title><nav>Menu</nav><main><p>Ships pass the cape.</p></main>")
    async with Site({"/b": page("brave")}).open() as site:
        async with searching(tmp_path, site, {}) as tea:
            await tea.corpus.add(str(docs))
            (best, *_) = (await searched(tea, "what does the lamp burn"))["results"]
            assert best["url"] == (docs / "tower.md").as_uri()
            assert "paraffin" in best["text"]
            assert (best["engines"], best["place"]) == (["local"], "line 1, Tower; Tower > Lamp")
            assert site.asked == []
        async with searching(tmp_path, site, {"brave": "/b"}) as tea:
            found = (await searched(tea, "lighthouse lamp"))["results"]
            assert {engine for one in found for engine in one["engines"]} == {"local", "brave"}


async def test_a_damaged_corpus_stops_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".corpus").mkdir(mode=0o700)
    (tmp_path / ".corpus" / "corpus.sqlite").write_text("no database" * 100)
    stage = Stage()
    async with (
        Site({"/b": page("brave")}).open() as site,
        searching(tmp_path, site, {"brave": "/b"}, model=stage) as tea,
    ):
        stage.tea = tea
        outcome, _ = await stage.play(step(done("x")), task="Who built it?")
        assert outcome.answer == "x"
        assert (await searched(tea, "lighthouse"))["results"]


WORLD = ["Who won the race to the cape in 1912?", "Search the web for the newest lighthouse.", "Wann wurde es gebaut?"]
OWN = ["12,500 EUR are lent at 3.9 % a year. How much is owed?", "Who sold most, according to sales.csv?"]


async def test_the_planner_is_offered_it_for_questions_to_the_world_if_it_can_search(tmp_path: Path) -> None:
    stage = Stage()
    for engines, wanted in (({"brave": "/b"}, set(WORLD)), ({}, set[str]())):
        async with Site({}).open() as site, searching(tmp_path, site, engines, model=stage) as tea:
            stage.tea = tea
            shown = set[str]()
            for task in (*WORLD, *OWN):
                _, model = await stage.play(step(done("x")), task=task)
                shown |= {task for one in model.requests[0].tools if one["name"] == "web_search"}
            assert shown == wanted


async def test_html_engines_go_through_the_guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ddgs.engines.duckduckgo import Duckduckgo

    body = "<div class='body'><h2>Tower</h2><a href='https://cape.example/tower'>built in 1871</a></div>"
    async with Site({"/html": html(f"<html><body>{body}</body></html>")}).open() as site:
        monkeypatch.setattr(Duckduckgo, "search_url", f"{site.url}/html")
        for allowed in (site.place, "127.0.0.1:9"):
            lines = ["[web]", f'allow = ["{allowed}"]', "[search]", 'engines = ["ddgs"]', "fresh = 0", "[search.ddgs]"]
            (tmp_path / "tea.toml").write_text("\n".join([*lines, 'backends = "duckduckgo"', "delay = 0"]))
            async with Platform(tmp_path, state=tmp_path / "state", trust_home=True) as tea:
                if allowed == site.place:
                    (one,) = (await searched(tea, "lighthouse"))["results"]
                    assert (one["url"], one["engines"], one["tier"]) == ("https://cape.example/tower", ["ddgs"], 4)
                else:
                    with pytest.raises(ToolError, match="No engine answered"):
                        await searched(tea, "lighthouse")
        assert site.paths() == ["/html"]


async def test_a_reader_gets_each_passage_once_and_no_scores(tmp_path: Path) -> None:
    words = "The keeper of the lighthouse lit its lamp each evening, and wrote that into his book every morning."
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "lamp.txt").write_text(words)
    (folder / "lamp.html").write_text(f"<html><body><p>{words}</p></body></html>")
    (folder / "other.txt").write_text("Another lighthouse has no lamp, and nobody keeps it in the evening.")
    home = tmp_path / "home"
    home.mkdir()
    async with Platform(home, state=home / "state") as tea:
        await tea.corpus.add(str(folder))
        found = (await tea.tcp.invoke("web_search", {"queries": ["lighthouse lamp evening"]})).unwrap()
    assert sum("wrote that into his book" in one["text"] for one in found["results"]) == 1
    assert {tuple(one) for one in found["results"]} == {("url", "title", "text", "about")}
    assert "profile" not in found
