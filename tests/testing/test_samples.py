"""Values made of schemas."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter
from typing_extensions import TypedDict

from tea.components.json_schema import value_faults
from tea.errors import BadInput
from tea.testing.samples import sample


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Options(TypedDict, total=False):
    deep: bool
    limit: int


@dataclass
class Node:
    value: Annotated[float, Field(gt=0, lt=0.5)]
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None


class Order(BaseModel):
    """One of everything."""

    code: Annotated[str, Field(pattern=r"^[A-Z]{2}-\d{3,5}(x|yz)?$")]
    when: datetime
    day: date
    lasting: timedelta
    id: UUID
    price: Decimal
    lines: Annotated[list[tuple[str, int]], Field(min_length=2, max_length=3)]
    colours: Annotated[set[Colour], Field(min_length=2)]
    kind: Literal["a", "b"] | None
    options: Options
    share: Annotated[int, Field(ge=7, multiple_of=5)]
    by_name: dict[str, Node]


TYPES: list[Any] = [
    str, int, float, bool, None, list[int], dict[str, bool], Colour, Options, Node, Order, list[Order], Any,
    Literal["x"], int | str, Annotated[int, Field(lt=-3)], Annotated[int, Field(gt=10, lt=13)],
    Annotated[str, Field(min_length=4, max_length=4)], Annotated[str, Field(max_length=0)],
    Annotated[list[bool], Field(min_length=3)], tuple[int, str, None],
    Annotated[str, Field(pattern=r"\w+@\w+\.(de|org)")],
]  # fmt: skip


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_made_of_a_types_schema_is_a_value_of_the_type(kind: Any, seed: int) -> None:
    adapter = TypeAdapter(kind)
    value = sample(adapter.json_schema(), seed)
    assert value_faults(adapter.json_schema(), value) == []
    adapter.validate_python(value)


def numbers(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    limits = {
        "minimum": st.integers(-50, 0),
        "maximum": st.integers(20, 50),
        "exclusiveMinimum": st.integers(-50, 0),
        "exclusiveMaximum": st.integers(20, 50),
        "multipleOf": st.sampled_from([1, 2, 3, 7]),
    }
    return st.fixed_dictionaries({"type": st.just(kind)}, optional=limits)


def text(least: int, more: int) -> dict[str, Any]:
    return {"type": "string", "minLength": least, "maxLength": least + more}


SHORT = st.integers(0, 9)
PATTERNS = ["^a+$", "[0-9]{4}", "^(yes|no)$", "^[^a-z]?$", "."]
SCALARS = st.one_of(
    st.just({}),
    st.sampled_from([{"type": "boolean"}, {"type": "null"}, {"type": ["null", "integer"]}, {"minLength": 2}]),
    st.sampled_from([{"type": "string", "format": one} for one in ("date", "date-time", "uuid", "email", "odd")]),
    st.builds(text, SHORT, SHORT),
    st.lists(st.integers() | st.text(max_size=3) | st.none(), min_size=1, max_size=4).map(lambda some: {"enum": some}),
    st.integers().map(lambda one: {"const": one}),
    numbers("integer"),
    numbers("number"),
    st.sampled_from([{"type": "string", "pattern": one} for one in PATTERNS]),
)


def wider(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(["a", "b", "c", "name"])
    properties = st.dictionaries(names, inner, max_size=3)
    objects = st.builds(
        lambda shown, needed, closed: {
            "type": "object",
            "properties": shown,
            "required": [name for name in needed if name in shown],
            **({"additionalProperties": False} if closed else {}),
        },
        properties,
        st.sets(names).map(sorted),
        st.booleans(),
    )
    arrays = st.builds(
        lambda items, least, more: {"type": "array", "items": items, "minItems": least, "maxItems": least + more},
        inner, st.integers(0, 3), st.integers(0, 3),
    )  # fmt: skip
    either = st.lists(inner, min_size=1, max_size=3).map(lambda some: {"anyOf": some})
    whole = objects.map(lambda one: {"allOf": [one, {"type": "object"}]})
    return objects | arrays | either | whole


@given(st.recursive(SCALARS, wider, max_leaves=8), st.integers(0, 5))
def test_every_value_fits_its_schema_and_is_the_same_again(schema: dict[str, Any], seed: int) -> None:
    value = sample(schema, seed)
    assert value_faults(schema, value) == []
    assert sample(schema, seed) == value


def test_the_smallest_value_holds_what_is_required_and_no_more() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 3}, "more": {"type": "string"}},
        "required": ["n"],
    }
    assert sample(schema) == {"n": 3}
    assert len({str(sample(schema, seed)) for seed in range(20)}) > 5


def test_a_reference_leads_into_the_schema_also_where_it_comes_back() -> None:
    tree = {
        "$defs": {"tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}, "required": []}},
        "$ref": "#/$defs/tree",
    }
    assert sample(tree) == {}
    endless = {"$defs": {"it": {"type": "object", "properties": {"it": {"$ref": "#/$defs/it"}}, "required": ["it"]}}}
    with pytest.raises(BadInput, match="No value was found"):
        sample({**endless, "$ref": "#/$defs/it"})


@pytest.mark.parametrize(
    "schema", [{"type": "nope"}, {"enum": [1], "type": "string"}, {"pattern": "(?!.)x", "type": "string"}]
)
def test_where_there_is_no_value_that_is_said(schema: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        sample(schema)


def test_patterns_are_those_of_schemas_also_where_python_reads_none_or_takes_long() -> None:
    found = sample({"anyOf": [{"type": "string", "pattern": r"^\p{L}+$"}, {"const": 1}]})
    assert found == 1
    slow: dict[str, Any] = {
        "required": ["a" * 40],
        "patternProperties": {"(a*)*c": {}},
        "additionalProperties": {"const": 1},
    }
    assert sample(slow) == {"a" * 40: 1}
    assert sample({"type": "string", "pattern": "(?:a?){40}a{40}b"}) == "a" * 40 + "b"
