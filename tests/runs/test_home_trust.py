"""Test a home's use of the environment's keys: only by leave of a preset, the environment or a person."""

import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tea.errors import BadInput, ProviderError, UntrustedHome
from tea.models.connect import is_led_to, is_meant_for
from tea.models.presets import PRESETS, configured, local, preset
from tea.platform import Platform
from tea.retrieval.embedding.choice import destination, embedder_of
from tea.types import JsonObject, Message, ModelRequest, Response, TextPart

pytestmark = pytest.mark.slow

HELLO = ModelRequest(messages=(Message(role="user", content=(TextPart(text="Hello."),)),))
REAL = "sk-environment-0123456789abcdef"
OWN = "sk-of-the-file-0123456789abcdef"


@contextmanager
def somebody() -> Generator[tuple[str, list[Mapping[str, str]]]]:
    """A server answering nothing, and keeping the headers of requests."""
    came: list[Mapping[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.append({name.lower(): value for name, value in self.headers.items()})
            self.rfile.read(int(self.headers.get("content-length", "0")))
            data = json.dumps({"error": {"message": "no", "type": "no"}}).encode()
            self.send_response(400)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", came
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def write(home: Path, settings: str = "", variables: str = "") -> Path:
    home.mkdir(exist_ok=True)
    (home / "tea.toml").write_text(settings)
    (home / ".env").write_text(variables)
    return home


async def no_tool(ref: str, arguments: JsonObject) -> Response:
    raise AssertionError


async def asked(home: Path, state: Path, *, trust_home: bool = False) -> Exception | None:
    """Return why the default model of a home was not asked, or did not answer."""
    try:
        async with Platform(home, state=state, trust_home=trust_home) as tea:
            await tea.models.complete(HELLO, no_tool)
    except (UntrustedHome, ProviderError) as error:
        return error
    return None


MODEL = '[models.x]\nbase_url = "WHERE"\nkey_env = "OPENAI_API_KEY"\nmodel = "m"\n'
PRESET = '[models.x]\npreset = "openai"\nbase_url = "WHERE"\nmodel = "m"\n'
NAMED = '[models.x]\npreset = "openai"\nkey_env = "CLOUD_TOKEN"\nbase_url = "WHERE"\n'
ANTHROPIC = '[models.x]\npreset = "anthropic"\nkey_env = "OPENAI_API_KEY"\nbase_url = "WHERE"\n'
LEADS = [
    pytest.param(MODEL, "", "OPENAI_API_KEY", id="an address of its own"),
    pytest.param(PRESET, "", "OPENAI_API_KEY", id="a preset elsewhere"),
    pytest.param(NAMED, "", "CLOUD_TOKEN", id="another variable"),
    pytest.param(ANTHROPIC, "", "OPENAI_API_KEY", id="another wire format"),
    pytest.param("", "OPENAI_BASE_URL=WHERE\n", "OPENAI_API_KEY", id="the variable of an SDK"),
    pytest.param('model = "openai"\n', "export OPENAI_BASE_URL='WHERE'\n", "OPENAI_API_KEY", id="in quotes"),
    pytest.param(
        '[models.openai]\nmodel = "m"\n', 'OPENAI_BASE_URL="WHERE"\n', "OPENAI_API_KEY", id="a model without an address"
    ),
    pytest.param(MODEL, f"OPENAI_API_KEY={OWN}\n", "OPENAI_API_KEY", id="a bait in the file"),
]


@pytest.mark.parametrize(("settings", "variables", "key"), LEADS)
async def test_a_home_sends_no_key_of_the_environment_to_an_address_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str, variables: str, key: str
) -> None:
    for name in ("OPENAI_API_KEY", "CLOUD_TOKEN"):
        monkeypatch.setenv(name, REAL)
    with somebody() as (url, came):
        home = write(tmp_path / "home", settings.replace("WHERE", url), variables.replace("WHERE", url))
        refused = await asked(home, tmp_path / "state")
        assert isinstance(refused, UntrustedHome), refused
        assert refused.exit_code == 2
        assert key in refused.problem
        assert url in refused.problem
        assert f"tea trust --home {home}" in refused.fix
        assert not came
        Platform(home, state=tmp_path / "state").home_trust.grant()
        assert isinstance(await asked(home, tmp_path / "state"), ProviderError)
        assert REAL in str(came[0])
        assert isinstance(await asked(home, tmp_path / "other"), UntrustedHome)
        count = len(came)
        assert isinstance(await asked(home, tmp_path / "other", trust_home=True), ProviderError)
        assert len(came) > count


async def test_a_key_of_the_same_file_goes_where_the_home_says(tmp_path: Path) -> None:
    with somebody() as (url, came):
        home = write(tmp_path / "home", MODEL.replace("WHERE", url), f"OPENAI_API_KEY={OWN}\n")
        assert isinstance(await asked(home, tmp_path / "state"), ProviderError)
        write(home, "", f"OPENAI_API_KEY={OWN}\nOPENAI_BASE_URL={url}\n")
        assert isinstance(await asked(home, tmp_path / "state"), ProviderError)
        assert {one["authorization"] for one in came} == {f"Bearer {OWN}"}


async def test_nothing_of_the_environment_gets_into_an_address_or_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOUD_TOKEN", REAL)
    with somebody() as (url, came):
        variables = f"PART={OWN}\nBAIT=${{CLOUD_TOKEN}}{OWN}\nLINK={url}/${{CLOUD_TOKEN}}\n"
        home = write(tmp_path / "home", MODEL.replace("WHERE", url).replace("OPENAI_API_KEY", "BAIT"), variables)
        assert isinstance(await asked(home, tmp_path / "state"), ProviderError)
        assert {one["authorization"] for one in came} == {f"Bearer {OWN}"}
        for address in (f"{url}/${{CLOUD_TOKEN}}", "${LINK}", f"{url}/${{PART}}"):
            write(home, "", f"{variables}OPENAI_API_KEY={OWN}\nOPENAI_BASE_URL={address}\n")
            with pytest.raises(BadInput, match=r"OPENAI_BASE_URL is not usable: .*is not an address"):
                await asked(home, tmp_path / "state")
        with pytest.raises(BadInput, match="is not an address"):
            configured("x", {"base_url": f"{url}/${{CLOUD_TOKEN}}"})


async def test_the_embedder_of_a_home_gets_no_key_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", REAL)
    monkeypatch.setenv("OPENAI_ADMIN_KEY", REAL)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Api-Key: {REAL}")
    with somebody() as (url, came):
        settings = f'[embedder]\nprovider = "openai"\nmodel = "m"\nbase_url = "{url}"\n'
        home = write(tmp_path / "home", settings)
        async with Platform(home, state=tmp_path / "state") as tea:
            with pytest.raises(UntrustedHome, match=rf"\[embedder\].*OPENAI_API_KEY.*{url}"):
                await tea.tcp.retrieve("numbers", 1)
            assert not came
        write(home, settings + 'key_env = "MINE"\n', f"MINE={OWN}\n")
        async with Platform(home, state=tmp_path / "state") as tea:
            with pytest.raises(ProviderError):
                await tea.tcp.retrieve("numbers", 1)
        assert came
        assert REAL not in str(came)


async def test_an_embedder_without_a_key_waits_for_no_grant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", REAL)
    with somebody() as (url, came):
        settings = f'[embedder]\nprovider = "openai"\nmodel = "m"\nbase_url = "{url}"\nkey_env = ""\n'
        async with Platform(write(tmp_path / "home", settings), state=tmp_path / "state") as tea:
            assert not tea.home_trust.routes
            with pytest.raises(ProviderError):
                await tea.tcp.retrieve("numbers", 1)
        assert came
        assert REAL not in str(came)


async def test_a_model_that_a_home_has_loaded_from_a_folder_is_granted_first(tmp_path: Path) -> None:
    home = write(tmp_path / "home", f'[embedder]\nprovider = "sentence-transformers"\nmodel = "{tmp_path}"\n')
    async with Platform(home, state=tmp_path / "state") as tea:
        with pytest.raises(UntrustedHome, match=f"loads the model {tmp_path}"):
            await tea.tcp.retrieve("numbers", 1)


def test_a_grant_is_of_the_files_of_a_model_that_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "0_Words").mkdir(parents=True)
    (folder / "modules.json").write_text("[]")
    blob = tmp_path / "blob"
    blob.write_text("1")
    (folder / "0_Words" / "config.json").symlink_to(blob)
    home = write(tmp_path / "home", f'[embedder]\nprovider = "sentence-transformers"\nmodel = "{folder}"\n')

    def granted() -> bool:
        return Platform(home, state=tmp_path / "state").home_trust.granted

    def grant() -> None:
        Platform(home, state=tmp_path / "state").home_trust.grant()

    grant()
    (folder / "model.safetensors").write_text("weights alone")
    assert granted()
    for path, text in ((folder / "modules.json", "[{}]"), (folder / "words.py", ""), (blob, "2")):
        path.write_text(text)
        assert not granted()
        grant()
        assert granted()


async def test_files_of_a_model_that_changed_since_they_were_looked_at_are_not_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "modules.json").write_text("[]")
    home = write(tmp_path / "home", f'[embedder]\nprovider = "sentence-transformers"\nmodel = "{folder}"\n')
    async with Platform(home, state=tmp_path / "state") as tea:
        tea.home_trust.grant()
        (folder / "words.py").touch()
        with pytest.raises(UntrustedHome, match="changed since they were looked at"):
            await tea.tcp.retrieve("numbers", 1)


def test_a_model_is_loaded_from_the_folder_that_was_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "modules.json").write_text("[]")
    monkeypatch.chdir(tmp_path)
    make = embedder_of({"provider": "sentence-transformers", "model": "model"}, lambda _: None)
    here = make().name
    monkeypatch.chdir("/")
    assert make().name == here


@pytest.mark.parametrize("fault", ["many", "large", "pipe", "circle"])
async def test_a_folder_that_cannot_be_looked_at_is_no_model(tmp_path: Path, fault: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    if fault == "pipe":
        os.mkfifo(folder / "modules.json")
    elif fault == "large":
        (folder / "modules.json").touch()
        os.truncate(folder / "modules.json", 2**40)
    elif fault == "circle":
        (folder / "again").symlink_to(folder)
        (folder / "more").symlink_to(folder)
    else:
        for number in range(1_001):
            (folder / f"{number}").touch()
    home = write(tmp_path / "home", f'[embedder]\nprovider = "sentence-transformers"\nmodel = "{folder}"\n')
    async with Platform(home, state=tmp_path / "state") as tea:
        tea.home_trust.grant()
        with pytest.raises(BadInput, match="cannot be looked at"):
            await tea.tcp.retrieve("numbers", 1)


@pytest.mark.parametrize(
    "options", ['tools = [{type = "mcp", server_url = "https://other.example"}]', 'service_tier = "priority"']
)
def test_options_that_lead_on_from_a_provider_are_granted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", REAL)
    home = write(tmp_path / "home", f'[models.x]\npreset = "openai"\n[models.x.options]\n{options}\n')
    tea = Platform(home, state=tmp_path / "state")
    with pytest.raises(UntrustedHome, match=r"\[models\.x\] in tea\.toml sends OPENAI_API_KEY"):
        tea.models.config("x")
    assert options.partition(" ")[0] in tea.home_trust.refused()[0].words
    tea.home_trust.grant()
    tea.models.config("x")
    write(home, '[models.x]\npreset = "openai"\noptions = {temperature = 0, seed = 1}\n')
    Platform(home, state=tmp_path / "state").models.config("x")


async def test_what_a_person_vouched_for_is_not_led_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", REAL)
    home = write(tmp_path / "home")
    async with Platform(home, state=tmp_path / "state") as tea:
        await tea.libraries["model"].register('{"name": "mine", "key_env": "OPENAI_API_KEY", "model": "m"}')
    with somebody() as (url, came):
        write(home, "", f"OPENAI_BASE_URL={url}\n")
        async with Platform(home, state=tmp_path / "state") as tea:
            for name in ("mine", "openai"):
                with pytest.raises(UntrustedHome, match=r"OPENAI_BASE_URL in \.env"):
                    tea.models.config(name)
            tea.connect(preset("openai"))
            with pytest.raises(UntrustedHome, match=r"OPENAI_BASE_URL in \.env"):
                tea.models.config("openai")
            tea.connect(local("free", url, "m"))
            assert tea.models.config("free").base_url == url
        assert not came


async def test_where_the_environment_itself_leads_a_key_needs_no_grant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", REAL)
    with somebody() as (url, came):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/")
        home = write(tmp_path / "home", MODEL.replace("WHERE", url), "OPENAI_BASE_URL=http://127.0.0.1:9/v1\n")
        assert isinstance(await asked(home, tmp_path / "state"), ProviderError)
        assert came
        write(home, 'model = "openai"\n', "OPENAI_BASE_URL=http://127.0.0.1:9/v1\n")
        assert isinstance(await asked(home, tmp_path / "state"), ProviderError)
        monkeypatch.setenv("CLOUD_TOKEN", REAL)
        write(home, MODEL.replace("WHERE", url).replace("OPENAI_API_KEY", "CLOUD_TOKEN"))
        assert isinstance(await asked(home, tmp_path / "state"), UntrustedHome)


def test_the_variable_of_a_grant_is_heeded_in_the_environment_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trust() -> bool:
        return Platform(home, state=tmp_path / "state").home_trust.granted

    home = write(tmp_path / "home", MODEL.replace("WHERE", "http://127.0.0.1:9/v1"))
    digest = Platform(home, state=tmp_path / "state").home_trust.digest
    write(home, MODEL.replace("WHERE", "http://127.0.0.1:9/v1"), f"TEA_TRUST_HOME={digest}\nTEA_STATE={home}\n")
    assert not trust()
    for value, granted in ((digest, True), (digest.removeprefix("sha256:"), True), ("sha256:", False), ("", False)):
        monkeypatch.setenv("TEA_TRUST_HOME", value)
        assert trust() == granted
    assert not (tmp_path / "state").exists()


URL = "http://127.0.0.1:9/v1"
BASE = MODEL.replace("WHERE", URL)


@pytest.mark.parametrize(
    ("settings", "variables", "same"),
    [
        (f'# a word\ndurability = "synced"\n{BASE}context = 9000\n', "# a word\nOTHER=1\n", True),
        (f'model = "x"\n{BASE}', "", False),
        (f"{BASE}limits = {{attempts = 2}}\n", "", True),
        (f"{BASE}prices = {{input = 1, output = 2}}\n", "", False),
        (f"{BASE}[roles]\nplanner = 'x'\n[policy]\nexternal = 'ask'\n", "OPENAI_API_KEY=x\n", False),
        (BASE, "OPENAI_API_KEY=x\n", True),
        (f'{BASE}[models.mini]\npreset = "openai"\nmodel = "gpt-5.4-mini"\n', "", False),
        (BASE, "OPENAI_BASE_URL=https://api.openai.com/v1/\nHTTPS_PROXY=http://127.0.0.1:1\n", True),
        (BASE.replace("/v1", "/v2"), "", False),
        (BASE.replace(":9/", ":8/"), "", False),
        (BASE.replace("OPENAI_API_KEY", "GEMINI_API_KEY"), "", False),
        (BASE.replace("OPENAI_API_KEY", "OPENAI_API_KEY, GEMINI_API_KEY"), "", False),
        (BASE + 'provider = "anthropic_messages"\n', "", False),
        (BASE + "options = {user = 'me'}\n", "", False),
        (BASE + BASE.replace("models.x", "models.y").replace(":9/", ":8/"), "", False),
        (BASE + '[models.y]\npreset = "openai"\nkey_env = "CLOUD_TOKEN"\n', "", False),
        (BASE + f'[embedder]\nprovider = "openai"\nmodel = "m"\nbase_url = "{URL}"\n', "", False),
        (BASE, f"OPENAI_BASE_URL={URL}\n", False),
        (BASE, f"ANTHROPIC_BASE_URL={URL}\n", False),
    ],
)
def test_a_grant_is_of_all_that_decides_about_keys_and_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str, variables: str, same: bool
) -> None:
    home = write(tmp_path / "home", BASE)
    before = Platform(home, state=tmp_path / "state").home_trust
    before.grant()
    write(home, settings, variables)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "CLOUD_TOKEN"):  # the same on every machine
        trust = Platform(home, state=tmp_path / "state").home_trust
        assert (trust.digest == before.digest, trust.granted) == (same, same)
        monkeypatch.setenv(name, URL)


def test_a_home_without_such_a_setting_needs_no_grant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PRESETS:
        for key in preset(name).keys:
            monkeypatch.setenv(key, REAL)
    models = "".join(f'[models.m_{name}]\npreset = "{name}"\nmodel = "m"\n' for name in PRESETS)
    settings = f'{models}[embedder]\nprovider = "openai"\nmodel = "m"\n'
    trust = Platform(write(tmp_path / "home", settings), state=tmp_path / "state").home_trust
    assert (trust.routes, trust.digest, trust.granted, trust.refused()) == ((), "", False, [])
    for name in PRESETS:
        if preset(name).keys:
            Platform(tmp_path / "home", state=tmp_path / "state").models.config(f"m_{name}")


@pytest.mark.parametrize(
    ("key", "address", "meant"),
    [
        ("OPENAI_API_KEY", "https://api.openai.com", True),
        ("OPENAI_API_KEY", "https://API.openai.com/v1/", True),
        ("OPENAI_API_KEY", "http://api.openai.com/v1", False),
        ("OPENAI_API_KEY", "https://api.openai.com.evil.example/v1", False),
        ("OPENAI_API_KEY", "https://api.openai.com:444/v1", False),
        ("OPENAI_API_KEY", "https://api.openai.com/evil/v1", False),
        ("OPENAI_API_KEY", "https://openrouter.ai/api/v1", False),
        ("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", True),
        ("CLOUD_TOKEN", "https://api.openai.com/v1", False),
    ],
)
def test_a_key_is_meant_for_the_address_of_its_preset(key: str, address: str, meant: bool) -> None:
    assert is_meant_for(key, address) == meant
    assert not is_led_to(key, address)


@pytest.mark.parametrize(
    "base_url", ["http://me:word@host/v1", "http://host/${TOKEN}", "ftp://host", "", "http://h/\u0007"]
)
def test_an_address_of_an_embedder_is_one(base_url: str) -> None:
    with pytest.raises(BadInput, match="is not an address"):
        destination({"provider": "openai", "model": "m", "base_url": base_url})
