"""Test the choice of a model: settings, presets, roles, the registry, keys and messages about missing ones."""

from dataclasses import replace
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import pytest
from dialects import DIALECTS, Say, said
from loopback import Asked, Loopback, Reply, document
from model_kit import no_tool

from tea.errors import BadComponent, BadInput, ProviderError, TeaError
from tea.home import read_keys, read_settings
from tea.models.config import ModelConfig
from tea.models.connect import connect, offer_presets
from tea.models.manager import ModelManager
from tea.models.presets import PRESETS, configured, local, preset
from tea.models.prices import known, list_prices, price, worst_case
from tea.platform import Platform
from tea.testing import ScriptedModel
from tea.types import Message, ModelRequest, TextPart, Usage

CHAT = DIALECTS["openai_chat"]
SECRET = "sk-proj-0123456789abcdefghij"
HELLO = ModelRequest(messages=(Message(role="user", content=(TextPart(text="Hello."),)),))


def settings(folder: Path, text: str = "", keys: str = "") -> Path:
    (folder / "tea.toml").write_text(text)
    (folder / ".env").write_text(keys)
    return folder


async def listed(folder: Path) -> tuple[list[str], str]:
    async with Platform(folder, state=folder / "state") as tea:
        return [one.name for one in tea.models.list()], tea.models.default


async def test_a_key_is_all_that_a_known_provider_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await listed(tmp_path) == (["offline"], "offline")
    settings(tmp_path, keys="ANTHROPIC_API_KEY=sk-from-the-file")
    assert await listed(tmp_path) == (["anthropic", "offline"], "anthropic")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    assert await listed(tmp_path) == (["anthropic", "offline", "openai"], "openai")
    settings(tmp_path, '[models.mine]\nbase_url = "http://127.0.0.1:1/v1"\n')
    assert await listed(tmp_path) == (["mine", "offline", "openai"], "mine")
    settings(tmp_path, 'model = "offline"\n')
    assert (await listed(tmp_path))[1] == "offline"


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_is_a_usable_configuration(name: str) -> None:
    config = configured(name, {})
    assert preset(name) == config
    assert ModelConfig.of(name, {key: value for key, value in config.to_json().items() if key != "name"}) == config
    assert configured("other", {"preset": name, "model": "m"}).model == "m"
    connect(config, lambda variable: "a key")


async def test_a_named_model_without_its_key_is_an_error_before_anything_is_written(tmp_path: Path) -> None:
    async with Platform(tmp_path, state=tmp_path / "state") as tea:
        with pytest.raises(ProviderError, match=r"OPENAI_API_KEY is not set\. Fix: set OPENAI_API_KEY"):
            await tea.run("x", model="openai")
        with pytest.raises(ProviderError, match="did you mean 'openai'"):
            await tea.run("x", model="opnai")
    assert list(tmp_path.iterdir()) == []


def test_secrets_are_read_from_the_environment_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(tmp_path, keys="# comment\nA=one\nexport B = 'two words'\nC=\nnot a line\nD=x=y\nNONE=filled\n")
    monkeypatch.setenv("D", "from outside\n")
    monkeypatch.setenv("NONE", "")  # a person says that there shall be none
    keys = read_keys(tmp_path)
    names = [*"ABCDE", "NONE"]
    assert [keys(name) for name in names] == ["one", "two words", None, "from outside", None, None]
    assert read_keys(tmp_path).variables["NONE"] == ""
    (tmp_path / ".env").write_bytes(b"\xff")
    with pytest.raises(BadInput, match=r"\.env cannot be read"):
        read_keys(tmp_path)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("K=sk#1  # mine", "sk#1"),
        ('K="sk # 1" # mine', "sk # 1"),
        ("K='${BASE}' # mine", "${BASE}"),
        ("K=${BASE}-1", "b-1"),
        (r'K="say \"hi\" to ${BASE}"', 'say "hi" to b'),
        ('K="two\nlines"', "two\nlines"),
        ("K= # nothing", None),
        ('K="no end', None),
        ("K=first\nK=second", "second"),
    ],
)
def test_lines_of_secrets_are_read_as_others_read_them(tmp_path: Path, line: str, value: str | None) -> None:
    text = "\n".join(["\ufeffBASE=b", line, "AFTER = 'end'"]).replace("\n", "\r\n")
    (tmp_path / ".env").write_bytes(text.encode())
    keys = read_keys(tmp_path)
    assert (keys("BASE"), keys("K"), keys("AFTER")) == ("b", value, "end")


@pytest.mark.parametrize("key", ["schlüssel-0123", "sk-one\nsk-two", "sk-\x00"])
def test_what_cannot_be_a_key_is_said_before_anything_is_sent(key: str) -> None:
    with pytest.raises(ProviderError, match="OPENAI_API_KEY holds what no key does") as told:
        connect(preset("openai"), lambda variable: key)
    assert key not in str(told.value)


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"provider": "ftp"}, "there is no provider 'ftp'"),
        ({"key_env": "sk-proj-1234"}, "not a name of an environment variable"),
        ({"base_url": "file:///etc"}, "is not an address"),
        ({"base_url": "http://user:pass@host/v1"}, "is not an address"),
        ({"capabilities": ["fly"]}, "knows no 'fly'"),
        ({"prices": {"input": -1}}, "negative"),
        ({"prices": {"input": 1}}, "`prices` lacks what a question or an answer costs. Fix: state input and output"),
        (
            {"options": {"max_tokens": 9}},
            "'max_tokens' among its options is tea's own. Fix: leave it out; `max_output`",
        ),
        ({"options": {"n": 3}}, "'n' among its options is tea's own"),
        ({"limits": {"patience": 1}}, "knows no 'patience'"),
        ({"max_output": 0}, "max_output"),
        ({"context": 999}, "`context` is less than 1,000 tokens. Fix: write how many a question and its answer"),
        ({"context": "8k"}, "context"),
        ({"context": 8000, "max_output": 8000}, "`max_output` leaves no room for a question in `context`"),
        ({"fold": "never"}, "fold: Input should be 'recent', 'restart' or 'summary'"),
        ({"model": 7}, "model"),
        ({"api_key": SECRET}, "'api_key' would hold a key. Fix: name the variable that holds it"),
        ({"options": {"extra_headers": {"x": SECRET}}}, "'extra_headers' would hold a key"),
        ({"options": {"note": [f"Bearer {SECRET}"]}}, "what looks like a key"),
        ({"model": SECRET}, "what looks like a key"),
        ({"key_env": ["ONE_KEY", "SPARE_KEY"]}, "`key_env` is a list. Fix: write the names in one text"),
        ({"key_env": ",".join(f"KEY_{one}" for one in range(101))}, "`key_env` names more than 100 variables"),
        ({"key_env": "Abc0123456789abcdef"}, "not a name of an environment variable"),
        ({"base_url": "http://host/v1?key=word"}, "has a query"),
        ({"base_url": "http://host/v1#word"}, "has a query or a fragment"),
        ({"base_url": "http://host/v1/chat/completions/"}, "ends in /chat/completions"),
        ({"base_url": "http://:80/v1"}, "is not an address"),
        ({"base_url": "http://host:0080/v1"}, "is not an address"),
        ({"base_url": "http://host.../v1"}, "is not an address"),
        ({"base_url": "http://host<U+0041>.test/v1"}, "is not an address"),
        ({"base_url": f"http://{'a.' * 128}test/v1"}, "is not an address"),
        ({"base_url": "http://[::1].evil.test/v1"}, "is not an address"),
        ({"base_url": "http://ho\u00adst.test/v1"}, "is not an address"),
        ({"base_url": f"http://{'a' * 64}.test/v1"}, "is not an address"),
        ({"base_url": "http://host:99999/v1"}, "is not an address"),
        ({"base_url": "http://host:port/v1"}, "is not an address"),
        ({"modle": "x"}, "'modle' is not a setting of a model. Fix: did you mean 'model'"),
        ({"colour": "x"}, "it may have preset, provider, model"),
        ({"prices": {"input": float("nan")}}, "is not a number"),
        ({"limits": {"concurrency": 0}}, "a limit is 0"),
        ({"fallbacks": ["offline"]}, "falls back to itself, or to the offline"),
        ({"fallbacks": ["mine"]}, "falls back to itself"),
        ({"provider": "openai_chat", "model": "m"}, "nothing says where it is reached"),
        ({"preset": "acme"}, "There is no preset 'acme'"),
    ],
)
def test_a_configuration_that_cannot_be_used_says_why(document: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput, match=problem.replace(".", r"\.")) as told:
        configured("mine", document)
    assert SECRET not in str(told.value)
    with pytest.raises(BadInput, match="give the model another name"):
        configured("offline", {"base_url": "http://127.0.0.1:1/v1"})
    with pytest.raises(TeaError):
        configured("My Model", {})


@pytest.mark.parametrize(
    ("name", "document", "context", "max_output"),
    [
        ("openai", {}, 1_050_000, 16_384),
        ("anthropic", {}, 1_000_000, 16_384),
        ("gemini", {}, 1_048_576, 16_384),
        ("mini", {"preset": "openai", "model": "gpt-5.4-mini"}, None, 16_384),
        ("mini", {"preset": "openai", "model": "gpt-5.4-mini", "context": 16_000}, 16_000, 4000),
        ("ollama", {}, None, 4096),
        ("ollama", {"context": 8192}, 8192, 2048),
        ("own", {"base_url": "http://127.0.0.1:1/v1", "context": 16_000}, 16_000, 4000),
        ("own", {"base_url": "http://127.0.0.1:1/v1", "context": 16_000, "max_output": 9000}, 16_000, 9000),
    ],
)
def test_how_much_a_model_reads_is_known_of_its_own_model_only(
    name: str, document: dict[str, Any], context: int | None, max_output: int
) -> None:
    config = configured(name, document)
    assert (config.context, config.max_output, config.fold) == (context, max_output, "recent")
    assert config.facts()["context"] == (context or 32_000)
    assert ModelConfig.of(name, config.to_json()) == config


async def test_what_the_public_list_knows_of_another_model_is_pinned_with_it() -> None:
    mini = await known(configured("mini", {"preset": "openai", "model": "gpt-5.4-mini"}))
    assert mini.context == 400_000
    assert mini.prices == list_prices(mini)
    models = ModelManager()
    offer_presets(models, {"OPENAI_API_KEY": "a key"}.get)
    assert models.config("openai").context == 1_050_000
    assert models.config("openai/gpt-5.4-mini").context is None


async def test_roles_choose_who_answers_whom(tmp_path: Path) -> None:
    models = ModelManager()
    for name in ("big", "small"):
        models.add(ModelConfig(name=name, provider="test"), ScriptedModel([name] * 9))
    models.roles = {"researcher": "small", "cheap": "small"}
    assert models.config(role="planner").name == "big"
    assert models.config(role="researcher").name == "small"
    assert models.config("big", "researcher").name == "big"
    assert models.config("cheap").name == "small"
    models.roles["vision"] = "nobody"
    with pytest.raises(ProviderError, match="'nobody'"):
        models.config(role="vision")


async def test_another_model_of_a_provider_can_be_named_on_the_spot() -> None:
    models = ModelManager()
    offer_presets(models, {"OPENAI_API_KEY": "a key"}.get)
    config = models.config("openai/gpt-5.4-mini")
    assert (config.name, config.model, config.key_env) == ("openai/gpt-5.4-mini", "gpt-5.4-mini", "OPENAI_API_KEY")
    assert [one.name for one in models.list()] == ["openai"]
    with pytest.raises(ProviderError, match="ANTHROPIC_API_KEY is not set"):
        models.config("anthropic/claude-haiku-5-5")


async def test_a_registered_model_is_used_once_a_person_vouched_for_it(tmp_path: Path) -> None:
    async with Loopback(said(CHAT, Say(text="hello"))).open() as server:
        config = local("mine", f"{server.url}/v1", "fake-1")
        async with Platform(tmp_path / "a", state=tmp_path / "state") as tea:
            await tea.libraries["model"].register(config)
            await tea.libraries["model"].save(tmp_path / "models.json")
        async with Platform(tmp_path / "a", state=tmp_path / "state") as tea:
            assert tea.models.default == "mine"
            answer = await tea.models.complete(HELLO, no_tool)
            assert (answer.text, answer.answered_by) == ("hello", "mine")
    async with Platform(tmp_path / "b", state=tmp_path / "other") as tea:
        await tea.libraries["model"].load(tmp_path / "models.json")
    async with Platform(tmp_path / "b", state=tmp_path / "other") as tea:
        assert tea.models.default == "offline"
        with pytest.raises(ProviderError, match=r"nobody trusted it.*tea trust model:mine"):
            tea.models.config("mine")


async def test_a_model_that_was_loaded_takes_no_preset_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Platform(tmp_path / "a", state=tmp_path / "state") as tea:
        await tea.libraries["model"].register('{"name": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "x"}')
        await tea.libraries["model"].save(tmp_path / "models.json")
    async with Platform(tmp_path / "b", state=tmp_path / "other") as tea:
        await tea.libraries["model"].load(tmp_path / "models.json")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    async with Platform(tmp_path / "b", state=tmp_path / "other") as tea:
        assert tea.models.default == "openai"
        assert tea.models.config("openai").base_url is None
        await tea.libraries["model"].trust("openai")
    async with Platform(tmp_path / "b", state=tmp_path / "other") as tea:
        assert tea.models.config("openai").base_url == "http://127.0.0.1:9/v1"


async def test_a_document_with_a_key_in_it_is_not_registered(tmp_path: Path) -> None:
    async with Platform(tmp_path, state=tmp_path / "state") as tea:
        with pytest.raises(BadComponent, match="environment variable"):
            await tea.libraries["model"].register('{"name": "mine", "key_env": "sk-proj-1234"}')
    assert not list(tmp_path.rglob("*.json"))


async def test_a_probe_tells_what_is_there_without_asking_it_anything(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Reply:
        return document(
            {"object": "list", "data": [{"id": "fake-1", "object": "model", "created": 1, "owned_by": "x"}]}
        )

    async with Loopback(answer=answer).open() as server:
        models = ModelManager()
        for name in ("fake-1", "other", ""):
            config = local("m" + name.replace("-", "_"), f"{server.url}/v1", name)
            models.add(config, connect(config, lambda variable: None))
        assert await models.probe("mfake_1") == "answers, with 'fake-1'"
        assert await models.probe("mother") == "answers, and does not list 'other' among 1 models, but fake-1"
        assert await models.probe("m") == "answers, with 'fake-1'"
        assert {asked.method for asked in server.asked} == {"GET"}
        await models.close()


async def test_a_probe_of_very_long_names_ends_soon(tmp_path: Path) -> None:
    letters = [chr(0x100 + one) for one in range(220)]
    names = ["".join(Random(seed).choices(letters, k=15_000)) for seed in range(9)]
    listed = {"object": "list", "data": [{"id": one, "object": "model"} for one in names[1:]]}
    async with Loopback(answer=lambda asked: document(listed)).open() as server:
        models = ModelManager()
        config = local("m", f"{server.url}/v1", names[0])
        models.add(config, connect(config, lambda variable: None))
        begun = process_time()
        found = await models.probe("m")
        await models.close()
    assert process_time() - begun < 3
    assert found.endswith(f"among 8 models, but {', '.join(one[:100] for one in names[1:4])}")


POLICIES = ["[policy]\nexternal = 'sometimes'", "[policy]\nexternal = ['ask']"]


@pytest.mark.parametrize(
    "text",
    ["model = 7", "roles = 3", "[roles]\nplanner = 1", "models = []", "[models]\na = 1", "policy = 1", *POLICIES],
)
def test_settings_of_another_shape_are_refused(tmp_path: Path, text: str) -> None:
    settings(tmp_path, text)
    with pytest.raises(BadInput, match=r"in tea\.toml is not"):
        Platform(tmp_path, state=tmp_path / "state")


def test_a_model_that_cannot_be_used_says_which_file_it_stands_in(tmp_path: Path) -> None:
    settings(tmp_path, "[models.my-model]\nmodel = 'm'")
    with pytest.raises(BadInput, match=r"In tea\.toml: 'my-model' is not a name for a model"):
        Platform(tmp_path, state=tmp_path / "state")


def test_a_setting_with_a_slip_in_it_is_told_its_name(tmp_path: Path) -> None:
    settings(tmp_path, "\ufeffmodle = 'mine'")
    with pytest.raises(BadInput, match=r"unknown setting 'modle'\. Fix: did you mean 'model'\?"):
        read_settings(tmp_path)


@pytest.mark.parametrize(
    ("name", "variable", "address", "provider"),
    [
        ("openai", "OPENAI_BASE_URL", "http://127.0.0.1:1/v1", "openai_chat"),
        ("openai", "OPENAI_BASE_URL", "https://eu.api.openai.com/v1", "openai_responses"),
        ("anthropic", "ANTHROPIC_BASE_URL", "http://127.0.0.1:1", "anthropic_messages"),
    ],
)
async def test_the_address_of_a_provider_may_stand_where_its_sdk_looks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, variable: str, address: str, provider: str
) -> None:
    key = PRESETS[name]["key_env"]
    settings(
        tmp_path, f'[models.own]\npreset = "{name}"\nbase_url = "http://127.0.0.1:2"', f"{variable}={address}\n{key}=x"
    )
    async with Platform(tmp_path, state=tmp_path / "state") as tea:
        config = tea.models.config(name)
        assert (config.base_url, config.provider) == (address, provider)
        assert tea.models.config("own").base_url == "http://127.0.0.1:2"
        assert price(config, "", Usage(input_tokens=10, output_tokens=1)) is None or "openai.com" in address
    monkeypatch.setenv(variable, "http://me:word@host")
    with pytest.raises(BadInput, match=f"{variable} is not usable") as told:
        async with Platform(tmp_path, state=tmp_path / "state"):
            pass
    assert "word" not in str(told.value).replace("password", "")


def test_list_prices_are_known_for_known_models_at_their_own_place_only() -> None:
    listed = configured("openai", {"model": "gpt-5", "provider": "openai_chat"})
    prices = list_prices(listed)
    assert {"input", "cached", "output"} <= set(prices)
    used = Usage(input_tokens=1_000_000, cached_tokens=400_000, output_tokens=10_000)
    exact = price(listed, "gpt-5", used)
    assert exact is not None
    most = worst_case(prices, used.input_tokens, used.output_tokens)
    assert most is not None
    assert 0 < exact <= most
    elsewhere = local("mine", "http://127.0.0.1:1/v1", "gpt-5")
    assert (list_prices(elsewhere), price(elsewhere, "gpt-5", used)) == ({}, None)
    own = configured("openai", {"prices": {"input": 1, "output": 2}})
    assert price(own, "whatever", used) == pytest.approx((1_000_000 + 2 * 10_000) / 1e6)
    assert price(configured("ollama", {}), "llama", used) == 0
    half = replace(own, prices={"input": 1.0})
    assert price(half, "gpt-5", used) is None
