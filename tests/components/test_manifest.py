"""A component as one JSON document, for every kind, and only as it was written."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.components.content import is_path
from tea.components.manifest import (
    Lineage,
    Manifest,
    canonical,
    source_digest,
)
from tea.components.operation import Example, Signature, Traits
from tea.errors import Damaged, UnknownComponent
from tea.refs import KINDS

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "description": "One."}}, "required": ["a"]}
OPERATION = Signature(
    name="go",
    description="Go.",
    parameters=SCHEMA,
    returns={"type": "string"},
    examples=(Example(call="await go(a=1)", result="'é'"),),
    traits=Traits(effects="reads", secrets=("KEY",), before="ready"),
)


def manifest(kind: Any = "tool", **changes: Any) -> Manifest:
    fields: dict[str, Any] = {
        "name": "go", "version": "1.2.3", "description": "Goes.", "source": "async def go(): ...\n",
        "files": {"_go/a.py": "A = 1"}, "requires": ("requests",), "operations": {"call": OPERATION},
        "metadata": {"category": "é", "n": [1, None, {"a": 1.5}]}, "rules": "Be kind.", "recovery": "rerun",
        "lineage": Lineage(how="copy", parent="1.2.2", run="r", before=0.5), "created": "now", "reason": "why",
        "changes": ("import re",),
    }  # fmt: skip
    return Manifest(kind=kind, **{**fields, **changes})


@pytest.mark.parametrize("kind", KINDS)
def test_a_manifest_of_every_kind_is_read_back_as_its_own_type(kind: Any) -> None:
    one = manifest(kind)
    again = Manifest.from_json(json.loads(json.dumps(one.to_json())))
    assert again == one
    assert canonical(again.to_json()) == canonical(one.to_json())
    assert str(again.ref) == f"{kind}:go@1.2.3"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TEXT = st.text(st.characters(exclude_categories=("Cs",)))
PATH = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1).filter(is_path)
REQUIREMENT = st.from_regex(r"[a-z][a-z0-9]{0,9}(\[[a-z]{1,5}\])?((>=|==|~=)[0-9.]{1,5})?", fullmatch=True)
FILES = st.dictionaries(PATH, TEXT, max_size=3)


@given(TEXT, FILES, st.dictionaries(st.text(), JSON, max_size=3), st.lists(REQUIREMENT))
def test_any_plain_data_survives(source: str, files: dict[str, str], metadata: Any, requires: list[str]) -> None:
    one = manifest(source=source, files=files, metadata=metadata, requires=tuple(requires))
    again = Manifest.from_json(json.loads(json.dumps(one.to_json())))
    assert again == one
    assert again.digest == one.digest == source_digest("tool", "go", source, files, tuple(requires))


def test_an_older_document_that_does_not_say_how_it_is_shared_is_shared() -> None:
    document = manifest("environment", sharing="private").to_json()
    assert Manifest.from_json(document).sharing == "private"
    del document["sharing"]
    assert Manifest.from_json(document).sharing == "shared"


@pytest.mark.parametrize("change", ["kind", "name", "source", "files", "requires"])
def test_the_digest_covers_what_decides_the_behaviour(change: str) -> None:
    values: dict[str, Any] = {
        "kind": "agent", "name": "other", "source": "pass", "files": {}, "requires": ()
    }  # fmt: skip
    assert manifest(**{change: values[change]}).digest != manifest().digest
    assert manifest(version="9.0.0", description="Other.", reason="other").digest == manifest().digest


def spoilt_schema(**words: Any) -> dict[str, Any]:
    data = spoilt()
    (one,) = data["operations"].values()
    return data | {"operations": {"call": one | {"parameters": one["parameters"] | words}}}


def spoilt(**changes: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(manifest().to_json())), **changes}


@pytest.mark.parametrize(
    "data",
    [
        {}, {"kind": "tool"}, spoilt(kind="robot"), spoilt(kind=["tool"]), spoilt(source=3), spoilt(source="other"),
        spoilt(name=None), spoilt(version="\n"),
        spoilt(files=[]), spoilt(files={"a": 1}), spoilt(requires="requests"), spoilt(operations=3),
        spoilt(operations={"call": {}}), spoilt(operations={"`x` mends it": spoilt()["operations"]["call"]}),
        spoilt(metadata=None), spoilt(lineage={"how": "magic"}), spoilt(lineage=None),
        spoilt_schema(properties=[]), spoilt_schema(properties={"x": 3}), spoilt_schema(properties={"x": None}),
        spoilt_schema(required=1), spoilt_schema(required=[{}]), spoilt_schema(required=["x", None]),
        spoilt(digest="sha256:0"), spoilt(digest=None), spoilt(evolvable="perhaps"), spoilt(source="\ud800"),
        {key: value for key, value in spoilt().items() if key != "digest"},
    ],
)  # fmt: skip
def test_what_is_no_manifest_is_damage(data: dict[str, Any]) -> None:
    with pytest.raises(Damaged) as caught:
        Manifest.from_json(data)
    assert len(str(caught.value)) <= 300
    assert "\n" not in str(caught.value)


@given(st.dictionaries(st.sampled_from(sorted(spoilt())), JSON))
def test_any_change_of_a_document_is_damage_or_a_manifest(changes: dict[str, Any]) -> None:
    try:
        said = str(Manifest.from_json({**spoilt(), **changes}).ref)
    except Damaged as error:
        said = str(error)
    assert "\n" not in said


@pytest.mark.parametrize(
    ("name", "value"),
    [("tools", 3), ("agents", [3]), ("environments", "shell"), ("model", 3), ("prompt", ["a"]), ("max_steps", "9")],
)
def test_an_agent_that_declares_a_fact_in_another_form_is_damage(name: str, value: Any) -> None:
    document = manifest("agent", metadata={name: value}).to_json()
    with pytest.raises(Damaged, match=f"'{name}' of its metadata is of another form"):
        Manifest.from_json(document)
    assert Manifest.from_json(manifest("tool", metadata={name: value}).to_json()).metadata == {name: value}


def test_an_operation_is_found_or_the_others_are_named() -> None:
    assert manifest().operation("call") is OPERATION
    with pytest.raises(UnknownComponent, match="it has call"):
        manifest().operation("cal")


def test_a_schema_for_each_providers_function_calling() -> None:
    (openai,), (anthropic,) = manifest().function_schemas(), manifest().function_schemas("anthropic")
    body = {"name": "go", "description": "Go.", "parameters": SCHEMA}
    assert openai == {"type": "function", "function": body}
    assert anthropic == {"name": "go", "description": "Go.", "input_schema": SCHEMA}
    two = manifest("environment", operations={"b": OPERATION, "a": OPERATION})
    assert [one["name"] for one in two.function_schemas("anthropic")] == ["go_a", "go_b"]


def test_the_text_holds_words_parameters_examples_and_rules() -> None:
    assert manifest().text() == (
        "## go (1.2.3)\n\nGoes.\n\n### call\nGo.\n- a (integer, required): One.\n"
        "    >>> await go(a=1)\n    'é'\n\nRules: Be kind."
    )


def test_the_text_spells_out_what_a_schema_refers_to() -> None:
    task = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    fields = {"task": {"$ref": "#/$defs/Task"}, "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}
    schema = {"type": "object", "$defs": {"Task": task}, "properties": fields, "required": ["task"]}
    text = manifest(operations={"run": replace(OPERATION, parameters=schema)}).text()
    assert "- task ({text: string}, required)\n- size (integer or null, default None)" in text


def test_canonical_json_is_one_text_for_equal_values_and_refuses_what_is_not_json() -> None:
    assert canonical({"b": 1, "a": "é"}) == canonical({"a": "é", "b": 1}) == '{"a":"é","b":1}'.encode()
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical(float("nan"))


def test_what_an_agent_says_of_itself_is_in_its_text_and_in_what_retrieval_reads() -> None:
    facts = {
        "role": "Judge",
        "competencies": ["weigh", "decide"],
        "relations": {"b": "cooperative", "a": "competitive"},
    }
    found = manifest("agent", metadata={**facts, "objectives": 3})
    assert (
        "Role: Judge\nCompetencies: weigh; decide\nObjectives: 3\n"
        "Relations (a debate follows them): competitive with a; cooperative with b" in found.text()
    )
    assert "Judge\nweigh; decide\n3\ncompetitive with a; cooperative with b\n" in found.words()


def test_what_an_operation_repeats_of_its_component_is_read_once_by_retrieval() -> None:
    again = replace(OPERATION, description="Goes.")
    assert manifest(operations={"call": again}).words() == "go\nGoes.\na: One.\né\nBe kind."
    assert "\ncall: Go.\na: One.\n" in manifest().words()
