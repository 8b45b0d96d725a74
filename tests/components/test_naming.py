"""Test names of arguments: those of other functions for the same thing, and misspelt ones."""

from typing import Any

import pytest

from tea.components.naming import name_hint, renamed, understood

NAMES: dict[str, dict[str, Any]] = {
    "read": {"path": {"type": "string"}, "start": {"type": "integer"}, "find": {"type": "string"}},
    "convert": {"source": {"type": "string"}, "question": {"type": "string"}, "url": {"type": "string"}},
    "table": {"files": {"type": "array", "items": {"type": "string"}}, "sql": {"type": "string"}},
    "search": {"queries": {"type": "array", "items": {"type": "string"}}, "since": {"type": "string"}},
    "agent": {"task": {"type": "string"}, "files": {"type": "array", "items": {"type": "string"}}},
    "move": {"name": {"type": "string"}, "new": {"type": "string"}},
}


def schema(function: str, **more: Any) -> dict[str, Any]:
    names = NAMES[function]
    closed = {"additionalProperties": False, **more}
    return {"type": "object", "properties": names, "required": [next(iter(names))], **closed}


@pytest.mark.parametrize(
    ("function", "given", "meant"),
    [
        ("read", {"source": "a.txt"}, {"path": "a.txt"}),
        ("read", {"files": ["a.txt"], "start": "5"}, {"path": "a.txt", "start": 5}),
        ("read", {"file_path": "a.txt", "Start": 5}, {"path": "a.txt", "start": 5}),
        ("convert", {"path": "a.pdf", "question": "Why?"}, {"source": "a.pdf", "question": "Why?"}),
        ("convert", {"file": "a.pdf", "query": "Why?"}, {"source": "a.pdf", "question": "Why?"}),
        ("table", {"path": "a.csv", "query": "SELECT 1"}, {"files": ["a.csv"], "sql": "SELECT 1"}),
        ("search", {"query": "lakes", "since": "day"}, {"queries": ["lakes"], "since": "day"}),
        ("agent", {"question": "Why?", "file": "a.pdf"}, {"task": "Why?", "files": ["a.pdf"]}),
        ("agent", {"prompt": "Why?"}, {"task": "Why?"}),
        ("table", {"filse": ["a.csv"]}, {"files": ["a.csv"]}),
    ],
)
def test_a_name_of_the_same_thing_is_understood(function: str, given: Any, meant: Any) -> None:
    assert understood(schema(function), given) == meant


@pytest.mark.parametrize(
    ("function", "given"),
    [
        ("read", {"path": "a.txt", "source": "b.txt"}),
        ("read", {"source": "a.txt", "file": "b.txt"}),
        ("read", {"colour": "red"}),
        ("read", {"path": "a.txt"}),
        ("move", {"name": "a", "old": "b"}),
        ("read", None),
        ("read", ["a.txt"]),
    ],
)
def test_a_name_of_nothing_sure_stays(function: str, given: Any) -> None:
    assert renamed(schema(function), given) is given


@pytest.mark.parametrize("more", [{"additionalProperties": True}, {"patternProperties": {".*": {}}}])
def test_names_stay_where_others_are_taken(more: dict[str, Any]) -> None:
    given = {"source": "a.txt"}
    assert renamed(schema("read", **more), given) is given


def test_the_nearest_parameter_is_asked_about() -> None:
    assert name_hint(schema("read"), {"my_path": 1, "path": "a"}) == "did you mean 'path'? "
    assert name_hint(schema("read"), ["path"]) == ""


def test_the_only_needed_parameter_left_out_is_asked_about() -> None:
    assert name_hint(schema("read"), {"colour": 1}) == "did you mean 'path'? "
    assert name_hint(schema("read"), {"path": "a", "colour": 1}) == ""


@pytest.mark.parametrize("text", ["GB82, NL91", "GB82;NL91", "GB82\nNL91"])
def test_a_text_that_may_name_several_is_refused_with_the_form_of_a_list(text: str) -> None:
    given = {"queries": text}
    assert understood(schema("search"), given) is given
    assert name_hint(schema("search"), given) == 'write queries as a list of texts, ["...", "..."], also for one; '
    assert understood(schema("search"), {"queries": "GB82"}) == {"queries": ["GB82"]}
