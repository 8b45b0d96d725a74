"""Test models to JSON Schema and back: both accept the same values."""

import json
import time
from datetime import datetime
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tea.errors import TeaError
from tea.source.dynamic import DynamicManager

MANAGER = DynamicManager(lambda digest: True)


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Leaf(BaseModel):
    """A leaf."""

    model_config = ConfigDict(extra="forbid", strict=True)
    color: Color
    size: float = Field(default=1.5, ge=0, lt=100, description="In metres.")
    tags: list[str] = Field(default_factory=list, max_length=3)


class Node(BaseModel):
    model_config = ConfigDict(strict=True)
    name: str = Field(min_length=1, pattern=r"^[a-z]+$")
    children: list["Node"] = []
    leaf: Leaf | None = None
    pair: tuple[int, str] | None = None
    mode: Literal["a", "b", 3] = "a"
    table: dict[str, int | None] = {}
    when: datetime | None = None
    class_: int = Field(default=0, alias="class")
    schema_: bool = Field(default=False, alias="schema")
    first: Leaf = Leaf(color=Color.RED)


def accepts(model: type[BaseModel], value: Any) -> bool:
    try:
        model.model_validate_json(json.dumps(value))
    except ValidationError:
        return False
    return True


def dumped(model: type[BaseModel], value: Any) -> Any:
    return json.loads(model.model_validate_json(json.dumps(value)).model_dump_json(by_alias=True))


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 105), st.floats(-5, 105).filter(lambda x: x != int(x)),
    st.sampled_from(["red", "blue", "a", "b", "abc", "", "2024-01-01T00:00:00Z", "2024"]), st.text(max_size=3),
)  # fmt: skip
LEAVES = st.fixed_dictionaries(
    {}, optional={"color": SCALARS, "size": SCALARS, "tags": st.lists(SCALARS, max_size=4), "more": SCALARS}
)


def nodes(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"name": st.one_of(st.just("abc"), SCALARS)},
        optional={
            "children": st.lists(children, max_size=2),
            "leaf": st.one_of(st.none(), LEAVES),
            "pair": st.lists(SCALARS, max_size=3),
            "mode": st.one_of(st.just(3), SCALARS),
            "table": st.dictionaries(st.text(max_size=2), SCALARS, max_size=2),
            "when": SCALARS,
            "class": SCALARS,
            "schema": SCALARS,
            "more": SCALARS,
        },
    )


NODES = st.recursive(SCALARS, nodes, max_leaves=4)
BACK = MANAGER.model_from_schema(MANAGER.schema_to_json(Node), "Node")


@given(st.one_of(NODES, nodes(NODES)))
def test_a_model_made_from_a_models_schema_accepts_the_same_values(value: Any) -> None:
    assert accepts(BACK, value) == accepts(Node, value)
    if accepts(Node, value):
        assert dumped(BACK, value) == dumped(Node, value)


def test_the_schema_of_such_a_model_makes_the_same_model_again() -> None:
    again = MANAGER.schema_to_json(BACK)
    assert again == MANAGER.schema_to_json(MANAGER.model_from_schema(again, "Node"))
    assert again["$defs"]["Leaf"]["properties"] == MANAGER.schema_to_json(Leaf)["properties"] | {
        "color": {"enum": ["red", "blue"], "title": "Color", "type": "string"}
    }


SIMPLE = st.one_of(
    st.sampled_from(
        [
            {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}, {},
            True,
            {"type": "integer", "minimum": 2, "exclusiveMaximum": 50}, {"type": "string", "minLength": 2},
            {"enum": ["a", "b", None, 3]}, {"const": "a"}, {"type": ["string", "null"]},
            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "uniqueItems": True},
            {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 1},
        ]
    )
)  # fmt: skip


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(["a", "b-c", "model_x", "copy", "_d", "class", "é"])
    return st.builds(
        lambda properties, required, others: {
            "type": "object",
            "properties": properties,
            "required": sorted(set(required) & (properties.keys() if others is False else set(required))),
            **({} if others is None else {"additionalProperties": others}),
        },
        st.dictionaries(keys, inner, min_size=1, max_size=3),
        st.lists(keys, max_size=1),
        st.one_of(st.none(), st.booleans(), inner),
    )


SCHEMAS = objects(
    st.recursive(
        SIMPLE,
        lambda inner: st.one_of(
            objects(inner),
            st.builds(lambda one: {"type": "array", "items": one}, inner),
            st.builds(lambda one, two: {"anyOf": [one, two]}, inner, inner),
            st.builds(
                lambda one, two: {"type": "array", "prefixItems": [one, two], "minItems": 2, "maxItems": 2},
                inner,
                inner,
            ),
        ),
        max_leaves=4,
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["a", "b-c", "model_x", "copy", "_d", "class", "é", "x"]), inner, max_size=3),
    ),
    max_leaves=6,
)


@settings(max_examples=150)
@given(SCHEMAS, st.lists(VALUES, min_size=3, max_size=8))
def test_a_model_accepts_what_its_schema_accepts(schema: dict[str, Any], values: list[Any]) -> None:
    model = MANAGER.model_from_schema(schema, "Made")
    back = Draft202012Validator(MANAGER.schema_to_json(model))
    for value in values:
        expected = Draft202012Validator(schema).is_valid(value)
        assert accepts(model, value) == expected
        assert back.is_valid(value) == expected
        if expected and isinstance(value, dict):
            model.model_validate_json(json.dumps(value)).model_dump_json()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "array"},
        {"type": "object", "properties": {"a": {"not": {}}}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.org/x"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/None"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}},
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}},
        },
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}},
        {"type": "object", "properties": {"a": {"enum": [1.5]}}},
        {"type": "object", "properties": {"a": False}},
        {"type": "object", "properties": []},
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": "x"}}},
        {"type": "object", "patternProperties": {}},
        {"type": "object", "required": ["a"], "additionalProperties": False},
        {"$ref": "#"},
    ],
)
def test_schemas_that_no_model_can_carry_are_refused_in_one_line(schema: dict[str, Any]) -> None:
    with pytest.raises(TeaError) as caught:
        MANAGER.model_from_schema(schema, "Made")
    assert len(str(caught.value)) <= 300
    assert str(caught.value).isprintable()


SCHEMA_WORDS = st.sampled_from(["type", "properties", "items", "anyOf", "$ref", "enum", "required", "default", "a"])
ANYTHING = st.recursive(
    st.one_of(SCALARS, st.sampled_from(["object", "array", "#"])),
    lambda inner: st.one_of(st.dictionaries(SCHEMA_WORDS, inner, max_size=4), st.lists(inner, max_size=2)),
    max_leaves=10,
)


@given(ANYTHING)
def test_no_schema_raises_anything_else(schema: Any) -> None:
    said = ""
    try:
        MANAGER.model_from_schema({"type": "object", **(schema if isinstance(schema, dict) else {})}, "Made")
    except TeaError as error:
        said = str(error)
    assert len(said) <= 300


def test_a_schema_that_refers_to_itself_makes_a_model_that_does() -> None:
    schema = {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "next": {"$ref": "#"}},
        "required": ["value"],
    }
    model = MANAGER.model_from_schema(schema, "Chain")
    assert accepts(model, {"value": 1, "next": {"value": 2}})
    assert not accepts(model, {"value": 1, "next": {"next": {}}})


def test_a_pattern_is_matched_as_in_a_check_of_the_schema() -> None:
    for pattern, text, other in ((r"^\p{L}+$", "für", "für 1"), ("^(?:a?){40}a{40}$", "a" * 40, "a" * 40 + "b")):
        schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
        model = MANAGER.model_from_schema(schema, "M")
        assert MANAGER.schema_to_json(model)["properties"]["a"]["pattern"] == pattern
        assert model.model_validate({"a": text}).model_dump() == {"a": text}
        with pytest.raises(ValidationError, match="does not match"):
            model.model_validate({"a": other})
    with pytest.raises(TeaError, match="more than 30 patterns"):
        MANAGER.model_from_schema({"type": "object", "patternProperties": {f"{n}": {} for n in range(31)}}, "M")


def test_a_text_that_takes_long_to_match_does_not_fit() -> None:
    shape: Any = {"type": "object", "properties": {"a": {"type": "string", "pattern": ".{0,999}b"}}}
    model = MANAGER.model_from_schema(shape, "Long")
    model.model_validate_json(json.dumps({"a": f"{'a' * 50_000}b"}))
    begun = time.process_time()
    with pytest.raises(ValidationError, match="too long to be matched"):
        model.model_validate_json(json.dumps({"a": "a" * 1_000_000}))
    assert time.process_time() - begun < 5
