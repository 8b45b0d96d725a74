"""Test schemas sent to a provider, held to its reference; the rest is said in words.

Sources: platform.openai.com/docs/guides/structured-outputs (supported schemas), docs.claude.com/en/docs/
build-with-claude/structured-outputs (JSON Schema limitations).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from dialects import Dialect, Say, said
from model_kit import HELLO, asking
from pydantic import BaseModel, Field, TypeAdapter

from tea.components.json_schema import closed
from tea.models.schema import OPENAI, enforced


class Leg(BaseModel):
    """A part of a trip."""

    kind: Literal["leg"]
    hours: int = Field(ge=0, le=24, default=1)


class Stay(BaseModel):
    kind: Literal["stay"]
    on: date


class Trip(BaseModel):
    first: Leg = Field(description="Where it begins.")
    parts: list[Annotated[Leg | Stay, Field(discriminator="kind")]] = Field(min_length=2)
    name: str = Field(min_length=1, max_length=9)
    note: str | None = None


@dataclass
class Named:
    """Members named like words of a schema."""

    default: str
    properties: int
    type: str
    required: bool


class Node(BaseModel):
    value: int
    nodes: list["Node"]


class Open(BaseModel):
    counts: dict[str, int]


class Pair(BaseModel):
    pair: tuple[int, str]


class Loose(BaseModel):
    anything: Any


NEVER = {"oneOf", "allOf", "not", "prefixItems", "default", "discriminator", "uniqueItems", "patternProperties"}
BEYOND_ANTHROPIC = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "exclusiveMinimum"}


def faults(schema: Any, never: set[str]) -> Iterator[str]:
    """Why a provider would refuse a schema, as its reference has it."""
    yield from sorted(schema.keys() & never)
    if "$ref" in schema:
        yield from ("$ref is not alone",) if len(schema) > 1 else ()
    elif not schema.keys() & {"type", "anyOf"}:
        yield "a value of any type"
    shut = schema.get("additionalProperties") is False
    if schema.get("type") == "object" and not (shut and {*schema["required"]} == {*schema["properties"]}):
        yield "an open object"
    if schema.get("type") == "array" and "items" not in schema:
        yield "a list of anything"
    inner = [schema["items"]] if "items" in schema else []
    for one in (*inner, *schema.get("anyOf", ()), *_held(schema, "properties"), *_held(schema, "$defs")):
        yield from faults(one, never)


def _held(schema: Any, name: str) -> list[Any]:
    return list(schema.get(name, {}).values())


async def sent(dialect: Dialect, schema: Any, **options: Any) -> tuple[Any, bool, str]:
    """Ask for a typed answer, and return the sent schema, whether it is enforced, and the whole request."""
    async with asking(dialect, said(dialect, Say(text="{}")), **options) as (one, server):
        await one.ask(HELLO.model_copy(update={"output": schema}))
    body = server.asked[0].body
    match dialect.name:
        case "openai_chat":
            form = body.get("response_format", {}).get("json_schema", {})
        case "openai_responses":
            form = body.get("text", {}).get("format", {})
        case _:
            form = body.get("output_config", {}).get("format", {})
    return form.get("schema"), form.get("strict", "schema" in form), server.asked[0].raw.decode()


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        (Trip, {"first", "parts", "name", "note"}),
        (Named, {"default", "properties", "type", "required"}),
        (Node, {"value", "nodes"}),
    ],
)
async def test_a_type_is_enforced_as_far_as_the_provider_can(dialect: Dialect, kind: Any, members: set[str]) -> None:
    anthropic = dialect.name == "anthropic_messages"
    schema, strict, raw = await sent(dialect, closed(TypeAdapter(kind).json_schema()))
    if anthropic and kind is Node:
        assert (schema, "fits this JSON Schema" in raw) == (None, True)  # it takes no type that holds itself
        return
    assert strict
    assert (schema["type"], schema["properties"].keys()) == ("object", members)
    assert list(faults(schema, NEVER | (BEYOND_ANTHROPIC if anthropic else set[str]()))) == []


async def test_limits_that_a_provider_does_not_know_are_said_in_words(dialect: Dialect) -> None:
    schema, _, _ = await sent(dialect, closed(Trip.model_json_schema()))
    hours, parts = schema["$defs"]["Leg"]["properties"]["hours"], schema["properties"]["parts"]
    if dialect.name == "anthropic_messages":
        assert hours["description"] == "At most 24; at least 0."
        assert parts["description"] == "At least 2 items."
    else:
        assert (hours["maximum"], hours["minimum"], parts["minItems"]) == (24, 0, 2)
    assert schema["properties"]["first"]["description"] == "Where it begins."


@pytest.mark.parametrize("kind", [Open, Pair, Loose])
async def test_a_form_that_nobody_enforces_is_a_hint_or_said_in_words(dialect: Dialect, kind: Any) -> None:
    schema, strict, raw = await sent(dialect, closed(kind.model_json_schema()))
    hinted = dialect.name != "anthropic_messages"
    assert (schema is not None, strict, "fits this JSON Schema" in raw) == (hinted, False, not hinted)


@pytest.mark.parametrize("kind", [list[int], int, Leg | Stay])
async def test_a_form_that_is_no_object_is_said_in_words(dialect: Dialect, kind: Any) -> None:
    wanted = closed(TypeAdapter(kind).json_schema())
    schema, _, raw = await sent(dialect, wanted)
    assert schema is None
    assert json.dumps(json.dumps(wanted, sort_keys=True))[1:-1] in raw


async def test_a_model_that_takes_no_schema_is_told_in_words(dialect: Dialect) -> None:
    schema, _, raw = await sent(dialect, closed(Leg.model_json_schema()), capabilities=[])
    assert (schema, "fits this JSON Schema" in raw) == (None, True)


@pytest.mark.parametrize("odd", [{"properties": "odd"}, {"type": "object", "properties": {"a": 3}}, {"anyOf": 7}])
async def test_an_odd_schema_is_no_error(dialect: Dialect, odd: Any) -> None:
    assert (await sent(dialect, odd))[1] is False


def test_a_default_is_said_in_words() -> None:
    reason = {"type": "string", "default": ""}
    form = {"type": "object", "properties": {"reason": reason}, "required": ["reason"], "additionalProperties": False}
    found = enforced(form, OPENAI)
    assert found is not None
    assert found["properties"]["reason"] == {"type": "string", "description": 'By default "".'}
