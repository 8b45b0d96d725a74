"""The vocabulary crosses boundaries unchanged, and errors are data."""

import copy
import json
import pickle
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from tea import errors
from tea.errors import BadArguments, InternalError, TeaError, error_from
from tea.types import ActionResponse, AgentResponse, Budget, Response, Result, Task, ToolResponse, failure, success


def tree(kind: type[TeaError]) -> list[type[TeaError]]:
    return [kind, *(one for child in kind.__subclasses__() for one in tree(child))]


KINDS = tree(TeaError)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_comes_back_from_its_record_as_itself(kind: type[TeaError]) -> None:
    error = kind("It broke.", fix="mend it.")
    again = error_from(json.loads(json.dumps(error.record())))
    assert (type(again), again.problem, again.fix, str(again)) == (kind, "It broke.", "mend it.", str(error))
    assert str(error) == "It broke. Fix: mend it."
    assert kind.exit_code in (1, 2, 3, 4, 5, 6, 7, 130)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    lines = [line.lstrip("│├└─ ").split() for line in (errors.__doc__ or "").splitlines() if line.strip()]
    drawn = {words[0]: words[1] for words in lines[1:] if len(words) > 1 and words[1].isdigit()}
    real = {kind.__name__: str(kind.exit_code) for kind in KINDS if kind.__module__ == errors.__name__}
    real.pop("TeaError")
    assert drawn == real


def test_an_unknown_code_is_a_defect() -> None:
    assert type(error_from({"code": "Elsewhere", "problem": "p", "fix": "f"})) is InternalError


def test_an_error_needs_a_fix() -> None:
    with pytest.raises(TypeError):
        TeaError("It broke.")  # type: ignore[call-arg]


def test_a_response_gives_its_value_or_raises_its_error() -> None:
    assert ToolResponse(ref="tool:a", ok=True, value=3).unwrap() == 3
    failed = failure(ToolResponse, "tool:a", BadArguments("No.", fix="yes."))
    assert (type(failed), failed.ok) == (ToolResponse, False)
    with pytest.raises(BadArguments, match="No"):
        failed.unwrap()
    assert Response.model_validate_json(failed.model_dump_json()).error == failed.error


@pytest.mark.parametrize("kind", [Response, ToolResponse, ActionResponse, AgentResponse])
@pytest.mark.parametrize("value", [None, "a", [1, {"b": 2.5}], {"answer": 3}])
def test_a_response_made_without_validation_is_the_one_its_constructor_makes(kind: type[Response], value: Any) -> None:
    made, built = success(kind, "tool:a@1.0.0#call", value), kind(ref="tool:a@1.0.0#call", ok=True, value=value)
    assert made == built
    for look in (repr, Response.model_dump, Response.model_dump_json, BaseModel.__getstate__):
        assert look(made) == look(built)
    assert made.model_dump(exclude_unset=True) == built.model_dump(exclude_unset=True)
    for again in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made), made.model_copy()):
        assert (type(again), again) == (kind, built)
    assert made.model_copy(update={"value": 2}) == built.model_copy(update={"value": 2}) != made
    assert kind.model_validate(made) is made
    with pytest.raises(ValidationError, match="frozen"):
        made.value = 3
    made.model_fields_set.add("error")
    assert success(kind, "tool:b", value).model_fields_set == {"ref", "ok", "value"}


def test_an_agents_failure_is_a_result_that_is_not_ok() -> None:
    failed = AgentResponse(ref="agent:a", ok=False, error={"code": "CallFailed", "problem": "No.", "fix": "f"})
    assert failed.result == Result(ok=False, reason="No.")
    done = AgentResponse(ref="agent:a", ok=True, value={"answer": 3})
    assert done.result.answer == 3


def test_a_task_may_be_words() -> None:
    assert Task.model_validate("count") == Task(text="count")
    for wrong in ({"text": ""}, {"text": "a", "extra": 1}, 3, None):
        with pytest.raises(ValidationError):
            Task.model_validate(wrong)


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"seconds": float("nan")}, {"usd": -1}, {"usd": float("inf")}])
def test_a_budget_is_a_finite_amount(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Budget.model_validate(wrong)


def test_records_are_frozen() -> None:
    with pytest.raises(ValidationError):
        Task(text="a").text = "b"  # type: ignore[misc]
