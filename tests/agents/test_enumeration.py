"""Lists: rows with a source for each cell, made one of the same, and stopped in a fixed order."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from researcher_kit import Script, notes, number_of, plan, text, world

TASK = "List all lighthouses of the bay with the year they were built and their height."
COLUMNS = [{"name": "name", "meaning": ""}, {"name": "year", "meaning": "built"}, {"name": "height", "meaning": "in m"}]
HARROW = "Cape Harrow was built in 1871."
MOLE = "The Mole Light was built in 1902 and is 12 m high."
HIGH = "Cape Harrow is 31 m high."
CELL = {"type": ["string", "number", "null"]}
FORM = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "year": {"type": ["integer", "null"]},
            "height": {"type": "integer"},
        },
        "required": ["name", "year"],
    },
}


def listing(*queries: str, **more: Any) -> dict[str, Any]:
    more = {"entity": "a lighthouse of the bay", "columns": COLUMNS, "key": ["name"], "target": None, **more}
    return plan(*queries, kind="list", **more)


def row(source: int, quote: str, name: str, year: Any = None, height: Any = None) -> dict[str, Any]:
    return {"cells": {"name": name, "year": year, "height": height}, "source": source, "quote": quote}


def rows(*given: dict[str, Any], queries: Any = (), read: Any = ()) -> dict[str, Any]:
    return {"rows": list(given), "queries": list(queries), "read": list(read)}


def all_rows(request: Any) -> dict[str, Any]:
    """The rows of all material shown."""
    known = [(HARROW, "Cape Harrow", 1871, None), (MOLE, "Mole Light", 1902, 12), (HIGH, "Cape Harrow", None, 31)]
    found = [
        row(one["number"], quote, name, year, height)
        for quote, name, year, height in known
        for one in request.variables["material"]
        if quote in one["text"]
    ]
    return rows(*found)


PAGES = {"/a": text(f"{HARROW} {MOLE}", "2020-01-01"), "/b": text(HIGH, "2024-01-01")}


@pytest.mark.parametrize(
    "more",
    [{"needs": ["lights", "years", "dissolution"]}, {"beside": ["dissolution"], "needs": ["when the light was built"]}],
)
async def test_parts_of_the_question_outside_of_a_list_are_told_as_open(tmp_path: Path, more: dict[str, Any]) -> None:
    model = Script(researcher=listing("lighthouses", **more), researcher_rows=all_rows)
    model.replies["researcher"]["entity"] = "one of the lights"
    async with world(tmp_path, model, PAGES) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher")
        told = [one for one in outcome.gaps if one.startswith("The list does not answer this part")]
        assert told == ["The list does not answer this part of the question: dissolution"]


async def test_rows_have_a_source_for_each_cell_and_stand_in_a_table_and_the_answer(tmp_path: Path) -> None:
    model = Script(researcher=listing("lighthouses"), researcher_rows=all_rows)
    async with world(tmp_path, model, PAGES) as (tea, made):
        outcome = await tea.run(TASK, agent="researcher", answer=FORM)
        assert (outcome.status, outcome.partial) == ("done", False)
        assert sorted(outcome.answer, key=lambda one: one["name"]) == [
            {"name": "Cape Harrow", "year": 1871, "height": 31},
            {"name": "Mole Light", "year": 1902, "height": 12},
        ]
        place = outcome.trace / "workspace"
        with (place / "rows.csv").open() as file:
            table = list(csv.DictReader(file))
        assert {one["name"] for one in table} == {"Cape Harrow", "Mole Light"}
        told = json.loads((place / "rows.sources.json").read_text())
        harrow = next(one for one in told["rows"] if one["name"][0]["value"] == "Cape Harrow")
        (height,) = harrow["height"]
        assert height["origins"][0]["url"] == f"{made.site.url}/b"
        assert (height["origins"][0]["quote"], height["origins"][0]["date"]) == (HIGH, "2024-01-01")
        assert told["audit"]["stopped"] == "nothing left"
        assert told["audit"]["known"] == {"name": 2, "year": 2, "height": 2}
        assert {one.source for one in outcome.evidence} <= {f"{made.site.url}/a", f"{made.site.url}/b"}
        again = await tea.replay(outcome.run)
        assert again.answer == outcome.answer
        assert [one["stage"] for one in notes(tea, outcome.run, "research")] == ["planned", "searched"]


async def test_without_a_form_the_columns_of_the_plan_count(tmp_path: Path) -> None:
    model = Script(researcher=listing(), researcher_rows=all_rows)
    async with world(tmp_path, model, docs={"bay.md": f"# Bay\n\n{MOLE}\n"}) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher")
        assert outcome.answer == [{"name": "Mole Light", "year": 1902, "height": 12}]
        assert model.asked() == {"researcher": 1, "researcher_rows": 1}


SEARCH = '''
from tea import Context, tool


@tool(effects="reads", network=False)
async def web_search(ctx: Context, queries: list[str], since: str = "", full: bool = False) -> dict[str, object]:
    """Search a shelf of one book."""
    one = {"url": "https://shelf.test/bay", "title": "Bay", "snippet": "", "text": "%s", "engines": ["shelf"]}
    return {"results": [{**one, "score": 1.0, "date": ""}], "engines": [], "profile": {"opens": 0, "score": 0.1}}
'''


async def test_what_is_found_before_the_plan_is_read_for_rows_too(tmp_path: Path) -> None:
    model = Script(researcher=listing("lighthouses"), researcher_rows=all_rows)
    async with world(tmp_path, model) as (tea, _):
        await tea.tcp.register(SEARCH % MOLE, version="1.1.0")
        outcome = await tea.run(TASK, agent="researcher")
        assert outcome.answer == [{"name": "Mole Light", "year": 1902, "height": 12}], outcome.reason


async def test_rows_that_stand_in_no_source_are_thrown_away_and_told(tmp_path: Path) -> None:
    def invented(request: Any) -> Any:
        number = number_of(request, MOLE)
        return rows(
            row(number, MOLE, "Mole Light", 1903), row(number, "Sand Head stands.", "Sand Head"),
            row(number, MOLE, "Sand Head"), row(99, MOLE, "Mole Light"), row(number, MOLE, "unknown"),
        )  # fmt: skip

    model = Script(researcher=listing(), researcher_rows=invented)
    async with world(tmp_path, model, docs={"bay.md": f"# Bay\n\n{MOLE}\n"}) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher", answer=FORM)
        assert outcome.answer == [{"name": "Mole Light", "year": 1903}]
        (audit,) = notes(tea, outcome.run, "audit")
        assert [one["why"] for one in audit["rejected"]] == [
            "the quotation does not stand in the source",
            "'Sand Head' does not stand in the source",
            "'name' is not known",
        ]
        assert [(one["column"], one["doubt"]) for one in audit["doubtful"]] == [
            ("year", "the source says it in other words")
        ]
        assert audit["rounds"][0]["rejected"] == 4
        assert "height is not known in 1 of 1 rows." in outcome.gaps
        assert "Sand Head is left out: the quotation does not stand in the source." in outcome.gaps
        assert not [one for one in outcome.gaps if one.startswith("Mole Light is left out")]
        assert any(one.startswith("Mole Light, year: 1903 does not stand in ") for one in outcome.gaps)


async def test_sources_that_disagree_on_a_cell_are_ranked_and_shown(tmp_path: Path) -> None:
    pages = {"/a": text("Cape Harrow was built in 1869.", "2001-01-01"), "/b": text(HARROW, "2024-01-01")}

    def both(request: Any) -> Any:
        return rows(
            row(number_of(request, "1869"), "Cape Harrow was built in 1869.", "Cape Harrow", 1869),
            row(number_of(request, "1871"), HARROW, "Cape Harrow", 1871),
        )

    model = Script(researcher=listing(), researcher_rows=both)
    async with world(tmp_path, model, pages) as (tea, made):
        outcome = await tea.run(TASK, agent="researcher")
        assert outcome.answer == [{"name": "Cape Harrow", "year": 1871, "height": None}]
        assert any(f"1869 ({made.site.url}/a)" in gap for gap in outcome.gaps)


async def test_a_number_that_its_source_does_not_say_loses_to_one_that_does(tmp_path: Path) -> None:
    pages = {"/a": text(HARROW, "2001-01-01"), "/b": text("Cape Harrow was built of stone.", "2024-01-01")}

    def both(request: Any) -> Any:
        newer = "Cape Harrow was built of stone."
        return rows(
            row(number_of(request, "1871"), HARROW, "Cape Harrow", 1871),
            row(number_of(request, newer), newer, "Cape Harrow", 1999),
        )

    model = Script(researcher=listing(), researcher_rows=both)
    async with world(tmp_path, model, pages) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher")
        assert outcome.answer == [{"name": "Cape Harrow", "year": 1871, "height": None}]


STOPS: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "target": ({"target": 1}, {}, False),
    "nothing left": ({}, {}, False),
    "rounds": ({}, {"grow": True}, True),
    "plateau": ({}, {"repeat": True}, False),
    "steps": ({}, {"grow": True, "steps": 3}, True),
    "tokens": ({}, {"grow": True, "usage": 90_000}, True),
    "target before tokens": ({"target": 1}, {"grow": True, "usage": 250_000}, False),
    "queries": ({}, {"grow": True, "set": {"researcher.list_queries": 3}}, True),
    "queries before tokens": ({}, {"grow": True, "usage": 90_000, "set": {"researcher.list_queries": 2}}, True),
    "time": ({}, {"grow": True, "minutes": 2}, True),
    "time before queries": ({}, {"grow": True, "minutes": 6, "set": {"researcher.list_queries": 1}}, True),
    "tokens before plateau": ({}, {"repeat": True, "usage": 70_000}, True),
}


@pytest.mark.parametrize("stop", STOPS)
async def test_a_list_stops_for_a_reason_that_is_told(
    stop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more, how, partial = STOPS[stop]
    docs = {
        f"{n}.md": f"# Light {n}\n\nlighthouse built query{n} Light {n} was built in {1870 + n}.\n" for n in range(9)
    }
    count = 0

    def found(request: Any) -> Any:
        nonlocal count
        count += 1
        given = [
            row(one["number"], f"Light {n} was built in {1870 + n}.", f"Light {n}", 1870 + n)
            for one in request.variables["material"]
            for n in ([0] if "repeat" in how else range(9))
            if f"Light {n} was built" in one["text"]
        ]
        given = given[:1] if "repeat" not in how else given or [row(99, "", "x")]
        return rows(*given, queries=[f"lighthouse query{count} Light {count}"] if how else [])

    class Costly(Script):
        async def complete(self, *words: Any) -> Any:
            response = await super().complete(*words)
            return response.model_copy(
                update={"usage": response.usage.model_copy(update={"input_tokens": how["usage"]})}
            )

    kind = Costly if "usage" in how else Script
    model = kind(researcher=listing("lighthouse query0", **more), researcher_rows=found)
    async with world(tmp_path, model, docs=docs, settings="results = 1") as (tea, _):
        budget = {"budget": {"steps": how["steps"]}} if "steps" in how else {}
        if "minutes" in how:  # that pass with each question about rows
            monkeypatch.setattr(
                "tea.runs.services.timestamp", lambda: f"2026-01-01T00:{how['minutes'] * count:02d}:00.000Z"
            )
        outcome = await tea.run(TASK, agent="researcher", settings=how.get("set", {}), **budget)
        (audit,) = notes(tea, outcome.run, "audit")
        assert (audit["stopped"], outcome.partial) == (stop.partition(" before ")[0], partial)
        assert outcome.ok
        assert (await tea.replay(outcome.run)).answer == outcome.answer


async def test_rows_that_cannot_be_read_stop_a_list_honestly(tmp_path: Path) -> None:
    model = Script(researcher=listing(), researcher_rows="| name | year |")
    async with world(tmp_path, model, docs={"bay.md": f"# Bay\n\n{MOLE}\n"}) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher")
        assert (outcome.status, outcome.partial) == ("failed", True)
        assert "could not be read" in outcome.reason


async def test_a_target_that_is_not_reached_is_told(tmp_path: Path) -> None:
    model = Script(researcher=listing(target=5), researcher_rows=all_rows)
    async with world(tmp_path, model, docs={"bay.md": f"# Bay\n\n{MOLE}\n"}) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher")
        assert (outcome.ok, outcome.partial) == (True, True)
        assert "1 of 5 rows were found." in outcome.gaps


async def test_the_audit_flags_cells_by_kind_and_severity(tmp_path: Path) -> None:
    years = {**{f"Light {chr(65 + n)}": 1880 + n for n in range(9)}, "Light Z": 18930}
    words = " ".join(f"{name} was built in {year}." for name, year in years.items())
    pages = {"/a": text(words, "2020-01-01"), "/b": text("Light B was built in 1899.", "2001-01-01")}

    def all_years(request: Any) -> Any:
        first, second = number_of(request, "Light A was"), number_of(request, "1899")
        given = [row(first, f"{name} was built in {year}.", name, year, 10) for name, year in years.items()]
        return rows(*given, row(second, "Light B was built in 1899.", "Light B", 1899))

    model = Script(researcher=listing(), researcher_rows=all_years)
    async with world(tmp_path, model, pages) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher")
        (audit,) = notes(tea, outcome.run, "audit")
        found = [(one["row"][0], one["column"], one["kind"], one["severity"]) for one in audit["flagged"]]
        assert ("Light B", "year", "contradiction", "medium") in found
        assert ("Light Z", "year", "outlier", "medium") in found
        assert ("Light A", "height", "unfounded", "high") in found
        assert [one for one in found if one[2] == "outlier"] == [("Light Z", "year", "outlier", "medium")]
        assert [one[3] for one in found] == sorted((one[3] for one in found), key=["high", "medium", "low"].index)
        assert audit["severity"] == "high"
        assert (await tea.replay(outcome.run)).answer == outcome.answer


async def test_more_rows_than_were_asked_for_are_told(tmp_path: Path) -> None:
    model = Script(researcher=listing(target=1), researcher_rows=all_rows)
    async with world(tmp_path, model, PAGES) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher")
        assert len(outcome.answer) > 1
        assert f"{len(outcome.answer)} rows were found, though 1 row had been asked for." in outcome.gaps


async def test_the_limit_that_ended_a_list_is_told_in_plain_words(tmp_path: Path) -> None:
    model = Script(researcher=listing(), researcher_rows=all_rows)
    async with world(tmp_path, model, docs={"bay.md": f"# Bay\n\n{MOLE}\n"}) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher", settings={"researcher.list_rounds": 1})
        assert outcome.gaps[0] == "The list may be incomplete: it ended after 1 round."


async def test_a_cell_is_no_formula_where_the_table_is_opened(tmp_path: Path) -> None:
    evil = '=HYPERLINK("http://evil.example")'
    model = Script(
        researcher=listing(), researcher_rows=lambda request: rows(row(number_of(request, "Mole"), MOLE, "Mole", evil))
    )
    async with world(tmp_path, model, docs={"bay.md": f"# Bay\n\n{MOLE}\n"}) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher")
        assert outcome.answer[0]["year"] == evil
        with (outcome.trace / "workspace" / "rows.csv").open() as file:
            (line,) = csv.DictReader(file)
        assert line["year"] == f"'{evil}"


async def test_long_pages_are_read_in_parts(tmp_path: Path) -> None:
    long = "\n".join(f"<p>Line {number} of the page about nothing much at all.</p>" for number in range(900))
    model = Script(researcher=listing(), researcher_rows=all_rows)
    async with world(tmp_path, model, {"/a": text(f"{long}<p>{MOLE}</p>")}) as (tea, made):
        outcome = await tea.run(TASK, agent="researcher")
        assert [one["name"] for one in outcome.answer] == ["Mole Light"]
        assert "line 9" in outcome.evidence[0].detail or "line 1" in outcome.evidence[0].detail
        assert made.site.paths().count("/a") == 1
        assert model.asked()["researcher_rows"] > 1


def endless() -> tuple[Script, dict[str, Any], dict[str, list[str]]]:
    """A model that always wants three more queries, each with a page that says the same."""
    names = [f"lighthouse built q{number}" for number in range(30)]
    pages = {f"/{number}": text(f"{MOLE} This is page {number}.") for number in range(30)}

    def found(request: Any) -> Any:
        after = len(request.variables["queries"])
        given = [row(one["number"], MOLE, "Mole Light", 1902) for one in request.variables["material"]]
        return rows(*given, queries=names[after : after + 3])

    model = Script(researcher=listing(*names[:3]), researcher_rows=found)
    return model, pages, {name: [f"/{number}"] for number, name in enumerate(names)}


async def test_a_round_with_little_new_halves_the_queries_of_the_next(tmp_path: Path) -> None:
    model, pages, found = endless()
    async with world(tmp_path, model, pages, found) as (tea, made):
        outcome = await tea.run(TASK, agent="researcher")
        (audit,) = notes(tea, outcome.run, "audit")
        assert [(len(one["queries"]), one["novelty"] > 0) for one in audit["rounds"]] == [
            (3, True), (3, False), (1, False),
        ]  # fmt: skip
        told = [one.get("allowed") for one in notes(tea, outcome.run, "research") if one["stage"] == "searched"]
        assert told == [None, 1, 1]
        assert (len(made.searches), audit["stopped"]) == (7, "plateau")
        assert (await tea.replay(outcome.run)).answer == outcome.answer


async def test_a_cell_is_given_up_after_so_many_searches_and_told(tmp_path: Path) -> None:
    model, pages, found = endless()
    async with world(tmp_path, model, pages, found) as (tea, _):
        outcome = await tea.run(TASK, agent="researcher", settings={"researcher.list_unknown_after": 3})
        shown = [one.variables["known"] for one in model.requests["researcher_rows"]]
        assert shown == [[], ["Mole Light (lacks height)"], ["Mole Light"]]
        assert outcome.answer == [{"name": "Mole Light", "year": 1902, "height": None}]
        assert "1 cell was given up after 3 searches." in outcome.gaps
        (audit,) = notes(tea, outcome.run, "audit")
        assert audit["status"] == {"found": 2, "missing": 0, "unknown": 1}
        assert (await tea.replay(outcome.run)).answer == outcome.answer


@pytest.mark.parametrize(("after", "stop", "count"), [(3, "resolved", 6), (50, "plateau", 7)])
async def test_a_list_ends_once_each_cell_is_found_or_given_up_where_that_is_set(
    after: int, stop: str, count: int, tmp_path: Path
) -> None:
    model, pages, found = endless()
    settings = {"researcher.list_unknown_after": after, "researcher.list_until_resolved": True}
    async with world(tmp_path, model, pages, found) as (tea, made):
        outcome = await tea.run(TASK, agent="researcher", settings=settings)
        (audit,) = notes(tea, outcome.run, "audit")
        assert (audit["stopped"], audit["complete"], len(made.searches)) == (stop, True, count)
        assert (await tea.replay(outcome.run)).answer == outcome.answer
