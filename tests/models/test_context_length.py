"""Test questions beyond a model's window: each provider's wording gives one error."""

import json
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, said
from loopback import Loopback, Reply, document, sse
from model_kit import HELLO, asking, no_tool
from run_kit import home
from step_kit import PROMPT

from tea.errors import ContextLengthExceeded, ProviderError
from tea.models.config import ModelConfig
from tea.models.context_length import limit_in
from tea.models.manager import ModelManager
from tea.platform import Platform
from tea.testing import ScriptedModel

SAID: list[tuple[int, str, int | None]] = [
    (400, "This model's maximum context length is 8192 tokens. However, you requested 9,000 tokens (8000 in the", 8192),
    (400, "This endpoint's maximum context length is 131,072 tokens. However, you requested about 200000", 131_072),
    (400, "prompt is too long: 213000 tokens > 200000 maximum", 200_000),
    (
        400,
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
        200_000,
    ),
    (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
    (400, "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096),
    (500, "the request exceeds the available context size. try increasing the context size", None),
    (
        400,
        "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        32_768,
    ),
    (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072),
    (400, "The model is loaded with context length of only 4096 tokens, which is not enough", 4096),
    (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs`", 4097),
    (400, "Your input exceeds the context window of this model. Please adjust your input and try again.", None),
    (400, "Input is too long for requested model.", None),
    (413, "Payload too large", None),
    (400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]", 30_720),
    (400, "Invalid request: Your request exceeded model token limit: 8192", 8192),
    (400, "Prompt exceeds max length", None),
    (400, "Total tokens of image and text exceed max message tokens.", None),
    (422, "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000", 4096),
    (400, "Please reduce the length of the messages or completion.", None),
]


@pytest.mark.parametrize(("status", "words", "limit"), SAID)
async def test_each_way_to_say_it_is_one_error_that_is_not_tried_again(
    dialect: Dialect, status: int, words: str, limit: int | None
) -> None:
    refused = document({"error": {"message": words, "type": "invalid_request_error"}}, status)
    async with asking(dialect, refused, max_output=900) as (one, server):
        with pytest.raises(ContextLengthExceeded, match="shorten the conversation") as told:
            await one.ask(HELLO)
    assert limit_in(told.value.problem) == limit
    assert len(server.asked) == 1


async def test_where_the_answer_has_no_room_a_shorter_one_is_asked_for_from_then_on(dialect: Dialect) -> None:
    words = "'max_tokens' is too large: 8192. This model's maximum context length is 4096 tokens and your request has"
    refused = document({"error": {"message": words, "type": "BadRequestError"}}, 400)
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    async with asking(dialect, refused, *[said(dialect, Say(text="x"))] * 2, refused) as (one, server):
        found = [await one.ask(HELLO), await one.ask(HELLO.model_copy(update={"max_output": 2000}))]
        sent = [next(asked.body[name] for name in names if name in asked.body) for asked in server.asked]
        assert (sent, [len(answer.attempts) for answer in found]) == ([8192, 1024, 1024], [1, 0])
        with pytest.raises(ContextLengthExceeded):
            await one.ask(HELLO)
        assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "Invalid schema"),
        (401, "the context length of your key is over"),
        (429, "Limit 6000, Requested 9000 tokens"),
        (400, "max_tokens must be at most 4096"),
    ],
)
async def test_other_refusals_are_none_of_it(dialect: Dialect, status: int, words: str) -> None:
    async with asking(dialect, document({"error": {"message": words}}, status), limits={"attempts": 1}) as (one, _):
        with pytest.raises(ProviderError) as told:
            await one.ask(HELLO)
    assert type(told.value) is ProviderError


@pytest.mark.parametrize(
    ("error", "limit"),
    [
        ({"message": "Too much.", "code": "context_length_exceeded"}, None),
        ({"message": "Too much.", "type": "exceed_context_size_error", "code": 400, "n_ctx": 4096}, 4096),
        (
            {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {
                    "raw": json.dumps({"error": {"message": "prompt is too long: 9000 tokens > 8000 maximum"}})
                },
            },
            8000,
        ),
        ({"message": f"{'Words. ' * 40} The maximum context length is 8192 tokens."}, 8192),
    ],
)
async def test_codes_and_what_stands_beside_the_words_tell_it_too(error: Any, limit: int | None) -> None:
    async with asking(DIALECTS["openai_chat"], document({"error": error}, 400)) as (one, _):
        with pytest.raises(ContextLengthExceeded) as told:
            await one.ask(HELLO)
    assert limit_in(told.value.problem) == limit


def inside(dialect: Dialect, *, stream: bool) -> Reply:
    """The same said in the place of an answer."""
    words = "prompt is too long: 213000 tokens > 200000 maximum"
    error: dict[str, Any] = {"message": words, "code": "context_length_exceeded", "type": "invalid_request_error"}
    if dialect.name == "openai_responses":
        failed = {**dialect.whole(Say(text="x")), "status": "failed", "output": [], "error": error}
        event = ("response.failed", {"type": "response.failed", "response": failed})
        return sse([event]) if stream else document(failed)
    body = {"error": error} if dialect.name == "openai_chat" else {"type": "error", "error": error}
    return sse([("error" if dialect.name == "anthropic_messages" else "", body)]) if stream else document(body)


@pytest.mark.parametrize("stream", [False, True])
async def test_it_may_be_said_in_the_place_of_an_answer(dialect: Dialect, *, stream: bool) -> None:
    async with asking(dialect, inside(dialect, stream=stream)) as (one, server):
        with pytest.raises(ContextLengthExceeded) as told:
            await one.ask(HELLO, stream=stream)
    assert (limit_in(told.value.problem), len(server.asked)) == (200_000, 1)


async def test_a_fallback_that_reads_more_answers_and_else_it_stays_the_same_error() -> None:
    class Short:
        async def complete(self, *_: Any) -> Any:
            raise ContextLengthExceeded("The maximum context length is 4096.", fix="shorten it.")

    for replies in (["hello"], []):
        models = ModelManager()
        models.add(ModelConfig(name="short", provider="test", fallbacks=("long",)), Short())
        models.add(ModelConfig(name="long", provider="test"), ScriptedModel(replies))
        asked = HELLO.model_copy(update={"model": "short"})
        if replies:
            assert (await models.complete(asked, no_tool)).text == "hello"
            continue
        with pytest.raises(ContextLengthExceeded) as told:
            await models.complete(asked, no_tool)
        assert limit_in(told.value.problem) == 4096


CATCHER = '''
from tea import Agent, Context, Result, Task, TeaError

TOOLS = [{"name": "done", "description": "End.", "parameters": {"type": "object", "properties": {}}}]


class Catcher(Agent):
    """Ask again where the question was too long."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask twice."""
        try:
            await ctx.ask("steps", {"tools": TOOLS})
        except TeaError as error:
            again = await ctx.ask("steps", {"tools": TOOLS})
            return Result(answer=[error.record()["code"], error.problem, again.text])
        return Result(ok=False)
'''


async def test_an_agent_catches_it_live_and_in_a_replay(dialect: Dialect, tmp_path: Path) -> None:
    refused = document({"error": {"message": SAID[0][1]}}, 400)
    async with Loopback(refused, said(dialect, Say(text="shorter"))).open() as server:
        home(tmp_path, dialect, server.url, capabilities=["tools"])
        async with Platform(tmp_path, state=tmp_path / "state") as tea:
            await tea.acp.register(CATCHER)
            await tea.libraries["prompt"].register(PROMPT)
            outcome = await tea.run("go", agent="catcher")
            code, problem, text = outcome.answer or ("", "", "")
            assert (code, limit_in(problem), text) == ("ContextLengthExceeded", 8192, "shorter"), outcome
            assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
