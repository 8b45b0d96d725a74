"""Test a component's requests to its run, as data."""

import json
from typing import Any

import pytest

from tea.components.port import MergeState, PutState, RetrieveComponents, SaveState, request_of
from tea.errors import BadArguments

STATE = {"owner": "agent:a", "lasting": False}


@pytest.mark.parametrize(
    "request_",
    [
        SaveState("agent:a", lasting=True, document={"a": [1, None, "b"]}),
        MergeState("agent:a", lasting=False, patch={"a": None}),
        PutState("environment:e", lasting=False, changes=[(["variables", "x"], 1)], expected=[(["last"], [])]),
        RetrieveComponents("tool", "add", 5, route=False, among=None, besides=["a"]),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_request_is_what_its_json_says(request_: Any) -> None:
    data = json.loads(json.dumps(request_._asdict()))
    found = request_of(request_.service, request_.verb, data)
    assert (type(found), json.dumps(found)) == (type(request_), json.dumps(request_))


@pytest.mark.parametrize(
    ("service", "verb", "data", "told"),
    [
        ("state", "drop", STATE, "The service 'state' has no 'drop'. Fix: use one of claim, give_back, load, "),
        ("memory", "forget_everything", {"earlier": False}, "The service 'memory' has no 'forget_everything'."),
        ("disk", "format", {}, "A run has no service 'disk'. Fix: use one of budget, clock, "),
        ("state", "load", {"owner": "agent:a"}, "'lasting' of state load: Missing required argument."),
        ("state", "load", {**STATE, "all": True}, "'all' of state load: Unexpected keyword argument."),
        ("state", "load", {**STATE, "lasting": "no"}, "'lasting' of state load: Input should be a valid boolean."),
        ("registry", "list", {"kind": "secret"}, "'kind' of registry list: Input should be 'tool', "),
        ("state", "save", {**STATE, "document": {1}}, "The data of state save are not JSON: "),
    ],
)
def test_what_no_run_serves_is_refused_in_one_line(service: str, verb: str, data: Any, told: str) -> None:
    with pytest.raises(BadArguments) as refused:
        request_of(service, verb, data)
    assert str(refused.value).startswith(told)
    assert "\n" not in str(refused.value)
