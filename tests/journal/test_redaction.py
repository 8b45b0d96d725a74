"""Test secrets of the operator, planted everywhere in a run: none is written or told."""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_kit import done, step

from tea.errors import ApprovalNeeded
from tea.journal.mask import Mask, hidden_values, secrets_among
from tea.journal.recorder import Event
from tea.kernel.entry import encode
from tea.models.manager import CallTool, Delta, Listen, ModelConfig, Payer
from tea.models.scripted import response_of
from tea.platform import Platform
from tea.types import ModelRequest, ModelResponse

ENVIRONMENT, FILE = 'env-"quoted"\\slash-planted', "file-planted-0123456789"

LEAK = '''
import os

from tea import Context, ToolError, tool


@tool(effects="writes", idempotent=True)
async def leak(ctx: Context, how: str, word: str = "") -> str:
    """Give away what it finds."""
    found = os.environ["CLOUD_TOKEN"]
    ctx.note("seen", {"found": found})
    await ctx.memory.record("found", {"found": found})
    if how == "inside":
        await ctx.tcp.invoke("leak", {"how": "result", "word": found})
    if how == "error":
        raise ToolError(f"It is {found}.", fix=f"forget {found}.")
    if how == "crash":
        raise RuntimeError(found)
    if how == "ask":
        return await ctx.person(f"Is it {found}?")
    return found + word
'''

LEAKER = '''
from tea import Agent, Context, Result, Task


class Leaker(Agent):
    """Ask for every leak, and tell all."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Tell."""
        said = [task.text]
        for how in ("result", "inside", "error", "crash", "ask"):
            response = await ctx.tcp.invoke("leak", {"how": how, "word": task.text})
            said.append(str(response.value) + str(response.error))
        ctx.note("told", {"all": said})
        await ctx.memory.record("told", {"all": said})
        return Result(answer="; ".join(said), reason=said[1])
'''


async def test_no_secret_is_written_told_or_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".env").write_text(f"DB_PASSWORD={FILE}\nLOG_LEVEL=information\n")
    monkeypatch.setenv("CLOUD_TOKEN", ENVIRONMENT)
    heard: list[Event] = []
    async with Platform(home, state=tmp_path / "state") as tea:
        await tea.tcp.register(LEAK)
        await tea.acp.register(LEAKER)
        with pytest.raises(ApprovalNeeded) as waiting:
            await tea.run(f"use {FILE} for information", agent="leaker", watch=heard.append)
        (question,) = (await tea.inbox()).questions
        key = question.key
        outcome = await tea.resume("last", answers={key: f"yes, {FILE}"}, watch=heard.append)
        assert (await tea.replay(outcome.run)).answer == outcome.answer
        with pytest.raises(ApprovalNeeded):
            await tea.fork(outcome.run, at=key, watch=heard.append)
        records = list(tea.tracer.records(outcome.run))
    assert "<secret:DB_PASSWORD> for information" in outcome.answer
    assert outcome.answer.count("<secret:CLOUD_TOKEN>") >= 5
    told = json.dumps([str(waiting.value), str(question), outcome.to_json(), [str(one) for one in heard]], default=str)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".env"]
    written = {str(path): path.read_bytes().decode("utf-8", "replace") for path in files}
    assert any("memory" in path and "<secret:" in text for path, text in written.items())
    assert {"evidence", "waiting", "answer"} <= {one.kind for one in records}
    for secret in (ENVIRONMENT, FILE, encode(ENVIRONMENT)[1:-1]):
        assert secret not in told
        assert [path for path, text in written.items() if secret in text] == []


def test_keys_that_a_home_had_when_it_was_read_stay_secrets(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A_KEY=planted-0123456789\n")
    tea = Platform(tmp_path, state=tmp_path / "state")
    (tmp_path / ".env").write_text("A_KEY=another-0123456789\n")
    assert tea.keys("A_KEY") == "planted-0123456789"
    assert tea.mask.plain("planted-0123456789") == "<secret:A_KEY>"


def test_what_is_named_like_a_secret_is_one() -> None:
    secret = [
        "OPENAI_API_KEY",
        "token",
        "DB_PASSWORD",
        "PGPASSWORD",
        "DB_PWD",
        "SECRET_KEY_BASE",
        "GITHUB_PAT",
        "API_KEY_2",
    ]
    plain = ["MONKEY", "KEYBOARD", "PATH", "PWD", "OLDPWD", "COMPASS", "MAX_TOKENS", "KEY_SIZE"]
    assert list(secrets_among(dict.fromkeys([*secret, *plain], "x"))) == secret


def test_the_key_of_a_model_is_a_secret_whatever_it_is_called_and_so_is_a_password_in_an_address() -> None:
    variables = {"LLM": "the-key-1", "DATABASE_URL": "postgres://me:hunter%402hunter@host/db", "HOME": "/root"}
    assert secrets_among(variables, ["LLM", "OTHER"]) == {"LLM": "the-key-1", "DATABASE_URL": "hunter@2hunter"}


async def test_a_variable_that_names_a_component_stops_no_run(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A_KEY=tool:calculator@1.0.0\nB_KEY=agent:planner\n")
    async with Platform(tmp_path, state=tmp_path / "state") as tea:
        outcome = await tea.run("What is 2 + 2?")
        assert outcome.ok
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


def test_a_key_among_headers_that_are_sent_along_is_a_secret_and_other_headers_are_not() -> None:
    headers = "X-Team: research\nX-Gateway-Key: gateway-1\nCf-Authorization: Bearer gateway-2\r\nX-Key:\nno header"
    assert secrets_among({"OPENAI_CUSTOM_HEADERS": headers}) == {
        "OPENAI_CUSTOM_HEADERS_1": "gateway-1",
        "OPENAI_CUSTOM_HEADERS_2": "gateway-2",
    }


def test_a_secret_is_found_without_the_space_around_it_that_is_not_sent() -> None:
    mask = Mask({"LLM": " the-key-1\n", "OTHER": "    word    "})
    assert mask.plain("Bearer the-key-1, word") == "Bearer <secret:LLM>, word"
    assert mask.plain("a    word    b") == "a<secret:OTHER>b"


def few_signs(value: str) -> str:
    """Write a text as JSON with escapes for all signs with a meaning elsewhere."""
    return re.sub("[<>&+'`]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value).replace('\\"', r"\u0022"))


WRITTEN = {
    "as it is": lambda value: value,
    "JSON in JSON": lambda value: json.dumps(json.dumps({"key": value}, ensure_ascii=False), ensure_ascii=False),
    "ASCII": json.dumps,
    "slashes": lambda value: json.dumps(value).replace("/", "\\/"),
    "percent": lambda value: urlencode({"key": value}),
    "path": lambda value: quote(value, safe=""),
    "percent in small letters": lambda value: re.sub("%..", lambda found: found[0].lower(), quote(value, safe="")),
    "percent but slashes": quote,
    "percent of a browser": lambda value: quote(value, safe="!~*'()"),
    "percent of a whole address": lambda value: quote(value, safe="!#$%&'()*+,/:;=?@[]~"),
    "percent twice": lambda value: quote(quote(value, safe=""), safe=""),
    "page": escape,
    "text of a page": lambda value: escape(value, quote=False),
    "page of a template": lambda value: escape(value).replace("&quot;", "&#34;").replace("&#x27;", "&#39;"),
    "XML": lambda value: escape(value, quote=False).replace('"', "&quot;").replace("'", "&apos;"),
    "JSON for a page": lambda value: re.sub("[<>&]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value)),
    "JSON with few signs": lambda value: re.sub(r"(?<=\\u)....", lambda found: found[0].upper(), few_signs(value)),
    "Python": repr,
    "Python in ASCII": ascii,
    "bytes of Python": lambda value: repr(value.encode()),
    "base64": lambda value: b64encode(value.encode()).decode(),
    "basic": lambda value: b64encode(f"me:{value}".encode()).decode(),
    "inside": lambda value: urlsafe_b64encode(f"12345{value}6".encode()).decode(),
    "hexadecimal": lambda value: value.encode().hex().upper(),
}


@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize(
    "secret", ["s3cr3t/planted+0123", 'é"quoted"\\slash 9?>', "a password with words", "it's <&> \u00fcb`er/!?+"]
)
def test_a_secret_is_found_however_it_is_written(how: str, secret: str) -> None:
    mask, written = Mask({"IT": secret}), WRITTEN[how](secret)
    assert "<secret:IT>" in mask.plain(f"before {written} after")
    masked = mask.data({"text": f"before {written} after", "list": [written]})
    assert "<secret:IT>" in masked["text"]
    assert "<secret:IT>" in masked["list"][0]


@pytest.mark.parametrize("data", [{"n": 12345678}, [0, 0, 0, 0], {"a": [1.2345678e30, {"12345678": None}]}])
def test_a_secret_that_numbers_or_brackets_spell_leaves_json(data: Any) -> None:
    for secret in ("12345678", "0,0,0,0]", "1.2345678e+30"):
        mask = Mask({"IT": secret})
        assert json.loads(mask.text(encode(data))) == mask.data(data)
    assert Mask({"IT": "12345678"}).data({"n": 12345678}) == {"n": "<secret:IT>"}


def test_no_member_is_left_out_whose_masked_name_is_that_of_another() -> None:
    mask = Mask({"A_KEY": "field-0123"})
    data = {"in": [{"field-0123": "pay", "<secret:A_KEY>": "greet", b"field-0123".hex(): 7}]}
    kept = {"in": [{"<secret:A_KEY>": "pay", "<secret:A_KEY> (2)": "greet", "<secret:A_KEY> (3)": 7}]}
    assert mask.data(data) == kept
    assert json.loads(mask.text(json.dumps(data))) == kept


def test_a_value_is_told_as_not_shown_whatever_the_length_of_its_name() -> None:
    name = f"{'A' * 500}_KEY"
    shown = Mask(secrets_among({name: "evil.example.org"})).plain("to: evil.example.org")
    assert hidden_values(shown).endswith(f": <secret:{name}>")


@given(st.data())
def test_a_secret_that_comes_in_pieces_is_not_told(data: st.DataObject) -> None:
    secrets = {"ONE": "abcabcabcabd", "TWO": "abcabcab!"}
    mask = Mask(secrets)
    text = "".join(data.draw(st.lists(st.sampled_from([*secrets.values(), "abc", "abcab", " ", "x"]), max_size=8)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces, told = mask.pieces(), list[str]()
    for begin, end in pairwise([0, *cuts, len(text)]):
        told.append(pieces.take(text[begin:end]))
    whole = "".join([*told, pieces.rest()])
    assert not [one for one in secrets.values() if one in whole]
    assert whole == text or any(one in text for one in secrets.values())


class Streaming:
    """Answers in pieces, and gives a secret away."""

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        return response_of(step(done(f"It is {FILE}.")), "given")

    async def tell(
        self, request: ModelRequest, config: ModelConfig, listen: Listen | None, payer: Payer | None
    ) -> ModelResponse:
        assert listen is not None
        for at in range(0, len(FILE), 5):
            listen(Delta(type="text", text=FILE[at : at + 5]))
        listen(Delta(type="text", text=" and file-plan"))
        return response_of(step(done(f"It is {FILE}.")), "given")


async def test_an_answer_that_streams_tells_no_secret_and_all_the_rest(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"DB_PASSWORD={FILE}\n")
    heard: list[Event] = []
    async with Platform(tmp_path, state=tmp_path / "state", model=Streaming()) as tea:
        outcome = await tea.run("a task", watch=heard.append)
    assert outcome.answer == "It is <secret:DB_PASSWORD>."
    deltas = [one.data["text"] for one in heard if one.kind == "delta" and isinstance(one.data, dict)]
    assert "".join(deltas) == "<secret:DB_PASSWORD> and file-plan"


SPILL = '''
import os

from tea import Context, tool


@tool(effects="writes", idempotent=True)
async def spill(ctx: Context, extra: str = "") -> str:
    """Write what it finds into files."""
    found = os.environ["CLOUD_TOKEN"]
    ctx.path("notes").mkdir(exist_ok=True)
    ctx.path("notes/config.ini").write_text(f"key = {found}\\n")
    ctx.path("dump.bin").write_bytes(b"\\xff" + found.encode())
    return found
'''


async def test_texts_that_a_run_wrote_hold_no_secret_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOUD_TOKEN", ENVIRONMENT)
    given = tmp_path / "given.txt"
    given.write_text(f"mine: {ENVIRONMENT}")
    async with Platform(tmp_path / "home", state=tmp_path / "state") as tea:
        await tea.tcp.register(SPILL)
        await tea.acp.register(LEAKER.replace("leak", "spill").replace('{"how": how, "word": task.text}', "{}"))
        outcome = await tea.run("x", agent="leaker", files=[given])
        (noted,) = [one.data for one in tea.tracer.records(outcome.run) if one.kind == "secrets"]
        assert (await tea.replay(outcome.run)).answer == outcome.answer
    folder = outcome.trace / "workspace"
    assert noted == {"left": ["dump.bin"], "masked": ["notes/config.ini"]}
    assert (folder / "notes" / "config.ini").read_text() == "key = <secret:CLOUD_TOKEN>\n"
    assert (folder / "given.txt").read_text() == given.read_text()


DRIP = '''
import os

from tea import ToolError, tool


@tool(effects="reads")
async def drip(how: str) -> str:
    """Give away what it finds, and reach nothing."""
    found = os.environ["CLOUD_TOKEN"]
    if how == "error":
        raise ToolError(f"It is {found}.", fix=f"forget {found}.")
    if how == "crash":
        raise RuntimeError(found)
    return found
'''


async def test_a_call_from_outside_of_any_run_gives_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUD_TOKEN", ENVIRONMENT)
    async with Platform(tmp_path / "home", state=tmp_path / "state") as tea:
        await tea.tcp.register(LEAK)
        await tea.tcp.register(DRIP)
        for name in ("leak", "drip"):
            for how in ("result", "error", "crash"):
                told = (await tea.tcp.invoke(name, {"how": how})).model_dump_json()
                assert "<secret:CLOUD_TOKEN>" in told, (name, how)
                assert encode(ENVIRONMENT)[1:-1] not in told


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(json_values, st.text(min_size=8, max_size=20), st.booleans())
def test_masked_data_is_json_without_the_secret(value: Any, secret: str, planted: bool) -> None:
    mask = Mask({"IT": secret})
    given_value = [value, {"before " + secret: f"a {secret} b"}] if planted else value
    masked = mask.data(given_value)
    if planted:
        assert encode(secret)[1:-1] not in encode(masked).replace("<secret:IT>", "")
    assert encode(mask.data(masked)) == encode(masked) or secret in "<secret:IT>"
    assert mask.text(encode(given_value)) == encode(masked)


REFUSAL = "[models.x] in tea.toml sends A_KEY of the environment to https://a-host.test, and nobody granted that"


@pytest.mark.parametrize(
    "form", [str, json.dumps, lambda text: json.dumps([json.dumps(text)])], ids=["text", "json", "twice"]
)
def test_a_refusal_of_a_home_stays_whole_whatever_the_home_calls_a_secret(form: Callable[[str], str]) -> None:
    secrets = {"HOST": "a-host.test", "PART": "sends A_KEY of the environment to https://a-host"}
    told = set[str]()
    mask = Mask(secrets, told)
    assert "a-host" not in mask.plain(form(REFUSAL))
    told.add(REFUSAL)
    assert mask.plain(f"{form(REFUSAL)}. a-host.test") == f"{form(REFUSAL)}. <secret:HOST>"
    assert mask.data({"a": [REFUSAL, "a-host.test"]}) == {"a": [REFUSAL, "<secret:HOST>"]}
