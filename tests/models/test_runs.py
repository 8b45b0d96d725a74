"""Whole runs over the wire: the bundled planner, asked through the command line and through Python."""

import asyncio
import json
import os
import pty
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, said, streamed
from loopback import Asked, Loopback, Reply, document
from run_kit import ADDS, ENDS, SECRET, home, record, replayed, run, started, tea

from tea import run as short_run
from tea.errors import BadInput, ProviderError
from tea.journal.recorder import Event
from tea.platform import Platform

TOKENS = {"input": 8000, "cached": 0, "output": 2000, "thought": 0}


def everything_written(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".env"]
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in files)


async def test_the_planner_works_over_each_format_and_its_run_replays_identically(
    dialect: Dialect, tmp_path: Path
) -> None:
    heard: list[Event] = []
    async with Loopback(streamed(dialect, ADDS, size=7), streamed(dialect, ENDS)).open() as server:
        home(tmp_path, dialect, server.url, prices={"input": 2, "cached": 1, "output": 10})
        outcome = await run(tmp_path, watch=heard.append)
        assert (outcome.answer, outcome.ok) == ("42", True)
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()
        assert [SECRET in " ".join(asked.headers.values()) for asked in server.asked] == [True, True]
    cost = outcome.cost
    assert (cost.steps, cost.tokens, cost.cached) == (2, 240, 80)
    assert cost.usd == pytest.approx(2 * (60 * 2 + 40 * 1 + 20 * 10) / 1e6)
    assert cost.by["planner fake"]["calls"] == 2
    words = "".join(event.data["text"] for event in heard if event.kind == "delta")
    assert words == ADDS.text + ENDS.text
    assert {event.agent for event in heard if event.kind == "delta"} == {"planner"}
    assert SECRET not in everything_written(tmp_path)
    assert '"delta"' not in (outcome.trace / "journal.jsonl").read_text()


async def test_a_run_from_python_names_its_model(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with Loopback(said(chat, ADDS), said(chat, ENDS)).open() as server:
        text = home(tmp_path, chat, server.url, capabilities=["schema"]).joinpath("tea.toml").read_text()
        (tmp_path / "tea.toml").write_text(text.replace('model = "fake"', "", 1))
        outcome = await short_run("What is 6 * 7?", home=tmp_path, model="fake")
        assert (outcome.answer, len(server.asked)) == ("42", 2)
    with pytest.raises(ProviderError, match="No model is configured as 'fape'"):
        await short_run("What is 6 * 7?", home=tmp_path, model="fape")
    with pytest.raises(ProviderError, match=r"An address does not name a model.*--base-url"):
        await short_run("What is 6 * 7?", home=tmp_path, model="http://127.0.0.1:8080/v1")
    with pytest.raises(BadInput, match=r"is a name.*platform\.run\(task, model="):
        Platform(tmp_path, model="fake")  # pyright: ignore[reportArgumentType]


async def test_one_address_is_all_that_a_server_of_ones_own_needs(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]

    def answer(asked: Asked) -> Reply:
        if asked.method == "GET":
            return document({"object": "list", "data": [{"id": "first"}, {"id": "second"}]})
        return streamed(chat, ADDS if len(server.asked) == 2 else ENDS)

    async with Loopback(answer=answer).open() as server:
        options = ("--model", "local", "--base-url", f"{server.url}/v1")
        code, out, err = await tea(tmp_path, "run", "-v", "What is 6 * 7?", *options)
        assert (code, out) == (0, "42\n"), err
        assert [asked.path for asked in server.asked] == ["/v1/models", "/v1/chat/completions", "/v1/chat/completions"]
        assert [asked.body["model"] for asked in server.asked[1:]] == ["first", "first"]
        assert "240 tokens (80 cached), price unknown" in err
        assert "planner local: 2 calls" in err
        assert err.splitlines().count("planner: local answers") == 2
        code, out, _ = await tea(tmp_path, "replay", "last")
        assert (code, len(server.asked)) == (0, 3)
        refused = await tea(tmp_path, "run", "What is 6 * 7?", *options, "--max-cost", "1")
        assert refused[0] == 2
        assert "price" in refused[2]
        allowed = await tea(tmp_path, "run", "x", *options, "--max-cost", "1", "--allow-unknown-price", "--json")
        assert json.loads(allowed[1])["cost"]["usd"] is None


async def test_a_run_on_an_address_of_the_line_is_interrupted_cleanly_and_goes_on(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with Loopback(streamed(chat, ADDS), Reply(then="hang"), streamed(chat, ENDS)).open() as server:
        options = "--model", "m", "--base-url", f"{server.url}/v1"
        process = await started(tmp_path, "run", "What is 6 * 7?", *options)
        while len(server.asked) < 2:
            server.came.clear()
            await server.came.wait()
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
        assert (process.returncode, "tea resume" in err.decode()) == (130, True)
        await server.left()
        code, out, err = await tea(tmp_path, "resume", "last")
        assert (code, out) == (0, "42\n"), err
        assert [asked.body["model"] for asked in server.asked] == ["m"] * 3
        assert (await tea(tmp_path, "replay", "last"))[0] == 0


async def test_a_terminal_shows_how_much_of_an_answer_has_come(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with Loopback(streamed(chat, ENDS, size=40)).open() as server:
        reading, writing = pty.openpty()
        options = "--model", "m", "--base-url", f"{server.url}/v1"
        process = await started(
            tmp_path, "run", "6 * 7?", *options, stderr=writing, environment={"TERM": "xterm", "NO_COLOR": "1"}
        )
        os.close(writing)
        shown = await asyncio.to_thread(everything_shown, reading)
        assert await process.communicate() == (b"42\n", None)
    counts = [int(found) for found in re.findall(r"planner: local answers, (\d+) characters", shown)]
    assert len(counts) > 1
    assert counts == sorted(counts)
    assert counts[-1] <= len(ENDS.text)


WORDS = Say(text="Let me \x1b[2Jmultiply\u202e.", calls=(("c", "calculator", {"expression": "6 * 7"}),))
LAST = Say(text="It is\nforty-two.", calls=(("d", "done", {"answer": "42"}),))
NATIVE = {"capabilities": ["tools", "schema", "streaming"]}


async def test_a_terminal_shows_the_words_of_the_answering_agent_while_they_come(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    whole = streamed(chat, WORDS, size=300)
    half = Reply(headers=whole.headers, chunks=whole.chunks[:-3], then="break")
    async with Loopback(half, whole, streamed(chat, LAST)).open() as server:
        home(tmp_path, chat, server.url, **NATIVE)
        reading, writing = pty.openpty()
        process = await started(
            tmp_path, "run", "6 * 7?", stderr=writing, environment={"TERM": "xterm", "NO_COLOR": "1"}
        )
        os.close(writing)
        shown = await asyncio.to_thread(everything_shown, reading)
        assert await process.communicate() == (b"42\n", None)
        assert len(server.asked) == 3
    draft = "\x1b[K| Let me multiply.\r\x1b[J"
    assert shown.count(draft) == 2, "the first try is taken away, and the second one shown anew"
    assert "asks fake again" in shown.partition(draft)[2].partition(draft)[0]
    assert "\x1b[2J" not in shown
    assert "\u202e" not in shown
    last = re.sub(r"[^\n]*\r\x1b\[K", "", shown.partition("\r\x1b[1A\x1b[J")[0])  # without rows written anew
    assert last.endswith("| It is\r\n| forty-two.")


async def test_words_are_drafted_on_a_terminal_only(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with Loopback(streamed(chat, WORDS), streamed(chat, LAST)).open() as server:
        home(tmp_path, chat, server.url, **NATIVE)
        code, out, err = await tea(tmp_path, "run", "6 * 7?")
    assert (code, out) == (0, "42\n"), err
    assert "forty-two" not in err
    assert err.splitlines()[0] == "tea: the model 'fake' answers."
    assert len(err.splitlines()) == 2


def everything_shown(terminal: int) -> str:
    """Return a terminal's text up to the end of all writers."""
    found = b""
    with suppress(OSError):  # Linux says so when the other side was closed
        while piece := os.read(terminal, 65536):
            found += piece
    os.close(terminal)
    return found.decode()


def loud(status: int) -> Reply:
    return document({"error": {"message": f"You sent {SECRET}.", "type": "auth"}}, status)


REPEATS = Say(text=record(("done", {"answer": f"You sent {SECRET}."})), reasoning=f"The key is {SECRET}.")


async def test_a_key_is_nowhere_in_what_is_written_or_heard(dialect: Dialect, tmp_path: Path) -> None:
    heard: list[Event] = []
    async with Loopback(loud(429), streamed(dialect, REPEATS), loud(401)).open() as server:
        home(tmp_path, dialect, server.url)
        outcome = await run(tmp_path, watch=heard.append)
        assert outcome.answer == "You sent <secret:FAKE_KEY>."
        failed = await run(tmp_path, watch=heard.append)
        assert (failed.exit_code, "<secret:FAKE_KEY>" in failed.reason) == (4, True)
        assert SECRET in " ".join(server.asked[0].headers.values())
    assert SECRET not in json.dumps([outcome.to_json(), failed.to_json()])
    assert SECRET not in repr([event for event in heard if event.kind != "delta"])
    deltas = [event.data for event in heard if event.kind == "delta" and isinstance(event.data, dict)]
    for kind in ("text", "reasoning"):
        told = "".join(str(one["text"]) for one in deltas if one["type"] == kind)
        assert (SECRET in told, "<secret:FAKE_KEY>" in told) == (False, True)
    assert SECRET not in everything_written(tmp_path)
    assert "<secret:FAKE_KEY>" in everything_written(tmp_path)


async def test_a_key_is_nowhere_in_what_the_command_line_says(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with Loopback(loud(429), streamed(chat, REPEATS), loud(401)).open() as server:
        home(tmp_path, chat, server.url)
        done = await tea(tmp_path, "run", "Which key?", "--json", "-vv", TEA_DEBUG="1", OPENAI_LOG="debug")
        failed = await tea(tmp_path, "run", "Which key?", "-vv", TEA_DEBUG="1", OPENAI_LOG="debug")
        doctor = await tea(tmp_path, "doctor", "--json")
    assert (done[0], failed[0]) == (0, 4)
    shown = "".join(text for one in (done, failed, doctor) for text in one[1:])
    assert "<secret:FAKE_KEY>" in shown
    assert SECRET not in shown
    assert SECRET not in everything_written(tmp_path)


async def test_words_that_call_nothing_are_an_end_and_words_that_do_not_fit_are_asked_for_again(
    dialect: Dialect, tmp_path: Path
) -> None:
    replies = said(dialect, Say(text="I think so.")), said(dialect, Say(text="I think so.")), said(dialect, ENDS)
    async with Loopback(*replies).open() as server:
        home(tmp_path, dialect, server.url)
        outcome = await run(tmp_path)
        assert (outcome.answer, outcome.cost.steps, outcome.cost.tokens) == ("I think so.", 1, 120)
        outcome = await run(tmp_path, answer={"type": "string", "pattern": "[0-9]+"})
        assert (outcome.answer, outcome.cost.steps, outcome.cost.tokens) == ("42", 2, 240)
        assert "The answer does not fit" in server.asked[2].raw.decode()
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()


async def test_a_record_without_a_call_goes_back_and_is_paid_for(dialect: Dialect, tmp_path: Path) -> None:
    async with Loopback(said(dialect, Say(text=record())), said(dialect, ENDS)).open() as server:
        home(tmp_path, dialect, server.url)
        outcome = await run(tmp_path)
        assert (outcome.answer, outcome.cost.steps, outcome.cost.tokens) == ("42", 2, 240)
        assert "could not be used" in server.asked[1].raw.decode()
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()


async def test_a_run_outlives_its_provider(dialect: Dialect, tmp_path: Path) -> None:
    """The fallback is of another format, and takes over in the middle."""
    other = DIALECTS["openai_chat" if dialect.name == "anthropic_messages" else "anthropic_messages"]
    down = [document({"error": {"message": "down"}}, 500)] * 9
    async with Loopback(said(dialect, ADDS), *down).open() as first, Loopback(said(other, ENDS)).open() as second:
        home(tmp_path, dialect, first.url, fallbacks=["spare"], limits={"attempts": 1})
        with (tmp_path / "tea.toml").open("a") as file:
            file.write(
                f'\n[models.spare]\nprovider = "{other.name}"\nmodel = "m"\nbase_url = "{second.url}{other.base}"'
            )
        outcome = await run(tmp_path)
        assert outcome.answer == "42"
        assert set(outcome.cost.by) == {"planner fake", "planner spare"}
        assert "6 * 7" in second.asked[0].raw.decode()
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()
        assert "status 500" in (outcome.trace / "journal.jsonl").read_text()


async def test_a_fallback_is_asked_for_no_longer_an_answer_than_it_can_give(tmp_path: Path) -> None:
    """Hold each model's own limit, in later tries too; providers refuse more."""
    chat, down = DIALECTS["openai_chat"], document({"error": {"message": "down"}}, 500, retry_after_ms="1")
    async with Loopback(down).open() as first, Loopback(down, said(chat, ENDS)).open() as second:
        home(tmp_path, chat, first.url, fallbacks=["spare"], limits={"attempts": 1}, max_output=4000)
        with (tmp_path / "tea.toml").open("a") as file:
            file.write(f'\n[models.spare]\nmodel = "m"\nbase_url = "{second.url}{chat.base}"\nmax_output = 500\n')
        outcome = await run(tmp_path, budget={"tokens": 50_000})
        assert (outcome.answer, [_limit(one.body) for one in (*first.asked, *second.asked)]) == ("42", [4000, 500, 500])


async def test_a_budget_ends_a_run_with_exit_code_5_and_what_it_spent(dialect: Dialect, tmp_path: Path) -> None:
    dear = [Say(text=record(("calculator", {"expression": f"{n} + 1"})), tokens=TOKENS) for n in range(9)]
    async with Loopback(*[said(dialect, say) for say in dear]).open() as server:
        home(tmp_path, dialect, server.url, prices={"input": 1000, "output": 1000})
        outcome = await run(tmp_path, budget={"usd": 50.0})
        assert (outcome.exit_code, "usd" in outcome.reason) == (5, True)
        assert 20 <= (outcome.cost.usd or 0) <= 50
        assert 2 <= len(server.asked) <= 5
        assert all(_limit(asked.body) <= 8192 for asked in server.asked)
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()


def _limit(body: Mapping[str, Any]) -> int:
    return next(body[name] for name in ("max_tokens", "max_output_tokens") if name in body)


async def test_the_time_of_a_model_ends_a_try_that_would_outlast_it(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    async with Loopback(Reply(then="hang")).open() as server:
        home(tmp_path, chat, server.url, limits={"seconds": 0.3})
        outcome = await run(tmp_path)
    assert (outcome.exit_code, len(server.asked)) == (4, 1)
    assert "no answer within 0.3 seconds" in outcome.reason


@pytest.mark.parametrize("capabilities", [["schema", "streaming"], ["tools", "schema", "streaming"]])
@pytest.mark.parametrize("depth", [150, 176, 186, 195])
async def test_an_answer_that_is_nested_too_deeply_for_a_journal_is_a_bad_answer(
    dialect: Dialect, tmp_path: Path, capabilities: list[str], depth: int
) -> None:
    deep = json.loads("[" * depth + "]" * depth)
    asked: tuple[Any, ...] = ("calculator", {"expression": deep})
    first = Say(text=record(asked)) if "tools" not in capabilities else Say(calls=(("c1", *asked),))
    end: tuple[Any, ...] = ("done", {"answer": "none"})
    last = Say(text=record(end)) if "tools" not in capabilities else Say(calls=(("c2", *end),))
    async with Loopback(said(dialect, first), said(dialect, last)).open() as server:
        home(tmp_path, dialect, server.url, capabilities=capabilities)
        outcome = await run(tmp_path)
        assert (outcome.answer, len(server.asked)) == ("none", 2), outcome.reason
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()
