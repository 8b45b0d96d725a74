"""Test messages to a new user: one clear line with a remedy for each missing answer."""

import json
from itertools import cycle
from pathlib import Path

import pytest
from dialects import DIALECTS, Say, said
from loopback import Asked, Loopback, Reply, document
from run_kit import home, tea

LISTED = document({"object": "list", "data": [{"id": "fake-2"}, {"id": "other"}]})
WRONG_KEY = document({"error": {"message": "Incorrect API key provided.", "type": "invalid_request_error"}}, 401)
NO_MODEL = document({"error": {"message": "The model does not exist.", "code": "model_not_found"}}, 404)
NO_MONEY = document({"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}}, 429)
PAGE = Reply(headers={"content-type": "text/html"}, chunks=[b"<html>Welcome</html>"])

CASES = {
    "wrong key": (
        WRONG_KEY,
        "status 401: Incorrect API key provided. Fix: check the key in FAKE_KEY, and what it may use.",
    ),
    "unknown model": (NO_MODEL, "status 404: The model does not exist. Fix: check its base_url and the model's id."),
    "no money": (NO_MONEY, "You exceeded your quota. Fix: wait, or give the model more keys or fallbacks."),
    "down": (document({"error": {"message": "boom"}}, 500), "status 500: boom. Fix: try again later"),
    "a page": (PAGE, "what came back is not JSON"),
    "silence": (
        Reply(then="hang"),
        "no answer within 1 seconds. Fix: check its base_url and the network, or try again later.",
    ),
    "a broken line": (Reply(then="break"), "Fix: check its base_url and the network, or try again later."),
}


@pytest.mark.parametrize(("case", "name"), list(zip(CASES, cycle(DIALECTS), strict=False)))
async def test_a_model_that_does_not_answer_is_named_with_a_remedy_at_the_first_try(
    tmp_path: Path, case: str, name: str
) -> None:
    dialect, (reply, words) = DIALECTS[name], CASES[case]
    async with Loopback(answer=lambda asked: reply).open() as server:
        home(tmp_path, dialect, server.url, limits={"attempt_seconds": 1}, fallbacks=["spare"])
        with (tmp_path / "tea.toml").open("a") as file:
            file.write(f'\n[models.spare]\nbase_url = "{server.url}/v1"\nmodel = "m"')
        code, out, err = await tea(tmp_path, "models", "test", "fake")
        assert (code, out.count("\n"), err) == (4, 1, "")
        assert out.startswith("fake  The model 'fake' did not answer: ")
        assert words in out
        assert len(server.asked) == 1


@pytest.mark.slow
async def test_a_key_that_a_server_repeats_escaped_is_in_no_report_of_models(tmp_path: Path) -> None:
    chat, key = DIALECTS["openai_chat"], 'sk-"quoted/and+more'

    def repeat(asked: Asked) -> Reply:
        words = json.dumps(asked.headers) + key.encode().hex()
        return document({"error": {"message": words[words.index("authorization") :]}}, 401)

    async with Loopback(answer=repeat).open() as server:
        home(tmp_path, chat, server.url)
        (tmp_path / ".env").write_text(f"FAKE_KEY='{key}'\n")
        told = [
            await tea(tmp_path, *words, *more)
            for words in (("doctor",), ("models", "test"))
            for more in ((), ("--json",))
        ]
    for _, out, err in told:
        assert "<secret:FAKE_KEY>" in out
        assert "quoted" not in out + err
        assert key.encode().hex() not in out + err


async def test_the_doctor_says_what_the_settings_name_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "tea.toml").write_text('model = "nobody"\n[roles]\nplanner = "none/x"\ncheap = "offline"\n')
    code, out, _ = await tea(tmp_path, "doctor")
    assert (code, out.count("is not configured")) == (2, 2)
    assert "damaged: The default is the model 'nobody', which is not configured; see `tea models ls`." in out
    assert "damaged: The role 'planner' is the model 'none/x', which is not configured" in out


@pytest.mark.slow
async def test_the_doctor_has_the_same_remedies_and_names_models_that_are_there(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    replies = iter([WRONG_KEY, LISTED, NO_MODEL])
    async with Loopback(answer=lambda asked: next(replies)).open() as server:
        home(tmp_path, chat, server.url)
        said_by = [next(one for one in (await _doctor(tmp_path)) if "fake (default)" in one) for _ in range(3)]
    assert "Fix: check the key in FAKE_KEY, and what it may use." in said_by[0]
    assert "answers, and does not list 'fake-1' among 2 models, but fake-2" in said_by[1]
    assert "status 404" in said_by[2]
    down = next(one for one in (await _doctor(tmp_path)) if "fake (default)" in one)
    assert f"nothing answers at {server.url}/v1. Fix: check its base_url and the network, or try again later." in down
    code, out, _ = await tea(tmp_path, "models", "test")
    assert (code, f"nothing answers at {server.url}/v1." in out) == (4, True)


async def _doctor(folder: Path) -> list[str]:
    code, out, err = await tea(folder, "doctor")
    assert code == 0, err
    return out.splitlines()


async def test_a_model_that_answers_says_what_it_took(tmp_path: Path) -> None:
    dialect = DIALECTS["anthropic_messages"]

    def answer(asked: Asked) -> Reply:
        return said(dialect, Say(text="ok"))

    async with Loopback(answer=answer).open() as server:
        home(tmp_path, dialect, server.url)
        code, out, err = await tea(tmp_path, "models", "test")
        assert (code, err) == (0, "")
        assert "fake-1 answers 'ok' in " in out
        assert (await tea(tmp_path, "models", "test", "offline"))[0] == 0
        code, _, err = await tea(tmp_path, "models", "add", "other", "--preset", "openai", "--fallback", "nobody")
        assert (code, err) == (
            2,
            "tea: There is no model 'nobody' to fall back to. Fix: add it first; see `tea models ls`.\n",
        )
