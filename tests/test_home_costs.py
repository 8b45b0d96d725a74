"""Test settings of a foreign home made to take long, or to end a command without a word."""

import json
import time
from pathlib import Path

import pytest

from tea.errors import BadInput
from tea.home import read_keys, read_settings
from tea.platform import Platform

KEYS = {
    "quoted": '"!"' + '."!"' * 60_000 + "=1\n",
    "literal": "'!'" + ".'!'" * 60_000 + "=1\n",
    "escaped": r'"\""' + r'."\""' * 40_000 + "=1\n",
    "spaced": '"!"' + ' . "!"' * 40_000 + "=1\n",
    "mixed": "model" + """."!".a.'?'""" * 20_000 + "=1\n",
    "table": "[models" + '."!"' * 60_000 + "]\n",
}
NESTED = {
    "array": f"models.a = {{b = {'[' * 300}{']' * 300}}}\n",
    "tables": f"models = {'{a=' * 200}1{'}' * 200}\n",
    "keys": f"models.x = {'{a.b.c.d.e.f.g=' * 90}1{'}' * 90}\n",
}


def home(folder: Path, settings: str) -> Path:
    (folder / "tea.toml").write_text(settings)
    return folder


@pytest.mark.parametrize("settings", KEYS.values(), ids=KEYS.keys())
def test_a_key_of_very_many_parts_is_refused(tmp_path: Path, settings: str) -> None:
    with pytest.raises(BadInput, match="more than 32 parts"):
        read_settings(home(tmp_path, settings))


@pytest.mark.parametrize("settings", NESTED.values(), ids=NESTED.keys())
def test_a_deeply_nested_document_is_refused_in_one_line(tmp_path: Path, settings: str) -> None:
    with pytest.raises(BadInput, match="nests") as caught:
        read_settings(home(tmp_path, settings))
    assert "\n" not in str(caught.value)


def test_quotes_that_nothing_closes_are_looked_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_settings(home(tmp_path, "a = " + json.dumps('"' * 100_000)[:-1]))


def test_quoted_names_of_few_parts_are_read(tmp_path: Path) -> None:
    settings = read_settings(home(tmp_path, "[models.\"a b\".'c.d']\ne.f = 1\n"))
    assert settings.models == {"a b": {"c.d": {"e": {"f": 1}}}}


def many(line: str, largest: int) -> str:
    """Return numbered lines, as many as fit into some characters."""
    return "".join(map(line.format, range(largest // len(line.format(100_000)))))


MODELS = {
    "led elsewhere": many('[models.m{}]\npreset = "openai"\nbase_url = "https://a.example"\n', 2**16),
    "with prices": many('[models.m{}]\npreset = "openai"\nprices = {{input = 1, output = 1}}\n', 2**16),
}
SECONDS = 4  # of the processor; every pair would take from seven seconds to a minute


@pytest.mark.parametrize("settings", MODELS.values(), ids=MODELS.keys())
def test_many_models_that_wait_for_a_grant_take_time_that_grows_with_their_number(
    tmp_path: Path, settings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-environment")
    begun = time.process_time()
    tea = Platform(home(tmp_path, settings), state=tmp_path / "state")
    assert len(tea.home_trust.refused()) > 700
    assert time.process_time() - begun < SECONDS


def test_many_packages_that_wait_for_a_grant_take_time_that_grows_with_their_number(tmp_path: Path) -> None:
    names = ", ".join(f'"{one:x}"' for one in range(2**18 // 8))
    begun = time.process_time()
    tea = Platform(home(tmp_path, f"[sandbox]\npackages = [{names}]\n"), state=tmp_path / "state")
    assert tea.settings.sandbox.packages == ()
    assert time.process_time() - begun < SECONDS


RULES = {
    "very many": "".join(f'{{decision = "ask", component = "*{one}z*"}},\n' for one in range(6_000)),
    "open brackets": f'{{decision = "ask", component = "{"[" * 2**12}"}}',
    "brackets closed late": f'{{decision = "ask", component = "{"[" * 2**11}]{"[" * (2**11 - 1)}"}}',
}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
async def test_rules_of_a_home_hold_up_no_call(tmp_path: Path, rules: str) -> None:
    async with Platform(home(tmp_path, f"[policy]\nrules = [{rules}]\n"), state=tmp_path / "state") as tea:
        begun = time.process_time()
        for _ in range(5):
            assert (await tea.tcp.invoke("calculator", {"expression": "1 + 1"})).ok
    assert time.process_time() - begun < SECONDS


def test_names_of_secrets_are_not_taken_for_secrets_again(tmp_path: Path) -> None:
    values = ["the question", *(letter * size for letter, size in zip("abc", (11, 10, 9), strict=True))]
    names = ["_".join([inner] * 60) for inner in values[1:]]
    (tmp_path / ".env").write_text("".join(f"{name}_KEY={one}\n" for name, one in zip(names, values, strict=False)))
    tea = Platform(tmp_path, state=tmp_path / "state")
    assert tea.mask.plain("the question") == f"<secret:{names[0]}_KEY>"
    assert tea.mask.data({"the question": ["the question"]}) == {
        f"<secret:{names[0]}_KEY>": [f"<secret:{names[0]}_KEY>"]
    }


def test_many_secrets_of_a_home_hold_up_no_text(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("".join(f"K{one}_KEY=<{one:05}/&ü\"z'\n" for one in range(1_000)))
    begun = time.process_time()
    mask = Platform(tmp_path, state=tmp_path / "state").mask
    pieces = mask.pieces()
    draft = "<b>The answer</b> is that 42 rows have it. " * 150
    told = "".join(pieces.take(draft[at : at + 40]) for at in range(0, len(draft), 40))
    assert told + pieces.rest() == draft
    assert mask.plain(draft * 150 + "<00007/&ü\"z'") == draft * 150 + "<secret:K7_KEY>"
    assert time.process_time() - begun < SECONDS


def test_more_variables_than_any_program_has_are_refused(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(many("K{}_KEY=12345678\n", 2**17))
    with pytest.raises(BadInput, match=r"\.env sets more than 1,000 variables"):
        read_keys(tmp_path)


def test_values_that_hold_another_many_times_are_refused(tmp_path: Path) -> None:
    value = "<&'\u00fc" * 4_000
    (tmp_path / ".env").write_text(f'VALUE="{value}"\n' + "".join(f"K{one}_KEY={one}${{VALUE}}\n" for one in range(50)))
    with pytest.raises(BadInput, match=r"values in \.env have more than 262,144 characters together"):
        read_keys(tmp_path)


def test_more_headers_than_any_program_sends_are_refused(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"A_CUSTOM_HEADERS='{many('key: aaaa{}', 2**15).replace('key', chr(10) + 'key')}'\n")
    with pytest.raises(BadInput, match=r"\.env sets more than 1,000 variables, or values of more lines"):
        read_keys(tmp_path)


@pytest.mark.parametrize("line", ["key" * 20_000, f"key: a{' ' * 60_000}b"], ids=["names", "blanks"])
def test_long_headers_of_a_home_hold_up_no_command(tmp_path: Path, line: str) -> None:
    (tmp_path / ".env").write_text("".join(f"A{one}_CUSTOM_HEADERS='{line}'\n" for one in range(4)))
    begun = time.process_time()
    assert Platform(tmp_path, state=tmp_path / "state").mask.plain("a  b") == "a  b"
    assert time.process_time() - begun < SECONDS
