"""Test `tea models`, and the words of `tea doctor` on models."""

import pytest

from .conftest import Tea


def test_models_are_added_listed_and_asked(tea: Tea) -> None:
    assert "offline" in tea("models").out
    added = tea("models", "add", "mini", "--preset", "openai", "--model", "gpt-5.4-mini", "--reason", "cheap")
    assert (added.code, added.out) == (0, "registered model:mini@1.0.0\n")
    assert "set OPENAI_API_KEY" in added.err
    found = {one["name"]: one for one in tea("models", "ls", "--json").data["models"]}
    assert found["mini"]["model"] == "gpt-5.4-mini"
    assert found["mini"]["keys"] == "no key set"
    assert found["mini"]["default"]
    assert tea("history", "model:mini").out.count("cheap") == 1
    asked = tea("models", "test", "mini")
    assert asked.code == 4
    assert "OPENAI_API_KEY is not set" in asked.out
    assert tea("run", "x", "--model", "mini").code == 4


def test_a_model_that_is_added_again_as_it_is_stays_unchanged(tea: Tea) -> None:
    words = ("models", "add", "mini", "--preset", "openai", "--model")
    assert tea(*words, "gpt-5.4-mini").code == 0
    before = tea.files()
    again = tea(*words, "gpt-5.4-mini", "--reason", "twice")
    assert (again.code, again.out) == (0, "model:mini@1.0.0 is unchanged\n")
    assert tea.files() == before
    assert tea(*words, "gpt-5.4").out == "registered model:mini@1.0.1\n"


def test_a_model_that_is_added_as_it_was_before_is_so_again(tea: Tea) -> None:
    line = ("models", "add", "mini", "--preset", "ollama", "--model")
    for number, name in enumerate(("one", "two")):
        assert tea(*line, name).out == f"registered model:mini@1.0.{number}\n"
    assert tea(*line, "one").out == "registered model:mini@1.0.0\n"
    assert [one["model"] for one in tea("models", "--json").data["models"] if one["name"] == "mini"] == ["one"]


def test_a_model_is_added_with_its_prices_and_limits(tea: Tea) -> None:
    words = ("--price", "input=1.25", "--price", "output=10", "--limit", "concurrency=8", "--limit", "attempts=2")
    assert tea("models", "add", "own", "--base-url", "http://127.0.0.1:1/v1", "--model", "m", *words).code == 0
    found = tea("models", "ls", "own", "--json").data["models"][0]
    assert (found["prices"], found["limits"]) == ({"input": 1.25, "output": 10}, {"concurrency": 8, "attempts": 2})


def test_a_model_is_added_with_its_context_and_how_it_folds(tea: Tea) -> None:
    words = ("models", "add", "own", "--base-url", "http://127.0.0.1:1/v1", "--model", "m")
    assert tea(*words, "--context", "16000", "--fold", "restart").code == 0
    found = tea("models", "ls", "own", "--json").data["models"][0]
    assert (found["context"], found["fold"], found["max_output"]) == (16000, "restart", 4000)
    tea(*words, "--fold", "never").refused(2, "recent")
    tea(*words, "--context", "10").refused(2, "less than 1,000 tokens")


def test_what_a_model_takes_besides_text_is_said_and_shown(tea: Tea) -> None:
    line = ("models", "add", "own", "--preset", "vllm", "--model", "seer")
    assert tea(*line, "--sense", "vision", "--sense", "files").code == 0
    found = {one["name"]: one for one in tea("models", "--json").data["models"]}
    assert found["own"]["capabilities"] == ["tools", "tool_choice", "schema", "streaming", "vision", "files"]
    assert "text, vision, files" in tea("models").out
    tea("models", "add", "no", "--preset", "vllm", "--sense", "smell").refused(2, "'smell'", "vision, audio, files")
    (tea.folder / "tea.toml").write_text('[models.blind]\npreset = "openai"\nsenses = []\n')
    found = {one["name"]: one for one in tea("models", "--json").data["models"]}
    assert found["blind"]["takes"] == "text"


def test_one_model_is_listed_by_its_name(tea: Tea) -> None:
    assert tea("models", "add", "mini", "--preset", "openai", "--model", "gpt-5.4-mini").code == 0
    assert [one["name"] for one in tea("models", "ls", "mini", "--json").data["models"]] == ["mini"]
    assert tea("models", "ls", "offline").out.startswith("-  offline")
    tea("models", "ls", "mino").refused(2, "mino")


def test_a_further_model_that_becomes_the_default_says_so(tea: Tea) -> None:
    assert tea("models", "add", "mine", "--base-url", "http://127.0.0.1:1/v1").err == ""
    assert tea("models", "add", "zebra", "--base-url", "http://127.0.0.1:1/v1").err == ""
    told = tea("models", "add", "big", "--base-url", "http://127.0.0.1:1/v1").err
    assert told == "'big' is the default now, no longer 'mine'; `model` in tea.toml chooses another.\n"
    assert next(one["name"] for one in tea("models", "ls", "--json").data["models"] if one["default"]) == "big"
    tea.write("tea.toml", 'model = "mine"')
    assert tea("models", "add", "again", "--base-url", "http://127.0.0.1:1/v1").err == ""


def test_the_doctor_says_of_every_model_whether_it_is_there(tea: Tea) -> None:
    assert tea("models", "add", "mine", "--base-url", "http://127.0.0.1:1/v1").code == 0
    health = tea("doctor")
    assert health.code == 0
    assert "mine (default): The server at http://127.0.0.1:1/v1 does not list its models" in health.out
    assert "offline: ready" in health.out


def test_what_is_no_use_of_models_is_refused(tea: Tea) -> None:
    for words in (
        ["sell"],
        ["add"],
        ["ls", "--model", "x"],
        ["add", "m", "--key-env", "sk-1"],
        ["add", "m", "--preset", "x"],
        ["add", "m"],
        ["add", "offline", "--preset", "openai"],
        ["add", "m", "--preset", "openai", "--fallback", "offline"],
        *(
            ["add", "m", "--preset", "openai", "--price", wrong]
            for wrong in ("input", "input=", "input=nan", "inputs=1")
        ),
        ["add", "m", "--preset", "openai", "--limit", "attempts=1", "--limit", "attempts=2"],
        ["ls", "--limit", "attempts=1"],
    ):
        refused = tea("models", *words)
        assert refused.code == 2
        assert refused.err.count("\n") == 1
    assert tea("models", "test").code == 4


@pytest.mark.parametrize("words", [("chat",), ("new", "tool", "count vowels"), ("research", "start", "Why?")])
def test_a_server_that_is_not_an_address_is_refused(tea: Tea, words: tuple[str, ...]) -> None:
    tea(*words, "--base-url", "").refused(2, "--base-url is empty")
    tea(*words, "--base-url", "nowhere").refused(2, "is not an address")
    assert tea("runs", "--json").data["runs"] == []
