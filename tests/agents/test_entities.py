"""Lists that begin with what Wikidata knows: its services on loopback, in their published shapes and misbehaving."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from researcher_kit import Script, notes, plan, text, world
from sites import Asked, Page

TASK = "List all lighthouses of Portugal with the year they were built and their height."
COLUMNS = [{"name": "name", "meaning": ""}, {"name": "year", "meaning": "built"}, {"name": "height", "meaning": "in m"}]
ENTITY = "http://www.wikidata.org/entity/"
JSON = {"content-type": "application/json"}
ON = 'engines = ["brave", "wikidata"]\n[search.wikidata]\nurl = "{site}/w/api.php"\nsparql = "{site}/sparql"\n'
IDS = {"lighthouse": "Q39715", "country": "P17", "portugal": "Q45", "inception": "P571", "height": "P2048"}
WEB = "Sand Head was built in 1899."
FORM = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "year": {"type": ["integer", "null"]}, "height": {"type": "number"}},
        "required": ["name", "year"],
    },
}


def entities(asked: Asked) -> Page:
    """Answer a search for items or properties as the API does: by beginning, so also with other names."""
    query = {name: one[0] for name, one in parse_qs(urlsplit(asked.path).query).items()}
    assert (asked.method, query["action"], query["format"]) == ("GET", "wbsearchentities", "json")
    found = IDS.get(query["search"].casefold(), "")
    found = found if found.startswith("Q" if query["type"] == "item" else "P") else ""
    others = [{"id": "Q99" if query["type"] == "item" else "P99", "label": f"{query['search']} keeper"}]
    hits = [{"id": found, "label": query["search"], "match": {"type": "label", "text": query["search"]}}]
    answer = {"searchinfo": {}, "search": [*others, *(hits if found else [])], "success": 1}
    return Page(body=json.dumps(answer).encode(), headers=JSON)


def binding(item: str, label: str, column: int = 0, value: Any = None, detail: Any = None) -> dict[str, Any]:
    named = {"itemLabel": {"type": "literal", "value": label, "xml:lang": "en"}}
    told = {"column": {"type": "literal", "value": str(column)}} | ({"value": value} if value else {})
    return {"item": {"type": "uri", "value": f"{ENTITY}{item}"}, **named, **told, **(detail or {})}


def typed(kind: str, value: str) -> dict[str, str]:
    return {"type": "literal", "datatype": f"http://www.w3.org/2001/XMLSchema#{kind}", "value": value}


def members(*bindings: Any) -> Page:
    answer = {"head": {"vars": ["item", "itemLabel"]}, "results": {"bindings": list(bindings)}}
    return Page(body=json.dumps(answer).encode(), headers={"content-type": "application/sparql-results+json"})


YEAR, METRES = {"detail": typed("integer", "9")}, {
    "detail": {"type": "uri", "value": f"{ENTITY}Q11573"}, "detailLabel": {"type": "literal", "value": "metre"}
}  # fmt: skip
GOOD = members(
    binding("Q11", "Cape Harrow", 0, typed("dateTime", "1871-01-01T00:00:00Z"), YEAR),
    binding("Q11", "Cape Harrow", 1, typed("decimal", "+31"), METRES),
    binding("Q12", "Mole Light", 0, typed("dateTime", "1900-01-01T00:00:00Z"), {"detail": typed("integer", "7")}),
    binding("Q12", "Mole Light", 1),
    binding("Q13", "Q13", 0, typed("dateTime", "1900-01-01T00:00:00Z"), YEAR),
)


def wanted(**more: Any) -> dict[str, Any]:
    columns = [{"column": "year", "property": "inception"}, {"column": "height", "property": "height"}]
    usual = {"kind": "lighthouse", "conditions": [{"property": "country", "value": "Portugal"}], "columns": columns}
    return {**usual, **more}


def of_web(request: Any) -> dict[str, Any]:
    cells = {"name": "Sand Head", "year": 1899, "height": None}
    numbers = [one["number"] for one in request.variables["material"] if WEB in one["text"]]
    return {"rows": [{"cells": cells, "source": one, "quote": WEB} for one in numbers], "queries": [], "read": []}


def model_of(asked: Any, **more: Any) -> Script:
    listing = plan(kind="list", entity="a lighthouse", columns=COLUMNS, key=["name"], **{"target": None, **more})
    return Script(researcher=listing, researcher_entities=asked, researcher_rows=of_web)


def site(sparql: Any = GOOD, api: Any = entities) -> dict[str, Any]:
    return {"/a": text(WEB), "/w/api.php": api, "/sparql": sparql}


def asked_of(made: Any) -> list[str]:
    return [one for one in made.site.paths() if one.startswith(("/w/", "/sparql"))]


async def test_a_list_begins_with_the_rows_that_wikidata_knows_and_the_web_goes_on(tmp_path: Path) -> None:
    model = model_of(wanted())
    async with world(tmp_path, model, site(), {"*": ["/a"]}, settings=ON) as (tea, made):
        outcome = await tea.run(TASK, agent="researcher", answer=FORM)
        assert outcome.answer == [
            {"name": "Cape Harrow", "year": 1871, "height": 31},
            {"name": "Mole Light", "year": None},
            {"name": "Sand Head", "year": 1899},
        ]
        told = json.loads((outcome.trace / "workspace" / "rows.sources.json").read_text())
        (origin,) = told["rows"][0]["height"][0]["origins"]
        assert (origin["url"], origin["worker"], origin["confidence"], origin["round"], bool(origin["at"])) == (
            "https://www.wikidata.org/wiki/Q11", "wikidata", 0.95, 0, True,
        )  # fmt: skip
        assert origin["quote"] == "Cape Harrow; year: 1871; height: 31 metre"
        (year,) = told["rows"][2]["year"]
        assert (year["confidence"], year["origins"][0]["worker"]) == (0.8, "web")
        assert (told["audit"]["wikidata"]["rows"], told["audit"]["wikidata"]["kind"]) == (2, "lighthouse")
        assert outcome.evidence[0].source == "https://www.wikidata.org/wiki/Q11"
        assert not [one for one in outcome.gaps if "Wikidata" in one]
        asked = [one for one in made.site.asked if one.path in asked_of(made)]
        assert {one.method for one in asked} == {"GET"}
        assert {one.headers["user-agent"] for one in asked} == {tea.web.agent}
        (sparql,) = [one.path for one in asked if one.path.startswith("/sparql")]
        (query,) = parse_qs(urlsplit(sparql).query)["query"]
        assert "?item wdt:P17 wd:Q45 . ?item wdt:P31/wdt:P279* wd:Q39715 . } LIMIT 150" in query
        count = len(made.site.asked)
        assert (await tea.replay(outcome.run)).answer == outcome.answer
        assert len(made.site.asked) == count


async def test_as_many_rows_as_were_wanted_need_no_web(tmp_path: Path) -> None:
    model = model_of(wanted(), target=2)
    async with world(tmp_path, model, site(), {"*": ["/a"]}, settings=ON) as (tea, made):
        outcome = await tea.run(TASK, agent="researcher")
        assert [one["name"] for one in outcome.answer] == ["Cape Harrow", "Mole Light"]
        assert (made.searches, "researcher_rows" in model.asked()) == ([], False)


@pytest.mark.parametrize("settings", ["", ON.partition("\n")[2], 'engines = ["brave"]\n' + ON.partition("\n")[2]])
async def test_wikidata_is_asked_nothing_unless_its_operator_names_it(settings: str, tmp_path: Path) -> None:
    model = model_of(wanted())
    async with world(tmp_path, model, site(), {"*": ["/a"]}, settings=settings) as (tea, made):
        outcome = await tea.run(TASK, agent="researcher")
        assert [one["name"] for one in outcome.answer] == ["Sand Head"]
        assert (asked_of(made), "researcher_entities" in model.asked()) == ([], False)
        found = await tea.tcp.invoke("list_entities", {"kind": "x", "conditions": [], "columns": []})
        assert "Wikidata may not be asked" in str(found.error)


HTML = Page(body=b"<html><body>Service unavailable</body></html>", headers={"content-type": "text/html"})
ODD: dict[str, tuple[dict[str, Any], str]] = {
    "429": (site(Page(status=429, body=b"Too Many Requests", headers={"retry-after": "60"})), "fewer"),
    "html": (site(HTML), "not JSON"),
    "slow": (site(Page(raw=b"HTTP/1.1 ", then="hang")), "within 1 seconds"),
    "refused": (site(Page(status=403, body=b"no")), "refuses"),
    "timed out there": (site(Page(status=500, body=b"java.util.concurrent.TimeoutException")), "status 500"),
    "redirect": (site(Page(status=302, headers={"location": "http://127.0.0.1:1/"})), "redirects"),
    "empty": (site(members()), "it has no member"),
    "a list": (site(Page(body=b"[]", headers=JSON)), "not one to a query"),
    "no bindings": (site(Page(body=b'{"results": {"bindings": 3}}', headers=JSON)), "not one to a query"),
    "odd bindings": (
        site(members(1, None, {}, {"item": 3}, {"item": {"type": "uri", "value": 5}}, binding("Q1", ""),
                     {**binding("Q5", "x"), "item": {"type": "uri", "value": "https://evil.example/entity/Q5"}})),
        "it has no member",
    ),
    "api html": (site(api=HTML), "not JSON"),
    "api 429": (site(api=Page(status=429, body=b"")), "fewer"),
    "api error": (site(api=Page(body=b'{"error": {"code": "maxlag"}}', headers=JSON)), "nothing by the name"),
    "api odd": (
        site(api=Page(body=b'{"search": [1, {"id": "Q1 } DROP", "label": "lighthouse"}, {"id": 4}]}', headers=JSON)),
        "nothing by the name of 'lighthouse', 'country', 'Portugal'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
async def test_what_wikidata_does_wrong_is_one_gap_and_the_web_alone_works(name: str, tmp_path: Path) -> None:
    pages, why = ODD[name]
    settings = f"seconds = 1\ngrace = 1\n{ON}"
    async with world(tmp_path, model_of(wanted()), pages, {"*": ["/a"]}, settings=settings) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher")
        assert [one["name"] for one in outcome.answer] == ["Sand Head"]
        (gap,) = [one for one in outcome.gaps if one.startswith("Wikidata gave no rows: ")]
        assert why in gap
        assert (await tea.replay(outcome.run)).answer == outcome.answer


@pytest.mark.parametrize(
    ("asked", "gap", "requests"),
    [
        (wanted(kind=""), "", 0),
        ("no object", "how to ask it could not be read", 0),
        (wanted(kind="Q1 . } DROP ALL #"), "nothing by the name of 'Q1 . } DROP ALL #'", 3),
        (wanted(conditions=[{"property": "country", "value": "Q45 } #"}]), "nothing by the name of 'Q45 } #'", 3),
    ],
)
async def test_only_what_wikidata_itself_names_gets_into_its_query(
    asked: Any, gap: str, requests: int, tmp_path: Path
) -> None:
    async with world(tmp_path, model_of(asked), site(), {"*": ["/a"]}, settings=ON) as (tea, made):
        outcome = await tea.run(TASK, agent="researcher")
        assert [one["name"] for one in outcome.answer] == ["Sand Head"]
        told = [one for one in outcome.gaps if one.startswith("Wikidata")]
        assert [gap in one for one in told] == ([True] if gap else [])
        entity = [one for one in asked_of(made) if "limit=7" in one]
        assert (len(entity), [one for one in asked_of(made) if one.startswith("/sparql")]) == (requests, [])


async def test_a_column_unknown_there_is_left_to_the_web_and_told(tmp_path: Path) -> None:
    columns = [{"column": "year", "property": "inception"}, {"column": "height", "property": "tallness"}]
    async with world(tmp_path, model_of(wanted(columns=columns)), site(), {"*": []}, settings=ON) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher")
        assert outcome.answer[0] == {"name": "Cape Harrow", "year": "1871", "height": None}
        assert "Wikidata knows no property by the name of 'tallness'." in outcome.gaps


async def test_a_value_that_does_not_fit_its_column_is_left_out(tmp_path: Path) -> None:
    several = members(
        binding("Q11", "Cape Harrow", 0, typed("dateTime", "1871-05-06T00:00:00Z"), {"detail": typed("integer", "11")}),
        binding("Q11", "Cape Harrow", 0, typed("dateTime", "1872-05-06T00:00:00Z"), {"detail": typed("integer", "11")}),
        binding("Q11", "Cape Harrow", 1, {"type": "literal", "value": "tall"}),
        binding("Q12", "Mole Light", 0, {"type": "uri", "value": "http://www.wikidata.org/.well-known/genid/ab"}),
        binding("Q12", "Mole Light", 1, typed("decimal", "12.5")),
    )
    async with world(tmp_path, model_of(wanted()), site(several), {"*": []}, settings=ON) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher", answer=FORM)
        assert outcome.answer == [
            {"name": "Cape Harrow", "year": None},
            {"name": "Mole Light", "year": None, "height": 12.5},
        ]


async def test_wikidata_closed_to_a_run_is_not_asked(tmp_path: Path) -> None:
    async with world(tmp_path, model_of(wanted()), site(), {"*": ["/a"]}, settings=ON) as (tea, made):
        outcome = await tea.run(TASK, agent="researcher", closed={"deny": ["wikidata.org"]})
        assert "Wikidata gave no rows: Wikidata is closed to this run." in outcome.gaps
        assert not [one for one in asked_of(made) if "limit=7" in one or one.startswith("/sparql")]
        (note,) = [one for one in notes(tea, outcome.run, "research") if one["stage"] == "listed"]
        assert note["wikidata"]["rows"] == 0


async def test_each_request_to_wikidata_counts_for_the_day(tmp_path: Path) -> None:
    async with world(tmp_path, model_of(wanted()), site(), {"*": ["/a"]}, settings=f"{ON}per_day = 3\n") as (tea, made):
        outcome = await tea.run(TASK, agent="researcher")
        assert "Wikidata gave no rows: Its 3 searches of today are used up." in outcome.gaps
        assert len(asked_of(made)) == 3
