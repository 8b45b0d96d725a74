"""Test the patterns of schemas: what they match is what the standard says, in bounded time."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from tea.characters import path_in_sentence
from tea.components.json_schema import schema_fault, value_faults

SLOW = ["a*a*a*a*a*b", "(?:(?:a*)b?)*c", "(a|a)*b", "^(?=.*.*.*b)a", r"\w+\w+\w+\w+-", "(?:a?){30}a{30}b"]


@pytest.mark.parametrize("pattern", SLOW)
def test_no_pattern_takes_long(pattern: str) -> None:
    asked: list[tuple[dict[str, Any], Any]] = [
        ({"pattern": pattern}, "a" * 10_000),
        ({"propertyNames": {"pattern": pattern}}, {"a" * 10_000: 1}),
        ({"patternProperties": {pattern: {}}, "additionalProperties": False}, {"a" * 10_000: 1}),
    ]
    for schema, value in asked:
        assert schema_fault(schema) is None
        assert len(found := value_faults(schema, value)) == 1
        assert found[0].startswith("value: ")


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a)\1",
        "a(?=b)",
        "(?<=a)b",
        "^(?=a)a|b",
        "^(?=a)*b",
        "^(?=a",
        "(",
        "(?x)a{#}\n900}",
        r"\w{1001}",
        r"\p{L}{50}",
        "(?:(?:a?){100}){100}c",
        "(?:(?:b|[^c]){100}){10,50}c",
    ],
)
def test_a_pattern_that_cannot_be_matched_in_bounded_time_is_refused(pattern: str) -> None:
    assert "pattern" in str(schema_fault({"pattern": pattern}))
    assert "pattern" in str(schema_fault({"not": {"patternProperties": {pattern: {}}}}))
    assert value_faults({"pattern": pattern}, "ab") == ["its schema cannot be used"]


@pytest.mark.parametrize("word", ["const", "default", "enum", "examples"])
def test_what_is_data_in_a_schema_is_no_pattern(word: str) -> None:
    data: Any = {"pattern": "a(?=b)"}
    assert schema_fault({"not": {word: [data] if word in ("enum", "examples") else data}}) is None
    assert "pattern" in str(schema_fault({"properties": {word: data}, "not": {}}))
    assert schema_fault({"properties": {"pattern": {"const": "a(?=b)"}}, "not": {}}) is None


def test_a_long_pattern_is_refused() -> None:
    assert "is too long" in str(schema_fault({"pattern": "x" * 501}))


def test_a_large_pattern_is_not_matched_for_long() -> None:
    schema: dict[str, Any] = {"pattern": "[ab]*a[ab]{900}c"}
    assert schema_fault(schema) is None
    assert value_faults(schema, "ab" * 500) == ["value: this text does not match '[ab]*a[ab]{900}c'"]
    assert value_faults(schema, "ab" * 100_000) == ["its schema takes too long to check"]


@pytest.mark.parametrize("sign", [r"\w", r"[\w.-]", ".", "a", "[^b]"])
@pytest.mark.parametrize(
    ("times", "least", "most"), [("7", 7, 7), ("3,", 3, 1_000), ("2,255", 2, 255), ("0,999", 0, 999)]
)
def test_a_sign_may_be_repeated_often(sign: str, times: str, least: int, most: int) -> None:
    schema = {"pattern": f"^{sign}{{{times}}}$"}
    assert schema_fault(schema) is None
    for size in (least - 1, least, most, most + 1):
        fits = least <= size <= most or (times == "3," and size > most)
        assert (value_faults(schema, "a" * size) == []) is (fits or size < least == 0)
    assert value_faults(schema, "a" * (most - 1) + "\n") or sign == "[^b]"


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        (r"^\u00e9[\u0061-\u0063]$", ["éa", "éc"], ["éd", "e"]),
        (r"^\\u00e9$", [r"\u00e9"], ["é"]),
        (r"^\d$", ["7"], ["٣", "x"]),
        (r"^\p{L}+$", ["é", "ü"], ["7", "\ud800"]),
        ("^(?!x)", ["a", "\ud800"], ["x"]),
    ],
)
def test_letters_are_those_of_the_standard(pattern: str, matched: list[str], others: list[str]) -> None:
    assert schema_fault({"pattern": pattern}) is None
    assert [one for one in matched + others if value_faults({"pattern": pattern}, one)] == others


def test_patterns_are_not_matched_for_very_many_short_names() -> None:
    named: dict[str, Any] = {"patternProperties": {f"x{n}$": {} for n in range(30)}, "additionalProperties": {}}
    value = {f"n{n}": 1 for n in range(1_000)}
    assert value_faults(named, {"x1": 1}) == []
    assert value_faults({"allOf": [named] * 80}, value) == ["its schema takes too long to check"]


def test_a_long_pattern_that_nobody_looked_at_before_is_not_read() -> None:
    assert value_faults({"pattern": "^" + "(?=a)" * 30_000}, "a") == ["its schema cannot be used"]


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        ("^[[a]$", "[a", "b]"),
        ("^[[:a]$", "[:a", "]b"),
        ("^[a&&b]$", "a&b", "c]"),
        ("^[ab~~b]$", "ab~", "c]"),
        ("^[+--]$", "+,-", ".]"),
        ("^[--/]$", "-./", "+a"),
        (r"^[\[\]a-c-]$", "[]b-", "d&"),
        ("^[^[a&&a]$", "b]", "[a&"),
        (r"^[\<a]$|^\>$", "<>a", "b"),
    ],
)
def test_a_set_of_characters_holds_what_it_lists(pattern: str, matched: str, others: str) -> None:
    assert schema_fault({"pattern": pattern}) is None
    assert [one for one in matched + others if value_faults({"pattern": pattern}, one)] == list(others)


def test_very_many_patterns_are_refused_before_any_is_read() -> None:
    many = {"anyOf": [{"pattern": rf"\w{{{n % 100 + 100}}}{n}"} for n in range(2_000)]}
    assert schema_fault(many) == "it holds more than 30 patterns"
    assert value_faults(many, "x" * 10) == ["its schema takes too long to check"]


def test_patterns_are_not_matched_for_what_is_unevaluated() -> None:
    apart: list[dict[str, Any]] = [{"patternProperties": {"a*a*a*a*a*b": {}}}, {"unevaluatedProperties": False}]
    assert "not checked together" in str(schema_fault({"allOf": apart}))
    assert "not checked together" in value_faults({"allOf": apart}, {"a" * 10_000: 1})[0]
    assert [schema_fault(one) for one in apart] == [None, None]


PARTS = st.sampled_from(["a", "b", "[ab]", "(?:a|b)", "a*", "b?", "(?=a)", "(?!b)", "(?=.*b$)", "$", "|", r"\(", "[)]"])
PATTERNS: st.SearchStrategy[str] = st.tuples(st.sampled_from(["", "^"]), st.lists(PARTS, min_size=1, max_size=5)).map(
    lambda one: one[0] + "".join(one[1])
)
TEXTS = st.sampled_from(["", "a", "b", "ab", "ba", "aab", "bba", "abab", ")", "(", "a)"])
NAMED = st.dictionaries(PATTERNS, st.booleans(), max_size=2)


OTHERS = st.booleans() | st.just({"type": "null"})


@given(PATTERNS, NAMED, OTHERS, st.dictionaries(TEXTS, st.integers(0, 1) | st.none()))
def test_a_pattern_matches_what_the_standard_matches(pattern: str, named: Any, others: Any, value: Any) -> None:
    schema = {"patternProperties": named, "additionalProperties": others, "propertyNames": {"pattern": pattern}}
    schema["properties"] = {"ab": {"type": "integer"}}
    if schema_fault(schema) is None:
        standard: Any = Draft202012Validator(schema)
        told = sorted(
            f"{path_in_sentence(one.absolute_path) or 'value'}: {one.message}".strip()
            for one in standard.iter_errors(value)
        )
        assert sorted(value_faults(schema, value, 100)) == told


def test_the_numbers_that_pydantic_describes_by_a_look_ahead_are_matched() -> None:
    schema = TypeAdapter(Decimal).json_schema()
    assert "(?!" in str(schema)
    assert schema_fault(schema) is None
    assert [one for one in ("1.50", "-07", "", "-.", "x") if value_faults(schema, one)] == ["", "-.", "x"]
