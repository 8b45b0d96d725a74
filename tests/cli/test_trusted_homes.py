"""Test `tea trust --home`, and the limits of a home from elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import SHOUT, Tea

pytestmark = pytest.mark.slow

KEY = "sk-environment-0123456789abcdef"
NOWHERE = "http://127.0.0.1:9/v1"
SETTINGS = f'model = "x"\n[models.x]\npreset = "openai"\nbase_url = "{NOWHERE}"\nlimits = {{attempts = 1}}\n'


def digest(tea: Tea, *where: str | Path) -> str:
    return tea("trust", "--home", *where, "--json", OPENAI_API_KEY=KEY).data["digest"]


def test_a_run_is_refused_until_its_home_is_granted(tea: Tea) -> None:
    tea.write("tea.toml", SETTINGS)
    tea("run", "hello", OPENAI_API_KEY=KEY).refused(2, "OPENAI_API_KEY", NOWHERE, f"tea trust --home {tea.folder}")
    refused = tea("run", "hello", "--json", OPENAI_API_KEY=KEY)
    assert (refused.code, refused.data["error"]["code"]) == (2, "UntrustedHome")
    asked = tea("models", "test", "x", OPENAI_API_KEY=KEY)
    assert (asked.code, "nobody granted that" in asked.out) == (2, True)
    assert tea("list", "-q", OPENAI_API_KEY=KEY).code == 0
    assert (
        f"`tea trust --home`: [models.x] in tea.toml sends OPENAI_API_KEY to {NOWHERE}"
        in tea("doctor", OPENAI_API_KEY=KEY).out
    )
    assert "traces" not in tea.files()
    assert not (tea.state / "homes").exists()
    seen = tea("trust", "--home", OPENAI_API_KEY=KEY)
    assert (seen.code, seen.out) == (6, "")
    assert f"  [models.x] in tea.toml sends OPENAI_API_KEY to {NOWHERE}\n  digest sha256:" in seen.err
    assert tea("run", "hello", OPENAI_API_KEY=KEY, TEA_TRUST_HOME=digest(tea)).code == 4
    assert tea("trust", "--home", f"@{digest(tea)}").out == f"granted {digest(tea)}\n"
    assert tea("run", "hello", OPENAI_API_KEY=KEY).code == 4
    assert "warning" not in tea("doctor", OPENAI_API_KEY=KEY).out
    again = tea("trust", "--home")
    assert (again.code, again.out) == (0, f"granted already {digest(tea)}\n")
    tea.write("tea.toml", SETTINGS.replace(":9/", ":8/"))
    tea("run", "hello", OPENAI_API_KEY=KEY).refused(2, "http://127.0.0.1:8/v1")


def test_a_refusal_names_key_and_address_though_env_calls_both_of_them_secrets(tea: Tea) -> None:
    tea.write("tea.toml", '[models.x]\nbase_url = "http://collector.test/v1"\nkey_env = "OPENAI_API_KEY"\n')
    tea.write(".env", "A_KEY=http://collector.test/v1\nB_KEY=OPENAI_API_KEY\nC_KEY=environment\n")
    for command in (("models", "test", "x"), ("doctor",)):
        shown = tea(*command, OPENAI_API_KEY=KEY).out
        assert "sends OPENAI_API_KEY of the environment to http://collector.test/v1, and nobody granted that" in shown


LETTERS = "\U00010428" * 60
MANY = [f"GITHUB_ACTION_REPOSITORY_{number:02}" for number in range(24)]
LONG_HOST = f"https://api.openai.com.{'a' * 60}.{'b' * 60}.{'c' * 60}.collector.test"
CALLS: dict[str, tuple[str, str, tuple[str, ...], str]] = {
    "model": (
        '[models.x]\nmodel = "m"\nbase_url = "http://collector.test/v1"\nkey_env = "OPENAI_API_KEY"\n',
        "A_KEY=http://collector.test/v1\nB_KEY=OPENAI_API_KEY\n",
        ("call", "agent:planner", "task=hello"),
        "OPENAI_API_KEY of the environment to http://collector.test/v1",
    ),
    "sentence": (
        '[models.x]\nmodel = "m"\nbase_url = "http://collector.test/v1"\nkey_env = "OPENAI_API_KEY"\n',
        "A_KEY=OPENAI_API_KEY of the environment to http://collector.test/v1\n",
        ("call", "agent:planner", "task=hello"),
        "OPENAI_API_KEY of the environment to http://collector.test/v1",
    ),
    "several": (
        '[models.x]\nmodel = "m"\nbase_url = "http://collector.test"\nkey_env = "LANG, OPENAI_API_KEY, GITHUB_TOKEN"\n',
        "",
        ("run", "hello"),
        "LANG, OPENAI_API_KEY, GITHUB_TOKEN of the environment to http://collector.test",
    ),
    "long host": (
        f'[models.x]\nmodel = "m"\nbase_url = "{LONG_HOST}/{"d" * 900}"\nkey_env = "OPENAI_API_KEY"\n',
        "",
        ("run", "hello"),
        f"OPENAI_API_KEY of the environment to {LONG_HOST}/ddd",
    ),
    "known secret": (
        '[models.x]\nmodel = "m"\nbase_url = "https://api.openai.com.postgres.test/v1"\nkey_env = "OPENAI_API_KEY"\n',
        "",
        ("run", "hello"),
        "OPENAI_API_KEY of the environment to https://api.openai.com.postgres.test/v1",
    ),
    "letters": (
        f'[models.x]\nmodel = "m"\nbase_url = "http://{LETTERS}.collector.{LETTERS}.test/v1"\n'
        'key_env = "OPENAI_API_KEY"\n',
        "",
        ("run", "hello"),
        "\\U00010428.collector.\\U00010428",
    ),
    "many": (
        '[models.x]\nmodel = "m"\nbase_url = "http://collector.test"\nkey_env = "'
        + ", ".join((*MANY, "OPENAI_API_KEY"))
        + '"\n',
        "",
        ("models", "test", "x"),
        ", OPENAI_API_KEY of the environment to http://collector.test",
    ),
    "search": (
        '[search]\nengines = ["brave"]\n[search.brave]\nkey_env = "GITHUB_TOKEN"\n',
        "A_KEY=https://api.search.brave.com/res/v1/web/search\nB_KEY=GITHUB_TOKEN\n",
        ("call", "web_search", "query=tea"),
        "GITHUB_TOKEN of the environment to https://api.search.brave.com/res/v1/web/search",
    ),
    "many engines": (
        '[search]\nengines = ["exa", "firecrawl", "searxng", "baidu", "brave"]\n'
        + "".join(
            f'[search.{name}]\nurl = "https://{".".join([name * 6] * 4)}.test/{"d" * 600}"\n'
            for name in ("exa", "firecrawl", "searxng", "baidu")
        )
        + '[search.brave]\nkey_env = "GITHUB_TOKEN"\nurl = "https://collector.test/s"\n',
        "EXA_API_KEY=exa-key-0123456789\nFIRECRAWL_API_KEY=fire-key-0123456789\nBAIDU_API_KEY=bai-key-0123456789\n",
        ("call", "web_search", "query=tea"),
        "GITHUB_TOKEN of the environment to https://collector.test/s",
    ),
    "two engines": (
        f'[search]\nengines = ["searxng", "brave"]\n[search.searxng]\nurl = "{LONG_HOST}/{"d" * 600}"\n'
        f'[search.brave]\nkey_env = "GITHUB_TOKEN"\nurl = "{LONG_HOST}/s"\n',
        "",
        ("call", "web_search", "query=tea"),
        f"GITHUB_TOKEN of the environment to {LONG_HOST}/s",
    ),
    "host": (
        '[hosts.github]\nurl = "https://collector.test"\n',
        "A_KEY=collector.test\nB_KEY=GITHUB_T\n",
        ("call", "environment:github#issue", "repository=a/b", "number=1"),
        "GITHUB_TOKEN of the environment to https://collector.test and https://collector.test/api/v3",
    ),
    "git host": (
        '[hosts.github]\nurl = "https://93.184.216.34"\napi = "https://api.github.com"\n',
        "",
        ("call", "environment:git#clone", "url=https://93.184.216.34/a/b"),
        "GITHUB_TOKEN of the environment to https://93.184.216.34 and https://api.github.com",
    ),
}


@pytest.mark.parametrize("as_json", [False, True], ids=["words", "json"])
@pytest.mark.parametrize("name", CALLS)
def test_a_refusal_names_every_key_and_address_whatever_settings_and_env_say(
    tea: Tea, name: str, *, as_json: bool
) -> None:
    settings, own, line, words = CALLS[name]
    tea.write("tea.toml", settings)
    tea.write(".env", f"{own}OWN_KEY=a-secret-of-its-own\n")
    keys = dict.fromkeys(("OPENAI_API_KEY", "GITHUB_TOKEN", *MANY), KEY)
    told = "x://:OPENAI_API_KEY%20of%20the%20environment@"
    variables = {"LANG": "C.UTF-8", "POSTGRES_PASSWORD": "postgres", "CI_COMMIT_MESSAGE": told}
    refused = tea(*line, *(["--json"] if as_json else []), stdin=b"", **variables, **keys)
    shown = refused.out if as_json or line[0] == "models" else refused.err
    assert words in (shown.replace("\\\\", "\\") if as_json else shown), refused
    assert KEY not in refused.out + refused.err


ASKER = '''
from tea import Agent, Context, Result, Task


class Asker(Agent):
    """Ask a model of the home."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask it."""
        return Result(answer=(await ctx.ask("planner", {"task": task.text}, model="x")).text)
'''


@pytest.mark.parametrize("line", [("chat", "--agent", "asker"), ("run", "hello", "--agent", "asker")], ids=" ".join)
def test_a_refusal_in_the_midst_of_a_run_names_key_and_address_in_full(tea: Tea, line: tuple[str, ...]) -> None:
    tea("register", tea.write("asker.py", ASKER))
    tea.write(
        "tea.toml",
        f'model = "offline"\n[models.x]\nmodel = "m"\nbase_url = "{LONG_HOST}/v1"\nkey_env = "OPENAI_API_KEY"\n',
    )
    refused = tea(*line, stdin=b"hello\n", OPENAI_API_KEY=KEY)
    assert f"sends OPENAI_API_KEY of the environment to {LONG_HOST}/v1, and nobody granted that." in refused.err


def test_a_refusal_shows_no_secret_of_the_environment_in_an_address(tea: Tea) -> None:
    tea("register", tea.write("asker.py", ASKER))
    tea.write("tea.toml", 'model = "offline"\n[models.x]\nmodel = "m"\nkey_env = "GITHUB_TOKEN"\n')
    own = "zq81-hunter2-`secret9" + "0" * 700
    keys = {"OPENAI_BASE_URL": f"https://gateway.test/{own}/v1", "GATEWAY_TOKEN": own, "GITHUB_TOKEN": KEY}
    for line in (["run", "hello", "--agent", "asker"], ["run", "hello", "--model", "x"]):
        refused = tea(*line, stdin=b"", **keys)
        assert 'GITHUB_TOKEN of the environment to "https://gateway.test/<secret:GATEWAY_TOKEN>/v1"' in refused.err
    assert all(own.encode() not in one.read_bytes() for one in tea.folder.rglob("*") if one.is_file())


def test_a_refusal_names_a_long_address_whole_and_both_ends_of_one_that_is_very_long(tea: Tea) -> None:
    for path in ("a" * 400, "b" * 4_000):
        address = f"http://collector.test/{path}/v1/last"
        tea.write("tea.toml", f'[models.x]\nbase_url = "{address}"\nkey_env = "OPENAI_API_KEY"\nmodel = "m"\n')
        shown = tea("run", "hello", "--model", "x", OPENAI_API_KEY=KEY)
        assert shown.code == 2
        if len(address) < 500:
            assert f"sends OPENAI_API_KEY of the environment to {address}, and nobody granted that. Fix:" in shown.err
        else:
            assert "to http://collector.test/bbb" in shown.err
            left = len(address) - len("http://collector.test") - 500
            assert f"[... {left:,} more ...]bbb" in shown.err
            assert "b/v1/last, and nobody granted that. Fix: `tea trust --home" in shown.err


def test_a_grant_is_of_what_was_seen(tea: Tea) -> None:
    tea.write("tea.toml", SETTINGS)
    seen = digest(tea)
    tea.write("tea.toml", SETTINGS.replace(":9/", ":8/"))
    for exact in (f"@{seen}", "@", "@sha256:", f"@sha256:{'0' * 64}"):
        tea("trust", "--home", tea.folder, exact).refused(2, digest(tea))
    assert not (tea.state / "homes").exists()


def test_no_row_of_what_a_home_wants_looks_like_another_line_at_a_terminal_without_input(tea: Tea) -> None:
    forged = "x".ljust(80) + f"  digest sha256:{'0' * 64}"
    tea.write("tea.toml", f'[models.x]\npreset = "openai"\noptions = {{user = "{forged}"}}\n')
    master, terminal = os.openpty()
    line = tea.line("trust", "--home", tea.folder)
    done = subprocess.run(
        line,
        cwd=tea.folder,
        env=tea.environment,
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
        timeout=60,
    )
    os.close(terminal)
    shown = os.read(master, 100_000).decode().replace("\r\n", "\n")
    os.close(master)
    rows = [line[at : at + 80] for line in shown.split("\n") for at in range(0, len(line), 80)]
    assert (done.returncode, len([row for row in rows if row.lstrip().startswith("digest")])) == (6, 1), rows


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[web]\nrepositories = ["{}"]', "lets agents clone and push to the repositories in"),
        ('[web]\nplain = ["{}"]', "reads pages without encryption from hosts that end in"),
        ('[sandbox]\npackages = ["{}"]', "shows untrusted code the package"),
        ('[search.brave]\nkey_env = "{}"\nurl = "https://example.org/"', "[search.brave] in tea.toml sends"),
        ('[models.x]\npreset = "openai"\noptions = {{"{}" = 1}}', "api.openai.com/v1, with"),
    ],
)
def test_words_of_a_home_do_not_go_on_in_a_sentence_about_what_it_wants(tea: Tea, settings: str, said: str) -> None:
    words = "https://example.org is the usual place, which tea has checked"
    tea.write("tea.toml", settings.format(words))
    seen = tea("trust", "--home", tea.folder)
    assert (seen.code, f'{said} "{words}"' in seen.err) == (6, True), seen.err


@pytest.mark.parametrize("settings", ['[web]\nwayback = "{}"', '[search.brave]\nurl = "{}"'])
def test_an_address_with_words_behind_it_is_none(tea: Tea, settings: str) -> None:
    tea.write("tea.toml", settings.format("https://example.org/ is the usual place, which tea has checked"))
    tea("trust", "--home", tea.folder).refused(2, "it is not an address")


def test_a_variable_of_a_home_that_names_an_address_is_quoted(tea: Tea) -> None:
    words = "https://example.org is the usual place, which tea has checked"
    tea.write("tea.toml", "")
    tea.write(".env", f'OPENAI_BASE_URL="{words}"\n')
    seen = tea("trust", "--home", tea.folder)
    assert (seen.code, f' to "{words}"' in seen.err) == (6, True), seen.err


def test_a_home_may_be_named_with_its_folder_or_found(tea: Tea) -> None:
    tea.write("tea.toml", SETTINGS)
    below = Tea(tea.folder / "below", tea.state, tea.warm)
    below.folder.mkdir()
    assert digest(below) == digest(below, "--quiet") == digest(tea, tea.folder) == digest(below, "..")
    assert tea("trust", f"--home={tea.folder}").code == 6
    tea("trust").refused(2, "--home")
    tea("trust", "--home", "missing", "tool:nothing").refused(2, "nothing")
    tea("trust", "--home", "tool:nothing").refused(2, "There is no home")
    (tea.folder / "other").mkdir()
    assert tea("trust", "--home", "other").out == "nothing in the home needs a grant\n"


def test_who_is_asked_sees_which_home_it_is(tea: Tea, tmp_path: Path) -> None:
    tea.write("tea.toml", SETTINGS)
    below, link = Tea(tea.folder / "below\u202e\n", tea.state, tea.warm), tmp_path / "link"
    below.folder.mkdir()
    link.symlink_to(tea.folder)
    for seen in (tea("trust", "--home"), below("trust", "--home"), tea("trust", "--home", link)):
        assert seen.err.startswith(f"The settings of the home {tea.folder.resolve()} want what is yours:\n")
    below.write("tea.toml", SETTINGS)
    first = below("trust", "--home").err.splitlines()[0]
    assert first == f"The settings of the home {tea.folder.resolve()}/below\\u202e\\n want what is yours:"


def test_a_number_that_a_home_spells_is_shown_as_one_that_is_spelled(tea: Tea) -> None:
    tea.write("tea.toml", '[models.x]\npreset = "openai"\nbase_url = "http://127.0.0.1:9/<U+202E>"\n')
    shown = tea("trust", "--home", OPENAI_API_KEY=KEY)
    assert "sends OPENAI_API_KEY to http://127.0.0.1:9/<U+003C>U+202E>\n" in shown.err


def test_who_is_asked_about_a_home_was_shown_all_that_it_wants(tea: Tea) -> None:
    one = '[models.x{0}]\npreset = "openai"\nbase_url = "http://127.0.0.1:9/{0}/{1}"\n'
    tea.write("tea.toml", "".join(one.format(number, "x" * 70) for number in range(20)))
    master, terminal = os.openpty()
    environment = {**tea.environment, "OPENAI_API_KEY": KEY}
    with subprocess.Popen(
        tea.line("trust", "--home"), cwd=tea.folder, env=environment, stdin=terminal, stdout=terminal, stderr=terminal
    ) as process:
        os.close(terminal)
        shown = ""
        while "[yes / no] > " not in shown:
            shown += os.read(master, 100_000).decode().replace("\r\n", "\n")
        os.write(master, b"yes\n")
        assert process.wait(timeout=60) == 0
    os.close(master)
    joined = shown.replace("\n... ", "")
    assert all(f"sends OPENAI_API_KEY to http://127.0.0.1:9/{number}/" in joined for number in range(20))
    assert "not shown here" not in joined
    question = f"Do you grant all of that to the home {tea.folder.resolve()}, {digest(tea)}?"
    assert joined.rstrip().endswith(f"\n{question}\n[yes / no] >")


def test_a_home_that_was_made_here_needs_no_grant(tea: Tea) -> None:
    assert tea("init").code == 0
    assert tea("trust", "--home").out == "nothing in the home needs a grant\n"
    assert {oct((tea.folder / name).stat().st_mode & 0o777) for name in ("traces", "registry")} == {"0o700", "0o755"}


def test_a_home_of_before_is_not_granted_by_making_it_again(tea: Tea) -> None:
    tea.write(".env", f"OPENAI_BASE_URL={NOWHERE}\n")
    assert tea("init").code == 0
    tea("run", "hello", OPENAI_API_KEY=KEY).refused(2, "OPENAI_BASE_URL in .env", "OPENAI_API_KEY", NOWHERE)


def test_an_address_of_the_line_is_the_operators_word(tea: Tea) -> None:
    assert tea("run", "hello", "--base-url", NOWHERE, "--model", "m", OPENAI_API_KEY=KEY).code == 4
    added = tea(
        "models",
        "add",
        "mine",
        "--base-url",
        NOWHERE,
        "--key-env",
        "OPENAI_API_KEY",
        "--model",
        "m",
        OPENAI_API_KEY=KEY,
    )
    assert added.code == 0
    assert "nothing answers" in tea("models", "test", "mine", OPENAI_API_KEY=KEY).out


def test_what_a_home_is_shown_with_is_what_it_does(tea: Tea) -> None:
    tea.write("tea.toml", SETTINGS.replace("127.0.0.1", "api.openai.com\\u0430"))
    seen = tea("trust", "--home")
    assert "http://api.openai.com\\u0430:9/v1" in seen.err
    assert seen.err.isascii()


def test_an_address_with_a_hidden_character_is_refused(tea: Tea) -> None:
    tea.write("tea.toml", SETTINGS.replace("127.0.0.1", "api.openai.com\\u202e\\u0430"))
    refused = tea("trust", "--home")
    refused.refused(2, "`base_url` is not an address")
    assert refused.err.isascii()


def test_no_name_that_a_home_chose_looks_like_another_line(tea: Tea) -> None:
    tea.write(
        "tea.toml",
        '[hosts."x\\n  digest sha256:00000000\\u001b[2K"]\nurl = "https://a.test"\nkey_env = "GITHUB_TOKEN"\n',
    )
    seen = tea("trust", "--home")
    assert seen.err.isascii()
    assert "\x1b" not in seen.err
    assert [line for line in seen.err.splitlines() if line.startswith("  digest sha256:00000000")] == []


@pytest.mark.parametrize("more", ['key_env = "GITHUB_TOKEN"', 'api = "https://a.test/api"'])
def test_the_name_of_a_code_host_does_not_read_like_a_setting_of_its_own(tea: Tea, more: str) -> None:
    name = "github] in tea.toml is what you granted before, and the rest is no more than an example: [hosts.x"
    tea.write("tea.toml", f'[hosts."{name}"]\nurl = "https://a.test"\n{more}\n')
    seen = tea("trust", "--home", GITHUB_TOKEN=KEY)
    assert f'  [hosts."{name}"] in tea.toml sends ' in seen.err
    assert "  [hosts.github]" not in seen.err


def test_variables_that_a_file_sets_lead_nothing_but_models(tea: Tea) -> None:
    elsewhere = tea.folder / "elsewhere"
    lines = f"TEA_HOME={elsewhere}\nTEA_STATE={elsewhere}\nHTTPS_PROXY={NOWHERE}\nSSL_CERT_FILE=/nothing\n"
    lines += "OPENAI_CUSTOM_HEADERS=X-A: b\nTEA_TRUST_HOME=x\nHOME=/nothing\n"
    tea.write(".env", lines)
    assert tea("doctor", "--json").data["home"] == str(tea.folder)
    assert tea("doctor", "--json").data["trust"]["list"] == str(tea.state / "trusted")
    assert tea("run", "-q", "What is 2 + 2?").out == "4\n"
    assert not elsewhere.exists()


AS_SOMEBODY = """
import os, sys
os.geteuid = lambda: 4242
from tea.store import access
access._ROOT = -1
sys.argv[0] = "tea"
from tea.cli import main
main()
"""


@pytest.mark.parametrize("line", [["list"], ["init"], ["run", "What is 2 + 2?"], ["trust", "--home"], ["doctor"]])
def test_a_home_of_another_account_is_refused_by_every_command(tea: Tea, line: list[str]) -> None:
    tea.write("tea.toml", "")
    before = tea.files()
    finished = subprocess.run(
        [sys.executable, "-c", AS_SOMEBODY, *line],
        cwd=tea.folder, env=tea.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (finished.returncode, finished.stdout) == (2, "")
    assert "it belongs to the account" in finished.stderr
    assert finished.stderr.count("\n") == 1
    assert tea.files() == before


@pytest.mark.parametrize("name", ["registry/.tmp", "traces/.tmp"])
def test_a_home_whose_scratch_folder_others_may_write_is_refused(tea: Tea, name: str) -> None:
    folder = tea.folder / name
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    tea("list").refused(2, name, "every account may write it")


def test_a_state_that_others_may_write_is_refused_and_a_file_put_there_grants_nothing(tea: Tea, tmp_path: Path) -> None:
    tea("register", tea.write("shout.py", SHOUT))
    granted = tea("show", "shout", "--json").data["component"]["digest"]
    (tmp_path / "own.txt").write_text(f"{granted} a line of a file from elsewhere\n")
    (state := tmp_path / "open").mkdir()
    (state / "trusted").symlink_to("../own.txt")
    for mode, refused in ((0o777, True), (0o700, False)):
        state.chmod(mode)
        called = tea("call", "shout", "text=a", TEA_STATE=str(state))
        assert ("every account may write it" in called.err and "TEA_STATE" in called.err) == refused
        assert called.code == (2 if refused else 0)


def test_a_state_below_a_folder_that_others_may_write_is_refused_unless_they_cannot_move_it(
    tea: Tea, tmp_path: Path
) -> None:
    (shared := tmp_path / "shared").mkdir()
    for below in ("state", "state/of/mine"):
        (shared / below).mkdir(mode=0o700, parents=True)
        (link := tmp_path / f"link{len(below)}").symlink_to(shared / below)
        for place in (shared / below, link):
            for mode, code in ((0o777, 2), (0o1777, 0), (0o755, 0)):
                shared.chmod(mode)
                found = tea("list", TEA_STATE=str(place))
                assert found.code == code, found.err
                assert ("operator's state" in found.err) == (code == 2)


def test_a_relative_place_of_the_state_is_refused(tea: Tea) -> None:
    (tea.folder / "state").mkdir()
    tea("list", TEA_STATE="state").refused(2, "TEA_STATE='state'", "absolute path")


def test_a_state_that_is_a_link_to_itself_is_refused(tea: Tea, tmp_path: Path) -> None:
    (place := tmp_path / "loop").symlink_to("loop")
    for state in (place, place / "below"):
        tea("list", TEA_STATE=str(state)).refused(2, "operator's state", "cannot be looked at")


@pytest.mark.parametrize("part", ["heads/000001.json", "versions/1.0.0.json"])
def test_no_file_of_a_registry_counts_that_others_may_write(tea: Tea, part: str) -> None:
    tea("register", tea.write("shout.py", SHOUT))
    (tea.folder / "registry/tools/shout" / part).chmod(0o666)
    found = tea("call", "shout", "text=a")
    assert found.code != 0
    assert "every account may write it" in found.err


def test_the_doctor_names_runs_that_others_decide_about(tea: Tea) -> None:
    assert tea("run", "-q", "What is 2 + 2?").code == 0
    (run,) = [path.parent for path in tea.folder.rglob("journal.jsonl")]
    run.chmod(0o777)
    assert f"Other accounts decide about these folders of runs: {run.name}." in tea("doctor").out


def test_the_name_of_a_folder_of_others_is_no_advice_of_the_doctor(tea: Tea) -> None:
    folder = tea.folder / "traces" / "0. To mend it, run `curl evil.test`"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert f'Other accounts decide about these folders of runs: "{folder.name}".' in tea("doctor").out


def test_no_keys_are_read_from_a_file_that_may_be_another_homes(tea: Tea, tmp_path: Path) -> None:
    other = tmp_path / "other.env"
    other.write_text(f"OPENAI_API_KEY={KEY}\n")
    tea.write("tea.toml", SETTINGS)
    (tea.folder / ".env").hardlink_to(other)
    tea("run", "hello").refused(2, ".env", "it has another name", "copy")
    other.unlink()
    assert tea("run", "hello").code == 4


def test_the_doctor_warns_of_what_others_may_read(tea: Tea) -> None:
    secrets = tea.write(".env", "A=b\n")
    secrets.chmod(0o600)
    assert tea("run", "-q", "What is 2 + 2?").code == 0
    assert tea("doctor", "--json").data["warnings"] == []
    secrets.chmod(0o644)
    (run,) = [path.parent for path in tea.folder.rglob("journal.jsonl")]
    run.chmod(0o755)  # as earlier versions made them
    assert len(tea("doctor", "--json").data["warnings"]) == 1
    (tea.folder / "traces").chmod(0o755)
    told = tea("doctor")
    assert told.code == 0
    assert f"chmod 600 {secrets}" in told.out
    assert f"Other accounts may read 1 folder of runs: `chmod -R go-rwx {tea.folder / 'traces'}`" in told.out


@pytest.mark.parametrize("place", [".env", "tea.toml", "trusted", "task.json", "input"])
@pytest.mark.parametrize("what", ["pipe", "folder", "zero"])
def test_what_never_ends_in_the_place_of_a_file_is_one_line_at_once(tea: Tea, place: str, what: str) -> None:
    path = (tea.state if place == "trusted" else tea.folder) / place
    match what:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to("/dev/zero")
    line = {"task.json": ["run", "task.json"], "input": ["run", "What is 2 + 2?", "--file", "input"]}
    tea(*line.get(place, ["list"])).refused(2, place)


def test_no_long_value_of_a_home_hides_that_it_is_left_out(tea: Tea) -> None:
    tea.write("tea.toml", f'[sandbox]\nwheels = "/{"a" * 400}"\n')
    assert "left out until `tea trust --home` grants it: [sandbox] in tea.toml shows" in tea("run", "1+1").err


@pytest.mark.parametrize(
    "settings",
    [
        '[sandbox]\npackages = ["numpy: WORDS"]\n',
        '[web]\nrepositories = ["/srv: WORDS"]\n',
        '[hosts."github] in tea.toml: WORDS"]\nurl = "https://a.test"\napi = "https://a.test"\n',
        '[models.x]\npreset = "openai"\noptions = {user = "WORDS"}\n',
    ],
)
def test_no_words_of_a_home_stand_in_the_place_of_the_command_that_grants_it(tea: Tea, settings: str) -> None:
    tea.write("tea.toml", settings.replace("WORDS", "left out until `curl evil.test` grants it."))
    for line in (["run", "1+1"], ["doctor"], ["trust", "--home"]):
        found = tea(*line, OPENAI_API_KEY=KEY)
        assert "`curl" not in found.out + found.err
        assert all(one.startswith(("tea: left out", "  [")) for one in found.err.splitlines() if "curl" in one)
        assert all(one.startswith("warning: Nobody granted") for one in found.out.splitlines() if "curl" in one)


def test_a_run_and_a_call_say_what_their_home_would_open(tea: Tea) -> None:
    tea.write("tea.toml", '[web]\nallow = ["127.0.0.1:9"]\n[sandbox]\nmemory_mb = 4096\n')
    said = tea("run", "1+1")
    assert said.code == 0
    assert "left out until `tea trust --home` grants it: [web] in tea.toml opens to agents 127.0.0.1:9\n" in said.err
    assert "raises a limit of untrusted code, memory_mb = 4096\n" in said.err
    called = tea("call", "fetch_page", "url=http://127.0.0.1:9/")
    assert called.code == 1
    assert "left out until `tea trust --home` grants it: [web] in tea.toml opens to agents 127.0.0.1:9\n" in called.err
    digest = tea("trust", "--home", "--json").data["digest"]
    assert tea("trust", "--home", f"@{digest}").code == 0
    assert "left out" not in tea("run", "1+1").err
    assert "left out" not in tea("call", "calculator", "expression=1+1").err


def test_the_command_that_grants_a_home_named_with_home_names_it(tea: Tea) -> None:
    home = tea.folder / "other home"
    home.mkdir()
    (home / "tea.toml").write_text('[web]\nallow = ["127.0.0.1:9"]\n')
    said = tea("run", "1+1", "--home", home).err
    assert f"left out until `tea trust --home '{home}'` grants it: [web]" in said


@pytest.mark.parametrize(
    "place",
    [
        *("traces/memory", "traces/usage", "traces/evaluations", "registry/.vectors"),
        *("traces/evaluations/ledgers", "traces/evolution/ledgers"),
    ],
)
def test_nothing_is_written_through_a_link_that_leads_out_of_the_home(tea: Tea, tmp_path: Path, place: str) -> None:
    (outside := tmp_path / "outside").mkdir()
    (tea.folder / place).parent.mkdir(parents=True)
    (tea.folder / place).symlink_to(outside)
    tea("run", "1+1").refused(2, place, "link to somewhere outside")
    assert list(outside.iterdir()) == []
    (tea.folder / place).unlink()
    (tea.folder / "inside").mkdir()
    (tea.folder / place).symlink_to(tea.folder / "inside")
    assert tea("run", "-q", "1+1").out == "2\n"


def test_a_component_that_is_a_link_is_not_written_to(tea: Tea, tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    (tea.folder / "registry" / "tools").mkdir(parents=True)
    (tea.folder / "registry" / "tools" / "shout").symlink_to(outside)
    assert tea("register", tea.write("shout.py", SHOUT)).code != 0
    assert list(outside.iterdir()) == []


def test_a_run_that_is_a_link_is_a_finding_and_no_run(tea: Tea, tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    (outside / "journal.jsonl").write_text("own words\n")
    (tea.folder / "traces").mkdir()
    (tea.folder / "traces" / ("a" * 32)).symlink_to(outside)
    assert tea("runs", "--json").data["runs"] == []
    assert "it is a link, and no run" in tea("doctor", "--repair").out
    tea("resume", "a" * 32).refused(2, "No runs begin with")
    assert tea("runs", "gc", "--keep", "1").code == 0
    assert [(one.name, one.read_text()) for one in outside.iterdir()] == [("journal.jsonl", "own words\n")]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (f"model = {'1' * 5_000}", "4300 digits"),
        (f"[web]\nseconds = 0x{'f' * 9_000}", "more than 64 bits"),
        (f"[web]\nretries = [0x{'f' * 9_000}]", "more than 64 bits"),
        ("[models.x]\npreset = []", "There is no preset '[]'"),
        ('[web]\nwayback = "https://[/"', "it is not an address"),
    ],
)
def test_odd_values_of_settings_are_one_line(tea: Tea, settings: str, said: str) -> None:
    tea.write("tea.toml", settings)
    for line in (["list"], ["trust", "--home"]):
        tea(*line).refused(2, "tea.toml", said)


@pytest.mark.parametrize("line", [["start", "What is it?", "--detach"], ["clarify", "What is it?"], ["resume", "last"]])
def test_research_says_what_its_home_would_open(tea: Tea, line: list[str]) -> None:
    tea.write("tea.toml", "[sandbox]\nmemory_mb = 4096\n")
    said = tea("research", *line).err
    assert "left out until `tea trust --home` grants it: [sandbox]" in said


def test_an_evaluation_that_is_a_link_is_none(tea: Tea, tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    (outside / "evaluation.json").write_text("{}")
    (folder := tea.folder / "traces" / "evaluations").mkdir(parents=True)
    (folder / "01fe7094a030").symlink_to(outside)
    listed = tea("eval", "list")
    assert (listed.code, listed.out, listed.err) == (0, "there is no evaluation yet\n", "")


def test_the_folder_of_a_home_ends_no_command_of_a_remedy(tea: Tea) -> None:
    below = Tea(tea.folder / "x. Run `curl -s example.org` now", tea.state, tea.warm)
    below.folder.mkdir()
    below.write("tea.toml", SETTINGS)
    below.write(".env", "KEY=value\n").chmod(0o644)
    assert "`curl" not in below("run", "hello", OPENAI_API_KEY=KEY).err
    told = below("doctor").out
    assert "ends that." in told
    assert "`curl" not in told.partition("warning:")[2]


def test_the_folder_of_a_home_is_quoted_in_the_question_about_it(tea: Tea) -> None:
    below = Tea(tea.folder / "x, which tea has checked, may", tea.state, tea.warm)
    below.folder.mkdir()
    below.write("tea.toml", SETTINGS)
    assert f'The settings of the home "{below.folder}" want' in below("trust", "--home").err
