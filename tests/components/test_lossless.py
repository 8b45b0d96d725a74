"""Test lossless coercion: a model's near miss is read for its sure meaning, and never more."""

import json
from dataclasses import dataclass
from decimal import Decimal
from time import process_time
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.validators import extend

from tea.components.lossless import lossless, shaped
from tea.components.operation import Operation
from tea.types import Task

STRICT: Any = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, one: type(one) is int),
)


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


def wanting(hint: Any, default: Any = ...) -> dict[str, Any]:
    """The schema of an operation with one argument of this type."""

    async def take(value: Any) -> bool:
        """Take it."""
        return True

    take.__annotations__["value"] = hint
    if default is not ...:
        take.__defaults__ = (default,)
    return Operation.of(take).signature.parameters


@pytest.mark.parametrize(
    ("hint", "value", "meant"),
    [
        (int, "5", 5), (int, "-12", -12), (int, "5.0", 5), (int, 5.0, 5), (float, "2.5", 2.5), (float, "3", 3),
        (float, "1e-3", 0.001), (float, "-0.50", -0.5), (bool, "true", True), (bool, "False", False), (str, 5, "5"),
        (list[str], "x.csv", ["x.csv"]), (list[str], '["a"]', ["a"]), (list[str], ' ["a", "b"]', ["a", "b"]),
        (list[str], "[draft] notes.md", ["[draft] notes.md"]), (list[int], "5", [5]), (list[int], ["1", 2], [1, 2]),
        (list[str], 5, ["5"]), (list[str] | None, "x", ["x"]), (int | None, "5", 5), (tuple[str, ...], "x", ["x"]),
        (dict[str, int], '{"a": "1"}', {"a": 1}), (dict[str, int], {"a": "1"}, {"a": 1}), (Point, '{"x": 1}', {"x": 1}),
        (Point, {"x": "1", "y": None}, {"x": 1}), (list[Point], {"x": 1}, [{"x": 1}]), (Literal[1, 2], "2", 2),
        (Literal["yes", "no"], "Yes", "yes"), (Literal["North", "South"], " north\n", "North"),
        (list[Literal["a", "b"]], "B", ["b"]), (Literal["a", "b"] | None, "A", "a"),
        (str, ["a"], "a"), (str | None, ["a"], "a"), (int, ["5"], 5), (Literal["a", "b"], ["A"], "a"),
        (int | bool, "true", True), (int | float, "5", 5),
        (Task, {"text": "t", "files": "a"}, {"text": "t", "files": ["a"]}),
    ],
)  # fmt: skip
def test_what_is_surely_meant_is_used(hint: Any, value: Any, meant: Any) -> None:
    found = lossless(wanting(hint), {"value": value})
    assert json.dumps(found) == json.dumps({"value": meant})


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, "05"), (int, "+5"), (int, " 5"), (int, "5.5"), (int, "1e3"), (int, "1,000"), (int, "\u0665"), (int, ""),
        (int, "five"), (int, True), (int, 5.5), (int, 1e300), (int, "9" * 30), (int, float("nan")), (int, None),
        (float, "0.1000000000000000055511151231257827"), (float, "1e999"), (float, "NaN"), (float, "9007199254740993"),
        (bool, 1), (bool, "yes"), (bool, "1"), (str, 2.5), (str, True), (str, None),
        (str, ["a", "b"]), (str, [["a"]]), (str, []), (int, ["x"]), (str, 10**40),
        (list[str], None), (list[int], "x"), (list[int], '["x"]'), (tuple[str, int], "x"), (Literal["a"], 5),
        (dict[str, int], '{"a": 1, "a": 2}'), (dict[str, int], '{"a": NaN}'), (dict[str, int], "{"), (Point, "[1]"),
        (Point, {"x": None}), (Literal["a", "A"], " a"), (int | list[int], "5"), (int | None, "null"),
        (list[str], "GB82, NL91"), (list[str], "a;b"), (list[str], "a\nb"), (list[str] | None, "Porto, Portugal"),
    ],
)  # fmt: skip
def test_what_is_not_sure_stays_as_it_is(hint: Any, value: Any) -> None:
    given = {"value": value}
    assert lossless(wanting(hint), given) is given


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (str, "5"), (str, "true"), (str, '["a"]'), (int | str, "5"), (str | None, "null"), (Any, "5"), (Any, 5.0),
        (list[str] | str, "x"), (list[int] | list[str], ["5"]), (list[str], ["[1]"]), (float, 5), (float, 5.0),
        (dict[str, Any], {"a": "5"}), (dict[str, Any] | str, '{"a": 1}'), (bool | str, "true"), (int | None, None),
    ],
)  # fmt: skip
def test_what_fits_is_never_changed(hint: Any, value: Any) -> None:
    given = {"value": value}
    assert lossless(wanting(hint), given) is given


@pytest.mark.parametrize(
    ("hint", "value", "meant"),
    [
        (list[int], '["x"]', ["x"]), (list[int] | None, ' ["x", "2"]', ["x", 2]), (Point, '{"x": "a"}', {"x": "a"}),
        (Point | list[int], '["x"]', ["x"]), (dict[str, int], '{"a": "x"}', {"a": "x"}),
    ],
)  # fmt: skip
def test_a_text_of_json_is_parsed_for_errors_about_what_it_holds(hint: Any, value: str, meant: Any) -> None:
    assert shaped(wanting(hint), {"value": value}) == {"value": meant}


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (str, '["x"]'), (list[str], "[draft] a.md"), (int, "[1]"), (list[int] | str, '["x"]'), (Any, "[1]"),
        (Point, "[1]"), (dict[str, int], '{"a": 1, "a": "x"}'), (list[int], "[1"), (list[int], ["[1]"]),
    ],
)  # fmt: skip
def test_other_texts_are_not_parsed(hint: Any, value: Any) -> None:
    given = {"value": value}
    assert shaped(wanting(hint), given) is given


def test_null_for_what_may_be_left_out_is_left_out() -> None:
    assert lossless(wanting(int, 3), {"value": None}) == {}
    given = {"value": None}
    assert lossless(wanting(int | None, 3), given) is given
    assert lossless(wanting(int), given) is given


def test_one_argument_that_does_not_fit_leaves_the_others_as_they_are_meant() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    assert lossless(schema, {"a": "5", "b": "x"}) == {"a": 5, "b": "x"}
    given = {"a": 5, "b": "x"}
    assert lossless(schema, given) is given
    refused = {**schema, "required": ["c"]}
    assert lossless(refused, {"a": "5", "d": "6"}) == {"a": 5, "d": "6"}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}},
        {"properties": {"a": {"type": "nonsense"}}},
        {"properties": {"a": {"type": "integer", "pattern": "("}}},
        {"properties": {"a": {"$ref": "http://nowhere.test/a"}}},
        {"type": 5, "properties": {"a": {"anyOf": [5]}}},
    ],
)
def test_a_schema_that_cannot_be_used_changes_nothing(schema: dict[str, Any]) -> None:
    given = {"a": "x"}
    assert lossless(schema, given) is given


NAMES = st.sampled_from(["a", "b"])
TYPES = st.sampled_from(["object", "array", "string", "boolean", "integer", "number", "null"])
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0])
TEXTS = st.sampled_from(["", "x", "1", "1.0", "0.5", "true", "null", "[1]", '["1"]', '{"a": 1}', '{"a": "1"}'])
VALUES = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=5,
)


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of the commonest words."""
    branches = st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
    referring = st.just({"$ref": "#/$defs/A"})
    typed = st.fixed_dictionaries(
        {"type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True)},
        optional={
            "properties": st.dictionaries(NAMES, inner, max_size=2),
            "required": st.lists(NAMES, max_size=1),
            "additionalProperties": st.booleans() | inner,
            "items": inner,
            "minItems": st.integers(0, 2),
            "minimum": st.integers(-1, 2),
            "enum": st.lists(SCALARS | TEXTS, min_size=1, max_size=2),
        },
    )
    return branches | typed | referring


SCHEMAS = st.recursive(st.just({}) | st.fixed_dictionaries({"type": TYPES}), around, max_leaves=5)


def test_a_text_is_the_only_sentence_of_a_list_of_sentences_but_not_the_only_name() -> None:
    for most, meant in ((300, ["They grow, as they did."]), (299, "They grow, as they did.")):
        items = {"type": "string", "maxLength": most}
        schema = {"type": "object", "properties": {"words": {"type": "array", "items": items}}}
        assert lossless(schema, {"words": "They grow, as they did."}) == {"words": meant}


@given(
    properties=st.dictionaries(NAMES, SCHEMAS, min_size=1), definition=SCHEMAS, arguments=st.dictionaries(NAMES, VALUES)
)
def test_arguments_fit_in_the_end_or_stay_and_those_that_fit_always_stay(
    properties: dict[str, Any], definition: dict[str, Any], arguments: dict[str, Any]
) -> None:
    held = {"$defs": {"A": definition}} if "$ref" not in json.dumps(definition) else {"$defs": {"A": {}}}
    schema = {"type": "object", "properties": properties, "additionalProperties": False, **held}
    before, before_names = json.dumps(arguments), arguments.keys()
    found = lossless(schema, arguments)
    assert json.dumps(arguments) == before
    changed = [name for name in arguments if name not in found or found[name] is not arguments[name]]
    alone = all(STRICT({**properties[name], **held}).is_valid(found[name]) for name in changed if name in found)
    assert found is arguments or STRICT(schema).is_valid(found) or (changed and alone and found.keys() == before_names)
    assert found is arguments or not STRICT(schema).is_valid(arguments)
    assert lossless(schema, found) is found


@given(st.text("0123456789.-+eE ", max_size=12) | st.floats().map(repr) | st.integers().map(str))
def test_a_number_that_is_read_from_a_text_is_exactly_that_number(text: str) -> None:
    for kind in ("integer", "number"):
        (value,) = lossless({"properties": {"a": {"type": kind}}}, {"a": text}).values()
        if value is not text:
            assert Decimal(repr(value)) == Decimal(text)


@given(st.integers() | st.floats(allow_nan=False))
def test_a_text_that_is_written_for_a_number_tells_it_again(number: float) -> None:
    (value,) = lossless({"properties": {"a": {"type": "string"}}}, {"a": number}).values()
    assert value is number or (type(value) is str and type(number) is int and int(value) == number)


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"type": "string", "pattern": "(a+)+$"}]},
        {"anyOf": [{"patternProperties": {"(a+)+$": {}}, "additionalProperties": False}]},
        {"$ref": "#/$defs/a0"},
    ],
)
def test_a_schema_of_somebody_else_takes_no_time_without_end(schema: dict[str, Any]) -> None:
    steps = {f"a{i}": {"anyOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(40)}
    whole = {"type": "object", "properties": {"x": schema}, "$defs": {**steps, "a40": {"type": "integer"}}}
    for value in ("a" * 60 + "!", {"a" * 60 + "!": 1}):
        assert lossless(whole, {"x": value}) == {"x": value}


def test_a_large_schema_is_not_gone_through_for_each_of_its_alternatives() -> None:
    held = {f"d{i}": {"type": "object", "properties": {"a": {"type": "string"}}} for i in range(1_500)}
    alternatives = {"x": {"anyOf": [{"not": {}}] * 4_000}}
    before = process_time()
    assert lossless({"type": "object", "properties": alternatives, "$defs": held}, {"x": "y"}) == {"x": "y"}
    assert process_time() - before < 5
