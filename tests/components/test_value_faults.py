"""Test values against schemas: each verdict equals the standard validator's."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.validators import extend

from tea.components.json_schema import Endless, Work, fits_strictly, schema_fault, value_faults, without_patterns

STRICT: Any = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, one: type(one) is int),
)

TYPES = ["object", "array", "string", "boolean", "integer", "number", "null"]
NAMES = st.sampled_from(["a", "b", "c"])
PLAIN = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, 1.0]) | st.sampled_from(["", "x"])
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)


LIMITS = st.integers(-1, 2) | st.just(0.5)
DEFINITIONS: dict[str, Any] = {"A": {"type": ["integer", "null"]}, "B": {"properties": {"a": {"$ref": "#/$defs/A"}}}}


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of every word known to the short way, and of some others."""
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, max_size=2, unique=True),
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "items": inner,
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(0, 2),
            "minLength": st.integers(0, 2),
            "maxLength": st.integers(0, 2),
            "minimum": LIMITS,
            "maximum": LIMITS,
            "exclusiveMinimum": LIMITS,
            "exclusiveMaximum": LIMITS,
            "enum": st.lists(PLAIN, min_size=1, max_size=2),
            "const": PLAIN | st.lists(PLAIN, max_size=1),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "$ref": st.sampled_from(["#/$defs/A", "#/$defs/B"]),
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "patternProperties": st.dictionaries(st.just("a"), inner, min_size=1),
            "description": st.just("words"),
        },
    )


SCHEMAS = st.recursive(st.booleans() | around(st.booleans()), around, max_leaves=6)


@given(schema=around(SCHEMAS), value=VALUES)
def test_a_value_has_no_faults_exactly_where_the_standard_finds_none(schema: dict[str, Any], value: Any) -> None:
    schema = {**schema, "$defs": DEFINITIONS}
    assert (not value_faults(schema, value)) == Draft202012Validator(schema).is_valid(value)


@given(schema=around(SCHEMAS), value=VALUES)
def test_a_value_fits_strictly_where_the_standard_says_so_and_no_float_stands_for_an_integer(
    schema: dict[str, Any], value: Any
) -> None:
    schema = {**schema, "$defs": DEFINITIONS}
    assert fits_strictly(schema, value, Work(value)) == STRICT(without_patterns(schema)).is_valid(value)


def doubled(word: str, last: object, steps: int = 40) -> dict[str, Any]:
    """A small schema standing for very many alternatives of the last one."""
    definitions = {f"a{i}": {word: [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(steps)}
    return {"$ref": "#/$defs/a0", "$defs": {**definitions, f"a{steps}": last}}


def unevaluated(steps: int = 40) -> dict[str, Any]:
    """A small schema standing for very many places where a member may have been evaluated."""
    parts = [{name: {"$ref": f"#/$defs/a{i + 1}"} for name in "ab"} for i in range(steps)]
    definitions = {f"a{i}": {"dependentSchemas": part} for i, part in enumerate(parts)}
    return {"unevaluatedProperties": False, "$ref": "#/$defs/a0", "$defs": {**definitions, f"a{steps}": {}}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (doubled("anyOf", {"type": "integer"}), "x"),
        (doubled("allOf", {"type": "string"}), "x"),
        (doubled("anyOf", {"format": "x", "type": "integer", "multipleOf": 2}), "x"),
        ({**doubled("allOf", {"type": "object"}), "unevaluatedProperties": False}, {"x": 1}),
        (unevaluated(), {"a": 1, "b": 1}),
        ({"items": {"enum": list(range(20_000))}}, [19_999] * 20_000),
        ({"uniqueItems": True}, [*map(str, range(30_000)), None]),
    ],
)
def test_a_schema_that_stands_for_very_many_steps_is_given_up(schema: dict[str, Any], value: Any) -> None:
    assert value_faults(schema, value) == ["its schema takes too long to check"]
    with pytest.raises(Endless):
        fits_strictly(schema, value, Work(value))


LONG: list[tuple[dict[str, Any], str]] = [
    ({"allOf": [{}] * 4_000}, "it consists of more than 3,000 parts"),
    ({"anyOf": [True] * 4_000}, "it consists of more than 3,000 parts"),
    ({"$defs": {f"a{i}": {"$anchor": f"a{i}", "$ref": f"#a{i}"} for i in range(900)}}, "is not a path in it"),
    ({"properties": {f"a{i}": {"type": "string"} for i in range(4_000)}}, ""),
    ({"enum": [*map(str, range(20_000))]}, ""),
    ({"$defs": {f"a{i}": {"$ref": f"#/$defs/a{i + 1}"} for i in range(900)} | {"a900": {"$ref": "#"}}}, ""),
]


@pytest.mark.parametrize(("schema", "fault"), LONG)
def test_a_schema_that_takes_long_to_look_through_is_refused(schema: dict[str, Any], fault: str) -> None:
    assert fault in (schema_fault(schema) or "")
    assert bool(schema_fault(schema)) is bool(fault)


SLOW = {"pattern": "a*a*a*a*a*a*a*b"}
STRAY: list[dict[str, Any]] = [
    {"default": SLOW, "oneOf": [{"$ref": "#/default"}]},
    {"enum": [SLOW], "not": {}, "$ref": "#/enum/0"},
    {"x": {"type": 5}, "not": {}, "$dynamicRef": "#/x"},
    {"title": "words", "not": {}, "$ref": "#/title"},
    {"title": "words", "not": {}, "$ref": "#/title/first"},
    {"minimum": 1, "not": {}, "$ref": "#/minimum/first"},
    {"anyOf": [{}], "not": {}, "$ref": "#/anyOf/first"},
]


@pytest.mark.parametrize("schema", STRAY)
def test_a_reference_leads_to_a_schema_and_to_nothing_else_in_it(schema: dict[str, Any]) -> None:
    assert "points at no schema" in str(schema_fault(schema))
    assert "points at no schema" in value_faults(without_patterns(schema), "a" * 1_000)[0]
    assert not fits_strictly(schema, "a" * 1_000, Work(""))


def twice(words: dict[str, Any]) -> dict[str, Any]:
    """A schema that doubles its work twenty times over, with further words in each part of it."""
    parts = {f"a{i}": {**words, "allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(20)}
    return {"$defs": {**parts, "a20": {}}, "not": {"type": "null"}, "$ref": "#/$defs/a0"}


@pytest.mark.parametrize("dialect", ["draft-07/schema#", "draft/2020-12/schema"])
def test_no_part_of_a_schema_is_read_in_a_dialect_of_its_own(dialect: str) -> None:
    schema = twice({"$schema": f"http://json-schema.org/{dialect}"})
    assert "`$schema`" in str(schema_fault(schema))
    assert "`$schema`" in value_faults(schema, "x")[0]
    assert not fits_strictly(schema, "x", Work(""))


def test_the_dialect_of_a_whole_schema_leaves_the_work_of_a_check_bounded() -> None:
    parts = [{"if": {"type": "string"}, "then": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2}} for i in range(20)]
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "items": {"$ref": "#"},
        "allOf": [{"$ref": "#/$defs/a0"}],
        "$defs": {f"a{i}": part for i, part in enumerate(parts)} | {"a20": {}},
    }
    assert schema_fault(schema) is None
    assert value_faults(schema, [1]) == []
    assert value_faults(schema, ["x"]) == ["its schema takes too long to check"]


ODD: list[dict[str, Any]] = [
    {"type": 5},
    {"enum": 5},
    {"required": 5},
    {"properties": 5},
    {"minProperties": "two"},
    {"not": {}, "$ref": "#/$defs/nowhere"},
]


@pytest.mark.parametrize("schema", ODD)
def test_a_value_has_a_fault_by_a_schema_that_nobody_checked_and_that_cannot_be_used(schema: dict[str, Any]) -> None:
    assert schema_fault(schema)
    assert value_faults(schema, {"a": 1})


def test_a_large_value_is_checked_whole() -> None:
    points = {"type": "array", "uniqueItems": True, "items": {"oneOf": [{"type": "object"}, {"type": "string"}]}}
    value: list[Any] = [*map(str, range(10_000)), {}]
    assert value_faults(points, value[:-1]) == []
    assert value_faults({**points, "uniqueItems": False}, [*value, 1]) == [
        "10001: 1 is not valid under any of the given schemas: wanted object or string"
    ]


WRONG = st.sampled_from([None, -1, 0, 1, 1.5, 2.0, True, "", "x", "string", [], ["a"], ["a", "a"], [1], {}, {"a": 1}])
KEYS = [
    *("type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "minLength"),
    *("maxLength", "minimum", "default", "description", "title", "examples"),
]


@given(schema=st.dictionaries(st.sampled_from(KEYS), WRONG | SCHEMAS | st.dictionaries(NAMES, WRONG | SCHEMAS)))
def test_whichever_way_a_schema_is_looked_through_its_verdict_is_the_standards(schema: dict[str, Any]) -> None:
    if "#/$defs/" in str(schema):
        schema = {**schema, "$defs": DEFINITIONS}
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        assert schema_fault(schema) is not None
    else:
        assert schema_fault(schema) is None


def test_the_fault_within_the_one_alternative_of_a_values_type_is_told() -> None:
    form = {"type": "object", "properties": {"agrees": {"type": "array"}}, "required": ["position", "agrees"]}
    schema = {"type": "object", "properties": {"answer": {"anyOf": [form, {"type": "null"}]}}}
    assert value_faults(schema, {"answer": {"position": "No."}}) == ["answer: 'agrees' is a required property"]
    assert value_faults(schema, {"answer": {"position": "No.", "agrees": 1}}) == [
        "answer.agrees: 1 is not of type 'array'"
    ]
    (fault,) = value_faults(schema, {"answer": 1})
    assert fault == "answer: 1 is not valid under any of the given schemas: wanted object or null"


def test_a_fault_names_a_long_value_by_its_type() -> None:
    value: dict[str, Any] = {"answers": [{"team": "red", "members": number} for number in range(9)]}
    assert value_faults({"type": "array"}, value) == ["value: this object is not of type 'array'"]
    inner = {"properties": {"answers": {"type": "string"}}}
    assert value_faults(inner, value) == ["answers: this array is not of type 'string'"]
    (fault,) = value_faults({"type": "object"}, "The sum is 7. " * 20)
    assert fault == "value: this text, beginning with 'The sum is 7. The sum is 7. Th', is not of type 'object'"
    assert value_faults({"type": "integer"}, "four") == ["value: 'four' is not of type 'integer'"]


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"maxLength": 9}, "ab" * 10, "is too long: it has 20 characters, wanted at most 9"),
        ({"minLength": 9}, "ab", "is too short: it has 2 characters, wanted at least 9"),
        ({"minLength": 1}, "", "should be non-empty: it has 0 characters, wanted at least 1"),
        ({"maxItems": 1}, [1, 2, 3], "is too long: it has 3 items, wanted at most 1"),
        ({"minItems": 2}, [1], "is too short: it has 1 item, wanted at least 2"),
        ({"maxLength": 9}, "x" * 200, "is too long: it has 200 characters, wanted at most 9"),
        ({"anyOf": [{"enum": [1]}, {"enum": ["a", "b"]}]}, [1], ": wanted one of 1 or one of 'a', 'b'"),
        ({"anyOf": [{"type": ["integer", "null"]}, {"type": "object"}]}, "x", ": wanted integer, null or object"),
        ({"anyOf": [{"minimum": 5}, {"enum": [3]}]}, 1, "is not valid under any of the given schemas"),
    ],
)
def test_a_fault_says_what_was_given_and_what_is_wanted(schema: dict[str, Any], value: Any, told: str) -> None:
    (fault,) = value_faults(schema, value)
    assert fault.endswith(told)


def test_a_path_out_of_a_schema_is_named_with_its_control_characters() -> None:
    fault = schema_fault({"$ref": "a\x1c \n b\u2028"})
    assert fault == r'"a\u001c b\u2028" leads out of the schema, or is not a path in it'
