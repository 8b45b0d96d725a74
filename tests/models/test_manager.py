"""Named model configurations, the offline model, and the models of the tests."""

from typing import Any

import pytest

from tea.errors import Abstained, BadArguments, ProviderError
from tea.models.manager import CallTool, ModelConfig, ModelManager
from tea.models.offline import OFFLINE, OfflineModel
from tea.testing import FunctionModel, ScriptedModel
from tea.types import (
    DataPart,
    JsonObject,
    Message,
    ModelRequest,
    ModelResponse,
    Response,
    TextPart,
    ToolCall,
    ToolResponse,
    failure,
)


async def no_tool(ref: str, arguments: JsonObject) -> Response:
    raise AssertionError(f"{ref} was called")


def manager(*names: str, model: Any = None) -> ModelManager:
    models = ModelManager()
    for name in names:
        models.add(ModelConfig(name=name, provider="test"), model or ScriptedModel([name]))
    return models


def tools(response: Response, calls: list[tuple[str, JsonObject]]) -> CallTool:
    async def call_tool(ref: str, arguments: JsonObject) -> Response:
        calls.append((ref, arguments))
        return response

    return call_tool


async def test_the_first_configuration_is_the_default() -> None:
    models = manager("quick", "thorough")
    assert (models.default, models.config().name) == ("quick", "quick")
    assert [one.name for one in models.list()] == ["quick", "thorough"]
    assert (await models.complete(ModelRequest(), no_tool)).text == "quick"
    assert (await models.complete(ModelRequest(model="thorough"), no_tool)).answered_by == "thorough"


async def test_an_unknown_configuration_is_an_error_that_names_the_nearest() -> None:
    models = manager("thorough", "quick")
    with pytest.raises(ProviderError, match="did you mean 'thorough'"):
        models.config("thoroughly")
    with pytest.raises(ProviderError, match="configured: quick, thorough"):
        await models.complete(ModelRequest(model="x"), no_tool)
    with pytest.raises(ProviderError, match="configured: none"):
        ModelManager().config()


def test_a_configuration_is_json() -> None:
    config = ModelConfig(name="a", provider="p", key_env="A_KEY", prices={"input": 1.0}, fallbacks=("b",))
    assert ModelConfig(**config.to_json()) == config


async def test_offline_answers_by_the_prompts_solver() -> None:
    wish = ToolCall(id="c1_1", name="count", arguments={"of": "x"})
    gave = {"ok": True, "value": 2, "error": None}
    messages = (
        Message(role="system", content=(DataPart(data={"not": "this"}),)),
        Message(role="user", content=(TextPart(text="words"),)),
        Message(role="assistant", content=(), calls=(wish,)),
        Message(role="tool", content=(DataPart(data=gave),), call_id="c1_1"),
    )
    calls: list[tuple[str, JsonObject]] = []
    value, call = {"answer": "zwölf"}, {"name": "count", "arguments": {"of": "x"}, **gave}
    call_tool = tools(ToolResponse(ref="tool:solve@1.0.0#call", ok=True, value=value), calls)
    request = ModelRequest(solver="tool:solve", variables={"task": "count"}, messages=messages)
    found = await OfflineModel().complete(request, OFFLINE, call_tool)
    assert calls == [("tool:solve", {"task": "count", "history": [{"step": 1, "calls": [call]}]})]
    assert (found.output, found.text) == (value, '{"answer": "zwölf"}')
    assert found.answered_by == "tool:solve@1.0.0#call, no model"
    assert found.usage.usd == 0


async def test_offline_abstains_without_a_solver_and_where_the_solver_cannot_tell() -> None:
    with pytest.raises(Abstained, match="prompt:p has no offline solver"):
        await OfflineModel().complete(ModelRequest(prompt="prompt:p"), OFFLINE, no_tool)
    response = failure(ToolResponse, "tool:solve", BadArguments("Too hard.", fix="ask a model."))
    with pytest.raises(Abstained, match=r"cannot tell: Too hard\. Fix: ask a model"):
        await OfflineModel().complete(ModelRequest(solver="tool:solve"), OFFLINE, tools(response, []))


async def test_a_scripted_model_gives_its_replies_in_order_until_there_are_none() -> None:
    whole = ModelResponse(text="whole", answered_by="me")
    model = ScriptedModel(["words", {"answer": 1}, whole])
    config = ModelConfig(name="script", provider="test")
    requests = [ModelRequest(prompt=f"prompt:{number}") for number in range(3)]
    found = [await model.complete(request, config, no_tool) for request in requests]
    assert [one.text for one in found] == ["words", '{"answer": 1}', "whole"]
    assert [one.output for one in found] == [None, {"answer": 1}, None]
    assert [one.answered_by for one in found] == ["script", "script", "me"]
    assert model.requests == requests
    with pytest.raises(ProviderError, match="3 replies and was asked once more"):
        await model.complete(requests[0], config, no_tool)


async def test_a_function_model_may_be_plain_or_async() -> None:
    async def later(request: ModelRequest) -> dict[str, Any]:
        return {"answer": request.prompt}

    config = ModelConfig(name="function", provider="test")
    request = ModelRequest(prompt="prompt:p")
    assert (await FunctionModel(lambda one: str(one.prompt)).complete(request, config, no_tool)).text == "prompt:p"
    assert (await FunctionModel(later).complete(request, config, no_tool)).output == {"answer": "prompt:p"}
