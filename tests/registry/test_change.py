"""Test the size of changes: breaking, adding, and neither."""

import time
from typing import Any

import pytest

from tea.components.manifest import Manifest
from tea.components.operation import Example, Signature, Traits
from tea.prompts.manager import PromptManager
from tea.registry.change import change_between

INTEGER, TEXT, POINT = {"type": "integer"}, {"type": "string"}, {"$ref": "#/$defs/Point"}


def schema(required: tuple[str, ...] = (), defs: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": properties, "required": list(required)}
    return {**found, "$defs": defs} if defs else found


def operation(parameters: dict[str, Any] | None = None, returns: Any = None, **traits: Any) -> Signature:
    return Signature(
        name="call",
        description="Do it.",
        parameters=parameters or schema(("a",), a=INTEGER),
        returns=returns or TEXT,
        traits=Traits(**traits),
    )


def manifest(**changes: Any) -> Manifest:
    fields: dict[str, Any] = {
        "kind": "tool", "name": "a", "version": "1.0.0", "description": "", "source": "",
        "operations": {"call": operation()},
    }  # fmt: skip
    return Manifest(**{**fields, **changes})


def point(**properties: Any) -> dict[str, Any]:
    return schema(("p",), {"Point": schema(tuple(properties), **properties)}, p=POINT)


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (operation(), operation(), "patch"),
        (operation(), operation(schema(("a",), a={**INTEGER, "description": "Words.", "title": "A"})), "patch"),
        (operation(schema(a={**INTEGER, "default": 1})), operation(schema(a={**INTEGER, "default": 2})), "patch"),
        (operation(schema(a={"default": {"x": 1}})), operation(schema(a={"default": {"y": 1}})), "patch"),
        (operation(schema(a={"examples": [1]})), operation(schema(a={"examples": [2]})), "patch"),
        (operation(concurrent=False), operation(concurrent=True, after="done"), "patch"),
        (operation(), operation(schema(("a",), a=INTEGER, b=INTEGER)), "minor"),
        (operation(), operation(schema((), a=INTEGER)), "minor"),
        (operation(), operation(schema(("a", "b"), a=INTEGER, b=INTEGER)), "major"),
        (operation(), operation(schema(("b",), b=INTEGER)), "major"),
        (operation(), operation(schema(("a",), a=TEXT)), "major"),
        (operation(), operation(schema(("a",), a={**INTEGER, "minimum": 1})), "major"),
        (operation(schema(a=INTEGER)), operation(schema(("a",), a=INTEGER)), "major"),
        (operation(schema(default=INTEGER)), operation(schema(default=TEXT)), "major"),
        (operation(schema(a=schema(title=INTEGER))), operation(schema(a=schema(title=TEXT))), "major"),
        (operation(point(x=INTEGER)), operation(point(x=INTEGER, y=INTEGER)), "major"),
        (operation(point(x=INTEGER)), operation(point(x=TEXT)), "major"),
        (operation(point(x=INTEGER)), operation(point(x={**INTEGER, "description": "Words."})), "patch"),
        (operation(), operation(returns=INTEGER), "major"),
        (operation(), operation(returns={**TEXT, "title": "Words"}), "patch"),
        (operation(effects="reads"), operation(effects="writes"), "major"),
        (operation(idempotent=True), operation(idempotent=False), "major"),
        (operation(network=False), operation(network=True), "major"),
        (operation(), operation(secrets=("KEY",)), "major"),
        (operation(), operation(before="ready"), "major"),
        (operation(), operation(scope=True), "major"),
        (operation(), operation(schema(("a",), a={"anyOf": [INTEGER, TEXT]})), "minor"),
        (operation(schema(("a",), a={"anyOf": [INTEGER, TEXT]})), operation(), "major"),
        (operation(schema(a={"anyOf": [TEXT, INTEGER]})), operation(schema(a={"anyOf": [INTEGER, TEXT]})), "minor"),
        (operation(schema(a={"anyOf": [TEXT, INTEGER]})), operation(schema(a={"anyOf": [TEXT]})), "major"),
        (operation(effects="irreversible"), operation(effects="reads"), "minor"),
        (operation(idempotent=False), operation(idempotent=True), "minor"),
        (operation(network=True), operation(network=False), "minor"),
        (operation(secrets=("KEY", "OTHER")), operation(secrets=("KEY",)), "minor"),
        (operation(effects="external"), operation(effects="reads", before="ready"), "major"),
    ],
)  # fmt: skip
def test_a_changed_operation(old: Signature, new: Signature, change: str) -> None:
    assert change_between(manifest(operations={"call": old}), manifest(operations={"call": new})) == change


def test_a_further_parameter_with_a_type_of_its_own_is_added() -> None:
    old = operation(point(x=INTEGER))
    defs = {"Point": schema(("x",), x=INTEGER), "Line": schema(p=POINT)}
    new = operation(schema(("p",), defs, p=POINT, line={"$ref": "#/$defs/Line"}))
    assert change_between(manifest(operations={"call": old}), manifest(operations={"call": new})) == "minor"


@pytest.mark.parametrize(
    ("changes", "change"),
    [
        ({"source": "pass", "description": "Words.", "rules": "Be kind.", "metadata": {"a": 1}}, "patch"),
        ({"operations": {"call": operation(), "more": operation()}}, "minor"),
        ({"operations": {"more": operation()}}, "major"),
        ({"operations": {}}, "major"),
        ({"recovery": "durable"}, "major"),
        ({"sharing": "private"}, "major"),
        ({"operations": {"call": Signature(name="call", description="Other.", parameters=schema(("a",), a=INTEGER),
                                           returns=TEXT, examples=(Example(call="a", result="b"),))}}, "patch"),
    ],
)  # fmt: skip
def test_a_changed_component(changes: dict[str, Any], change: str) -> None:
    assert change_between(manifest(), manifest(**changes)) == change


def prompt(variables: str = "text: {type: string}", output: str = "", words: str = "Say it.") -> Manifest:
    parts = [f"variables: {{{variables}}}", *([f"output: {output}"] if output else [])]
    front = "\n".join(["name: a", "description: Says.", *parts])
    return PromptManager().manifest(f"---\n{front}\n---\n# system\n\n{words}\n\n# message\n\nNow.\n", version="1.0.0")


@pytest.mark.parametrize(
    ("new", "change"),
    [
        (prompt(words="Say it well."), "patch"),
        (prompt("text: {type: string, description: Words.}"), "patch"),
        (prompt("text: {type: string}, more: {type: string, default: a}"), "minor"),
        (prompt("text: {type: string, default: a}"), "minor"),
        (prompt("text: {type: string}, more: {type: string}"), "major"),
        (prompt("text: {type: integer}"), "major"),
        (prompt("other: {type: string}"), "major"),
        (prompt(output="{type: object}"), "major"),
    ],
)
def test_a_changed_prompt(new: Manifest, change: str) -> None:
    assert change_between(prompt(), new) == change


@pytest.mark.parametrize("parameters", [schema(a={"anyOf": 5}), schema(a={"properties": 5}), {"$defs": 5}])
def test_a_version_of_somebody_else_may_have_any_schema(parameters: dict[str, Any]) -> None:
    odd = manifest(operations={"call": operation(parameters)})
    assert change_between(manifest(), odd) == change_between(odd, manifest()) == "major"


def test_very_many_alternatives_are_compared_soon() -> None:
    values = [{"const": number} for number in range(20_000)]
    old, new = ({"call": operation(schema(a={"anyOf": some}))} for some in (values, [TEXT, *reversed(values)]))
    begun = time.process_time()
    assert change_between(manifest(operations=old), manifest(operations=new)) == "minor"
    assert time.process_time() - begun < 4


ODD: list[Any] = [5, {"variables": 5}, {"required": 5}, {"required": [[]]}]


@pytest.mark.parametrize("facts", ODD)
def test_a_prompt_of_somebody_else_may_have_any_facts(facts: Any) -> None:
    odd = manifest(kind="prompt", operations={}, metadata={"prompt": facts})
    assert change_between(prompt(), odd) == "major"
    assert change_between(odd, prompt()) == "major"
