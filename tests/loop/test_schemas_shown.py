"""Schemas of functions, as a model reads them."""

from tea.loop.schemas import compact


def test_what_says_nothing_is_left_out() -> None:
    schema = {
        "type": "object",
        "title": "Arguments",
        "properties": {
            "title": {"type": "string", "title": "Title", "default": ""},
            "rows": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None, "description": "How many."},
            "limit": {"type": "integer", "default": 5},
        },
        "additionalProperties": False,
    }
    assert compact(schema) == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "rows": {"type": "integer", "description": "How many."},
            "limit": {"type": "integer", "default": 5},
        },
    }


def test_a_definition_used_once_stands_where_it_is_used() -> None:
    point = {"type": "object", "description": "A point.", "properties": {"x": {"type": "number"}}}
    schema = {
        "$defs": {"Point": point, "Pair": {"type": "array", "items": {"type": "number"}}},
        "properties": {
            "one": {"$ref": "#/$defs/Point"},
            "two": {"$ref": "#/$defs/Pair"},
            "three": {"items": {"$ref": "#/$defs/Pair"}},
        },
    }
    found = compact(schema)
    assert found["properties"]["one"] == {"type": "object", "properties": {"x": {"type": "number"}}}
    assert found["$defs"] == {"Pair": {"type": "array", "items": {"type": "number"}}}


def test_a_definition_that_refers_to_itself_stays() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}}
    schema = {"$defs": {"Tree": tree}, "properties": {"root": {"$ref": "#/$defs/Tree"}}}
    assert compact(schema) == schema
